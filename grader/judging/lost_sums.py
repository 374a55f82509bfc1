"""A sum that a kernel adds to, and that nothing reads: one of several partial sums that is left out."""

from __future__ import annotations

from grader.judging.host import Said
from grader.judging.kernel_text import Kernel
from grader.labs.statements import Statement, declared

_KINDS = ("float", "double")


def lost_sum(kernel: Kernel) -> Said | None:
    for made in kernel.body:
        if made.kind != "simple" or not set(_KINDS) & set(made.words):
            continue
        names = [word for word in made.words if word.isidentifier() and declared(made, word)]
        lost = [name for name in names if _is_lost(kernel, made, name)]
        if len(lost) != 1:
            continue
        (name,) = lost
        others = [
            item
            for item in kernel.body
            if item.number != made.number
            and any(one in item.words and not _adds_to(item, one) for one in names if one != name)
        ]
        added = next(item for item in kernel.body if _adds_to(item, name))
        return Said(
            f"{name} is added to in line {added.line}, and nothing reads it: its products are lost.",
            others[-1].line if others else added.line,
            f"Add {name} to what is stored.",
        )
    return None


def _is_lost(kernel: Kernel, made: Statement, name: str) -> bool:
    uses = [item for item in kernel.body if name in item.words and item.number != made.number]
    return bool(uses) and all(_adds_to(item, name) for item in uses)


def _adds_to(item: Statement, name: str) -> bool:
    return item.words[:2] == (name, "+=") and name not in item.words[2:]
