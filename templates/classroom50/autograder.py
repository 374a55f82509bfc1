#!/usr/bin/env python3
"""Classroom 50 runs this for every submission: CLASSROOM/autograders/ASSIGNMENT/autograder.py.

`grader package classroom50` writes it together with what it needs, which comes in the same bundle.
The working folder is the student's; the course is read from the bundle alone. result.json is
written for every submission that was graded. If the grader fails, the status is not 0, and
Classroom 50 records an error instead of points.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BUNDLE = Path(__file__).resolve().parent
COURSE = BUNDLE / "tilewise"
ASKED = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL")


def submitted() -> str:
    """When the graded commit was made, in UTC: it stays the same when it is graded again."""
    command = ["git", "-c", "safe.directory=*", "log", "-1", "--format=%cI"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        when = datetime.datetime.fromisoformat(done.stdout.strip())
    except (OSError, ValueError, subprocess.SubprocessError):
        when = datetime.datetime.now(datetime.timezone.utc)
    return when.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main() -> int:
    missing = [name for name in ASKED if not os.environ.get(name)]
    if missing:
        print(f"Classroom 50 did not set {', '.join(missing)}.", file=sys.stderr)
        return 2
    grader = COURSE / ".venv" / "bin" / "grader"
    settings = {"TILEWISE_ROOT": str(COURSE), "TILEWISE_NATIVE": "OFF", "LC_ALL": "C.UTF-8"}
    environment = {**os.environ, **settings}
    if not grader.exists():
        done = subprocess.run(
            [COURSE / "common/setup/setup.sh", "--grading"], env=environment, check=False
        )
        if done.returncode:
            return done.returncode
    with tempfile.TemporaryDirectory() as folder:
        graded = Path(folder) / "graded.json"
        command = [
            grader, "autograder", "--settings", COURSE / "settings.json", "--submission", ".",
            "--format", "classroom50", "--output", graded,
        ]  # fmt: skip
        done = subprocess.run(command, env=environment, check=False)
        if not graded.is_file():
            return done.returncode or 3
        result = json.loads(graded.read_text(encoding="utf-8"))
    owner = os.environ.get("OWNER") or os.environ.get("USERNAME", "")
    result |= {
        "classroom": os.environ["CLASSROOM"],
        "assignment": os.environ["ASSIGNMENT"],
        "assignment_type": os.environ.get("ASSIGNMENT_TYPE") or "individual",
        "owner": owner,
        "submission": os.environ["SUBMISSION_TAG"],
        "commit": os.environ["COMMIT_URL"],
        "release": os.environ["RELEASE_URL"],
        "review": os.environ.get("REVIEW_URL") or os.environ["COMMIT_URL"],
        "datetime": submitted(),
    }
    Path("result.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
