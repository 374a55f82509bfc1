"""A loop in which the threads of a block go over a row or a tile together, and that ends too early."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grader.judging import spread
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, counted
from grader.labs.statements import Statement, shown

_MOST_TIMES = 8


def ends_early(
    kernel: Kernel, words: Sequence[str], near: Statement, found: np.ndarray, side: int
) -> Said | None:
    """for (x = lane; x < HALF; x += 32), where an index would be 0 to side - 1 if it went on for longer."""
    times, rest = divmod(side, len(found)) if len(found) else (0, 1)
    if rest or not 2 <= times <= _MOST_TIMES:
        return None
    fitting = []
    for loop in kernel.text.loops(near):
        turns = spread.turns(kernel, loop)
        if turns is None or not turns[2] or counted(loop) not in spread.needed(kernel, words, near):
            continue
        longer = spread.values_of(_with_longer(kernel, loop, times), words, near)
        if longer is not None and spread.is_whole(longer, side):
            fitting.append(loop)
    if len(fitting) != 1:
        return None
    (loop,) = fitting
    end = loop.parts[1][2:]
    return Said(
        f"{counted(loop)} ends at {shown(end)}: with this loop the threads reach {len(found)} of {side}, and "
        f"would reach all of them if it went on {'twice' if times == 2 else f'{times} times'} as far.",
        loop.line,
        "Let it end where the row, or the tile, ends that the threads go over together.",
    )


def _with_longer(kernel: Kernel, loop: Statement, times: int) -> Kernel:
    """The kernel in which a loop goes on so many times as far."""
    head, condition, step = loop.parts
    end = (*condition[:2], "(", *condition[2:], ")", "*", str(times))
    text = copy.copy(kernel.text)
    text.statements = list(text.statements)
    text.statements[loop.number] = replace(loop, words=(*head, ";", *end, ";", *step))
    return replace(kernel, text=text)
