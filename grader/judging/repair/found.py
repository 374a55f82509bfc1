"""What a search has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Repair:
    """What would have to be done where."""

    line: int
    before: str
    after: str
    cost: float
    other: int = 0  # a line where the same change does it, too
    is_added: bool = False  # `after` is a statement that is missing
    counted: str = ""  # an element that is given a number which the student has to work out
    says: str = ""  # a whole sentence of it, where threads race
    is_race: bool = False  # nothing but a race is wrong
    instead: Repair | None = None  # another change, in another line, that does it as well
