"""What solve asked of the CUDA runtime, call by call, with the lines it was asked from.

The plan of one case, recorded again with the place of each call and of the calls that led to it. It
shows what the text may hide: that the calls stand in helpers, classes or loops.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.running.host_lines import frames

_MOST_CALLS = 200
_MOST_OPS = 5000  # a copy of two dimensions has one for each row
_KINDS = {
    "malloc": "malloc",
    "free": "free",
    "copy_h2d": "to-device",
    "copy_d2h": "to-host",
    "copy_d2d": "on-device",
    "memset": "fill",
    "launch": "launch",
    "error": "refused",
    "record_event": "mark",
    "wait_for_event": "wait",
}
# The recorder's word for a call and two that led to it (common/cudart/runtime.cpp).
_FRAME_BITS = 21
_HAS_FRAMES = 1 << 63


@dataclass(frozen=True)
class AskedSide:
    """One side of a copy that was refused."""

    kind: str  # none (a null pointer, or the call has no such side) | host | device | freed
    array: str = ""  # of the host: one of solve's arrays, or ""
    buffer: int = -1
    room: int = 0  # bytes from there to the end of the buffer


@dataclass(frozen=True)
class Asked:
    """What a copy, a fill or a free was given that was refused."""

    to: AskedSide
    source: AskedSide
    bytes: int
    direction: int  # cudaMemcpyKind; -1: the call has none


@dataclass(frozen=True)
class HostMap:
    """A tensor map that a launch was given."""

    place: int  # in the parameter block
    buffer: int
    addend: int  # in the buffer
    sizes: tuple[int, ...]  # elements, innermost first
    box: tuple[int, ...]
    lines: tuple[int, ...]  # of the call that made it, as those of a HostCall


@dataclass(frozen=True)
class HostCall:
    """One call, as far as the plan tells it."""

    kind: str  # malloc | free | to-device | to-host | on-device | fill | launch | refused | mark | wait
    lines: tuple[int, ...]  # of matmul.cu, the innermost first; () where none is known
    buffer: int = -1
    bytes: int = 0
    host: str = ""  # one of solve's arrays; "" for other memory of the host
    offset: int = 0  # in it
    api: str = ""  # that was refused
    # Of a launch: (place in the parameter block, buffer).
    arguments: tuple[tuple[int, int], ...] = ()
    # The same with the place in the buffer where each points to.
    places: tuple[tuple[int, int, int], ...] = ()
    place: int = 0  # in the buffer
    source: int = -1  # of a copy on the device
    rows: int = 1  # of a copy on the device, each so many bytes behind the one before:
    pitch: int = 0
    source_pitch: int = 0
    stream: int = 0
    event: int = 0
    kernel: str = ""  # mangled
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    parameters: bytes = b""  # the parameter block of a launch
    asked: Asked | None = None  # of a call that was refused
    host_pitch: int = 0  # of a copy in rows: from one to the next on the host
    maps: tuple[HostMap, ...] = ()


@dataclass(frozen=True)
class HostCalls:
    """The calls of one case, in their order."""

    calls: tuple[HostCall, ...]
    arrays: dict[str, int]  # bytes of solve's arrays on the host
    is_indirect: bool  # data also goes by memory of solve's own, or is written there
    buffers: Mapping[int, tuple[str, int]] = field(default_factory=dict)  # name, bytes
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)  # of solve's arrays

    def of(self, *kinds: str) -> list[HostCall]:
        return [call for call in self.calls if call.kind in kinds]

    def named(self, name: str) -> int:
        """The buffer of that name, "cudaMalloc #2"; -1: none."""
        return next((one for one, (own, _) in self.buffers.items() if own == name), -1)


def read(plan: Path, library: Path, shapes: Mapping[str, Sequence[int]]) -> HostCalls | None:
    """`shapes`: of solve's arrays. None where the plan has too many calls to tell them apart."""
    fields = json.loads(plan.read_text())
    ops = [op for op in fields["ops"] if op["op"] in _KINDS]
    if len(ops) > _MOST_OPS:
        return None
    lines = lines_of(library, [*_calls_of(ops)])
    found: list[HostCall] = []
    buffers = {one["id"]: (str(one["name"]), int(one["bytes"])) for one in fields["buffers"]}
    arrays = {one["name"]: int(one["bytes"]) for one in fields["host"] if one["name"] in shapes}
    is_indirect = int(fields["host_writes"]["count"]) > 0
    for op in ops:
        at = lines.get(op.get("call") or 0, ())
        kind = _KINDS[op["op"]]
        stream = int(op.get("stream", 0))
        if kind == "launch":
            places = tuple(
                (int(r["offset"]), int(r["buffer"]), int(r.get("addend", 0)))
                for r in op["relocations"]
            )
            given = tuple(one[:2] for one in places)
            found.append(
                HostCall(
                    kind, at, arguments=given, places=places, stream=stream, kernel=str(op["kernel"]),
                    grid=_sides(op["grid"]), block=_sides(op["block"]),
                    parameters=bytes.fromhex(op["params"]),
                    maps=tuple(_map(one, lines) for one in op.get("maps", ())),
                )
            )  # fmt: skip
        elif kind == "refused":
            found.append(HostCall(kind, at, api=str(op["api"]), asked=_asked(op, arrays)))
        elif kind in ("mark", "wait"):
            found.append(HostCall(kind, at, stream=stream, event=int(op["event"])))
        elif kind == "to-device":
            place = int(op.get("offset", 0))
            for part in op["segments"]:
                host = part.get("host", "")
                host = host if host in arrays else ""
                is_indirect = is_indirect or not host
                literal = len(part.get("hex", "")) // 2  # bytes of solve's own
                size, offset = int(part.get("bytes", literal)), int(part.get("offset", 0))
                found.append(
                    HostCall(
                        kind, at, int(op["buffer"]), size, host, offset, place=place, stream=stream
                    )
                )
                place += size
        elif kind == "to-host":
            host = op["host"] if op["host"] in arrays else ""
            is_indirect = is_indirect or not host
            found.append(
                HostCall(
                    kind, at, int(op["buffer"]), int(op["bytes"]), host, int(op["offset"]),
                    place=int(op.get("buffer_offset", 0)), stream=stream,
                )
            )  # fmt: skip
        elif kind == "on-device":
            size = int(op["bytes"]) * int(op.get("rows", 1))
            found.append(
                HostCall(
                    kind, at, int(op["buffer"]), size, place=int(op.get("offset", 0)),
                    source=int(op["source"]), stream=stream, rows=int(op.get("rows", 1)),
                    pitch=int(op.get("pitch", 0)), source_pitch=int(op.get("source_pitch", 0)),
                )
            )  # fmt: skip
        else:
            buffer = int(op["buffer"])
            size = buffers.get(buffer, ("", 0))[1]
            if kind == "fill":
                size = int(op.get("bytes", size)) * int(op.get("rows", 1))
            found.append(HostCall(kind, at, buffer, size, stream=stream))
    calls = _together(found)
    if len(calls) > _MOST_CALLS:
        return None
    return HostCalls(tuple(calls), arrays, is_indirect, buffers, dict(shapes))


