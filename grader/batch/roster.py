"""The platform's own list of students: who handed nothing in, and the ids that an import needs.

Canvas's gradebook and Moodle's grading worksheet come in the language of the person who exports
them, so they are known by where things stand rather than by their headings: Canvas has the user's
number in the second column, Moodle "Participant 4711" in the first, the grade beside its maximum.
GitHub's and Gradescope's have headings of their own, in English.

Files are UTF-8, or what a spreadsheet makes of them: UTF-16 with tabs, semicolons, Windows-1252.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.batch.names import Student
from grader.errors import UsageError
from grader.labs.submission import reason

_PARTICIPANT = re.compile(
    r"^(?P<word>\D+?)\s*(?P<user>\d+)$"
)  # "Participant 4711", "Teilnehmer/in4711"
_NUMBER = re.compile(r"^\d+(?:[.,]\d+)?$")
_CANVAS_ASSIGNMENT = re.compile(r"^(?P<name>.+) \((?P<id>\d+)\)$")
_CANVAS_LOGIN = re.compile(r"^[0-9a-f]{40}$")  # of the test student: nobody can log in with it
_TEST_STUDENT = "student, test"


@dataclass(frozen=True)
class Listed:
    """One student of the roster."""

    student: Student
    row: dict[str, str]  # as it stands in the file


@dataclass(frozen=True)
class Roster:
    """The students in the file's order, and its columns."""

    platform: str
    columns: tuple[str, ...]
    listed: tuple[Listed, ...]
    heads: dict[str, str] = field(default_factory=dict)  # what a column is -> its heading there
    maxima: dict[str, float] = field(default_factory=dict)  # points by heading of an assignment
    no_students: tuple[Student, ...] = ()  # the platform's test student
    comma: bool = False  # numbers have a decimal comma

    @property
    def usernames(self) -> list[str]:
        return [
            item.student.ids["username"] for item in self.listed if "username" in item.student.ids
        ]

    def named(self, student: Student) -> str:
        """The student's name as the list has it; the entry's own where it is not there."""
        for item in self.listed:
            if item.student.known_as & student.known_as:
                return item.student.name or student.name
        return student.name

    def known(self, student: Student) -> Student:
        """With the list's name and whatever else it knows of them."""
        for item in self.listed:
            if item.student.known_as & student.known_as:
                name = item.student.name or student.name
                return replace(student, name=name, ids=item.student.ids | student.ids)
        return student

    def assignment(self, text: str) -> str:
        """The heading of an assignment, given as such or without its number in Canvas.

        Raises UsageError if there is none. Only Canvas's list has assignments as columns.
        """
        if self.platform != "canvas" or not text:
            return text
        known = list(self.maxima)
        found = [
            name
            for name in known
            if text == name or (_CANVAS_ASSIGNMENT.match(name) or {"name": ""})["name"] == text
        ]
        if len(found) == 1:
            return found[0]
        close = difflib.get_close_matches(text, known, n=3, cutoff=0.3) or known[:5]
        there = f"There are: {', '.join(close)}." if close else "The roster has no assignment."
        problem = (
            "is the name of several assignments" if found else "is no assignment of the roster"
        )
        raise UsageError(f"--assignment '{text}' {problem}. {there}")

    def maximum(self, assignment: str) -> float | None:
        """Points that the platform gives for it; None: unknown, or a new column."""
        if self.platform == "moodle":
            return next(iter(self.maxima.values()), None)
        return self.maxima.get(assignment)


