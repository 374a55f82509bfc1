"""What quotients ask for: a rest that one is added for, and a step of as many rows as threads fill."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import Function, Node, replace, walk
from grader.judging.repair.scope import Change, bare, binary, named, number
from grader.judging.repair.shown import text_of

_COST = 0.2  # a rounding of the quotient is what else would do, and then the condition is left over

_STEP = 0.6


class CountedUp:
    """A part of Editor."""

    def _counted_up(self, node: Node) -> Iterator[tuple[Change, float]]:
        """if (count * piece < whole) ++count; where count is whole / piece."""
        if node.kind != "if" or node.kids[2] is not None:
            return
        name = counted_by_one(node.kids[1])
        quotient = self.quotients.get(name)
        if quotient is None:
            return
        whole, piece = quotient.kids
        condition = binary("<", binary("*", named(name), piece), whole)
        if text_of(condition) != text_of(node.kids[0]):
            yield (lambda n, c=condition: replace(bare(n), kids=[c, *n.kids[1:]])), _COST

    def _steps_of_quotients(self, node: Node) -> Iterator[tuple[Change, float]]:
        """row += THREADS / TILE for row += THREADS, in a loop that begins at thread / TILE."""
        step, loop = node, self._parent(node)
        if loop.kind == "do":
            step, loop = loop, self._parent(loop)
        if loop.kind != "for" or loop.kids[2] is not step or node.text != "+=":
            return
        first = next((one for one in walk(loop.kids[0]) if one.kind == "declare"), None)
        start = first.kids[1] if first is not None and not first.kids[0] else None
        if start is None or first.text != node.kids[0].text:
            return
        quotient = start if start.text == "/" else self.quotients.get(start.text)
        by = node.kids[1]
        if quotient is None or text_of(quotient.kids[1]) in text_of(by):
            return
        whole = by.kids[0] if by.kind == "binary" and by.text == "/" else by
        piece = quotient.kids[1]
        parts = binary("/", copied(whole), copied(piece))
        if all(one.text.isdigit() and not one.macro for one in (whole, piece)):
            parts = number(int(whole.text) // int(piece.text))
        yield (lambda n, p=parts: replace(bare(n), kids=[n.kids[0], p])), _STEP


def quotients_in(function: Function) -> dict[str, Node]:
    """Of each variable the quotient that it is at first."""
    return {
        node.text: node.kids[1]
        for node in walk(function.body)
        if node.kind == "declare" and not node.kids[0] and node.kids[1] is not None
        and node.kids[1].kind == "binary" and node.kids[1].text == "/"
    }  # fmt: skip


def counted_by_one(node: Node) -> str:
    """The variable that a statement adds one to, and does nothing else."""
    while node.kind in ("block", "do") and len(node.kids) == 1:
        node = node.kids[0]
    if node.kind in ("before", "after") and node.text[:1] == "+" and node.kids[0].kind == "name":
        return node.kids[0].text
    is_one = node.kind == "assign" and node.text == "+=" and node.kids[1].text == "1"
    return node.kids[0].text if is_one and node.kids[0].kind == "name" else ""
