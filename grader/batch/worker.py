"""Grades one unit, or makes its page, in a process of its own: `python -m grader.batch.worker JOB`.

What the submission does to the grader's process costs this unit alone. The result goes into the
store; the status is 0 if it is there, 3 with one sentence on standard error if it is not.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from grader import sandbox
from grader.batch.store import GradedUnit, Store, write
from grader.errors import ExitCode, GraderError
from grader.labs.course import Course, find_course
from grader.labs.lab import Lab, load_lab
from grader.labs.options import Options
from grader.labs.submission import FILE_NAME, Submission
from grader.results.result import Result, to_dict
from grader.sandbox.limits import StepLimits


@dataclass(frozen=True)
class BatchCourse(Course):
    """The course with a cache of the batch's own, whose scratch folders the batch may remove."""

    cache_folder: Path

    @property
    def cache(self) -> Path:
        return self.cache_folder


@dataclass(frozen=True)
class Job:
    """What a worker is told; as JSON on its command line."""

    output: str  # the batch's folder
    key: str
    lab: str  # folder name
    options: Options
    showing: bool = False  # make the page in which the kernel runs

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Job:
        fields = json.loads(text)
        given = fields["options"]
        options = Options(**{**given, "limits": StepLimits(**given["limits"])})
        return Job(**{**fields, "options": options})


def command(job: Job) -> list[str]:
    """How to start a worker."""
    return [sys.executable, "-m", "grader.batch.worker", job.to_json()]


def environment(course: Course) -> dict[str, str]:
    """For a worker: this process's own, and where the course and the grader are."""
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    places = {"TILEWISE_ROOT": str(course.root), "TILEWISE_BUILD": str(course.build)}
    return {**os.environ, **places, "PYTHONPATH": path, _PARENT: str(os.getpid())}


_PARENT = "TILEWISE_BATCH_PARENT"


def main() -> int:
    start = time.monotonic()
    _end_with_parent()
    job = Job.from_json(sys.argv[1])
    try:
        store = Store(Path(job.output))
        if job.showing:
            write(store.shown(job.key), _show(job))
        else:
            store.save(job.key, _grade(job, start))
    except GraderError as error:
        print(error, file=sys.stderr)
        return ExitCode.MACHINE
    except Exception as error:  # a defect of the grader
        print(f"internal error: {type(error).__name__}: {error}", file=sys.stderr)
        return ExitCode.MACHINE
    return ExitCode.FULL_MARKS


def _grade(job: Job, start: float) -> GradedUnit:
    from grader.pipeline.grade import grade

    result = grade(*_given(job), job.options)
    return GradedUnit(to_dict(without_times(result)), round(time.monotonic() - start, 3))


def _show(job: Job) -> bytes:
    from grader.show import make

    return make.for_student(*_given(job), job.options).encode()


def _given(job: Job) -> tuple[Course, Lab, Submission]:
    """What the job is about."""
    if os.environ.get(sandbox.SWITCH) != "none":  # on a cluster this is not the batch's machine
        sandbox.require()
    store = Store(Path(job.output))
    found = find_course()
    course = BatchCourse(found.root, found.build, store.cache, given_programs=found.given_programs)
    path = store.content(job.key)
    content = path.read_bytes()
    text = content.decode("utf-8", errors="replace")
    return course, load_lab(course.folder(job.lab)), Submission(path, FILE_NAME, text, content)


def without_times(result: Result) -> Result:
    """Nothing tells how busy the machine was: the same file has the same result."""
    return replace(
        result, seconds=0.0, cases=tuple(replace(case, seconds=0.0) for case in result.cases)
    )


def _end_with_parent() -> None:
    """If the batch is killed, this worker and what it started end too (on Linux)."""

    def end(_signal: int, _frame: object) -> None:
        os.killpg(0, signal.SIGKILL)

    parent = os.environ.pop(_PARENT, "")
    if not parent or os.getpgid(0) != os.getpid():  # not started by a batch in a group of its own
        return
    signal.signal(signal.SIGTERM, end)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
    if str(os.getppid()) != parent:  # it has just gone
        end(signal.SIGTERM, None)


if __name__ == "__main__":
    sys.exit(main())
