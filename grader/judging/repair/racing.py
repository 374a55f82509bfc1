"""A file whose values come right, and whose threads race: what would keep them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grader.judging.repair.edits import Edit, Editor
from grader.judging.repair.found import Repair
from grader.judging.repair.given import Given, Size
from grader.judging.repair.overlaps import Overlaps
from grader.judging.repair.races import Race
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.trial import Exhausted, Trial, try_out
from grader.judging.repair.values import Outside

_PER_RUN = 2_000  # more than it took as it was
_STEPS, _OF_OTHERS = 60_000, 25_000  # of all changes, of those that are not where threads meet
_BEFORE, _EARLY = 25_000, 3  # of a search that comes before another one; a part of a run
_TRYING = 8  # steps of a change, whatever it takes to carry it out
_CONFIRMING = 20_000  # steps of a change that seems right


class Racing(Overlaps):
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
