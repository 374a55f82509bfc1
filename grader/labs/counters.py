"""What the simulator counts: counters.json, which `build/bin/warpsim counters` prints.

common/warpsim/counters.inc is the table behind it. A test holds the file and the docs to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Counter:
    """One counter of a kernel or source line."""

    name: str
    unit: str
    nsight: str | None  # metric of Nsight Compute
    adds: bool  # over source lines and launches
    devices: str  # all, or transactions: those that count transactions
    meaning: str


TABLE = tuple(
    Counter(**entry)
    for entry in json.loads(Path(__file__).with_name("counters.json").read_text(encoding="utf-8"))
)
# What a check in lab.toml may compute with: every device has it, and it adds up.
USABLE = tuple(counter.name for counter in TABLE if counter.adds and counter.devices == "all")


def markdown(devices: str) -> str:
    """The table for the docs, of the counters of these devices."""
    chosen = [counter for counter in TABLE if counter.devices == devices]
    with_nsight = any(counter.nsight for counter in chosen)
    lines = ["| counter | counts |" + (" in Nsight Compute |" if with_nsight else "")]
    lines.append("|---|---|" + ("---|" if with_nsight else ""))
    for counter in chosen:
        nsight = f"`{counter.nsight}`" if counter.nsight else ""
        lines.append(
            f"| {counter.name} | {counter.meaning} |" + (f" {nsight} |" if with_nsight else "")
        )
    return "\n".join(lines) + "\n"
