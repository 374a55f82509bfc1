"""With which stage of a ring a variable begins, and which of them an access takes."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import MADE, Node, walk
from grader.judging.repair.scope import Edit, number
from grader.judging.repair.shown import text_of

_MOST = 4  # stages
_COST, _FARTHER, _OTHER_STAGE = 0.3, 0.05, 0.5
_CHANGING = ("assign", "before", "after")


class Stages:
    """A part of Editor."""

    def stages(self) -> Iterator[Edit]:
        if not self.is_host:
            yield from self._other_stages()
            yield from self._first_stages()

    def _other_stages(self) -> Iterator[Edit]:
        """tiles[now ^ 1] for tiles[now]: what arrays of stages are indexed by elsewhere."""
        found: dict[str, Node] = {}
        places = []
        for node in walk(self.function.body):
            if node.kind != "index" or node.kids[0].kind != "name" or node.key > MADE:
                continue
            if self.arrays.get(node.kids[0].text) == "shared" and self._goes_on(node):
                places.append(node.kids[1])
                found.setdefault(text_of(node.kids[1]), node.kids[1])
        for place in places:
            for said, other in list(found.items())[:_MOST]:
                if said != text_of(place):
                    yield Edit(
                        ((place.id, lambda n, o=other: copied(o)),), place.line, _OTHER_STAGE,
                        self.function.name, place,
                    )  # fmt: skip

    def _goes_on(self, node: Node) -> bool:
        """Whether it is a stage as a whole that is given to a function, or a part of one."""
        above = self._parent(node)
        return above.kind in ("index", "call", "member", "address", "declare")

    def _first_stages(self) -> Iterator[Edit]:
        """int next = 2; for int next = 0; where arrays are indexed by it, and it goes on."""
        inside = list(walk(self.function.body))
        of_loops = {
            one.text
            for loop in inside
            if loop.kind == "for" and loop.kids[0] is not None
            for one in walk(loop.kids[0])
            if one.kind == "declare"
        }
        changed = {one.kids[0].text for one in inside if one.kind in _CHANGING}
        indexing = {
            name.text
            for one in inside
            if one.kind == "index"
            for name in walk(one.kids[1])
            if name.kind == "name"
        }
        for node in inside:
            first = node.kids[1] if node.kind == "declare" and not node.kids[0] else None
            if first is None or first.kind != "number" or first.macro or first.key > MADE:
                continue
            if node.text not in changed & indexing - of_loops or not first.text.isdigit():
                continue
            for other in range(_MOST):
                far = abs(other - int(first.text))
                if far:
                    yield Edit(
                        ((first.id, lambda n, o=other: number(o)),), first.line,
                        _COST + _FARTHER * far, self.function.name, first,
                    )  # fmt: skip
