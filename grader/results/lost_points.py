"""Why each point was lost, from a result alone: what a contested grade is discussed with.

For every check without its full points: what was measured, the limit, the line, the findings behind
it, the check that blocked it, and what it would take. Made from the result's data, so that it says
the same years later; where the data of a hidden case or check are left out, so are they here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from grader.results.result import CheckResult, Diagnostic, Result
from grader.text import lab_number, lab_title, lines_of

SCHEMA = "tilewise.explanation/1"
SHOWN_FINDINGS = 3  # a check


@dataclass(frozen=True)
class Loss:
    """One check that did not get all of its points."""

    check: str
    title: str
    status: str  # failed | skipped | inconclusive
    lost: float
    points: float  # what it could have given
    why: str
    measured: float | None = None  # of counters and times
    measure: str = ""  # what was measured: an expression over counters, or a ratio of times
    limit: str = ""  # "at most 4"
    line: int = 0  # of matmul.cu; 0: none
    source: str = ""  # the text of that line
    blocked_by: tuple[str, ...] = ()  # checks, the nearest first, the one to mend last
    findings: tuple[str, ...] = ()
    needed: str = ""  # what it would take


@dataclass(frozen=True)
class Explanation:
    """One lab."""

    lab: str
    title: str
    status: str
    score: float | None
    max_score: float
    summary: str
    losses: tuple[Loss, ...]
    again: str  # the command that grades it in the same way
    source_sha256: str  # of the file that was graded; "" if the result does not hold it


def explain(result: Result, *, with_seed: bool = False) -> Explanation:
    """The losses of one lab. `with_seed`: for people who may know the seed."""
    losses = tuple(_loss(check, result) for check in result.checks if check.score < check.max_score)
    return Explanation(
        result.lab,
        result.title,
        result.status,
        result.score,
        result.max_score,
        _summary(result, losses),
        losses,
        _again(result, with_seed=with_seed),
        _digest(result.source),
    )


def to_dict(explanations: list[Explanation]) -> dict[str, Any]:
    """The JSON form."""
    return {"schema": SCHEMA, "labs": [asdict(item) for item in explanations]}


def _digest(source: str) -> str:
    import hashlib

    return hashlib.sha256(source.encode("utf-8", errors="replace")).hexdigest() if source else ""


def _again(result: Result, *, with_seed: bool) -> str:
    seed = f" --seed {result.seed}" if with_seed else ""
    device = f" --device {result.device}" if result.backend != "gpu" else ""
    return (
        f"grader run {lab_number(result.lab)} --submission {result.submission}"
        f" --backend {result.backend}{device}{seed}"
    )


def _summary(result: Result, losses: tuple[Loss, ...]) -> str:
    if result.score is None:
        return f"There is no score, because the grader itself failed: {result.message}"
    if result.status == "not_started":
        return f"Nothing was handed in: {result.message}"
    if result.status == "passed":
        return "All points were given."
    if not any(check.status != "skipped" for check in result.checks):
        first = result.diagnostics[0] if result.diagnostics else None
        return f"No check could be made. {_finding(first) if first else result.message}"
    failed = sum(loss.lost for loss in losses if loss.status == "failed")
    skipped = sum(loss.lost for loss in losses if loss.status == "skipped")
    unsure = sum(loss.lost for loss in losses if loss.status == "inconclusive")
    parts = [(failed, "for what failed"), (skipped, "for what was not looked at because of that")]
    parts.append((unsure, "for what could not be measured with certainty"))
    told = " and ".join(f"{points:g} points {reason}" for points, reason in parts if points)
    return f"Lost: {told}."


def _loss(check: CheckResult, result: Result) -> Loss:
    line = _line(check, result)
    data = check.data
    blocked = _blockers(check, result)
    measured = data.get("value", data.get("ratio"))
    return Loss(
        check=check.id,
        title=check.title,
        status=check.status,
        lost=round(check.max_score - check.score, 2),
        points=check.max_score,
        why=check.message,
        measured=measured,
        measure=_measure(data),
        limit=_limit(data),
        line=line,
        source=_text_of(line, result),
        blocked_by=tuple(item.id for item in blocked),
        findings=tuple(_finding(item) for item in _behind(check, result)[:SHOWN_FINDINGS]),
        needed=_needed(check, blocked, result),
    )


def _blockers(check: CheckResult, result: Result) -> list[CheckResult]:
    """The check that had to be passed first, the one before that, and so on."""
    by_id = {item.id: item for item in result.checks}
    chain: list[CheckResult] = []
    name = check.data.get("blocked_by")
    while name in by_id and by_id[name] not in chain:
        chain.append(by_id[name])
        name = chain[-1].data.get("blocked_by")
    return chain


def _measure(data: Mapping[str, Any]) -> str:
    if "measure" in data:
        return data["measure"]
    return "time, as a multiple of the reference solution's" if "ratio" in data else ""


def _limit(data: Mapping[str, Any]) -> str:
    limits = [
        f"{words} {data[name]:g}"
        for name, words in (("at_most", "at most"), ("at_least", "at least"))
        if data.get(name) is not None
    ]
    if "full" in data:
        limits.append(f"at most {data['full']:g} for all points, none from {data['none']:g}")
    return " and ".join(limits)


def _behind(check: CheckResult, result: Result) -> list[Diagnostic]:
    """The findings that made the check fail."""
    return [item for item in result.diagnostics if check.is_behind(item)]


def _finding(item: Diagnostic) -> str:
    place = f"{item.file}:{item.line}" if item.line else item.file
    return f"{place}: {item.code}: {item.message}"


def _line(check: CheckResult, result: Result) -> int:
    if check.line:
        return check.line
    return next((item.line for item in _behind(check, result) if item.line), 0)


def _text_of(line: int, result: Result) -> str:
    lines = lines_of(result.source)
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _needed(check: CheckResult, blocked: list[CheckResult], result: Result) -> str:
    data = check.data
    if blocked:
        root = blocked[-1]
        return f'Pass "{root.title}" first: then this is looked at.'
    if check.status == "inconclusive":
        return "Time it again on a GPU that nobody else uses."
    if "value" in data:
        return _needed_count(data)
    if "capped_at" in data:
        return "Pass the other checks of performance: the clock gives no larger share than they."
    if "ratio" in data:
        return f"A time of at most {data['full']:g} times the reference solution's."
    if "failed_cases" in data:
        return f"P right in every case; it is wrong {_where(data, result)}."
    if "codes" in data:
        return f"No {' and no '.join(data['codes'])} in any case."
    if check.hidden:
        return ""
    return "A file that compiles and runs to its end." if check.status == "skipped" else ""


def _where(data: Mapping[str, Any], result: Result) -> str:
    """In which cases of the check. Of hidden ones students are left with their number."""
    failed = [case for case in result.cases if case.id in data["failed_cases"]]
    names = [case.shape for case in failed if case.shape and not case.hidden]
    if data.get("failed_hidden") or any(case.hidden for case in failed):
        names.append("a hidden case")
    return "for " + " and ".join(names) if names else "in some"


def _needed_count(data: Mapping[str, Any]) -> str:
    value, most, least = data["value"], data.get("at_most"), data.get("at_least")
    if most is not None and value > most:
        if not most:
            return f"None at all, instead of {value:,.6g}."
        return (
            f"At most {most:g} instead of {value:.3g}: {math.ceil(100 * (1 - most / value))}% less."
        )
    if least is not None and value < least:
        return f"At least {least:g} instead of {value:.3g}."
    return ""


def to_text(explanations: list[Explanation]) -> str:
    """For reading, without color, in paragraphs that a mail can take."""
    return "\n".join(line for item in explanations for line in _paragraphs(item)) + "\n"


def _paragraphs(item: Explanation) -> list[str]:
    score = "no score" if item.score is None else f"{item.score:g} of {item.max_score:g} points"
    lines = [f"{lab_title(item.lab)}  {item.title}: {score}", item.summary]
    for loss in item.losses:
        lines += [
            "",
            f"-{loss.lost:g} of {loss.points:g}  {loss.title}  [{loss.check}, {loss.status}]",
        ]
        lines += [f"    {line}" for line in _details(loss)]
    lines += ["", f"Graded again in the same way by: {item.again}"]
    if item.source_sha256:
        lines.append(f"The file that was graded has the SHA-256 {item.source_sha256}.")
    return [*lines, ""]


def _details(loss: Loss) -> list[str]:
    lines = [f"why: {loss.why}"] if loss.why else []
    if loss.measured is not None:
        what = f"  ({loss.measure})" if loss.measure else ""
        lines.append(f"measured: {loss.measured:.6g}{what}")
    if loss.limit:
        lines.append(f"limit: {loss.limit}")
    if loss.line:
        lines.append(f"line {loss.line}: {loss.source}".rstrip(": "))
    lines += [f"finding: {text}" for text in loss.findings]
    if loss.blocked_by:
        lines.append(f"not looked at because of: {', then '.join(loss.blocked_by)}")
    if loss.needed:
        lines.append(f"it takes: {loss.needed}")
    return lines
