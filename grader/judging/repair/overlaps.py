"""Arrays that lie over each other: where they begin, and how long their rows are."""

from __future__ import annotations

from collections.abc import Callable

from grader.judging.repair.constants import constants_of
from grader.judging.repair.edits import Edit
from grader.judging.repair.lane_pairs import number_of
from grader.judging.repair.nodes import walk

_MOST_PLACES, _MOST_OF_PLACES, _DEAREST_OF_PLACES = 8, 200, 2.8
_UNKNOWN = 1 << 20  # how far, where that is not clear


class Overlaps:
    """A part of Search."""

    def of_places(self) -> list[Edit]:
        """Of where arrays begin, and how long their rows are: two of them may lie over each other."""
        kept, lines = self.lines, self.places()
        self.lines = lines[:_MOST_PLACES]
        try:
            likely = self.up_to(_DEAREST_OF_PLACES)
            likely = [edit for edit in likely if edit.line in lines][:_MOST_OF_PLACES]
            return sorted(likely, key=self.how_far())
        finally:
            self.lines = kept

    def how_far(self) -> Callable[[Edit], int]:
        """How much larger or smaller a constant becomes: the least is what was meant."""
        editor = next(iter(self.editors()), None)
        values = dict(editor.values) if editor is not None else {}
        declared = {
            one.id: node.kids[1]
            for constants in constants_of(self.file)
            for node in walk(constants.body)
            if node.kind == "declare" and node.kids[1] is not None
            for one in walk(node)
        }

        def far(edit: Edit) -> int:
            value = declared.get(edit.where.id)
            if value is None:
                return 0
            before = number_of(value, values, self.file, {})
            after = number_of(value, values, self.file, dict(edit.changes))
            return _UNKNOWN if None in (before, after) else abs(after - before)

        return far

    def places(self) -> list[int]:
        """Lines of pointers that a kernel declares, and of the file's constants."""
        pointers = [
            node.line
            for function in self.all_functions()
            for node in walk(function.body)
            if function.is_kernel and node.kind == "declare" and node.type.stars
        ]
        constants = [
            node.line
            for one in constants_of(self.file)
            for node in walk(one.body)
            if node.kind == "declare"
        ]
        return list(dict.fromkeys((*pointers, *constants)))
