"""Findings that only follow from another one: told below it, with no advice of their own.

A store past the end of a row lands in the next row, where another thread stores: a race, but the
store is to be mended. A copy that nobody waits for arrives while others use what it brings: a race
again, but the wait is missing. The other way round, a copy into a stage that others still read is a
race, and that they may read what it has not brought yet only follows. What nobody has written is no
number here, and neither is a P that is computed from it. A kernel whose tensor map was refused copies
nothing; a solve that leaves when a call of CUDA is refused launches nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from grader.judging import phases, remedies
from grader.results.finding import Access, Cause, Facts, Origin
from grader.results.result import Diagnostic

_OUTSIDE = {
    "out-of-bounds-shared": ("race-shared", "uninitialised-shared"),
    "out-of-bounds-global": ("race-global", "uninitialised-global"),
}

_ENDLESS = ("deadlock", "timeout")
_UNWRITTEN = ("uninitialised-global", "uninitialised-shared")


def marked(merged: Iterable[Diagnostic], seen: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings, with those that follow from another one marked.

    `seen`: the same as each case showed them: the other line of a race may differ from case to
    case.
    """
    overwrites = {one.line: one for one in seen if _overwrites(one)}
    causes = [one for one in seen if not _is_of_overwritten(one, overwrites)]
    refused, without_map = _refused_map(seen)
    return [
        _echo(item, refused)
        if refused is not None and (item.code == "no-launch" or item.kernel in without_map)
        else _echo(item, overwrites[item.other_line])
        if _is_of_overwritten(item, overwrites)
        else _marked(item, seen, causes)
        for item in merged
    ]


def of_unset(found: Sequence[Diagnostic], unset: Collection[str]) -> list[Diagnostic]:
    """The findings; a wrong P that is no number wherever it is wrong follows from what was read and
    had never been written, and one that is computed from copies that had not come from that. unset:
    the cases whose P is no number."""
    told = []
    for item in found:
        causes = [
            one
            for one in found
            if one.code in _UNWRITTEN and not one.echo_of and set(item.cases) <= set(one.cases)
        ]
        follows = item.code == "wrong-result" and set(item.cases) <= set(unset)
        early = [
            one for one in found if _waits_too_little(one) and set(item.cases) <= set(one.cases)
        ]
        if item.code == "wrong-result" and early:  # it is computed from what had not come yet
            told.append(_echo(item, early[0]))
            continue
        told.append(_echo(item, causes[0]) if follows and causes else item)
    return told


def _refused_map(seen: Sequence[Diagnostic]) -> tuple[Diagnostic | None, frozenset[str]]:
    """A refused call of CUDA, and the kernels that for want of its tensor map copy nothing."""
    kernels = frozenset(
        one.kernel
        for one in seen
        if one.facts is not None and one.facts.cause is Cause.NO_TENSOR_MAP
    )
    return next((one for one in seen if one.code == "api-error"), None), kernels


def _echo(item: Diagnostic, cause: Diagnostic) -> Diagnostic:
    return replace(
        item,
        echo_of=cause.code,
        follows_from=Origin(cause.code, cause.line, cause.kernel),
        advice=remedies.for_echo(cause.code),
    )


def _is_unawaited_copy(item: Diagnostic) -> bool:
    """Whether a thread reads what an asynchronous copy has not brought yet."""
    return item.facts is not None and item.facts.cause is Cause.COPY_IN_FLIGHT


def _waits_too_little(item: Diagnostic) -> bool:
    """Whether a thread has waited for another phase than that of the copy, or for none."""
    return item.facts is not None and item.facts.cause in phases.TOO_EARLY


def _accesses(facts: Facts) -> tuple[Access, ...]:
    return facts.access, facts.other.access if facts.other else Access.NONE


def _overwrites(item: Diagnostic) -> bool:
    """Whether an asynchronous copy goes where others may still read."""
    copies = item.facts is not None and item.facts.access is Access.COPY
    return item.code == "race-shared" and copies


def _is_of_overwritten(item: Diagnostic, overwrites: Mapping[int, Diagnostic]) -> bool:
    return _is_unawaited_copy(item) and item.other_line in overwrites


def _marked(
    item: Diagnostic, seen: Sequence[Diagnostic], causes: Sequence[Diagnostic]
) -> Diagnostic:
    same = [one for one in seen if (one.code, one.line, one.kernel) == _place(item)]
    lines = {item.line, *(one.other_line for one in same)} - {0}
    for cause in causes:
        if cause.kernel == item.kernel and _explains(cause, item, lines):
            return _echo(item, cause)
    return item


def _place(item: Diagnostic) -> tuple:
    return item.code, item.line, item.kernel


def _explains(cause: Diagnostic, item: Diagnostic, lines: set[int]) -> bool:
    """`lines`: of matmul.cu that the item speaks of."""
    if item.code in _OUTSIDE.get(cause.code, ()):
        # An access that strays races, or reads what nobody wrote, wherever it happens to land.
        return cause.line in lines
    if item.code == "race-shared" and _waits_too_little(cause):
        # Who goes on too early gives the place free too early as well.
        return item.facts is not None and Access.COPY in _accesses(item.facts)
    if item.code in _ENDLESS and _is_unawaited_copy(cause):
        # A loop that looks at a tile until a copy has come, which may come whenever it likes.
        return cause.line in lines
    if item.code == "race-shared" and _is_unawaited_copy(cause):
        return cause.other_line in lines and not _overwrites(item)
    return False
