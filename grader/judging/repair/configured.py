"""Constants of a struct, Config::BM: one for another, for a variable, and as a factor that lacks."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.alike import alike
from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import Function, Node, walk
from grader.judging.repair.scope import Change, bare, binary, named

_MOST = 8


def configured_in(function: Function) -> dict[str, Node]:
    """Those that a function names, by what it says."""
    found: dict[str, Node] = {}
    for node in walk(function.body):
        # An object's static member, ring.full, is seldom a number.
        if node.kind == "scoped" and "." not in node.macro and len(found) < _MOST:
            found.setdefault(node.macro, node)
    return found


class Configured:
    """A part of Editor."""

    def _scoped_names(self, node: Node) -> Iterator[tuple[Change, float]]:
        parent = self._parent(node)
        if parent.kind in ("call", "template") and parent.kids[0] is node:
            return
        for said, other in self.configured.items():
            if said != node.macro:
                cost = 0.7 if alike(node.text, other.text) else 1.0
                yield (lambda n, o=other: copied(o)), cost
        beside = {
            one.text
            for one in walk(self.function.body)
            if one.kind == "name" and one.line == node.line
        }
        for name in self._near(self.scope.integers, node):
            if name in self.scope.sizes:
                yield (lambda n, o=name: named(o)), 0.6 if name in beside else 1.2

    def _configured(self, node: Node) -> Iterator[tuple[Change, float]]:
        """In place of a size or of a number, and times what is counted."""
        parent = self._parent(node)
        if not self.configured or parent.kind in ("member", "template", "after", "before"):
            return
        if parent.kind in ("call", "index", "assign") and parent.kids[0] is node:
            return
        is_size = node.kind == "name" and node.text in self.scope.sizes
        is_number = node.kind == "number" and not node.macro and node.text not in "01"
        is_counted = node.kind == "name" and node.text in self.scope.integers and not is_size
        for other in self.configured.values():
            if is_size or is_number:
                yield (lambda n, o=other: copied(o)), 1.3
            if (is_counted or node.kind == "member") and parent.text not in ("*", "/", "%"):
                yield (lambda n, o=other: binary("*", bare(n), copied(o))), 1.3
