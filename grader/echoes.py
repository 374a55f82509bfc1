"""Findings that only follow from another one: told below it, with no advice of their own.

A store past the end of a row lands in the next row, where another thread stores: a race, but the
store is to be mended. A copy that nobody waits for arrives while others use what it brings: a race
again, but the wait is missing. The other way round, a copy into a stage that others still read is a
race, and that they may read what it has not brought yet only follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from grader.execution import Fault
from grader.result import Diagnostic

_OUTSIDE = {
    "out-of-bounds-shared": ("race-shared", "uninitialised-shared"),
    "out-of-bounds-global": ("race-global", "uninitialised-global"),
}


def is_unawaited_copy(finding: Diagnostic | Fault) -> bool:
    """Whether a thread reads what an asynchronous copy has not brought yet."""
    return "asynchronous copy" in finding.message


def marked(merged: Iterable[Diagnostic], seen: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings, with those that follow from another one marked.

    `seen`: the same as each case showed them: the other line of a race may differ from case to
    case.
    """
    overwritten = {one.line for one in seen if _overwrites(one)}
    causes = [one for one in seen if not _is_of_overwritten(one, overwritten)]
    return [
        _echo(item, "race-shared")
        if _is_of_overwritten(item, overwritten)
        else _marked(item, seen, causes)
        for item in merged
    ]


def _echo(item: Diagnostic, cause: str) -> Diagnostic:
    return replace(item, echo_of=cause, advice=f"This follows from {cause}: mend that first.")


def _overwrites(item: Diagnostic) -> bool:
    """Whether an asynchronous copy goes where others may still read."""
    return item.code == "race-shared" and " copies to " in item.message.split(", which")[0]


def _is_of_overwritten(item: Diagnostic, lines: set[int]) -> bool:
    return is_unawaited_copy(item) and item.other_line in lines


def _marked(
    item: Diagnostic, seen: Sequence[Diagnostic], causes: Sequence[Diagnostic]
) -> Diagnostic:
    same = [one for one in seen if (one.code, one.line, one.kernel) == _place(item)]
    lines = {item.line, *(one.other_line for one in same)} - {0}
    for cause in causes:
        if cause.kernel == item.kernel and _explains(cause, item, lines):
            return _echo(item, cause.code)
    return item


def _place(item: Diagnostic) -> tuple:
    return item.code, item.line, item.kernel


def _explains(cause: Diagnostic, item: Diagnostic, lines: set[int]) -> bool:
    """`lines`: of matmul.cu that the item speaks of."""
    if item.code in _OUTSIDE.get(cause.code, ()):
        # An access that strays races, or reads what nobody wrote, wherever it happens to land.
        return cause.line in lines
    if item.code == "race-shared" and is_unawaited_copy(cause):
        return cause.other_line in lines and not _overwrites(item)
    return False
