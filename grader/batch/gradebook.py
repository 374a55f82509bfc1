"""Gradebooks as CSV: one for people and scripts, and those that the platforms import.

No times, no paths of this machine, rows in a fixed order: the same class gives the same bytes.
A cell that a spreadsheet would take for a formula is written as text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.batch.names import Student
from grader.batch.roster import Roster
from grader.hidden import for_students
from grader.result import Result, overall_status

NOT_HANDED_IN = "not_handed_in"


@dataclass(frozen=True)
class Row:
    """One student."""

    key: str
    student: Student
    results: tuple[Result, ...]  # of the labs in order; none if nothing was handed in
    source: str = ""
    late: bool = False
    problem: str = ""  # why there was nothing to grade
    notes: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()  # labs without a file, where others have one

    @property
    def status(self) -> str:
        return overall_status(list(self.results)) if self.results else NOT_HANDED_IN

    @property
    def score(self) -> float | None:
        """All points; None if nothing was handed in or the grader failed on a lab."""
        scores = [result.score for result in self.results]
        return None if not scores or None in scores else round(sum(scores), 2)

    @property
    def max_score(self) -> float:
        return sum(result.max_score for result in self.results)

    @property
    def remark(self) -> str:
        """In a sentence or two: why points are missing, and what was decided about the files."""
        if self.problem:
            return " ".join([self.problem, *self._notes()])
        said = []
        for result in self.results:
            text = "" if result.lab in self.absent else _why(result)
            if text:
                said.append(f"{result.lab[:2]}: {text}" if len(self.results) > 1 else text)
        if self.absent:
            said.append(f"Not handed in: {', '.join(lab[:2] for lab in self.absent)}.")
        return " ".join([*said, *self._notes()])

    def _notes(self) -> list[str]:
        return [f"({note})" for note in self.notes]


def _why(result: Result) -> str:
    """Why points are missing; students may read it, so nothing of what is hidden."""
    if result.status in ("passed", "error"):
        return result.message
    for item in for_students(result).diagnostics:
        if item.severity == "error":
            place = f" at line {item.line}" if item.line else ""
            return f"{item.code}{place}: {item.message}"
    return result.message or result.next_step[:1].upper() + result.next_step[1:]


@dataclass(frozen=True)
class Heading:
    """What stands above the columns."""

    labs: tuple[str, ...]  # folder names
    assignment: str  # the platform's name of the assignment
    max_score: float


def plain(rows: Sequence[Row], heading: Heading) -> str:
    """Everything, one line a student."""
    labs = [column for lab in heading.labs for column in (lab, f"{lab} status")]
    kinds = ("user", "sid", "email", "username", "repository")
    used = [kind for kind in kinds if any(row.student.ids.get(kind) for row in rows)]
    table = [
        [
            "student",
            "name",
            *used,
            "source",
            "late",
            "status",
            "score",
            "max_score",
            *labs,
            "remark",
        ]
    ]
    for row in rows:
        by_lab = {result.lab: result for result in row.results}
        cells = [
            cell
            for lab in heading.labs
            for cell in (
                (points(by_lab[lab].score), by_lab[lab].status) if lab in by_lab else ("", "")
            )
        ]
        ids = [row.student.ids.get(kind, "") for kind in used]
        head = [row.key, row.student.name, *ids, row.source, "late" if row.late else "", row.status]
        table.append([*head, points(row.score), points(heading.max_score), *cells, row.remark])
    return _csv(table)


def canvas(rows: Sequence[Row], heading: Heading, roster: Roster | None) -> str:
    """Canvas: Grades, Import. The ID column finds the student, the column's name the assignment."""
    known = {item.student.identity: item.row for item in roster.listed} if roster else {}
    columns = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    table = [
        [*columns, heading.assignment],
        ["Points Possible", "", "", "", "", points(heading.max_score)],
    ]
    for row in rows:
        listed = known.get(row.student.identity, {})
        own = {"Student": row.student.name, "ID": row.student.ids.get("user", "")}
        table.append(
            [listed.get(name) or own.get(name, "") for name in columns] + [points(row.score)]
        )
    return _csv(table)


def moodle(rows: Sequence[Row], heading: Heading, roster: Roster | None) -> str:
    """Moodle: the assignment's "Upload grading worksheet"; its own file filled in where given.

    Moodle skips students whose grade changed after "Last modified (grade)", unless the upload is
    told to overwrite; without Moodle's worksheet that column is empty.
    """
    columns = [
        "Identifier", "Full name", "Status", "Grade", "Maximum grade", "Grade can be changed",
        "Last modified (submission)", "Last modified (grade)", "Feedback comments",
    ]  # fmt: skip
    given = roster is not None and roster.platform == "moodle"
    if given:
        columns = list(roster.columns)
    known = {item.student.identity: item.row for item in roster.listed} if given else {}
    table = [columns]
    for row in rows:
        own = {
            "Identifier": f"Participant {row.student.ids.get('user', '')}",
            "Full name": row.student.name,
            "Maximum grade": points(heading.max_score),
            "Grade can be changed": "Yes",
        }
        filled = {**own, **known.get(row.student.identity, {})}
        if row.score is not None:
            filled["Grade"] = points(row.score)
            filled["Feedback comments"] = row.remark
        table.append([filled.get(name, "") for name in columns])
    return _csv(table)


def github(rows: Sequence[Row], heading: Heading, roster: Roster | None) -> str:
    """The columns of GitHub Classroom's own "Download grades" that can be known here."""
    accounts = {
        item.student.ids["username"].lower(): item.student.ids["identifier"]
        for item in (roster.listed if roster else ())
        if "username" in item.student.ids and "identifier" in item.student.ids
    }
    table = [
        ["assignment_name", "github_username", "roster_identifier", "student_repository_name",
         "points_awarded", "points_available"]
    ]  # fmt: skip
    for row in rows:
        ids = row.student.ids
        user = ids.get("username", "")
        identifier = accounts.get(user.lower()) or ids.get("identifier", "")
        cells = [user, identifier, ids.get("repository", ""), points(row.score)]
        table.append([heading.assignment, *cells, points(heading.max_score)])
    return _csv(table)


def gradescope(rows: Sequence[Row], heading: Heading, roster: Roster | None) -> str:
    """The columns of Gradescope's "Download grades": it exports them, and imports no scores."""
    table = [["Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission ID"]]
    for row in rows:
        ids = row.student.ids
        status = "Missing" if row.status == NOT_HANDED_IN else "Graded"
        if row.status == "error":
            status = "Ungraded"
        number = ids.get("submission", "").removeprefix("submission_")
        cells = [row.student.name, ids.get("sid", ""), ids.get("email", ""), points(row.score)]
        table.append([*cells, points(heading.max_score), status, number])
    return _csv(table)


OF_PLATFORM = {"canvas": canvas, "moodle": moodle, "github": github, "gradescope": gradescope}


def points(score: float | None) -> str:
    """ "87.5", "100", "" for no score."""
    return "" if score is None else f"{score:.2f}".rstrip("0").rstrip(".")


def _csv(table: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for cells in table:
        writer.writerow([as_text(cell) for cell in cells])
    return text.getvalue()


def as_text(cell: str) -> str:
    """The cell on one line, with an apostrophe before what a spreadsheet would compute."""
    line = one_line(cell)
    return f"'{line}" if line[:1] in ("=", "+", "-", "@") and line != "-" else line


def one_line(text: str) -> str:
    """The text without line breaks and control characters."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
