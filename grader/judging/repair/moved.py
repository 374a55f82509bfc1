"""A statement that stands in a loop and belongs before it, and a 0 that is put nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Node, replace, walk
from grader.judging.repair.scope import Edit, bare, number
from grader.judging.repair.shown import text_of

_BEFORE, _ZERO = 0.8, 0.9
_CHANGING = ("before", "after", "assign")


class Moved:
    """A part of Editor."""

    def _before_their_loops(self) -> Iterator[Edit]:
        """What sets a sum to 0 in each turn, carried out once, before the first."""
        for loop in walk(self.function.body):
            if loop.kind != "for" or loop.kids[3].kind != "block":
                continue
            counted = _changed_in(loop)
            for at, one in enumerate(loop.kids[3].kids[:2]):
                if one is None or one.kind != "do" or not _may_stand_before(one, counted):
                    continue

                def moved(n: Node, at: int = at, one: Node = one) -> Node:
                    body = n.kids[3]
                    rest = [kid for place, kid in enumerate(body.kids) if place != at]
                    turned = replace(bare(n), kids=[*n.kids[:3], replace(bare(body), kids=rest)])
                    return Node("block", [one, turned], line=n.line)

                yield Edit(
                    ((loop.id, moved),), one.line, _BEFORE, self.function.name, one,
                    f"{text_of(one)} before the loop of line {loop.line}",
                )  # fmt: skip

    def _otherwise_zero(self) -> Iterator[Edit]:
        """A tile's element that is put there under a condition: a 0, where it does not hold."""
        for node in walk(self.function.body):
            if node.kind != "if" or node.kids[2] is not None:
                continue
            inner = node.kids[1]
            while inner.kind in ("block", "do") and len(inner.kids) == 1:
                inner = inner.kids[0]
            if inner.kind != "assign" or inner.text != "=":
                continue
            target = inner.kids[0]
            if target.kind != "index" or self.arrays.get(root_of(target)) != "shared":
                continue
            zero = Node("assign", [bare(target), number(0)], "=", node.line)
            yield Edit(
                ((node.id, lambda n, z=zero: _with_else(n, z)),), node.line, _ZERO,
                self.function.name, node, f"else {text_of(zero)}", True,
            )  # fmt: skip


def _with_else(node: Node, other: Node) -> Node:
    return replace(bare(node), kids=[*node.kids[:2], Node("do", [other], line=node.line)])


def root_of(node: Node) -> str:
    while node.kind == "index":
        node = node.kids[0]
    return node.text if node.kind == "name" else ""


def _changed_in(loop: Node) -> set[str]:
    """Names that its header changes or declares."""
    return {
        one.kids[0].text if one.kind in _CHANGING else one.text
        for kid in (loop.kids[0], loop.kids[2])
        if kid is not None
        for one in walk(kid)
        if one.kind in (*_CHANGING, "declare")
    }


def _may_stand_before(statement: Node, counted: set[str]) -> bool:
    """It says the same in each turn, and lets no threads meet."""
    inner = statement.kids[0]
    names = {one.text for one in walk(statement) if one.kind == "name"}
    if names & counted or inner.kind not in ("assign", "call"):
        return False
    return not any(one.startswith("__sync") for one in names)
