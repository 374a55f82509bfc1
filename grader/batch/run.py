"""A whole batch, from the export to the gradebook.

What is already in the store is not graded again, and everything for people is written from the
store at the end, in a fixed order: it does not matter how often the batch was stopped on the way.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from grader import sandbox, writers
from grader.batch import (
    changed,
    feedback,
    gradebook,
    history,
    intake,
    local,
    memory,
    runs,
    similarity,
    summary,
    times,
)
from grader.batch.credit import Rules, unused
from grader.batch.gradebook import Row
from grader.batch.intake import ClassFolder, Submission
from grader.batch.local import Attempt, Done, Setting
from grader.batch.names import Student, sort_key
from grader.batch.roster import Roster, read_roster
from grader.batch.store import GradedUnit, Store, write
from grader.batch.units import Fingerprint, Unit, fingerprint
from grader.batch.worker import BatchCourse
from grader.errors import UsageError
from grader.labs.course import Course
from grader.labs.lab import FULL_POINTS, Lab
from grader.labs.options import Options
from grader.labs.term import Term
from grader.labs.weights import weigh
from grader.machine.toolchain import Toolchain, find_toolchain
from grader.pipeline import begun, conclude
from grader.results import stored
from grader.results.result import Result
from grader.text import lab_number

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
    rules: Rules = field(default_factory=lambda: Rules(Term()))
    times: Path | None = None  # when each student handed in
    only: str = ""  # grade this student alone
    show_jobs: int = 0  # pages of kernels made at a time; 0: none are made


def grade_class(course: Course, request: Request, progress: Progress) -> summary.Facts:
    """Grades the class into request.output. Raises GraderError if it cannot be begun."""
    start = time.monotonic()
    _check_places(request)
    roster = read_roster(request.roster) if request.roster else None
    request = _held_against(request, roster, progress)
    store = Store(request.output.absolute())
    toolchain = find_toolchain(course)
    with store.opened():
        progress.say("reading the export")
        names = [lab.name for lab in request.labs]
        usernames = roster.usernames if roster else ()
        nobody = [student.identity for student in roster.no_students] if roster else ()
        handed_in = intake.read_class(request.export, names, store.unpacked, usernames, nobody)
        prints = fingerprint(course, toolchain, request.labs, request.options)
        setting = Setting(course, store, request.options, request.seconds, request.memory_bytes)
        book = _Book(request, setting, handed_in, prints, roster)
        last = store.last_fingerprint()
        changes = prints.changes(last) if last and book.pending else []
        if changes:
            progress.say(f"changed since the last run: {', '.join(changes)}")
        graded_now = len(book.pending)
        with memory.watched() as peak:
            retried = book.grade(progress)
            book.show(progress)
        if book.left:
            progress.say(
                f"{len(book.left)} other files are not graded yet: no gradebook is written"
            )
            return _facts_of_one(request, handed_in, book, toolchain.version)
        rows = book.rows()
        _check_adjustments(request, rows)
        before = changed.read(_text_of(store.output / "gradebook.csv"))
        _write_gradebooks(request, store, handed_in.platform, rows, roster)
        now = changed.read(_text_of(store.output / "gradebook.csv"))
        moved = changed.changes(before, now)
        _write_feedback(store, handed_in.platform, rows, book.links)
        history.remember(store.state, rows, book.graded_labs)
        similar = _similarity(request, store, handed_in, setting, toolchain, progress)
        facts = summary.Facts(
            platform=handed_in.platform,
            labs=tuple(names),
            rows=rows,
            settings=_settings(request, toolchain.version),
            spent=book.spent(),
            graded_now=graded_now,
            retried=tuple(retried),
            changes=tuple(changes),
            moved=tuple(moved),
            ignored=handed_in.ignored,
            wall_seconds=time.monotonic() - start,
            peak_bytes=peak.bytes if request.executor_name == "local" else 0,
            similarity=similar,
        )
        write(store.output / "summary.json", _json(summary.to_dict(facts)))
        write(store.output / "summary.md", summary.markdown(facts).encode(errors="replace"))
        store.remember(prints)
    return facts


def _held_against(request: Request, roster: Roster | None, progress: Progress) -> Request:
    """With the assignment as the platform calls it, and points that add up to the platform's."""
    if roster is None:
        return request
    assignment = roster.assignment(request.assignment)
    request = replace(request, assignment=assignment)
    most = roster.maximum(assignment)
    if not most:
        return request
    names = [lab.name for lab in request.labs]
    ours = round(sum(request.weights.get(name, FULL_POINTS) for name in names), 2)
    if ours == most:
        return request
    if len(names) == 1 and not request.weights:
        progress.say(f"{names[0]} counts {most:g} points, as the platform's list says")
        return replace(request, weights={names[0]: most})
    example = ",".join(f"{lab_number(name)}={most / len(names):.4g}" for name in names)
    raise UsageError(
        f"The platform gives at most {most:g} points, and the labs' points add up to {ours:g}:"
        f" write for example --weights {example}, or change course.toml."
    )


