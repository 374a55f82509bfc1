"""Checks and points: what of a lab's rubric a submission fulfils.

A check gives all of its points or none, except the time on a GPU, which is graded by its ratio to
the reference solution. On the backend both, where the simulator judges, the clock gives no larger
share of its points than the counts give of theirs: being fast on one GPU makes up for nothing that
the lab asks for. A check whose precondition failed is skipped with the reason, so that one
mistake is not charged twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.judging.judge import Outcome, describe, is_own_file, merge
from grader.labs.expression import ExpressionError, evaluate, names_in
from grader.labs.lab import FACTS, Check, Lab
from grader.labs.sums import counters_in, with_sums
from grader.results.result import CheckResult, Diagnostic
from grader.running.execution import Execution
from grader.running.timing import WIDEST_INTERVAL, Timing


@dataclass(frozen=True)
class Evidence:
    """What the checks look at, by case id."""

    outcomes: Mapping[str, Outcome]  # on the backend that is graded; both: sim, timed cases on gpu
    safety: Mapping[str, Outcome]  # on the simulator, which sees and counts every access
    timings: Mapping[str, Timing]  # gpu, both: the timed cases that ran
    probed: tuple[Diagnostic, ...] = ()  # what the lab's probes found
    not_timed: str = ""  # both: why our side could not time what it should; one sentence


def evaluate_checks(lab: Lab, backend: str, evidence: Evidence) -> tuple[CheckResult, ...]:
    """All checks of a lab that apply to the backend, in its order."""
    results: dict[str, CheckResult] = {}
    checks = lab.checks_for(backend)
    for check in sorted(checks, key=lambda check: check.kind == "time"):  # the clock needs the rest
        blocked = [
            name for name in check.needs if name in results and results[name].status != "passed"
        ]
        if blocked:
            first = results[blocked[0]]
            message = f'Not looked at until "{first.title}" is passed.'
            results[check.id] = _skipped(check, message, blocked_by=first.id)
        else:
            results[check.id] = _KINDS[check.kind](check, lab, evidence)
            if check.kind == "time" and backend == "both":
                counts = [item for item in results.values() if item.group == "performance"]
                results[check.id] = capped(results[check.id], counts[:-1])
    return tuple(results[check.id] for check in checks)


def all_failed(lab: Lab, backend: str, reason: str) -> tuple[CheckResult, ...]:
    """No case could be run at all: every check is skipped for one reason."""
    return tuple(_skipped(check, reason) for check in lab.checks_for(backend))


def _passed(check: Check, message: str = "", **numbers) -> CheckResult:
    return _result(check, "passed", check.points, message, numbers)


def _failed(check: Check, message: str, **numbers) -> CheckResult:
    return _result(check, "failed", 0, message, numbers)


def _skipped(check: Check, message: str, **numbers) -> CheckResult:
    return _result(check, "skipped", 0, message, numbers)


def _result(check: Check, status: str, score: float, message: str, numbers: dict) -> CheckResult:
    return CheckResult(
        check.id,
        check.title,
        check.group,
        status,
        score,
        check.points,
        message,
        check.hidden,
        numbers,
    )


def _outputs(check: Check, lab: Lab, evidence: Evidence) -> CheckResult:
    outcomes = [evidence.outcomes[name] for name in check.cases]
    wrong = [outcome for outcome in outcomes if not _is_right(outcome, check)]
    if not wrong:
        in_spite = [
            found for name in check.cases if (found := _in_spite(evidence.safety[name], lab, check))
        ]
        if in_spite:
            return _failed(check, in_spite[0], failed_cases=[])
        return _passed(check, cases=len(check.cases))
    # A case that is shown says more than a hidden one.
    first = min(wrong, key=lambda outcome: outcome.case.hidden)
    names = [outcome.case.id for outcome in wrong]
    what = _why_wrong(first, check)
    more = f" ({len(wrong)} of {len(check.cases)} cases fail)" if len(check.cases) > 1 else ""
    return _failed(check, f"{_case_name(first)}: {what}{more}", failed_cases=names)


# What is right in spite of these was right in the order in which the simulator ran the threads.
_RACES = frozenset({"race-shared", "race-global", "unordered-streams"})
# What is said of the values of outputs. A check of some of them, all right, is not about it.
_OF_VALUES = frozenset({"wrong-result", "low-precision", "unwritten-output"})


def _in_spite(outcome: Outcome, lab: Lab, check: Check) -> str:
    """The error in spite of which a case is right, and which must cost something here: it was right by
    chance, or no check of the lab lists that error. "" if there is none."""
    listed = {code for check in lab.checks for code in check.codes}
    for item in outcome.diagnostics:
        if item.severity != "error" or (item.code in listed and item.code not in _RACES):
            continue
        if check.arrays and _is_about_others(item, outcome, check):
            continue
        place = f" at line {item.line}" if item.line and not outcome.case.hidden else ""
        how = "this time, but only by chance, because" if item.code in _RACES else "in spite"
        return f"{_case_name(outcome)}: right {how} of {item.code}{place}"
    return ""


def _is_about_others(item: Diagnostic, outcome: Outcome, check: Check) -> bool:
    """Whether an error says nothing of the check's arrays, which are right."""
    reached = outcome.outputs_of.get(item.kernel)
    return item.code in _OF_VALUES or (reached is not None and reached.isdisjoint(check.arrays))


