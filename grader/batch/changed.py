"""What is different from the gradebook before: who is new, gone, or has other points."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from grader.batch.gradebook import one_line
from grader.text import lab_number

Table = Mapping[str, Mapping[str, str]]


def read(text: str) -> Table:
    """A gradebook.csv by student. What is none is an empty one: there is nothing to compare."""
    try:
        rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    except csv.Error:
        return {}
    return {row["student"]: row for row in rows if row.get("student")}


def changes(before: Table, now: Table) -> list[str]:
    """One sentence a student, in the gradebook's order; [] if there was none before."""
    if not before:
        return []
    said = []
    for key, row in now.items():
        old = before.get(key)
        if old is None:
            said.append(f"{key}: new, {_points(row)}")
        elif _counts(old) != _counts(row):
            labs = [
                f"{lab_number(name)} {_shown(old.get(name, ''))} to {_shown(row.get(name, ''))}"
                for name in row
                if f"{name} status" in row and old.get(name) != row.get(name)
            ]
            more = f" ({', '.join(labs)})" if labs else ""
            said.append(f"{key}: {_points(old)} before, now {_points(row)}{more}")
    said += [f"{key}: gone, {_points(row)} before" for key, row in before.items() if key not in now]
    return [one_line(text) for text in said]


def _counts(row: Mapping[str, str]) -> tuple[str, str]:
    return row.get("score", ""), row.get("status", "")


def _points(row: Mapping[str, str]) -> str:
    score, status = row.get("score", ""), row.get("status", "")
    return f"{score} points" if score else status.replace("_", " ") or "no score"


def _shown(cell: str) -> str:
    return cell or "none"
