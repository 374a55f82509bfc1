"""Autolab: the report for the student, a line for its table of stages, and last the scores.

The names of the scores must be those of the assessment's problems: Correctness, Safety and
Performance where one lab is graded; the labs' folder names where several are. Autolab reads the
last line; where the grader itself failed there is none, so that no score is recorded.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.labs.lab import GROUPS
from grader.results.hidden import for_students
from grader.results.result import Result
from grader.text import lab_number
from grader.writers import text
from grader.writers.plain import plain, points

if TYPE_CHECKING:
    from grader.writers.style import Style


def render(results: list[Result], *, one: bool, style: Style) -> str:
    shown = [for_students(result) for result in results]
    lines = [plain(text.render(shown, one=one, style=style)).rstrip("\n")]
    if all(result.score is not None for result in shown):
        scores = _by_group(shown[0]) if one else _by_lab(shown)
        lines += [_one_line(_stages(shown)), _one_line({"scores": scores})]
    else:
        lines.append("The grader failed: no score is reported. Tell the course staff.")
    return "\n".join(lines) + "\n"


def _one_line(fields: dict) -> str:
    # In ASCII: Autolab replaces bytes that it takes for broken.
    return json.dumps(fields, ensure_ascii=True)


def _by_group(result: Result) -> dict[str, float]:
    return {
        group.capitalize(): points(
            sum(check.score for check in result.checks if check.group == group)
        )
        for group in GROUPS
    }


def _by_lab(results: list[Result]) -> dict[str, float]:
    return {result.lab: points(result.score) for result in results}


def _stages(results: list[Result]) -> dict:
    """Autolab's "semantic" feedback: a stage for each lab and group, a row for each check."""
    stages: dict[str, dict] = {}
    for result in results:
        for check in result.checks:
            name = check.group.capitalize()
            stage = stages.setdefault(
                name if len(results) == 1 else f"{lab_number(result.lab)} {name}", {}
            )
            row: dict = {"passed": check.status == "passed"}
            if check.message and not row["passed"]:
                row["hint"] = plain(check.message)
            stage[plain(check.title)] = row
    return {"_presentation": "semantic", "stages": list(stages), **stages}
