#!/usr/bin/env python3
"""Are the labs' solutions right for any shape, and clean under every checker of both backends?

    random_shapes.py build DIR    compile shapes.cu with each solution          (nvcc; no GPU)
    random_shapes.py sim DIR      run it on the simulator, which checks all     (neither)
    random_shapes.py gpu DIR      run it plainly and under compute-sanitizer    (a GPU; no nvcc)
    random_shapes.py table DIR    write docs/measurements/lab-shapes.md from both

DIR may be carried to another machine between the steps. The shapes are the same everywhere: they
follow from --seed. Needs the build's warpsim for `sim`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.tests import corpus_files  # noqa: E402

LABS = ("07-vector-access", "08-async-copies", "09-warp-tiles")
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
# Planted faults, so that a checker which finds nothing is seen to be able to: wrong submissions of
# the grader's corpus, and the tool that must find each.
PLANTED = (
    ("07-vector-access", "tail-not-guarded", "memcheck"),
    ("07-vector-access", "one-barrier", "racecheck"),
    ("08-async-copies", "reads-outside", "memcheck"),
    ("08-async-copies", "no-barrier", "racecheck"),
    ("09-warp-tiles", "store-unguarded", "memcheck"),
    ("09-warp-tiles", "rows-not-awaited", "racecheck"),
)
PLANTED_SHAPES = 20
PRINTED = re.compile(
    r"(\d+) shapes, (\d+) with unaligned rows, (\d+) wrong, largest error (\S+) of"
)
FOUND = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)")


def build(directory: Path) -> None:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    programs = {lab: ROOT / "solutions" / lab / "matmul.cu" for lab in LABS}
    for lab, name, _ in PLANTED:
        entry = corpus_files.find(lab, name)
        programs[f"{lab}.{name}"] = entry.write(ROOT / "build" / "corpus" / lab / "wrong")
    for program, source in programs.items():
        command = [nvcc, "-std=c++17", "-O3", "-lineinfo", "--no-compress", "-arch=compute_90",
                   "-cudart", "shared", "-I", ROOT / "common/include", "-include", source,
                   Path(__file__).with_name("shapes.cu"), "-o", directory / program]  # fmt: skip
        subprocess.run(command, check=True)


def start(command: list) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def faults(done: subprocess.CompletedProcess[str], found: re.Pattern) -> int:
    """How many a checker of compute-sanitizer says that it found."""
    counts = found.findall(done.stdout + done.stderr)
    if not counts:
        sys.exit(f"random_shapes: {done.args} does not say what it found:\n{done.stdout}")
    return int(counts[0])  # a second line tells how many of them were not printed


def run(command: list, shapes: int, found: re.Pattern | None = None) -> dict:
    """What shapes.cu printed, and the faults that the checker round it counted."""
    began = time.monotonic()
    done = start(command)
    printed = PRINTED.search(done.stdout)
    if printed is None or int(printed[1]) != shapes:
        sys.exit(
            f"random_shapes: {command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        )
    result = {"shapes": int(printed[1]), "unaligned": int(printed[2]), "wrong": int(printed[3]),
              "worst": float(printed[4]), "status": done.returncode}  # fmt: skip
    if found is not None:
        result["faults"] = faults(done, found)
    return result | {"seconds": time.monotonic() - began}


def sim(directory: Path, count: int, seed: int) -> None:
    results = {}
    for lab in LABS:
        report = directory / f"{lab}.report.json"
        warpsim = [ROOT / "build/bin/warpsim", "run", "--quiet", "--json", report]
        result = run([*warpsim, "--", directory / lab, count, seed], count)
        result["faults"] = len(json.loads(report.read_text())["diagnostics"])
        results[lab] = result
        print(lab, result)
    for lab, name, _ in PLANTED:
        report = directory / f"{lab}.{name}.report.json"
        warpsim = [ROOT / "build/bin/warpsim", "run", "--quiet", "--json", report]
        start([*warpsim, "--", directory / f"{lab}.{name}", PLANTED_SHAPES, seed])
        codes = {found["code"] for found in json.loads(report.read_text())["diagnostics"]}
        results[f"{lab}.{name}"] = sorted(codes)
        print(lab, name, codes)
    (directory / "sim.json").write_text(json.dumps(results))


def gpu(directory: Path, count: int, seed: int) -> None:
    results = {}
    for lab in LABS:
        program = [directory / lab, count, seed]
        results[lab] = {"plain": run(program, count)}
        print(lab, results[lab], flush=True)
        for tool in TOOLS:
            checker = ["compute-sanitizer", "--tool", tool]
            results[lab][tool] = run([*checker, *program], count, FOUND)
            print(lab, tool, results[lab][tool], flush=True)
    for lab, name, tool in PLANTED:
        program = [directory / f"{lab}.{name}", PLANTED_SHAPES, seed]
        done = start(["compute-sanitizer", "--tool", tool, *program])
        results[f"{lab}.{name}"] = faults(done, FOUND)
        print(lab, name, tool, results[f"{lab}.{name}"], flush=True)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    machine = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    version = ["compute-sanitizer", "--version"]
    told = subprocess.run(version, capture_output=True, text=True, check=True).stdout
    results["machine"] = {
        "gpu": machine.splitlines()[0],
        "sanitizer": told.split("Version")[-1].strip(),
    }
    (directory / "gpu.json").write_text(json.dumps(results))


def table(directory: Path, count: int, seed: int, output: Path) -> None:
    on_sim = json.loads((directory / "sim.json").read_text())
    on_gpu = json.loads((directory / "gpu.json").read_text())
    rows = []
    for lab in LABS:
        runs = {"warpsim, all checks": on_sim[lab], "GPU": on_gpu[lab]["plain"]}
        runs |= {f"GPU, {tool}": on_gpu[lab][tool] for tool in TOOLS}
        for where, result in runs.items():
            rows.append(
                f"| {lab} | {where} | {result['shapes']} ({result['unaligned']}) | {result['wrong']} "
                f"| {result['worst']:.3f} | {result.get('faults', '-')} | {result['seconds']:.1f} |"
            )
    planted = [
        f"| {lab} | {name} | {', '.join(on_sim[f'{lab}.{name}']) or 'nothing'} | {tool} "
        f"| {on_gpu[f'{lab}.{name}']} |"
        for lab, name, tool in PLANTED
    ]
    machine = on_gpu["machine"]
    output.write_text(
        PAGE.format(
            count=count,
            seed=seed,
            rows="\n".join(rows),
            planted="\n".join(planted),
            planted_shapes=PLANTED_SHAPES,
            gpu=machine["gpu"],
            sanitizer=machine["sanitizer"],
            date=datetime.date.today(),
        )
    )
    print(output)


PAGE = """# Labs 07 to 09 on random shapes

