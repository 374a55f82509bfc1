"""What a lab bought: its counters beside those of the lab before, per step of a warp.

One step is 32 multiply-adds, one for each lane: so products of different sizes can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.labs.lab import Lab
from grader.results.result import Change, Result

# Counter -> what a reader calls it.
MEASURES = {
    "global_load_sectors": "sectors loaded from global memory",
    "shared_load_wavefronts": "wavefronts of shared loads",
    "bank_conflicts": "bank conflicts",
    "instructions": "instructions",
}
LANES = 32


def per_step(result: Result, lab: Lab) -> dict[str, float]:
    """The measures of the case that performance is judged by; {} if nothing was counted."""
    if not result.kernels or not lab.problem.is_product:
        return {}
    case = result.kernels[0].case  # with a GPU beside the simulator another one follows
    counted = [kernel.counters for kernel in result.kernels if kernel.case == case]
    multiply_adds = lab.case(case).work
    totals = {name: sum(counters.get(name, 0) for counters in counted) for name in MEASURES}
    if not any(totals.values()):
        return {}
    return {name: round(LANES * total / multiply_adds, 4) for name, total in totals.items()}


def with_changes(result: Result, before_lab: str, before: Mapping[str, float]) -> Result:
    """A passed result with what changed since the lab before, but for what is 0 in both."""
    if result.status != "passed" or not before or not result.per_step:
        return result
    changes = tuple(
        Change(name, title, before[name], result.per_step[name])
        for name, title in MEASURES.items()
        if name in before and name in result.per_step and (before[name] or result.per_step[name])
    )
    return replace(result, previous_lab=before_lab, changes=changes)
