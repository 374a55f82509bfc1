"""From what was executed to what it means: one case's outcome, and diagnostics over all cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.errors import StepError, UnsupportedError
from grader.judging import echoes, explain, numerics, patterns, phases, remedies, split, symbols
from grader.labs import codes, data, source
from grader.labs.lab import Case
from grader.labs.submission import FILE_NAME
from grader.results.finding import Facts
from grader.results.result import CaseResult, Diagnostic, Mismatch
from grader.running.execution import Execution, Fault
from grader.running.record import Reason, Recorded
from grader.running.timing import Timing

_STOPPED = ("fault", "timeout")
# Fewer wrong elements than this for each degree of strength may fit a pattern by chance.
_TELLING = 4
# So many times the bound of an element may be several levels of Strassen's algorithm; TF32 is more.
_NEARLY = 3.0


@dataclass(frozen=True)
class Outcome:
    """One case on one backend, judged."""

    case: Case
    result: CaseResult
    diagnostics: tuple[Diagnostic, ...]
    ran: bool  # a kernel was launched and nothing stopped it
    execution: Execution | None = None
    pattern: patterns.Pattern | None = None  # of a wrong P
    may_be_another: bool = False  # algorithm: P is within the bound for those that add first
    right: frozenset[str] = frozenset()  # of several outputs, those that are right
    # Of several outputs: by a kernel's name, those that it can have to do with; see reach.py.
    outputs_of: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        return self.result.status == "passed"


def not_recorded(case: Case, recorded: Recorded, line: int = 0) -> Outcome:
    """A case whose `solve` left no plan; it crashed in a line of matmul.cu, if that is known."""
    diagnostic = recording_failure(recorded)
    if line:
        diagnostic = replace(diagnostic, line=line, file=FILE_NAME)
    result = case_result(case, "failed", diagnostic.message)
    return Outcome(case, result, (replace(diagnostic, cases=(case.id,)),), ran=False)


def not_run(case: Case, message: str) -> Outcome:
    """A case that was left out."""
    return Outcome(case, case_result(case, "not_run", message), (), ran=False)


def refuse_unsupported(execution: Execution) -> None:
    """Raises StepError if the executor could not carry the plan out for a reason of its own."""
    if execution.status == "unsupported":
        line = next((fault.facts.line for fault in execution.faults if fault.facts.line), 0)
        raise UnsupportedError(explain.whole(execution.message), line)
    if execution.status == "error":
        raise StepError(f"Case {execution.case} could not be executed: {execution.message}")


_CODES = {
    Reason.NOT_PROVIDED: "unsupported",
    Reason.INPUT_WRITTEN: "input-modified",
    Reason.NO_SOLVE: "does-not-compile",
    Reason.MISSING_LIBRARY: "does-not-compile",
    Reason.NOT_LOADABLE: "does-not-compile",
    Reason.DEVICE_CODE: "does-not-compile",
    Reason.TIME_LIMIT: "timeout",
}
_STATUS_CODES = {"timeout": "timeout", "crashed": "host-crash", "exited": "host-crash"}


def recording_failure(recorded: Recorded) -> Diagnostic:
    """Why there is no plan, as a diagnostic. Decided by the reason, never by the words."""
    reason, subject = recorded.reason, recorded.subject
    if reason is Reason.UNDEFINED_SYMBOL:
        code = symbols.code_of(subject)
    elif reason is Reason.MISSING_LIBRARY and symbols.is_library(subject):
        code = "library-call"
    else:
        code = _CODES.get(reason) or _STATUS_CODES.get(recorded.status, "does-not-compile")
    return Diagnostic(
        code,
        "error",
        explain.whole(recorded.message),
        advice=remedies.for_recording(code, reason),
        reason=reason.value,
        subject=subject,
    )


def judge(
    case: Case,
    execution: Execution,
    context: explain.Context,
    p: np.ndarray,
    inputs: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> Outcome:
    """A case of the product that was executed: P as it was left, and the inputs M and N."""
    outcome = judged(case, execution, context, lambda: _compare(case, execution, p, inputs, seed))
    result = outcome.result
    another = result.bound == "sum" and result.status == "failed" and _adds_first(case, p, inputs)
    return replace(outcome, may_be_another=another)


def judged(
    case: Case,
    execution: Execution,
    context: explain.Context,
    compare: Callable[[], tuple[CaseResult, Diagnostic | None, patterns.Pattern | None]],
) -> Outcome:
    found = [_diagnostic(fault, context) for fault in execution.faults]
    found += _api_errors(execution) + _leaks(execution, context)
    stopped = execution.status in _STOPPED
    ran = execution.launches > 0 and execution.status == "ok"
    if stopped or execution.status == "launch-config" or execution.launches == 0:
        found = found or [_unexplained(execution)]
        cause = min(found, key=_order)
        why = f"{cause.code}." if case.hidden else f"{cause.code}: {cause.message}"
        result = case_result(case, "failed", why, execution.seconds)
        return Outcome(case, result, _of_case(found, case), ran, execution)
    result, wrong, pattern = compare()
    if any(item.code == "host-computed" for item in found):
        result = replace(
            result, status="failed", message=f"{_outputs(case)} was not computed by a kernel."
        )
    elif wrong is not None and not any(item.code == "unwritten-output" for item in found):
        found.append(wrong)
    return Outcome(case, result, _of_case(found, case), ran, execution, pattern)


def _adds_first(case: Case, p: np.ndarray, inputs: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether P may come of an algorithm that adds before it multiplies, such as Strassen's."""
    if case.data not in data.MIXED_KINDS:
        return False
    return numerics.norm_ratio(p, *data.multiplied(case.problem, *inputs)) <= 1


