"""What one of several alike has otherwise: ns[4 + across], ns[8 + across], ns[12 + up].

And what two have alike where each has its own: s.x += b.x, s.y += b.y, s.z += b.y.
"""

from __future__ import annotations

from collections import Counter

from grader.judging.repair.nodes import Function, Node, children, walk

_FEWEST = 3  # of one shape
_KINDS = ("index", "call")
_FIELDS = "xyzw"


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


def repeated_leaves(function: Function) -> dict[tuple[int, str], str]:
    """A field or a number that two of several assignments have, and the one that none has.

    Nothing else differs among them but what is another one in each.
    """
    groups: dict[tuple, list[list[Node]]] = {}
    for node in walk(function.body):
        if node.kind == "assign":
            leaves: list[Node] = []
            groups.setdefault(_shape(node, leaves, True), []).append(leaves)
    found: dict[tuple[int, str], str] = {}
    for members in groups.values():
        if len(members) < _FEWEST:
            continue
        places = list(zip(*members, strict=True))
        counts = [len({leaf.text for leaf in place}) for place in places]
        twice = [place for place, n in zip(places, counts, strict=True) if n == len(members) - 1]
        if len(twice) != 1 or any(1 < n < len(members) - 1 for n in counts):
            continue
        if len(members) not in counts:
            continue
        texts = [leaf.text for leaf in twice[0]]
        for leaf in twice[0]:
            if texts.count(leaf.text) == 2:
                found |= {leaf.id: text for text in _lacking(texts)}
    return found


def _lacking(texts: list[str]) -> list[str]:
    """The one field, or number, that comes among these and is not there."""
    if all(text in _FIELDS for text in texts):
        whole = list(_FIELDS[: len(texts)])
    elif all(text.isdigit() for text in texts):
        first = min(map(int, texts))
        whole = [str(first + at) for at in range(len(texts))]
    else:
        return []
    lacking = [text for text in whole if text not in texts]
    return lacking if len(lacking) == 1 else []


def _shape(node: Node, leaves: list[Node], has_fields: bool = False) -> tuple:
    """What it is made of, but for its names and numbers, which are put into `leaves`, and fields."""
    if node.kind in ("name", "number"):
        leaves.append(node)
        return (node.kind,)
    text = node.text if node.kind in ("binary", "member", "unary", "assign") else ""
    if has_fields and node.kind == "member":
        leaves.append(node)
        text = ""
    return (node.kind, text, *(_shape(kid, leaves, has_fields) for kid in children(node)))
