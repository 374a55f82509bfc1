"""`make bench`: how fast warpsim is, beside a peer and a yardstick, all in one run.

The 16x16 tiled kernel under `warpsim run`, compiled and interpreted, with every check and counter
and with none, Numba's CUDA simulator with the same kernel, and a plain native triple loop. The
candidates take turns, round after round, so that a slow minute of the machine hits all of them;
reported are medians over the rounds with the lowest and highest, and the peak resident memory of
the process.

--scaling N measures something else: both engines on 1, 2, 4, ... threads, up to as many as there
are.

Standard output: a table. --json FILE: the same as data. Status 1 if a result was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "bench"
MAX_ERROR = 1e-3  # |P - exact|, generous for float32 sums of 512 products of values in [-1, 1]


class BenchError(Exception):
    """A candidate that could not be built or run; the message says which and why."""


@dataclass
class Candidate:
    name: str
    command: list[str]
    width: int
    environment: dict[str, str] = field(default_factory=dict)
    rates: list[float] = field(default_factory=list)  # multiply-adds per second, one a round
    peak_bytes: int = 0

    def run_once(self) -> None:
        """One process: adds its rate (median over its launches) and its peak memory."""
        process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, text=True, env=os.environ | self.environment
        )
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise BenchError(f"{self.name}: ended with status {process.returncode}")
        line = next((text for text in output.splitlines() if text.startswith('{"n"')), None)
        if line is None:
            raise BenchError(f"{self.name}: printed no result")
        result = json.loads(line)
        if not result.get("worst_error", 0.0) <= MAX_ERROR:
            raise BenchError(f"{self.name}: wrong result, off by {result['worst_error']}")
        self.rates.append(self.width**3 / statistics.median(result["seconds"]))
        self.peak_bytes = max(self.peak_bytes, usage.ru_maxrss * 1024)

    def summary(self) -> dict:
        return {
            "name": self.name,
            "n": self.width,
            "multiply_adds_per_s": statistics.median(self.rates),
            "low": min(self.rates),
            "high": max(self.rates),
            "rounds": len(self.rates),
            "peak_mb": self.peak_bytes / 1e6,
        }


def build() -> None:
    """Compiles the two programs, with the compilers that set-up chose."""
    toolchain = json.loads((ROOT / "build" / "toolchain.json").read_text())
    BUILD.mkdir(parents=True, exist_ok=True)
    nvcc = [toolchain["nvcc"], "-ccbin", toolchain["cxx"], "-std=c++17", "-O3", "-lineinfo"]
    nvcc += ["--no-compress", "-gencode", "arch=compute_80,code=compute_80", "-cudart", "shared"]
    commands = (
        nvcc + ["-o", str(BUILD / "tiled"), str(HERE / "tiled.cu")],
        [toolchain["cxx"], "-std=c++20", "-O3", "-march=native", "-o", str(BUILD / "native")]
        + [str(HERE / "native.cpp")],
    )
    for command in commands:
        result = subprocess.run(command, text=True, capture_output=True)
        if result.returncode != 0:
            raise BenchError(f"{command[-1]} does not compile:\n{result.stderr}")


def simulated(threads: int, launches: int, engine: str, checks: str, width: int) -> Candidate:
    """The tiled kernel under `warpsim run`; auto: all launches but the first start compiled."""
    warpsim = str(ROOT / "build" / "bin" / "warpsim")
    report = str(BUILD / f"report-{engine}-{checks}.json")
    options = ["--threads", str(threads), "--checks", checks, "--json", report, "--quiet"]
    command = [warpsim, "run", *options, "--engine", engine, "--", str(BUILD / "tiled")]
    what = {"auto": "compiled", "interpreter": "interpreted"}[engine]
    name = f"{what}, " + ("all checks and counters" if checks == "all" else f"--checks {checks}")
    return Candidate(name, [*command, str(width), str(launches)], width)


def scaling_candidates(launches: int, width: int) -> list[Candidate]:
    """Both engines on 1, 2, 4, ... threads and on as many as this process may use."""
    most = len(os.sched_getaffinity(0))
    counts = sorted({most, *(1 << i for i in range(most.bit_length()) if 1 << i <= most)})
    found = []
    for engine in ("interpreter", "auto"):
        for threads in counts:
            candidate = simulated(threads, launches, engine, "all", width)
            candidate.name = f"{candidate.name.split(',')[0]}, {threads} threads"
            found.append(candidate)
    return found


def candidates(threads: int, launches: int) -> list[Candidate]:
    numba = [sys.executable, str(HERE / "numba_tiled.py"), "64"]
    return [
        *(
            simulated(threads, launches, engine, checks, width)
            for width in (512, 1024)
            for checks in ("all", "none")
            for engine in ("auto", "interpreter")
        ),
        Candidate("Numba's CUDA simulator", numba, 64, {"NUMBA_ENABLE_CUDASIM": "1"}),
        Candidate("native triple loop, 1 thread", [str(BUILD / "native"), "512"], 512),
    ]


def table(rows: list[dict], threads: int | None) -> str:
    on_threads = "" if threads is None else f", warpsim on {threads} threads"
    lines = [
        f"16x16 tiled kernel{on_threads}; multiply-adds per second,"
        f" median [low .. high] of {rows[0]['rounds']} interleaved rounds",
        "",
        f"{'':34} {'n':>4}  {'median':>8}  {'[low .. high]':22} {'peak memory':>11}",
    ]
    for row in rows:
        spread = f"[{row['low']:.2e} .. {row['high']:.2e}]"
        lines.append(
            f"{row['name']:34} {row['n']:>4}  {row['multiply_adds_per_s']:8.2e}  {spread:22}"
            f" {row['peak_mb']:8.0f} MB"
        )
    return "\n".join(lines)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures warpsim beside a peer and a yardstick.")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each candidate (default 7)")
    parser.add_argument("--threads", type=int, default=2, help="warpsim's threads (default 2)")
    parser.add_argument("--launches", type=int, default=3, help="launches per process (default 3)")
    parser.add_argument(
        "--scaling",
        type=int,
        metavar="N",
        help="the tiled kernel at this width on 1, 2, 4, ... threads, instead of all else",
    )
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    try:
        build()
        field_of_candidates = (
            scaling_candidates(arguments.launches, arguments.scaling)
            if arguments.scaling
            else candidates(arguments.threads, arguments.launches)
        )
        for number in range(arguments.rounds):
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr, flush=True)
            for candidate in field_of_candidates:
                candidate.run_once()
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    rows = [candidate.summary() for candidate in field_of_candidates]
    print(table(rows, None if arguments.scaling else arguments.threads))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
