"""One result, many forms. A writer is a pure function from results to text.

Nothing but a writer knows its format; none reads a clock, a file or the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from grader.result import Result

# Format -> module with render(results, one, style).
FORMATS = {
    "text": "grader.writers.text",
    "json": "grader.writers.json",
    "junit": "grader.writers.junit",
    "html": "grader.writers.html",
    "markdown": "grader.writers.markdown",
    "gradescope": "grader.writers.gradescope",
    "classroom": "grader.writers.classroom",
    "autolab": "grader.writers.autolab",
}


@dataclass(frozen=True)
class Style:
    """How the text form may look; other formats do not depend on it."""

    width: int = 88  # columns
    color: bool = False
    unicode: bool = True  # marks beyond ASCII


def render(format_name: str, results: Sequence[Result], *, one: bool, style: Style) -> str:
    """The results as text in a format of FORMATS.

    `one`: a single lab was asked for, so the document is about it rather than about a list.
    """
    writer = import_module(FORMATS[format_name])
    return writer.render(list(results), one=one, style=style)
