#!/usr/bin/env python3
"""Every so-many-th index expression of every solution, changed mechanically and graded: does the
report name the operand and its phase?

    index_mutations.py [--step 9] [--first 0] [--labs 02 05]

Held against the kernel run in Python (grader/tests/kernel_in_python.py). Prints a line for each and
the sums: `exact`, another sentence about P that is true, one that is false (`wrong`), or a report that opens
with another finding (`elsewhere`). Needs the build and nvcc.
"""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.labs.course import find_course  # noqa: E402
from grader.tests import corpus_files  # noqa: E402
from grader.tests.index_mutations import mutants  # noqa: E402
from grader.tests.index_verdicts import verdict  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--step", type=int, default=9)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--labs", nargs="+", default=[""])
    given = parser.parse_args()
    course = find_course(ROOT)
    counts: collections.Counter[str] = collections.Counter()
    for lab in corpus_files.ladder():
        if not lab.startswith(tuple(given.labs)):
            continue
        for one in mutants(lab, corpus_files.bare_solution(lab))[given.first :: given.step]:
            found = verdict(course, one)
            on_line = "" if found.line == one.line else f" line {found.line}, not {one.line}"
            counts[found.kind] += 1
            print(f"{found.kind:10} {one.id}{on_line}: {found.why} {found.said}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
