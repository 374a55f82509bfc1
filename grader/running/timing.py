"""Time on a GPU: submission, reference solution and cuBLAS in turns, in one process of ours.

The executor does the timing (new data every round, outputs of random rounds verified, clocks
recorded) and writes "tilewise.comparison/1"; this module asks for it and reads it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import StepError
from grader.labs.course import Course
from grader.machine import gpu
from grader.running.execute import run_executor

SCHEMA = "tilewise.comparison/1"
ROUNDS = 30
# The executor begins no round after 20 seconds and ends after 80. Where one run takes as long as
# this, it is the submission that is slow if they do not suffice; else it may hang.
SLOW_SECONDS = 8.0
# A median whose 95% interval is wider than this cannot be graded where the width decides points.
WIDEST_INTERVAL = 0.2


@dataclass(frozen=True)
class Interval:
    """A median and the bounds of its 95% confidence interval."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Timing:
    """What the comparison says of a submission on one case."""

    status: str  # ok, or why it was not timed: fault | timeout | launch-config | ...
    message: str
    time_ms: Interval | None
    kernels_ms: dict[str, dict[str, float]]  # mangled name -> median, low, high
    ratio: Interval | None  # over the reference solution, round by round
    cublas_ratio: float | None
    wrong_rounds: int  # rounds whose output was looked at and was not right
    first_wrong: str
    floor_ms: float  # nothing is faster: all operations at the GPU's peak
    clocks: dict[str, Any]


def compare(
    course: Course,
    device: str,
    submission: Path,
    reference: Path | None,
    result: Path,
    factors: str = "float",
) -> Timing:
    """Times a plan against the reference's. Raises StepError if that fails on our side.

    `factors`: what M and N are to be rounded to (grader.labs.problem).
    """
    command: list[str | Path] = [
        "--backend", "gpu", "--device", device, "--plan", submission,
        "--rounds", str(ROUNDS), "--cublas", "--factors", factors, "--result", result,
    ]  # fmt: skip
    if reference is not None:
        command += ["--compare", f"reference={reference}"]
    with gpu.turn(alone=True):
        run_executor(course, command, "the comparison of times")
    try:
        return parse(json.loads(result.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StepError(f"The comparison of times cannot be read: {error!r}.") from None


def parse(fields: dict[str, Any]) -> Timing:
    """Raises StepError where it was not the submission that failed."""
    if fields.get("schema") != SCHEMA:
        raise StepError(f"The comparison has the schema {fields.get('schema')!r}, not {SCHEMA}.")
    contenders = fields["contenders"]
    for name, contender in contenders.items():
        if name not in ("submission", "cublas") and contender["status"] != "ok":
            raise StepError(f"The {name} solution was not timed: {contender['message']}")
    if "submission" not in contenders:
        raise StepError("The comparison has no time of the submission.")
    mine = contenders["submission"]
    ratios = fields["ratios"]
    return Timing(
        status=mine["status"],
        message=mine["message"],
        time_ms=_interval(mine["time_ms"]),
        kernels_ms={kernel["mangled"]: kernel["time_ms"] for kernel in mine["kernels"]},
        ratio=_interval(ratios.get("reference")),
        cublas_ratio=ratios["cublas"]["median"] if "cublas" in ratios else None,
        wrong_rounds=mine["verified"]["wrong"],
        first_wrong=mine["verified"]["first_wrong"],
        floor_ms=fields["floor_ms"],
        clocks=fields["clocks"],
    )


def _interval(fields: dict[str, float] | None) -> Interval | None:
    if fields is None:
        return None
    return Interval(fields["median"], fields["low"], fields["high"])
