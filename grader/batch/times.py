"""When each student handed in: from the export, the platform's list, or a file of times.

A file of times (`--times`) is a CSV with a student's id and a time (ISO 8601), or Classroom 50's
scores.json, whose submission instants do not move when something is graded again.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from grader.batch.names import Student
from grader.batch.roster import Roster, decoded
from grader.errors import UsageError

# As Moodle writes months: English, German, French, Spanish, Italian, Dutch, Portuguese.
_MONTHS = (
    "january januar janvier enero gennaio januari janeiro",
    "february februar février febrero febbraio februari fevereiro",
    "march märz mars marzo maart março",
    "april avril abril aprile",
    "may mai mayo maggio mei maio",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august août agosto augustus",
    "september septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember décembre diciembre dicembre dezembro",
)
_MONTH = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}


def instant(text: str, zone: tzinfo) -> datetime | None:
    """A point in time as the platforms write one; None where it is not one."""
    text = " ".join(text.split())
    try:
        found = datetime.fromisoformat(re.sub(r"(\.\d{6})\d*", r"\1", text).replace(" Z", "Z"))
        return found if found.tzinfo else found.replace(tzinfo=zone)
    except ValueError:
        return _in_words(text.lower(), zone)


def _in_words(text: str, zone: tzinfo) -> datetime | None:
    """ "Monday, 2 March 2026, 9:00 PM", and the same in other languages."""
    months = [_MONTH[word] for word in re.findall(r"[^\W\d_]+", text) if word in _MONTH]
    year = re.search(r"\b(20\d\d)\b", text)
    day = re.search(r"\b(\d{1,2})(?!\d|:)\b", text)
    clock = re.search(r"\b(\d{1,2}):(\d\d)(?::(\d\d))?\s*(am|pm)?", text)
    if len(months) != 1 or not (year and day and clock):
        return None
    hour = int(clock[1])
    if clock[4]:
        hour = hour % 12 + (12 if clock[4] == "pm" else 0)
    try:
        parts = (int(year[1]), months[0], int(day[1]), hour, int(clock[2]), int(clock[3] or 0))
        return datetime(*parts, tzinfo=zone)
    except ValueError:
        return None


def of_roster(roster: Roster | None, zone: tzinfo) -> dict[str, datetime]:
    """By identity; Moodle's worksheet has a column for it."""
    column = roster.heads.get("Last modified (submission)") if roster else None
    if roster is None or column is None:
        return {}
    found = {item.student.identity: instant(item.row[column], zone) for item in roster.listed}
    return {who: when for who, when in found.items() if when}


def read_times(path: Path, zone: tzinfo) -> dict[str, datetime]:
    """By id, in small letters. Raises UsageError if the file is no list of times."""
    try:
        text = decoded(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {(error.strerror or 'failure').lower()}."
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text.") from None
    if text.lstrip().startswith("{"):
        return _of_scores(path, text, zone)
    found: dict[str, datetime] = {}
    for number, row in enumerate(csv.reader(io.StringIO(text, newline="")), 1):
        if not any(cell.strip() for cell in row):
            continue
        when = instant(row[1], zone) if len(row) > 1 else None
        if when is None and number > 1:
            raise UsageError(f"{path}, line {number}: expected a student's id and a time.")
        if when is not None:
            found[row[0].strip().lower()] = when
    return found


def _of_scores(path: Path, text: str, zone: tzinfo) -> dict[str, datetime]:
    """Classroom 50's scores.json: the latest submission of each repository's owner."""
    try:
        entries = [
            entry for item in json.loads(text)["assignments"].values() for entry in item["entries"]
        ]
        return {
            owner: when
            for entry in entries
            for owner in _owners(entry)
            if (when := _latest(entry, zone)) is not None
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path} is no scores.json of Classroom 50.") from None


def _owners(entry: Mapping[str, Any]) -> list[str]:
    return [str(name).lower() for name in [entry["owner"], *entry.get("member_usernames", ())]]


def _latest(entry: Mapping[str, Any], zone: tzinfo) -> datetime | None:
    times = [instant(str(one.get("datetime", "")), zone) for one in entry["submissions"]]
    return max((when for when in times if when), default=None)


def of_student(
    key: str, student: Student, given: Mapping[str, datetime], listed: Mapping[str, datetime]
) -> datetime | None:
    """What a file of times says counts before what the platform's list says."""
    for name in (key, *student.ids.values(), student.name):
        if name.lower() in given:
            return given[name.lower()]
    return listed.get(student.identity)
