"""GitHub Classroom: the result of one runner, as its autograding reporter takes it in base64.

Classroom records the sum of the tests' scores, so a lab with 45 of 100 points counts 45. The
table that the reporter prints in its log knows whole tests only; the recorded points are right.
Where the grader itself failed there is nothing to record: a max_score of 0 makes the reporter
record no points, and the status makes the job fail.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grader.hidden import for_students
from grader.result import CheckResult, Result
from grader.writers.plain import plain, points

if TYPE_CHECKING:
    from grader.writers import Style

VERSION = 1


def render(results: list[Result], *, one: bool, style: Style) -> str:
    shown = [for_students(result) for result in results]
    if any(result.score is None for result in shown):
        fields = _failure(shown)
    else:
        passed = all(result.status == "passed" for result in shown)
        fields = {
            "version": VERSION,
            "status": "pass" if passed else "fail",
            "max_score": points(sum(result.max_score for result in shown)),
            "tests": [test for result in shown for test in _tests(result)],
        }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _failure(results: list[Result]) -> dict[str, Any]:
    tests = [
        _test(result, "graded by the grader", "error", 0, result.message)
        for result in results
        if result.score is None
    ]
    return {"version": VERSION, "status": "error", "max_score": 0, "tests": tests}


def _tests(result: Result) -> list[dict[str, Any]]:
    if not result.checks:
        return [_test(result, result.title, "fail", 0, result.message)]
    return [_of_check(result, check) for check in result.checks]


def _of_check(result: Result, check: CheckResult) -> dict[str, Any]:
    status = "pass" if check.status == "passed" else "fail"
    test = _test(result, check.title, status, check.score, check.message)
    line = _line(result, check)
    return test | {"line_no": line}


def _line(result: Result, check: CheckResult) -> int:
    """The line of the file that the check speaks of; 0: none."""
    if check.status == "passed" or check.hidden:
        return 0
    if "line" in check.data:
        return check.data["line"]
    codes = check.data.get("codes", ())
    lines = [item.line for item in result.diagnostics if item.code in codes and item.line]
    return lines[0] if lines else 0


def _test(result: Result, title: str, status: str, score: float, message: str) -> dict[str, Any]:
    return {
        "name": plain(f"{result.lab[:2]} {title}"),
        "status": status,
        "score": points(score),
        "message": plain(message),
        "test_code": "",
        "filename": "matmul.cu",
        "line_no": 0,
    }
