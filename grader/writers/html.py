"""One self-contained page: scores, messages, the source with its counters.

It loads nothing and runs nothing: no script, and a content security policy that forbids any.
All text is escaped by the template.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.judging.judge import describe
from grader.labs.lab import GROUPS
from grader.results.hidden import for_students
from grader.results.result import (
    CaseResult,
    CheckResult,
    Diagnostic,
    Kernel,
    Result,
    overall_status,
)
from grader.text import lab_number
from grader.writers import asides, prediction
from grader.writers.listing import listing
from grader.writers.plain import plain, points

if TYPE_CHECKING:
    from grader.writers.style import Style

_FOLDER = Path(__file__).parent
MARKS = {
    "passed": "✓",
    "failed": "✗",
    "skipped": "–",
    "inconclusive": "?",
    "not_started": "·",
    "error": "!",
}
WORDS = {"not_started": "not started", "error": "the grader failed", "passed": "full marks"}
SHOWN_MISMATCHES = 4
SHOWN_CASES = 4


def render(results: list[Result], *, one: bool, style: Style) -> str:
    shown = [for_students(result) for result in results]
    scores = [result.score for result in shown]
    return (
        _environment()
        .get_template("html.jinja")
        .render(
            results=shown,
            whose=style.whose,
            runs=style.runs,
            one=one,
            status=overall_status(shown),
            total=None if None in scores else sum(scores),
            best=sum(result.max_score for result in shown),
            style=Markup((_FOLDER / "html.css").read_text(encoding="utf-8")),
        )
    )


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"plain": plain, "points": points}
    environment.globals |= {
        "MARKS": MARKS,
        "number": lab_number,
        "WORDS": WORDS,
        "listing": listing,
        "groups": _groups,
        "facts": _facts,
        "counters": _counters,
        "mismatches": _mismatches,
        "case_names": _case_names,
        "percent": _percent,
        "predicted": prediction.sentence,
        "WARNINGS": asides.WARNINGS,
        "on_gpu": asides.gpu,
        "bound": asides.bound,
        "warnings": asides.warnings,
        "printed": asides.printed,
        "see_it": _see_it,
    }
    return environment


def _groups(result: Result) -> list[tuple[str, list[CheckResult]]]:
    found = [(name, [c for c in result.checks if c.group == name]) for name in GROUPS]
    return [(name, checks) for name, checks in found if checks]


def _percent(part: float, whole: float) -> int:
    """Of the whole, for widths; what is not 0 is seen."""
    if part <= 0 or whole <= 0:
        return 0
    return min(100, max(1, round(100 * part / whole)))


def _facts(kernel: Kernel) -> list[tuple[str, str]]:
    """What a kernel was launched with, and what came of it."""
    facts = [
        ("grid", " × ".join(str(size) for size in kernel.grid)),
        ("block", " × ".join(str(size) for size in kernel.block)),
        ("shared memory", f"{kernel.shared_bytes:,} bytes"),
    ]
    if kernel.registers is not None:
        facts.append(("registers", f"{kernel.registers} per thread"))
    if kernel.occupancy is not None:
        facts.append(("occupancy", f"{kernel.occupancy:.0%}"))
    if kernel.time_ms:
        facts.append(("time", f"{kernel.time_ms['median']:.3g} ms"))
    return facts


def _counters(kernel: Kernel) -> list[tuple[str, str]]:
    return [(name.replace("_", " "), f"{count:,}") for name, count in kernel.counters.items()]


def _mismatches(item: Diagnostic, result: Result) -> list[str]:
    """Wrong elements after the first, which the message tells, for findings about P."""
    if item.code not in ("wrong-result", "low-precision"):
        return []
    for case in result.cases:
        if case.id in item.cases and case.mismatches:
            return [describe(mismatch) for mismatch in case.mismatches[1:SHOWN_MISMATCHES]]
    return []


def _case_names(ids: Sequence[str], result: Result) -> str:
    """ "32x32, 64x64 and 5 more"; ids that the result does not know stay as they are."""
    if len(ids) == len(result.cases) > 1:
        return "all cases"
    names = {case.id: _size(case) for case in result.cases}
    shown = [names.get(name, name) for name in ids]
    more = f" and {len(shown) - SHOWN_CASES} more" if len(shown) > SHOWN_CASES else ""
    return ", ".join(shown[:SHOWN_CASES]) + more


def is_worth_seeing(result: Result) -> bool:
    """Whether a visible case has a finding of a kernel that ran."""
    visible = {case.id for case in result.cases if not case.hidden}
    ran = [
        one
        for one in result.diagnostics
        if one.kernel and (not one.cases or visible & set(one.cases))
    ]
    return result.status == "failed" and bool(ran)


def _see_it(result: Result) -> str:
    """The command that shows the kernel of a finding run; "" where there is nothing to see."""
    if not is_worth_seeing(result):
        return ""
    is_working_copy = result.submission.startswith(f"labs/{result.lab}/")
    where = "" if is_working_copy else f" SUBMISSION={shlex.quote(result.submission)}"
    return f"make show LAB={lab_number(result.lab)}{where}"


def _size(case: CaseResult) -> str:
    """ "64x64" for a product of square matrices, else "64x32x48": j, k and l."""
    sides = case.shape.split("x")
    if not case.shape:
        return case.title or case.id
    return "x".join(sides[:2]) if len(set(sides)) == 1 else case.shape
