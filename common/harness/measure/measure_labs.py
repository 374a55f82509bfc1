#!/usr/bin/env python3
"""Grades the labs' solutions on a GPU again and again, and slow kernels once: do the thresholds hold?

    measure_labs.py [--repeats 10] [--output docs/measurements/labs-NAME.md]

Two tables. Every solution, --repeats times: status, time, ratio to the reference with its confidence interval. And what
should lose performance points, on both backends: each neighbouring lab's solution where a lesson is speed, and the
corpus' submissions whose fault is speed alone. Needs the build and a GPU; run it in the repository's root.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CORPUS = ROOT / "grader" / "tests" / "corpus"
# The solution of one lab handed in as the next, where the next lab's lesson is speed and the signature is the same.
NEIGHBOURS = [("04-rectangular-matrices", "05-register-tiling"), ("05-register-tiling", "06-bank-conflicts")]


def grade(lab: str, submission: Path, backend: str) -> dict:
    """One result, as `grader run` gives it. Ends the program if the grader itself failed."""
    command = [sys.executable, "-m", "grader", "run", lab, "--submission", str(submission),
               "--backend", backend, "--format", "json"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"measure_labs: {' '.join(command[1:])} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def performance(result: dict) -> tuple[float, float]:
    """Points got and possible in the group performance."""
    checks = [check for check in result["checks"] if check["group"] == "performance"]
    return sum(check["score"] for check in checks), sum(check["max_score"] for check in checks)


def timed(result: dict) -> dict | None:
    """Numbers of the timed check, None if it was not timed."""
    found = [check["data"] for check in result["checks"] if "median_ms" in check.get("data", {})]
    return found[0] if found else None


def solutions() -> list[tuple[str, Path]]:
    return [(folder.name, folder / "matmul.cu") for folder in sorted((ROOT / "solutions").glob("[0-9]*"))]


def slow_ones() -> list[tuple[str, str, Path]]:
    """(lab, what it is, file) of what must lose performance points."""
    found = [(lab, f"solution of {before}", ROOT / "solutions" / before / "matmul.cu")
             for before, lab in NEIGHBOURS]  # fmt: skip
    for book in sorted(CORPUS.glob("*/corpus.toml")):
        for entry in tomllib.loads(book.read_text(encoding="utf-8"))["wrong"]:
            if "check" in entry and "code" not in entry:
                path = book.parent / "wrong" / f"{entry['name']}.cu"
                found.append((book.parent.name, f"{entry['name']}: {entry['fault']}", path))
    return found


def solution_rows(repeats: int) -> list[str]:
    rows = []
    for lab, path in solutions():
        results = [grade(lab, path, "gpu") for _ in range(repeats)]
        full = sum(result["score"] == result["max_score"] for result in results)
        times = [numbers for numbers in map(timed, results) if numbers]
        if not times:
            rows.append(f"| {lab} | {full} of {repeats} | not timed | | | | |")
            continue
        medians = [numbers["median_ms"] for numbers in times]
        ratios = [numbers["ratio"] for numbers in times]
        low = min(numbers["ratio_low"] for numbers in times)
        high = max(numbers["ratio_high"] for numbers in times)
        cublas = [numbers["cublas_ratio"] for numbers in times if numbers.get("cublas_ratio")]
        beside = f"{1 / statistics.median(cublas):.1%}" if cublas else "-"
        rows.append(
            f"| {lab} | {full} of {repeats} | {statistics.median(medians):.4g}"
            f" ({min(medians):.4g} to {max(medians):.4g}) | {statistics.median(ratios):.3f}"
            f" ({min(ratios):.3f} to {max(ratios):.3f}) | {low:.3f} to {high:.3f} | {beside}"
            f" | {clocks(times)} |"
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def clocks(times: list[dict]) -> str:
    """Multiprocessor clock and power over all runs."""
    seen = [numbers["clocks"] for numbers in times if numbers.get("clocks")]
    ranges = [found["sm_mhz"] for found in seen if found.get("sm_mhz")]
    if not ranges:
        return "-"
    mhz = f"{min(r['lowest'] for r in ranges):g} to {max(r['highest'] for r in ranges):g} MHz"
    watts = [found["highest_watts"] for found in seen if found.get("highest_watts")]
    return f"{mhz}, up to {max(watts):.0f} W" if watts else mhz


def slow_rows() -> list[str]:
    rows = []
    for lab, what, path in slow_ones():
        on = {backend: grade(lab, path, backend) for backend in ("sim", "gpu")}
        points = {backend: "{:g} of {:g}".format(*performance(result)) for backend, result in on.items()}
        numbers = timed(on["gpu"])
        ratio = f"{numbers['ratio']:.2f}" if numbers and "ratio" in numbers else "-"
        rows.append(f"| {lab} | {what} | {points['sim']} | {points['gpu']} | {ratio} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def gpu_facts() -> dict[str, str]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    nvcc = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    return {"name": name, "driver": driver, "toolkit": re.search(r"V([\d.]+)", nvcc)[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--output", type=Path, help="default: docs/measurements/labs-GPU.md")
    arguments = parser.parse_args()
    facts = gpu_facts()
    name = facts["name"].removeprefix("NVIDIA ").split()[0].lower()
    output = arguments.output or ROOT / "docs" / "measurements" / f"labs-{name}.md"
    text = "\n".join([
        f"# The labs on {facts['name']}",
        "",
        f"{datetime.date.today()}, driver {facts['driver']}, CUDA {facts['toolkit']}.",
        f"Command: `common/harness/measure/measure_labs.py --repeats {arguments.repeats}`.",
        "",
        "## Every solution, graded again and again with BACKEND=gpu",
        "",
        "Time and ratio: median over the runs (lowest to highest run). The interval is the widest 95% confidence interval",
        "of the ratio to the reference in any run. Beside cuBLAS: share of its FP32 speed in the same rounds.",
        "",
        "| lab | full marks | time, ms | ratio to the reference | interval | beside cuBLAS | clocks |",
        "|---|---|---|---|---|---|---|",
        *solution_rows(arguments.repeats),
        "",
        "## What should lose performance points",
        "",
        "| lab | handed in | points on sim | points on gpu | ratio to the reference |",
        "|---|---|---|---|---|",
        *slow_rows(),
        "",
    ])  # fmt: skip
    temporary = output.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(output)


if __name__ == "__main__":
    main()
