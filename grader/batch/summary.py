"""What the class did: for people as Markdown, for scripts as JSON, from the same facts.

Beside the gradebook, and unlike it, it holds times: they differ from run to run.
"""

from __future__ import annotations

import html
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.batch.gradebook import NOT_HANDED_IN, Row, one_line, points

SCHEMA = "tilewise.batch-summary/1"
_BINS = 10
_SHOWN = 10  # rows of the tables of what is slowest and what fails most
_BAR = 40  # characters of the longest bar


@dataclass(frozen=True)
class Spent:
    """What grading one file for one lab took."""

    lab: str
    students: tuple[str, ...]  # keys
    seconds: float


@dataclass(frozen=True)
class Facts:
    """Everything that the summary speaks of."""

    platform: str
    labs: tuple[str, ...]
    rows: Sequence[Row]
    settings: dict[str, str]  # backend, device, seed, toolkit, sandbox, executor
    spent: Sequence[Spent]  # one entry a distinct file and lab
    graded_now: int  # of `spent`: graded by this run, the others were kept
    retried: tuple[str, ...]  # "02-tiled-kernel of doe-4711: why"
    changes: tuple[str, ...] = ()  # since the last run; why files were graded again
    moved: tuple[str, ...] = ()  # points that differ from the gradebook before
    ignored: tuple[str, ...] = ()
    wall_seconds: float = 0.0  # of this run
    peak_bytes: int = 0  # resident memory of all processes of this run together; 0: unknown
    similarity: str = ""  # the report's file name


def to_dict(facts: Facts) -> dict[str, Any]:
    """The JSON form."""
    return {
        "schema": SCHEMA,
        "platform": facts.platform,
        "settings": facts.settings,
        "students": len(facts.rows),
        "late": sum(row.late for row in facts.rows),
        "statuses": _counted(Counter(row.status for row in facts.rows)),
        "labs": {lab: _lab(facts, lab) for lab in facts.labs},
        "nothing_to_grade": [
            {"student": row.key, "reason": row.problem} for row in facts.rows if row.problem
        ],
        "errors": [
            {"student": row.key, "lab": result.lab, "message": result.message}
            for row in facts.rows
            for result in row.results
            if result.status == "error"
        ],
        "notes": [{"student": row.key, "note": note} for row in facts.rows for note in row.notes],
        "ignored": list(facts.ignored),
        "retried": list(facts.retried),
        "changes": list(facts.changes),
        "since_last_gradebook": list(facts.moved),
        "distinct_files": len(facts.spent),
        "graded_now": facts.graded_now,
        "wall_seconds": round(facts.wall_seconds, 2),
        "seconds_per_file": _spread([item.seconds for item in facts.spent]),
        "peak_mebibytes": facts.peak_bytes >> 20,
        "slowest": [
            {"lab": item.lab, "students": list(item.students), "seconds": round(item.seconds, 2)}
            for item in sorted(facts.spent, key=lambda item: -item.seconds)[:_SHOWN]
        ],
        "similarity": facts.similarity,
    }


def _lab(facts: Facts, lab: str) -> dict[str, Any]:
    """Of those who handed in something for this lab."""
    results = [
        result
        for row in facts.rows
        for result in row.results
        if result.lab == lab and lab not in row.absent and not row.problem
    ]
    scores = [result.score for result in results if result.score is not None]
    most = max((result.max_score for result in results), default=0.0)
    failed = Counter(
        (check.id, check.title)
        for result in results
        for check in result.checks
        if check.status == "failed"
    )
    codes = Counter(
        code
        for result in results
        for code in {item.code for item in result.diagnostics if item.severity == "error"}
    )
    return {
        "handed_in": len(results),
        "graded": len(scores),
        "max_score": most,
        "statuses": _counted(Counter(result.status for result in results)),
        "score": _spread(scores),
        "distribution": _distribution(scores, most),
        "failed_checks": [
            {"id": name, "title": title, "count": count}
            for (name, title), count in sorted(failed.items(), key=lambda item: (-item[1], item[0]))
        ],
        "diagnostics": _counted(codes),
    }


def _distribution(scores: Sequence[float], most: float) -> list[dict[str, Any]]:
    """Ten bins of equal width; full marks stand alone, since many have them."""
    if not most:
        return []
    width = most / _BINS
    counts = [0] * (_BINS + 1)
    for score in scores:
        counts[_BINS if score >= most else int(score / width)] += 1
    bins = [
        {"from": round(width * i, 2), "below": round(width * (i + 1), 2), "count": counts[i]}
        for i in range(_BINS)
    ]
    return [*bins, {"from": most, "below": None, "count": counts[_BINS]}]


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    return {
        "mean": round(statistics.fmean(values), 2),
        "median": round(statistics.median(values), 2),
        "least": round(min(values), 2),
        "most": round(max(values), 2),
    }


