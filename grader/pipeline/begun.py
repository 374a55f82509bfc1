"""Results of labs that nothing is known of yet, or that nobody has begun."""

from __future__ import annotations

from dataclasses import replace

from grader.labs import source
from grader.labs.lab import FULL_POINTS, Lab
from grader.labs.options import Options
from grader.results.result import Result


def blank(lab: Lab, shown: str, options: Options) -> Result:
    """A result without any finding yet."""
    return Result(
        lab=lab.name,
        title=lab.title,
        submission=shown,
        backend=options.backend,
        device=options.device,
        seed=options.seed,
        toolkit="",
        status="failed",
        score=0.0,
        max_score=float(FULL_POINTS),
    )


def not_started(base: Result, shown: str, regions: list[source.TodoRegion]) -> Result:
    """The skeleton as it was shipped."""
    first = regions[0]
    return replace(
        base,
        status="not_started",
        message="Not started: every TODO is still empty.",
        next_step=(
            f"open {shown} and begin with TODO({first.number}) at line {first.line}: {first.task}"
        ),
    )


def missing(lab: Lab, shown: str, options: Options) -> Result:
    """A tree of labs without a file for this lab."""
    base = blank(lab, shown, options)
    return replace(base, status="not_started", message=f"There is no {shown}.")
