"""Grades a class while the batch is killed five times at random, then lets it end.

    python -m grader.tests.kill_batch CLASS OUTPUT [--draws N] [--between 40 200] [OPTION OF BATCH ...]

Compare OUTPUT afterwards with that of a batch that was left alone: gradebooks, results and
feedback must be the same, byte for byte.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

_KILLS = 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("export", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--draws", type=int, default=2026, help="seed of when it is killed")
    parser.add_argument("--between", type=float, nargs=2, default=(40, 200), help="seconds")
    given, options = parser.parse_known_args()
    chance = random.Random(given.draws)
    command = [
        sys.executable, "-m", "grader", "batch", str(given.export),
        "--output", str(given.output), *options,
    ]  # fmt: skip
    start = time.monotonic()
    for number in range(1, _KILLS + 1):
        batch = subprocess.Popen(command)
        wait = chance.uniform(*given.between)
        try:
            batch.wait(wait)
            print(f"run {number} ended by itself", flush=True)
        except subprocess.TimeoutExpired:
            batch.kill()
            batch.wait()
            print(f"run {number} killed after {wait:.1f} s: {_kept(given.output)}", flush=True)
    status = subprocess.run(command).returncode
    print(f"the last run ended with status {status}; {time.monotonic() - start:.0f} s in all")
    return status


def _kept(output: Path) -> str:
    units = list((output / ".batch" / "units").glob("*.json"))
    load = Path("/proc/loadavg").read_text().split()[0]
    return f"{len(units)} results kept, load {load}"


if __name__ == "__main__":
    sys.exit(main())
