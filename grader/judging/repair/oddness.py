"""What nobody would write, though the numbers come out right: other changes are tried before it.

And what the names of a helper's parameters speak for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging.repair.nodes import Node, children, walk

_ODD = 1.5
_TWICE_GIVEN = 1.2
_AGAINST_ORDER = 0.8
_AS_NAMED = 0.4  # how much nearer arguments are that are called as the parameters are
_BYTES = 1.0
_ODD_LEAST = 0.8
_SIZE_OF_A_FLOAT = "4"
_CALLS = ("call", "launch")
_ROW = re.compile(r"^(.*_)?(r|row|y)$", re.IGNORECASE)
_ROWS = re.compile(r"^(.*_)?(rows|height|h)_?$", re.IGNORECASE)
_LEAST = ("min", "max")
_COUNTS_BYTES = frozenset(
    ("cudaMalloc", "cudaMallocAsync", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemset", "cudaMemsetAsync", "cudaMallocHost", "malloc")
)  # fmt: skip


class Oddness:
    """A part of Editor."""

    def _oddness(self, node: Node, changed: Node) -> float:
        """What is added to a change's cost."""
        if self.is_host and _is_times(node, changed):
            if _is_four(changed.kids[1]) and self._is_a_place(node):
                return _BYTES
            if self._is_in_least(node):
                return _ODD_LEAST
            if node.text in self.scope.sizes and self._decides_launch(node):
                return _ODD  # so many blocks reach everything
        if self._is_divided_by_itself(node, changed) or self._is_of_numbers(node, changed):
            return _ODD
        match node.kind:
            case "number":
                return self._of_number(node, changed)
            case "name":
                odd = self._row_of_rows(node, changed) + self._as_called(node, changed)
                return odd + self._given_twice(node, changed)
            case "member":
                return self._row_of_rows(node, changed) + self._as_called(node, changed)
            case "call":
                return self._of_arguments(node, node.kids[1:], changed.kids[1:])
            case "make" | "braces" | "built":
                return self._of_arguments(node, node.kids, changed.kids)
            case "launch":
                return self._of_arguments(node, node.kids[2], changed.kids[2])
        return 0.0

    def _of_number(self, node: Node, changed: Node) -> float:
        """x / 1, x * 1, x * 0 and min(1, x); and 8 for the 4 bytes of a float."""
        above = self._parent(node)
        if changed.kind != "number" or changed.macro:
            return 0.0
        if above.kind == "template" and self.is_host:
            return _ODD  # which of them is launched is decided before
        if above.kind == "call" and above.kids[0].text in _LEAST and changed.text in ("0", "1"):
            return _ODD
        if above.kind != "binary":
            return 0.0
        is_second = len(above.kids) > 1 and above.kids[1] is node
        if above.text == "*" and changed.text in ("0", "1"):
            return _ODD
        if above.text in ("/", "%") and changed.text == "1" and is_second:
            return _ODD
        if above.text == "*" and node.text == _SIZE_OF_A_FLOAT and not node.macro:
            return _BYTES * self._is_of_bytes(node)
        return 0.0

    def _as_called(self, node: Node, changed: Node) -> float:
        """columns_ = rows for rows_ = rows: a field gets what is called like it."""
        above = self._parent(node)
        if above.kind != "assign" or above.text != "=":
            return 0.0
        other = above.kids[above.kids[0] is node]
        name = other.text if other.kind in ("name", "member") else ""
        return _ODD * bool(name and _is_called(node, name) and not _is_called(changed, name))

    def _row_of_rows(self, node: Node, changed: Node) -> float:
        """r * rows: a row is as long as there are columns."""
        above = self._parent(node)
        if above.kind != "binary" or above.text != "*" or changed.kind not in ("name", "member"):
            return 0.0
        other = above.kids[above.kids[0] is node]
        if other.kind not in ("name", "member") or not _ROW.search(other.text):
            return 0.0
        return _ODD * bool(_ROWS.search(changed.text) and not _ROWS.search(node.text))

    def _is_divided_by_itself(self, node: Node, changed: Node) -> bool:
        """w * h / w, and w / w."""
        above = self._parent(node)
        if above.kind != "binary" or above.text not in ("/", "%"):
            return False
        other = above.kids[above.kids[0] is node]
        name = changed.macro or (changed.text if changed.kind == "name" else "")
        return bool(name) and any(name in (one.macro, one.text) for one in walk(other))

    def _is_of_numbers(self, node: Node, changed: Node) -> bool:
        """WIDTH & 7, or i * WIDTH & 7: bits of what is the same for all threads."""
        above = self._parent(node)
        if above.kind != "binary" or above.text not in ("&", ">>", "^") or node.kind != "name":
            return False
        other = above.kids[above.kids[0] is node]
        if changed.kind == "binary" and changed.text == "*":
            return other.kind == "number"
        is_constant = bool(changed.macro) or changed.text in self.scope.constants
        return other.kind == "number" and (is_constant or changed.text in self.scope.sizes)

    def _is_a_place(self, node: Node) -> bool:
        """Whether it counts elements, blocks or turns: then bytes are none of its business."""
        while (above := self._parent(node)) is not node:
            if above.kind == "call":
                return above.kids[0].text in _LEAST
            if above.kind not in ("binary", "cast", "do"):
                return above.kind in ("for", "index", "launch", "if")
            node = above
        return False

    def _is_in_least(self, node: Node) -> bool:
        """Within min(end, from + depth): what makes a side larger takes the other one's place."""
        while (above := self._parent(node)) is not node:
            if above.kind == "call":
                return above.kids[0].text in _LEAST
            if above.kind not in ("binary", "cast"):
                return False
            node = above
        return False

    def _is_of_bytes(self, node: Node) -> bool:
        """Whether it is a factor of a number of bytes: of a call's, or of a launch's shared memory."""
        if not self.is_host:
            return False
        while (above := self._parent(node)) is not node:
            if above.kind == "call":
                return above.kids[0].text in _COUNTS_BYTES
            if above.kind == "launch":
                return any(one is node for one in above.kids[1][2:])
            if above.kind == "declare":
                return "byte" in above.text.lower() or above.text in self.launched_with
            if above.kind not in ("binary", "cast"):
                return False
            node = above
        return False

    def _given_twice(self, node: Node, changed: Node) -> float:
        """(rows, rows) for (rows, columns): each argument has a name of its own."""
        above = self._parent(node)
        if changed.kind == "name" and above.kind == "address":  # {&rows, &rows}
            beside = self._parent(above)
            names = [one.kids[0].text for one in beside.kids if one and one.kind == "address"]
            is_twice = beside.kind == "braces" and changed.text in names
            return _TWICE_GIVEN * is_twice
        if changed.kind != "name" or above.kind not in ("call", "launch"):
            return 0.0
        given = above.kids[1:] if above.kind == "call" else above.kids[2]
        names = [one.text for one in given if one.kind == "name"]
        is_argument = any(one is node for one in given)
        is_each_once = len(set(names)) == len(names)
        if is_argument and is_each_once and changed.text in names:
            return _TWICE_GIVEN if self._callee(above) else 0.0
        return 0.0

    def _of_arguments(self, node: Node, before: Sequence[Node], after: Sequence[Node]) -> float:
        """Arguments in another order: as the parameters are called, or as they are not."""
        if [one.text for one in before] == [one.text for one in after]:
            return 0.0
        moved = [at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a is not b]
        if len(before) != len(after) or {id(one) for one in before} != {id(one) for one in after}:
            return 0.0
        for parameters in self._callee(node) if node.kind in _CALLS else self._fields_of(node):
            if len(parameters) != len(before):
                continue
            now = sum(_is_called(before[at], parameters[at]) for at in moved)
            then = sum(_is_called(after[at], parameters[at]) for at in moved)
            if then != now:
                return -_AS_NAMED if then > now else _ODD
        order = [name for _, name in self.function.parameters]
        places = [_place_in(order, one) for one in before]
        kept = [places[at] for at in moved]
        if node.kind in ("launch", "make", "built") and -1 not in kept and kept == sorted(kept):
            return _AGAINST_ORDER
        return 0.0

    def _fields_of(self, node: Node) -> list[list[str]]:
        """What a struct's constructors are given, or its fields, in order."""
        above = self._parent(node)
        kind = above.type.name if above.kind == "declare" and above.type else node.text
        made = [[name for _, name in f.parameters] for f in self.file.of_structs.get(kind, ())]
        return made or [[name for _, name in self.file.structs.get(kind, ())]]

    def _callee(self, node: Node) -> list[list[str]]:
        """The names of the parameters of each function of the file that may be called there."""
        target = node.kids[0]
        if target.kind == "template":
            target = target.kids[0]
        known = [*self.file.named.get(target.text, ()), *self.file.of_structs.get(target.text, ())]
        return [[name for _, name in one.parameters] for one in known]


def _place_in(order: Sequence[str], given: Node) -> int:
    """Which parameter an argument is made of, if it is one."""
    found = {order.index(one.text) for one in walk(given) if one.text in order}
    return found.pop() if len(found) == 1 else -1


def _is_times(node: Node, changed: Node) -> bool:
    """x * 4 for x."""
    return (
        changed.kind == "binary" and changed.text == "*" and node.kind not in ("number", "binary")
    )


def _is_four(by: Node) -> bool:
    """As if sizeof(float) lacked."""
    return by.kind == "number" and by.text == _SIZE_OF_A_FLOAT and not by.macro


def _is_called(given: Node, parameter: str) -> bool:
    """Whether an argument is called as the parameter is, or as its last part is."""
    text = given.text if given.kind in ("name", "member") else ""
    if given.kind == "number":
        text = given.macro
    if given.kind in ("unary", "address", "deref", "cast") and children(given):
        return _is_called(children(given)[0], parameter)
    return bool(text) and text.strip("_").lower() == parameter.strip("_").lower()
