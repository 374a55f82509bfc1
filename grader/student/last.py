"""The last report of each lab, kept in .tilewise/last/: what is asked about it needs no grading.

A report holds as long as the file, the lab and the grader's version are those it was made with.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

import grader
from grader.labs.course import Course
from grader.machine.toolchain import write_atomically
from grader.results.result import Result, to_dict


def keep(course: Course, result: Result, content: bytes) -> None:
    """Notes a report. A read-only checkout is no reason to fail: then nothing is kept."""
    fields = {"of": _stamp(course, result.lab, content), "result": to_dict(result)}
    with contextlib.suppress(OSError):
        write_atomically(_file(course, result.lab), json.dumps(fields))


def find(course: Course, lab: str, content: bytes) -> Result | None:
    """The report of just this content; None if there is none, or it cannot be read."""
    from grader.results import stored

    try:
        fields = json.loads(_file(course, lab).read_text(encoding="utf-8"))
        if fields["of"] != _stamp(course, lab, content):
            return None
        return stored.from_dict(fields["result"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def recent(course: Course) -> str | None:
    """The lab that was graded last, by folder name; None if none was."""
    names = {*course.lab_names(), *course.exercise_names()}
    found = [path for path in _file(course, "").parent.glob("*.json") if path.stem in names]
    return max(found, key=lambda path: path.stat().st_mtime_ns).stem if found else None


def _file(course: Course, lab: str) -> Path:
    return course.progress / "last" / f"{lab}.json"


def _stamp(course: Course, lab: str, content: bytes) -> str:
    digest = hashlib.sha256(content)
    digest.update((course.folder(lab) / "lab.toml").read_bytes())
    digest.update(grader.__version__.encode())
    return digest.hexdigest()[:32]
