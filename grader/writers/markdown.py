"""Markdown, as a GitHub job summary or a comment on a merge request shows it.

Whatever came from a submission is escaped or stands in a code block. A job summary may have
1 MiB; what does not fit is left out, and the text says so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.labs.lab import GROUPS
from grader.results.hidden import for_students
from grader.results.result import CheckResult, Diagnostic, Result, overall_status
from grader.text import lab_row, lab_title
from grader.writers import asides
from grader.writers.plain import plain, points

if TYPE_CHECKING:
    from grader.writers.style import Style

LIMIT_BYTES = 1_000_000
SHOWN_DIAGNOSTICS = 6  # a lab
_CLIPPED_CHARACTERS = 600  # of one message
_MARKS = {
    "passed": "✅",
    "failed": "❌",
    "skipped": "➖",
    "inconclusive": "❔",
    "not_started": "➖",
    "error": "⚠️",
}
_CUT = "\n\n*The report is longer than a summary may be: the rest is left out.*\n"


def render(results: list[Result], *, one: bool, style: Style) -> str:
    shown = [for_students(result) for result in results]
    parts = [] if one else [_summary(shown)]
    for result in shown:
        if one or result.status not in ("passed", "not_started"):
            parts.append(_lab(result))
    return _within_limit("\n\n".join(parts) + "\n")


def _within_limit(text: str) -> str:
    if len(text.encode()) <= LIMIT_BYTES:
        return text
    kept = text.encode()[: LIMIT_BYTES - len(_CUT.encode())].decode(errors="ignore")
    return kept.rsplit("\n", 1)[0] + _CUT


def _summary(results: list[Result]) -> str:
    scores = [result.score for result in results]
    best = sum(result.max_score for result in results)
    total = "no score" if None in scores else f"{points(sum(scores))} of {points(best)} points"
    rows = ["| | lab | points |", "|---|---|---:|"]
    for result in results:
        name = _escape(lab_row(result.lab, result.title))
        rows.append(f"| {_MARKS[result.status]} | {name} | {_score(result)} |")
    return f"## {_MARKS[overall_status(results)]} All labs: {total}\n\n" + "\n".join(rows)


def _score(result: Result) -> str:
    if result.score is None:
        return "no score"
    if result.status == "not_started":
        return f"not started, 0 / {points(result.max_score)}"
    return f"{points(result.score)} / {points(result.max_score)}"


def _lab(result: Result) -> str:
    name = _escape(f"{lab_title(result.lab)} {result.title}")
    parts = [f"## {_MARKS[result.status]} {name}: {_score(result)}"]
    where = [result.submission, *result.where]
    parts.append(" · ".join(_escape(part) for part in where if part))
    if result.message:
        parts.append(f"**{_escape(result.message)}**")
    if any(check.status != "skipped" for check in result.checks):
        parts.append(_checks(result))
    if result.diagnostics:
        parts.append(_findings(result))
    parts += _asides(result)
    if result.next_step:
        parts.append(f"**Next:** {_escape(result.next_step)}")
    return "\n\n".join(parts)


def _asides(result: Result) -> list[str]:
    parts = []
    if on_gpu := asides.gpu(result):
        parts.append(_escape(on_gpu))
    if another := asides.bound(result):
        parts.append(_escape(another))
    warned = asides.warnings(result)
    if warned:
        parts.append(f"{asides.WARNINGS}:\n\n" + "\n".join(f"- {_escape(x)}" for x in warned))
    for title, lines in asides.printed(result):
        parts.append(f"{_escape(title)}:\n\n" + _code("\n".join(lines), "text"))
    return parts


def _checks(result: Result) -> str:
    rows = ["| | check | points |", "|---|---|---:|"]
    for group in GROUPS:
        members = [check for check in result.checks if check.group == group]
        if members:
            rows.append(f"| | **{group.capitalize()}** | |")
        rows += [_row(check) for check in members]
    return "\n".join(rows)


def _row(check: CheckResult) -> str:
    title = _escape(check.title) + (" *(hidden)*" if check.hidden else "")
    if check.message and check.status != "passed":
        title += f"<br>{_escape(check.message)}"
    score = f"{points(check.score)} / {points(check.max_score)}"
    return f"| {_MARKS[check.status]} | {title} | {score} |"


def _findings(result: Result) -> str:
    parts = ["### What is wrong"]
    parts += [_finding(item) for item in result.diagnostics[:SHOWN_DIAGNOSTICS]]
    rest = len(result.diagnostics) - SHOWN_DIAGNOSTICS
    if rest > 0:
        parts.append(f"{rest} more, which may follow from the above.")
    return "\n\n".join(parts)


def _finding(item: Diagnostic) -> str:
    place = f"{item.file}:{item.line}" if item.line else item.file
    text = f"**{_escape(item.code)}** at {_escape(place)}: {_escape(item.message)}"
    if item.source:
        text += f"\n\n{_code(item.source)}"
    return text + (f"\n\n{_escape(item.advice)}" if item.advice else "")


def _code(line: str, language: str = "cuda") -> str:
    """A code block that the text cannot end: its fence is longer than any run of backticks."""
    line = plain(line)
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{line}\n{fence}"


def _escape(text: str) -> str:
    """Text as one paragraph of Markdown, with nothing in it that means anything."""
    text = " ".join(plain(text).split())
    if len(text) > _CLIPPED_CHARACTERS:
        text = text[: _CLIPPED_CHARACTERS - 1] + "…"
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = text.replace("@", "&#64;")  # would call somebody by name
    text = re.sub(r"(https?)://", r"\1&#58;//", text)  # would become a link
    text = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", text)
    return re.sub(r"^([#+=-]|\d+[.)])", r"&#8203;\1", text)  # would begin a heading or a list
