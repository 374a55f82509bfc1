"""Another change that does the same: whether a tile is turned where it is filled or where it is read, nobody can tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from grader.judging.repair.found import Repair
from grader.judging.repair.nodes import walk
from grader.judging.repair.scope import Edit
from grader.judging.repair.trial import Exhausted

_MOST, _STEPS = 256, 20_000  # changes, and steps
_MORE = 0.3  # how much more it may cost
_MUCH = 0.8  # how much less it costs where the first is not told at all

# A change with which P may be right in the wrong case, and whether it was seen to be.
Candidate = tuple[Edit, bool]


class SecondLine:
    """A part of Search."""

    def with_another(self, found: Repair, edit: Edit, beside: Iterator[Candidate]) -> Repair:
        """With a change in another line that does the same, if there is one that is as likely.

        `beside`: what was tried with this one.
        """
        if found.line != edit.line or found.other:
            return found
        self.left = min(self.left, _STEPS)
        try:
            for other, is_right in chain(beside, self.elsewhere(edit)):
                is_as_likely = other.line != edit.line and other.cost <= edit.cost + _MORE
                if is_as_likely and self.is_confirmed(other, is_right) and not self.has_skipped:
                    if other.cost <= edit.cost - _MUCH:  # it had to wait for others to be tried
                        return self.chosen(other, self.sizes)
                    return replace(found, instead=self.described(other))
        except Exhausted:
            pass
        return found

    def elsewhere(self, edit: Edit) -> Iterator[Candidate]:
        self.waiting = []
        others = self.likely_instead(edit)
        for at in range(0, len(others), self.most_together()):
            yield from self.promising(others[at : at + self.most_together()], self.wrong)

    def likely_instead(self, edit: Edit) -> list[Edit]:
        """Changes of other lines that cost little more: first those of statements about the same arrays."""
        others = [
            one for one in self.likely() if one.line != edit.line and one.cost <= edit.cost + _MORE
        ]
        arrays = self.arrays_by_line()
        mine = arrays.get(edit.line, frozenset())
        others.sort(key=lambda one: mine.isdisjoint(arrays.get(one.line, ())))
        return others[:_MOST]

    def arrays_by_line(self) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        for function in self.all_functions():
            for node in walk(function.body):
                if node.kind == "index" and node.kids[0].kind in ("name", "member"):
                    found.setdefault(node.line, set()).add(node.kids[0].text)
        for (_, array), lengths in self.file.lengths.items():
            for length in lengths:
                if length is not None:
                    found.setdefault(length.line, set()).add(array)
        return found
