"""Looks for a small change after which lanes of a warp no longer meet in a bank, and P is what it was.

Each is carried out in a small case: most of them end at the first access whose lanes meet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging.repair.bank_changes import Change, changes, line_of
from grader.judging.repair.found import Repair
from grader.judging.repair.given import Size
from grader.judging.repair.lanes_meet import Meet, Meter
from grader.judging.repair.machine import Machine
from grader.judging.repair.reading import GivenUp, tokens_of, without_comments
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import ERRORS, Exhausted, Run
from grader.judging.repair.world import World

_STEPS = 120_000  # of all runs
_PER_RUN = 12_000
_OF_A_CHANGE = 150  # reading the text once more
_MOST_TRIED = 400
_MOST_WORDS = 48 * 1024 // 4  # that a block has without asking
_SIZES = (Size(64, 16, 64), Size(40, 20, 72))
_SQUARE = (Size(64, 64, 64), Size(40, 40, 40))
_RETURN = re.compile(r"^\s*return\b")
_STORES = ("ldmatrix", "load_matrices", "wmma", "mma.sync", "copy_box")  # counted in other ways


class BankSearch:
    def __init__(self, text: str, signature: str) -> None:
        self.bare = without_comments(text)
        self.is_square = signature != "rect-device"
        self.on_host = signature == "square-host"
        self.left = _STEPS
        self.words = 0  # of shared memory

    def found(self, lines: Sequence[int], first: Sequence[int]) -> Repair | None:
        """The change; one in the lines `first`, if there is such a one that is not less likely."""
        sizes = _SQUARE if self.is_square else _SIZES
        if (
            any(word in self.bare for word in _STORES)
            or self.meets(self.bare, sizes[0]) is not True
        ):
            return None
        likely = changes(self.bare, lines, first)
        likely = sorted(likely, key=lambda one: self._cost(one, first))
        for one in likely[:_MOST_TRIED]:
            if self.left <= 0:
                break
            text = one.of(self.bare)
            if all(self.meets(text, size) is False for size in sizes):
                return self.described(one)
        return None

    def _cost(self, change: Change, first: Sequence[int]) -> float:
        return change.cost - (1 if line_of(self.bare, change) in first else 0)

    def meets(self, text: str, size: Size) -> bool | None:
        """None where P is not right, or nothing is known of it."""
        numbers = (size.j,) if self.is_square else (size.j, size.k, size.l)
        steps = min(self.left, _PER_RUN)
        world = None
        try:
            file = parse(tokens_of(text))
            run, machine = Run(size, numbers, self.on_host), Machine(file, {})
            world = World(machine, steps, meter=Meter(is_strict=True))
            run.carry_out(file, machine, world)
            is_too_much = world.words > _MOST_WORDS >= self.words
            return None if is_too_much or not run.is_right(0) else False
        except Meet:
            self.words = self.words or world.words  # of the file as it is, which is the first
            return True
        except (GivenUp, Exhausted, *ERRORS):
            return None
        finally:
            self.left -= _OF_A_CHANGE + (steps - world.steps if world is not None else 0)

    def described(self, change: Change) -> Repair:
        """With the words around it, up to where a part of the line ends."""
        row = self.bare.rfind("\n", 0, change.start) + 1
        end = self.bare.find("\n", change.end)
        end = end if end >= 0 else len(self.bare)
        ends = [at for at in range(row, end) if _is_end(self.bare[row:end], at - row)]
        start = max([at + 1 for at in ends if at < change.start], default=row)
        end = min([at for at in ends if at >= change.end], default=end)
        before, after = self.bare[start : change.start], self.bare[change.end : end]
        middle = self.bare[change.start : change.end]
        known = [_RETURN.sub("", f"{before}{one}{after}").strip() for one in (middle, change.after)]
        return Repair(line_of(self.bare, change), *known, change.cost)


def _is_end(row: str, at: int) -> bool:
    """Whether a part of a line ends there; a comma between parentheses ends none."""
    if row[at] in ";{}":
        return True
    if row[at] not in ",=" or "=" in (row[at + 1 : at + 2], row[at - 1 : at]):
        return False
    return all(row[:at].count(a) == row[:at].count(b) for a, b in ("()", "[]"))


def find_for_banks(
    text: str, signature: str, lines: Sequence[int], first: Sequence[int] = ()
) -> Repair | None:
    try:
        return BankSearch(text, signature).found(lines, first)
    except (GivenUp, Exhausted, RecursionError):
        return None