def read_roster(path: Path) -> Roster:
    """Reads a roster. Raises UsageError if it is none that we know."""
    try:
        text = decoded(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text: export it again as CSV.") from None
    columns, rows = _table(text)
    for platform, reader in _READERS.items():
        found = reader(columns, rows)
        if found is not None:
            return Roster(platform, columns, *found)
    raise UsageError(
        f"{path} has the columns {', '.join(columns[:6])}: expected Canvas's gradebook,"
        " Moodle's grading worksheet, Classroom 50's list of students or Gradescope's."
    )


def decoded(content: bytes) -> str:
    """A table's text, whichever way a spreadsheet wrote it. Raises UnicodeDecodeError."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    if b"\0" in content[:100]:  # UTF-16 without a mark: every other byte of Latin letters
        return content.decode("utf-16-le" if content[1:2] == b"\0" else "utf-16-be")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252")


def _table(text: str) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        columns = tuple(name.strip() for name in reader.fieldnames or ())
        rows = [
            {name.strip(): cell or "" for name, cell in row.items() if isinstance(name, str)}
            for row in reader
        ]
    except csv.Error:
        return (), []
    return columns, rows


_Found = tuple[tuple[Listed, ...], dict[str, str], dict[str, float], tuple[Student, ...], bool]


def _canvas(columns: Sequence[str], rows: list[dict[str, str]]) -> _Found | None:
    """Name, number, then what the section and the logins are, then a column an assignment."""
    if len(columns) < 3:
        return None
    name, number = columns[:2]
    numbered = [row for row in rows if row[number].strip().isdigit()]
    if not (numbered or name == "Student") or number.upper() != "ID":
        return None
    if any(row[number].strip() and not row[number].strip().isdigit() for row in rows):
        return None
    # "    Points Possible", in whatever language: the row without a number that has points.
    possible = [row for row in rows if not row[number].strip() and row[name].startswith("  ")]
    maxima = {}
    for column in columns[2:]:
        cells = [row[column].strip() for row in possible]
        points = next((_value(cell) for cell in cells if _NUMBER.match(cell)), None)
        if _CANVAS_ASSIGNMENT.match(column):
            maxima[column] = points if points is not None else 0.0
    heads = {"Student": name, "ID": number}
    if possible:
        heads["Points Possible"] = possible[0][name]
    fixed = [column for column in columns[2:] if column not in maxima]
    for usual in ("SIS User ID", "SIS Login ID", "Section"):
        if usual in fixed:
            heads[usual] = usual
    if "Section" not in heads:  # another language: the columns before the first assignment
        first = next((i for i, column in enumerate(columns) if column in maxima), len(columns))
        usual = ("SIS User ID", "SIS Login ID", "Section")
        own = columns[2:first]
        heads |= dict(zip(usual[-len(own) :] if len(own) < 3 else usual, own[-3:], strict=False))
    listed, nobody = [], []
    for row in numbered:
        # A student number and an address join one student's work on several platforms.
        number_there = row.get(heads.get("SIS User ID", ""), "").strip()
        ids = {"user": row[number].strip()} | ({"sid": number_there} if number_there else {})
        student = Student("canvas", row[name].strip(), ids | _email(row))
        cells = [row[column].strip() for column in columns[2:]]
        is_test = student.name.casefold() == _TEST_STUDENT and (
            any(_CANVAS_LOGIN.match(cell) for cell in cells) or not any(cells[:1])
        )
        if is_test:
            nobody.append(student)
        else:
            listed.append(Listed(student, row))
    return tuple(listed), heads, maxima, tuple(nobody), False


def _moodle(columns: Sequence[str], rows: list[dict[str, str]]) -> _Found | None:
    """Participants first; the maximum, the same in every row, follows the grade."""
    if len(columns) < 4 or not rows:
        return None
    identifier, name = columns[:2]
    found = [_PARTICIPANT.match(row[identifier].strip()) for row in rows]
    if not all(found) or len({match["word"] for match in found if match}) != 1:
        return None
    most = None
    for column in columns[3:]:
        cells = {row[column].strip() for row in rows}
        if len(cells) == 1 and _NUMBER.match(next(iter(cells))):
            most = column
            break
    if "Grade" in columns:
        grade = "Grade"
    elif most:
        grade = columns[columns.index(most) - 1]
    else:
        return None
    heads = {"Identifier": identifier, "Full name": name, "Grade": grade}
    heads["Feedback comments"] = columns[-1] if "Feedback comments" not in columns else (
        "Feedback comments"
    )  # fmt: skip
    submitted = _before_grade_date(columns, most)
    if submitted:
        heads["Last modified (submission)"] = submitted
    maxima, comma = {}, False
    if most:
        cell = rows[0][most].strip()
        comma = "," in cell
        maxima = {grade: _value(cell)}
    listed = tuple(
        Listed(Student("moodle", row[name].strip(), {"user": match["user"]} | _email(row)), row)
        for match, row in zip(found, rows, strict=True)
        if match
    )
    return listed, heads, maxima, (), comma


def _before_grade_date(columns: Sequence[str], most: str | None) -> str:
    """The column with the time of the submission: after "Grade can be changed"."""
    if "Last modified (submission)" in columns:
        return "Last modified (submission)"
    place = columns.index(most) + 2 if most else len(columns)
    return columns[place] if place < len(columns) - 1 else ""


def _email(row: dict[str, str]) -> dict[str, str]:
    """An address, in whatever column: it joins one student's work on several platforms."""
    for cell in row.values():
        if re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", cell.strip()):
            return {"email": cell.strip()}
    return {}


def _github(columns: Sequence[str], rows: list[dict[str, str]]) -> _Found | None:
    """Classroom 50's students.csv, or a list made by hand with the accounts."""
    known = set(columns)
    if {"identifier", "github_username"} <= known:
        account, name = "github_username", "identifier"
    elif {"username", "first_name", "last_name"} <= known:
        account, name = "username", ""
    else:
        return None
    listed = []
    for row in rows:
        username = row[account].strip()
        ids = {"username": username} if username else {}
        if name:
            ids["identifier"] = row[name].strip()
            shown = ids["identifier"] or username
        else:
            shown = f"{row['first_name']} {row['last_name']}".strip() or username
            if row.get("email", "").strip():
                ids["email"] = row["email"].strip()
        listed.append(Listed(Student("github", shown, ids), row))
    return tuple(listed), {}, {}, (), False


def _gradescope(columns: Sequence[str], rows: list[dict[str, str]]) -> _Found | None:
    known = set(columns)
    if "Email" not in known or not ("Name" in known or {"First Name", "Last Name"} <= known):
        return None
    listed = []
    for row in rows:
        name = row.get("Name") or f"{row.get('First Name', '')} {row.get('Last Name', '')}"
        ids = {"sid": row.get("SID", "").strip(), "email": row["Email"].strip()}
        kept = {kind: text for kind, text in ids.items() if text}
        listed.append(Listed(Student("gradescope", name.strip(), kept), row))
    return tuple(listed), {}, {}, (), False


_READERS = {"github": _github, "gradescope": _gradescope, "moodle": _moodle, "canvas": _canvas}


def _value(text: str) -> float:
    return float(text.strip().replace(",", "."))