def _check_adjustments(request: Request, rows: Sequence[Row]) -> None:
    everyone = [(row.key, row.student) for row in rows]
    labs = [lab.name for lab in request.labs]
    names = unused(request.rules.adjustments, everyone, labs)
    if names:
        raise UsageError(
            f"An adjustment is about '{names[0]}', who is not in this class: write the gradebook's"
            " `student`, or an id of the platform."
        )


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _write_feedback(
    store: Store, platform: str, rows: Sequence[Row], links: Mapping[str, Mapping[str, str]]
) -> None:
    """What the platform takes back as one zip, if it takes any."""
    path = store.output / f"feedback-{platform}.zip"
    folder = store.output / "feedback"
    pages = [
        entry
        for row in rows
        if (name := feedback.name_of(row.student, row.source))
        and (folder / f"{row.key}.html").is_file()
        for entry in feedback.of_student(name, folder, row.key, links.get(row.key, {}))
    ]
    if pages:
        write(path, feedback.packed(pages))
    else:
        path.unlink(missing_ok=True)


def _check_places(request: Request) -> None:
    export, output = request.export.resolve(), request.output.resolve()
    if export == output or export in output.parents or output in export.parents:
        raise UsageError(
            f"{request.output} and {request.export} lie in each other: choose another --output."
        )