def _is_right(outcome: Outcome, check: Check) -> bool:
    """All outputs, or those that the check is about."""
    return outcome.is_right or (bool(check.arrays) and outcome.right.issuperset(check.arrays))


def _why_wrong(outcome: Outcome, check: Check) -> str:
    result = outcome.result
    about = result.mismatches[0].element.partition("[")[0] if result.mismatches else ""
    if check.arrays and about and about not in check.arrays:
        return f"{', '.join(sorted(set(check.arrays) - outcome.right))} is wrong"
    if result.mismatches:
        pattern = f"; {result.pattern}" if result.pattern else ""
        return describe(result.mismatches[0]) + pattern
    if result.pattern:
        return f"P is wrong; {result.pattern}"
    return result.message or "not right"


def _case_name(outcome: Outcome) -> str:
    return "a hidden case" if outcome.case.hidden else outcome.case.title


def _clean(check: Check, lab: Lab, evidence: Evidence) -> CheckResult:
    outcomes = [evidence.safety[name] for name in check.cases]
    probed = evidence.probed if check.probes else ()
    # A probe is there for this check: whatever it finds counts.
    codes = {*check.codes, *(item.code for item in probed)}
    found = [item for item in merge(outcomes, probed) if item.code in codes]
    if found:
        first = found[0]  # as the report has them: the cause before what follows from it
        place = f" at line {first.line}" if first.line else ""
        others = f", and {len(found) - 1} more" if len(found) > 1 else ""
        kinds = sorted({item.code for item in found})
        return _failed(check, f"{first.code}{place}{others}", codes=kinds, places=len(found))
    if not any(outcome.ran for outcome in outcomes):
        return _skipped(check, "No case ran to its end, so this could not be checked.")
    if not any(_did_the_work(outcome) for outcome in outcomes):
        return _skipped(check, "Nothing is multiplied yet, so there is nothing to be safe about.")
    return _passed(check, cases=len(check.cases))


def _did_the_work(outcome: Outcome) -> bool:
    """Whether the kernels can be called safe: one that leaves out the product touches nothing.

    Half of the multiply-adds are enough, so that a wrong number of phases keeps its safety; a
    right P proves the work whatever instructions it was done with.
    """
    if outcome.is_right:
        return True
    if not outcome.case.problem.is_product:  # what the work is, only the outputs tell
        return outcome.execution is not None and outcome.execution.unwritten == 0
    counters = outcome.execution.counters if outcome.execution else {}
    counted = counters.get("fma_lanes", 0) + counters.get("tensor_multiply_adds", 0)
    return 2 * counted >= outcome.case.work


def _counter(check: Check, lab: Lab, evidence: Evidence) -> CheckResult:
    outcome = evidence.safety[check.cases[0]]
    if outcome.execution is None or not outcome.ran:
        return _skipped(check, f"{_case_name(outcome)} did not run to its end.")
    case = outcome.case
    values = {**case.numbers, **with_sums(outcome.execution.counters), **_facts(outcome.execution)}
    unknown = sorted(names_in(check.value) & set(FACTS) - set(values))
    if unknown:
        return _skipped(check, f"{unknown[0]} is not known for {case.title} on this device.")
    try:
        value = evaluate(check.value, values)
    except ExpressionError as error:
        return _failed(check, f"It could not be computed: {error}.")
    limits = []
    if check.at_most is not None:
        limits.append(f"at most {check.at_most:g}")
    if check.at_least is not None:
        limits.append(f"at least {check.at_least:g}")
    low = -math.inf if check.at_least is None else check.at_least
    high = math.inf if check.at_most is None else check.at_most
    numbers = {
        "measure": check.value,
        "case": case.id,
        "value": value,
        "at_most": check.at_most,
        "at_least": check.at_least,
    }
    shown = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    what = f"{check.message}: {shown}" if check.message else f"{check.value} = {shown}"
    text = f"{what} ({' and '.join(limits)})"
    if low <= value <= high:
        failed = [
            found
            for one in check.also
            if (found := _counter(one, lab, evidence)).status != "passed"
        ]
        return min(failed, key=lambda one: one.score) if failed else _passed(check, text, **numbers)
    line = busiest_line(outcome, check)
    if line:
        numbers["line"] = line
        text += f", most of it at line {line}"
    return _result(check, "failed", _partly(check, value), text, numbers)


def _partly(check: Check, value: float) -> float:
    """Points of a value beyond its limit: on a straight line down to none_at."""
    if check.none_at is None:
        return 0
    limit = check.at_least if check.at_most is None else check.at_most
    share = (check.none_at - value) / (check.none_at - limit)
    return round(check.points * min(1.0, max(0.0, share)), 1)


