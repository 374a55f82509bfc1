"""Processor time of a C++ build from nothing, by target: user and system time of every compiler and linker.

    python common/measure/build/processor_time.py [--target all] [--source common] [-- CMAKE_OPTION ...]

Processor time, since it hardly depends on what else the machine does. Builds in a folder of its own that is
removed afterwards; no compiler cache takes part. Standard output: a table, the slowest steps below it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LOG = "TILEWISE_BUILD_LOG"  # names the file that each compiler's time is added to


def launch(command: list[str]) -> int:
    """Runs one compiler or linker and writes down what it took."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    output = command[command.index("-o") + 1] if "-o" in command else command[0]
    line = json.dumps([output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024])
    with open(os.environ[LOG], "a") as log:
        log.write(line + "\n")
    return os.waitstatus_to_exitcode(status)


def target_of(output: str) -> str:
    """warpsim/CMakeFiles/warpsim_hot.dir/memory.cpp.o -> warpsim_hot; what is linked: linking."""
    found = re.search(r"CMakeFiles/([\w-]+)\.dir/", output)
    return found[1] if found else "linking"


def table(rows: list[tuple[str, float, float]], wall_s: float, jobs: int) -> str:
    sums: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0])
    for output, seconds, peak in rows:
        entry = sums[target_of(output)]
        entry[0] += 1
        entry[1] += seconds
        entry[2] = max(entry[2], peak)
    lines = ["| target | steps | processor seconds | most memory, MiB |", "|---|---|---|---|"]
    for name, (count, seconds, peak) in sorted(sums.items(), key=lambda item: -item[1][1]):
        lines.append(f"| {name} | {count:.0f} | {seconds:.1f} | {peak:.0f} |")
    total = sum(seconds for _, seconds, _ in rows)
    lines.append(f"| all of it | {len(rows)} | {total:.1f} | {max(row[2] for row in rows):.0f} |")
    lines.append(f"\n{wall_s:.0f} s by the clock, {jobs} at a time. The slowest steps:\n")
    for output, seconds, _ in sorted(rows, key=lambda row: -row[1])[:12]:
        lines.append(f"    {seconds:6.1f} s  {output}")
    return "\n".join(lines)


def main() -> int:
    if LOG in os.environ:
        return launch(sys.argv[1:])
    parser = argparse.ArgumentParser(description="Processor time of a build from nothing.")
    parser.add_argument("--target", default="tilewise_grading")
    parser.add_argument("--source", type=Path, default=ROOT / "common")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("options", nargs="*", help="for CMake, after --")
    arguments = parser.parse_args()

    launcher = f"{sys.executable};{Path(__file__).resolve()}"
    with tempfile.TemporaryDirectory(prefix="tilewise-build-") as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CMAKE_")}
        configure = ["cmake", "-G", "Ninja", "-S", str(arguments.source), "-B", folder]
        configure += ["-DTILEWISE_TESTS=OFF", "-DTILEWISE_UNITY=ON"]
        configure += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"]
        configure += [f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}", *arguments.options]
        done = subprocess.run(configure, env=environment, stdout=sys.stderr)
        if done.returncode != 0:
            return 3
        log = Path(folder) / "build-times"
        start = time.monotonic()
        ninja = ["ninja", "-C", folder, "-j", str(arguments.jobs), arguments.target]
        done = subprocess.run(ninja, env=environment | {LOG: str(log)}, stdout=sys.stderr)
        if done.returncode != 0:
            return 3
        rows = [tuple(json.loads(line)) for line in log.read_text().splitlines()]
        print(table(rows, time.monotonic() - start, arguments.jobs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
