"""Occupancy by hand-made numbers: `grader occupancy`.

warpsim computes it: through the CUDA toolkit's own calculator, for compute capability 1.x and 2.x
by the rules of NVIDIA's older one.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass

from grader.errors import StepError, UsageError
from grader.labs.course import Course
from grader.machine.toolchain import capability, program

# What to take less of, by what runs out first.
RELIEF = {
    "threads": "the SM's warps are all in use",
    "blocks": "larger blocks would bring more warps",
    "registers": "fewer registers per thread would let more blocks in",
    "shared memory": "less shared memory per block would let more blocks in",
}


@dataclass(frozen=True)
class Occupancy:
    """How many blocks of a kernel one SM holds, and why not more."""

    device: str  # id of the device file
    name: str  # of the GPU
    registers: int  # per thread
    shared_bytes: int  # per block
    threads: int  # per block
    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    fraction: float  # 0..1
    limiter: str  # a key of RELIEF
    limits: dict[str, int | None]  # blocks per SM by each limit alone; None: nothing of it is used
    text: str  # as warpsim said it, JSON


def ask(course: Course, device: str, registers: int, shared_bytes: int, threads: int) -> Occupancy:
    """Raises UsageError for an unknown device or a block that the device does not take."""
    capability(course, device)  # names the devices there are
    command = [
        program(course, "warpsim"), "occupancy", "--device", device,
        "--registers", str(registers), "--shared", str(shared_bytes), "--threads", str(threads),
    ]  # fmt: skip
    environment = {"TILEWISE_DEVICES": str(course.root / "common" / "devices")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    if done.returncode == 2:
        raise UsageError(done.stderr.strip().removeprefix("warpsim: ") + ".")
    try:
        fields = json.loads(done.stdout)
        return Occupancy(
            device=fields["device"],
            name=fields["name"],
            registers=fields["registers"],
            shared_bytes=fields["shared_bytes"],
            threads=fields["threads"],
            blocks_per_sm=fields["blocks_per_sm"],
            warps_per_sm=fields["warps_per_sm"],
            max_warps_per_sm=fields["max_warps_per_sm"],
            fraction=fields["occupancy"],
            limiter=fields["limiter"],
            limits=fields["limits"],
            text=done.stdout.strip() + "\n",
        )
    except (ValueError, KeyError):
        raise StepError(f"warpsim did not compute the occupancy: {done.stderr.strip()}") from None


def render(found: Occupancy) -> str:
    """The answer as text for people."""
    lines = [
        f"{found.name}: {found.threads} threads with {found.registers} registers each,"
        f" {found.shared_bytes:,} bytes of shared memory per block",
        "",
        "  blocks per SM, by each limit alone",
    ]
    for name, blocks in found.limits.items():
        shown = "no limit" if blocks is None else str(blocks)
        mark = "   <- the limit" if name == found.limiter else ""
        lines.append(f"    {name:<14}{shown:>9}{mark}")
    lines += [
        "",
        f"  {found.blocks_per_sm} blocks, {found.warps_per_sm} of {found.max_warps_per_sm} warps:"
        f" occupancy {100 * found.fraction:.1f}%, limited by {found.limiter}:",
        f"  {RELIEF[found.limiter]}.",
    ]
    return "\n".join(lines) + "\n"
