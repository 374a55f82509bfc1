"""Numbers that the student is to work out: of these a report names the place, and not the number."""

from __future__ import annotations

from collections.abc import Mapping

from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.scope import Edit, scope_of
from grader.judging.repair.shown import text_of

_PLACES = ("index", "deref")
_MADE_OF = frozenset(("number", "name", "binary", "unary", "cast"))


def counted_in(file: File, edit: Edit, parents: Mapping[int, Node]) -> str:
    """The element that an edit gives another number to: one of numbers and sizes alone, no data."""
    function = file.functions.get(edit.function)
    node = edit.where
    while id(node) in parents and node.kind != "assign":
        node = parents[id(node)]
    if function is None or not function.is_kernel or node.kind != "assign":
        return ""
    target, value = node.kids
    if target.kind not in _PLACES or edit.where is target:
        return ""
    if edit.where.id in target.ids and edit.where.id not in value.ids:
        return ""
    sizes = scope_of(file, function).sizes
    for one in walk(value):
        if one.kind not in _MADE_OF or (one.kind == "name" and one.text not in sizes):
            return ""
    return text_of(target)
