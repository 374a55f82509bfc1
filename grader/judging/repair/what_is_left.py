"""What is left of a whole from a place on: whole - first, where a line beside it has it so.

min(T, a.height) beside min(T, a.width - col), r < rows beside c < columns - left, {rows, columns - left}.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import File, Function, Node, children, walk
from grader.judging.repair.scope import Change, bare, binary, named

_BESIDE, _IN_LEAST = 0.5, 0.9  # as another line has it; a member that is limited by nothing else
_LEAST = ("min", "max")
_LISTS = ("call", "make", "braces", "built")
_ORDERS = ("<", "<=", ">", ">=")
_WHOLE = ("name", "member")
_MOST = 8  # names that may be taken away

Place = tuple[str, str, int]


class WhatIsLeft:
    """A part of Editor."""

    def _what_is_left(self, node: Node) -> Iterator[tuple[Change, float]]:
        """rows - top for rows."""
        if self.is_host or not self._may_be_whole(node):
            return
        place = _place(self._parent(node), node)
        if place in self.rests:
            cost = _BESIDE
        elif place is not None and place[1] in _LEAST and node.kind == "member":
            cost = _IN_LEAST
        else:
            return
        near = [name for name in self._near(self.scope.integers, node) if name != node.text]
        if self.function.is_kernel:  # a helper is given places as well as sizes
            near = [name for name in near if name not in self.scope.sizes]
        for name in near[:_MOST]:
            yield (lambda n, o=name: binary("-", bare(n), named(o))), cost

    def _may_be_whole(self, node: Node) -> bool:
        if node.kind == "member":
            return node.text in self.integer_fields
        return node.kind == "name" and node.text in self.scope.integers and not node.macro


def rests_in(function: Function) -> set[Place]:
    """The places in which a function has a name taken away from a name or a member."""
    found = set()
    for above in walk(function.body):
        for node in children(above):
            is_rest = node.kind == "binary" and node.text == "-" and node.kids[0].kind in _WHOLE
            if is_rest and node.kids[1].kind == "name":
                found.add(_place(above, node))
    return found - {None}


def integer_fields_in(file: File) -> set[str]:
    return {
        name
        for kind, fields in file.structs.items()
        for own, name in fields
        if own.name == "int" and not own.stars and (kind, name) not in file.lengths
    }


def _place(above: Node, node: Node) -> Place | None:
    """What it is a part of, and where that is one of a kind."""
    if above.kind == "binary" and above.text in _ORDERS:
        return "order", above.text, above.kids.index(node)
    if above.kind == "call" and above.kids[0] is not node:
        return "call", above.kids[0].text, 0
    if above.kind in _LISTS:
        return "list", above.text, 0
    if above.kind == "assign" and above.kids[1] is node and above.text == "=":
        return "assign", above.kids[0].kind, 0
    if above.kind == "declare" and above.kids[1] is node and above.type.name == "int":
        return "declare", "", 0
    return None
