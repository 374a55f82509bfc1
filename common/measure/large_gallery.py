"""The gallery at a size that nobody would execute whole: counters by sampling against the formulas.

    .venv/bin/python common/measure/large_gallery.py [--n 16384] [--device c1060]

Every kernel and block shape that has a row in the published table of transactions is recorded,
carried out with `tilewise-exec --sample` with all checks, and compared with the formulas, exactly.
Prints a table in Markdown; ends with 1 if a cell differs, 0 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.labs.course import find_course
from grader.machine.toolchain import program
from grader.study import gallery
from grader.study.gallery import Variant
from grader.study.measure import Bench, open_bench, record_plans

CELLS = {
    "of_32": "transactions_32",
    "of_64": "transactions_64",
    "of_128": "transactions_128",
    "volume": "volume_bytes",
}


COLUMNS = (
    "kernel, block",
    "blocks",
    "executed",
    "kinds",
    "transactions",
    "of 32 / 64 / 128 B",
    "volume, bytes",
    "ABU",
    "as printed",
    "seconds",
    "peak MB",
)


def sample(bench: Bench, plan: Path) -> tuple[dict, float, float]:
    """The kernel's entry of the result, wall seconds and peak megabytes of the process."""
    result = plan.with_suffix(".result.json")
    command = [program(bench.course, "tilewise-exec"), "--plan", plan, "--device", bench.device]
    command += ["--sample", "--result", result]
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        raise SystemExit(f"tilewise-exec ended with status {process.returncode}")
    execution = json.loads(result.read_text())
    if execution["status"] != "ok" or execution["diagnostics"]:
        raise SystemExit(f"{plan}: {execution['status']} {execution['diagnostics'][:1]}")
    return execution["kernels"][0], seconds, usage.ru_maxrss / 1024


def differences(variant: Variant, counters: dict, n: int) -> list[str]:
    """The printed cells that the counters do not meet, to the last transaction."""
    row = variant.traffic
    wrong = []
    total = sum(counters[name] for name in CELLS.values() if name != "volume_bytes")
    if total != row.total(n):
        wrong.append(f"total {total}, printed {row.total(n)}")
    for field, name in CELLS.items():
        formula = getattr(row, field)
        if formula is not None and counters[name] != formula(n):
            wrong.append(f"{name} {counters[name]}, printed {formula(n)}")
    if not row.abu_agrees(counters["abu"]):
        wrong.append(f"abu {100 * counters['abu']:.4f}%, printed {row.abu}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=16384, help="width of the matrices")
    parser.add_argument("--device", default="c1060")
    options = parser.parse_args()
    missed = 0
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    with tempfile.TemporaryDirectory() as folder:
        course = find_course(Path.cwd())
        bench = open_bench(course, options.device, Path(folder), lambda text: None)
        for variant in gallery.TABLE_VARIANTS:
            if variant.traffic is None or not variant.fits(options.n):
                continue
            plan = record_plans(bench, variant, [options.n])[options.n]
            kernel, seconds, megabytes = sample(bench, plan)
            counters, sampling = kernel["counters"], kernel["sampling"]
            wrong = differences(variant, counters, options.n)
            if not sampling["exact"]:
                wrong.append(sampling["why"])
            missed += bool(wrong)
            sizes = [counters[f"transactions_{size}"] for size in (32, 64, 128)]
            cells = [
                variant,
                *(sampling[name] for name in ("blocks", "executed", "classes")),
                sum(sizes),
                " / ".join(map(str, sizes)),
                counters["volume_bytes"],
                f"{100 * counters['abu']:.2f}%",
                "; ".join(wrong) or "yes",
                f"{seconds:.2f}",
                f"{megabytes:.0f}",
            ]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
