"""What ptxas says of a submission's kernels: registers, spills and stack, and what it refuses."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader import sandbox
from grader.machine.toolchain import Toolchain, capability_text, write_atomically
from grader.text import lines_of

# ptxas module0.ptx, line 122; error   : Feature 'cp.async' requires .target sm_80 or higher
_NEWER = re.compile(r"error\s*: Feature '(.+?)' requires \.target sm_(\d+)")


class NewerInstructionError(Exception):
    """The submission uses an instruction that a later compute capability brought."""

    def __init__(self, instruction: str, needed: int, given: int) -> None:
        super().__init__(
            f"{instruction} needs compute capability {capability_text(needed)} or later, and this"
            f" is compiled for {capability_text(given)}"
        )


_LINE = 4000  # characters of what ptxas says; names of kernels are in it
PTXAS_SECONDS = 60.0  # for all modules of a submission together


def resources_of(
    toolchain: Toolchain, modules: Sequence[Path], arch: int, output: Path
) -> Path | None:
    """Registers, spills and stack per kernel, as ptxas reports them; None if it cannot say.

    Occupancy is then unknown, which is no reason to fail a submission: the PTX has already been
    accepted by nvcc. Raises NewerInstructionError if it uses what GPUs of this kind do not have:
    nvcc passes inline assembly on unread, and no such GPU would load the code.
    """
    kernels: dict[str, dict[str, Any]] = {}
    machine_code = output.parent / "machine-code"
    machine_code.mkdir(exist_ok=True)
    end = time.monotonic() + PTXAS_SECONDS
    for module in modules:
        left = end - time.monotonic()
        if left <= 0:
            break
        cubin = machine_code / module.with_suffix(".cubin").name
        command = [
            toolchain.ptxas, "-v", "--generate-line-info", f"-arch=sm_{arch}", module, "-o", cubin,
        ]  # fmt: skip
        ended = sandbox.run(
            command,
            limits=sandbox.Limits(seconds=left, memory_bytes=6 << 30),
            view=sandbox.View(
                readable=[toolchain.ptxas.resolve().parents[1], module], writable=[machine_code]
            ),
            env={"TMPDIR": "/tmp"},
        )
        if ended.returncode == 0 and not ended.exceeded:
            for name, found in parse(ended.stderr + ended.stdout).items():
                kernels[name] = {**found, "cubin": str(cubin)}  # for the predicted time
        newer = _NEWER.search(ended.stderr)
        if newer:
            raise NewerInstructionError(newer[1], int(newer[2]), arch)
    if not kernels:
        return None
    write_atomically(output, json.dumps(kernels))
    return output


def parse(text: str) -> dict[str, dict[str, Any]]:
    """{"_Z5tiledPKfS0_Pfi": {"registers": 32, "spill_store_bytes": 0, "spill_load_bytes": 0,
    "frames": {"_Z3sumPKfi": 48}, "reserved_stack_bytes": 0}}: what follows a kernel are the
    functions that it calls; its own frame is among them if it has one. Of the stack that is known
    before the launch its own is left out.
    """
    kernels: dict[str, dict[str, Any]] = {}
    entry = current = ""
    own_bytes = 0
    for line in lines_of(text):
        line = line[:_LINE]
        if found_entry := re.search(r"Compiling entry function '?([\w$.]+)'?", line):
            entry = current = found_entry[1]
            own_bytes = 0
        if function := re.search(r"Function properties for '?([\w$.]+)'?", line):
            current = function[1]
        if frame := re.search(r"(?<!\d)(\d{1,9}) bytes stack frame", line):
            if current == entry:
                own_bytes = int(frame[1])
            if entry and (current != entry or own_bytes):
                frames = kernels.setdefault(entry, {}).setdefault("frames", {})
                frames[current] = int(frame[1])
        if known := re.search(r"(?<!\d)(\d{1,9}) bytes cumulative stack size", line):
            of_others = max(0, int(known[1]) - own_bytes)
            kernels.setdefault(entry, {})["reserved_stack_bytes"] = of_others
        spills = re.search(
            r"(?<!\d)(\d{1,18}) bytes spill stores, (\d{1,18}) bytes spill loads", line
        )
        used = re.search(r"Used (\d{1,9}) registers", line)
        if current and spills:
            found = kernels.setdefault(current, {})
            found["spill_store_bytes"], found["spill_load_bytes"] = int(spills[1]), int(spills[2])
        if current and used:
            kernels.setdefault(current, {})["registers"] = int(used[1])
    return {name: found for name, found in kernels.items() if "registers" in found}
