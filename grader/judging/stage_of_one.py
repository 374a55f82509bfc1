"""Two tiles in stages, of which one is filled in the stage that is read, and the other in the next one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, shared_arrays
from grader.labs.statements import Statement, closing, is_declaration, shown

Words = tuple[str, ...]
_COMPARES = ("==", "!=", "<=", ">=")


@dataclass(frozen=True)
class _Use:
    """array[stage], in a statement."""

    item: Statement
    array: str
    stage: Words
    line: int


def into_used(kernel: Kernel, array: str) -> Said | None:
    """Where `array` is filled in the stage that is read in the same turn, unlike another tile."""
    names = shared_arrays(kernel)
    if array not in names:
        return None
    for loop in kernel.body:
        if loop.kind not in ("for", "while", "do"):
            continue
        uses = [
            use
            for item in kernel.text.inside(loop)
            if item.kind == "simple" and "__shared__" not in item.words
            for use in _uses(item, names)
        ]
        fills = [use for use in uses if _is_filled(use, uses)]
        reads = [use for use in uses if use not in fills]
        said = _said(array, fills, reads)
        if said is not None:
            return said
    return None


def _uses(item: Statement, names: Sequence[str]) -> Iterator[_Use]:
    for at, word in enumerate(item.words[:-1]):
        if word in names and item.words[at + 1] == "[":
            stage = item.words[at + 2 : closing(item.words, at + 1)]
            yield _Use(item, word, tuple(stage), item.lines[at])


def _is_filled(use: _Use, uses: Sequence[_Use]) -> bool:
    """tiles[stage]... = ..., or what a call is given first and alone: fill(tiles[stage], ...)."""
    words = use.item.words
    at = words.index(use.array)
    sign = next(
        (n for n, word in enumerate(words) if word[-1:] == "=" and word not in _COMPARES), -1
    )
    if sign >= 0:
        return at < sign and not is_declaration(words)
    others = [one for one in uses if one.item is use.item and one.array != use.array]
    before = words[at - 2 : at] if words[at - 1 : at] == ("&",) else words[at - 1 : at]
    return not others and before[:1] == ("(",) and not is_declaration(words)


def _said(array: str, fills: Sequence[_Use], reads: Sequence[_Use]) -> Said | None:
    read = {use.stage for use in reads if use.array == array}
    own = [use for use in fills if use.array == array]
    if len(read) != 1 or not own or any(use.stage not in read for use in own):
        return None
    (stage,) = read
    if all(word.isdigit() for word in stage):
        return None
    for other in fills:
        theirs = {use.stage for use in reads if use.array == other.array}
        if other.array == array or theirs != read or other.stage == stage:
            continue
        return Said(
            f"{array}[{shown(stage)}] is filled here and read in line "
            f"{next(one.line for one in reads if one.array == array)} of the same turn; "
            f"{other.array}[{shown(other.stage)}], in line {other.line}, is the stage of the next turn.",
            own[0].line,
            f"Fill {array}[{shown(other.stage)}].",
        )
    return None
