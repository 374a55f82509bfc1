"""Loops that come to no end: a turn leaves as it was all that their condition asks for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.judging.repair.nodes import Node, walk
from grader.judging.repair.values import Fault, both, truth
from grader.judging.repair.world import World

_PLAIN = frozenset(("name", "number", "binary", "unary", "cast", "member"))
_COUNTED = (int, np.integer, np.ndarray)
_LEAVING = frozenset(("break", "return", "goto"))


def counters_of(node: Node) -> list[Node]:
    """What the condition of a for loop asks for, where nothing else ends it."""
    _, condition, step, body = node.kids
    if condition is None or step is None or may_leave(body):
        return []
    found, waiting = [], [condition]
    while waiting:
        one = waiting.pop()
        if one.kind not in _PLAIN or (one.kind == "member" and one.kids[0].kind != "name"):
            return []
        if one.kind in ("name", "member"):
            found.append(one)
        else:
            waiting += one.kids
    return found


def may_leave(body: Node) -> bool:
    return any(one.kind in _LEAVING for one in walk(body))


def without_endless(world: World, before: Sequence, after: Sequence, active: object) -> object:
    """The active lanes, without those of edits with which one of them would go on for ever."""
    still = active
    for old, new in zip(before, after, strict=True):
        if not isinstance(new, _COUNTED) or not isinstance(old, _COUNTED):
            return active
        still = both(still, truth(np.equal(old, new))) if old is not new else still
        if still is False:
            return active
    if world.batch is None:
        raise Fault("endless")
    world.batch.drop(still)
    return world.batch.living(active)
