"""An array's index as it stands in another line: res[m * TN + n] for res[n * TM + m]."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import Function, Node, walk
from grader.judging.repair.scope import Change
from grader.judging.repair.shown import text_of

_COST = 0.8
_MOST = 3
_PLAIN = frozenset(("binary", "name", "member", "number"))


class SameArray:
    """A part of Editor."""

    def _as_indexed_elsewhere(self, node: Node) -> Iterator[tuple[Change, float]]:
        """An index that is a sum or a product, as the same array has it elsewhere."""
        above = self._parent(node)
        if above.kind != "index" or above.kids[1] is not node:
            return
        array = text_of(above.kids[0])
        here, said = self.visible.get(id(node), frozenset()), text_of(node)
        for other, value in list(self.indexed.get(array, {}).items())[:_MOST]:
            names = {one.text for one in walk(value) if one.kind == "name"}
            if other != said and all(name in here or name not in self.declared for name in names):
                yield (lambda n, v=value: copied(v)), _COST


def indexed_in(function: Function) -> dict[str, dict[str, Node]]:
    """Sums and products that each array is indexed with, by their texts."""
    found: dict[str, dict[str, Node]] = {}
    for node in walk(function.body):
        if node.kind != "index" or node.kids[1].kind != "binary":
            continue
        if all(one.kind in _PLAIN for one in walk(node.kids[1])):
            of_array = found.setdefault(text_of(node.kids[0]), {})
            of_array.setdefault(text_of(node.kids[1]), node.kids[1])
    return {name: places for name, places in found.items() if len(places) > 1}
