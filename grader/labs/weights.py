"""How much a lab counts in a course: points other than the 100 that every lab has.

`--weights 01=10,02=20` gives lab 01 ten points and lab 02 twenty; labs that are not named keep 100.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from grader.errors import UsageError
from grader.labs.course import Course
from grader.results.result import CheckResult, Result


def parse(text: str, course: Course) -> dict[str, float]:
    """Points by folder name of the lab. Raises UsageError for anything but LAB=POINTS,..."""
    weights: dict[str, float] = {}
    for part in text.split(",") if text else ():
        lab, separator, points = part.partition("=")
        value = _number(points)
        if not separator or value is None:
            raise UsageError(
                f"'{part}' is not LAB=POINTS: write for example --weights 01=10,02=20."
            )
        weights[course.lab_folder(lab.strip()).name] = value
    return weights


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


def weigh(result: Result, weights: Mapping[str, float]) -> Result:
    """The result with all its points scaled to the lab's weight, in hundredths that add up."""
    points = weights.get(result.lab)
    if points is None or not result.max_score or points == result.max_score:
        return result
    factor = points / result.max_score
    checks = _scaled(result.checks, factor)
    score = None if result.score is None else round(result.score * factor, 2)
    if checks and score is not None:
        score = round(sum(check.score for check in checks), 2)
    return replace(result, checks=checks, score=score, max_score=points)


def _scaled(checks: tuple[CheckResult, ...], factor: float) -> tuple[CheckResult, ...]:
    """Checks whose points add up to the lab's: what rounding takes from one the next one gets."""
    scaled = []
    before = 0.0
    for check in checks:
        after = before + check.max_score
        most = round(round(after * factor, 2) - round(before * factor, 2), 2)
        full = check.score == check.max_score
        score = most if full else min(most, round(check.score * factor, 2))
        scaled.append(replace(check, score=score, max_score=most))
        before = after
    return tuple(scaled)
