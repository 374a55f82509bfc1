"""Which of two: now and now ^ 1, as the file has them elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.scope import Change, bare, binary, named, number

_OTHER, _SAME = 0.5, 0.7


class Toggled:
    """A part of Editor."""

    def _other_of_two(self, node: Node) -> Iterator[tuple[Change, float]]:
        """now ^ 1 for now, and now for now ^ 1 or for 1 - now."""
        if node.kind == "name" and node.text in self.toggled:
            above = self._parent(node)
            if above.kind in ("assign", "before", "after") and above.kids[0] is node:
                return
            if toggled_by(above) != node.text:
                for how in self.toggled[node.text]:
                    yield (lambda n, h=how: _toggled(n, h)), _OTHER
        elif toggled_by(node):
            yield (lambda n, o=toggled_by(node): named(o)), _SAME


def _toggled(node: Node, how: str) -> Node:
    return binary("^", bare(node), number(1)) if how == "^" else binary("-", number(1), bare(node))


def toggled_by(node: Node) -> str:
    """now, of now ^ 1 and of 1 - now."""
    if node.kind != "binary" or node.text not in "^-" or len(node.kids) != 2:
        return ""
    left, right = node.kids
    if node.text == "^" and right.text == "1" and left.kind == "name":
        return left.text
    return right.text if node.text == "-" and left.text == "1" and right.kind == "name" else ""


def toggled_in(file: File) -> dict[str, dict[str, None]]:
    """Names that somewhere in the file stand for the other of two, too, and how it is said."""
    found: dict[str, dict[str, None]] = {}
    for function in [*file.functions.values(), *file.methods.values()]:
        for node in walk(function.body):
            name = toggled_by(node)
            if name:
                found.setdefault(name, {})[node.text] = None
    return found