def _facts(execution: Execution) -> dict[str, float]:
    """Of the kernels together; what is not known is left out."""
    found: dict[str, float] = {
        "launches": execution.launches,
        "blocks": sum(kernel.launches * math.prod(kernel.grid) for kernel in execution.kernels),
        "threads": sum(
            kernel.launches * math.prod(kernel.grid) * math.prod(kernel.block)
            for kernel in execution.kernels
        ),
        "spilled_bytes": max((item.spilled_bytes or 0 for item in execution.kernels), default=0),
        # It is looked at by itself (pipeline/tile_use.py), and held against nobody where it was not.
        "tile_share": 1 if execution.tile_share is None else execution.tile_share,
    }
    for name, choose in (("registers", max), ("shared_bytes", max), ("occupancy", min)):
        values = [getattr(kernel, name) for kernel in execution.kernels]
        if values and None not in values:
            found[name] = choose(values)
    return found


def _is_whole(value: str) -> bool:
    """Whether what stands before the first division is an expression by itself."""
    try:
        return bool(names_in(value.partition("/")[0]))
    except ExpressionError:
        return False


def busiest_line(outcome: Outcome, check: Check) -> int:
    """The line of matmul.cu with most of the first counter that the value names; 0: none."""
    counters = counters_in(names_in(check.value)) - set(outcome.case.numbers) - set(FACTS)
    if not counters or outcome.execution is None:
        return 0
    # Of the numerator, what there is most of.
    all_of = outcome.execution.counters
    whole = _is_whole(check.value)
    above = counters_in(names_in(check.value.partition("/")[0])) if whole else counters
    named = sorted(counters & above or counters)
    name = max(named, key=lambda one: all_of.get(one, 0))
    counts: dict[int, int] = {}
    for kernel in outcome.execution.kernels:
        for entry in kernel.lines:
            if entry.line and is_own_file(entry.file):
                counts[entry.line] = counts.get(entry.line, 0) + entry.counters.get(name, 0)
    line = max(counts, key=lambda number: counts[number], default=0)
    return line if line and counts[line] else 0


def _time(check: Check, lab: Lab, evidence: Evidence) -> CheckResult:
    outcome = evidence.outcomes.get(check.cases[0])
    found = evidence.timings.get(check.cases[0])
    if found is None and evidence.not_timed:
        return _result(check, "inconclusive", 0, evidence.not_timed, {})
    if found is None:
        why = "" if outcome is None or outcome.is_right else outcome.result.message
        text = f"{lab.case(check.cases[0]).title} was not timed"
        return _skipped(check, f"{text}: {why}" if why else f"{text}.")
    if found.status != "ok" or found.time_ms is None:
        return _failed(check, f"It was not timed: {found.message}")
    if found.wrong_rounds:
        return _failed(check, f"Not right while it was timed: {found.first_wrong}")
    mine = found.time_ms.median
    numbers = {"median_ms": mine, "floor_ms": found.floor_ms, "clocks": found.clocks}
    if mine < found.floor_ms:
        text = f"{mine:.3g} ms is less than the {found.floor_ms:.3g} ms the arithmetic takes"
        return _failed(check, f"too-fast: {text}", **numbers)
    if found.ratio is None:
        return _result(check, "inconclusive", 0, "There is no reference to compare with.", numbers)
    return _by_ratio(check, found, numbers)


def _by_ratio(check: Check, found: Timing, numbers: dict) -> CheckResult:
    """Points by the ratio to the reference, unless the measurement is too uncertain to say."""
    ratio = found.ratio
    numbers |= {"ratio": ratio.median, "ratio_low": ratio.low, "ratio_high": ratio.high}
    numbers |= {"full": check.full, "none": check.none}
    text = (
        f"{found.time_ms.median:.3g} ms, {ratio.median:.2f} times the reference's time"
        f" (full points up to {check.full:g})"
    )
    if found.cublas_ratio is not None:
        numbers["cublas_ratio"] = found.cublas_ratio
    shares = {_share(check, value) for value in (ratio.low, ratio.high)}
    if len(shares) > 1 and ratio.high > ratio.low * (1 + WIDEST_INTERVAL):
        spread = f"the times vary from {ratio.low:.2f} to {ratio.high:.2f} times: run it again"
        return _result(check, "inconclusive", 0, f"{text}; {spread}", numbers)
    share = _share(check, ratio.median)
    status = "passed" if share == 1.0 else "failed"
    return _result(check, status, round(check.points * share, 1), text, numbers)


def capped(clock: CheckResult, counts: Sequence[CheckResult]) -> CheckResult:
    """The clock with no larger share of its points than the counts beside it have of theirs."""
    share = sum(item.score for item in counts) / sum(item.max_score for item in counts)
    most = math.floor(clock.max_score * share * 100 + 1e-6) / 100
    if clock.score <= most:
        return clock
    text = f"{clock.message}; no larger share than the other checks of performance give"
    data = clock.data | {"capped_at": most}
    return replace(clock, status="failed", score=most, message=text, data=data)


def _share(check: Check, ratio: float) -> float:
    """1 up to check.full, 0 from check.none on, a straight line between."""
    return min(1.0, max(0.0, (check.none - ratio) / (check.none - check.full)))


_KINDS = {"outputs": _outputs, "clean": _clean, "counter": _counter, "time": _time}
