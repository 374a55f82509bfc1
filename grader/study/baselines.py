"""Times of the CPU baselines (common/reference) on this machine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from grader.errors import StepError
from grader.labs.course import Course
from grader.machine.toolchain import program
from grader.study.result import Baseline

PROGRAM = "tilewise-reference"
METHODS = ("ijk", "ikj", "ikj-openmp")
SIZES = (256, 512, 1024)
REPEATS = 3
_TIMEOUT_SECONDS = 600


def measure(
    course: Course, sizes: tuple[int, ...], say: Callable[[str], None]
) -> tuple[Baseline, ...]:
    """Times every method at every size. Raises StepError if the program fails."""
    found = []
    for method in METHODS:
        for n in sizes:
            say(f"timing {method}, n = {n}")
            found.append(_one(course, method, n))
    return tuple(found)


def _one(course: Course, method: str, n: int) -> Baseline:
    command = [program(course, PROGRAM), "--method", method, "--n", str(n),
               "--repeats", str(REPEATS)]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
        return parse(done.stdout)
    except subprocess.TimeoutExpired:
        raise StepError(
            f"{PROGRAM} did not finish {method}, n = {n}, within {_TIMEOUT_SECONDS} seconds."
        ) from None
    except (ValueError, KeyError):
        raise StepError(f"{PROGRAM} failed on {method}, n = {n}: {done.stderr.strip()}") from None


def parse(text: str) -> Baseline:
    """What the program wrote. Raises ValueError or KeyError if it is not that."""
    fields = json.loads(text)
    seconds = fields["seconds"]
    return Baseline(
        method=fields["method"],
        n=fields["n"],
        threads=fields["threads"],
        seconds=seconds["median"],
        low=seconds["low"],
        high=seconds["high"],
    )


def processor() -> str:
    """This machine's processor, as the system names it; "" if it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({len(names)} processors)" if names else ""
