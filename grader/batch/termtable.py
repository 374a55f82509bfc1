"""Several batches, of several platforms, in one table: a student a row, a lab a column.

A student's rows are joined by what the platforms know in common: an e-mail address, an account, a
number. `students.csv` joins the rest: a row a person, whose cells are their ids; its columns may be
called name, email, sid, username, canvas, moodle.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch.gradebook import csv_text, points
from grader.batch.names import sort_key
from grader.batch.roster import decoded
from grader.errors import UsageError
from grader.labs.term import Term

_IDS = ("user", "sid", "email", "username")


@dataclass(frozen=True)
class Entry:
    """One row of one gradebook."""

    folder: Path
    platform: str
    cells: Mapping[str, str]
    most: Mapping[str, float] = field(default_factory=dict)  # by lab, what that batch graded out of

    @property
    def aliases(self) -> set[str]:
        """Whatever tells this person from others, on this platform or everywhere."""
        found = {f"{kind} {self.cells[kind].lower()}" for kind in _IDS[1:] if self.cells.get(kind)}
        if self.cells.get("user"):
            found.add(f"{self.platform} {self.cells['user'].lower()}")
        return found or {f"{self.folder} {self.cells['student']}"}


@dataclass
class Person:
    """All that one student handed in over the term."""

    name: str = ""
    aliases: set[str] = field(default_factory=set)
    entries: list[Entry] = field(default_factory=list)

    def lab(self, name: str) -> tuple[float | None, str]:
        """Points that count for a lab and the status; the last batch that has it counts."""
        for entry in reversed(self.entries):
            cells = entry.cells
            if f"{name} status" not in cells:
                continue
            labs = [key for key in cells if key.endswith(" status")]
            # Of one lab the whole row is about it: late days and decisions are in its score.
            cell = cells["score"] if len(labs) == 1 else cells.get(name, "")
            cell = cells.get(f"{name} counts", "") or cell
            whole = cells.get("status", "")
            if "excused" in (whole, cell):
                return None, "excused"
            if not cell and whole == "not_handed_in":
                return None, whole
            return (float(cell) if cell else None), cells[f"{name} status"] or whole
        return None, ""

    def entry_of(self, name: str) -> Entry | None:
        """The batch that counts for a lab."""
        return next((x for x in reversed(self.entries) if f"{name} status" in x.cells), None)


def read(folders: Sequence[Path]) -> list[Entry]:
    """The gradebooks of batches. Raises UsageError if a folder has none."""
    found = []
    for folder in folders:
        try:
            text = (folder / "gradebook.csv").read_text(encoding="utf-8")
            summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
            platform = summary["platform"]
            most = {lab: float(facts["max_score"]) for lab, facts in summary["labs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            what = "is no folder that `grader batch` wrote"
            if (folder / ".batch").is_dir():  # which begins with it, and ends with the summary
                what = "holds a batch that was stopped before its end: call it again"
            raise UsageError(f"{folder} {what}.") from None
        rows = csv.DictReader(io.StringIO(text, newline=""))
        found += [Entry(folder, platform, row, most) for row in rows]
    return found


def people(entries: Sequence[Entry], students: Path | None) -> list[Person]:
    """Whose entries are whose, in the order of names."""
    everyone: list[Person] = _listed(students) if students else []
    for entry in entries:
        same = [person for person in everyone if person.aliases & entry.aliases]
        person = same[0] if same else Person()
        for other in same[1:]:  # this entry shows that they are one
            person.aliases |= other.aliases
            person.entries += other.entries
            person.name = person.name or other.name
            everyone.remove(other)
        if not same:
            everyone.append(person)
        person.aliases |= entry.aliases
        person.entries.append(entry)
        # A list's name has capitals and spaces; a file's name has not.
        if not person.name or (" " in entry.cells["name"] and " " not in person.name):
            person.name = entry.cells["name"]
    order = {id(entry): place for place, entry in enumerate(entries)}
    for person in everyone:
        person.entries.sort(key=lambda entry: order[id(entry)])
    return sorted(everyone, key=lambda person: sort_key(person.name))


def _listed(path: Path) -> list[Person]:
    try:
        rows = list(csv.DictReader(io.StringIO(decoded(path.read_bytes()), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error):
        raise UsageError(f"{path} cannot be read as a table of students.") from None
    found = []
    for row in rows:
        cells = {
            key.strip().lower(): value.strip()
            for key, value in row.items()
            if isinstance(key, str) and isinstance(value, str) and value.strip()
        }
        name = cells.pop("name", "")
        found.append(Person(name, {f"{key} {value.lower()}" for key, value in cells.items()}))
    if not rows or not any(person.aliases for person in found):
        raise UsageError(f"{path} names nobody: expected columns such as name, email, username.")
    return found


def labs_of(entries: Sequence[Entry]) -> list[str]:
    return sorted(
        {key.removesuffix(" status") for entry in entries for key in entry.cells if key.endswith(" status")}
    )  # fmt: skip


def most_points(everyone: Sequence[Person], lab: str, term: Term) -> float:
    """What a lab was graded out of: in the last batch that has it, else what course.toml says."""
    for person in everyone:
        entry = person.entry_of(lab)
        if entry is not None and entry.most.get(lab):
            return entry.most[lab]
    return term.plan(lab).points


def table(everyone: Sequence[Person], labs: Sequence[str], term: Term) -> str:
    """The table as CSV. A total counts what is there; excused labs leave it and its maximum."""
    head = ["name", "email", *(cell for lab in labs for cell in (lab, f"{lab} status"))]
    rows = [[*head, "total", "of"]]
    graded_of = {lab: most_points(everyone, lab, term) for lab in labs}
    for person in everyone:
        email = next((x.partition(" ")[2] for x in person.aliases if x.startswith("email ")), "")
        cells, total, most = [person.name, email], 0.0, 0.0
        for lab in labs:
            score, status = person.lab(lab)
            cells += [points(score), status or "not_handed_in"]
            total += score or 0.0
            most += 0.0 if status == "excused" else graded_of[lab]
        rows.append([*cells, points(round(total, 2)), points(most)])
    return csv_text(rows)
