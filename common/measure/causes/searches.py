#!/usr/bin/env python3
"""What the search for a change costs, and whether it still finds the same.

    common/measure/causes/searches.py record --output REQUESTS [--lists corpus fresh-17] [--labs 05 06] [--every 4]
    common/measure/causes/searches.py run --requests REQUESTS --output FOUND [--every 2]
    common/measure/causes/searches.py compare FOUND OTHER

`record` grades wrong submissions, of the corpus or of a list of mistakes, and keeps what the search for a change is
asked; it does not search, and needs the build. `run` asks the search the same again, one after the other in this
process, and keeps the seconds of processor time, the steps, and what was found. `compare` says what differs between
two runs, of two states of the project. Run it in the repository's root.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE)]
import causes  # noqa: E402

from grader.judging import cause_by_trying  # noqa: E402
from grader.judging.repair import child, search  # noqa: E402
from grader.labs.course import find_course  # noqa: E402
from grader.labs.lab import load_lab  # noqa: E402
from grader.labs.options import Options  # noqa: E402
from grader.labs.submission import Submission  # noqa: E402
from grader.pipeline.grade import grade  # noqa: E402
from grader.tests import corpus_files  # noqa: E402


def submissions(lists: Sequence[str], labs: Sequence[str]) -> Iterator[tuple[str, str, Submission]]:
    """Names, labs and what is graded."""
    for of in lists:
        entries = corpus_files.entries("wrong") if of == "corpus" else causes.mistakes(of)
        for one in entries:
            lab = one.lab if of == "corpus" else one.folder
            if not labs or lab in labs or lab[:2] in labs:
                path = Path(f"{one.name}.cu")
                made = Submission(path, path.name, one.text, one.text.encode())
                yield f"{of} {lab} {one.name}", lab, made


def record(chosen: Sequence[tuple[str, str, Submission]], output: Path) -> None:
    course, asked = find_course(HERE), []

    def find_apart(
        text, signature, in_tiles, lines, seen=None, cases=(), is_fine=False, minds_unset=False,
        minds_races=False, mends_races=False,
    ):  # fmt: skip
        if signature in search.SIGNATURES or cases:
            asked.append(
                {"text": text, "signature": signature, "in_tiles": in_tiles, "lines": lines}
                | {"seen": seen, "cases": list(cases), "is_fine": is_fine}
                | {"minds_unset": minds_unset, "minds_races": minds_races}
                | {"mends_races": mends_races}
            )

    cause_by_trying.find_apart = find_apart
    child.started_early = lambda is_wanted: contextlib.nullcontext()
    with output.open("w") as out:
        for name, lab, submission in chosen:
            asked.clear()
            result = grade(course, load_lab(course.folder(lab)), submission, Options("sim"))
            code = result.diagnostics[0].code if result.diagnostics else ""
            for request in asked:
                out.write(json.dumps({"name": name, "code": code, "request": request}) + "\n")
            out.flush()


class _Kept(search.Search):
    """It says afterwards what it has spent."""

    last: _Kept

    def found(self):
        _Kept.last = self
        self.first = self.left, self.confirming
        return super().found()


def run(asked: Sequence[dict]) -> list[dict]:
    found = []
    search.Search = _Kept
    for one in asked:
        _Kept.last = None
        before = time.process_time()
        repair = search.find(**one["request"])
        spent = time.process_time() - before
        kept = _Kept.last
        steps = (kept.first[0] - kept.left, kept.first[1] - kept.confirming) if kept else (0, 0)
        plain = sum(trial.steps for trial in kept.plain.values()) if kept else 0
        found.append(
            {"name": one["name"], "code": one["code"], "seconds": spent, "steps": steps[0]}
            | {"confirming": steps[1], "plain": plain, "found": repair and asdict(repair)}
        )
        numbers = "{seconds:6.2f} {steps:7} {plain:7} {confirming:7}".format(**found[-1])
        print(f"{numbers}  {one['name']} {one['code']}  {_change(found[-1])}", flush=True)
    return found


def said(found: Sequence[dict]) -> str:
    seconds = sorted(one["seconds"] for one in found)
    late = sum(one > 0.5 for one in seconds)
    named = sum(one["found"] is not None for one in found)
    return (
        f"{len(found)} searches, {named} find a change: {sum(seconds):.1f} s, median "
        f"{statistics.median(seconds):.2f}, nine of ten within {seconds[len(seconds) * 9 // 10]:.2f}, "
        f"longest {seconds[-1]:.2f}; {late} above 0.5 s"
    )


def by(found: Sequence[dict], what: str) -> Iterator[str]:
    """Searches, finds and seconds of each lab or code."""
    total, named, seconds = Counter(), Counter(), Counter()
    for one in found:
        key = one[what] if what in one else one["name"].split()[1]
        total[key] += 1
        named[key] += one["found"] is not None
        seconds[key] += one["seconds"]
    for key in sorted(total):
        yield f"  {key or 'none':24} {total[key]:4} {named[key]:4} {seconds[key]:7.1f} s"


def _change(one: dict) -> tuple | None:
    found = one["found"]
    return found and (found["line"], found["before"], found["after"])


def compare(one: Sequence[dict], two: Sequence[dict]) -> int:
    others = {item["name"]: item for item in two}
    pairs = [(item, others[item["name"]]) for item in one if item["name"] in others]
    different = [(a, b) for a, b in pairs if _change(a) != _change(b)]
    for a, b in different:
        print(f"{a['name']} ({a['seconds']:.2f} s, {b['seconds']:.2f} s)")
        for change in (_change(a), _change(b)):
            print("    nothing" if change is None else "    {}: {} -> {}".format(*change))
    print(said([a for a, _ in pairs]))
    print(said([b for _, b in pairs]))
    print(f"{len(different)} differ")
    return bool(different)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("record", "run", "compare"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--requests", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--lists", nargs="*", default=["corpus"])
    parser.add_argument("--labs", nargs="*", default=[])
    parser.add_argument("--every", type=int, default=1)
    a = parser.parse_args()
    if a.what == "compare":
        return compare(*(json.loads(path.read_text()) for path in a.files))
    if a.what == "record":
        record(list(submissions(a.lists, a.labs))[:: a.every], a.output)
        return 0
    asked = [json.loads(line) for line in a.requests.read_text().splitlines()]
    print("seconds   steps, of them before any change, and confirming; name and change")
    found = run(asked[:: a.every])
    print("lab or code, searches, finds, seconds")
    print("\n".join([*by(found, "lab"), *by(found, "code")]))
    print(said(found))
    if a.output:
        a.output.write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
