#!/usr/bin/env python3
"""Holds the merging of shared memory accesses (common/warpsim/ptx/merge.h) against ptxas's machine code.

    merged_accesses.py kernels DIR    every kernel that `measure.py record DIR` has recorded, line by
                                      line -> docs/measurements/merged-accesses.md
    merged_accesses.py cases          common/tests/ptx/merge/cases.ptx -> cases.expected beside it

No GPU is needed. Needs ptxas, nvdisasm (of the toolkit, or of the package nvidia-cuda-nvdisasm) and, for
`kernels`, the build's tilewise-merges (ninja -C build tilewise-merges).
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "common/tests/ptx/merge/cases.ptx"
ARCH = "sm_90"

# (kernel, source line) -> Counter of (load or store, bytes per lane): static instructions
Accesses = dict[tuple[str, int], Counter]

SECTION = re.compile(r"\s*\.section\s+\.text\.(\w+)")
PLACE = re.compile(r'//## File "[^"]*", line (\d+)(?: inlined at "[^"]*", line (\d+))?')
ACCESS = re.compile(r"\*/\s+(?:@!?U?P\d\s+)?(LDS|STS)((?:\.\w+)*)\s")
BYTES = {"64": 8, "128": 16, "U8": 1, "S8": 1, "U16": 2, "S16": 2}


def tool(name: str) -> str:
    """Of CUDA_HOME, the search path, a toolkit in its usual place, or a package of this Python."""
    packages = [Path(p) / "nvidia/cu13/bin" for p in sys.path if p.endswith("site-packages")]
    folders = [
        Path(os.environ.get("CUDA_HOME", "")) / "bin",
        *packages,
        Path("/usr/local/cuda/bin"),
    ]
    found = shutil.which(name) or next(
        (str(f / name) for f in folders if (f / name).exists()), None
    )
    if not found:
        raise SystemExit(f"{name} was not found: set CUDA_HOME to a CUDA toolkit that has it.")
    return found


def machine_code(ptx: Path) -> Accesses:
    """What ptxas makes of the accesses to shared memory in a PTX file."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "module.cubin"
        subprocess.run([tool("ptxas"), f"-arch={ARCH}", "-lineinfo", ptx, "-o", cubin], check=True)
        text = subprocess.run(
            [tool("nvdisasm"), "-g", "-c", cubin], check=True, capture_output=True, text=True
        ).stdout
    found: Accesses = defaultdict(Counter)
    kernel, line = "", 0
    for row in text.splitlines():
        if match := SECTION.match(row):
            kernel, line = match[1], 0
        elif match := PLACE.search(row):
            line = int(match[2] or match[1])
        elif match := ACCESS.search(row):
            width = next((BYTES[part] for part in match[2].split(".") if part in BYTES), 4)
            found[kernel, line]["load" if match[1] == "LDS" else "store", width] += 1
    return found


def ours(ptx: Path, build: Path) -> Accesses:
    found: Accesses = defaultdict(Counter)
    text = subprocess.run(
        [build / "bin/tilewise-merges", ptx], check=True, capture_output=True, text=True
    ).stdout
    for row in text.splitlines():
        _, kernel, line, kind, width, _ = row.split()
        found[kernel, int(line)][kind, int(width)] += 1
    return found


def words(counts: Counter, kind: str) -> str:
    """`2 x 4 + 1 x 16 bytes`"""
    chosen = sorted((width, n) for (k, width), n in counts.items() if k == kind)
    return " + ".join(f"{n} x {width}" for width, n in chosen) + " bytes" if chosen else "none"


def agree(a: Counter, b: Counter, kind: str) -> bool:
    """Equal, or each width the same number of times more often, as where ptxas unrolls a loop."""
    a = {width: n for (k, width), n in a.items() if k == kind}
    b = {width: n for (k, width), n in b.items() if k == kind}
    return set(a) == set(b) and all(a[w] * sum(b.values()) == b[w] * sum(a.values()) for w in a)


def compare_kernels(directory: Path, build: Path, output: Path) -> None:
    lines = same = merged = 0
    rows = []
    modules = sorted(directory.glob("plans/*/module*.ptx"))
    for module in modules:
        simulated, compiled = ours(module, build), machine_code(module)
        for place in sorted(set(simulated) | set(compiled)):
            for kind in ("load", "store"):
                a, b = simulated.get(place, Counter()), compiled.get(place, Counter())
                if not any(k == kind for k, _ in [*a, *b]):
                    continue
                lines += 1
                merged += any(k == kind and width > 4 for k, width in b)
                if agree(a, b, kind):
                    same += 1
                else:
                    rows.append(
                        f"| {module.parent.name} | {place[1]} | {kind}s | {words(a, kind)} | {words(b, kind)} |"
                    )
    release = subprocess.run(
        [tool("ptxas"), "--version"], capture_output=True, text=True, check=True
    ).stdout
    output.write_text(
        PAGE.format(
            modules=len(modules),
            lines=lines,
            same=same,
            merged=merged,
            rows="\n".join(rows),
            arch=ARCH,
            release=re.search(r"release .*", release)[0],
            date=datetime.date.today(),
        )  # fmt: skip
    )
    print(f"{same} of {lines} lines alike -> {output}")


def write_cases() -> None:
    per_kernel: dict[str, Counter] = defaultdict(Counter)
    for (kernel, _), counts in machine_code(CASES).items():
        per_kernel[kernel] += counts
    with CASES.with_suffix(".expected").open("w") as file:
        for kernel, counts in sorted(per_kernel.items()):
            parts = [f"{kind} {width} {n}" for (kind, width), n in sorted(counts.items())]
            file.write(f"{kernel}: {', '.join(parts)}\n")


PAGE = """# Merged accesses to shared memory, against ptxas

| | |
|---|---|
| compiler | ptxas {release}, for {arch} |
| date | {date} |
| commands | `common/measure/measure.py record DIR`, `common/measure/merged_accesses.py kernels DIR` |

PTX has one load or store per element; ptxas joins neighbours into wider ones. warpsim joins them by the rules in
`common/warpsim/ptx/merge.h` before it counts shared memory requests and wavefronts. Here both are held against each
other for the {modules} modules of the labs' solutions, the gallery, the right submissions of the grader's corpus and the odd
kernels of `common/measure/kernels/`: for every source line, how many static loads (stores) of each width does the
code have? Where ptxas unrolls a loop all widths are there several times as often, which counts as alike.

**{same} of {lines} lines are alike**; in {merged} of them the machine code has accesses of 8 or 16 bytes. The others:

| module | line | | warpsim | ptxas |
|---|---|---|---|---|
{rows}

Why they differ:

- `02-large-dynamic-shared`, `03-short-last-phase`: the same in the main loop; in the code for the last one to three steps,
  which runs only where the width is no multiple of 4, ptxas loads four words ahead of the branches that ask for one, two
  or three of them.
- `03-if-else`: the same store; ptxas has lost its line.
- `06-row-major-tile`: ptxas unrolls a loop that nvcc had unrolled twice by four more, and then finds four neighbours where
  two were. The wavefronts are the same: one of 16 bytes that all lanes share takes two, and one of 8 bytes one.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("kernels", "cases"))
    parser.add_argument("directory", type=Path, nargs="?")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs/measurements/merged-accesses.md"
    )
    arguments = parser.parse_args()
    if arguments.step == "cases":
        write_cases()
    elif arguments.directory is None:
        parser.error("kernels: DIR is missing")
    else:
        compare_kernels(arguments.directory, arguments.build, arguments.output)


if __name__ == "__main__":
    main()
