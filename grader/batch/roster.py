"""The platform's own list of students: who handed nothing in, and the ids that an import needs.

Known by their columns: Canvas's gradebook (Student, ID, ...), Moodle's offline grading worksheet
(Identifier, Full name, ...), GitHub Classroom's roster (identifier, github_username, ...), and
Gradescope's (Name or First Name, SID, Email).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.batch.names import Student
from grader.errors import UsageError
from grader.submission import reason

_MOODLE_PARTICIPANT = re.compile(r"(\d+)$")  # "Participant 4711", in any language


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

    @property
    def usernames(self) -> list[str]:
        return [
            item.student.ids["username"] for item in self.listed if "username" in item.student.ids
        ]


def read_roster(path: Path) -> Roster:
    """Reads a roster. Raises UsageError if it is none that we know."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text: export it again as CSV.") from None
    first = text.partition("\n")[0]
    separator = ";" if first.count(";") > first.count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    columns = tuple(name.strip() for name in reader.fieldnames or ())
    known = _reader(columns)
    if known is None:
        raise UsageError(
            f"{path} has the columns {', '.join(columns[:6])}: expected Canvas's gradebook,"
            " Moodle's grading worksheet, GitHub Classroom's roster or Gradescope's."
        )
    platform, student = known
    rows = [
        {name.strip(): cell or "" for name, cell in row.items() if isinstance(name, str)}
        for row in reader
    ]
    listed = [Listed(found, row) for row in rows if (found := student(row)) is not None]
    return Roster(platform, columns, tuple(listed))


def _reader(columns: Sequence[str]):
    """The platform and the function that reads its rows."""
    known = set(columns)
    if {"Student", "ID", "Section"} <= known:
        return "canvas", _canvas
    if {"Identifier", "Full name", "Grade"} <= known:
        return "moodle", _moodle
    if {"identifier", "github_username"} <= known:
        return "github", _github
    if "Email" in known and ("Name" in known or {"First Name", "Last Name"} <= known):
        return "gradescope", _gradescope
    return None


def _canvas(row: dict[str, str]) -> Student | None:
    if not row["ID"].strip().isdigit():  # "Points Possible", "Manual Posting"
        return None
    return Student("canvas", row["Student"].strip(), {"user": row["ID"].strip()})


def _moodle(row: dict[str, str]) -> Student | None:
    found = _MOODLE_PARTICIPANT.search(row["Identifier"].strip())
    return found and Student("moodle", row["Full name"].strip(), {"user": found[1]})


def _github(row: dict[str, str]) -> Student | None:
    username = row["github_username"].strip()
    ids = {"identifier": row["identifier"].strip()}
    if username:
        ids["username"] = username
    return Student("github", row["identifier"].strip() or username, ids)


def _gradescope(row: dict[str, str]) -> Student | None:
    name = row.get("Name") or f"{row.get('First Name', '')} {row.get('Last Name', '')}"
    ids = {"sid": row.get("SID", "").strip(), "email": row["Email"].strip()}
    return Student("gradescope", name.strip(), {kind: text for kind, text in ids.items() if text})
