"""Since when somebody has had the points they have: one line a change, over all runs of a batch.

OUTPUT/.batch/history.jsonl; only appended to. The day is that of the submission where it is known,
else that of the run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.batch.gradebook import Row

_FILE = "history.jsonl"


@dataclass(frozen=True)
class Event:
    """A student's points in a lab became these."""

    student: str  # key
    lab: str
    score: float | None
    status: str
    when: str  # ISO 8601


def remember(state: Path, rows: Sequence[Row], labs: Sequence[str]) -> None:
    """Appends what is different from the last event of each student and lab."""
    last = {(event.student, event.lab): event for event in read(state)}
    today = datetime.now(UTC).isoformat(timespec="seconds")
    added = []
    for row in rows:
        for result in row.results:
            before = last.get((row.key, result.lab))
            if before and (before.score, before.status) == (result.score, result.status):
                continue
            event = Event(row.key, result.lab, result.score, result.status, row.submitted or today)
            added.append(json.dumps(event.__dict__, ensure_ascii=False))
    if added:
        with (state / _FILE).open("a", encoding="utf-8", errors="replace") as file:
            file.write("\n".join(added) + "\n")
            file.flush()
            os.fsync(file.fileno())


def read(state: Path) -> list[Event]:
    """All events in order. A last line that a killed batch left half is left out."""
    try:
        lines = (state / _FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    found = []
    for line in lines:
        try:
            found.append(Event(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found