def _counted(counter: Counter) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def markdown(facts: Facts) -> str:
    """The same for people."""
    data = to_dict(facts)
    lines = ["# Summary", "", *_overview(facts, data), ""]
    for lab in facts.labs:
        lines += [f"## {lab}", "", *_lab_lines(data["labs"][lab]), ""]
    for title, items in (
        ("Not graded: the grader or its machine failed", _error_lines(data)),
        (
            "Nothing to grade",
            [f"`{x['student']}`: {_plain(x['reason'])}" for x in data["nothing_to_grade"]],
        ),
        ("Decided about files", [f"`{x['student']}`: {_plain(x['note'])}" for x in data["notes"]]),
        ("Since the last gradebook", [_plain(text) for text in data["since_last_gradebook"]]),
        ("Tried twice", [_plain(text) for text in data["retried"]]),
        ("Ignored", [_plain(name) for name in data["ignored"]]),
    ):
        if items:
            lines += [f"## {title}", "", *(f"- {item}" for item in items), ""]
    lines += ["## Slowest", "", "| seconds | lab | student |", "|---:|---|---|"]
    for item in data["slowest"]:
        more = f" and {len(item['students']) - 1} more" if len(item["students"]) > 1 else ""
        lines.append(f"| {item['seconds']:.1f} | {item['lab']} | `{item['students'][0]}`{more} |")
    return "\n".join(lines) + "\n"


def _overview(facts: Facts, data: dict[str, Any]) -> list[str]:
    settings = ", ".join(f"{name} {value}" for name, value in data["settings"].items() if value)
    absent = data["statuses"].get(NOT_HANDED_IN, 0)
    lines = [
        f"- {data['students']} students"
        + (f", {absent} of whom handed nothing in" if absent else "")
        + (f", {data['late']} late" if data["late"] else "")
        + f"; export of: {data['platform']}",
        "- " + ", ".join(f"{name}: {count}" for name, count in data["statuses"].items()),
        f"- {settings}",
        f"- {data['distinct_files']} different files, {data['graded_now']} of them graded in this"
        f" run, in {data['wall_seconds']:.0f} s"
        + (f"; at most {data['peak_mebibytes']} MiB of memory" if facts.peak_bytes else ""),
    ]
    spread = data["seconds_per_file"]
    if spread:
        lines.append(
            f"- seconds a file: median {spread['median']:.1f}, mean {spread['mean']:.1f},"
            f" {spread['least']:.1f} to {spread['most']:.1f}"
        )
    if data["changes"]:
        lines.append(f"- graded again, since changed: {', '.join(data['changes'])}")
    if data["similarity"]:
        lines.append(
            f"- files that resemble each other: [{data['similarity']}]({data['similarity']})"
        )
    return lines


def _lab_lines(lab: dict[str, Any]) -> list[str]:
    if not lab["score"]:
        return [f"Handed in by {lab['handed_in']}; no score."]
    score = lab["score"]
    lines = [
        f"Handed in by {lab['handed_in']}. Of {points(lab['max_score'])} points: mean"
        f" {points(score['mean'])}, median {points(score['median'])}, {points(score['least'])} to"
        f" {points(score['most'])}.",
        "",
        "```",
    ]
    highest = max(item["count"] for item in lab["distribution"]) or 1
    for item in lab["distribution"]:
        below = item["below"]
        label = f"{points(item['from'])} .. {points(below)}" if below else points(item["from"])
        bar = "#" * -(-item["count"] * _BAR // highest)
        lines.append(f"{label:>10} {item['count']:>5} {bar}".rstrip())
    lines += ["```", "", "| failed | check |", "|---:|---|"]
    for item in lab["failed_checks"][:_SHOWN]:
        lines.append(f"| {item['count']} | {item['title']} |")
    lines += ["", "| found in | diagnostic |", "|---:|---|"]
    for code, count in list(lab["diagnostics"].items())[:_SHOWN]:
        lines.append(f"| {count} | {code} |")
    return lines


def _error_lines(data: dict[str, Any]) -> list[str]:
    return [f"`{x['student']}`, {x['lab']}: {_plain(x['message'])}" for x in data["errors"]]


def _plain(text: str) -> str:
    """Words of students and of the compiler as they are: no markup, no second line."""
    escaped = html.escape(one_line(text), quote=False)
    return "".join(f"\\{mark}" if mark in "\\`*_[]|#!" else mark for mark in escaped)
