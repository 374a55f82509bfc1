"""Classroom 50: the points and tests of its result.json (classroom50/result/v1).

Whose they are, and of which assignment, only its runner knows: templates/classroom50/autograder.py
adds that. Its points are whole numbers; where a weight makes fractions of ours, all are told in
hundredths, which leaves shares as they are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grader.results.hidden import for_students
from grader.results.result import Result
from grader.text import lab_number
from grader.writers import asides
from grader.writers.plain import plain

if TYPE_CHECKING:
    from grader.writers.style import Style

SCHEMA = "classroom50/result/v1"


def render(results: list[Result], *, one: bool, style: Style) -> str:
    rows = [row for result in results for row in _tests(for_students(result))]
    whole = all(float(value).is_integer() for row in rows for value in row[2:4])
    factor = 1 if whole else 100
    tests = [
        {
            "test-name": name,
            "passed": passed,
            "score": round(score * factor),
            "max-score": round(most * factor),
            "message": message,
        }
        for name, passed, score, most, message in rows
    ]
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _tests(result: Result) -> list[tuple[str, bool, float, float, str]]:
    """Name, passed, points, what it could give, why: one a check. A failed grader has no points."""
    if result.score is None:
        return [(_name(result, "graded by the grader"), False, 0, 0, plain(result.message))]
    if not result.checks:
        return [(_name(result, result.title), False, 0, result.max_score, plain(result.message))]
    rows = [
        (
            _name(result, check.title),
            check.status == "passed",
            check.score,
            check.max_score,
            plain(check.message),
        )
        for check in result.checks
    ]
    # A test without points: there is no other place for what stands beside the checks.
    if beside := asides.lines(result):
        name = _name(result, "notes, of the compiler and of what was printed")
        rows.append((name, True, 0, 0, "\n".join(plain(line) for line in beside)))
    return rows


def _name(result: Result, title: str) -> str:
    return plain(f"{lab_number(result.lab)} {title}")
