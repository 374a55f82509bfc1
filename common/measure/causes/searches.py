#!/usr/bin/env python3
"""What the search for a change costs, and whether it still finds the same.

    common/measure/causes/searches.py run --lists corpus fresh-17 --output FOUND [--labs 05 06] [--every 3]
    common/measure/causes/searches.py compare FOUND OTHER

`run` asks the search for a change of wrong submissions, of the corpus or of a list of mistakes, about the
first guilty line of each, one after the other in this process; it keeps seconds of processor time and what was
found. `compare` says what differs between two runs, of two states of the project. Labs that ask for the
product only. Nothing needs to be built; run it in the repository's root.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE)]
import causes  # noqa: E402

from grader.judging.repair.search import find  # noqa: E402
from grader.tests import corpus_files  # noqa: E402

_SIGNATURES = {"01": "square-host", "02": "square-device", "03": "square-device"}


def asked(lists: Sequence[str], labs: Sequence[str]) -> Iterator[tuple[str, dict]]:
    """Names, and what the search is asked."""
    for of in lists:
        for folder, name, text, line in _corpus() if of == "corpus" else _mistakes(of):
            lab = folder[:2]
            if lab.isdigit() and lab != "00" and (not labs or lab in labs):
                yield (
                    f"{of} {lab} {name}",
                    {
                        "text": text,
                        "signature": _SIGNATURES.get(lab, "rect-device"),
                        "in_tiles": lab == "02",
                        "lines": [line] if line else [],
                        "is_fine": lab == "12",
                    },
                )


def _corpus() -> Iterator[tuple[str, str, str, int]]:
    for entry in corpus_files.entries("wrong"):
        yield entry.lab, entry.name, entry.text, entry.line


def _mistakes(of: str) -> Iterator[tuple[str, str, str, int]]:
    for one in causes.mistakes(of):
        yield one.folder, one.name, one.text, next(iter(one.guilty), 0)


def run(requests: Sequence[tuple[str, dict]]) -> list[dict]:
    found = []
    for name, request in requests:
        before = time.process_time()
        repair = find(**request)
        spent = time.process_time() - before
        found.append({"name": name, "seconds": spent, "found": repair and asdict(repair)})
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
    parser.add_argument("what", choices=("run", "compare"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--lists", nargs="*", default=["corpus"])
    parser.add_argument("--labs", nargs="*", default=[])
    parser.add_argument("--slowest", type=int, default=10)
    parser.add_argument("--every", type=int, default=1)
    a = parser.parse_args()
    if a.what == "compare":
        return compare(*(json.loads(path.read_text()) for path in a.files))
    found = run(list(asked(a.lists, a.labs))[:: a.every])
    for one in sorted(found, key=lambda one: -one["seconds"])[: a.slowest]:
        print(f"{one['seconds']:6.2f}  {one['name']}  {_change(one)}")
    print(said(found))
    if a.output:
        a.output.write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