def _calls_of(ops: Sequence[Mapping]) -> Iterator[int]:
    for op in ops:
        maps = (one["tensor_map"] for one in op.get("maps", ()))
        yield from (one["call"] for one in (op, *maps) if one.get("call"))


def _map(found: Mapping, lines: Mapping[int, tuple[int, ...]]) -> HostMap:
    fields = found["tensor_map"]
    return HostMap(
        int(found["offset"]), int(fields["buffer"]), int(fields["addend"]),
        tuple(int(one) for one in fields["sizes"]), tuple(int(one) for one in fields["box"]),
        lines.get(fields.get("call") or 0, ()),
    )  # fmt: skip


def _sides(numbers: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (int(one) for one in numbers)
    return x, y, z


def _asked(op: Mapping, arrays: Mapping[str, int]) -> Asked | None:
    fields = op.get("asked")
    if not fields:
        return None

    def side(one: Mapping) -> AskedSide:
        array = str(one.get("array", ""))
        return AskedSide(
            str(one["kind"]), array if array in arrays else "", int(one.get("buffer", -1)),
            int(one.get("room", 0)),
        )  # fmt: skip

    return Asked(
        side(fields["to"]), side(fields["from"]), int(fields["bytes"]), int(fields["direction"])
    )


def _together(calls: Sequence[HostCall]) -> list[HostCall]:
    """The rows of one copy as one call, where they lie side by side on the host, or equally far apart."""
    found: list[HostCall] = []
    for call in calls:
        before = found[-1] if found else None
        one = _joined(before, call) if before is not None and call.host else None
        if one is not None:
            found[-1] = one
        else:
            found.append(call)
    return found


def _joined(before: HostCall, call: HostCall) -> HostCall | None:
    """A copy with its next row; None if that is another one."""
    if (before.kind, before.lines, before.buffer, before.host) != (
        call.kind, call.lines, call.buffer, call.host,
    ):  # fmt: skip
        return None
    if before.rows == 1 and before.offset + before.bytes == call.offset:
        return replace(before, bytes=before.bytes + call.bytes)
    size = before.bytes // before.rows
    last = before.offset + (before.rows - 1) * before.host_pitch
    step = call.offset - last
    if not call.lines or call.bytes != size or step <= size:
        return None
    if before.rows > 1 and step != before.host_pitch:
        return None
    return replace(before, bytes=before.bytes + size, rows=before.rows + 1, host_pitch=step)


def lines_of(library: Path, calls: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """By call: its line, then those of the calls that led to it, up to solve."""
    places = {call: _frames(call) for call in dict.fromkeys(calls)}
    known = frames(library, [place for found in places.values() for place in found])
    return {
        call: tuple(line for place in found for line in known.get(place, ()))
        for call, found in places.items()
    }


def _frames(call: int) -> tuple[int, ...]:
    if not call & _HAS_FRAMES:
        return (call,)
    mask = (1 << _FRAME_BITS) - 1
    parts = (call >> (at * _FRAME_BITS) & mask for at in range(3))
    return tuple(place for place in parts if place)
