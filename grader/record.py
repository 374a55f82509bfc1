"""The launch plans of a submission: its `solve` runs once per case, without data or a GPU.

The recorder runs in a sandbox in which nothing can be written. It sends what it recorded through its
standard output, and only here it becomes files. By then the submission's code has run beside it:
what comes may be forged. That gains nothing (docs/trust.md says why), provided that it is taken for
no more than it is, a list of launches for the very case that was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader import sandbox
from grader.compile import Compiled
from grader.course import Course
from grader.errors import StepError
from grader.lab import Case
from grader.limits import StepLimits
from grader.text import clean
from grader.toolchain import program, write_atomically

SCHEMA = "tilewise.recording/1"
_START_SECONDS = 15
_MOST_BYTES = 160 << 20  # of a recording; the recorder stops at 64 MiB a case
_STATUSES = frozenset(("ok", "crashed", "exited", "timeout", "missing-solve", "error"))


@dataclass(frozen=True)
class Recorded:
    """How recording one case ended."""

    case: str
    status: str  # ok | crashed | exited | missing-solve | error | timeout
    message: str
    plan: Path | None  # set if status is ok


@dataclass
class _Recording:
    """What the recorder sent, as far as it could be understood."""

    has_begun: bool = False  # else none of the submission's code has run yet
    cases: dict[str, dict] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)  # file name -> PTX


def record(
    course: Course,
    signature: str,
    cases: Sequence[Case],
    compiled: Compiled,
    device: str,
    output: Path,
    limits: StepLimits | None = None,
) -> dict[str, Recorded]:
    """Records the cases into the folder `output`; one entry per case, whatever happened.

    signature: of `solve`, as in lab.toml. Raises StepError if the recorder itself failed.
    """
    limits = limits or StepLimits()
    command: list[str | Path] = [
        program(course, "tilewise-record"),
        "--submission", compiled.shared_object,
        "--signature", signature,
        "--seconds", f"{limits.record_seconds:g}",
        "--stream",
    ]  # fmt: skip
    if sandbox.available():
        command.append("--alone")
    for case in cases:
        command += ["--case", f"{case.id}:{case.shape}"]
    readable = [course.build / "bin", course.build / "lib", course.root / "common" / "devices"]
    outcome = sandbox.run(
        command,
        limits=sandbox.Limits(
            seconds=_START_SECONDS + limits.record_seconds * len(cases),
            memory_bytes=limits.record_memory_bytes,
            file_bytes=0,
            processes=limits.record_processes,
            output_bytes=_MOST_BYTES,
        ),
        view=sandbox.View(readable=[*readable, compiled.shared_object]),
        env={
            "TILEWISE_DEVICE": device,
            "TILEWISE_DEVICES": str(readable[-1]),
            "TILEWISE_MEMORY_MIB": str(limits.device_memory_bytes >> 20),
            "LD_LIBRARY_PATH": str(course.build / "lib"),
        },
        keep_bytes=_MOST_BYTES,
    )
    recording = _understood(outcome.stdout)
    if not recording.has_begun or (outcome.returncode == 3 and not recording.cases):
        _explain_failure(outcome)
    for name, text in recording.modules.items():
        write_atomically(output / name, text)
    names = list(recording.modules)
    return {
        case.id: _recorded(case, recording.cases, names, signature, outcome, output)
        for case in cases
    }


def _understood(text: str) -> _Recording:
    """Stops at the first line that the recorder cannot have written."""
    recording = _Recording()
    for line in _objects(text):
        if not recording.has_begun:
            if line.get("schema") != SCHEMA:
                break
            recording.has_begun = True
        elif isinstance(line.get("ptx"), str):
            name = f"module{len(recording.modules)}.ptx"
            if line.get("module") != name:
                break
            recording.modules[name] = line["ptx"]
        elif isinstance(line.get("case"), str) and line.get("status") in _STATUSES:
            recording.cases.setdefault(line["case"], line)
        else:
            break
    return recording


def _objects(text: str) -> Iterator[dict]:
    for line in text.split("\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict):
            return
        yield value


def _explain_failure(outcome: sandbox.Outcome) -> None:
    """Raises StepError: the recorder broke before any of the submission's code ran."""
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    said = lines[-1].strip() if lines else f"it ended with status {outcome.returncode}"
    if outcome.exceeded:
        said = f"it took too much {outcome.exceeded}"
    raise StepError(f"The recorder failed: {said}")


def _recorded(
    case: Case,
    entries: dict[str, dict],
    modules: list[str],
    signature: str,
    outcome: sandbox.Outcome,
    output: Path,
) -> Recorded:
    entry = entries.get(case.id)
    if entry is None:
        return _missing(case, entries, outcome)
    message = clean(str(entry.get("message") or ""))
    if entry["status"] != "ok":
        return Recorded(case.id, entry["status"], message, None)
    plan = str(entry.get("plan"))
    if not _is_plan_of(plan, case, signature, modules):
        message = "solve damaged the recorder's memory: what it left is no list of launches"
        return Recorded(case.id, "crashed", message, None)
    path = output / f"{case.id}.plan.json"
    write_atomically(path, plan)
    return Recorded(case.id, "ok", "", path)


def _missing(case: Case, entries: dict[str, dict], outcome: sandbox.Outcome) -> Recorded:
    """A case that the recorder did not come to: what the submission did ended it."""
    late = next((entry for entry in entries.values() if entry["status"] == "timeout"), None)
    if late is not None:
        return Recorded(case.id, "timeout", clean(str(late.get("message"))), None)
    match outcome.exceeded:
        case "time":
            return Recorded(case.id, "timeout", "solve does not return", None)
        case "":
            message = "the submission ended the program that records it"
        case what:
            message = f"the submission used too much {what}"
    return Recorded(case.id, "crashed", message, None)


def _is_plan_of(text: str, case: Case, signature: str, modules: list[str]) -> bool:
    """Whether a plan speaks of this case; the executor's reader looks at all the rest."""
    try:
        plan = json.loads(text)
    except (ValueError, RecursionError):
        return False
    wanted = {
        "case": case.id,
        "signature": signature,
        "j": case.j,
        "k": case.k,
        "l": case.l,
        "modules": modules,
    }
    return isinstance(plan, dict) and all(plan.get(name) == value for name, value in wanted.items())
