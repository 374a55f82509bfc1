"""Which grades there are to send, and to whom: students of gradebooks, members of the platform's course.

A member is found by what cannot be another's: the platform's own id (`lti` in students.csv), an
e-mail address, a student number. Names are not compared: two students may have the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.batch.termtable import Entry, Person
from grader.errors import UsageError
from grader.labs.term import Term
from grader.text import lab_number

_LONGEST = 1000  # characters of a comment
# An alias of a student -> the member's field.
_FIELDS = {"lti": "user_id", "email": "email", "sid": "lis_person_sourcedid"}


@dataclass(frozen=True)
class Grade:
    """Points of one student in one lab, as they count."""

    person: Person
    lab: str  # folder name
    points: float
    most: float
    comment: str

    @property
    def name(self) -> str:
        return self.person.name


def of(
    everyone: Sequence[Person], labs: Sequence[str], term: Term
) -> tuple[list[Grade], list[str]]:
    """The grades, and one sentence for each that is none."""
    grades, without = [], []
    totals: dict[Path, Mapping[str, Any]] = {}
    for lab in labs:
        for person in everyone:
            entry = person.entry_of(lab)
            if entry is None:
                continue
            points, status = person.lab(lab)
            if points is None:
                more = ": enter that on the platform" if status == "excused" else ""
                without.append(
                    f"{person.name}, lab {lab_number(lab)}: {status.replace('_', ' ')}{more}"
                )
                continue
            most = _most(entry, lab, term, totals)
            one = _is_of_one(entry)
            comment = entry.cells.get("remark", "")[:_LONGEST] if one else ""
            grades.append(Grade(person, lab, points, most, comment))
    return grades, without


def _is_of_one(entry: Entry) -> bool:
    return sum(key.endswith(" status") for key in entry.cells) == 1


def _most(entry: Entry, lab: str, term: Term, totals: dict[Path, Mapping[str, Any]]) -> float:
    if _is_of_one(entry):
        return float(entry.cells["max_score"])
    if entry.folder not in totals:
        text = (entry.folder / "summary.json").read_text(encoding="utf-8")
        totals[entry.folder] = json.loads(text).get("labs", {})
    return float(totals[entry.folder].get(lab, {}).get("max_score") or term.plan(lab).points)


def same_most(grades: Sequence[Grade]) -> dict[str, float]:
    """The maximum of each lab. Raises UsageError if two batches say different ones."""
    found: dict[str, float] = {}
    for grade in grades:
        if found.setdefault(grade.lab, grade.most) != grade.most:
            raise UsageError(
                f"Lab {lab_number(grade.lab)} counts {found[grade.lab]:g} points in one batch and"
                f" {grade.most:g} in another: grade one of them again."
            )
    return found


class Members:
    """The platform's course."""

    def __init__(self, members: Sequence[Mapping[str, Any]]) -> None:
        self._by: dict[str, dict[str, set[str]]] = {kind: {} for kind in _FIELDS}
        self._others: set[str] = set()  # ids of those who are there, but not as students
        for member in members:
            user = str(member["user_id"])
            if not _is_student(member):
                self._others.add(user)
            for kind, field in _FIELDS.items():
                text = str(member.get(field) or "").strip().lower()
                if text:
                    self._by[kind].setdefault(text, set()).add(user)

    def find(self, person: Person) -> tuple[str, str]:
        """The platform's id, or "" and why there is none."""
        for kind in _FIELDS:
            own = [text for name, _, text in _parted(person.aliases) if name == kind]
            found = {user for text in own for user in self._by[kind].get(text, ())}
            if len(found) > 1:
                return "", f"several members of the course have this {_WORDS[kind]}"
            if found:
                (user,) = found
                if user in self._others:
                    return "", "is in the platform's course, but not as an active student"
                return user, ""
            if own and kind == "lti":
                return "", "nobody in the platform's course has the id of students.csv"
        if not any(kind in _FIELDS for kind, _, _ in _parted(person.aliases)):
            return "", "no e-mail address, student number or `lti` is known: write students.csv"
        return "", "nobody in the platform's course has this e-mail address or student number"


_WORDS = {"lti": "id", "email": "e-mail address", "sid": "student number"}


def _parted(aliases: set[str]) -> list[tuple[str, str, str]]:
    return [alias.partition(" ") for alias in sorted(aliases)]


def _is_student(member: Mapping[str, Any]) -> bool:
    roles = member.get("roles")
    roles = roles if isinstance(roles, list) else []
    status = member.get("status") or "Active"
    return status == "Active" and any(str(role).endswith("Learner") for role in roles)
