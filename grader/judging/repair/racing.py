"""A file whose values come right, and whose threads race: what would keep them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from grader.judging.repair.constants import constants_of
from grader.judging.repair.edits import Edit, Editor
from grader.judging.repair.found import Repair
from grader.judging.repair.given import Given, Size
from grader.judging.repair.lane_pairs import number_of
from grader.judging.repair.nodes import walk
from grader.judging.repair.races import Race
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.trial import Exhausted, Trial, try_out
from grader.judging.repair.values import Outside

_PER_RUN = 2_000  # more than it took as it was
_STEPS, _OF_OTHERS = 60_000, 25_000  # of all changes, of those that are not where threads meet
_BEFORE, _EARLY = 25_000, 3  # of a search that comes before another one; a part of a run
_MOST_PLACES, _MOST_OF_PLACES, _DEAREST_OF_PLACES = 8, 200, 2.8
_UNKNOWN = 1 << 20  # how far, where that is not clear
_TRYING = 8  # steps of a change, whatever it takes to carry it out
_CONFIRMING = 20_000  # steps of a change that seems right


class Racing:
    """A part of Search."""

    def confirming_run(self, changes: Mapping, size: Size | Given, limit: int) -> Trial:
        """No two threads may store the same element, nor race, as far as that is looked for."""

        def run(races: bool) -> Trial:
            return try_out(
                self.file, changes, size, self.numbers(size), self.on_host, limit,
                is_alone=True, races=races,
            )  # fmt: skip

        if not self.minds_races:
            return run(False)
        try:
            return run(True)
        except GivenUp:
            found = run(False)
            self.minds_races = False  # they wait for each other in other ways
            return found

    def first_racing(self) -> Size | Given | None:
        """The case that costs least, of those in which the file is right but for a race."""
        known = [size for size in self.sizes if size in self.plain]
        for size in sorted(known, key=lambda size: self.plain[size].steps):
            before = self.plain[size]
            try:
                trial = self.confirming_run({}, size, before.steps + _PER_RUN)
            except (Exhausted, GivenUp):
                return None
            if not self.minds_races:
                return None
            self.left -= trial.steps
            if trial.why.startswith(Race.__name__):
                self.limits[size] = before.steps + _PER_RUN
                self.plain[size] = trial
                self.is_by_race = True
                return size
        return None

    def found_early(self) -> Repair | None:
        """Where the wrong case races long before it ends: a change that does not comes farther.

        Such a run is short, so that many changes can be tried one after the other. What it takes is
        beside what the search takes that comes after it.
        """
        before, size = self.plain[self.wrong], self.wrong
        kept, self.left = self.left, _BEFORE
        try:
            trial = try_out(
                self.file, {}, size, self.numbers(size), self.on_host, before.steps + _PER_RUN,
                races=True,
            )  # fmt: skip
            is_late = not before.why and trial.steps > before.steps // _EARLY
            if not trial.why.startswith((Race.__name__, Outside.__name__)) or is_late:
                return None
            self.lines += [trial.line] if trial.line else []
            for edit in self.of_tiles():
                if self.left <= 0:
                    return None
                changes = dict(edit.changes)
                if self.is_free(changes, size) and self.is_right(changes, self.others()):
                    return self.described(edit)
        except (Exhausted, GivenUp):
            return None
        finally:
            self.left, self.confirming = kept, max(self.confirming, _CONFIRMING)
        return None

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

    def of_tiles(self) -> Iterator[Edit]:
        first = [edit for editor in self.editors() for edit in editor.stages()]
        yield from sorted(first, key=lambda edit: edit.cost)
        yield from self.of_places()
        for edit in self.in_turn():
            if edit.cost >= 0 and edit.function not in self.of_host:
                yield edit

    def editors(self) -> list[Editor]:
        """Of the device's side."""
        return [
            Editor(self.file, function, self.macro_numbers)
            for function in self.all_functions()
            if function.name not in self.of_host
        ]

    def found_racing(self) -> Repair | None:
        """The cheapest change with which nobody races any more, tried one after the other."""
        self.lines += [self.plain[self.wrong].line] if self.plain[self.wrong].line else []
        self.few[self.wrong] = None  # all threads are needed
        self.left = min(self.left, _STEPS)
        try:
            for edit in self.of_races():
                if self.left <= 0:
                    return None
                changes = dict(edit.changes)
                if not self.is_free(changes, self.wrong):
                    continue
                lacking = max(0, _CONFIRMING - self.confirming)
                self.confirming += lacking
                self.left -= lacking
                if self.is_right(changes, self.others()):
                    return self.described(edit)
        except Exhausted:
            return None
        return None

    def of_races(self) -> Iterator[Edit]:
        """Changes of where threads meet, the likeliest first, and all others of the device's side."""
        meetings = [edit for editor in self.editors() for edit in editor.meetings()]
        yield from sorted(meetings, key=lambda edit: edit.cost)
        self.left = min(self.left, _OF_OTHERS)
        for edit in self.in_turn():
            if edit.cost >= 0 and edit.function not in self.of_host:
                yield edit

    def is_free(self, changes: Mapping, size: Size | Given) -> bool:
        limit = min(self.left, self.limits[size])
        try:
            trial = self.confirming_run(changes, size, limit)
        except Exhausted:
            self.left -= limit + _TRYING
            return False
        except GivenUp:
            return False
        self.left -= trial.steps + _TRYING
        return trial.is_right
