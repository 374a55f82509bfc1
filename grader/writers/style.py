"""What the terminal allows a report to look like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Style:
    """How the text form may look, and whose an HTML page is."""

    width: int = 88  # columns
    color: bool = False
    unicode: bool = True  # marks beyond ASCII
    whose: tuple[str, ...] = ()  # the student, when, which files; above an HTML page
    # Addresses of pages in which kernels run, by the lab's folder name: links of an HTML page.
    runs: Mapping[str, str] = field(default_factory=dict)
