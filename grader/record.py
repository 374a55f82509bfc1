"""The launch plans of a submission: its `solve` runs once per case, without data or a GPU."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import sandbox
from grader.compile import Compiled
from grader.course import Course
from grader.errors import StepError
from grader.lab import Case
from grader.toolchain import program

_LIMITS_PER_CASE_SECONDS = 5
_START_SECONDS = 15


@dataclass(frozen=True)
class Recorded:
    """How recording one case ended."""

    case: str
    status: str  # ok | crashed | exited | missing-solve | error | timeout
    message: str
    plan: Path | None  # set if status is ok


def record(
    course: Course,
    signature: str,
    cases: Sequence[Case],
    compiled: Compiled,
    device: str,
    output: Path,
) -> dict[str, Recorded]:
    """Records the cases into the folder `output`; one entry per case, whatever happened.

    signature: of `solve`, as in lab.toml. Raises StepError if the recorder itself failed.
    """
    command: list[str | Path] = [
        program(course, "tilewise-record"),
        "--submission", compiled.shared_object,
        "--signature", signature,
        "--output", output,
    ]  # fmt: skip
    for case in cases:
        command += ["--case", f"{case.id}:{case.shape}"]
    readable = [course.build / "bin", course.build / "lib", course.root / "common" / "devices"]
    outcome = sandbox.run(
        command,
        limits=sandbox.Limits(seconds=_START_SECONDS + _LIMITS_PER_CASE_SECONDS * len(cases)),
        view=sandbox.View(writable=[output], readable=[*readable, compiled.folder]),
        cwd=output,
        env={
            "TILEWISE_DEVICE": device,
            "TILEWISE_DEVICES": str(readable[-1]),
            "LD_LIBRARY_PATH": str(course.build / "lib"),
            "TMPDIR": str(output),
        },
    )
    report = _report(output)
    if report is None and not outcome.timed_out:
        _explain_failure(outcome)
    by_id = {entry["id"]: entry for entry in (report or {}).get("cases", [])}
    return {case.id: _recorded(case, by_id.get(case.id), outcome, output) for case in cases}


def _report(output: Path) -> dict | None:
    try:
        return json.loads((output / "record.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _explain_failure(outcome: sandbox.Outcome) -> None:
    """Raises StepError: neither a report nor a time-out means that the recorder broke."""
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    said = lines[-1].strip() if lines else f"it ended with status {outcome.returncode}"
    raise StepError(f"The recorder failed: {said}")


def _recorded(case: Case, entry: dict | None, outcome: sandbox.Outcome, output: Path) -> Recorded:
    plan = output / f"{case.id}.plan.json"
    if entry is None:
        if outcome.timed_out:
            message = f"solve did not return within {_LIMITS_PER_CASE_SECONDS} seconds"
            return Recorded(case.id, "timeout", message, None)
        return Recorded(case.id, "error", "the recorder did not reach this case", None)
    if entry["status"] == "ok" and not plan.is_file():
        raise StepError(f"The recorder wrote no plan for case {case.id}.")
    ok = entry["status"] == "ok"
    return Recorded(case.id, entry["status"], entry.get("message") or "", plan if ok else None)
