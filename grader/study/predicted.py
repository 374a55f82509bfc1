"""Predicted times of the kernels on the study's device, beside those that it printed.

Each kernel runs in the block shape and with the registers that were printed for it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from grader.errors import StepError
from grader.machine.toolchain import program
from grader.study import published
from grader.study.gallery import Variant
from grader.study.measure import Bench, record_plans
from grader.study.result import Predicted

PROGRAM = "tilewise-predict"
SIZES = (2048, 4096)
_TIMEOUT_SECONDS = 600


def measure(
    bench: Bench, variants: Iterable[Variant], sizes: Sequence[int], say: Callable[[str], None]
) -> tuple[Predicted, ...]:
    """Predicts each kernel at each size its blocks divide. Raises StepError if a program fails."""
    if bench.device != published.DEVICE:
        return ()
    apart = dataclasses.replace(bench, folder=bench.folder / "predicted")
    asked, lines = [], []
    for variant in variants:
        fitting = [n for n in sizes if variant.fits(n)]
        if not variant.is_published_best or not fitting:
            continue
        for n, plan in record_plans(apart, variant, fitting).items():
            here = plan.parent
            (here / "resources.json").write_text(_resources(variant, plan))
            asked.append((variant, n))
            # Relative: the list is split at blanks, and a course's path may have some.
            lines.append(f"{variant.id} {here.name}/{plan.name} {here.name}/resources.json")
    if not asked:
        return ()
    say(f"predicting the times of {len(asked)} kernels and sizes")
    (apart.folder / "list.txt").write_text("\n".join(lines) + "\n")
    _run(apart)
    return parse(asked, json.loads((apart.folder / "predicted.json").read_text()))


def _resources(variant: Variant, plan: Path) -> str:
    """The printed registers, as tilewise-predict reads them."""
    launch = next(op for op in json.loads(plan.read_text())["ops"] if op["op"] == "launch")
    registers = published.KERNELS[variant.kernel].registers
    return json.dumps({launch["kernel"]: {"registers": registers}})


def _run(bench: Bench) -> None:
    command = [str(program(bench.course, PROGRAM)), "--list", "list.txt", "--device", bench.device,
               "--output", "predicted.json"]  # fmt: skip
    devices = {"TILEWISE_DEVICES": str(bench.course.root / "common" / "devices")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, cwd=bench.folder,
            env=os.environ | devices,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise StepError(f"{PROGRAM} did not finish within {_TIMEOUT_SECONDS} seconds.") from None
    if done.returncode != 0:
        raise StepError(f"{PROGRAM} failed: {done.stderr.strip()}")


def parse(
    asked: Sequence[tuple[Variant, int]], entries: Sequence[dict[str, Any]]
) -> tuple[Predicted, ...]:
    """What the program wrote, in the order asked for; what has no prediction is left out."""
    found = []
    for (variant, n), entry in zip(asked, entries, strict=True):
        kernels = entry["kernels"]
        if not kernels or any("predicted_ms" not in kernel for kernel in kernels):
            continue
        longest = max(kernels, key=lambda kernel: kernel["predicted_ms"])
        seconds = sum(kernel["predicted_ms"] for kernel in kernels) / 1000
        found.append(Predicted(variant, n, seconds, longest["bound"]))
    return tuple(found)
