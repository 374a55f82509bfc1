"""Writes counted.json: every kernel that a question asks about, run by the simulator.

    python -m grader.quiz.counting         what the table lacks; needs nvcc, the programs, solutions/
    python -m grader.quiz.counting all     everything anew

Which runs are needed is found by answering every question with all of its parameters.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from grader.errors import StepError
from grader.labs.course import Course, find_checkout
from grader.machine.toolchain import find_toolchain, program, write_atomically
from grader.quiz import counted
from grader.quiz.bank import QUESTIONS
from grader.quiz.question import SIMULATOR, call

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Kernel:
    """How a kernel of the table is compiled and what its program is given."""

    source: str  # in the checkout
    sizes: tuple[str, ...] = ()  # parameters that the program takes, in this order
    macros: dict[str, str] = field(default_factory=dict)  # parameter -> macro
    constants: dict[str, str] = field(default_factory=dict)  # parameter -> constexpr int
    own_main: bool = False
    words: tuple[str, ...] = ()  # before the sizes


def _gallery(number: int, **macros: str) -> Kernel:
    return Kernel(f"solutions/gallery/gpu{number}.cu", ("n",), macros)


def _lab(name: str, sizes: str, **constants: str) -> Kernel:
    return Kernel(f"solutions/{name}/matmul.cu", tuple(sizes.split()), constants=constants)


def _probe(name: str, sizes: str) -> Kernel:
    return Kernel(
        "grader/quiz/kernels/probes.cu", tuple(sizes.split()), own_main=True, words=(name,)
    )


KERNELS = {
    "naive": _gallery(1, x="BLOCK_X", y="BLOCK_Y"),
    "gpu2": _gallery(2, x="BLOCK_X", y="BLOCK_Y"),
    "gpu3": _gallery(3, x="BLOCK_X", y="BLOCK_Y"),
    "tiled": _gallery(4, t="TILE"),
    "gpu5": _gallery(5, t="TILE"),
    "gpu6": _gallery(6, y="BLOCK_Y"),
    "guarded": _lab("01-naive-kernel", "n"),
    "checked": _lab("03-boundary-checks", "n"),
    "rectangular": _lab("04-rectangular-matrices", "j k l"),
    "register": _lab("05-register-tiling", "j k l", tm="TM", tn="TN"),
    "padded": _lab("06-bank-conflicts", "j k l", stride="M_STRIDE"),
    "vector": _lab("07-vector-access", "j k l"),
    "async": _lab("08-async-copies", "j k l"),
    "warps": _lab("09-warp-tiles", "j k l"),
    "race": Kernel("grader/quiz/kernels/race.cu", macros={"without": "WITHOUT"}, own_main=True),
    **{
        name: _probe(name, sizes)
        for name, sizes in {
            "map": "n b", "image": "rows columns x y", "image_swapped": "rows columns x y",
            "grid_stride": "n blocks b", "global_steps": "stride offset", "shared_steps": "stride",
            "shared_columns": "side row", "shared_float4": "stride", "shared_float2": "stride",
            "copy1": "n b", "copy2": "n b", "copy4": "n b", "below": "b limit", "every": "b step",
            "add_plain": "n", "add_tiled": "n", "tree": "n b", "tree_strided": "n b",
            "transpose": "t n", "smooth": "b blocks", "constants": "words", "copies": "bytes b",
            "histogram": "bins b",
        }.items()
    },
}  # fmt: skip


def needed() -> set[str]:
    """The keys of all runs that a question may ask for."""
    counted.wanted = set()
    try:
        for question in QUESTIONS:
            if question.by == SIMULATOR:
                for parameters in question.combinations():
                    call(question.answer, parameters)
        return counted.wanted
    finally:
        counted.wanted = None


def shares(keys: Iterable[str], number: int) -> list[list[str]]:
    """The keys in so many lists of one length; those of one program follow each other."""
    ordered = sorted(keys, key=lambda key: (_run_of(key).program.label, key))
    ends = [len(ordered) * at // number for at in range(number + 1)]
    return [ordered[first:last] for first, last in itertools.pairwise(ends)]


def count(course: Course, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Runs each on the simulator. Raises StepError if one fails."""
    with TemporaryDirectory() as folder:
        bench = _Bench(course, Path(folder))
        runs = [_run_of(key) for key in sorted(keys)]
        with ThreadPoolExecutor(2) as pool:
            programs = sorted({run.program for run in runs})
            deque(pool.map(bench.compile, programs), maxlen=0)
            found = pool.map(bench.run, runs)
            return {run.key: facts for run, facts in zip(runs, found, strict=True)}


