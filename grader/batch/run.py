"""A whole batch, from the export to the gradebook.

What is already in the store is not graded again, and everything for people is written from the
store at the end, in a fixed order: it does not matter how often the batch was stopped on the way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from grader import conclude, sandbox, stored, writers
from grader.batch import gradebook, intake, local, memory, similarity, summary
from grader.batch.gradebook import Row
from grader.batch.intake import ClassFolder, Submission
from grader.batch.local import Done, Outcome, Setting
from grader.batch.roster import Roster, read_roster
from grader.batch.store import Record, Store, write
from grader.batch.units import Fingerprint, Unit, fingerprint
from grader.course import Course
from grader.errors import UsageError
from grader.lab import FULL_POINTS, Lab
from grader.options import Options
from grader.result import Result
from grader.toolchain import find_toolchain
from grader.weights import weigh

Executor = Callable[[Setting, Sequence[Unit], Done], None]


class Progress(Protocol):
    """How far it is, for people."""

    def say(self, text: str) -> None: ...
    def begin(self, total: int) -> None: ...
    def advance(self, what: str) -> None: ...


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    export: Path
    output: Path
    labs: tuple[Lab, ...]  # in order
    options: Options
    executor: Executor
    executor_name: str
    roster: Path | None = None
    assignment: str = ""  # the platform's name of it
    seconds: float = 300  # wall-clock limit of one file
    memory_bytes: int = 8 << 30  # of grading one file
    weights: dict[str, float] = field(default_factory=dict)  # points by lab folder name
    similarity: bool = False


def grade_class(course: Course, request: Request, progress: Progress) -> summary.Facts:
    """Grades the class into request.output. Raises GraderError if it cannot be begun."""
    start = time.monotonic()
    _check_places(request)
    roster = read_roster(request.roster) if request.roster else None
    store = Store(request.output.absolute())
    toolchain = find_toolchain(course)
    with store.opened():
        progress.say("reading the export")
        names = [lab.name for lab in request.labs]
        usernames = roster.usernames if roster else ()
        handed_in = intake.read_class(request.export, names, store.unpacked, usernames)
        prints = fingerprint(course, toolchain, request.labs, request.options)
        setting = Setting(course, store, request.options, request.seconds, request.memory_bytes)
        book = _Book(request, setting, handed_in, prints)
        before = store.last_fingerprint()
        changes = prints.changes(before) if before and book.pending else []
        if changes:
            progress.say(f"changed since the last run: {', '.join(changes)}")
        graded_now = len(book.pending)
        with memory.watched() as peak:
            retried = book.grade(progress)
        rows = book.rows(roster)
        _write_gradebooks(request, store, handed_in.platform, rows, roster)
        similar = _similarity(request, store, handed_in, course, progress)
        facts = summary.Facts(
            platform=handed_in.platform,
            labs=tuple(names),
            rows=rows,
            settings=_settings(request, toolchain.version),
            spent=book.spent(),
            graded_now=graded_now,
            retried=tuple(retried),
            changes=tuple(changes),
            ignored=handed_in.ignored,
            wall_seconds=time.monotonic() - start,
            peak_bytes=peak.bytes if request.executor_name == "local" else 0,
            similarity=similar,
        )
        write(store.output / "summary.json", _json(summary.to_dict(facts)))
        write(store.output / "summary.md", summary.markdown(facts).encode())
        store.remember(prints)
    return facts


def _check_places(request: Request) -> None:
    export, output = request.export.resolve(), request.output.resolve()
    if export == output or export in output.parents or output in export.parents:
        raise UsageError(
            f"{request.output} and {request.export} lie in each other: choose another --output."
        )


class _Book:
    """The class while it is graded: whose units are done, and what came of them."""

    def __init__(
        self, request: Request, setting: Setting, handed_in: ClassFolder, prints: Fingerprint
    ) -> None:
        self.request = request
        self.setting = setting
        self.handed_in = handed_in
        self.units: dict[str, Unit] = {}
        self.students: dict[str, list[str]] = {}  # unit's key -> students' keys
        self.keys: dict[tuple[str, str], str] = {}  # student's key, lab -> unit's key
        self.records: dict[str, Record] = {}
        self.failures: dict[str, str] = {}  # unit's key -> why it has no result
        for submission in handed_in.submissions:
            for lab, handed in submission.files.items():
                if not handed.problem:
                    unit = Unit(prints.key(lab, handed.content), lab, handed.content)
                    self.units[unit.key] = unit
                    self.students.setdefault(unit.key, []).append(submission.key)
                    self.keys[submission.key, lab] = unit.key
        for key in self.units:
            record = setting.store.load(key, setting.seconds)
            if record is not None:
                self.records[key] = record
        self.pending = sorted(unit for key, unit in self.units.items() if key not in self.records)

    def grade(self, progress: Progress) -> list[str]:
        """Grades what is pending; names what was tried twice, since it failed at first."""
        for unit in self.pending:
            self.setting.store.put_content(unit)
        for submission in self.handed_in.submissions:
            self._write_if_complete(submission)
        again: dict[str, str] = {}

        def first(unit: Unit, outcome: Outcome) -> None:
            if outcome.final:
                self._keep(unit, outcome)
            else:
                again[unit.key] = outcome.failure
            progress.advance(self._describe(unit))

        def second(unit: Unit, outcome: Outcome) -> None:
            self._keep(unit, outcome)
            progress.advance(self._describe(unit))

        progress.begin(len(self.pending))
        self.request.executor(self.setting, self.pending, first)
        if again:
            progress.say(f"trying {len(again)} again that could not be graded")
            progress.begin(len(again))
            self.request.executor(self.setting, [self.units[key] for key in sorted(again)], second)
        return [f"{self._describe(self.units[key])}: {again[key]}" for key in sorted(again)]

    def _describe(self, unit: Unit) -> str:
        names = self.students[unit.key]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{unit.lab} of {names[0]}{more}"

    def _keep(self, unit: Unit, outcome: Outcome) -> None:
        if outcome.record is None:
            self.failures[unit.key] = outcome.failure
        else:
            self.records[unit.key] = outcome.record
            self.setting.store.save(unit.key, outcome.record)
        for submission in self.handed_in.submissions:
            if submission.key in self.students[unit.key]:
                self._write_if_complete(submission)

    def _write_if_complete(self, submission: Submission) -> None:
        units = [key for (student, _), key in self.keys.items() if student == submission.key]
        if all(key in self.records or key in self.failures for key in units):
            results = self._results(submission)
            for folder, form in self.setting.store.forms.items():
                text = writers.render(
                    form, results, one=len(self.request.labs) == 1, style=writers.Style()
                )
                write(folder / f"{submission.key}.{form}", text.encode())

    def _results(self, submission: Submission) -> tuple[Result, ...]:
        return tuple(self._result(submission, lab) for lab in self.request.labs)

    def _result(self, submission: Submission, lab: Lab) -> Result:
        options = self.request.options
        handed = submission.files.get(lab.name)
        key = self.keys.get((submission.key, lab.name))
        if submission.problem:
            result = conclude.unreadable(lab, submission.source, options, submission.problem)
        elif handed is None:
            result = conclude.missing(lab, f"{lab.name}/matmul.cu", options)
        elif handed.problem:
            result = conclude.unreadable(lab, handed.shown, options, handed.problem)
        elif key in self.records:
            result = stored.from_dict(self.records[key].result)
            result = replace(result, submission=handed.shown)
        else:
            base = conclude.blank(lab, handed.shown, options)
            result = replace(base, status="error", score=None, message=self.failures[key])
        return weigh(replace(result, sandbox=sandbox.kind()), self.request.weights)

    def rows(self, roster: Roster | None) -> list[Row]:
        """Of all students, with those of the roster who handed nothing in."""
        rows = [
            Row(
                one.key, one.student, self._results(one), one.source, one.late, one.problem,
                one.notes, () if one.problem else self._absent(one),
            )
            for one in self.handed_in.submissions
        ]  # fmt: skip
        here = {name for row in rows for name in row.student.known_as}
        absent = [
            item.student
            for item in (roster.listed if roster else ())
            if not item.student.known_as & here
        ]
        keys = intake.file_keys([*(row.student for row in rows), *absent])[len(rows) :]
        rows += [Row(key, student, ()) for key, student in zip(keys, absent, strict=True)]
        self.setting.store.remove_results_but({one.key for one in self.handed_in.submissions})
        return sorted(rows, key=lambda row: row.key.casefold())

    def _absent(self, submission: Submission) -> tuple[str, ...]:
        return tuple(lab.name for lab in self.request.labs if lab.name not in submission.files)

    def spent(self) -> list[summary.Spent]:
        return [
            summary.Spent(unit.lab, tuple(self.students[key]), record.seconds)
            for key, unit in sorted(self.units.items())
            if (record := self.records.get(key)) is not None
        ]


def _write_gradebooks(
    request: Request, store: Store, platform: str, rows: Sequence[Row], roster: Roster | None
) -> None:
    names = tuple(lab.name for lab in request.labs)
    most = sum(request.weights.get(name, FULL_POINTS) for name in names)
    default = f"Tilewise {names[0]}" if len(names) == 1 else "Tilewise"
    heading = gradebook.Heading(names, request.assignment or default, most)
    write(store.output / "gradebook.csv", gradebook.plain(rows, heading).encode())
    for name, render in gradebook.OF_PLATFORM.items():
        path = store.output / f"gradebook-{name}.csv"
        own = [row for row in rows if row.student.platform == name]
        if name == platform:
            write(path, render(own, heading, roster).encode())
        else:
            path.unlink(missing_ok=True)


def _settings(request: Request, toolkit: str) -> dict[str, str]:
    return {
        "backend": request.options.backend,
        "device": request.options.device,
        "seed": str(request.options.seed),
        "toolkit": f"CUDA {toolkit}",
        "sandbox": sandbox.kind(),
        "executor": request.executor_name,
    }


def _similarity(
    request: Request, store: Store, handed_in: ClassFolder, course: Course, progress: Progress
) -> str:
    """The report's file name, or "" if none was asked for."""
    if not request.similarity:
        (store.output / similarity.REPORT).unlink(missing_ok=True)
        return ""
    progress.say("comparing the files with each other")
    return similarity.report(course, store.output, handed_in.submissions, request.labs)


def on_this_machine(jobs: int) -> Executor:
    """Grades `jobs` units at a time here."""
    return lambda setting, units, done: local.grade_all(setting, units, jobs, done)


def _json(fields: dict) -> bytes:
    import json

    return (json.dumps(fields, indent=2, ensure_ascii=False) + "\n").encode()
