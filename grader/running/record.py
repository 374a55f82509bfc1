"""The launch plans of a submission: its `solve` runs once per case, without data or a GPU.

The recorder runs in a sandbox in which nothing can be written. It sends what it recorded through its
standard output, and only here it becomes files. By then the submission's code has run beside it:
what comes may be forged. That gains nothing (docs/trust.md says why), provided that it is taken for
no more than it is, a list of launches for the very case that was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from json.decoder import scanstring
from pathlib import Path

from grader import sandbox
from grader.errors import StepError
from grader.labs.course import Course
from grader.labs.lab import Case
from grader.machine.toolchain import program, write_atomically
from grader.running.compile import Compiled
from grader.running.plans import TOO_LARGE, Checked, check_plans
from grader.sandbox.limits import StepLimits
from grader.text import clean

SCHEMA = "tilewise.recording/1"
_START_SECONDS = 15
_MOST_BYTES = 160 << 20  # of a recording; the recorder stops at 64 MiB a case
_STATUSES = frozenset(("ok", "crashed", "exited", "timeout", "missing-solve", "error"))


class Reason(StrEnum):
    """Why there is no plan, as tilewise-record tells it (common/harness/record/reason.cpp)."""

    NONE = ""
    EXCEPTION = "exception"  # solve threw; subject: its type
    SEGMENTATION_FAULT = "segmentation-fault"
    DEVICE_POINTER = "device-pointer"  # used on the host; subject: the buffer
    INPUT_WRITTEN = "input-written"  # or passed; subject: the array
    OUTPUT_PASSED = "output-passed"  # host memory past the end of P
    STACK_OVERFLOW = "stack-overflow"
    DIVISION_BY_ZERO = "division-by-zero"
    ABORT = "abort"
    SIGNAL = "signal"  # any other; subject: its name
    EXIT = "exit"
    TIME_LIMIT = "time-limit"
    NOT_PROVIDED = "not-provided"  # solve crashed without this call; subject: the call
    TOO_MUCH = "too-much"  # more than can be recorded
    NO_MEMORY = "no-memory"
    DEVICE_CODE = "device-code"  # it cannot be had
    NO_PLAN = "no-plan"  # it cannot be made
    DAMAGED = "damaged"  # the recorder's memory was overwritten
    UNDEFINED_SYMBOL = "undefined-symbol"  # subject: the symbol, as it stands in the file
    MISSING_LIBRARY = "missing-library"  # subject: the library
    NOT_LOADABLE = "not-loadable"
    NO_SOLVE = "no-solve"


@dataclass(frozen=True)
class Recorded:
    """How recording one case ended."""

    case: str
    status: str  # ok | crashed | exited | missing-solve | error | timeout
    message: str  # a sentence to be shown; it may hold the student's words and is never looked into
    plan: Path | None  # set if status is ok
    reason: Reason = Reason.NONE  # why there is no plan
    subject: str = ""  # whom the reason is about: a symbol, a call, an array
    printed: str = ""  # by the submission, whatever it says
    call: int = 0  # where solve crashed, an offset in the compiled file; 0: not known


@dataclass
class _Recording:
    """What the recorder sent, as far as it could be understood."""

    has_begun: bool = False  # else none of the submission's code has run yet
    cases: dict[str, dict[str, str]] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)  # file name -> PTX


def record(
    course: Course,
    signature: str,
    cases: Sequence[Case],
    compiled: Compiled,
    device: str,
    output: Path,
    limits: StepLimits | None = None,
    tells_calls: bool = False,
    devices: Path | None = None,
) -> dict[str, Recorded]:
    """Records the cases into the folder `output`; one entry per case, whatever happened.

    signature: of `solve`, as in lab.toml. `tells_calls`: whether every op says where solve calls it,
    also where no stream asks for it. devices: a folder of device files; None: the course's. Raises StepError if the recorder itself failed.
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
        command += ["--case", case.recorded_as]
    readable = [
        course.programs / "bin",
        course.programs / "lib",
        devices or course.root / "common" / "devices",
    ]
    outcome = sandbox.run(
        command,
        limits=sandbox.Limits(
            seconds=_START_SECONDS + limits.record_seconds * len(cases),
            memory_bytes=limits.record_memory_bytes,
            address_bytes=limits.record_address_bytes,
            file_bytes=0,
            processes=limits.record_processes,
            output_bytes=_MOST_BYTES,
        ),
        view=sandbox.View(readable=[*readable, compiled.shared_object]),
        env={
            "TILEWISE_DEVICE": device,
            "TILEWISE_DEVICES": str(readable[-1]),
            "TILEWISE_MEMORY_MIB": str(limits.device_memory_bytes >> 20),
            "LD_LIBRARY_PATH": str(course.programs / "lib"),
            # Registers are not told: in the sandbox ptxas could write nothing, and everywhere else
            # solve is to be answered the same.
            "TILEWISE_PTXAS": "",
            "TILEWISE_CALLS": "1" if tells_calls else "",
        },
        keep_bytes=_MOST_BYTES,
    )
    recording = _understood(outcome.stdout)
    if not recording.has_begun or (outcome.returncode == 3 and not recording.cases):
        _explain_failure(outcome)
    for name, text in recording.modules.items():
        write_atomically(output / name, text)
    texts = {name: entry["plan"] for name, entry in recording.cases.items() if "plan" in entry}
    plans = check_plans(course, signature, cases, texts, len(recording.modules), output)
    found = {case.id: _recorded(case, recording.cases, plans, outcome) for case in cases}
    return {name: _with_limit(one, limits) for name, one in found.items()}


