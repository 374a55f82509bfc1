"""Two numbers that are made of a thread's, such as x and y of a lane: together they tell lanes apart.

Where 32 threads do not stand in a rectangle of x and y, a change with which they do is a likely one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from grader.judging.repair.nodes import File, Function, Node, walk
from grader.judging.repair.scope import Change

_LANES = 32
# Such a change comes before all others, wherever it stands; several in the order of what they cost.
IN_PAIRS, PART_OF_PAIRS = -0.9, 0.3
OF_A_RUN = 0.2  # how much sooner one of a number that is written in parts for nothing
_MOST_NODES, _BITS = 24, 5
_SIGNS: dict[str, Callable] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv,
    "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor,
}  # fmt: skip
_FAILURES = (KeyError, ValueError, ZeroDivisionError, TypeError, OverflowError, RecursionError)
Values = np.ndarray | int


class LanePairs:
    """A part of Editor."""

    def _makes_a_pair(self, node: Node, change: Change) -> bool:
        """Whether two numbers that are no such pair become one. Nobody forgets to multiply a lane."""
        if node.id in self.no_pairs and node.kind != "binary" and change(node).text == "*":
            return False
        for one, other in self.no_pairs.get(node.id, ()):
            try:
                with np.errstate(all="ignore"):
                    value = _of_lanes(one, self.lane_values, self.file, {node.id: change})
            except _FAILURES:
                continue
            if is_pair(value, self.lane_values[other]):
                return True
        return False


def number_of(node: Node, values: dict[str, Values], file: File, changes: dict) -> int | None:
    """Of an expression of constants, with changes."""
    try:
        found = _of_lanes(node, values, file, changes)
    except _FAILURES:
        return None
    return int(found) if not np.ndim(found) else None


def lane_values_of(file: File, function: Function, macros: dict[str, int]) -> dict[str, Values]:
    """Variables of a kernel that the number of a thread in its warp decides, and constants."""
    values: dict[str, Values] = dict(macros)
    given = [name for kind, name in function.parameters if kind.name == "int" and not kind.stars]
    filled = {node.kids[0].text for node in walk(function.body) if node.kind == "assign"}
    if not function.is_kernel and len(set(given) - filled) == 1:  # a helper's lane
        values.update(dict.fromkeys(set(given) - filled, np.arange(_LANES)))
    nodes = [node for block in file.globals for node in walk(block)]
    with np.errstate(all="ignore"):
        for node in (*nodes, *walk(function.body)):
            name, value = _made(node)
            if not name:
                continue
            try:
                values[name] = _of_lanes(value, values, file, {})
            except _FAILURES:
                values.pop(name, None)
    return values


def _made(node: Node) -> tuple[str, Node | None]:
    """A variable and its value, where it is given one."""
    if node.kind == "declare" and not node.kids[0] and not node.type.stars and node.kids[1]:
        return node.text, node.kids[1]
    if node.kind == "assign" and node.text == "=" and node.kids[0].kind == "name":
        return node.kids[0].text, node.kids[1]
    return "", None


def no_pairs_of(
    function: Function, values: dict[str, Values]
) -> dict[tuple[int, str], list[tuple[Node, str]]]:
    """For each node of a number that makes no pair with the next one: its value, and the other's name."""
    made = [_made(node) for node in walk(function.body)]
    made = [
        (name, value)
        for name, value in made
        if np.ndim(values.get(name, 0)) and _tells_apart(values[name])
    ]
    found: dict[tuple[int, str], list[tuple[Node, str]]] = {}
    for one, other in zip(made, made[1:], strict=False):
        if other[1].line > one[1].line + 1 or is_pair(values[one[0]], values[other[0]]):
            continue
        for (_, value), (beside, _) in ((one, other), (other, one)):
            for node in walk(value):
                found.setdefault(node.id, []).append((value, beside))
    return found


def runs_in(function: Function, values: dict[str, Values]) -> set[tuple[int, str]]:
    """Nodes of lane % 2 + lane / 2 % 2 * 2: who means lane % 4 does not write it bit by bit."""
    found: set[tuple[int, str]] = set()
    for node in walk(function.body):
        name, value = _made(node)
        known = values.get(name, 0)
        if value is None or not np.ndim(known) or value.kind != "binary":
            continue
        if value.text in ("+", "|") and any(
            np.array_equal(known, np.arange(_LANES) >> low & most)
            for low in range(_BITS)
            for most in (3, 7, 15)
        ):
            found |= {one.id for one in walk(value)}
    return found


def is_pair(one: Values, other: Values) -> bool:
    """Whether the lanes stand in a rectangle, each at a place of its own, all rows and columns equally apart."""
    if not np.ndim(one) or not np.ndim(other):
        return False
    if any((np.diff(np.diff(np.unique(values))) != 0).any() for values in (one, other)):
        return False
    places = len(set(zip(one.tolist(), other.tolist(), strict=True)))
    return places == len(set(one.tolist())) * len(set(other.tolist())) == _LANES


def _tells_apart(values: np.ndarray) -> bool:
    """Some lanes from others: neither the number of the thread itself nor one number for all."""
    steps = np.diff(values)
    return bool((steps != 1).any() and steps.any())


def _of_lanes(node: Node, values: dict[str, Values], file: File, changes: dict) -> Values:
    """For each lane of a warp, or one number for all. Raises what _FAILURES has."""
    if node.id in changes:
        node = changes[node.id](node)
    kids = [kid for kid in node.kids if isinstance(kid, Node)]
    match node.kind:
        case "number":
            return int(node.text)
        case "name":
            return values[node.text]
        case "member" if kids[0].text == "threadIdx" and node.text == "x":
            return np.arange(_LANES)
        case "binary" if node.text in _SIGNS and len(kids) == 2:
            left, right = (_of_lanes(kid, values, file, changes) for kid in kids)
            return _SIGNS[node.text](left, right)
        case "cast" if len(kids) == 1:
            return _of_lanes(kids[0], values, file, changes)
        case "call":
            return _of_call(node, values, file, changes)
    raise KeyError(node.kind)


def _of_call(node: Node, values: dict[str, Values], file: File, changes: dict) -> Values:
    """A helper that is one expression: bit(lane, 2)."""
    helper = file.functions[node.kids[0].text]
    statements = [one for one in helper.body.kids if one is not None]
    if (
        len(statements) != 1
        or statements[0].kind != "return"
        or len(list(walk(helper.body))) > _MOST_NODES
    ):
        raise KeyError(helper.name)
    given = [_of_lanes(kid, values, file, changes) for kid in node.kids[1:]]
    names = [name for _, name in helper.parameters]
    own = {**values, **dict(zip(names, given, strict=True))}
    return _of_lanes(statements[0].kids[0], own, file, changes)
