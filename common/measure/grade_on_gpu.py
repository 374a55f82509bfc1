#!/usr/bin/env python3
"""Grades on a GPU what must get full marks, again and again, and what must lose points.

    grade_on_gpu.py [--parts solutions slow right] [--labs 05 06] [--names grid-stride swizzle]
                    [--repeats 10] [--jobs 4] [--output docs/measurements/grades-on-gpu.md]

The whole way of a student's file, `grader run LAB --backend gpu`: every lab's solution --repeats
times, the corpus' right submissions once, and, on both backends, what is right but slow: the
solution of the lab before where the lesson is speed, and the corpus' submissions whose fault is
speed alone. lab_times.py has the times themselves. Gradings run side by side (--jobs), but what is
timed has the GPU alone (grader.machine.gpu.turn). Needs the build and a GPU; run it in the repository's
root.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.tests import corpus_files  # noqa: E402
from grader.tests.corpus_files import Entry  # noqa: E402

# One lab's solution handed in as the next: where the lesson is speed and the signature is the same.
NEIGHBOURS = [
    ("04-rectangular-matrices", "05-register-tiling"),
    ("05-register-tiling", "06-bank-conflicts"),
]


def grade(lab: str, submission: Path, backend: str = "gpu") -> dict:
    """One result, as `grader run` gives it. Ends the program if the grader itself failed."""
    command = [sys.executable, "-m", "grader", "run", lab, "--submission", str(submission),
               "--backend", backend, "--format", "json"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(
            f"grade_on_gpu: {' '.join(command[1:])} ended with {done.returncode}: {done.stderr}"
        )
    return json.loads(done.stdout)


def is_full(result: dict) -> bool:
    return result["status"] == "passed" and result["score"] == result["max_score"]


def performance(result: dict) -> str:
    """Points of the group performance: got and possible."""
    checks = [check for check in result["checks"] if check["group"] == "performance"]
    return f"{sum(c['score'] for c in checks):g} of {sum(c['max_score'] for c in checks):g}"


def ratio(result: dict) -> float | None:
    """Time over the reference's; None if it was not timed."""
    return next(
        (c["data"]["ratio"] for c in result["checks"] if "ratio" in c.get("data", {})), None
    )


def lost(result: dict) -> str:
    return "; ".join(
        f"{c['id']}: {c['message']}" for c in result["checks"] if c["score"] < c["max_score"]
    )


def files(kind: str, lab: str, names: list[str]) -> list[tuple[Entry, Path]]:
    """The corpus' submissions of a lab, of these names if any, each with a file to hand in."""
    folder = ROOT / "build" / "corpus" / lab / kind
    chosen = [one for one in corpus_files.entries(kind, lab) if not names or one.name in names]
    return [(entry, entry.write(folder)) for entry in chosen]


def solution_part(labs: list[str], repeats: int, pool: ThreadPoolExecutor) -> list[str]:
    rows = [
        "Every lab's solution, graded again and again:",
        "",
        "| lab | full marks | time over the reference's | seconds per grading, side by side |",
        "|---|---|---|---|",
    ]
    for lab in labs:
        began = time.monotonic()
        again = [ROOT / "solutions" / lab / "matmul.cu"] * repeats
        results = list(pool.map(lambda path, lab=lab: grade(lab, path), again))
        seconds = (time.monotonic() - began) / repeats
        ratios = sorted(found for found in map(ratio, results) if found is not None)
        spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}" if ratios else "not timed"
        full = sum(map(is_full, results))
        rows.append(f"| {lab} | {full} of {repeats} | {spread} | {seconds:.1f} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def right_part(labs: list[str], chosen: list[str], pool: ThreadPoolExecutor) -> list[str]:
    """One row a lab: how many have full marks, and by name those that have not."""
    rows = [
        "The corpus' right submissions:",
        "",
        "| lab | full marks | lost by |",
        "|---|---|---|",
    ]
    for lab in labs:
        entries = files("right", lab, chosen)
        results = pool.map(lambda one, lab=lab: grade(lab, one[1]), entries)
        found = {entry.name: result for (entry, _), result in zip(entries, results, strict=True)}
        known = {entry.name: f" ({entry.on_gpu})" for entry, _ in entries if entry.on_gpu}
        others = [
            f"{name}: {lost(result)}{known.get(name, '')}"
            for name, result in found.items()
            if not is_full(result)
        ]
        rows.append(
            f"| {lab} | {len(found) - len(others)} of {len(found)} | {'; '.join(others) or '-'} |"
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def slow_ones(labs: list[str], names: list[str]) -> list[tuple[str, str, Path]]:
    """(lab, what it is, file) of what is right but slow."""
    found = [(lab, f"the solution of {before}", ROOT / "solutions" / before / "matmul.cu")
             for before, lab in NEIGHBOURS if lab in labs and not names]  # fmt: skip
    for lab in labs:
        for entry, path in files("wrong", lab, names):
            if entry.check and not entry.code:
                found.append((lab, f"{entry.name}: {entry.fault}", path))
    return found


def slow_part(labs: list[str], names: list[str], pool: ThreadPoolExecutor) -> list[str]:
    rows = [
        "What is right but slow, points for performance:",
        "",
        "| lab | handed in | on sim | on gpu | time over the reference's |",
        "|---|---|---|---|---|",
    ]
    slow = slow_ones(labs, names)
    both = pool.map(lambda one: (grade(one[0], one[2], "sim"), grade(one[0], one[2])), slow)
    for (lab, what, _), (on_sim, on_gpu) in zip(slow, both, strict=True):
        times = ratio(on_gpu)
        beside = "-" if times is None else f"{times:.2f}"
        rows.append(
            f"| {lab} | {what} | {performance(on_sim)} | {performance(on_gpu)} | {beside} |"
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def machine() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpus = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    name, driver = next(iter(collections.Counter(gpus))).split(", ")
    nvcc = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    return f"{name}, driver {driver}, CUDA {re.search(r'V([0-9.]+)', nvcc)[1]}"


PARTS = {
    "solutions": lambda labs, arguments, pool: solution_part(labs, arguments.repeats, pool),
    "slow": lambda labs, arguments, pool: slow_part(labs, arguments.names, pool),
    "right": lambda labs, arguments, pool: right_part(labs, arguments.names, pool),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--labs", nargs="+", default=[""], help="how their names begin: 05")
    parser.add_argument("--names", nargs="+", default=[], help="only these of the corpus")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs" / "measurements" / "grades-on-gpu.md"
    )
    arguments = parser.parse_args()
    labs = sorted(folder.name for folder in (ROOT / "solutions").glob("[0-9]*")
                  if folder.name.startswith(tuple(arguments.labs)))  # fmt: skip
    lines = [
        "# Grades on a GPU",
        "",
        f"{datetime.date.today()}, {machine()}.",
        f"Command: `common/measure/{' '.join([Path(sys.argv[0]).name, *sys.argv[1:]])}`.",
        "",
    ]
    # Written after each part, so that an end of time leaves the parts that were measured.
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for part in arguments.parts:
            lines += [*PARTS[part](labs, arguments, pool), ""]
            temporary = arguments.output.with_suffix(".tmp")
            temporary.write_text("\n".join(lines), encoding="utf-8")
            temporary.replace(arguments.output)


if __name__ == "__main__":
    main()
