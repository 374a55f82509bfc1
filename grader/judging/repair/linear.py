"""Indices put together anew: a * s + b of what an index has, in another order, or with another side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from grader.judging.repair.nodes import Node, replace, walk
from grader.judging.repair.scope import Change, bare, binary

_FEWEST, _MOST = 3, 5  # parts of an index
_MOST_SIDES = 4


class Linear:
    """A part of Editor."""

    def _in_order(self, node: Node) -> Iterator[tuple[Change, float]]:
        """j * n + i for 4 * i + j."""
        above = self._parent(node)
        if node.kind != "binary" or node.text != "+" or above.kind == "binary":
            return
        if above.kind not in ("index", "declare", "call", "deref", "return", "assign"):
            return
        parts = {_said(one): one for one in walk(node) if self._is_part(one)}
        if any(one.kind == "binary" and one.text not in "+*" for one in walk(node)):
            return
        if len(parts) > _MOST or len(parts) < _FEWEST:
            return
        sides = [name for name in self._near(self.scope.integers, node) if name in self.scope.sizes]
        known = dict(parts)
        for name in sides[:_MOST_SIDES]:
            known.setdefault(name, Node("name", text=name))
        for a, step, b in permutations(known, 3):
            # What is counted stands in both, and a side is what one of them is multiplied by.
            left = len({a, step, b} & parts.keys())
            if left < len(parts) - 1 or a in sides or b in sides or known[a].kind == "number":
                continue
            if step not in sides and known[step].kind != "number":
                continue
            parts_of = tuple(known[name] for name in (a, step, b))
            yield (lambda n, p=parts_of: _put_together(*p)), 1.5 + 0.2 * (len(parts) - left)

    def _is_part(self, node: Node) -> bool:
        """A variable, a number, or threadIdx.x."""
        if node.kind == "number":
            return True
        if node.kind == "name":
            return self._parent(node).kind != "member" and node.text in self.scope.integers
        return node.kind == "member"


def _put_together(one: Node, two: Node, three: Node) -> Node:
    """New nodes each time: what is compiled of them belongs to one run."""
    one, two, three = (copied(part) for part in (one, two, three))
    return binary("+", binary("*", one, two), three)


def copied(node: Node) -> Node:
    return replace(bare(node), kids=[copied(kid) for kid in node.kids])


def _said(node: Node) -> str:
    if node.kind == "member":
        return f"{_said(node.kids[0])}.{node.text}"
    return node.macro or node.text
