"""Gradescope's results.json: every check a test with its points, hidden ones marked as such.

Fields and their values are those of the platform's autograder specification. Where the grader
itself failed there is no score at all, which the platform shows as a failure of the autograder.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grader.results.hidden import for_students
from grader.results.result import CheckResult, Diagnostic, Result
from grader.text import lab_number, lab_title
from grader.writers import asides
from grader.writers.plain import plain, points

if TYPE_CHECKING:
    from grader.writers.style import Style

SHOWN_DIAGNOSTICS = 3  # in the text above the tests, a lab


def render(results: list[Result], *, one: bool, style: Style) -> str:
    shown = [for_students(result) for result in results]
    fields: dict[str, Any] = {
        "output": "\n\n".join(_overview(result) for result in shown),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": round(sum(result.seconds for result in shown)),
        "tests": [],
    }
    if all(result.score is not None for result in shown):
        fields["score"] = points(sum(result.score for result in shown))
        fields["tests"] = [test for result in shown for test in _tests(result)]
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _overview(result: Result) -> str:
    """What is wrong, the most fundamental first; what to do next."""
    lines = [f"{lab_title(result.lab)}, {result.title}: {_verdict(result)}"]
    if result.message and result.status != "passed":
        lines.append(result.message)
    for item in result.diagnostics[:SHOWN_DIAGNOSTICS]:
        lines += ["", *_finding(item)]
    rest = len(result.diagnostics) - SHOWN_DIAGNOSTICS
    if rest > 0:
        lines += ["", f"and {rest} more, which may follow from the above"]
    beside = asides.lines(result)
    if beside:
        lines += ["", *beside]
    return plain("\n".join(lines))


def _verdict(result: Result) -> str:
    if result.score is None:
        return "the grader failed, which is not your fault: tell the course staff"
    words = result.status.replace("_", " ")
    return f"{points(result.score)} of {points(result.max_score)} points, {words}"


def _finding(item: Diagnostic) -> list[str]:
    place = f"{item.file}:{item.line}" if item.line else item.file
    lines = [f"{item.code} at {place}: {item.message}"]
    if item.source:
        lines.append(f"    {item.source}")
    if item.advice:
        lines.append(f"    {item.advice}")
    return lines


def _tests(result: Result) -> list[dict[str, Any]]:
    if not result.checks:  # not started, or nothing that could be read
        return [_test(result, "lab", result.title, 0, result.max_score, result.message)]
    return [_of_check(result, check) for check in result.checks]


def _of_check(result: Result, check: CheckResult) -> dict[str, Any]:
    test = _test(result, check.id, check.title, check.score, check.max_score, check.message)
    test["tags"] = [check.group]
    test["visibility"] = "hidden" if check.hidden else "visible"
    test["status"] = "passed" if check.status == "passed" else "failed"
    return test


def _test(
    result: Result, name: str, title: str, score: float, most: float, message: str
) -> dict[str, Any]:
    return {
        "number": f"{lab_number(result.lab)}.{name}",
        "name": plain(title),
        "score": points(score),
        "max_score": points(most),
        "status": "failed",
        "output": plain(message),
        "tags": [],
        "visibility": "visible",
    }
