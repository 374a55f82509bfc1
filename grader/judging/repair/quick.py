"""Edits that are no more than a number, a name, a term or a sign: computed from what is there already.

In the innermost loop of a kernel most of a batch's time is spent on the edits' own expressions. For
these few forms one step on a piece of the lanes does it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from grader.judging.repair.nodes import Node, walk
from grader.judging.repair.own import NUMBERS
from grader.judging.repair.values import divided, remainder
from grader.judging.repair.world import Frame

_PURE = frozenset(("name", "number", "member", "binary", "unary", "cast"))
_TERMS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "^": operator.xor}
_SIGNS = {
    **_TERMS, "/": divided, "%": remainder, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "&": operator.and_,
}  # fmt: skip
_LARGEST = 1 << 40  # a factor beyond it may leave what 64 bits hold
# f, the value of the node as it is, its two sides, the edit's number -> the edit's value, or None
Quick = Callable[[Frame, object, tuple, int], object]


def is_pure(node: Node) -> bool:
    """Whether its value can be had for lanes that are not active."""
    return all(one.kind in _PURE and one.text not in ("&&", "||") for one in walk(node))


def quick_of(node: Node, changed: Node) -> Quick | None:
    """How an edit's value comes from the value of a pure node; None where that is not so simple."""
    if changed.kind == "number":
        return _number(changed)
    if changed.kind == "name":
        name = changed.text
        return lambda f, value, sides, at: _named(f, name, at)
    if node.kind == "binary":
        for side in (0, 1):
            if changed is node.kids[side]:
                return lambda f, value, sides, at, s=side: _piece(sides[s], at)
    if changed.kind != "binary" or len(changed.kids) != 2:
        return None
    left, right = changed.kids
    if node.kind == "binary" and changed.text in _SIGNS:
        for a, b in ((0, 1), (1, 0)):
            if left is node.kids[a] and right is node.kids[b]:
                return _signed(_SIGNS[changed.text], a, b)
    if changed.text in _TERMS and _is_copy(left, node):
        term = quick_of(node, right) if right.kind in ("number", "name") else None
        return None if term is None else _more(_TERMS[changed.text], term)
    return None


def _is_copy(one: Node, node: Node) -> bool:
    return one.kind == node.kind and one.text == node.text and one.kids is node.kids


def _number(changed: Node) -> Quick | None:
    text = changed.text.rstrip("uUlL")
    if not text.isdigit():
        return None
    return lambda f, value, sides, at: int(text)


def _piece(value, at: int):
    if value.__class__ is np.ndarray:
        return value[at] if value.ndim > 1 else value
    return value if isinstance(value, NUMBERS) else None


def _named(f: Frame, name: str, at: int):
    value = f.env.get(name)
    return None if value is None else _piece(value, at)


def _signed(do: Callable, a: int, b: int) -> Quick:
    def quick(f, value, sides, at):
        left, right = _piece(sides[a], at), _piece(sides[b], at)
        return None if left is None or right is None else do(left, right)

    return quick


def _more(do: Callable, term: Quick) -> Quick:
    def quick(f, value, sides, at):
        old, by = _piece(value, at), term(f, value, sides, at)
        if old is None or by is None or old.__class__ is np.bool_ or old.__class__ is bool:
            return None
        new = do(old, by)
        return None if new.__class__ is int and abs(new) > _LARGEST else new

    return quick
