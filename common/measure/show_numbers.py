#!/usr/bin/env python3
"""Do the numbers of the page of `grader show` equal those of the graded result, for every solution and
every so-many-th file of the corpus?

    show_numbers.py [--step 3] [--labs 02 05] [--kinds wrong right]

Held are sectors, wavefronts, conflicts and barriers of every launch, and what the outputs hold at the
last step. A file is graded and traced in the largest case of which all blocks are traced. The page's
own modules add up, in node. Needs the build, nvcc and node.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.errors import GraderError  # noqa: E402
from grader.labs.course import find_course  # noqa: E402
from grader.labs.lab import load_lab  # noqa: E402
from grader.labs.submission import Submission  # noqa: E402
from grader.tests import corpus_files, show_numbers  # noqa: E402


def solution(lab: str) -> Submission:
    path = ROOT / "solutions" / lab / "matmul.cu"
    text = path.read_text(encoding="utf-8")
    return Submission(path, "matmul.cu", text, text.encode())


def verdict(course, lab_name: str, submission: Submission, *, is_wrong: bool) -> tuple[str, str]:
    """equal, part (some launch is not traced whole), nothing (to be seen) or different; and why."""
    lab = load_lab(course.folder(lab_name))
    case = show_numbers.case_of(lab)
    try:
        trace = show_numbers.traced(course, lab, submission, case)
    except GraderError as error:
        assert re.search("does not compile|could be traced", str(error)), error
        return "nothing", ""
    shown = show_numbers.by_node([trace])[0]
    result = show_numbers.graded(course, lab, submission, case)
    stays = show_numbers.may_stay(lab) if is_wrong else ()
    found = show_numbers.differences(trace, shown, result, stays)
    if found:
        return "different", "; ".join(found)
    whole = all(launch["is_whole"] for launch in trace["launches"])
    return ("equal" if whole else "part"), ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--step", type=int, default=3)
    parser.add_argument("--labs", nargs="+", default=[""])
    parser.add_argument("--kinds", nargs="+", default=["wrong"])
    given = parser.parse_args()
    course = find_course(ROOT)
    counts = {"solution": collections.Counter()}

    def look(kind: str, name: str, lab: str, submission: Submission) -> None:
        found, why = verdict(course, lab, submission, is_wrong=kind == "wrong")
        counts.setdefault(kind, collections.Counter())[found] += 1
        print(f"{found:10} {kind:9} {name} {why}", flush=True)

    for path in sorted(ROOT.glob("solutions/[0-9r]*/matmul.cu")):
        if path.parent.name.startswith(tuple(given.labs)):
            look("solution", path.parent.name, path.parent.name, solution(path.parent.name))
    for kind in given.kinds:
        for entry in corpus_files.entries(kind)[:: given.step]:
            if entry.lab.startswith(tuple(given.labs)):
                look(kind, entry.id, entry.lab, entry.submission)
    for kind, sums in counts.items():
        print(kind, dict(sums))
    return int(any(sums["different"] for sums in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
