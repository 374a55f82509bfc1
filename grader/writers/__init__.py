"""One result, many forms. A writer is a pure function from results to text.

Nothing but a writer knows its format; none reads a clock, a file or the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from grader.results.result import Result
from grader.writers.style import Style

__all__ = ["FORMATS", "Style", "render"]

# Format -> module with render(results, one, style).
FORMATS = {
    "text": "grader.writers.text",
    "json": "grader.writers.json",
    "junit": "grader.writers.junit",
    "html": "grader.writers.html",
    "markdown": "grader.writers.markdown",
    "gradescope": "grader.writers.gradescope",
    "classroom50": "grader.writers.classroom50",
    "autolab": "grader.writers.autolab",
}


def render(format_name: str, results: Sequence[Result], *, one: bool, style: Style) -> str:
    """The results as text in a format of FORMATS.

    `one`: a single lab was asked for, so the document is about it rather than about a list.
    """
    writer = import_module(FORMATS[format_name])
    return writer.render(list(results), one=one, style=style)
