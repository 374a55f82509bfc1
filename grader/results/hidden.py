"""What a student may see of a result: everything but the data of what is hidden.

Hidden are checks (`hidden = true` in lab.toml), of which title, status and points remain, and
cases, of which only remains whether they pass. The seed is hidden too: with it a student could
make the data of every case. Writers of formats that students read begin here.

A kernel can commit a fault on purpose, on a line of its choice, in a thread of its choice, as often
as a hidden element says. So of what only hidden cases show remains one code, the gravest: no line,
no thread, no count, and not how many there are. docs/trust.md has what that leaves, in bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.results.result import CaseResult, CheckResult, Diagnostic, GpuRun, Kernel, Result

CASE_TITLE = "a hidden case"
_OF_CHECK = "What this check found is not shown."
_OF_DIAGNOSTIC = "It happens in a hidden case, whose data are not shown."


def for_students(result: Result) -> Result:
    """The same result without what is hidden."""
    hidden = {case.id for case in result.cases if case.hidden}
    only_hidden = {item.code for item in result.diagnostics if _is_only_hidden(item, hidden)}
    diagnostics = _diagnostics(result.diagnostics, hidden)
    return replace(
        result,
        seed=0,
        next_step=_next_step(result, diagnostics),
        checks=tuple(_check(item, hidden, only_hidden, diagnostics) for item in result.checks),
        diagnostics=diagnostics,
        cases=tuple(_case(item) for item in result.cases),
        kernels=tuple(item for item in result.kernels if not _is_of(item, hidden)),
        gpu=result.gpu and _gpu(result.gpu, hidden),
        per_step={} if any(_is_of(item, hidden) for item in result.kernels) else result.per_step,
        seconds=_seconds(result),
    )


def _seconds(result: Result) -> float:
    """A kernel may take as long in a hidden case as the data say: where there are any, of the others."""
    if not any(case.hidden for case in result.cases):
        return result.seconds
    return sum(case.seconds for case in result.cases if not case.hidden)


def _is_only_hidden(item: Diagnostic, hidden: set[str]) -> bool:
    return bool(item.cases) and set(item.cases) <= hidden


def _diagnostics(items: Sequence[Diagnostic], hidden: set[str]) -> tuple[Diagnostic, ...]:
    """Those that a case that is shown has too, whose numbers are of that case; and one code."""
    found: list[Diagnostic] = []
    is_told = False
    for item in items:
        if not _is_only_hidden(item, hidden):
            shown = tuple(name for name in item.cases if name not in hidden)
            found.append(replace(item, cases=shown))
        elif not is_told:  # the gravest comes first
            is_told = True
            found.append(Diagnostic(item.code, item.severity, _OF_DIAGNOSTIC, item.file))
    return tuple(found)


def _next_step(result: Result, diagnostics: Sequence[Diagnostic]) -> str:
    """Without the line of a finding that is not shown."""
    if not diagnostics or diagnostics[0].message != _OF_DIAGNOSTIC:
        return result.next_step
    first = diagnostics[0]
    if first.code not in result.next_step:
        return result.next_step
    return f"mend {first.code}, then grade again."


def _check(
    check: CheckResult,
    hidden: set[str],
    only_hidden: set[str],
    diagnostics: Sequence[Diagnostic],
) -> CheckResult:
    if check.hidden:
        return replace(check, message="" if check.status == "passed" else _OF_CHECK, data={})
    data = dict(check.data)
    if data.get("case") in hidden:  # a count or a time of a hidden size
        return replace(check, message="" if check.status == "passed" else _OF_CHECK, data={})
    if only_hidden.intersection(data.get("codes", ())):
        return _of_codes(check, diagnostics)
    if "failed_cases" in data:
        names = data["failed_cases"]
        data["failed_cases"] = [name for name in names if name not in hidden]
        data["failed_hidden"] = len(names) - len(data["failed_cases"])
        if not data["failed_cases"]:  # else the message is about one that is shown
            count = len(names)
            text = "a hidden case fails" if count == 1 else f"{count} hidden cases fail"
            return replace(check, message=text, data=data)
    return replace(check, data=data)


def _of_codes(check: CheckResult, diagnostics: Sequence[Diagnostic]) -> CheckResult:
    """A check that certain findings fail: by those that are shown."""
    found = [item for item in diagnostics if item.code in check.data["codes"]]
    shown = [item for item in found if item.message != _OF_DIAGNOSTIC]
    if not shown:
        return replace(check, message="only in a hidden case", data={})
    first = shown[0]
    place = f" at line {first.line}" if first.line else ""
    others = f", and {len(shown) - 1} more" if len(shown) > 1 else ""
    data = {"codes": sorted({item.code for item in shown}), "places": len(shown)}
    return replace(check, message=f"{first.code}{place}{others}", data=data)


def _case(case: CaseResult) -> CaseResult:
    if not case.hidden:
        return case
    return CaseResult(CASE_TITLE, CASE_TITLE, "", case.status, hidden=True)


def _gpu(run: GpuRun, hidden: set[str]) -> GpuRun:
    """Its sentence names no hidden case."""
    shown = {
        name: tuple(case for case in getattr(run, name) if case not in hidden)
        for name in ("cases", "differing")
    }
    return replace(run, identical=0, **shown)


def _is_of(kernel: Kernel, hidden: set[str]) -> bool:
    return kernel.case in hidden
