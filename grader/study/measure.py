"""Counts of the gallery on the simulated device: compile, record, execute, compare with the study.

The PTX is that of the lowest architecture that nvcc still compiles for where the device is older;
it is counted by the rule of the device.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import StepError, UsageError
from grader.judging import numerics
from grader.labs import data
from grader.labs.course import Course
from grader.labs.lab import Case
from grader.machine import occupancy
from grader.machine.toolchain import (
    Toolchain,
    architecture_for,
    architectures,
    capability,
    find_toolchain,
)
from grader.running import execute, ptxas
from grader.running.compile import Compiled, CompileError, compile_submission
from grader.running.execution import load
from grader.running.record import record
from grader.study import gallery, published
from grader.study.gallery import Variant
from grader.study.result import Cell, Counted, Resources, Row

if TYPE_CHECKING:
    import numpy as np

SIGNATURE = "square-device"
SEED = 1


@dataclass
class Bench:
    """What every step of a study needs."""

    course: Course
    device: str
    folder: Path  # that it may fill
    say: Callable[[str], None]
    toolchain: Toolchain
    architecture: int
    fields: dict  # of the device file


def open_bench(course: Course, device: str, folder: Path, say: Callable[[str], None]) -> Bench:
    """Raises ToolchainError without nvcc, UsageError for an unknown device."""
    toolchain = find_toolchain(course)
    supported = architectures(toolchain, course)
    architecture = architecture_for(capability(course, device), supported)
    fields = json.loads((course.root / "common" / "devices" / f"{device}.json").read_text())
    return Bench(course, device, folder, say, toolchain, architecture, fields)


def record_plans(bench: Bench, variant: Variant, sizes: Iterable[int]) -> dict[int, Path]:
    """The launch plans of a variant by n, in a folder of its own. Raises StepError."""
    compiled = compile_submission(
        bench.course, bench.toolchain, gallery.source(bench.course, variant), bench.architecture
    )
    if isinstance(compiled, CompileError):
        raise StepError(f"{variant} does not compile: line {compiled.line}: {compiled.message}.")
    return _record(bench, variant, compiled, sizes)


def _record(
    bench: Bench, variant: Variant, compiled: Compiled, sizes: Iterable[int]
) -> dict[int, Path]:
    folder = bench.folder / variant.id
    folder.mkdir(parents=True, exist_ok=True)
    cases = [Case(f"n{n}", f"{n}x{n}", n, n, n) for n in sizes]
    recorded = record(bench.course, SIGNATURE, cases, compiled, bench.device, folder)
    plans = {}
    for case in cases:
        found = recorded[case.id]
        if found.plan is None:
            raise StepError(f"{variant}, n = {case.j}, could not be recorded: {found.message}.")
        plans[case.j] = found.plan
    return plans


def count_all(bench: Bench, wanted: Sequence[tuple[Variant, int]]) -> list[Counted]:
    """Counts every (variant, n); those whose shape does not divide n are left out.

    Raises StepError if compiler, recorder or executor fail.
    """
    sizes: dict[Variant, list[int]] = {}
    for variant, n in wanted:
        if variant.fits(n) and n not in sizes.setdefault(variant, []):
            sizes[variant].append(n)
    inputs = {n: _inputs(bench, n) for n in {n for used in sizes.values() for n in used}}
    done = 0

    def one(variant: Variant) -> list[Counted]:
        nonlocal done
        plans = record_plans(bench, variant, sizes[variant])
        registers = _registers(bench, variant)
        found = [_count(bench, variant, n, plans[n], inputs[n], registers) for n in plans]
        done += 1
        bench.say(f"counted {done} of {len(sizes)} kernels and block shapes")
        return found

    used = [variant for variant in sizes if sizes[variant]]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return [counted for found in pool.map(one, used) for counted in found]


def _inputs(bench: Bench, n: int) -> tuple[np.ndarray, np.ndarray, dict[str, Path]]:
    m, other = data.make_inputs("uniform", (n, n, n), SEED, "study", f"n{n}")
    return m, other, execute.save_inputs(bench.folder / f"inputs-{n}", m, other)


def _registers(bench: Bench, variant: Variant) -> dict[str, dict[str, int]]:
    folder = bench.folder / variant.id
    found = ptxas.resources_of(
        bench.toolchain,
        sorted(folder.glob("module*.ptx")),
        bench.architecture,
        folder / "resources.json",
    )
    return json.loads(found.read_text()) if found is not None else {}


def _count(
    bench: Bench,
    variant: Variant,
    n: int,
    plan: Path,
    inputs: tuple[np.ndarray, np.ndarray, dict[str, Path]],
    registers: dict[str, dict[str, int]],
) -> Counted:
    m, other, files = inputs
    output, result = plan.with_suffix(".P.npy"), plan.with_suffix(".result.json")
    arguments: list[str | Path] = [
        "--plan", plan, "--backend", "sim", "--device", bench.device, "--checks", "counters",
        "--threads", "1", "--output", f"P={output}", "--result", result,
    ]  # fmt: skip
    for name, path in files.items():
        arguments += ["--inputs", f"{name}={path}"]
    execute.run_executor(bench.course, arguments, f"{variant}, n = {n}")
    execution = load(result)
    if execution.status not in ("ok", "launch-config") or not execution.launches:
        raise StepError(f"{variant}, n = {n}: {execution.status}: {execution.message}")
    ran = execution.status == "ok"
    right = (
        ran
        and numerics.compare(execute.load_output(output, (n, n)), m, other, exact=False).is_right
    )
    launch = next(op for op in json.loads(plan.read_text())["ops"] if op["op"] == "launch")
    fields = json.loads(result.read_text())["kernels"]
    return Counted(
        variant=variant,
        n=n,
        status=execution.status,
        message="; ".join(fault.message for fault in execution.faults) or execution.message,
        is_right=bool(right),
        counters=execution.counters,
        static_shared_bytes=fields[0]["static_shared_bytes"] if fields else 0,
        argument_bytes=len(launch["params"]) // 2,
        registers_now=registers.get(launch["kernel"], {}).get("registers"),
    )


# --- beside the published figures ---------------------------------------------------------------


def compare_traffic(counted: Counted, row: published.Traffic) -> Row:
    """The published row at this n beside the counts; a cell that was not printed is left out."""
    counts = counted.counters
    sizes = [int(counts[f"transactions_{size}"]) for size in (32, 64, 128)]
    cells = []
    columns = [
        ("total", row.total, sum(sizes)),
        ("32-byte", row.of_32, sizes[0]),
        ("64-byte", row.of_64, sizes[1]),
        ("128-byte", row.of_128, sizes[2]),
        ("volume", row.volume, int(counts["volume_bytes"])),
    ]
    for column, formula, count in columns:
        if formula is None:
            continue
        expected = formula(counted.n)
        shown = f"{int(expected):,}" if expected.denominator == 1 else str(expected)
        cells.append(Cell(column, formula.text, shown, f"{count:,}", expected == count))
    abu = counts["abu"]
    shown = f"{100 * abu:.4g}%"
    cells.append(Cell("ABU", row.abu, row.abu, shown, row.abu_agrees(abu)))
    narrow = counted.variant in gallery.NARROW_VARIANTS and counted.n == gallery.NARROW
    explanation = gallery.NARROW_REASON if narrow else ""
    return Row(row.label, counted.variant, counted.n, tuple(cells), explanation)


def table_wanted(sizes: Iterable[int]) -> list[tuple[Variant, int]]:
    """What stands for the rows of the published table at these sizes."""
    wanted = []
    for n in sizes:
        wanted += [(variant, n) for variant in gallery.TABLE_VARIANTS if variant.fits(n)]
        if n == gallery.NARROW:
            wanted += [(variant, n) for variant in gallery.NARROW_VARIANTS]
    return wanted


def table_rows(counted: Iterable[Counted]) -> list[Row]:
    """One row for each; a narrow variant stands in the row of the shape it stands for."""
    rows = []
    for entry in counted:
        traffic = entry.variant.traffic
        if entry.variant in gallery.NARROW_VARIANTS:
            traffic = published.TRAFFIC["GPU6, GPU7, GPU8 (16,8)"]
        if traffic is not None:
            rows.append(compare_traffic(entry, traffic))
    return rows


def resources(bench: Bench, counted: Iterable[Counted]) -> list[Resources]:
    """Registers, shared memory and occupancy of each variant, once.

    On the study's device occupancy is that of the published registers: those of a compiler for a
    modern GPU say nothing about it. Its shared memory holds a launch's parameters and arguments.
    """
    is_published = bench.device == published.DEVICE
    seen: dict[Variant, Resources] = {}
    for entry in counted:
        if entry.variant in seen:
            continue
        kernel = published.KERNELS[entry.variant.kernel]
        shared = entry.static_shared_bytes
        if bench.fields["compute_capability"][0] == 1:
            shared += published.LAUNCH_BYTES + entry.argument_bytes
        registers = kernel.registers if is_published else entry.registers_now
        found = None
        if registers is not None:
            try:
                found = occupancy.ask(
                    bench.course, bench.device, registers, shared, entry.variant.threads
                )
            except UsageError:  # the device does not take such a block
                found = None
        best = is_published and entry.variant.is_published_best
        seen[entry.variant] = Resources(
            variant=entry.variant,
            registers=registers,
            registers_published=kernel.registers if is_published else None,
            registers_now=entry.registers_now,
            shared_bytes=shared,
            shared_published=kernel.shared_bytes if best else None,
            occupancy=found.fraction if found else None,
            limiter=found.limiter if found else None,
            blocks_per_sm=found.blocks_per_sm if found else None,
            occupancy_published=(
                published.occupancy_of(kernel.name, entry.variant.block) if is_published else None
            ),
        )
    return list(seen.values())
