"""Expressions written in another way."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.repair.nodes import Node, replace
from grader.judging.repair.scope import bare, binary, number


def rounded_up(node: Node) -> Node:
    left, right = node.kids
    return binary("/", binary("-", binary("+", left, right), number(1)), right)


def is_rounded_up(node: Node) -> bool:
    left = node.kids[0]
    return left.kind == "binary" and left.text == "-" and left.kids[0].text == "+"


def rounded_down(node: Node) -> Node:
    return binary("/", node.kids[0].kids[0].kids[0], node.kids[1])


def all_rounded_up(node: Node) -> Node:
    """Also of max(1, whole / piece)."""
    kids = [_rounded_up_inside(kid) for kid in node.kids]
    return replace(bare(node), kids=kids)


def _rounded_up_inside(node: Node) -> Node:
    if node.kind == "binary" and node.text == "/" and not is_rounded_up(node):
        return rounded_up(node)
    if node.kind == "call" and node.kids[0].text in ("max", "min"):
        return replace(bare(node), kids=[_rounded_up_inside(kid) for kid in node.kids])
    return node


def crossed(node: Node, side: int, inner: int) -> Node:
    product, term = node.kids[side], node.kids[1 - side]
    kids = list(product.kids)
    kids[inner], term = term, kids[inner]
    product = replace(bare(product), kids=kids)
    return replace(bare(node), kids=[product, term] if side == 0 else [term, product])


def swapped(items: Sequence[Node], a: int, b: int) -> list[Node]:
    found = list(items)
    found[a], found[b] = found[b], found[a]
    return found


def terms_of(node: Node) -> list[Node]:
    """Of a sum."""
    if node.kind == "binary" and node.text == "+":
        return [*terms_of(node.kids[0]), *terms_of(node.kids[1])]
    return [node]


def sum_of(terms: Sequence[Node]) -> Node:
    found = terms[0]
    for one in terms[1:]:
        found = binary("+", found, one)
    return found


def exchanged(node: Node, one: Node, two: Node) -> Node:
    """A sum of products in which two of their parts stand in each other's place."""
    if node is one or node is two:
        return two if node is one else one
    if node.kind != "binary":
        return node
    return replace(bare(node), kids=[exchanged(kid, one, two) for kid in node.kids])
