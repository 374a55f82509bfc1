"""What the terminal allows a report to look like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """How the text form may look, and whose an HTML page is."""

    width: int = 88  # columns
    color: bool = False
    unicode: bool = True  # marks beyond ASCII
    whose: tuple[str, ...] = ()  # the student, when, which files; above an HTML page