class _Book:
    """The class while it is graded: whose units are done, and what came of them."""

    def __init__(
        self,
        request: Request,
        setting: Setting,
        handed_in: ClassFolder,
        prints: Fingerprint,
        roster: Roster | None,
    ) -> None:
        zone = request.rules.term.zone
        self.roster = roster
        self.given_times = times.read_times(request.times, zone) if request.times else {}
        self.listed_times = times.of_roster(roster, zone)
        self.request = request
        self.setting = setting
        self.handed_in = handed_in
        self.units: dict[str, Unit] = {}
        self.students: dict[str, list[str]] = {}  # unit's key -> students' keys
        self.keys: dict[tuple[str, str], str] = {}  # student's key, lab -> unit's key
        self.records: dict[str, GradedUnit] = {}
        self.failures: dict[str, str] = {}  # unit's key -> why it has no result
        self.links: dict[str, dict[str, str]] = {}  # student's key -> lab -> page of the kernel
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
        self.left: list[Unit] = []  # what --only leaves for later
        if request.only:
            wanted = self._only(request.only)
            mine = [unit for unit in self.pending if wanted in self.students[unit.key]]
            self.left = [unit for unit in self.pending if wanted not in self.students[unit.key]]
            self.pending = mine

    def _only(self, text: str) -> str:
        """The key of the student whom --only names."""
        found = [
            one.key
            for one in self.handed_in.submissions
            if text.casefold()
            in {
                name.casefold()
                for name in (
                    one.key, one.student.name, *one.student.ids.values(), self._name(one.student)
                )
            }
        ]  # fmt: skip
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"--only '{text}' is more than one: {', '.join(found)}.")
        raise UsageError(
            f"--only '{text}' handed nothing in: write a file name of results/, or an id."
        )

    def _name(self, student: Student) -> str:
        return self.roster.named(student) if self.roster else student.name

    def _submitted(self, one: Submission) -> datetime | None:
        zone = self.request.rules.term.zone
        found = times.of_student(one.key, one.student, self.given_times, self.listed_times)
        found = found or times.instant(one.submitted, zone)
        return found.astimezone(zone) if found else None

    @property
    def graded_labs(self) -> tuple[str, ...]:
        return tuple(lab.name for lab in self.request.labs)

    def grade(self, progress: Progress) -> list[str]:
        """Grades what is pending; names what was tried twice, since it failed at first."""
        for unit in self.pending:
            self.setting.store.put_content(unit)
        for submission in self.handed_in.submissions:
            self._write_if_complete(submission)
        again: dict[str, str] = {}

        def first(unit: Unit, attempt: Attempt) -> None:
            if attempt.final:
                self._keep(unit, attempt)
            else:
                again[unit.key] = attempt.failure
            progress.advance(self._describe(unit))

        def second(unit: Unit, attempt: Attempt) -> None:
            self._keep(unit, attempt)
            progress.advance(self._describe(unit))

        progress.begin(len(self.pending))
        self.request.executor(self.setting, self.pending, first)
        if again:
            progress.say(f"trying {len(again)} again that could not be graded")
            progress.begin(len(again))
            self.request.executor(self.setting, [self.units[key] for key in sorted(again)], second)
        return [f"{self._describe(self.units[key])}: {again[key]}" for key in sorted(again)]

    def show(self, progress: Progress) -> None:
        """Makes the pages in which kernels run, and links to them, if they are wanted."""
        if self.request.show_jobs:
            found = [
                (self.units[key], stored.from_dict(record.result))
                for key, record in sorted(self.records.items())
            ]
            progress.say("making the pages in which kernels run")
            runs.make_missing(self.setting, found, self.request.show_jobs, progress)
        for one in self.handed_in.submissions:
            units = {lab: key for (student, lab), key in self.keys.items() if student == one.key}
            if self.request.show_jobs:
                self.links[one.key] = runs.place(self.setting.store, one.key, units)
            self._write_if_complete(one)
        runs.remove_but(self.setting.store, self.links)

    def _describe(self, unit: Unit) -> str:
        names = self.students[unit.key]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{unit.lab} of {names[0]}{more}"

    def _keep(self, unit: Unit, attempt: Attempt) -> None:
        if attempt.record is None:
            self.failures[unit.key] = attempt.failure
        else:
            self.records[unit.key] = attempt.record
            self.setting.store.save(unit.key, attempt.record)
        for submission in self.handed_in.submissions:
            if submission.key in self.students[unit.key]:
                self._write_if_complete(submission)

    def _write_if_complete(self, submission: Submission) -> None:
        units = [key for (student, _), key in self.keys.items() if student == submission.key]
        if all(key in self.records or key in self.failures for key in units):
            results = self._results(submission)
            for folder, form in self.setting.store.forms.items():
                links = self.links.get(submission.key, {})
                style = writers.Style(whose=self._whose(submission), runs=links)
                text = self._rendered(form, results, style)
                write(folder / f"{submission.key}.{form}", text)

    def _whose(self, one: Submission) -> tuple[str, ...]:
        """What stands above a student's page: the name, when, and which files."""
        when = self._submitted(one)
        lines = [self._name(one.student)]
        lines += [f"handed in {when:%Y-%m-%d %H:%M %Z}"] if when else []
        lines += [
            f"{handed.shown}: SHA-256 {hashlib.sha256(handed.content).hexdigest()}"
            for _, handed in sorted(one.files.items())
            if not handed.problem
        ]
        return tuple(lines)

    def _rendered(self, form: str, results: Sequence[Result], style: writers.Style) -> bytes:
        """What a student's file holds. A result that cannot be written costs this student alone."""
        one = len(self.request.labs) == 1
        try:
            text = writers.render(form, results, one=one, style=style)
        except Exception as error:
            message = f"This result cannot be written as {form} ({type(error).__name__})."
            bare = [self._failed(result.lab, result.submission, message) for result in results]
            text = writers.render(form, bare, one=one, style=writers.Style())
        return text.encode("utf-8", errors="replace")

    def _results(self, submission: Submission) -> tuple[Result, ...]:
        """One a lab. What nobody has thought of is the result of this student alone."""
        found = []
        for lab in self.request.labs:
            try:
                found.append(self._result(submission, lab))
            except Exception as error:
                message = f"This result cannot be read ({type(error).__name__})."
                found.append(self._failed(lab.name, f"{lab.name}/matmul.cu", message))
        return tuple(found)

    def _failed(self, lab: str, shown: str, message: str) -> Result:
        """No score, since the grader failed on it."""
        found = next(one for one in self.request.labs if one.name == lab)
        base = begun.blank(found, shown, self.request.options)
        return replace(base, status="error", score=None, message=message)

    def _result(self, submission: Submission, lab: Lab) -> Result:
        options = self.request.options
        handed = submission.files.get(lab.name)
        key = self.keys.get((submission.key, lab.name))
        if submission.problem:
            result = conclude.unreadable(lab, submission.source, options, submission.problem)
        elif handed is None:
            result = begun.missing(lab, f"{lab.name}/matmul.cu", options)
        elif handed.problem:
            result = conclude.unreadable(lab, handed.shown, options, handed.problem)
        elif key in self.records:
            result = stored.from_dict(self.records[key].result)
            result = replace(result, submission=handed.shown)
        else:
            base = begun.blank(lab, handed.shown, options)
            result = replace(base, status="error", score=None, message=self.failures[key])
        return weigh(replace(result, sandbox=sandbox.kind()), self.request.weights)

    def rows(self) -> list[Row]:
        """Of all students, with those of the roster who handed nothing in."""
        rows = [self._row(one) for one in self.handed_in.submissions]
        here = {name for row in rows for name in row.student.known_as}
        absent = [
            item.student
            for item in (self.roster.listed if self.roster else ())
            if not item.student.known_as & here
        ]
        keys = intake.file_keys(absent, [row.key for row in rows])
        rows += [self._absent_row(key, one) for key, one in zip(keys, absent, strict=True)]
        self.setting.store.remove_results_but({one.key for one in self.handed_in.submissions})
        return sorted(rows, key=lambda row: (sort_key(row.student.name), sort_key(row.key)))

    def _row(self, one: Submission) -> Row:
        results = self._results(one)
        when = self._submitted(one)
        student = self.roster.known(one.student) if self.roster else one.student
        rules = self.request.rules
        credits = tuple(
            rules.credit(one.key, student, result, when, one.late)
            for result in results
            if rules.change_anything
        )
        return Row(
            one.key,
            student,
            results,
            one.source,
            one.late or any(credit.days_late for credit in credits),
            one.problem,
            one.notes,
            () if one.problem else self._absent(one),
            when.isoformat(timespec="seconds") if when else "",
            credits,
        )

    def _absent_row(self, key: str, student: Student) -> Row:
        """Somebody who handed nothing in; what was decided about them counts all the same."""
        rules = self.request.rules
        credits = []
        for lab in self.request.labs:
            most = self.request.weights.get(lab.name, FULL_POINTS)
            nothing = replace(
                begun.missing(lab, lab.name, self.request.options), score=None, max_score=most
            )
            credits.append(rules.credit(key, student, nothing, None, False))
        decided = any(credit.remark for credit in credits)
        return Row(key, student, (), credits=tuple(credits) if decided else ())

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
    request: Request,
    store: Store,
    handed_in: ClassFolder,
    setting: Setting,
    toolchain: Toolchain,
    progress: Progress,
) -> str:
    """The page's file name, or "" if none was asked for."""
    if not request.similarity:
        for name in (similarity.REPORT, similarity.PAGE):
            (store.output / name).unlink(missing_ok=True)
        return ""
    progress.say("comparing the files with each other")
    course = BatchCourse(
        setting.course.root,
        setting.course.build,
        store.cache,
        given_programs=setting.course.given_programs,
    )
    names = [lab.name for lab in request.labs]
    everybody = handed_in.submissions
    similarity.report(course, store.output, toolchain, request.options, everybody, names)
    return similarity.PAGE


def _facts_of_one(
    request: Request, handed_in: ClassFolder, book: _Book, toolkit: str
) -> summary.Facts:
    """With --only, while others are not graded: of the one student."""
    wanted = book._only(request.only)
    rows = [book._row(one) for one in handed_in.submissions if one.key == wanted]
    names = tuple(lab.name for lab in request.labs)
    return summary.Facts(
        handed_in.platform, names, rows, _settings(request, toolkit), (), len(book.pending), ()
    )


def on_this_machine(jobs: int) -> Executor:
    """Grades `jobs` units at a time here."""
    return lambda setting, units, done: local.grade_all(setting, units, jobs, done)


def _json(fields: dict) -> bytes:
    import json

    return (json.dumps(fields, indent=2, ensure_ascii=False) + "\n").encode(errors="replace")
