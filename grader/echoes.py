"""Findings that only follow from another one: shown below it, with no advice of their own.

A store past the end of a row lands in the next row, where another thread stores: a race, but the
store is to be mended. A copy that nobody waits for arrives while others use what it brings: a race
again, but the wait is missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.execution import Fault

_RACES = frozenset({"race-shared", "race-global"})
_OUTSIDE = frozenset({"out-of-bounds-shared", "out-of-bounds-global"})


def is_unawaited_copy(fault: Fault) -> bool:
    """Whether a thread reads what an asynchronous copy has not brought yet."""
    return "asynchronous copy" in fault.message


def cause_of(fault: Fault, faults: Sequence[Fault]) -> str:
    """The code of the fault that explains this one, of those in the same run; "" if none does."""
    if fault.code not in _RACES:
        return ""
    lines = {fault.line, fault.other_line} - {0}
    for other in faults:
        same_array = other.array == fault.array and bool(fault.array)
        if other.code in _OUTSIDE and same_array and other.line in lines:
            return other.code
        copied_there = same_array or other.other_line in lines
        if fault.code == "race-shared" and is_unawaited_copy(other) and copied_there:
            return other.code
    return ""


def advice(cause: str) -> str:
    return f"This follows from {cause}: mend that first."
