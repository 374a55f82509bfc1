"""Copies of a whole matrix whose rows lie another distance apart on the device: as far as those of other copies, or close."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from grader.judging.plans.change import Change
from grader.judging.plans.seen import Plans, Seen
from grader.judging.plans.turns import device_place, host_place, with_device_place, with_host_place

_WORD = 4
_DOWN, _UP = "copy_h2d", "copy_d2h"
_MOST_ROWS = 512


def of_pitches(plans: Plans) -> Iterator[Change]:
    calls = dict.fromkeys(
        (op["op"], op["call"]) for op in plans.seen[0].ops if op["op"] in (_DOWN, _UP) and "call" in op
    )  # fmt: skip
    for kind, call in calls:
        for way in ("pitch", "close"):
            yield Change(way, call, _in_rows(kind, call, way), of=kind)


def _in_rows(kind: str, call: int, way: str) -> Callable[[Seen], Mapping | None]:
    """The matrix row by row, each so far behind the one before."""

    def made(seen: Seen) -> Mapping | None:
        own = [op for op in seen.ops if (op["op"], op.get("call", 0)) == (kind, call)]
        names = {_host(op) for op in own}
        if len(names) != 1 or "" in names:
            return None
        shape = seen.case.shapes.get(names.pop(), ())
        if len(shape) != 2 or shape[0] > _MOST_ROWS:
            return None
        rows, line = shape[0], _WORD * shape[1]
        is_whole = sum(op["bytes"] for op in own) == rows * line and host_place(own[0]) == 0
        pitch = line if way == "close" else _pitch_of_others(seen, kind, call)
        begin = device_place(own[0])
        if not is_whole or not pitch or _lies_so(own, begin, line, pitch):
            return None
        of = seen.buffer(own[0]["buffer"])
        if of is None or begin + (rows - 1) * pitch + line > int(of["bytes"]):
            return None
        made = [_row(own[0], line, at * line, begin + at * pitch) for at in range(rows)]
        ops, is_put = [], False
        for op in seen.ops:
            if (op["op"], op.get("call", 0)) != (kind, call):
                ops.append(op)
            elif not is_put:
                ops += made
                is_put = True
        return {**seen.fields, "ops": ops}

    return made


def _host(op: Mapping) -> str:
    if op["op"] == _UP:
        return op["host"]
    return op["segments"][0].get("host", "") if len(op["segments"]) == 1 else ""


def _row(op: dict, size: int, host: int, device: int) -> dict:
    new = {**with_device_place(with_host_place(op, host), device), "bytes": size}
    if "segments" in new:
        new["segments"] = [{**new["segments"][0], "bytes": size}]
    return new


def _lies_so(own: list[dict], begin: int, line: int, pitch: int) -> bool:
    """Whether its rows are as far apart already."""
    if len(own) == 1:
        return pitch == line or own[0]["bytes"] == line
    return all(device_place(op) == begin + at * pitch for at, op in enumerate(own))


def _pitch_of_others(seen: Seen, kind: str, call: int) -> int:
    """How far apart the rows of other copies are; 0 where they differ, or lie close."""
    found = set()
    others = [op for op in seen.ops if op["op"] in (_DOWN, _UP)]
    others = [op for op in others if (op["op"], op.get("call", 0)) != (kind, call)]
    for one, two in itertools.pairwise(others):
        same = all(one.get(name) == two.get(name) for name in ("op", "call", "buffer", "bytes"))
        step = device_place(two) - device_place(one)
        if same and step > one["bytes"]:
            found.add(step)
    return found.pop() if len(found) == 1 else 0
