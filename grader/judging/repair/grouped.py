"""What an operator takes together: parentheses that are missing, or stand in the wrong place."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Node, replace
from grader.judging.repair.scope import Change, bare, binary

_SUMS, _PRODUCTS = ("+", "-"), ("*", "/", "%")
_LOOSE = ("<<", ">>", "&", "^", "|")  # what binds less than a sum
_CHOICE, _SUM, _ALL_BITS, _PART = 0.5, 0.9, 0.6, 0.8
_OTHER_CHOICE = 0.9  # a comparison is turned round first
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_WHOLE_PIECES = 0.9  # a loop over whole pieces only: at + PIECE <= count
_COMPARED = (">", "!=")
_MOST_TERMS = 5
_LOOSER = 1.3  # nobody writes parentheses by mistake


class Grouped:
    """A part of Editor."""

    def _taken_together(self, node: Node) -> Iterator[tuple[Change, float]]:
        """(a + b) * c for a + b * c, (a - c) * b for a * b - c, and a + (b ? x : y) for a + b ? x : y.

        And c ? y : x, (a << b) + c for a << b + c, a + (b & c) for a + b & c, a / (b / c) for a / b / c,
        a / c * b for a * b / c.
        """
        if node.kind == "choose":
            condition = node.kids[0]
            if condition.kind == "binary" and condition.text in _SUMS:
                yield _chosen_last, _CHOICE
            elif condition.text in _COMPARISONS and condition.kids[0].text in _SUMS:
                yield _compared_last, _CHOICE
            cost = _OTHER_CHOICE if condition.text in _COMPARISONS else _CHOICE
            yield (lambda n: _choice(n, n.kids[0], n.kids[2], n.kids[1])), cost
            return
        left, right = node.kids
        if node.text in _LOOSE:
            if right.kind == "binary" and right.text in _SUMS:
                yield _first_two, _CHOICE
            if left.kind == "binary" and left.text in _SUMS:
                yield _last_two, _CHOICE
        if left.kind == "binary" and left.text in _PRODUCTS and node.text in _PRODUCTS:
            if "/" in (left.text, node.text) or "%" in (left.text, node.text):
                yield _last_two, _SUM
            if (left.text, node.text) == ("*", "/"):
                yield _quotient_first, _PART
            if (left.text, node.text) == ("/", "*"):
                yield _product_first, _PART
        if node.text in "+*" and left.kind == "binary" and left.text == node.text:
            yield _product_of_last, _SUM
        if node.text == "<=" and left.kind == "binary" and left.text == "+":
            yield (lambda n: binary("<", n.kids[0].kids[0], n.kids[1])), _WHOLE_PIECES
        if node.text == "+" and left.kind == "cast" and left.type is not None and left.type.stars:
            yield _sum_before_cast, _CHOICE
        if node.text in _COMPARED and left.kind == "binary" and left.text == "+":
            yield _last_two, _CHOICE
        if node.text == "&" and self._parent(node).kind == "if":
            yield all_bits, _ALL_BITS
        if node.text in _SUMS:
            if right.kind == "binary" and right.text in (*_PRODUCTS, *_LOOSE):
                yield _first_two, _SUM
                for count in range(1, _terms_before(left)):  # and all but the first few
                    yield (lambda n, c=count: _sum_of_last(n, c)), _SUM
            if left.kind == "binary" and left.text == "*":  # a * b - c: (a - c) * b, a * (b - c)
                yield (lambda n: _with_the_first(n)), _SUM
                yield (lambda n: _with_the_second(n)), _SUM
        elif node.text in _PRODUCTS and left.kind == "binary" and left.text in _SUMS:
            yield _last_two, _LOOSER
        elif node.text == "*" and right.kind == "binary" and right.text in _SUMS:
            yield _product_before, _LOOSER
        elif node.text in ("/", "%") and right.kind == "binary" and right.text == "*":
            yield _product_behind, _SUM


def all_bits(node: Node) -> Node:
    """(flags & BOTH) == BOTH of flags & BOTH."""
    return binary("==", bare(node), node.kids[1])


def _chosen_last(node: Node) -> Node:
    condition, yes, no = node.kids
    return binary(condition.text, condition.kids[0], _choice(node, condition.kids[1], yes, no))


def _compared_last(node: Node) -> Node:
    """a + (b != c ? x : y) of a + b != c ? x : y."""
    condition, yes, no = node.kids
    total, other = condition.kids
    compared = replace(bare(condition), kids=[total.kids[1], other])
    return binary(total.text, total.kids[0], _choice(node, compared, yes, no))


def _choice(node: Node, condition: Node, yes: Node, no: Node) -> Node:
    return replace(bare(node), kids=[condition, yes, no])


def _product_of_last(node: Node) -> Node:
    """a + b * c of a + b + c, or of a * b * c."""
    left, right = node.kids
    return binary("+", left.kids[0], binary("*", left.kids[1], right))


def _sum_before_cast(node: Node) -> Node:
    """(float*)(bytes + pitch) of (float*)bytes + pitch."""
    left, right = node.kids
    return replace(bare(left), kids=[binary("+", left.kids[0], right), *left.kids[1:]])


def _first_two(node: Node) -> Node:
    """(a + b) * c of a + b * c, (a << b) + c of a << b + c."""
    left, right = node.kids
    return binary(right.text, binary(node.text, left, right.kids[0]), right.kids[1])


def _last_two(node: Node) -> Node:
    """a + (b << c) of a + b << c, a / (b / c) of a / b / c, a + b * c of (a + b) * c."""
    left, right = node.kids
    return binary(left.text, left.kids[0], binary(node.text, left.kids[1], right))


def _quotient_first(node: Node) -> Node:
    """a / c * b of a * b / c."""
    (a, b), c = node.kids[0].kids, node.kids[1]
    return binary("*", binary("/", a, c), b)


def _product_first(node: Node) -> Node:
    """a * b / c of a / c * b."""
    (a, c), b = node.kids[0].kids, node.kids[1]
    return binary("/", binary("*", a, b), c)


def _terms_before(node: Node) -> int:
    """How many terms a sum has."""
    count = 1
    while node.kind == "binary" and node.text == "+":
        node, count = node.kids[0], count + 1
    return min(count, _MOST_TERMS)


def _sum_of_last(node: Node, count: int) -> Node:
    """a + (b + c) * d of a + b + c * d, where `count` terms before c are taken with it."""
    left, right = node.kids
    inner = right.kids[0]
    for _ in range(count):
        inner, left = binary("+", left.kids[1], inner), left.kids[0]
    return binary("+", left, binary(right.text, inner, right.kids[1]))


def _with_the_first(node: Node) -> Node:
    """(a - c) * b of a * b - c."""
    (a, b), c = node.kids[0].kids, node.kids[1]
    return binary("*", binary(node.text, a, c), b)


def _with_the_second(node: Node) -> Node:
    """a * (b - c) of a * b - c."""
    (a, b), c = node.kids[0].kids, node.kids[1]
    return binary("*", a, binary(node.text, b, c))


def _product_before(node: Node) -> Node:
    """c * a + b of c * (a + b)."""
    c, (a, b) = node.kids[0], node.kids[1].kids
    return binary(node.kids[1].text, binary("*", c, a), b)


def _product_behind(node: Node) -> Node:
    """a % b * c of a % (b * c)."""
    a, (b, c) = node.kids[0], node.kids[1].kids
    return binary("*", binary(node.text, a, b), c)
