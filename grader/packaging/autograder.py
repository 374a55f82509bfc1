"""Grading one submission where a platform runs the grader: all labs of a package, within a time.

Which file is which lab's is found as `grader batch` finds it. Labs are graded in order; one whose
turn would come after the time is up gets no points, and the message says so.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from grader.batch import choose
from grader.errors import SubmissionError
from grader.labs import submission
from grader.labs.course import Course
from grader.labs.lab import Lab, load_lab
from grader.labs.options import Options
from grader.labs.weights import weigh
from grader.packaging.package import Settings
from grader.pipeline import begun, conclude
from grader.results.result import Result


def grade_all(
    course: Course,
    settings: Settings,
    options: Options,
    place: Path,
    grade_lab: Callable[[Lab, submission.Submission], Result],
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> list[Result]:
    """A result for each lab of the package, with its weight. `say` is told about every lab."""
    start = clock()
    files, notes = choose.for_labs(choose.walk(place), settings.labs)
    for note in notes:
        say(note)
    results = []
    for name in settings.labs:
        lab = load_lab(course.folder(name))
        spent = clock() - start
        if spent > settings.seconds:
            result = _out_of_time(lab, options, settings.seconds)
        else:
            result = _grade(lab, options, files.get(name), grade_lab)
        score = "no score" if result.score is None else f"{result.score:g}"
        took = clock() - start - spent
        say(
            f"lab {lab.id}: {result.status}, {score} of {result.max_score:g} points, {took:.1f} s,"
            f" sandbox {result.sandbox}. {result.message}".rstrip()
        )
        results.append(weigh(result, settings.weights))
    return results


def _grade(
    lab: Lab,
    options: Options,
    file: choose.Candidate | None,
    grade_lab: Callable[[Lab, submission.Submission], Result],
) -> Result:
    if file is None:
        return begun.missing(lab, f"{lab.name}/{submission.FILE_NAME}", options)
    try:
        handed_in = submission.read(file.path)
    except SubmissionError as error:
        message = str(error).replace(submission.shorten(file.path), file.shown)
        return conclude.unreadable(lab, file.shown, options, message)
    return grade_lab(lab, replace(handed_in, shown=file.shown))


def _out_of_time(lab: Lab, options: Options, seconds: float) -> Result:
    message = (
        f"Not graded: the labs before it took all of the {seconds:g} seconds that a submission"
        " has. Mend those first."
    )
    return conclude.unreadable(lab, f"{lab.name}/{submission.FILE_NAME}", options, message)


def use_granted_processors(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Keeps this process and its children to as many processors as the container may use.

    A container with half a processor still sees all of its machine's; a process for each of them
    would need memory that is not there. Returns their number.
    """
    allowed = sorted(os.sched_getaffinity(0))
    granted = min(len(allowed), max(1, math.ceil(min(_quota(root), len(allowed)))))
    os.sched_setaffinity(0, allowed[:granted])
    return granted


def _quota(root: Path) -> float:
    """Processors that the control group grants; infinite if it sets no limit."""
    try:
        if (root / "cpu.max").is_file():  # version 2: "50000 100000" or "max 100000"
            quota, period = (root / "cpu.max").read_text().split()
        else:
            quota = (root / "cpu" / "cpu.cfs_quota_us").read_text()
            period = (root / "cpu" / "cpu.cfs_period_us").read_text()
        return float(quota) / float(period) if float(quota) > 0 else math.inf
    except (OSError, ValueError):  # "max", or no control group to be seen
        return math.inf
