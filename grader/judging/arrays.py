"""Do the arrays hold what they must? For labs of any kernel; the product has numerics.py.

Held against the lab's own reference: |got - expected| <= bound for each element, written so that NaN
fails. Without a bound every element must be the reference, rounded to the array's type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from grader.judging import explain, judge, numerics
from grader.labs import source
from grader.labs.lab import Case
from grader.labs.reference import Reference
from grader.results.result import CaseResult, Diagnostic, Mismatch
from grader.running.execution import Execution


@dataclass(frozen=True)
class Wrong:
    """One wrong element."""

    array: str
    index: tuple[int, ...]
    got: float
    expected: float

    @property
    def element(self) -> str:
        return self.array + "".join(f"[{i}]" for i in self.index)


@dataclass(frozen=True)
class Compared:
    """All outputs of one case."""

    wrong: Mapping[str, int]  # array -> elements outside its bound; each output
    checked: Mapping[str, int]
    first: tuple[Wrong, ...]  # of the first wrong array
    is_exact: bool


def compare(
    case: Case,
    reference: Reference,
    given: Mapping[str, np.ndarray],
    left: Mapping[str, np.ndarray],
) -> Compared:
    """given: what solve was given; left: what its outputs hold, each of its shape."""
    expected = reference.expected(case.numbers, given)
    bounds = reference.bounds(case.numbers, given)
    wrong: dict[str, int] = {}
    checked: dict[str, int] = {}
    first: tuple[Wrong, ...] = ()
    for array in case.problem.outputs:
        got, should = left[array.name], expected[array.name]
        if bounds is None:
            should, limit = should.astype(got.dtype), np.zeros(got.shape)
        else:
            limit = bounds[array.name]
        mask = numerics.outside(got, should.astype(np.float64), limit)
        wrong[array.name], checked[array.name] = int(mask.sum()), int(got.size)
        if not first:
            first = tuple(
                Wrong(
                    array.name,
                    tuple(int(i) for i in index),
                    float(got[tuple(index)]),
                    float(should[tuple(index)]),
                )
                for index in np.argwhere(mask)[: numerics.SHOWN_MISMATCHES]
            )
    return Compared(wrong, checked, first, bounds is None)


def judge_case(
    case: Case,
    execution: Execution,
    context: explain.Context,
    left: Mapping[str, np.ndarray],
    given: Mapping[str, np.ndarray],
    reference: Reference,
) -> judge.Outcome:
    """A case of any other problem: its outputs as they were left, and what solve was given."""
    right: frozenset[str] = frozenset()

    def compared() -> tuple[CaseResult, Diagnostic | None, None]:
        nonlocal right
        found = compare(case, reference, given, left)
        right = frozenset(name for name, wrong in found.wrong.items() if not wrong)
        return _of_arrays(case, execution, found, context)

    outcome = judge.judged(case, execution, context, compared)
    is_own = not any(item.code == "host-computed" for item in outcome.diagnostics)
    reached: dict[str, frozenset[str]] = {}
    for kernel in execution.kernels if context.outputs_of else ():
        outputs = context.outputs_of.get(
            kernel.mangled, frozenset(found.name for found in case.problem.outputs)
        )
        reached[kernel.name] = reached.get(kernel.name, frozenset()) | outputs
    return replace(outcome, right=right if is_own else frozenset(), outputs_of=reached)


def _of_arrays(
    case: Case, execution: Execution, found: Compared, context: explain.Context
) -> tuple[CaseResult, Diagnostic | None, None]:
    bound = "exact" if found.is_exact else "sum"
    checked = sum(found.checked.values())
    if not found.first:
        result = judge.case_result(case, "passed", "", execution.seconds)
        return replace(result, checked=checked, bound=bound), None, None
    name = found.first[0].array
    mismatches = tuple(
        Mismatch(
            one.index[0] if len(one.index) == 2 else 0, one.index[-1], judge.number(one.got),
            judge.number(one.expected), one.element,
        )
        for one in found.first
    )  # fmt: skip
    message = judge.says_wrong(case, found.wrong[name], found.checked[name], mismatches[0], name)
    result = replace(
        judge.case_result(case, "failed", message, execution.seconds),
        bound=bound,
        wrong=sum(found.wrong.values()),
        checked=checked,
        mismatches=() if case.hidden else mismatches,
    )
    line, kernel = _storing_line(execution, context, name, len(found.wrong))
    line = line or _line_of(found.first[0], context.source)
    count = found.wrong[name]
    wrong = Diagnostic("wrong-result", "error", message, line=line, kernel=kernel, count=count)
    return result, wrong, None


def _storing_line(
    execution: Execution, context: explain.Context, name: str, outputs: int
) -> tuple[int, str]:
    """The only line that stores to the array, and its kernel; (0, "") where that is not certain.

    One line may store all that is stored, and none of it to the array that is wrong.
    """
    if outputs == 1:
        return judge.storing_line(execution)
    reached = {one.mangled: context.outputs_of.get(one.mangled) for one in execution.kernels}
    if None in reached.values():
        return 0, ""
    own = tuple(one for one in execution.kernels if name in reached[one.mangled])
    if any(reached[one.mangled] != {name} for one in own):
        return 0, ""
    return judge.storing_line(replace(execution, kernels=own))


def _line_of(wrong: Wrong, text: str) -> int:
    """The only statement that stores exactly this element, by a number for its index; else 0."""
    if len(wrong.index) != 1:
        return 0
    bare = source.without_comments(text)
    store = (
        rf"\b{re.escape(wrong.array)}\s{{0,9}}\[\s{{0,9}}{wrong.index[0]}\s{{0,9}}\]\s{{0,9}}=(?!=)"
    )
    found = [match.start() for match in re.finditer(store, bare)]
    return bare.count("\n", 0, found[0]) + 1 if len(found) == 1 else 0
