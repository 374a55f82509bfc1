"""Gradebooks as CSV: one for people and scripts, and those that the platforms import.

No times, no paths of this machine, rows in a fixed order: the same class gives the same bytes.
A cell that a spreadsheet would take for a formula is written as text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.batch.credit import Credit
from grader.batch.names import Student
from grader.batch.roster import Roster
from grader.results.hidden import for_students
from grader.results.result import Result, overall_status
from grader.text import lab_number

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
    submitted: str = ""  # when, in the course's time zone
    credits: tuple[Credit, ...] = ()  # of the labs in order; none: the grade is what counts

    @property
    def status(self) -> str:
        return overall_status(list(self.results)) if self.results else NOT_HANDED_IN

    @property
    def graded(self) -> float | None:
        """All points of the grader; None if nothing was handed in or it failed on a lab."""
        return _sum([result.score for result in self.results])

    @property
    def score(self) -> float | None:
        """The points that count: without what being late costs, with what was decided.

        Where some labs are excused, the others stand for all of them.
        """
        if not self.credits:
            return self.graded
        counting = [credit for credit in self.credits if not credit.excused]
        points = _sum([credit.points for credit in counting])
        if points is None or len(counting) == len(self.credits):
            return points
        share = sum(credit.most for credit in self.credits) / sum(one.most for one in counting)
        return round(points * share, 2)

    @property
    def excused(self) -> bool:
        """Of everything."""
        return bool(self.credits) and all(credit.excused for credit in self.credits)

    @property
    def max_score(self) -> float:
        return sum(result.max_score for result in self.results)

    @property
    def remark(self) -> str:
        """In a sentence or two: why points are missing, and what was decided about the files."""
        try:
            return self._remark()
        except Exception as error:  # costs this student's remark alone
            return f"The remark cannot be written ({type(error).__name__})."

    def _remark(self) -> str:
        if self.problem:
            return " ".join([self.problem, *self._decided(), *self._notes()])
        said = []
        for result in self.results:
            text = "" if result.lab in self.absent else _why(result)
            if text:
                said.append(f"{lab_number(result.lab)}: {text}" if len(self.results) > 1 else text)
        if self.absent:
            said.append(f"Not handed in: {', '.join(lab_number(lab) for lab in self.absent)}.")
        return " ".join([*said, *self._decided(), *self._notes()])

    def _decided(self) -> list[str]:
        """What was taken or given beside the grade."""
        several = len(self.credits) > 1
        return [
            f"[{f'{lab_number(credit.lab)}: ' if several else ''}{credit.remark}]"
            for credit in self.credits
            if credit.remark
        ]

    def _notes(self) -> list[str]:
        return [f"({note})" for note in self.notes]


def _sum(scores: Sequence[float | None]) -> float | None:
    """None if there are none, or one is missing."""
    known = [score for score in scores if score is not None]
    return round(sum(known), 2) if known and len(known) == len(scores) else None


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
    several = len(heading.labs) > 1 and any(row.credits for row in rows)
    names = ("", " status", " counts") if several else ("", " status")
    labs = [lab + name for lab in heading.labs for name in names]
    kinds = ("user", "sid", "email", "username", "repository")
    used = [kind for kind in kinds if any(row.student.ids.get(kind) for row in rows)]
    decided = ["graded", "deducted", "adjusted"] if any(row.credits for row in rows) else []
    dated = ["submitted"] if any(row.submitted for row in rows) else []
    head = ["student", "name", *used, "source", *dated, "late", "status", "score", "max_score"]
    table = [[*head, *decided, *labs, "remark"]]
    for row in rows:
        by_lab = {result.lab: result for result in row.results}
        cells = []
        for lab in heading.labs:
            result = by_lab.get(lab)
            cells += [points(result.score), result.status] if result else ["", ""]
            cells += [_counts(row, lab)] if several else []
        ids = [row.student.ids.get(kind, "") for kind in used]
        own = [row.key, row.student.name, *ids, row.source]
        own += [row.submitted] if dated else []
        status = "excused" if row.excused else row.status
        own += ["late" if row.late else "", status, points(row.score), points(heading.max_score)]
        own += _beside(row) if decided else []
        table.append([*own, *cells, row.remark])
    return csv_text(table)


def _counts(row: Row, lab: str) -> str:
    """The points of one of several labs that count: without what being late costs, as decided."""
    credit = next((credit for credit in row.credits if credit.lab == lab), None)
    if credit is None:
        return ""
    return "excused" if credit.excused else points(credit.points)


def _beside(row: Row) -> list[str]:
    """The grade, what being late took, and by how much decisions changed what counts."""
    taken = sum(credit.deducted for credit in row.credits)
    adjusted = ""
    if row.score is not None and row.graded is not None:
        adjusted = points(round(row.score - row.graded + taken, 2))
    return [points(row.graded), points(taken), _Number(adjusted)]


def canvas(rows: Sequence[Row], heading: Heading, roster: Roster | None) -> str:
    """Canvas: Grades, Import. The ID column finds the student, the column's name the assignment."""
    known = {item.student.identity: item.row for item in roster.listed} if roster else {}
    columns = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    heads = roster.heads if roster and roster.platform == "canvas" else {}
    shown = [heads.get(name, name) for name in columns]  # the importer knows its own language
    possible = heads.get("Points Possible", "Points Possible")
    table = [
        [*shown, heading.assignment],
        [possible, "", "", "", "", points(heading.max_score)],
    ]
    for row in rows:
        listed = known.get(row.student.identity, {})
        own = {shown[0]: row.student.name, shown[1]: row.student.ids.get("user", "")}
        # Canvas takes EX for an excused assignment.
        grade = "EX" if row.excused else points(row.score)
        table.append([listed.get(name) or own.get(name, "") for name in shown] + [grade])
    return csv_text(table)


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
        heads = roster.heads if given and roster else {}
        own = {
            heads.get("Identifier", "Identifier"): f"Participant {row.student.ids.get('user', '')}",
            heads.get("Full name", "Full name"): row.student.name,
            "Maximum grade": points(heading.max_score),
            "Grade can be changed": "Yes",
        }
        filled = {**own, **known.get(row.student.identity, {})}
        if row.score is not None and not row.excused:
            grade = points(row.score)
            comma = given and roster is not None and roster.comma
            filled[heads.get("Grade", "Grade")] = grade.replace(".", ",") if comma else grade
            filled[heads.get("Feedback comments", "Feedback comments")] = row.remark
        table.append([filled.get(name, "") for name in columns])
    return csv_text(table)


