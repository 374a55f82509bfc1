"""Which files resemble each other, by copydetect (winnowed token sequences, as MOSS does it).

Names of variables and layout do not count, and what stands in the lab's skeleton is left out. A
short kernel has few ways to be written: a large share is a reason to look at two files, not more.
The comparing is done by similar_pairs, in a process of its own.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.batch.gradebook import as_text
from grader.batch.intake import Submission
from grader.batch.similar_pairs import ALL_SECONDS, CUT_BYTES
from grader.batch.store import write
from grader.errors import ToolchainError
from grader.labs.course import Course
from grader.labs.lab import Lab
from grader.labs.submission import FILE_NAME

REPORT = "similarity.csv"
_START_SECONDS = 60  # of a busy machine, beside the comparison's own


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
    names = [" ".join(keys) for keys in students.values()]
    found = [(1.0, 1.0, keys[0], " ".join(keys[1:])) for keys in students.values() if len(keys) > 1]
    said = _pairs(skeleton, list(students))
    found += [(a, b, names[first], names[second]) for first, second, a, b in said["pairs"]]
    found.sort(key=lambda row: (-max(row[:2]), -min(row[:2]), row[2:]))
    rows = [[lab, f"{a:.2f}", f"{b:.2f}", first, second] for a, b, first, second in found]
    rows += [
        [lab, "", "", names[int(index)], f"not compared: {why}"]
        for index, why in said["left_out"].items()
    ]
    if said["stopped"]:
        rows.append([lab, "", "", "", "not all pairs were compared: it took too long"])
    return rows


def _pairs(skeleton: bytes, files: Sequence[bytes]) -> dict:
    """What grader.batch.similar_pairs says, in a child; nothing but that it was stopped if it was."""
    cut = [content[:CUT_BYTES].decode("utf-8", errors="replace") for content in files]
    request = {"skeleton": skeleton.decode("utf-8", errors="replace"), "files": cut}
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each takes addresses
    try:
        done = subprocess.run(
            [sys.executable, "-m", "grader.batch.similar_pairs"],
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=ALL_SECONDS + _START_SECONDS,
            env={**os.environ, **threads, "PYTHONPATH": path},
            check=True,
        )
        return json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {"pairs": [], "left_out": {}, "stopped": True}
