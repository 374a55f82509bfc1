"""The class on one page: how far it is, which mistakes are common and where, who is stuck.

One HTML file that loads nothing and runs no script. The student edition names nobody and links to
nobody's feedback.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.batch import history
from grader.batch.gradebook import points
from grader.batch.termtable import Entry, Person, most_points
from grader.errors import GraderError
from grader.labs import source
from grader.labs.course import Course
from grader.labs.submission import FILE_NAME
from grader.labs.term import Term
from grader.results import stored
from grader.results.hidden import for_students
from grader.text import lab_row, lines_of

_BINS = 5
_SHOWN = 12  # places of a lab
_STUCK = timedelta(days=7)


@dataclass
class Place:
    """Findings of one code at one place of the skeleton."""

    code: str
    line: int
    text: str
    students: list[tuple[str, str]] = field(default_factory=list)  # name, link to the feedback


@dataclass(frozen=True)
class Stuck:
    """Somebody whose points have not changed for a week, and are not full."""

    name: str
    link: str
    score: float | None
    since: str
    days: int


@dataclass
class LabView:
    """What the page says of one lab."""

    lab: str
    title: str
    most: float
    handed_in: int = 0
    full: int = 0
    distribution: list[tuple[str, int]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    stuck: list[Stuck] = field(default_factory=list)


def render(
    course: Course,
    term: Term,
    everyone: Sequence[Person],
    labs: Sequence[str],
    output: Path,
    *,
    names: bool,
    now: datetime | None = None,
) -> str:
    """The page. Links lead from `output` to the feedback of the batches."""
    now = now or datetime.now(UTC)
    views = [_view(course, term, everyone, lab, output, now) for lab in labs]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["points"] = points
    rows = [
        (person.name, [person.lab(lab) for lab in labs], _latest_link(person, output))
        for person in everyone
    ]
    return environment.get_template("classpage.jinja").render(
        name=term.name or "Tilewise",
        views=views,
        labs=labs,
        rows=rows if names else [],
        names=names,
        students=len(everyone),
        day=now.date().isoformat(),
    )


def _view(
    course: Course, term: Term, everyone: Sequence[Person], lab: str, output: Path, now: datetime
) -> LabView:
    view = LabView(lab, lab, most_points(everyone, lab, term))
    try:
        skeleton = (course.folder(lab) / FILE_NAME).read_text(encoding="utf-8")
    except OSError:
        skeleton = ""
    found: dict[tuple[int, str], Place] = {}
    counts = [0] * _BINS
    for person in everyone:
        score, status = person.lab(lab)
        if status in ("", "not_handed_in", "not_started", "excused"):
            continue
        view.handed_in += 1
        view.full += status == "passed"
        if score is not None and view.most:
            counts[min(_BINS - 1, int(score / view.most * _BINS))] += 1
        entry = next(entry for entry in reversed(person.entries) if f"{lab} status" in entry.cells)
        link = _link(entry, output)
        for line, code in _mistakes(entry, lab, skeleton, view):
            place = found.setdefault((line, code), Place(code, line, _text(skeleton, line)))
            place.students.append((person.name, link))
        stuck = _stuck(person.name, link, entry, lab, status, now)
        if stuck:
            view.stuck.append(stuck)
    width = view.most / _BINS
    view.distribution = [
        (f"{points(width * i)} to {points(width * (i + 1))}", count)
        for i, count in enumerate(counts)
    ]
    view.places = sorted(found.values(), key=lambda p: (-len(p.students), p.line, p.code))[:_SHOWN]
    view.stuck.sort(key=lambda one: -one.days)
    return view


def _mistakes(entry: Entry, lab: str, skeleton: str, view: LabView) -> set[tuple[int, str]]:
    """Line of the skeleton and code of each error, of what students may see."""
    path = entry.folder / "results" / f"{entry.cells['student']}.json"
    try:
        results = stored.load(path).results
    except GraderError:
        return set()
    found = set()
    for result in results:
        if result.lab != lab:
            continue
        view.title = lab_row(lab, result.title)
        lines = skeleton_lines(skeleton, result.source)
        for item in for_students(result).diagnostics:
            if item.severity == "error" and not item.echo_of:
                found.add((lines.get(item.line, 0), item.code))
    return found


def skeleton_lines(skeleton: str, text: str) -> dict[int, int]:
    """For each line of a student's file, the skeleton's line that it stands for, 1-based.

    A line that the student wrote belongs to the TODO region it stands in: to the line of its mark.
    """
    before, now = lines_of(skeleton), lines_of(text)
    marks = [region.line for region in source.todo_regions(skeleton)]
    found: dict[int, int] = {}
    matcher = difflib.SequenceMatcher(None, before, now, autojunk=False)
    for kind, i1, _i2, j1, j2 in matcher.get_opcodes():
        for offset, line in enumerate(range(j1 + 1, j2 + 1)):
            if kind == "equal":
                found[line] = i1 + offset + 1
            else:
                near = [mark for mark in marks if mark <= i1 + 1]
                found[line] = near[-1] if near else max(1, i1)
    return found


def _text(skeleton: str, line: int) -> str:
    lines = lines_of(skeleton)
    return lines[line - 1].strip() if 0 < line <= len(lines) else "the whole file"


def _stuck(
    name: str, link: str, entry: Entry, lab: str, status: str, now: datetime
) -> Stuck | None:
    if status == "passed":
        return None
    events = [
        event
        for event in history.read(entry.folder / ".batch")
        if (event.student, event.lab) == (entry.cells["student"], lab)
    ]
    if not events:
        return None
    since = datetime.fromisoformat(events[-1].when)
    waited = now - since
    if waited < _STUCK:
        return None
    return Stuck(name, link, events[-1].score, since.date().isoformat(), waited.days)


def _link(entry: Entry, output: Path) -> str:
    page = entry.folder / "feedback" / f"{entry.cells['student']}.html"
    return quote(Path(os.path.relpath(page, output.absolute().parent)).as_posix())


def _latest_link(person: Person, output: Path) -> str:
    return _link(person.entries[-1], output) if person.entries else ""
