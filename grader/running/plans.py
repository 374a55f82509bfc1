"""Plans before anything uses them: the executor's own reader holds each against its case.

A plan comes from a process that the submission shared, and may be anything. It is not looked at in
Python: `tilewise-exec check` reads it in the sandbox, and what it writes again (fields of the right
kinds, ranges that fit, the case that was asked for) is the only form that goes on.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import sandbox
from grader.errors import StepError
from grader.labs.course import Course
from grader.labs.lab import Case
from grader.machine.toolchain import program, write_atomically
from grader.text import clean

TOO_LARGE = "reading it takes too long or too much memory"
_SECONDS = 60  # for all plans of a recording, 160 MiB at most
_MEMORY_BYTES = 6 << 30


@dataclass(frozen=True)
class Checked:
    """A plan that is in order, or why it is not."""

    path: Path | None
    refused: str = ""


def check_plans(
    course: Course,
    signature: str,
    cases: Sequence[Case],
    texts: Mapping[str, str],
    modules: int,
    output: Path,
) -> dict[str, Checked]:
    """Plans by case id, as the recorder sent them, into `output`/ID.plan.json.

    `modules`: how many module0.ptx, module1.ptx, ... lie beside them. Raises StepError if the
    executor itself fails.
    """
    wanted = [case for case in cases if case.id in texts]
    if not wanted:
        return {}
    received, checked = output / "received", output / "checked"
    for folder in (received, checked):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        return _checked(course, signature, wanted, texts, modules, output)
    finally:
        for folder in (received, checked):
            shutil.rmtree(folder, ignore_errors=True)


def _checked(
    course: Course,
    signature: str,
    cases: Sequence[Case],
    texts: Mapping[str, str],
    modules: int,
    output: Path,
) -> dict[str, Checked]:
    executor = program(course, "tilewise-exec")
    received, checked = output / "received", output / "checked"
    command: list[str | Path] = [
        executor, "check", "--signature", signature, "--modules", str(modules),
        "--output", checked,
    ]  # fmt: skip
    for case in cases:
        path = received / f"{case.id}.json"
        write_atomically(path, texts[case.id])
        command += ["--case", f"{case.recorded_as}={path}"]
    outcome = sandbox.run(
        command,
        limits=sandbox.Limits(seconds=_SECONDS, memory_bytes=_MEMORY_BYTES, processes=8),
        view=sandbox.View(readable=[executor.parent, received], writable=[checked]),
    )
    refused = _refusals(outcome.stdout)
    found: dict[str, Checked] = {}
    for case in cases:
        plan = checked / f"{case.id}.plan.json"
        if refused.get(case.id) == "" and plan.is_file():
            found[case.id] = Checked(plan.replace(output / plan.name))
        elif refused.get(case.id):
            found[case.id] = Checked(None, clean(refused[case.id]))
        elif outcome.exceeded or outcome.returncode < 0:
            found[case.id] = Checked(None, TOO_LARGE)
        else:
            said = clean(outcome.stderr) or f"it ended with status {outcome.returncode}"
            raise StepError(f"The executor failed to look at a plan: {said}")
    return found


def _refusals(text: str) -> dict[str, str]:
    """One line a case. The executor is ours, but it may have been ended in the middle of one."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        try:
            fields = json.loads(line)
            found[str(fields["case"])] = str(fields["refused"])
        except (ValueError, TypeError, KeyError):
            continue
    return found
