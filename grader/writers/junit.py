"""JUnit XML, as Jenkins, GitLab and most test reporters read it.

A lab is a test suite and a check a test case; points are properties of the suite. It fits both
schemas in common use: that of Jenkins' xunit plugin, and (each suite) that of Maven Surefire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as xml

from grader.results.hidden import for_students
from grader.results.result import CheckResult, Diagnostic, Result
from grader.writers import asides
from grader.writers.plain import plain

if TYPE_CHECKING:
    from grader.writers.style import Style


def render(results: list[Result], *, one: bool, style: Style) -> str:
    root = xml.Element("testsuites", name="tilewise")
    shown = [for_students(result) for result in results]
    suites = [_suite(result) for result in shown]
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name)) for suite in suites)))
    root.set("time", _seconds(sum(result.seconds for result in shown)))
    root.extend(suites)
    xml.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"
    )


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _suite(result: Result) -> xml.Element:
    suite = xml.Element("testsuite", name=result.lab)
    properties = xml.SubElement(suite, "properties")
    for name, value in _properties(result).items():
        xml.SubElement(properties, "property", name=name, value=plain(value))
    cases = [_check(result, check) for check in result.checks] or [_without_checks(result)]
    if result.status == "error" and result.checks:
        cases.append(_without_checks(result))
    suite.extend(cases)
    suite.set("tests", str(len(cases)))
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    for attribute, kind in kinds.items():
        suite.set(attribute, str(sum(case.find(kind) is not None for case in cases)))
    suite.set("time", _seconds(result.seconds))
    beside = asides.lines(result)
    if beside:
        xml.SubElement(suite, "system-out").text = plain("\n".join(beside))
    return suite


def _properties(result: Result) -> dict[str, str]:
    score = "" if result.score is None else f"{result.score:g}"
    return {
        "status": result.status,
        "score": score,
        "max_score": f"{result.max_score:g}",
        "submission": result.submission,
        "backend": result.backend,
        "device": result.device,
        "toolkit": result.toolkit,
    }


def _case(result: Result, name: str, group: str) -> xml.Element:
    # Surefire's schema demands a time; that of a single check is not measured.
    return xml.Element("testcase", name=plain(name), classname=f"{result.lab}.{group}", time="0")


def _check(result: Result, check: CheckResult) -> xml.Element:
    case = _case(result, f"{check.id}: {check.title}", check.group)
    message = plain(check.message)
    if check.status == "failed":
        failure = xml.SubElement(case, "failure", message=message, type=_type(check))
        failure.text = plain(_details(result, check))
    elif check.status in ("skipped", "inconclusive"):
        xml.SubElement(case, "skipped", message=message or check.status)
    return case


def _type(check: CheckResult) -> str:
    """The kind of failure, by which reporters group."""
    return check.codes[0] if check.codes else check.group


def _details(result: Result, check: CheckResult) -> str:
    """The points, and the diagnostics that made the check fail."""
    lines = [f"{check.score:g} of {check.max_score:g} points. {check.message}"]
    if not check.hidden:
        lines += [_line(item) for item in result.diagnostics if check.is_behind(item)]
    return "\n".join(lines)


def _line(item: Diagnostic) -> str:
    place = f"{item.file}:{item.line}" if item.line else item.file
    advice = f" {item.advice}" if item.advice else ""
    return f"{place}: {item.code}: {item.message}{advice}"


def _without_checks(result: Result) -> xml.Element:
    """For a lab that was not started, could not be read, or that the grader failed on."""
    case = _case(result, "graded", "grader")
    message = plain(result.message) or result.status
    kinds = {"error": "error", "not_started": "skipped", "failed": "failure"}
    kind = kinds.get(result.status)
    if kind is not None:
        outcome = xml.SubElement(case, kind, message=message)
        if kind != "skipped":
            outcome.set("type", "grader" if kind == "error" else "submission")
    return case
