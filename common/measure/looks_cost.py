#!/usr/bin/env python3
"""What looking beyond the cases costs: sizes that no case has, and the blocks whose factors are followed.

    looks_cost.py [--labs 05 11] [--exercises] [--turns 5]

Grades each solution in turns with both, without the probes, and without either (pipeline/probes.py,
pipeline/tile_use.py), so that whatever else the machine does meets all three alike, and prints the
processor time (user and system, of all processes) of each: the median of the turns, and the median of
the ratios within a turn. Needs the build; run it in the repository's root.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.labs.course import find_course  # noqa: E402
from grader.labs.lab import Lab, load_lab  # noqa: E402
from grader.labs.options import Options  # noqa: E402
from grader.labs.submission import FILE_NAME, read  # noqa: E402
from grader.pipeline import judged, probes, tile_use  # noqa: E402,F401
from grader.pipeline.grade import grade  # noqa: E402

WAYS = ("all", "no probes", "neither")
_LOOK, _FOLLOW = probes.look, tile_use.looked_at


def choose(way: str) -> None:
    """What the next grading looks at."""
    probes.look = _LOOK if way == "all" else lambda *_: ()
    tile_use.looked_at = (lambda session, seen, recorded: seen) if way == "neither" else _FOLLOW


def seconds(lab: Lab, course, way: str) -> float:
    choose(way)
    before = os.times()
    result = grade(
        course, lab, read(course.solutions / lab.folder.name / FILE_NAME), Options("sim")
    )
    after = os.times()
    if result.status != "passed":
        sys.exit(f"{lab.id}, {way}: {result.status} {result.message}")
    return sum(after[:4]) - sum(before[:4])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labs", nargs="+", default=[""], help="how their names begin: 05")
    parser.add_argument("--exercises", action="store_true", help="these and no labs")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    course = find_course(ROOT)
    folder = course.exercises if given.exercises else course.labs
    print("| lab | all, s | probes, s | followed, s | both, of the rest |\n|---|---|---|---|---|")
    for path in sorted(folder.glob("*/lab.toml")):
        if not path.parent.name.startswith(tuple(given.labs)):
            continue
        lab = load_lab(path.parent)
        seconds(lab, course, "all")  # compiled once
        turns = [{way: seconds(lab, course, way) for way in WAYS} for _ in range(given.turns)]
        of = {way: statistics.median(turn[way] for turn in turns) for way in WAYS}
        probed = statistics.median(turn["all"] - turn["no probes"] for turn in turns)
        followed = statistics.median(turn["no probes"] - turn["neither"] for turn in turns)
        more = statistics.median(turn["all"] / turn["neither"] - 1 for turn in turns)
        print(
            f"| {path.parent.name} | {of['all']:.2f} | {probed:.2f} | {followed:.2f} | {more:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
