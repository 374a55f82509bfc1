"""What a study found, as data."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

from grader.study.gallery import Variant

SCHEMA = "tilewise.study/1"


@dataclass(frozen=True)
class Counted:
    """One kernel in one block shape at one size, counted on the simulator."""

    variant: Variant
    n: int
    status: str  # ok, or why the device does not run it: launch-config
    message: str
    is_right: bool  # P agrees with a float64 product within the grader's bound
    counters: dict[str, float]
    static_shared_bytes: int
    argument_bytes: int
    registers_now: int | None  # per thread, of ptxas for the architecture it was compiled for


@dataclass(frozen=True)
class Cell:
    """One cell of the published table of transactions beside the count."""

    column: str  # total | 32-byte | 64-byte | 128-byte | volume | ABU
    printed: str  # "17n^3/16 + n^2", "12.5%"
    expected: str  # its value at n; "12.5%"
    counted: str
    agrees: bool


@dataclass(frozen=True)
class Row:
    """One row of that table for one block shape and size."""

    label: str
    variant: Variant
    n: int
    cells: tuple[Cell, ...]
    explanation: str = ""  # why cells differ, where the rule explains it


@dataclass(frozen=True)
class Resources:
    """A kernel's needs and what they allow on one SM of the device."""

    variant: Variant
    registers: int | None  # that the occupancy is computed with
    registers_published: int | None
    registers_now: int | None
    shared_bytes: int  # per block, as the device counts them
    shared_published: int | None
    occupancy: float | None
    limiter: str | None
    blocks_per_sm: int | None
    occupancy_published: str | None


@dataclass(frozen=True)
class Baseline:
    """A CPU baseline at one size."""

    method: str
    n: int
    threads: int
    seconds: float  # median
    low: float
    high: float


@dataclass(frozen=True)
class GpuTime:
    """A kernel on a real GPU: median and bounds of its 95% interval, milliseconds."""

    variant: Variant
    n: int
    status: str
    message: str
    median_ms: float | None
    low_ms: float | None
    high_ms: float | None
    cublas_ratio: float | None  # its time over cuBLAS's
    wrong_rounds: int
    floor_ms: float  # all operations at the GPU's peak


@dataclass(frozen=True)
class Predicted:
    """A kernel's predicted time on the device."""

    variant: Variant
    n: int
    seconds: float
    bound: str  # what limits it: memory, issue, fma, ...


@dataclass(frozen=True)
class Study:
    """Everything one call of `grader study` found."""

    device: str  # id of the device file
    device_name: str
    counting_rule: str
    toolkit: str
    architecture: int  # the PTX was compiled for
    n: int
    counted: tuple[Counted, ...]
    table: tuple[Row, ...] = ()
    resources: tuple[Resources, ...] = ()
    predicted: tuple[Predicted, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    cpu: str = ""
    gpu: dict[str, Any] | None = None  # name, driver of the GPU
    gpu_times: tuple[GpuTime, ...] = ()
    notes: tuple[str, ...] = field(default=())


def to_json(study: Study) -> str:
    """The study as JSON text, schema "tilewise.study/1"."""
    fields = {"schema": SCHEMA, **dataclasses.asdict(study)}
    return json.dumps(fields, indent=1) + "\n"
