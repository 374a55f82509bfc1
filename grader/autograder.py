"""Grading one submission where a platform runs the grader: all labs of a package, within a time.

The submission's folder may be laid out in several ways; `lab_file` lists them. Labs are graded in
order; one whose turn would come after the time is up gets no points, and the message says so.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from grader import conclude, submission
from grader.course import Course
from grader.errors import SubmissionError
from grader.lab import Lab, load_lab
from grader.options import Options
from grader.package import Settings
from grader.result import Result
from grader.weights import weigh

_WRAPPERS = 3  # folders around the labs, as zips and repositories have
_NOT_READ = (".git", "__MACOSX")


def lab_file(place: Path, lab: str, *, only: bool) -> Path | None:
    """A lab's matmul.cu in a submission; None if there is none.

    Looked for: LAB/matmul.cu, labs/LAB/matmul.cu; if it is the package's `only` lab also a
    matmul.cu by itself; each in the folder or in the only folder within it, three deep.
    """
    for folder in _folders(place):
        names = [f"{lab}/{submission.FILE_NAME}", f"labs/{lab}/{submission.FILE_NAME}"]
        for name in [*names, *([submission.FILE_NAME] if only else [])]:
            if os.path.lexists(folder / name):
                return folder / name
    return None


def _folders(place: Path) -> Iterator[Path]:
    """The folder, and while it holds nothing but one folder, that one."""
    yield place
    for _ in range(_WRAPPERS):
        inner = [path for path in place.iterdir() if path.name not in _NOT_READ]
        if len(inner) != 1 or inner[0].is_symlink() or not inner[0].is_dir():
            return
        place = inner[0]
        yield place


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
    results = []
    for name in settings.labs:
        lab = load_lab(course.labs / name)
        spent = clock() - start
        if spent > settings.seconds:
            result = _out_of_time(lab, options, settings.seconds)
        else:
            result = _grade(lab, options, settings, place, grade_lab)
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
    settings: Settings,
    place: Path,
    grade_lab: Callable[[Lab, submission.Submission], Result],
) -> Result:
    path = lab_file(place, lab.name, only=len(settings.labs) == 1)
    shown = f"{lab.name}/{submission.FILE_NAME}"
    if path is None:
        return conclude.missing(lab, shown, options)
    try:
        found = submission.read(path)
    except SubmissionError as error:
        message = str(error).replace(str(place) + "/", "")
        return conclude.unreadable(lab, shown, options, message)
    shown = str(path.relative_to(place))
    return grade_lab(lab, replace(found, shown=shown))


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
