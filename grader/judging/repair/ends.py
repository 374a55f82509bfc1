"""Where a part ends: what is left of a size, in min(), and a field that says how long a part is."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import Function, Node, replace, walk
from grader.judging.repair.rewritten import rounded_up
from grader.judging.repair.scope import Change, bare, binary, named, number

_REST = 0.2  # what is left is what such a bound is for
_MOST_FIELDS = 8
_PIECES, _FOUR = 1.0, 1.0


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
        yield from self._whole_in_pieces(node)
        fields = [
            (name, field)
            for name in self._near(self.scope.structs, node)
            for kind, field in self.file.structs.get(self.scope.types[name].name, ())
            if kind.name == "int" and not kind.stars
            if (self.scope.types[name].name, field) not in self.file.lengths
        ]
        for name, field in fields[:_MOST_FIELDS]:
            yield (lambda n, o=name, f=field: Node("member", [named(o)], f, n.line)), 0.8

    def _whole_in_pieces(self, node: Node) -> Iterator[tuple[Change, float]]:
        """width / TILE for TILE, where a loop goes over the pieces of a whole."""
        if self.is_host or not (node.macro or node.kind == "name"):
            return
        if node.text in self.scope.integers and node.text not in self.scope.sizes:
            return
        for size in [n for n in self.scope.integers if n in self.given and n != node.text]:
            for change in (_pieces, _pieces_rounded_up):
                yield (lambda n, s=size, c=change: c(named(s), bare(n))), _PIECES

    def _at_most_four(self, node: Node) -> Iterator[tuple[Change, float]]:
        """min(columns - c, 4) for columns - c."""
        above = self._parent(node)
        if node.text == "-" and above.kind == "declare" and self.counts_in_fours:
            yield (lambda n: Node("call", [named("min"), copied(n), number(4)])), _FOUR


def counts_in_fours(function: Function) -> bool:
    """Whether four neighbours are moved as one there, or a switch has as many cases."""
    return any(
        node.kind == "case" or (node.kind in ("name", "cast") and "float4" in _called(node))
        for node in walk(function.body)
    )


def _called(node: Node) -> str:
    return node.text if node.kind == "name" else node.type.name if node.type else ""


def _pieces(whole: Node, piece: Node) -> Node:
    return binary("/", whole, piece)


def _pieces_rounded_up(whole: Node, piece: Node) -> Node:
    return rounded_up(binary("/", whole, piece))
