"""A change of a launch plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.judging.plans.seen import Seen


@dataclass(frozen=True)
class Change:
    """`kind` and what a sentence needs of it; `made` gives the plan of a case with the change."""

    kind: str
    call: int
    made: Callable[[Seen], Mapping | None]  # None: nothing would be different
    axis: str = ""
    offset: int = -1  # in the parameter block
    other: int = -1  # the other one of two that are exchanged
    was: str = ""
    better: str = ""
    of: str = "launch"  # what kind of op is changed


def changed(
    seen: Seen, call: int, do: Callable[[dict], Mapping], kind: str = "launch"
) -> Mapping | None:
    """`kind`: of the ops; a line may also have others, such as a call that was refused."""
    ops = [do(op) if (op["op"], op.get("call", 0)) == (kind, call) else op for op in seen.ops]
    return {**seen.fields, "ops": ops} if ops != seen.ops else None
