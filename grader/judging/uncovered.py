"""Words of a tile that no thread fills: which index does not reach them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.judging import spread
from grader.judging.barriers import fills
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, array_shape, counted
from grader.judging.suspects import named_definition
from grader.judging.wording import indexed, names_in, terms, value
from grader.labs.statements import Statement, closing, find, shown

_VECTORS = {"float4": 4, "float2": 2}


def uncovered(kernel: Kernel, array: str) -> Said | None:
    """An index with which a tile is filled and that leaves out rows or columns of it."""
    shape, statements = array_shape(kernel, array), fills(kernel, array)
    twice = _filled_twice(kernel, array, statements)
    if twice is not None:
        return twice
    if not shape or len(shape) < 2 or not statements:
        return None
    for position, side in enumerate(shape):
        every: list[np.ndarray] = []
        for item in statements:
            found = _values(kernel, item, array, position, len(shape))
            if found is None:
                return None
            every.append(found)
        reached = np.unique(np.concatenate(every))
        whole = _used(kernel, array, position, len(shape), side)
        if whole is None or not len(reached) or reached[0] < 0 or reached[-1] >= side:
            continue
        if np.isin(np.arange(whole), reached).all():
            continue
        item = statements[0]
        words = _index(item, array, position)
        still = _turned_alike(kernel, item, words, array)
        if still is not None:
            return Said(
                f"Each turn of the loop of line {still.line} fills the same words of {array}: "
                f"[{shown(words)}] does not depend on {counted(still)}.",
                item.line,
                f"Let the index go on with {counted(still)}.",
            )
        far = _far(kernel, item, words)
        if far is not None:
            return far
        line, meaning = _behind(kernel, item, words)
        rests = f" It rests on {shown(meaning)}." if meaning != tuple(words) else ""
        return Said(
            f"{array} has {whole} places there, and {shown(words)} is only {_shown(reached)} over "
            f"all threads of the block: the others are never filled.{rests}",
            line,
            "Over all threads and turns it must give each place once.",
        )
    return None


def _filled_twice(kernel: Kernel, array: str, statements: Sequence[Statement]) -> Said | None:
    """Two statements side by side with the same index: one of them is meant for other words."""
    known: dict[tuple, Statement] = {}
    for item in statements:
        place = indexed(item.words, array)
        key = (place, *(one.number for one in kernel.text.above(item)))
        first = known.setdefault(key, item)
        value_of_first = first.words[first.words.index("=") + 1 :] if "=" in first.words else ()
        is_start = len(value_of_first) == 2  # 0 in every word, before some get another value
        if (
            place
            and first is not item
            and not is_start
            and not _changed(kernel, place, first, item)
        ):
            return Said(
                f"Lines {first.line} and {item.line} both fill {shown(place)}, and other words of "
                f"{array} are never filled.",
                item.line,
                "Each must have words of its own.",
            )
    return None


def _changed(kernel: Kernel, place: Sequence[str], first: Statement, last: Statement) -> bool:
    """Whether a statement between two others gives a part of an index another value, or may."""
    between = [one for one in kernel.body if first.number < one.number < last.number]
    return any(
        name in one.words and not one.has(*place)
        for one in between
        for name in place[1:]
        if name.isidentifier()
    )


def _index(item: Statement, array: str, position: int) -> tuple[str, ...]:
    at = find(item.words, (array, "[")) + 1
    for _ in range(position):
        at = closing(item.words, at) + 1
    return item.words[at + 1 : closing(item.words, at)]


def _values(
    kernel: Kernel, item: Statement, array: str, position: int, sides: int
) -> np.ndarray | None:
    found = spread.values_of(kernel, _index(item, array, position), item)
    if found is None or position < sides - 1:
        return found
    before = " ".join(item.words[: find(item.words, (array, "["))]).lower()
    wide = next((n for name, n in _VECTORS.items() if name in before), 1)
    return np.unique(found[:, None] + np.arange(wide)[None, :]) if wide > 1 else found


def _used(kernel: Kernel, array: str, position: int, sides: int, side: int) -> int | None:
    """How many places of a side the products read; None where that is not clear."""
    filled = fills(kernel, array)
    most = 0
    for item in kernel.body:
        if item.kind != "simple" or "__shared__" in item.words or item in filled:
            continue
        if find(item.words, (array, "[")) < 0:
            continue
        found = spread.values_of(kernel, _index(item, array, position), item)
        if found is None or not len(found):
            return None
        shown_words = " ".join(item.words).lower()
        wide = next((n for name, n in _VECTORS.items() if name in shown_words), 1)
        most = max(most, int(found[-1]) + (wide if position == sides - 1 else 1))
    return most if 1 < most <= side else None


def _turned_alike(
    kernel: Kernel, item: Statement, words: Sequence[str], array: str
) -> Statement | None:
    """A loop with few turns around a fill, on which no index of it depends.

    Not one in which the array is read, too: there each turn fills a tile anew.
    """
    filled = fills(kernel, array)
    at = find(item.words, (words[0],)) if words else -1
    used = (
        spread.needed(kernel, item.words[: item.words.index("=")], item)
        if at >= 0 and "=" in item.words
        else set()
    )
    for loop in kernel.text.loops(item):
        inside = kernel.text.inside(loop)
        if any(one not in filled and one.has(array, "[") for one in inside):
            break
        if spread.turns(kernel, loop) and used and counted(loop) not in used:
            return loop
    return None


def _far(kernel: Kernel, item: Statement, words: Sequence[str]) -> Said | None:
    """A loop that goes on by more than the threads fill in one turn."""
    for loop in kernel.text.loops(item):
        found, name = spread.turns(kernel, loop), counted(loop)
        if not found or (name,) not in terms(words) or loop.parts[2][1:2] != ("+=",):
            continue
        once = spread.values_of(kernel, words, item, also={name: found[1][0]})
        by = value(loop.parts[2][2:], kernel.known)
        if once is None or by is None or by <= len(once):
            continue
        step = loop.parts[2][2:]
        known = named_definition(kernel, loop, step)
        line, meaning = known if known is not None else (loop.line, step)
        return Said(
            f"{name} goes on by {shown(meaning)}, {by}, and the threads of the block fill "
            f"{len(once)} rows at a time: the others are never filled.",
            line,
            f"Go on by {len(once)}.",
        )
    return None


def _behind(kernel: Kernel, item: Statement, words: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """(line, value) of the last definition that an index is nothing but, or is divided from."""
    line, meaning = item.line, tuple(words)
    for _ in range(4):
        names = names_in(meaning)
        name = names[0] if len(names) == 1 or (names and meaning[0] == names[0]) else ""
        is_name = len(meaning) == 1
        is_part = len(meaning) > 2 and meaning[1] in ("/", "%")
        # Of 4 * thread, which a loop starts with: the threads of a block have no gaps.
        starts = any(loop.line == line != item.line for loop in kernel.text.loops(item))
        is_part |= starts and len(meaning) == 3 and meaning[1] == "*" and len(names) == 1
        if not name or not (is_name or (is_part and _has_gaps(kernel, (name,), item))):
            break
        known = spread.meaning_of(kernel, name, item) or _start(kernel, name, item)
        if known is None:
            break
        line = known[0]
        if known[1] == () or not _has_gaps(kernel, known[1], item):
            break
        meaning = known[1]
    return line, meaning


def _start(kernel: Kernel, name: str, item: Statement) -> tuple[int, tuple[str, ...]] | None:
    """What a loop's counter starts with."""
    for loop in kernel.text.loops(item):
        if counted(loop) == name and loop.kind == "for":
            head = loop.parts[0]
            start = tuple(head[head.index("=") + 1 :])
            known = named_definition(kernel, loop, start)
            if known is not None and _has_gaps(kernel, known[1], item):
                return known
            return loop.line, ()
    return None


def _has_gaps(kernel: Kernel, words: Sequence[str], item: Statement) -> bool:
    """Whether a number of the threads is not 0 to one less than there are threads, or turns."""
    found = spread.values_of(kernel, words, item)
    threads = kernel.block[0] * kernel.block[1]
    return found is not None and not spread.is_whole(found, max(len(found), threads))


def _shown(found: np.ndarray) -> str:
    first, last = int(found[0]), int(found[-1])
    if len(found) == last - first + 1:
        return f"{first} to {last}"
    some = ", ".join(str(int(number)) for number in found[:3])
    return f"{some}, ... {last}" if len(found) > 3 else some