@dataclass(frozen=True, order=True)
class _Program:
    """A source with its constants, compiled for one level of PTX."""

    source: str
    level: int
    macros: tuple[tuple[str, int], ...]
    constants: tuple[tuple[str, int], ...]
    own_main: bool

    @property
    def label(self) -> str:
        parts = [f"{name}{value}" for name, value in (*self.macros, *self.constants)]
        return "-".join(
            [self.source.replace("/", "-").removesuffix(".cu"), str(self.level), *parts]
        )


@dataclass(frozen=True)
class _Run:
    key: str
    program: _Program
    device: str
    words: tuple[str, ...]


def _run_of(key: str) -> _Run:
    match = re.fullmatch(r"(\w+) (.*) on (\w+)", key)
    assert match is not None, key
    kernel, device = KERNELS[match[1]], match[3]
    pairs = (word.partition("=") for word in match[2].split())
    given = {name: int(value) for name, _, value in pairs}
    taken = {*kernel.sizes, *kernel.macros, *kernel.constants}
    if set(given) - taken or set(kernel.sizes) - set(given):
        raise StepError(f"{key}: the kernel takes {', '.join(sorted(taken))}.")
    built = _Program(
        kernel.source,
        75 if device in ("c1060", "c2050", "t4") else 90,
        tuple((kernel.macros[name], given[name]) for name in kernel.macros if name in given),
        tuple((kernel.constants[name], given[name]) for name in kernel.constants if name in given),
        kernel.own_main,
    )
    words = (*kernel.words, *(str(given[name]) for name in kernel.sizes))
    return _Run(key, built, device, words)


class _Bench:
    """Where programs are compiled and run."""

    def __init__(self, course: Course, folder: Path) -> None:
        self.course, self.folder = course, folder
        self.toolchain = find_toolchain(course)
        self.warpsim = program(course, "warpsim")

    def compile(self, wanted: _Program) -> None:
        text = (self.course.root / wanted.source).read_text(encoding="utf-8")
        for name, value in wanted.constants:
            text, changes = re.subn(rf"(constexpr int {name} = )[^;]+;", rf"\g<1>{value};", text)
            assert changes == 1, (wanted.source, name)
        if not wanted.own_main:
            text += f'\n#include "{self.course.root}/docs/experiments/main.cu"\n'
        source = self.folder / f"{wanted.label}.cu"
        source.write_text(text)
        command = [
            str(self.toolchain.nvcc), "-std=c++17", "-lineinfo", "--no-compress", "-cudart", "shared",
            f"-arch=compute_{wanted.level}", "-I", str(self.course.include),
            *(f"-D{name}={value}" for name, value in wanted.macros), str(source),
            "-o", str(self.folder / wanted.label),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise StepError(f"{wanted.label} does not compile: {done.stderr.strip()[:500]}")

    def run(self, wanted: _Run) -> dict[str, Any]:
        report = self.folder / f"{wanted.key}.json"
        command = [
            self.warpsim, "run", "--quiet", "--device", wanted.device, "--threads", "1",
            "--json", report, "--", self.folder / wanted.program.label, *wanted.words,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if not report.is_file():
            raise StepError(f"{wanted.key} could not be run: {done.stderr.strip()}")
        return _facts(json.loads(report.read_text()))


def _facts(report: dict[str, Any]) -> dict[str, Any]:
    """What of a report may be asked for: nothing that depends on the compiler's choices alone."""
    kernel = report["kernels"][0]
    counters = {name: value for name, value in kernel["counters"].items() if value}
    by_the_compiler = "instructions", "async_distance", "async_multiply_adds", "async_idle_sectors"
    for name in (*by_the_compiler, "narrow_additions"):
        counters.pop(name, None)
    blocks = kernel["grid"][0] * kernel["grid"][1]
    threads = kernel["block"][0] * kernel["block"][1]
    found = sorted(
        {
            (item["code"], item["line"], item["other_line"])
            for item in report["diagnostics"]
            if item["severity"] != "note"  # such as memory that is never freed
        }
    )
    return counters | {
        "blocks": blocks, "threads": threads, "shared_bytes": kernel["shared_bytes"],
        "findings": [list(item) for item in found],
    }  # fmt: skip


def main() -> None:
    course = find_checkout()
    keys = needed()
    known = {} if "all" in sys.argv[1:] or not counted.FILE.is_file() else counted.table()
    counts = {name: known[name] for name in keys & set(known)}
    counts |= count(course, keys - set(known))
    rows = [f" {json.dumps(name)}: {json.dumps(counts[name])}" for name in sorted(counts)]
    text = f'{{\n"schema": "{counted.SCHEMA}",\n"counts": {{\n' + ",\n".join(rows) + "\n}}\n"
    write_atomically(counted.FILE, text)
    print(f"{counted.FILE.name}: {len(counts)} runs", file=sys.stderr)


if __name__ == "__main__":
    main()
