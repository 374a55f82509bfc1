"""What solve asked of the CUDA runtime, call by call, with the lines it was asked from.

The plan of one case, recorded again with the place of each call. It shows what the text may hide:
that the calls stand in helpers, classes or loops.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.running.host_lines import frames

_MOST_CALLS = 200
_KINDS = {
    "malloc": "malloc",
    "free": "free",
    "copy_h2d": "to-device",
    "copy_d2h": "to-host",
    "memset": "fill",
    "launch": "launch",
    "error": "refused",
}


@dataclass(frozen=True)
class HostCall:
    """One call, as far as the plan tells it."""

    kind: str  # malloc | free | to-device | to-host | fill | launch | refused
    lines: tuple[int, ...]  # of matmul.cu, the innermost first; () where none is known
    buffer: int = -1
    bytes: int = 0
    host: str = ""  # one of solve's arrays; "" for other memory of the host
    offset: int = 0  # in it
    api: str = ""  # that was refused
    # Of a launch: (place in the parameter block, buffer).
    arguments: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class HostCalls:
    """The calls of one case, in their order."""

    calls: tuple[HostCall, ...]
    arrays: dict[str, int]  # bytes of solve's arrays on the host
    is_indirect: bool  # data also goes by memory of solve's own, or is written there

    def of(self, *kinds: str) -> list[HostCall]:
        return [call for call in self.calls if call.kind in kinds]


def read(plan: Path, library: Path, names: Sequence[str]) -> HostCalls | None:
    """`names`: of solve's arrays. None where the plan has too many calls to tell them apart."""
    fields = json.loads(plan.read_text())
    ops = [op for op in fields["ops"] if op["op"] in _KINDS]
    if len(ops) > _MOST_CALLS:
        return None
    lines = frames(library, [op["call"] for op in ops if op.get("call")])
    found: list[HostCall] = []
    sizes = {buffer["id"]: int(buffer["bytes"]) for buffer in fields["buffers"]}
    arrays = {one["name"]: int(one["bytes"]) for one in fields["host"] if one["name"] in names}
    is_indirect = int(fields["host_writes"]["count"]) > 0
    for op in ops:
        at = lines.get(op.get("call") or 0, ())
        kind = _KINDS[op["op"]]
        if kind == "launch":
            given = tuple((int(r["offset"]), int(r["buffer"])) for r in op["relocations"])
            found.append(HostCall(kind, at, arguments=given))
        elif kind == "refused":
            found.append(HostCall(kind, at, api=str(op["api"])))
        elif kind == "to-device":
            for part in op["segments"]:
                host = part.get("host", "")
                host = host if host in arrays else ""
                is_indirect = is_indirect or not host
                size, offset = int(part.get("bytes", 0)), int(part.get("offset", 0))
                found.append(HostCall(kind, at, int(op["buffer"]), size, host, offset))
        elif kind == "to-host":
            host = op["host"] if op["host"] in arrays else ""
            is_indirect = is_indirect or not host
            found.append(
                HostCall(kind, at, int(op["buffer"]), int(op["bytes"]), host, int(op["offset"]))
            )
        else:
            buffer = int(op["buffer"])
            found.append(HostCall(kind, at, buffer, sizes.get(buffer, 0)))
    return HostCalls(tuple(found), arrays, is_indirect)
