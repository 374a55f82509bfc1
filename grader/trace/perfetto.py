"""A trace as Chrome trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing show.

A block is a process, a warp a thread of it; one instruction of a warp's clock is a microsecond.
Waits at barriers are slices, barriers and asynchronous copies are flows, findings are instants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

_INSTRUCTION_SPAN = 1  # microseconds


def events(trace: Mapping[str, Any]) -> dict[str, Any]:
    """trace: with columns as arrays."""
    found: list[dict] = []
    begins = 0  # of the launch: they follow each other
    for launch in trace["launches"]:
        found += _names(launch)
        ends = [0]
        for part in (_instructions, _barriers, _copies, _findings):
            for event in part(launch, trace["files"]):
                ends.append(event["ts"] + event.get("dur", 0))
                found.append(event | {"ts": event["ts"] + begins})
        begins += max(ends) + 1
    return {"displayTimeUnit": "ns", "traceEvents": found}


def _process(launch: Mapping[str, Any], block: int) -> int:
    return int(launch["number"]) * 1_000_000 + int(block)


def _place(launch: Mapping[str, Any], event: int) -> dict[str, int]:
    table = launch["events"]
    return {
        "pid": _process(launch, table["block"][event]),
        "tid": int(table["warp"][event]),
        "ts": int(table["clock"][event]),
    }


def _names(launch: Mapping[str, Any]) -> Iterator[dict]:
    x, y, _ = launch["grid"]
    for block in launch["blocks"]:
        place = f"({block % x},{block // x % y},{block // x // y})"
        process = _process(launch, block)
        title = f"{launch['kernel']} block {place}"
        yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": title}}
        for warp in range(launch["warps"]):
            args = {"name": f"warp {warp}"}
            yield {"ph": "M", "name": "thread_name", "pid": process, "tid": warp, "args": args}


def _instructions(launch: Mapping[str, Any], files: list) -> Iterator[dict]:
    table, codes = launch["events"], launch["instructions"]
    for event in range(table["count"]):
        code = codes[table["code"][event]]
        name = files[code["file"]]["name"] if code["file"] >= 0 else ""
        yield _place(launch, event) | {
            "ph": "X",
            "cat": code["kind"],
            "name": f"{code['op']} (line {code['line']})",
            "dur": _INSTRUCTION_SPAN,
            "args": {
                "event": event,
                "source": f"{name}:{code['line']}",
                "text": code["text"],
                "lanes": int(table["mask"][event]).bit_count(),
            },
        }


def _barriers(launch: Mapping[str, Any], files: list) -> Iterator[dict]:
    """The wait of each warp, and a flow from who came last to all others."""
    table, clocks = launch["barriers"], launch["events"]["clock"]
    rows = [row for row in range(table["count"]) if table["released"][row] >= 0]

    def key(row: int) -> tuple:
        block = launch["events"]["block"][table["event"][row]]
        return int(block), int(table["number"][row]), int(table["round"][row])

    for (block, number, turn), group in groupby(sorted(rows, key=key), key):
        arrivals = [int(table["event"][row]) for row in group if table["waits"][row]]
        if not arrivals:
            continue
        last = max(arrivals, key=lambda event: int(clocks[event]))
        for event in arrivals:
            waited = int(clocks[last]) - int(clocks[event])
            place = _place(launch, event)
            if waited > 0:
                place = place | {"ts": place["ts"] + _INSTRUCTION_SPAN}
                name = f"waits at barrier {number}"
                args = {"event": event}
                yield place | {
                    "ph": "X", "cat": "barrier", "name": name, "dur": waited, "args": args,
                }  # fmt: skip
            if event == last:
                continue
            flow = {
                "cat": "barrier",
                "name": f"barrier {number}, round {turn}",
                "id": f"b{launch['number']}.{block}.{number}.{turn}.{event}",
            }
            yield _place(launch, last) | flow | {"ph": "s"}
            end = {"ts": int(clocks[last]) + _INSTRUCTION_SPAN}
            yield _place(launch, event) | flow | end | {"ph": "f", "bp": "e"}


def _copies(launch: Mapping[str, Any], files: list) -> Iterator[dict]:
    """One flow for each cp.async of a warp, from its start to the wait that ends it."""
    table = launch["copies"]
    seen = set()
    for row in range(table["count"]):
        start, arrived = int(table["event"][row]), int(table["arrived"][row])
        if arrived < 0 or (start, arrived) in seen:
            continue
        seen.add((start, arrived))
        flow = {"cat": "copy", "name": "cp.async", "id": f"c{launch['number']}.{start}.{arrived}"}
        yield _place(launch, start) | flow | {"ph": "s"}
        yield _place(launch, arrived) | flow | {"ph": "f", "bp": "e"}


def _findings(launch: Mapping[str, Any], files: list) -> Iterator[dict]:
    for finding in launch["findings"]:
        for side in ("at", "other"):
            event = finding["events"][side]
            if event < 0:
                continue
            yield _place(launch, event) | {
                "ph": "i",
                "s": "t",
                "cat": "finding",
                "name": finding["code"],
                "args": {"message": finding["message"], "event": event},
            }