| | |
|---|---|
| GPU | {gpu} |
| compute-sanitizer | {sanitizer} |
| compiler | nvcc 13.0: PTX for compute_90, compiled for the GPU by the driver |
| date | {date} |
| commands | `common/measure/random_shapes.py build DIR`, then `sim DIR`, `gpu DIR`, `table DIR` |

Each lab's solution multiplies {count} pairs of random matrices of random shapes (seed {seed}), up to 200 x 200 times
200 x 200; half of the k and half of the l are multiples of 4, the others are odd, small, or around a tile's border. Every
product is compared with float64 element by element; **largest error** is its share of the bound eps sqrt(k) (|M| |N|).
**Unaligned**: shapes in which the rows of M or of N and P are not aligned to 16 bytes. **Faults**: what the checker
found: on the simulator out of bounds, misaligned, uninitialised, races, barriers, copies not waited for; on the GPU what
the tool of compute-sanitizer is for. Each matrix is an allocation of exactly its size.

| lab | run by | shapes (unaligned) | wrong | largest error | faults | seconds |
|---|---|---|---|---|---|---|
{rows}

The same checkers on wrong submissions of the grader's corpus, with the first {planted_shapes} of the shapes: what each finds.

| lab | planted fault | warpsim | tool of compute-sanitizer | faults |
|---|---|---|---|---|
{planted}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("build", "sim", "gpu", "table"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "docs/measurements/lab-shapes.md")
    arguments = parser.parse_args()
    directory, count, seed = arguments.directory.resolve(), arguments.count, arguments.seed
    directory.mkdir(parents=True, exist_ok=True)
    if arguments.step == "build":
        build(directory)
    elif arguments.step == "sim":
        sim(directory, count, seed)
    elif arguments.step == "gpu":
        gpu(directory, count, seed)
    else:
        table(directory, count, seed, arguments.output)


if __name__ == "__main__":
    main()
