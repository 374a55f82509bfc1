"""Where a part ends: what is left of a size, in min(), and a field that says how long a part is."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Node, replace
from grader.judging.repair.scope import Change, bare, binary, named

_REST = 0.2  # what is left is what such a bound is for
_MOST_FIELDS = 8


class Ends:
    """A part of Editor."""

    def _rests(self, node: Node) -> Iterator[tuple[Change, float]]:
        """min(part, whole - first) for min(part, whole)."""
        if node.kids[0].text != "min":
            return
        for at, side in enumerate(node.kids[1:], 1):
            if side.kind != "name" or side.text not in self.scope.sizes:
                continue
            near = [n for n in self._near(self.scope.integers, node) if n not in self.scope.sizes]
            for name in near:
                kids = list(node.kids)
                kids[at] = binary("-", bare(side), named(name))
                yield (lambda n, k=tuple(kids): replace(bare(n), kids=list(k))), _REST

    def _lengths(self, node: Node) -> Iterator[tuple[Change, float]]:
        """i < part.length for i < T, in a loop's condition."""
        above = self._parent(node)
        if above.kind != "binary" or above.text not in ("<", "<=") or above.kids[1] is not node:
            return
        loop = self._parent(above)
        if loop.kind != "for" or loop.kids[1] is not above:
            return
        fields = [
            (name, field)
            for name in self._near(self.scope.structs, node)
            for kind, field in self.file.structs.get(self.scope.types[name].name, ())
            if kind.name == "int" and not kind.stars
            if (self.scope.types[name].name, field) not in self.file.lengths
        ]
        for name, field in fields[:_MOST_FIELDS]:
            yield (lambda n, o=name, f=field: Node("member", [named(o)], f, n.line)), 0.8
