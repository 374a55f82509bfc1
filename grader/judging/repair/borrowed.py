"""What other lines of a function count with: fields, and what objects are asked for."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import File, Function, Node, walk
from grader.judging.repair.rewritten import terms_of
from grader.judging.repair.scope import Change, bare, binary, named
from grader.judging.repair.shown import text_of

_BUILT_IN = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_PLACES = ("*", "/", "%", "<", "<=", ">", ">=")
_MOST = 10
_COST, _CONSTANT = 1.4, 1.5
_FIELD_ADDED, _NEVER_ADDED = 1.2, 1.9


class Borrowed:
    """A part of Editor."""

    def _as_others_count(self, node: Node) -> Iterator[tuple[Change, float]]:
        """matrix.size() for a name, args.groups for gridDim.y, a constant for a field."""
        above = self._parent(node)
        is_step = above.kind == "assign" and above.text in ("+=", "-=") and above.kids[1] is node
        is_pitch = above.kind == "call" and above.kids[0].text.startswith("cudaMemcpy2D")
        if not (is_step or is_pitch or (above.kind == "binary" and above.text in _PLACES)):
            return
        said = text_of(node)
        is_field = node.kind == "member" and node.kids[0].text not in _BUILT_IN
        if not is_field:
            for text, one in self.borrowed.items():
                if text != said and node.id not in one.ids:
                    yield (lambda n, o=one: copied(o)), _COST
        elif not self.is_host:
            for told in self.constants_told:
                yield (lambda n, t=told: t.node()), _CONSTANT

    def _fields_added(self, node: Node) -> Iterator[tuple[Change, float]]:
        """left + me.lane + me.right for left + me.lane: what a sum of an object's fields lacks."""
        above = self._parent(node)
        if self.is_host or above.kind in ("binary", "member"):
            return
        terms = terms_of(node)
        own = [one for one in terms if one.kind == "member" and one.kids[0].kind == "name"]
        said = {text_of(one) for one in terms}
        for name in dict.fromkeys(one.kids[0].text for one in own):
            kind = self.scope.types.get(name)
            for of, other in self.file.structs.get(kind.name, ()) if kind is not None else ():
                if of.name != "int" or of.stars or f"{name}.{other}" in said:
                    continue
                field = Node("member", [named(name)], other, node.line)
                cost = _FIELD_ADDED if f"{name}.{other}" in self.added_fields else _NEVER_ADDED
                yield (lambda n, o=field: binary("+", bare(n), o)), cost


def added_fields_in(function: Function) -> set[str]:
    """Fields of objects that are terms of a sum somewhere."""
    sums = (n for n in walk(function.body) if n.kind == "binary" and n.text == "+")
    return {text_of(kid) for one in sums for kid in one.kids if kid.kind == "member"}


def borrowed_in(file: File, function: Function) -> dict[str, Node]:
    """Fields and calls without arguments that are factors, bounds or divisors somewhere."""
    fields = {
        name
        for one in file.structs.values()
        for kind, name in one
        if kind.name == "int" and not kind.stars
    }
    found: dict[str, Node] = {}
    for node in walk(function.body):
        is_copy = node.kind == "call" and node.kids[0].text.startswith("cudaMemcpy2D")
        is_part = node.kind == "binary" and node.text in _PLACES
        for kid in node.kids if is_part or is_copy else ():
            is_field = kid.kind == "member" and kid.text in fields and kid.kids[0].kind == "name"
            is_asked = kid.kind == "call" and len(kid.kids) == 1 and kid.kids[0].kind == "member"
            if is_asked or (is_field and kid.kids[0].text not in _BUILT_IN):
                found.setdefault(text_of(kid), kid)
    return dict(list(found.items())[:_MOST])
