"""What solve would have had to ask for: a change of its launch plan with which the result is right.

Nothing of solve's text is needed to find it, so that any style will do; the text only tells in which
line the number stands. It is asked where no change of the text was found.
"""

from __future__ import annotations

import itertools
import re

from grader.judging.copy_words import CopyWords
from grader.judging.host import Said
from grader.judging.kernel_text import axes_of
from grader.judging.plans import changes, copies, missing, pitches, turns
from grader.judging.plans.change import Change
from grader.judging.plans.covered import moves_all
from grader.judging.plans.origin import Origins
from grader.judging.plans.seen import Plans, is_small
from grader.labs.statements import shown

_CODES = frozenset(
    {
        "wrong-result", "unwritten-output", "out-of-bounds-global", "uninitialised-global",
        "race-global", "misaligned-access", "unordered-streams", "launch-config",
        "out-of-bounds-shared", "uninitialised-shared", "race-shared",
    }
)  # fmt: skip
_OF_BOTH_AXES = ("grid-exchanged", "grid-of-other-sizes", "sizes-exchanged", "block-exchanged")
_MOST_TRIES = 128
_TOGETHER = 8
_NUMBER = re.compile(r"\b\d{1,4}\b")


class ByPlan(CopyWords):
    """The search among launch plans."""

    mends_both_axes = False  # whether the change that was found is one of x and of y

    def by_plan(self) -> Said | None:
        asked = self.material.plans
        if asked is None or self.item.code not in _CODES:
            return None
        if self.item.code == "launch-config" and self.item.line:
            return None  # what was refused is known, and where; another launch says less
        plans = asked()
        if plans is None or not plans.are_few():
            return None
        by_line = plans.by_line()
        for every in (by_line, plans) if by_line is not None else (plans,):
            for change in self._right(every):
                said = self._told(every, change)
                if said is not None:
                    self.mends_both_axes = change.kind in _OF_BOTH_AXES
                    return said
        return None

    def _right(self, plans: Plans):
        """Changes with which every case that was looked at is right."""
        first, *others = plans.seen
        every = itertools.chain(
            missing.of_missing(plans), pitches.of_pitches(plans), copies.of_copies(plans),
            turns.of_turns(plans, self._units()),
            changes.of_launches(plans, self._units(), self._axes_of_blocks()), changes.of_streams(plans),
            changes.of_memory(plans),
        )  # fmt: skip
        made = (
            (one, plan)
            for one in every
            if (plan := one.made(first)) is not None and is_small(plan) and moves_all(first, plan)
        )
        left = _MOST_TRIES
        while batch := list(itertools.islice(made, min(_TOGETHER, left))):
            left -= len(batch)
            found = plans.are_right([(first.case, plan) for _, plan in batch])
            for (change, _), is_right in zip(batch, found, strict=True):
                if not is_right:
                    continue
                more = [
                    (one.case, plan) for one in others if (plan := change.made(one)) is not None
                ]
                if all(plans.are_right(more)):
                    yield self._less_odd(plans, change)

    def _less_odd(self, plans: Plans, change: Change) -> Change:
        """Where the sides of the block may be exchanged as well as those of the grid: the one that says y first."""
        lines = plans.lines.get(change.call, ())
        launch, near = self._launch_at(lines)
        if change.kind != "grid-exchanged" or launch is None or len(launch.settings) < 2:
            return change
        origins = Origins(self.text, self.host.solve if self.host is not None else None, lines)
        sides = origins.sides(launch.settings[1], near, launch.line)
        if [_axis_of(shown(one.words)) for one in sides[:2]] != ["y", "x"]:
            return change
        other = next(
            one for one in changes.exchanged_sides(change.call) if one.kind == "block-exchanged"
        )
        more = [(one.case, plan) for one in plans.seen if (plan := other.made(one)) is not None]
        return other if more and all(plans.are_right(more)) else change

    def _axes_of_blocks(self) -> str:
        by_z = any("z" in axes_of(item.words, "blockIdx") for item in self.text.statements)
        return "xyz" if by_z else "xy"

    def _units(self) -> list[int]:
        """Numbers that stand in the text, and constants."""
        written = [int(one) for one in _NUMBER.findall(self.text.bare)]
        named = [int(one) for one in self.text.constants.values() if one.isdigit()]
        return sorted({one for one in (*written, *named) if 2 <= one <= 1024}, reverse=True)


def _axis_of(name: str) -> str:
    """Which axis a side is called after: TX, BLOCK_Y, columns, rows."""
    word = name.rpartition(".")[2].rpartition("::")[2].strip().lower()
    if word[-1:] in ("x", "y"):
        return word[-1]
    return {"col": "x", "wid": "x", "row": "y", "hei": "y"}.get(word[:3], "")