def settled(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Right products by another algorithm, on data for which each element's bound is not for them.

    That another algorithm is at work and not a mistake is taken from all other cases: P is right
    in them, uniform data among them, by the bound of each element.
    """
    outcomes = _by_majority(outcomes)
    others = [one for one in outcomes.values() if not one.may_be_another]
    is_right = all(one.is_right for one in others)
    if not is_right or not any(one.case.data == "uniform" for one in others):
        return dict(outcomes)
    return {name: _accepted(one) if one.may_be_another else one for name, one in outcomes.items()}


def _by_majority(outcomes: Mapping[str, Outcome]) -> Mapping[str, Outcome]:
    """A missing term is a small error in a large product: smaller cases tell it from low precision."""
    rounded = [name for name, one in outcomes.items() if _has(one, "low-precision")]
    mistaken = [one for one in outcomes.values() if one.pattern and one.pattern.is_mistake]
    inexact = [one for one in mistaken if one.case.data not in data.EXACT_KINDS]
    if len(inexact) <= len(rounded):
        return outcomes
    return {name: _plainly_wrong(one) if name in rounded else one for name, one in outcomes.items()}


def _has(one: Outcome, code: str) -> bool:
    return any(item.code == code for item in one.diagnostics)


def _plainly_wrong(one: Outcome) -> Outcome:
    first = one.result.mismatches[0] if one.result.mismatches else None
    message = says_wrong(one.case, one.result.wrong, one.result.checked, first)
    found = tuple(
        replace(item, code="wrong-result", message=message, advice="")
        if item.code == "low-precision"
        else item
        for item in one.diagnostics
    )
    return replace(one, result=replace(one.result, message=message), diagnostics=found)


def _accepted(one: Outcome) -> Outcome:
    result = replace(
        one.result, status="passed", bound="norm", wrong=0, pattern="", message="", mismatches=()
    )
    kept = tuple(x for x in one.diagnostics if x.code not in ("wrong-result", "low-precision"))
    return replace(one, result=result, diagnostics=kept, pattern=None)


def with_library(outcome: Outcome, library: str) -> Outcome:
    """A case without a launch, of a submission that names a library: that is why."""
    if not library or outcome.execution is None or outcome.execution.launches:
        return outcome
    message = f"solve launches no kernel of its own, and names the library {library}."
    advice = remedies.for_code("library-call")
    named = Diagnostic("library-call", "error", message, cases=(outcome.case.id,), advice=advice)
    return replace(outcome, diagnostics=(named, *outcome.diagnostics))


def _unexplained(execution: Execution) -> Diagnostic:
    """For an execution that did not go well and says why in its message only."""
    code = {"launch-config": "launch-config", "timeout": "timeout", "fault": "trap"}
    return Diagnostic(
        code.get(execution.status, "no-launch"), "error", explain.whole(execution.message)
    )


def _compare(
    case: Case,
    execution: Execution,
    p: np.ndarray,
    inputs: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> tuple[CaseResult, Diagnostic | None, patterns.Pattern | None]:
    m, n = data.multiplied(case.problem, *inputs)
    exact = case.data in data.EXACT_KINDS
    bound = "exact" if exact else "sum"
    compared = numerics.compare(p, m, n, exact=exact, seed=seed)
    if not compared.is_right and case.problem.factors == "bf16":
        # Who does not round the factors is more exact than is asked, and not wrong.
        unrounded = numerics.compare(p, *inputs, exact=exact, seed=seed)
        compared = unrounded if unrounded.is_right else compared
    if compared.is_right:
        result = case_result(case, "passed", "", execution.seconds)
        return replace(result, checked=compared.checked, bound=bound), None, None
    pattern = short = None
    if compared.wrong_mask is not None:
        if case.problem.factors == "split" and not exact:
            limit = numerics.bound(m, n, exact=False)
            short = split.find(p, m, n, compared.expected, compared.wrong_mask, limit)
        pattern = short or patterns.find_pattern(p, m, n, compared.expected, compared.wrong_mask)
    if short is not None:
        low_precision = short.name != "scale lost"
    else:
        low_precision = (
            not exact
            and not (pattern and pattern.is_mistake)
            and numerics.looks_like_low_precision(p, m, n)
        ) or (not exact and case.problem.factors == "bf16" and _is_cut(p, inputs, seed))
    if low_precision:
        pattern = short
    first = to_mismatch(compared.first[0])
    message = says_wrong(case, compared.wrong, compared.checked, first)
    if low_precision:
        code = "low-precision"
        advice = short.sentence if short and not case.hidden else ""
        advice = advice or remedies.for_code(code, case.problem.factors)
        if not case.hidden:  # how large they are depends on the data
            message = (
                f"Small errors nearly everywhere, {compared.worst:.0f} times what float may "
                f"have: {message}"
            )
    else:
        code = "wrong-result"
        advice = pattern.sentence if pattern and not case.hidden else ""
    if not exact and compared.worst <= _NEARLY and short is None:
        # A pattern would be one of rounding errors.
        pattern, advice = None, "" if case.hidden else remedies.nearly(compared.worst)
    result = replace(
        case_result(case, "failed", message, execution.seconds),
        bound=bound,
        wrong=compared.wrong,
        checked=compared.checked,
        pattern=pattern.name if pattern else "",
        mismatches=() if case.hidden else tuple(to_mismatch(item) for item in compared.first),
    )
    line, kernel = storing_line(execution)
    return (
        result,
        Diagnostic(
            code, "error", message, line=line, kernel=kernel, count=compared.wrong, advice=advice
        ),
        pattern,
    )


def _is_cut(p: np.ndarray, inputs: tuple[np.ndarray, np.ndarray], seed: int) -> bool:
    """Whether P is the product of M and N cut to bf16 instead of rounded to the nearest."""
    m, n = (data.cut_to_bf16(matrix) for matrix in inputs)
    return numerics.compare(p, m, n, exact=False, seed=seed).is_right


def _outputs(case: Case) -> str:
    return " or ".join(array.name for array in case.problem.outputs)


def says_wrong(
    case: Case, wrong: int, checked: int, first: Mismatch | None, name: str = "P"
) -> str:
    if case.hidden or first is None:  # how many are wrong, and which, would tell its size
        return f"{name} is wrong in a hidden case."
    if checked == 1:
        return f"The only element of {name} is wrong, {describe(first)}."
    if wrong == 1:
        return f"One of {checked} elements of {name} is wrong, {describe(first)}."
    return f"{wrong} of {checked} elements of {name} are wrong, the first is {describe(first)}."


def to_mismatch(found: numerics.Mismatch) -> Mismatch:
    return Mismatch(found.row, found.column, number(found.got), number(found.expected))


def describe(mismatch: Mismatch) -> str:
    """ "P[0][3]: got 1.25, expected 2.5"."""
    got, expected = (
        value if isinstance(value, str) else f"{value:.7g}"
        for value in (mismatch.got, mismatch.expected)
    )
    element = mismatch.element or f"P[{mismatch.row}][{mismatch.column}]"
    return f"{element}: got {got}, expected {expected}"


def number(value: float) -> float | str:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else str(value)


def storing_line(execution: Execution) -> tuple[int, str]:
    """The only line of matmul.cu that stores to global memory, and its kernel; else (0, "")."""
    places = {
        (count.line, kernel.name)
        for kernel in execution.kernels
        for count in kernel.lines
        if count.line and is_own_file(count.file) and count.counters.get("global_store_requests")
    }
    return places.pop() if len(places) == 1 else (0, "")


def is_own_file(path: str) -> bool:
    return path.rsplit("/", 1)[-1] == FILE_NAME


def _diagnostic(fault: Fault, context: explain.Context) -> Diagnostic:
    facts = fault.facts
    own = is_own_file(facts.file)
    has_thread = bool(fault.kernel) and explain.has_thread(fault)
    line = facts.line or source.launch_line(context.source, fault.kernel)
    message, advice = explain.sentence(fault, context), remedies.for_fault(fault, context)
    said = phases.cause(fault.code, facts, context.source) if own else None
    if said is not None:
        message = f"{said.text} Seen at line {line}: {message}"
        line, advice = said.line, said.advice
    return Diagnostic(
        code=fault.code,
        severity=fault.severity,
        message=message,
        cause=said.text if said is not None else "",
        file=FILE_NAME if own or not facts.file else facts.file.rsplit("/", 1)[-1],
        line=line,
        kernel=fault.kernel,
        block=facts.block if has_thread else None,
        thread=facts.thread if has_thread else None,
        count=fault.count,
        advice=advice,
        other_line=facts.other_line,
        facts=_without_folders(explain.named(fault, context)),
    )


def _without_folders(facts: Facts) -> Facts:
    """Without the grader's own paths, which say nothing to a reader and differ from run to run."""
    other = facts.other and replace(facts.other, file=_name(facts.other.file))
    said = facts.assertion and replace(facts.assertion, file=_name(facts.assertion.file))
    shares = tuple(replace(one, file=_name(one.file)) for one in facts.shares)
    return replace(facts, file=_name(facts.file), other=other, assertion=said, shares=shares)


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _api_errors(execution: Execution) -> list[Diagnostic]:
    """CUDA calls that returned an error; a refused launch has its own diagnostic."""
    found = []
    for error in execution.api_errors:
        name = error.get("code_name") or f"error {error.get('code')}"
        if error.get("api") == "cudaLaunchKernel":
            continue
        message = explain.whole(f"{error.get('api')} returned {name}: {error.get('message')}")
        advice = remedies.for_code("api-error")
        line = error.get("line") or 0
        found.append(Diagnostic("api-error", "error", message, line=line, advice=advice))
    return list(dict.fromkeys(found))


def _leaks(execution: Execution, context: explain.Context) -> list[Diagnostic]:
    if not execution.leaked:
        return []
    names = ", ".join(_with_role(name, context) for name, _ in execution.leaked)
    size = sum(size for _, size in execution.leaked)
    message = f"solve returns without freeing {names} ({size:,} bytes)."
    advice = remedies.for_code("memory-leak")
    return [
        Diagnostic("memory-leak", "warning", message, count=len(execution.leaked), advice=advice)
    ]


def _with_role(buffer: str, context: explain.Context) -> str:
    role, name = context.buffer_roles.get(buffer, ""), explain.variable(buffer, context)
    return f"{name} (for {role})" if role and role != name else name


def _of_case(found: Iterable[Diagnostic], case: Case) -> tuple[Diagnostic, ...]:
    return tuple(replace(item, cases=(case.id,)) for item in found)


def case_result(case: Case, status: str, message: str, seconds: float = 0.0) -> CaseResult:
    shape = "" if case.hidden else case.shape
    return CaseResult(
        case.id, case.title, shape, status, case.hidden, message=message, seconds=seconds
    )


def of_timing(case: Case, timing: Timing) -> list[Diagnostic]:
    """What only the clock, or looking at outputs while it runs, brings to light."""
    found = []
    if timing.wrong_rounds:
        message = f"P was right at first and wrong while it was timed: {timing.first_wrong}"
        advice = "Every launch must compute P anew from the M and N it is given."
        found.append(Diagnostic("wrong-result", "error", explain.whole(message), advice=advice))
    elif timing.time_ms is not None and timing.time_ms.median < timing.floor_ms:
        message = (
            f"{timing.time_ms.median:.3g} ms is less than the {timing.floor_ms:.3g} ms that the"
            " arithmetic alone takes on this GPU."
        )
        found.append(Diagnostic("too-fast", "error", message))
    return [replace(item, cases=(case.id,)) for item in found]


def merge(outcomes: Iterable[Outcome], more: Iterable[Diagnostic] = ()) -> tuple[Diagnostic, ...]:
    """One diagnostic per code and place over all cases, and `more`, the most fundamental first.

    The first case that shows it gives the numbers; cases that are not hidden come first.
    """
    outcomes = sorted(outcomes, key=lambda item: item.case.hidden)
    merged: dict[tuple, Diagnostic] = {}
    for outcome in outcomes:
        for item in outcome.diagnostics:
            key = (item.code, item.file, item.line, item.kernel)
            known = merged.get(key, item)
            cases = tuple(dict.fromkeys([*known.cases, *item.cases]))
            merged[key] = replace(known, cases=cases)
    seen = [item for outcome in outcomes for item in outcome.diagnostics]
    found = [
        _with_case(_with_pattern(item, outcomes), outcomes)
        for item in echoes.of_unset(
            echoes.marked(merged.values(), seen), {o.case.id for o in outcomes if _is_unset(o)}
        )
    ]
    found += more
    return tuple(sorted(found, key=_order))


def _is_unset(outcome: Outcome) -> bool:
    """Whether all that is wrong in P is not a number: what nobody has written is none, here."""
    return outcome.pattern is not None and outcome.pattern.name == "NaN"


def _order(item: Diagnostic) -> tuple:
    """The most fundamental first; what follows from a finding right behind it.

    Races of two warps come before those that __syncwarp() would mend: mending them mends both.
    """
    within_a_warp = (
        item.code == "race-shared"
        and item.facts is not None
        and explain.missing_barrier(item.code, item.facts) == "__syncwarp()"
    )
    return codes.rank(item.echo_of or item.code), bool(item.echo_of), within_a_warp, -item.count


def _with_case(item: Diagnostic, outcomes: Sequence[Outcome]) -> Diagnostic:
    """A wrong result of several cases says whose numbers it gives."""
    shown = [
        outcome.result
        for outcome in outcomes
        if outcome.result.message == item.message and not outcome.case.hidden
    ]
    if item.code != "wrong-result" or len(item.cases) < 2 or not shown:
        return item
    return replace(item, message=f"In {shown[0].size}: {item.message[0].lower()}{item.message[1:]}")


def _with_pattern(item: Diagnostic, outcomes: Sequence[Outcome]) -> Diagnostic:
    """A wrong result with the pattern that explains most, not just that of the first case."""
    if item.code != "wrong-result":
        return item
    seen = [
        outcome
        for outcome in outcomes
        if outcome.case.id in item.cases and outcome.result.wrong and not outcome.case.hidden
    ]
    sentences = {outcome.pattern and outcome.pattern.sentence for outcome in seen}
    if len(sentences) < 2:
        return item
    weight: dict[str, int] = {}  # wrong elements that a pattern explains, over all cases
    for outcome in seen:
        if outcome.pattern:
            name = outcome.pattern.name
            weight[name] = weight.get(name, 0) + outcome.result.wrong
    told = max(
        (outcome for outcome in seen if outcome.pattern),
        key=lambda outcome: (
            min(outcome.pattern.strength, outcome.result.wrong // _TELLING),
            weight[outcome.pattern.name],
            outcome.result.wrong,
        ),
    )
    if not told.pattern.strength:
        return replace(item, advice="")
    return replace(item, advice=f"In {told.result.size}: {told.pattern.sentence}")
