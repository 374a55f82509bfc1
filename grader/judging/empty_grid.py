"""A grid that is rounded up and has no block all the same: what was to be covered is nothing, or less."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.cause_base import Base
from grader.judging.host import Launch, Said
from grader.judging.plans.origin import Origins
from grader.judging.plans.several import Origin
from grader.judging.wording import names_in, value
from grader.labs.lab import Case
from grader.labs.statements import shown
from grader.running.host_calls import HostCall

_DEEPEST = 4  # variables that are counted from others


class EmptyGrid(Base):
    """The rule about a launch for no rows or columns."""

    def nothing_to_cover(self, launch: Launch, axis: str, words: Sequence[str]) -> Said | None:
        """words: (rows + 15) / 16, the side of the grid that is 0."""
        call = self._launch_of_none("xyz".find(axis))
        words = words[words.index("=") + 1 :] if "=" in words else words
        at = words.index("/")
        names = [
            name
            for name in names_in(words[:at])
            if name not in names_in(words[at:]) and name not in self.text.constants
        ]
        if call is None or len(names) != 1 or self.host is None or self.outcome is None:
            return None
        near = self.text.statements[launch.number]
        start = Origin(launch.line, (names[0],), near)
        whole = Origins(self.text, self.host.solve, call.lines).of(start.words, near, launch.line)
        if whole in (start, Origin(near.line, start.words, near)) or len(whole.words) < 2:
            return None
        number = self._value(whole, self.outcome.case)
        if number is not None and number > 0:
            return None
        counted = f"{names[0]} = {shown(whole.words)} "
        shapes = [one.case for one in self.material.outcomes if not one.case.hidden]
        least = min((n for one in shapes if (n := self._value(whole, one)) is not None), default=0)
        if number == 0 and least == 0:
            return Said(
                f"{counted}is 0 here: there is nothing to compute, and a launch needs a block.",
                call.lines[-1],
                "Launch only where there is something: is the size right, and may it be 0?",
            )
        there = "not above 0" if number is None else str(number)
        less = f"; in another case it is {least}" if number == 0 else ""
        return Said(
            f"{counted}is {there} here, so no block covers it{less}.",
            whole.line,
            "Are these the sizes that it is to be counted from?",
        )

    def _launch_of_none(self, axis: int) -> HostCall | None:
        """The first launch with a grid of no blocks along an axis, as it was seen."""
        seen = self.material.calls
        launches = seen.of("launch") if seen is not None and axis >= 0 else []
        return next((one for one in launches if one.grid[axis] == 0 and one.lines), None)

    def _value(self, of: Origin, case: Case, depth: int = 0) -> int | None:
        known = {**self.text.constants, **self.sizes_in(case)}
        for name in names_in(of.words):
            declared = None if name in known else self.text.declaration(name, of.near)
            if declared is None or not declared[1] or depth > _DEEPEST:
                continue
            number = self._value(Origin(declared[0], declared[1], of.near), case, depth + 1)
            if number is not None:
                known[name] = f"({number})"
        return value(of.words, known)
