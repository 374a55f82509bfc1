"""Thresholds of time for a GPU: what the reference's own noise allows, what slower kernels demand.

The timed check of a lab gives all its points up to `full` times the reference's time. On a given
GPU that is a good number if the reference itself always stays below it, noise included, and if
kernels that miss the lesson stay above it. So both are measured, with the grader's own timing, and
`full` is proposed in the gap between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderError, StepError
from grader.labs import submission
from grader.labs.course import Course
from grader.labs.lab import Check, Lab, load_lab
from grader.labs.options import Options
from grader.pipeline import grade
from grader.results.result import Result

# What another right kernel may cost where nothing slower forces a tighter bound.
GENEROUS = 1.15
# The proposed bound keeps this many times the measured noise above the reference.
NOISE_MARGIN = 3.0


class NotTimedError(GraderError):
    """A file gave no time, as a rule because it is not right."""


@dataclass(frozen=True)
class Measured:
    """One file timed against the reference: the ratio's median and its 95% interval."""

    name: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """What was measured for one lab and what follows from it."""

    lab: str
    gpu: str
    check: Check
    reference: tuple[Measured, ...]  # the solution against itself, one entry a run
    slower: tuple[Measured, ...]
    full: float | None  # the proposed threshold; None: the measurements leave no gap
    reason: str


def calibrate(
    course: Course,
    lab_folder: Path,
    options: Options,
    gpu: str,
    repeats: int,
    slower: list[Path],
    say: Callable[[str], None],
) -> Calibration:
    """Times the lab's solution `repeats` times and every slower file once, on the GPU.

    slower: files; empty: the solution of the lab before, if it has the same signature.
    Raises GraderError if the lab has no timed check, or if the solution or a file of `slower` is not
    right; the lab before is left out then.
    """
    lab = load_lab(lab_folder)
    check = next((check for check in lab.checks_for("gpu") if check.kind == "time"), None)
    if check is None:
        raise StepError(f"{lab.name} has no check of kind time: there is nothing to calibrate.")
    solution = course.solutions / lab.name / submission.FILE_NAME
    reference = []
    for run in range(repeats):
        say(f"{lab.name}: the solution against itself, {run + 1} of {repeats}")
        reference.append(_measure(course, lab, options, check, solution, "solution"))
    others = []
    for path in slower or _lab_before(course, lab):
        name = path.parent.name if path.name == submission.FILE_NAME else path.name
        say(f"{lab.name}: {name}")
        try:
            others.append(_measure(course, lab, options, check, path, name))
        except NotTimedError as error:
            if slower:  # asked for by name
                raise
            # The lab before is often not right here, which tells the two apart without a clock.
            say(str(error))
    full, reason = propose(reference, others)
    return Calibration(lab.name, gpu, check, tuple(reference), tuple(others), full, reason)


def propose(reference: list[Measured], slower: list[Measured]) -> tuple[float | None, str]:
    """The threshold `full` for these measurements and why; None where they leave no room."""
    noise = max(measured.high for measured in reference) - 1
    lowest = 1 + max(NOISE_MARGIN * noise, 0.01)
    # Two decimals, rounded up: the bound never falls below what the noise asks for.
    lowest = math.ceil(round(lowest * 100, 6)) / 100
    told = f"the solution's own ratio reaches {1 + noise:.3f}, so full is at least {lowest:.2f}"
    if not slower:
        return max(GENEROUS, lowest), f"{told}; nothing slower was measured"
    nearest = min(slower, key=lambda measured: measured.low)
    told += f"; {nearest.name} takes {nearest.low:.3f} times the reference's time or more"
    if nearest.low <= lowest:
        return None, f"{told}: no threshold tells the two apart on this GPU"
    middle = math.floor(math.sqrt(lowest * nearest.low) * 100) / 100
    return max(lowest, min(GENEROUS, middle)), told


def share(check: Check, full: float, ratio: float) -> float:
    """The share of the check's points that a ratio gives with the threshold `full`."""
    return min(1.0, max(0.0, (check.none - ratio) / (check.none - full)))


def render(calibration: Calibration) -> str:
    """The calibration as text: measurements, the proposal, and what it would change."""
    check = calibration.check
    lines = [
        f"{calibration.lab} on {calibration.gpu}: full = {check.full:g}, none = {check.none:g} now",
        "",
    ]
    rows = [*calibration.reference, *calibration.slower]
    width = max(len(measured.name) for measured in rows)
    for measured in rows:
        now = check.points * share(check, check.full, measured.ratio)
        line = (
            f"  {measured.name:<{width}}  {measured.ratio:6.3f} times the reference"
            f" ({measured.low:.3f} to {measured.high:.3f})"
            f"   {now:4.1f} of {check.points:g} points now"
        )
        if calibration.full is not None:
            then = check.points * share(check, calibration.full, measured.ratio)
            line += f", {then:4.1f} proposed"
        lines.append(line)
    lines.append("")
    proposal = (
        "no change proposed"
        if calibration.full is None
        else f"proposed: full = {calibration.full:.2f}"
    )
    lines.append(f"  {proposal}: {calibration.reason}.")
    return "\n".join(lines) + "\n"


def _lab_before(course: Course, lab: Lab) -> list[Path]:
    names = course.lab_names()
    at = names.index(lab.name)
    if at == 0:
        return []
    before = load_lab(course.labs / names[at - 1])
    path = course.solutions / before.name / submission.FILE_NAME
    return [path] if before.signature == lab.signature and path.is_file() else []


def _measure(
    course: Course, lab: Lab, options: Options, check: Check, path: Path, name: str
) -> Measured:
    place = submission.find(course, lab, path, explicit_lab=True)
    result = grade.grade(course, lab, submission.read(place), options)
    numbers = _ratio(result, check)
    if numbers is None:
        why = result.message or "; ".join(c.message for c in result.checks if c.status == "failed")
        raise NotTimedError(f"{lab.name}: {name} ({path}) could not be timed: {why}")
    return Measured(name, *numbers)


def _ratio(result: Result, check: Check) -> tuple[float, float, float] | None:
    for found in result.checks:
        if found.id == check.id and "ratio" in found.data:
            return tuple(found.data[key] for key in ("ratio", "ratio_low", "ratio_high"))
    return None