def github(rows: Sequence[Row], heading: Heading, roster: Roster | None) -> str:
    """Points by account: GitHub itself has no gradebook, and Classroom 50 keeps its own scores."""
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
    return csv_text(table)


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
    return csv_text(table)


OF_PLATFORM = {"canvas": canvas, "moodle": moodle, "github": github, "gradescope": gradescope}


def points(score: float | None) -> str:
    """ "87.5", "100", "" for no score."""
    return "" if score is None else f"{score:.2f}".rstrip("0").rstrip(".")


class _Number(str):
    """A cell that may begin with a minus: we wrote it ourselves."""


def csv_text(table: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for cells in table:
        writer.writerow([cell if isinstance(cell, _Number) else as_text(cell) for cell in cells])
    return text.getvalue()


# What a formula begins with, the wide forms of East Asian keyboards among them.
_FORMULA = "=+\\-@＝＋－＠"
_BEGINS = re.compile(rf"[{_FORMULA}]")
# Where semicolons separate, a cell begins after each of them, quotes and all.
_BEGINS_LATER = re.compile(rf";(?=[\s\"]*[{_FORMULA}])")


def as_text(cell: str) -> str:
    """The cell on one line, with an apostrophe before what a spreadsheet would compute."""
    line = _BEGINS_LATER.sub(";'", one_line(cell))
    return f"'{line}" if _BEGINS.match(line) and line != "-" else line


def one_line(text: str) -> str:
    """The text without line breaks and control characters."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
