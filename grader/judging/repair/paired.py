"""Edits of two places at once: quotient and remainder, what is rounded up, two lines of one shape."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from grader.judging.repair.alike import alike
from grader.judging.repair.nodes import Node, children, replace, walk
from grader.judging.repair.rewritten import is_rounded_up
from grader.judging.repair.scope import Edit, bare, named
from grader.judging.repair.shown import text_of

_OTHER = {"/": "%", "%": "/"}
_AXES = {"x": "y", "y": "x"}
_MOST_LINES = 8  # of one shape
_MOST_EDITS = 24
_WITH_EQUAL, _BOTH_LIMITS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}, 0.6


class Paired:
    """A part of Editor."""

    def _quotients_exchanged(self) -> Iterator[Edit]:
        """b[x % 2] + x / 2 for b[x / 2] + x % 2, in one statement."""
        for node in walk(self.function.body):
            if node.kind not in ("do", "declare"):
                continue
            found: dict[tuple[str, str], list[Node]] = {}
            for one in walk(node):
                if one.kind == "binary" and one.text in _OTHER:
                    found.setdefault((text_of(one.kids[0]), text_of(one.kids[1])), []).append(one)
            for both in found.values():
                if len({one.text for one in both}) < 2 or len({one.id for one in both}) < len(both):
                    continue
                changes = tuple(
                    (one.id, lambda n: replace(bare(n), text=_OTHER[n.text])) for one in both
                )
                yield Edit(changes, both[0].line, 0.8, self.function.name, self._around(both))

    def _divided_by_another(self) -> Iterator[Edit]:
        """(rows + block.x - 1) / block.x: both times the other axis, or the name that is mixed up with it."""
        for node in walk(self.function.body):
            if node.kind != "binary" or node.text != "/" or not is_rounded_up(node):
                continue
            by, added = node.kids[1], node.kids[0].kids[0].kids[1]
            if text_of(by) != text_of(added) or by.id == added.id:
                continue
            others: list[Node] = []
            if by.kind == "member" and by.text in _AXES:
                others = [replace(bare(by), text=_AXES[by.text])]
            elif by.kind == "name":
                names = (*self.scope.integers, *self.scope.constants)
                others = [named(one) for one in names if alike(one, by.text)]
            for other in others:
                changes = tuple((one.id, lambda n, o=other: _fresh(o)) for one in (added, by))
                yield Edit(changes, node.line, 0.6, self.function.name, node)

    def _compared_in_another_way(self) -> Iterator[Edit]:
        """row >= n || col >= n for row > n || col > n."""
        for node in walk(self.function.body):
            if node.kind not in ("if", "choose", "return", "declare"):
                continue
            condition = node.kids[node.kind == "declare"] if node.kids else None
            found: dict[str, list[Node]] = {}
            for one in _compared(condition):
                found.setdefault(one.text, []).append(one)
            for sign, both in found.items():
                if len(both) > 1 and len({one.id for one in both}) == len(both):
                    changes = tuple(
                        (one.id, lambda n, s=_WITH_EQUAL[sign]: replace(bare(n), text=s))
                        for one in both
                    )
                    yield Edit(
                        changes, both[0].line, _BOTH_LIMITS, self.function.name, self._around(both)
                    )

    def _lines_exchanged(self) -> Iterator[Edit]:
        """add(sum, a.y, second); add(sum, a.z, third): each with the other's a."""
        for block in walk(self.function.body):
            if block.kind != "block":
                continue
            shapes: dict[tuple, list[tuple[Node, list[Node]]]] = {}
            for one in block.kids:
                if one is None or one.kind != "do":
                    continue
                leaves: list[Node] = []
                shapes.setdefault(_shape(one, leaves), []).append((one.kids[0], leaves))
            for lines in shapes.values():
                pairs = [
                    (first, a, b)
                    for (first, one), (_, two) in combinations(lines[:_MOST_LINES], 2)
                    for a, b in zip(one, two, strict=True)
                    if a.text != b.text and a.id != b.id
                ]
                for first, a, b in pairs[:_MOST_EDITS]:
                    changes = ((a.id, lambda n, o=b: _fresh(o)), (b.id, lambda n, o=a: _fresh(o)))
                    after = text_of(first, dict(changes))
                    if b.line != a.line:
                        after += f", and {text_of(a)} for {text_of(b)} in line {b.line},"
                    cost = 0.9 + self._as_called(a, b)
                    yield Edit(changes, a.line, cost, self.function.name, first, after)


def _compared(node: Node | None) -> Iterator[Node]:
    """The comparisons that && and || join."""
    if node is not None and node.kind == "binary" and node.text in ("&&", "||"):
        for kid in node.kids:
            yield from _compared(kid)
    elif node is not None and node.kind == "binary" and node.text in _WITH_EQUAL:
        yield node


def _fresh(leaf: Node) -> Node:
    """A copy that no edit finds."""
    return replace(bare(leaf), kids=[_fresh(kid) for kid in leaf.kids], ids=frozenset())


def _shape(node: Node, leaves: list[Node]) -> tuple:
    """What it is made of, but for names, numbers and fields, which are put into `leaves`."""
    if node.kind == "call" and node.kids[0].kind == "member":  # of an object, by the same method
        method = node.kids[0]
        kids = [method.kids[0], *node.kids[1:]]
        return node.kind, method.text, *(_shape(kid, leaves) for kid in kids)
    is_field = node.kind == "member" and node.kids[0].kind == "name"
    if node.kind in ("name", "number") or is_field:
        leaves.append(node)
        return ("leaf",)
    text = node.text if node.kind in ("binary", "assign", "unary") else ""
    return (node.kind, text, *(_shape(kid, leaves) for kid in children(node)))
