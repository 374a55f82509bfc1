"""With which stage of a ring a variable begins."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import MADE, walk
from grader.judging.repair.scope import Edit, number

_MOST = 4  # stages
_COST, _FARTHER = 0.3, 0.05
_CHANGING = ("assign", "before", "after")


class Stages:
    """A part of Editor."""

    def stages(self) -> Iterator[Edit]:
        """int next = 2; for int next = 0; where arrays are indexed by it, and it goes on."""
        if self.is_host:
            return
        inside = list(walk(self.function.body))
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
            if node.text not in changed & indexing or not first.text.isdigit():
                continue
            for other in range(_MOST):
                far = abs(other - int(first.text))
                if far:
                    yield Edit(
                        ((first.id, lambda n, o=other: number(o)),), first.line,
                        _COST + _FARTHER * far, self.function.name, first,
                    )  # fmt: skip
