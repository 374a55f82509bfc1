"""Which files resemble each other, by copydetect (winnowed token sequences, as MOSS does it).

Names of variables and layout do not count, and what stands in the lab's skeleton is left out. A
short kernel has few ways to be written: a large share is a reason to look at two files, not more.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from grader.batch.gradebook import as_text
from grader.batch.intake import Submission
from grader.batch.store import write
from grader.errors import ToolchainError
from grader.labs.course import Course
from grader.labs.lab import Lab
from grader.labs.submission import FILE_NAME

REPORT = "similarity.csv"
_TOKENS = 25  # shorter sequences that agree count as chance
_LEAST = 0.6  # share of a file that is worth a line


def require() -> None:
    """Raises ToolchainError, saying how to get it, unless copydetect is installed."""
    os.environ.setdefault("MPLBACKEND", "agg")  # it loads matplotlib, which must open no window
    try:
        import copydetect  # noqa: F401 - is it there?
    except ImportError:
        raise ToolchainError(
            "--similarity needs copydetect: run `.venv/bin/pip install -e '.[similarity]'`."
        ) from None


def report(
    course: Course, output: Path, submissions: Sequence[Submission], labs: Sequence[Lab]
) -> str:
    """Writes the report into the folder `output`; returns its file name."""
    rows = [row for lab in labs for row in _of_lab(course, lab.name, submissions)]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(["lab", "share of first", "share of second", "first", "second"])
    table.writerows([as_text(cell) for cell in row] for row in rows)
    write(output / REPORT, text.getvalue().encode())
    return REPORT


def _of_lab(course: Course, lab: str, submissions: Sequence[Submission]) -> list[list[str]]:
    """Rows of pairs, the most alike first; students with the same file stand together."""
    students: dict[bytes, list[str]] = {}
    for one in submissions:
        if lab in one.files and not one.files[lab].problem:
            students.setdefault(one.files[lab].content, []).append(one.key)
    skeleton = (course.labs / lab / FILE_NAME).read_bytes()
    students.pop(skeleton, None)
    prints = {content: _fingerprint(content, _hashes(skeleton)) for content in students}
    found = [
        (1.0, 1.0, names[0], " ".join(names[1:])) for names in students.values() if len(names) > 1
    ]
    for first, second in combinations(students, 2):
        shares = _shares(prints[first], prints[second])
        if max(shares) >= _LEAST:
            found.append((*shares, " ".join(students[first]), " ".join(students[second])))
    found.sort(key=lambda row: (-max(row[:2]), -min(row[:2]), row[2:]))
    return [[lab, f"{a:.2f}", f"{b:.2f}", first, second] for a, b, first, second in found]


def _fingerprint(content: bytes, boilerplate: Sequence[int] = ()):
    """Every sequence is kept (a window of 1), so that shares do not depend on hash values."""
    from copydetect import CodeFingerprint

    text = io.StringIO(content.decode("utf-8", errors="replace"))
    return CodeFingerprint(FILE_NAME, k=_TOKENS, win_size=1, boilerplate=boilerplate, fp=text)


def _hashes(content: bytes) -> list[int]:
    return list(_fingerprint(content).hashes)


def _shares(first, second) -> tuple[float, float]:
    """Of each file, the share of its tokens that the other has too."""
    from copydetect import compare_files

    _, shares, _ = compare_files(first, second)
    return float(shares[0]), float(shares[1])
