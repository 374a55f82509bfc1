"""What grading one lab gives: plain data, the same for every writer.

docs/result.schema.json describes the JSON form; fields are only ever added to it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from grader.errors import ExitCode
from grader.results.explanation import Explanation
from grader.results.finding import Facts, Origin, Triple

SCHEMA = "tilewise.result/1"
LIST_SCHEMA = "tilewise.results/1"


@dataclass(frozen=True)
class CheckResult:
    """One graded statement."""

    id: str
    title: str
    group: str  # correctness | safety | performance
    status: str  # passed | failed | skipped | inconclusive
    score: float  # points
    max_score: float  # points
    message: str  # one sentence; why it failed or was skipped
    hidden: bool = False
    data: dict[str, Any] = field(default_factory=dict)  # numbers behind the message

    @property
    def line(self) -> int:
        """The line of matmul.cu that most of a count belongs to; 0: none."""
        return self.data.get("line", 0)

    @property
    def codes(self) -> tuple[str, ...]:
        """Of the findings that a check of findings failed by."""
        return tuple(self.data.get("codes", ()))

    @property
    def failed_cases(self) -> tuple[str, ...]:
        """Ids of the cases that a check of outputs failed by."""
        return tuple(self.data.get("failed_cases", ()))

    def is_behind(self, found: Diagnostic) -> bool:
        """Whether the finding is one that made the check fail."""
        return found.code in self.codes or any(name in self.failed_cases for name in found.cases)


@dataclass(frozen=True)
class Diagnostic:
    """One found fault, merged over threads and over the cases that showed it."""

    code: str  # see grader.labs.codes
    severity: str  # error | warning
    message: str  # what happened, where, with numbers; without file and line
    file: str = "matmul.cu"
    line: int = 0  # 1-based, 0: none known
    kernel: str = ""
    block: Triple | None = None  # first occurrence
    thread: Triple | None = None
    count: int = 1  # threads times executions, in the first case that showed it
    advice: str = ""  # what to do about it
    source: str = ""  # the text of that line
    cases: tuple[str, ...] = ()  # ids of the cases that showed it
    other_line: int = 0  # of a race's other party, of a copy not waited for; 0: there is none
    echo_of: str = ""  # code of the finding that it follows from; "" if it stands on its own
    follows_from: Origin | None = None  # that finding
    facts: Facts | None = None  # of an execution; None where the grader found it by other means
    reason: str = ""  # why solve left no plan: see grader.running.record.Reason
    subject: str = ""  # whom the reason is about: a symbol, a call, an array
    cause: str = ""  # what was done, where that is known: the message begins with it
    explanation: Explanation | None = None  # of a wrong P: what it is made of


@dataclass(frozen=True)
class Mismatch:
    """One wrong element P[row][column], 0-based. NaN and infinities as "nan", "inf", "-inf"."""

    row: int
    column: int
    got: float | str
    expected: float | str
    element: str = ""  # "sum[3]"; of the product "", and not written


@dataclass(frozen=True)
class CaseResult:
    """One problem size and data set."""

    id: str
    title: str
    shape: str  # "64x32x48": j, k, l; "" if hidden
    status: str  # passed | failed | not_run
    hidden: bool = False
    wrong: int = 0  # elements of P outside the bound
    checked: int = 0  # elements of P that were looked at
    pattern: str = ""  # "transposed N", "last columns", ...; "" where none fits
    message: str = ""  # why it failed
    bound: str = ""  # that P was held against: exact | sum | norm; "" if it was not compared
    mismatches: tuple[Mismatch, ...] = ()  # the first few; none if hidden
    seconds: float = 0.0  # of execution
    printed: tuple[str, ...] = ()  # the submission's own words: the first lines; none if hidden

    @property
    def size(self) -> str:
        """ "64x64" for a product of square matrices, else "64x32x48": j, k and l."""
        if self.hidden:
            return "a hidden case"
        sides = self.shape.split("x")
        return "x".join(sides[:2]) if len(set(sides)) == 1 else self.shape


@dataclass(frozen=True)
class LineCounters:
    """Counters of one line of matmul.cu."""

    line: int
    counters: dict[str, float]


@dataclass(frozen=True)
class Kernel:
    """One launch of the case that performance is judged by."""

    name: str
    case: str
    grid: Triple
    block: Triple
    shared_bytes: int  # static and dynamic
    registers: int | None  # per thread, from ptxas; None: unknown
    occupancy: float | None  # 0..1
    counters: dict[str, float]
    lines: tuple[LineCounters, ...]
    time_ms: dict[str, float] | None = None  # on gpu: median, low, high
    predicted_ms: float | None = None  # on sim
    bound: str | None = None  # what limits the predicted time
    prediction: dict[str, Any] | None = None  # its terms, what would relieve it, its error
    no_prediction: str | None = None  # why there is none, one sentence


@dataclass(frozen=True)
class Change:
    """One measure beside that of the lab before, per 32 multiply-adds."""

    counter: str
    title: str
    before: float
    now: float


@dataclass(frozen=True)
class GpuRun:
    """On the backend both: what the GPU said beside the simulator, which judges."""

    name: str  # "NVIDIA H200"; "" where there was none
    status: str  # same | differs | failed | not_used
    cases: tuple[str, ...] = ()  # ids of those whose P was compared
    differing: tuple[str, ...] = ()  # of these: right on the simulator, and not here
    identical: int = 0  # of these: P has the simulator's bits
    message: str = ""  # one sentence for everything but same


@dataclass(frozen=True)
class Result:
    """One lab, graded."""

    lab: str  # folder name: "02-tiled-kernel"
    title: str
    submission: str  # path as given
    backend: str  # sim | gpu | both
    device: str  # device file: "h200"; on both that of the simulator
    seed: int
    toolkit: str  # "CUDA 13.0"
    status: str  # passed | failed | inconclusive | error | not_started
    score: float | None  # None if status is error: a failing grader gives no score
    max_score: float
    message: str = ""  # one sentence for everything but passed and failed
    next_step: str = ""  # what to do now
    checks: tuple[CheckResult, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()  # the most fundamental first
    kernels: tuple[Kernel, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    per_step: dict[str, float] = field(default_factory=dict)  # counters per 32 multiply-adds
    previous_lab: str = ""  # folder name of the lab that `changes` compares with
    changes: tuple[Change, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()  # of the compiler
    gpu: GpuRun | None = None  # on both
    sandbox: str = "none"  # bubblewrap | none
    seconds: float = 0.0  # wall time of grading
    source: str = ""  # text of the file that was graded; "" where nothing could be read
    schema: str = SCHEMA

    @property
    def where(self) -> tuple[str, ...]:
        """On what it was graded, for the head of a report."""
        parts = (self.backend, self.device, self.gpu.name if self.gpu else "", self.toolkit)
        return tuple(part for part in parts if part)

    @property
    def exit_code(self) -> ExitCode:
        if self.status == "error":
            return ExitCode.MACHINE
        return ExitCode.FULL_MARKS if self.status == "passed" else ExitCode.LESS


def to_dict(result: Result) -> dict[str, Any]:
    """The JSON form of one result, the contract's fields first."""
    fields = dataclasses.asdict(result)
    fields.pop("schema")
    for case in fields["cases"]:
        for mismatch in case["mismatches"]:
            if not mismatch["element"]:
                del mismatch["element"]
    return {"schema": result.schema, **fields}


def list_to_dict(results: list[Result]) -> dict[str, Any]:
    """The JSON form of several labs' results."""
    scores = [result.score for result in results]
    return {
        "schema": LIST_SCHEMA,
        "status": overall_status(results),
        "score": None if None in scores else sum(scores),
        "max_score": sum(result.max_score for result in results),
        "results": [to_dict(result) for result in results],
    }


def overall_status(results: list[Result]) -> str:
    """The gravest status of several labs; not_started only if nothing was started."""
    found = {result.status for result in results}
    if found == {"not_started"}:
        return "not_started"
    for status in ("error", "failed", "not_started", "inconclusive"):
        if status in found:
            return "failed" if status == "not_started" else status
    return "passed"
