"""One leaf among several that differs: ns[4 + across], ns[8 + across], ns[12 + up]."""

from __future__ import annotations

from collections import Counter

from grader.judging.repair.nodes import Function, Node, children, walk

_FEWEST = 3  # of one shape
_KINDS = ("index", "call")


def odd_leaves(function: Function) -> dict[tuple[int, str], str]:
    """Names that all other expressions of the same shape have otherwise, and what these have."""
    groups: dict[tuple, list[list[Node]]] = {}
    for node in walk(function.body):
        if node.kind not in _KINDS:
            continue
        leaves: list[Node] = []
        shape = _shape(node, leaves)
        key = node.kids[0].text, shape
        groups.setdefault(key, []).append(leaves)
    found: dict[tuple[int, str], str] = {}
    for members in groups.values():
        if len(members) < _FEWEST:
            continue
        for place in zip(*members, strict=True):
            counted = Counter(leaf.text for leaf in place).most_common()
            if len(counted) != 2 or counted[1][1] != 1:
                continue
            for leaf in place:
                if leaf.kind == "name" and leaf.text == counted[1][0]:
                    found[leaf.id] = counted[0][0]
    return found


def _shape(node: Node, leaves: list[Node]) -> tuple:
    """What it is made of, but for its names and numbers, which are put into `leaves`."""
    if node.kind in ("name", "number"):
        leaves.append(node)
        return (node.kind,)
    text = node.text if node.kind in ("binary", "member", "unary") else ""
    return (node.kind, text, *(_shape(kid, leaves) for kid in children(node)))
