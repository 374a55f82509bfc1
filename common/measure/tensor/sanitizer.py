#!/usr/bin/env python3
"""What compute-sanitizer says to the wrong files of labs 10 to 12, beside what warpsim says.

    sanitizer.py record DIR     compile and record them                       (nvcc; no GPU)
    sanitizer.py gpu DIR        each under compute-sanitizer's four tools     (a GPU; no nvcc)
    sanitizer.py table DIR      writes docs/measurements/tensor-faults.md

DIR may be carried to another machine between the steps. Needs the build's programs
(ninja -C build tilewise-record tilewise-measure cudart13); run it in the repository's root.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "common" / "measure")]
import measure  # noqa: E402

from grader.tests import corpus_files  # noqa: E402

LABS = ("10-tensor-cores", "11-copy-engine", "12-split-precision")
CASES = ("43x29x61", "129x33x129", "24x448x40")  # primes; one past a block; seven phases
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SECONDS = 30  # for all cases of a file
SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazards? displayed)")
PAGE = ROOT / "docs" / "measurements" / "tensor-faults.md"


def record(directory: Path, jobs: int) -> None:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

    def one(lab: str, entry: corpus_files.Entry) -> None:
        source = entry.write(ROOT / "build" / "corpus" / lab / "wrong")
        kernel = measure.Kernel("wrong", entry.name, source, "rect-device", CASES)
        try:
            measure.compile_and_record(kernel, directory / lab / entry.name, ROOT / "build", nvcc)
        except subprocess.CalledProcessError as error:
            print(f"left out: {lab} {entry.name}: {error}", file=sys.stderr)

    with ThreadPoolExecutor(jobs) as pool:
        for lab in LABS:
            for entry in corpus_files.entries("wrong", lab):
                pool.submit(one, lab, entry)


def verdict(folder: Path, tool: str) -> str:
    """One tool's count, or how the run ended without one."""
    plans = folder / f"{tool}.txt"
    names = sorted(folder.glob("*.plan.json"))
    plans.write_text("".join(f"{path.stem} {path}\n" for path in names))
    command = [
        "compute-sanitizer", "--tool", tool, ROOT / "build/bin/tilewise-measure", "--list", plans,
        "--backend", "gpu", "--repeat", "1", "--output", folder / f"{tool}.json",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "no end"
    found = SUMMARY.search(done.stdout + done.stderr)
    return next(filter(None, found.groups())) if found else f"status {done.returncode}"


def gpu(directory: Path, jobs: int) -> None:
    asked = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    tasks = [(folder, tool) for folder in sorted(directory.glob("*/*")) for tool in TOOLS]
    with ThreadPoolExecutor(jobs) as pool:
        words = list(pool.map(lambda task: verdict(*task), tasks))
    found: dict[str, dict[str, str]] = {}
    for (folder, tool), word in zip(tasks, words, strict=True):
        found.setdefault(f"{folder.parent.name}/{folder.name}", {})[tool] = word
    gpu_name, driver = asked.stdout.strip().split(", ")
    result = {"gpu": gpu_name, "driver": driver, "date": f"{datetime.date.today()}", "words": found}
    (directory / "sanitizer.json").write_text(json.dumps(result, indent=1))


def table(directory: Path) -> None:
    result = json.loads((directory / "sanitizer.json").read_text())
    lines = [
        "# Faults on tensor cores and the copy engine: compute-sanitizer's word", "",
        f"{result['date']}, {result['gpu']}, driver {result['driver']}. Command: "
        "`common/measure/tensor/sanitizer.py record DIR`, `gpu DIR`, `table DIR`.", "",
        "The wrong files of labs 10 to 12, each at 43x29x61, 129x33x129 and 24x448x40 under the four tools of "
        "compute-sanitizer: its number of errors or\nhazards; 0 is no word; `no end`: it had to be stopped. warpsim's word is what the report of "
        "the file must open with, by a test. Where it is a check of the lab (a count that is too\nhigh), nothing "
        "is wrong with the program.", "",
        "| lab | file | warpsim | memcheck | racecheck | synccheck | initcheck |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for lab in LABS:
        for entry in corpus_files.entries("wrong", lab):
            words = result["words"].get(f"{lab}/{entry.name}")
            if words is None:
                continue
            ours = entry.code or f"check {entry.check}"
            cells = " | ".join(words[tool] for tool in TOOLS)
            lines.append(f"| {lab[:2]} | {entry.name} | {ours} | {cells} |")
    PAGE.write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["record", "gpu", "table"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    if options.step == "table":
        table(options.directory)
    else:
        {"record": record, "gpu": gpu}[options.step](options.directory, options.jobs)


if __name__ == "__main__":
    main()
