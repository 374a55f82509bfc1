"""Where an index names a row, the length of a row and a column, and the sums that helpers are given."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.repair.nodes import Node, walk
from grader.judging.repair.rewritten import sum_of, terms_of
from grader.judging.repair.shown import text_of


def places_in(body: Node) -> list[tuple[Node, Node, Node]]:
    """Of each row * length + column: row, length and column; of pointers into a row, too."""
    found: dict[str, tuple[Node, Node, Node]] = {}
    pointers: dict[str, tuple[Node, Node, Node]] = {}
    for node in walk(body):
        if node.kind == "declare" and node.type.stars and node.kids[1] is not None:
            array, *rest = terms_of(node.kids[1])
            place = _place(rest, {})
            if place is not None and array.kind in ("name", "member"):
                pointers[node.text] = place
    for node in _whole_sums(body):
        place = _place(terms_of(node), pointers)
        if place is not None:
            found[text_of(node)] = place
    return list(found.values())


def _place(terms: Sequence[Node], pointers: dict) -> tuple[Node, Node, Node] | None:
    known = next((pointers[one.text] for one in terms if one.text in pointers), None)
    products = [one for one in terms if _is_product(one)]
    if known is not None and not products:
        row, length, column = known
        rest = [column, *(one for one in terms if one.text not in pointers)]
    elif len(products) == 1:
        row, length = (_uncast(kid) for kid in products[0].kids)
        rest = [_uncast(one) for one in terms if not _is_product(one)]
    else:
        return None
    if not rest or row.kind == "number" or length.kind not in ("name", "member"):
        return None
    return row, length, sum_of(rest)


def sums_in(body: Node) -> list[Node]:
    """The sums of names that are no products' and no pointers', as helpers are given them."""
    found = {
        text_of(node): node
        for node in _whole_sums(body)
        if all(one.kind in ("name", "member") for one in terms_of(node))
    }
    return list(found.values())


def _whole_sums(body: Node) -> list[Node]:
    sums = [node for node in walk(body) if _is_sum(node)]
    parts = {id(kid) for node in sums for kid in node.kids}
    return [node for node in sums if id(node) not in parts]


def _is_sum(node: Node) -> bool:
    return node.kind == "binary" and node.text == "+"


def _is_product(node: Node) -> bool:
    return node.kind == "binary" and node.text == "*"


def _uncast(node: Node) -> Node:
    return node.kids[0] if node.kind == "cast" else node