def _understood(text: str) -> _Recording:
    """Stops at the first line that the recorder cannot have written."""
    recording = _Recording()
    for line in _objects(text):
        if not recording.has_begun:
            if line.get("schema") != SCHEMA:
                break
            recording.has_begun = True
        elif "ptx" in line:
            name = f"module{len(recording.modules)}.ptx"
            if line.get("module") != name:
                break
            recording.modules[name] = line["ptx"]
        elif "case" in line and line.get("status") in _STATUSES:
            recording.cases.setdefault(line["case"], line)
        else:
            break
    return recording


def _objects(text: str) -> Iterator[dict[str, str]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        fields = _flat(text[start:end])
        if fields is None:
            return
        yield fields
        start = end + 1


_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?", re.ASCII)
_BETWEEN = re.compile(r"[ ]?(?P<mark>[:,}])[ ]?")


def _flat(line: str) -> dict[str, str] | None:
    """{"case": "w64", "seconds": 0.1, "plan": "..."}: texts and numbers, the latter as text, each
    field once; else None.

    A line may be forged and is long: no tree is built of it.
    """
    if not line.startswith('{"'):
        return None
    words: list[str] = []
    at, expected = 1, ":"
    while True:
        try:
            number = _NUMBER.match(line, at) if expected == "," else None
            if number is not None:
                word, at = number[0], number.end()
            elif line[at] == '"':
                word, at = scanstring(line, at + 1, True)
                word.encode()  # not every escape is text
            else:
                return None
        except (ValueError, IndexError):
            return None
        words.append(word)
        mark = _BETWEEN.match(line, at)
        if mark is None or len(words) > 32:
            return None
        at = mark.end()
        if mark["mark"] == "}" and expected == ",":
            fields = dict(zip(words[::2], words[1::2], strict=True))
            return fields if at == len(line) and 2 * len(fields) == len(words) else None
        if mark["mark"] != expected:
            return None
        expected = "," if expected == ":" else ":"


def _explain_failure(outcome: sandbox.Ended) -> None:
    """Raises StepError: the recorder broke before any of the submission's code ran."""
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    said = lines[-1].strip() if lines else f"it ended with status {outcome.returncode}"
    if outcome.exceeded:
        said = f"it took {outcome.too_much}"
    raise StepError(f"The recorder failed: {said}")


def _recorded(
    case: Case,
    entries: Mapping[str, dict[str, str]],
    plans: Mapping[str, Checked],
    outcome: sandbox.Ended,
) -> Recorded:
    entry = entries.get(case.id)
    if entry is None:
        return _missing(case, entries, outcome)
    printed = entry.get("printed", "")
    if entry["status"] != "ok":
        message = clean(entry.get("message", ""))
        return Recorded(
            case.id, entry["status"], message, None, *_reason(entry), printed, _place(entry)
        )
    plan = plans.get(case.id, Checked(None, "there is none"))
    if plan.path is None:
        message = (
            "solve damaged the recorder's memory: what it left is no list of launches"
            f" ({plan.refused.rstrip('.')})"
        )
        if plan.refused == TOO_LARGE:
            message = (
                "what solve asks of the CUDA runtime takes too long or too much memory to read:"
                " calls in a loop over elements, or much data of its own"
            )
        return Recorded(case.id, "crashed", message, None, Reason.DAMAGED, printed=printed)
    return Recorded(case.id, "ok", "", plan.path, printed=printed)


def _missing(case: Case, entries: dict[str, dict], outcome: sandbox.Ended) -> Recorded:
    """A case that the recorder did not come to: what the submission did ended it."""
    late = next((entry for entry in entries.values() if entry["status"] == "timeout"), None)
    if late is not None:
        message = clean(str(late.get("message")))
        return Recorded(case.id, "timeout", message, None, Reason.TIME_LIMIT)
    match outcome.exceeded:
        case "time":
            message = "solve does not return"
            return Recorded(case.id, "timeout", message, None, Reason.TIME_LIMIT)
        case "":
            message = "the submission ended the program that records it"
            return Recorded(case.id, "crashed", message, None, Reason.SIGNAL)
        case what:
            message = f"the submission used {outcome.too_much}"
            return Recorded(case.id, "crashed", message, None, Reason.TOO_MUCH, what)


def _with_limit(one: Recorded, limits: StepLimits) -> Recorded:
    """Where a limit was hit, its name and its size."""
    memory = f"solve may use {limits.record_memory_bytes / (1 << 30):g} GiB of the host's memory"
    match one.reason, one.subject:
        case (Reason.EXCEPTION, "std::bad_alloc") | (Reason.TOO_MUCH, "memory"):
            limit = memory
        case Reason.TOO_MUCH, "processes":
            limit = f"solve may have {limits.record_processes} processes and threads"
        case Reason.SIGNAL, "File size limit exceeded":
            said = "solve writes to a file, and no file can be written where it is recorded"
            return replace(one, message=said)
        case _:
            return one
    return replace(one, message=f"{one.message.rstrip('.')} ({limit})")


def _place(entry: dict) -> int:
    said = entry.get("call", "")
    return int(said) if said.isdigit() and len(said) < 20 else 0


def _reason(entry: dict) -> tuple[Reason, str]:
    """What stands in a recording; a reason that there is not is none."""
    said = entry.get("reason")
    reason = Reason(said) if said in set(Reason) else Reason.NONE
    return reason, clean(str(entry.get("subject") or ""))
