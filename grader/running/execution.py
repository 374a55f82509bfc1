"""What the executor reports about one case: its result file as dataclasses.

The file's format is "tilewise.execution/1"; fields this module does not know are ignored, so that
an executor may say more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.errors import StepError
from grader.results.finding import Facts, facts_from
from grader.results.provenance import Provenance, provenance_from

SCHEMA = "tilewise.execution/1"


@dataclass(frozen=True)
class Fault:
    """One fault that the executor found, merged over all threads that showed it at one place."""

    code: str
    severity: str  # "error" | "warning"
    message: str  # the executor's sentence: to be shown, never looked into
    facts: Facts
    kernel: str = ""
    count: int = 1  # threads times executions


@dataclass(frozen=True)
class LineCount:
    """Counters of one source line; file as nvcc wrote it, line 0 where none is known."""

    file: str
    line: int
    counters: dict[str, float]


def add_counters(total: dict[str, float], counters: Mapping[str, float]) -> None:
    """Adds counters to a total. `abu`, a mean over `load_transactions`, is weighted by them."""
    loads = total.get("load_transactions", 0)
    used = total.get("abu", 0) * loads + counters.get("abu", 0) * counters.get(
        "load_transactions", 0
    )
    for name, count in counters.items():
        if name != "abu":
            total[name] = total.get(name, 0) + count
    if total.get("load_transactions"):
        total["abu"] = used / total["load_transactions"]


@dataclass(frozen=True)
class KernelRun:
    """One kernel in one configuration; all its launches together."""

    name: str
    mangled: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    registers: int | None
    occupancy: float | None
    counters: dict[str, float]
    lines: tuple[LineCount, ...]
    predicted_ms: float | None = None  # on sim, of all its launches
    bound: str | None = None  # what limits the predicted time
    prediction: dict[str, Any] | None = None  # what it rests on: terms, relief, error, ...
    no_prediction: str | None = None  # why there is none, one sentence
    spilled_bytes: int | None = None  # of a thread: what its registers do not hold
    launches: int = 1


@dataclass(frozen=True)
class Execution:
    """One case carried out on one backend."""

    case: str
    backend: str
    status: str  # ok | fault | timeout | launch-config | unsupported | error
    message: str
    faults: tuple[Fault, ...]
    kernels: tuple[KernelRun, ...]
    unwritten: int  # elements of P, or of all outputs, that nothing wrote
    api_errors: tuple[dict[str, Any], ...]  # calls that returned an error: api, code, code_name
    seconds: float
    launches: int = 0  # carried out or refused
    leaked: tuple[tuple[str, int], ...] = ()  # buffers never freed: name, bytes
    gpu: str = ""  # name of the GPU, on gpu
    printed: str = ""  # by kernels, whatever it says
    provenance: Provenance | None = None  # of the elements of P that were asked for
    copies: dict[str, float] = field(default_factory=dict)  # sectors of copies on the device
    # Of the factors of products that come from global memory, the part that comes from tiles; None:
    # nobody has looked, or there was none.
    tile_share: float | None = None
    processor_seconds: float = 0.0  # of the executor, on sim

    @property
    def counters(self) -> dict[str, float]:
        """Summed over the kernels, with what copies on the device move."""
        total: dict[str, float] = dict(self.copies)
        for kernel in self.kernels:
            add_counters(total, kernel.counters)
        return total


def load(path: Path) -> Execution:
    """Reads the executor's result. Raises StepError if it is not one."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        if fields.get("schema") != SCHEMA:
            raise StepError(f"{path.name} has the schema {fields.get('schema')!r}, not {SCHEMA}.")
        return parse(fields)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StepError(f"The executor's result {path.name} cannot be read: {error!r}.") from None


def parse(fields: dict[str, Any]) -> Execution:
    """Raises KeyError or TypeError where a required field is missing or of another kind."""
    unwritten = (fields.get("outputs") or {}).values()
    gpu = fields.get("gpu") or {}
    return Execution(
        case=fields["case"],
        backend=fields["backend"],
        status=fields["status"],
        message=fields.get("message") or "",
        faults=tuple(_fault(item) for item in fields["diagnostics"]),
        kernels=tuple(_kernel(item) for item in fields["kernels"]),
        unwritten=sum(int(state.get("unwritten", 0)) for state in unwritten),
        api_errors=tuple(fields.get("errors") or ()),
        seconds=float(fields.get("seconds") or 0),
        launches=int(fields.get("launches") or 0),
        leaked=tuple(
            (item["name"], int(item["bytes"])) for item in fields.get("leaked_buffers") or []
        ),
        gpu=gpu.get("name", ""),
        printed=str(fields.get("printf") or ""),
        provenance=provenance_from(found) if (found := fields.get("provenance")) else None,
        copies={name: n for name, n in (fields.get("copies") or {}).items() if n},
        tile_share=_tile_share(fields.get("factors") or {}),
    )


def _tile_share(factors: dict[str, Any]) -> float | None:
    by_tiles, past_tiles = (int(factors.get(name) or 0) for name in ("from_tiles", "past_tiles"))
    together = by_tiles + past_tiles
    return by_tiles / together if together else None


def _fault(item: dict[str, Any]) -> Fault:
    return Fault(
        item["code"],
        item["severity"],
        item["message"],
        facts_from(item),
        item.get("kernel") or "",
        int(item.get("count", 1)),
    )


def _kernel(item: dict[str, Any]) -> KernelRun:
    return KernelRun(
        name=item["name"],
        mangled=item.get("mangled") or item["name"],
        grid=tuple(item["grid"]),
        block=tuple(item["block"]),
        shared_bytes=int(item["shared_bytes"]),
        registers=item.get("registers"),
        occupancy=item.get("occupancy"),
        counters=dict(item.get("counters") or {}),
        lines=tuple(
            LineCount(line.get("file") or "", int(line["line"]), dict(line["counters"]))
            for line in item.get("lines") or []
        ),
        predicted_ms=item.get("predicted_ms"),
        bound=item.get("bound"),
        prediction=item.get("prediction"),
        no_prediction=item.get("no_prediction"),
        spilled_bytes=item.get("spilled_bytes"),
        launches=int(item.get("launches", 1)),
    )
