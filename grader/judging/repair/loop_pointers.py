"""A pointer or an index that lacks what a loop around it counts: p for p + c, Nds[s] for Nds[i + s]."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Node, walk
from grader.judging.repair.scope import Change, bare, binary, named

_COST = 0.9
_GIVEN = ("call", "choose", "deref", "binary")
_COMPARING = ("<", "<=", ">", ">=", "==", "!=")


class LoopPointers:
    """A part of Editor."""

    def _with_the_turn(self, node: Node) -> Iterator[tuple[Change, float]]:
        """copy(to + c, from) for copy(to + c, from + c)."""
        above = self._parent(node)
        if node.text in self.scope.integers and not self.is_host:
            yield from self._with_the_turn_too(node)
        if node.text not in self.scope.pointers or above.kind not in _GIVEN or self.is_host:
            return
        if above.kind == "call" and above.kids[0] is node:
            return
        if above.kind == "binary" and above.text in _COMPARING:
            return
        has = (
            {one.text for one in walk(above) if one.kind == "name"}
            if above.kind == "binary"
            else set()
        )
        for name in self._counters_around(node):
            if name not in has:
                yield (lambda n, o=name: binary("+", bare(n), named(o))), _COST

    def _with_the_turn_too(self, node: Node) -> Iterator[tuple[Change, float]]:
        """Nds[s][c] for Nds[i + s][c], in loops over i and s."""
        place, above = node, self._parent(node)
        while above.kind == "binary" and above.text in ("+", "*", "-"):
            place, above = above, self._parent(above)
        if above.kind != "index" or above.kids[1] is not place or place.text == "*":
            return
        while self._parent(above).kind == "index" and self._parent(above).kids[0] is above:
            above = self._parent(above)
        has = {one.text for one in walk(above) if one.kind == "name"}
        for name in self._counters_around(node):
            if name not in has:
                yield (lambda n, o=name: binary("+", bare(n), named(o))), _COST

    def _counters_around(self, node: Node) -> list[str]:
        """What the loops around it count, the innermost first."""
        found = []
        while (above := self._parent(node)) is not node:
            if above.kind == "for" and above.kids[3] is not None and above.kids[0] is not None:
                names = [one.text for one in walk(above.kids[0]) if one.kind == "declare"]
                found += names if node is above.kids[3] else []
            node = above
        return found
