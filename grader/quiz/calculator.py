"""The occupancy calculator and the device files, as answers need them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from grader.errors import UsageError
from grader.labs.course import find_course
from grader.machine import occupancy


@cache
def fits(device: str, registers: int, shared: int, threads: int) -> occupancy.Occupancy:
    """What one SM holds of a kernel."""
    return occupancy.ask(find_course(), device, registers, shared, threads)


@cache
def launches(device: str, registers: int, shared: int, threads: int) -> bool:
    """Whether the device takes such a block at all."""
    try:
        return fits(device, registers, shared, threads).blocks_per_sm > 0
    except UsageError:
        return False


@cache
def device(name: str) -> dict[str, Any]:
    """The device file's fields."""
    path = find_course().root / "common" / "devices" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))
