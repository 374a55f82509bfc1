"""Cases in which the search for a change tries a lab that is no product (judging/repair).

The search runs in a process of its own, which knows no lab: it gets what solve is given as numbers,
with what the lab's reference says of them. Hidden cases are not among them, since a report shows what
the search has found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grader.labs import data
from grader.labs.lab import Case
from grader.labs.reference import Reference

_MOST_ELEMENTS = 8192  # of all arrays of a case
_MOST_WORK = 1 << 19
_MOST_CASES = 6
_KIND = "uniform"  # values that differ, whatever the case has: an element may not pass for another
_SEED = 1
_MOST_HALVES = 8


def cases(
    reference: Reference, lab: Sequence[Case], wrong: Case | None
) -> list[list[dict | float]]:
    """The lab's small cases, each as the arguments of solve; `wrong` before the others."""
    small = [case for case in lab if not case.hidden and _is_small(case)]
    if wrong is not None and not wrong.hidden and wrong not in small:
        smaller = _smaller(wrong)
        if smaller is not None:
            wrong = smaller
            small.append(smaller)
    small.sort(key=lambda case: (wrong is None or case.id != wrong.id, case.work))
    return [_arguments(reference, case) for case in small[:_MOST_CASES]]


def _is_small(case: Case) -> bool:
    elements = sum(math.prod(shape) for shape in case.shapes.values())
    return elements <= _MOST_ELEMENTS and case.work <= _MOST_WORK


def _smaller(case: Case) -> Case | None:
    """The same in small: numbers halved until it is, as multiples of a block that they may be."""
    whole = dict(case.given)
    for _ in range(_MOST_HALVES):
        whole = {
            name: number if name in case.problem.floats or number % 2 else number // 2
            for name, number in whole.items()
        }
        smaller = replace(case, id=f"{case.id}-small", given=tuple(whole.items()))
        if _is_small(smaller):
            return smaller
    return None


def _arguments(reference: Reference, case: Case) -> list[dict | float]:
    problem = case.problem
    given = data.make_arrays(_KIND, problem, case.shapes, _SEED, case.id)
    expected = reference.expected(case.numbers, given)
    bounds = reference.bounds(case.numbers, given)
    found: list[dict | float] = []
    arrays = {array.name: array for array in problem.arrays}
    for name in problem.parameters:
        if name not in arrays:
            number = case.numbers[name]
            found.append(float(number) if name in problem.floats else int(number))
            continue
        array = arrays[name]
        found.append(
            {
                "name": name,
                "is_int": array.element == "int",
                "before": _numbers(given[name]) if array.is_given else None,
                "after": _numbers(expected[name]) if array.is_output else None,
                "bound": _numbers(bounds[name]) if bounds and array.is_output else None,
            }
        )
    return found


def _numbers(array: np.ndarray) -> list[float]:
    return np.asarray(array).ravel().tolist()
