"""Grading as several commands do it: how, and one lab from its file to its result."""

from __future__ import annotations

from pathlib import Path

from grader.commands import terminal
from grader.errors import GraderError, SubmissionError, UsageError
from grader.labs import submission
from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.options import DEFAULT_DEVICE, DEFAULT_SEED, Options
from grader.machine import gpu
from grader.machine.toolchain import capability
from grader.results.result import Result
from grader.student import last, progress


def options_for(course: Course, backend: str, device: str | None, seed: int | None) -> Options:
    """How to grade, as the command-line options of these names ask for."""
    found = None if backend == "sim" else gpu.find_gpu()
    if backend in ("gpu", "both") and found is None:
        raise GraderError(
            "No usable GPU was found here: use --backend sim, or see `grader doctor`."
        )
    if backend == "auto":
        backend = "both" if found else "sim"
    seed = DEFAULT_SEED if seed is None else seed
    if backend == "gpu":
        device = device or gpu.device_file_for(course, found, DEFAULT_DEVICE)
        return Options(backend, device, seed, found.capability)
    device = device or DEFAULT_DEVICE  # also on both: the simulator judges as it does anywhere
    return Options(backend, device, seed, capability(course, device))


def grade_one(
    course: Course, folder: Path, given: Path | None, options: Options, *, one: bool
) -> Result:
    """One lab. With several, a file that cannot be read costs that lab its points, no more."""
    from grader.pipeline import begun, grade

    lab = load_lab(folder)
    place = submission.find(course, lab, given, explicit_lab=one)
    if isinstance(place, submission.Missing):
        return begun.missing(lab, place.shown, options)
    try:
        handed_in = submission.read(place)
    except SubmissionError as error:
        if one:
            raise
        from grader.pipeline import conclude

        return conclude.unreadable(lab, submission.shorten(place), options, str(error))
    with terminal.status_line(lab.id) as say:
        result = grade.grade(course, lab, handed_in, options, say)
    if given is None:
        result = progress.follow_up(course, result)
        progress.remember(course, result, handed_in.content)
        if result.status != "error":
            last.keep(course, result, handed_in.content)
    return result


def last_of(course: Course, folder: Path) -> Result | None:
    """The report of the working copy as it is now, if it has been graded."""
    try:
        handed_in = submission.read(course.working_copy(folder.name) / submission.FILE_NAME)
    except SubmissionError:
        return None
    return last.find(course, folder.name, handed_in.content)


def folders_of(course: Course, lab: str) -> list[Path]:
    """The folders of labs: "02", "01,02,05" in any order, or "all"; each once, in order."""
    if lab != "all":
        names = {course.lab_folder(part.strip()).name for part in lab.split(",") if part.strip()}
        if not names:
            raise UsageError(f"'{lab}' names no lab: write for example 02, or 01,02.")
        return [course.folder(name) for name in sorted(names)]
    folders = [course.folder(name) for name in course.handed_out()]
    return folders or [course.lab_folder("all")]
