"""Grading units on this machine: a worker process each, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace

from grader import sandbox
from grader.batch import worker
from grader.batch.store import GradedUnit, Store
from grader.batch.units import Unit
from grader.judging import rubric
from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.pipeline import begun
from grader.results.result import Diagnostic, to_dict

# Steps have their own limits of these; what a worker is held to would hold for them too.
_ADDRESS_BYTES = 1 << 46
_PROCESSES = 1 << 16


@dataclass(frozen=True)
class Setting:
    """What every unit of a batch is graded with."""

    course: Course
    store: Store
    options: Options
    seconds: float  # wall-clock limit of one unit
    memory_bytes: int  # of all processes of one unit together
    showing: bool = False  # not graded: the page in which the kernel runs is made


@dataclass(frozen=True)
class Attempt:
    """How an attempt at a unit ended: with a record, or with the reason why there is none."""

    record: GradedUnit | None
    failure: str = ""

    @property
    def final(self) -> bool:
        """Whether another attempt could not end differently, or only by chance."""
        if self.record is None or self.record.limit_seconds is not None:
            return False
        codes = {item["code"] for item in self.record.result["diagnostics"]}
        return self.record.result["status"] != "error" or "unsupported" in codes


Done = Callable[[Unit, Attempt], None]


def grade_all(setting: Setting, units: Iterable[Unit], jobs: int, done: Done) -> None:
    """Grades the units, `jobs` at a time; `done` is called from this thread."""
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        attempts = {pool.submit(attempt, setting, unit): unit for unit in units}
        for future in as_completed(attempts):
            done(attempts[future], future.result())
    finally:  # if it was interrupted, without waiting for what has begun
        pool.shutdown(wait=False, cancel_futures=True)


def attempt(setting: Setting, unit: Unit) -> Attempt:
    """Grades one unit in a worker. Whatever goes wrong is this unit's outcome."""
    try:
        return _attempt(setting, unit)
    except Exception as error:
        return Attempt(None, f"Grading failed ({type(error).__name__}).")


def _attempt(setting: Setting, unit: Unit) -> Attempt:
    job = worker.Job(
        str(setting.store.output), unit.key, unit.lab, setting.options, setting.showing
    )
    try:
        ended = sandbox.run(
            worker.command(job),
            limits=sandbox.Limits(
                seconds=setting.seconds,
                memory_bytes=setting.memory_bytes,
                address_bytes=_ADDRESS_BYTES,
                file_bytes=1 << 30,
                processes=_PROCESSES,
            ),
            env=worker.environment(setting.course),
        )
    except OSError as error:
        return Attempt(None, f"A worker could not be started: {error.strerror}.")
    if ended.exceeded:
        return Attempt(_stopped(setting, unit, ended), f"It took too much {ended.exceeded}.")
    return _attempt_of(setting, unit, ended)


def _attempt_of(setting: Setting, unit: Unit, ended: sandbox.Ended) -> Attempt:
    """What a worker that ended by itself left."""
    record = setting.store.load(unit.key, setting.seconds)
    if record is not None:
        return Attempt(record)
    failed = setting.store.load(unit.key, setting.seconds, error=True)
    if failed is not None:
        return Attempt(failed, failed.result["message"])
    lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
    how = f"signal {-ended.returncode}" if ended.returncode < 0 else f"status {ended.returncode}"
    return Attempt(None, lines[-1] if lines else f"The worker ended with {how} and said nothing.")


def _stopped(setting: Setting, unit: Unit, ended: sandbox.Ended) -> GradedUnit:
    """A submission whose grading does not end has no points, and the reason stands there."""
    lab = load_lab(setting.course.folder(unit.lab))
    message = f"Grading was stopped: it took too much {ended.exceeded}."
    found: tuple[Diagnostic, ...] = ()
    if ended.exceeded == "time":
        message = f"Grading was stopped after {setting.seconds:g} seconds, the limit for one file."
        found = (Diagnostic("timeout", "error", message),)
    elif ended.exceeded == "memory":
        message = f"Grading was stopped: it took more than {setting.memory_bytes >> 20} MiB."
    base = begun.blank(lab, "matmul.cu", setting.options)
    result = replace(
        base,
        message=message,
        sandbox=sandbox.kind(),
        checks=rubric.all_failed(lab, setting.options.backend, "Grading was stopped."),
        diagnostics=found,
    )
    return GradedUnit(to_dict(result), round(ended.seconds, 3), limit_seconds=setting.seconds)
