"""What a student may see of a result: everything but the data of what is hidden.

Hidden are checks (`hidden = true` in lab.toml), of which title, status and points remain, and
cases, of which only remains whether they pass. The seed is hidden too: with it a student could
make the data of every case. Writers of formats that students read begin here.
"""

from __future__ import annotations

from dataclasses import replace

from grader.result import CaseResult, CheckResult, Diagnostic, Kernel, Result

CASE_TITLE = "a hidden case"
_OF_CHECK = "What this check found is not shown."
_OF_DIAGNOSTIC = "It happens in a hidden case, whose data are not shown."
# Codes whose advice speaks of places in P: "the last 3 columns (157..159)".
_OF_VALUES = ("wrong-result", "low-precision")


def for_students(result: Result) -> Result:
    """The same result without what is hidden."""
    hidden = {case.id for case in result.cases if case.hidden}
    return replace(
        result,
        seed=0,
        checks=tuple(_check(item, hidden) for item in result.checks),
        diagnostics=tuple(_diagnostic(item, hidden) for item in result.diagnostics),
        cases=tuple(_case(item) for item in result.cases),
        kernels=tuple(item for item in result.kernels if not _is_of(item, hidden)),
        per_step={} if any(_is_of(item, hidden) for item in result.kernels) else result.per_step,
    )


def _check(check: CheckResult, hidden: set[str]) -> CheckResult:
    if check.hidden:
        return replace(check, message="" if check.status == "passed" else _OF_CHECK, data={})
    data = dict(check.data)
    if data.get("case") in hidden:  # a count or a time of a hidden size
        data = {}
    if "failed_cases" in data:
        data["failed_cases"] = [name for name in data["failed_cases"] if name not in hidden]
    return replace(check, data=data)


def _diagnostic(item: Diagnostic, hidden: set[str]) -> Diagnostic:
    """As it is if a case that is shown has it too: then its numbers are of that case."""
    shown = tuple(name for name in item.cases if name not in hidden)
    if shown or not item.cases:
        return replace(item, cases=shown)
    advice = "" if item.code in _OF_VALUES else item.advice
    return replace(
        item, message=_OF_DIAGNOSTIC, advice=advice, block=None, thread=None, count=1, cases=()
    )


def _case(case: CaseResult) -> CaseResult:
    if not case.hidden:
        return case
    return CaseResult(CASE_TITLE, CASE_TITLE, "", case.status, hidden=True)


def _is_of(kernel: Kernel, hidden: set[str]) -> bool:
    return kernel.case in hidden
