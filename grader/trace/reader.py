"""Reading tilewise.trace/1: a trace as it stands in its file, and its columns as arrays."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grader.errors import GraderError

SCHEMA = "tilewise.trace/1"
_DTYPES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "i32": "<i4"}
_GZIP = b"\x1f\x8b"


def read(path: Path) -> dict[str, Any]:
    """A trace with its columns as numpy arrays. Raises GraderError with one sentence."""
    return with_columns(load(path))


def load(path: Path) -> dict[str, Any]:
    """A trace as it stands in its file, which may be compressed."""
    try:
        data = path.read_bytes()
        text = gzip.decompress(data) if data.startswith(_GZIP) else data
        trace = json.loads(text)
    except (OSError, ValueError, EOFError) as error:
        raise GraderError(f"{path} cannot be read as a trace: {error}.") from None
    if not isinstance(trace, dict) or trace.get("schema") != SCHEMA:
        raise GraderError(f"{path} is no trace: its schema is not {SCHEMA}.")
    return trace


def with_columns(value: Any) -> Any:
    """The same, where {"type": ..., "data": ...} are arrays."""
    if isinstance(value, list):
        return [with_columns(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"type", "data"}:
        return np.frombuffer(base64.b64decode(value["data"]), _DTYPES[value["type"]])
    return {name: with_columns(item) for name, item in value.items()}


def lanes(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def counters_by_line(launch: Mapping[str, Any]) -> dict[tuple[int, int], dict[str, int]]:
    """What the events of a launch add up to, by (file, line), under the names of reports.

    For launches whose `is_whole` is true this is what the launch counted.
    """
    events, accesses = launch["events"], launch["accesses"]
    instructions = launch["instructions"]
    sums: dict[tuple[int, int], dict[str, int]] = {}

    def add(event: int, name: str, amount: int) -> None:
        code = instructions[events["code"][event]]
        line = sums.setdefault((code["file"], code["line"]), {})
        line[name] = line.get(name, 0) + int(amount)

    for event in range(events["count"]):
        add(event, "instructions", 1)
        if instructions[events["code"][event]]["op"].startswith(("fma.rn.f32", "mad.f32")):
            add(event, "fma_lanes", int(events["mask"][event]).bit_count())
    for row in range(accesses["count"]):
        op = instructions[events["code"][accesses["event"][row]]]["op"]
        names = _names_of(accesses["space"][row], accesses["kind"][row])
        if op.startswith(("ldmatrix", "stmatrix")):  # are counted by themselves
            names = tuple(name.replace("shared_", "matrix_") for name in names)
        for name, column in zip(names, ("requests", "sectors", "wavefronts"), strict=True):
            if name:
                add(accesses["event"][row], name, accesses[column][row])
        conflicts = int(accesses["wavefronts"][row]) - int(accesses["ideal"][row])
        add(accesses["event"][row], "bank_conflicts", conflicts)
    for row in range(launch["barriers"]["count"]):
        add(launch["barriers"]["event"][row], "barriers", 1)
    return sums


def _names_of(space: int, kind: int) -> tuple[str, str, str]:
    """What requests, sectors and wavefronts of an access are called, "" where not at all."""
    moves = ("load", "store", "", "load", "")[kind]
    if not moves:
        return "", "", ""
    if space == 0:
        return f"global_{moves}_requests", f"global_{moves}_sectors", ""
    if space == 1:
        return f"shared_{moves}_requests", "", f"shared_{moves}_wavefronts"
    if space == 2:
        return f"local_{moves}_requests", f"local_{moves}_sectors", ""
    return "constant_load_requests", "", ""
