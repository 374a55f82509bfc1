"""An index that is counted as it stands, where a helper of the file counts all others."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.rewritten import sum_of, terms_of
from grader.judging.repair.scope import Change, binary, named

_SAME_ARRAY, _ANOTHER = 0.5, 0.9


class Addressed:
    """A part of Editor."""

    def _as_counted_by_helper(self, node: Node) -> Iterator[tuple[Change, float]]:
        """place(i, r) for i * W + r, in an index or behind a pointer."""
        above = self._parent(node)
        if node.text != "+" or (above.kind == "binary" and above.text == "+"):
            return
        terms, pairs = terms_of(node), []
        array = above.kids[0] if above.kind == "index" and above.kids[1] is node else None
        behind = [one for one in terms if one.kind == "name" and one.text in self.scope.pointers]
        if array is None and len(behind) == 1 and len(terms) > 2:
            terms = [one for one in terms if one is not behind[0]]
        elif array is None:
            return
        for product in terms:
            if product.kind == "binary" and product.text == "*":
                rest = sum_of([one for one in terms if one is not product])
                pairs += [(one, rest) for one in product.kids]
        for helper, arrays in self.counting.items():
            of = array if array is not None else behind[0]
            cost = _SAME_ARRAY if of.text in arrays else _ANOTHER
            for one, two in pairs:
                for given in ((one, two), (two, one)):
                    call = Node("call", [named(helper), *given], "(", node.line)
                    place = call if array is not None else binary("+", of, call)
                    yield (lambda n, p=place: p), cost


def counting_in(file: File) -> dict[str, set[str]]:
    """Helpers of two numbers that count places, each with the arrays that they do so for."""
    found: dict[str, set[str]] = {}
    for function in [*file.functions.values(), *file.methods.values()]:
        for node in walk(function.body):
            if node.kind != "index" or node.kids[1].kind != "call" or len(node.kids[1].kids) != 3:
                continue
            name = node.kids[1].kids[0].text
            helper = file.functions.get(name)
            if helper is not None and len(helper.parameters) == 2 and helper.type.name == "int":
                found.setdefault(name, set()).add(node.kids[0].text)
    return found
