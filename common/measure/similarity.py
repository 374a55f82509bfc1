"""How well disguised copies are told from independent solutions: ours beside copydetect alone.

    .venv/bin/python common/measure/similarity.py [--labs 02,03] [--csv FILE]

Copies are what disguise.py makes of the solutions and of the corpus's right submissions; pairs of
these with each other are the independent ones. Whatever is compared does not count as known.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(Path(__file__).parent)]
os.environ.setdefault("MPLBACKEND", "agg")

import disguise  # noqa: E402

from grader.batch import likeness  # noqa: E402
from grader.labs.course import find_course  # noqa: E402
from grader.machine.toolchain import find_toolchain  # noqa: E402
from grader.tests import corpus_files  # noqa: E402


@dataclass(frozen=True, eq=False)
class File:
    lab: str
    name: str
    way: str  # of disguise; "" for the original
    text: str
    profile: likeness.Profile


@dataclass(frozen=True, eq=False)
class Pair:
    first: File
    second: File

    @property
    def is_copy(self) -> bool:
        return self.first.name == self.second.name


def originals(lab: str) -> dict[str, str]:
    found = {"solution": (REPOSITORY / "solutions" / lab / "matmul.cu").read_text()}
    return found | {entry.name: entry.text for entry in corpus_files.entries("right", lab)}


def compiled(text: str) -> str:
    """The PTX, or "" if it does not compile."""
    course = find_course(REPOSITORY)
    toolchain = find_toolchain(course)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "matmul.cu"
        source.write_text(text)
        command = [
            toolchain.nvcc, "-ptx", "-std=c++17", "-O3", "-arch=compute_90", "-ccbin", toolchain.cxx,
            "-I", course.include, source, "-o", f"{source}.ptx",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True)
        return Path(f"{source}.ptx").read_text() if done.returncode == 0 else ""


def files(labs: Sequence[str], jobs: int) -> tuple[list[File], int]:
    """Originals and copies that compile, and how many copies do not."""
    wanted = []
    for lab in labs:
        for name, text in originals(lab).items():
            wanted.append((lab, name, "", text))
            for way, change in disguise.WAYS.items():
                changed = change(text, random.Random(f"{lab} {name} {way}"))
                wanted.append((lab, name, way, changed))
    with ThreadPoolExecutor(jobs) as pool:
        assembled = list(pool.map(lambda item: compiled(item[3]), wanted))
    found = [
        File(*item, likeness.Profile(likeness.of_source(item[3]), likeness.of_instructions(ptx)))
        for item, ptx in zip(wanted, assembled, strict=True)
        if ptx
    ]
    return found, len(wanted) - len(found)


def pairs(everything: Sequence[File]) -> list[Pair]:
    found = []
    for lab in dict.fromkeys(file.lab for file in everything):
        own = [file for file in everything if file.lab == lab and not file.way]
        copies = [file for file in everything if file.lab == lab and file.way]
        by_name = {file.name: file for file in own}
        found += [Pair(by_name[copy.name], copy) for copy in copies if copy.name in by_name]
        found += [Pair(first, second) for first, second in combinations(own, 2)]
    return found


def ours(everything: Sequence[File]) -> Callable[[Pair], float]:
    labs = {}

    def of(pair: Pair) -> float:
        lab = pair.first.lab
        key = lab, *sorted({pair.first.name, pair.second.name})
        if key not in labs:
            relatives = [
                file.profile
                for file in everything
                if file.lab == lab and not file.way and file.name not in key[1:]
            ]
            skeleton = (REPOSITORY / "labs" / lab / "matmul.cu").read_text()
            labs[key] = likeness.Lab(skeleton, relatives)
        known = labs[key]
        two = known.vectors(pair.first.profile), known.vectors(pair.second.profile)
        return likeness.likeness(*two).both

    return of


def copydetect_alone() -> Callable[[Pair], float]:
    """The larger share of tokens that the other has too, 25 in a row, without the skeleton's."""
    from copydetect import CodeFingerprint, compare_files

    prints = {}

    def printed(text: str, given: Sequence[int] = ()):
        fields = {"k": 25, "win_size": 1, "boilerplate": given}
        return CodeFingerprint("matmul.cu", fp=io.StringIO(text), **fields)

    def of(pair: Pair) -> float:
        lab = pair.first.lab
        skeleton = (REPOSITORY / "labs" / lab / "matmul.cu").read_text()
        for file in (pair.first, pair.second):
            if file.text not in prints:
                prints[file.text] = printed(file.text, list(printed(skeleton).hashes))
        _, shares, _ = compare_files(prints[pair.first.text], prints[pair.second.text])
        return float(max(shares))

    return of


def area(copies: Sequence[float], others: Sequence[float]) -> float:
    """Under the ROC curve: how often a copy is more alike than an independent pair."""
    won = sum((a > b) + 0.5 * (a == b) for a in copies for b in others)
    return won / (len(copies) * len(others))


def threshold(others: Sequence[float], share: float) -> float:
    """Above it lies this share of the independent pairs, at most."""
    return sorted(others)[max(0, min(len(others) - 1, int(len(others) * (1 - share))))]


def row(name: str, measured: dict[Pair, float], labs: Sequence[str] | None = None) -> str:
    chosen = {pair: x for pair, x in measured.items() if labs is None or pair.first.lab in labs}
    copies = {pair: x for pair, x in chosen.items() if pair.is_copy}
    others = [x for pair, x in chosen.items() if not pair.is_copy]
    cells = [name, f"{len(copies)}", f"{len(others)}", f"{area(list(copies.values()), others):.3f}"]
    for share in (0.01, 0.05):
        limit = threshold(others, share)
        caught = sum(x > limit for x in copies.values()) / len(copies)
        cells.append(f"{caught:.0%} above {limit:.2f}")
    for way in disguise.WAYS:
        own = [x for pair, x in copies.items() if pair.second.way == way]
        cells.append(f"{area(own, others):.3f}" if own else "")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--labs", default=",".join(name[:2] for name in corpus_files.labs()))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    labs = [name for name in corpus_files.labs() if name[:2] in given.labs.split(",")]
    everything, broken = files(labs, given.jobs)
    found = pairs(everything)
    methods = {"ours": ours(everything), "copydetect": copydetect_alone()}
    measured = {name: {pair: of(pair) for pair in found} for name, of in methods.items()}
    print(f"{broken} disguised files do not compile and are left out\n")
    ways = " | ".join(disguise.WAYS)
    print(f"| | copies | independent | area | found, 1% false | found, 5% false | {ways} |")
    print("|---|" + "---:|" * (5 + len(disguise.WAYS)))
    for name, of in measured.items():
        print(row(name, of))
    for lab in labs:
        for name, of in measured.items():
            print(row(f"{lab[:2]}, {name}", of, [lab]))
    alike = sorted((p for p in found if not p.is_copy), key=lambda p: -measured["ours"][p])[:12]
    print("\nThe independent pairs that are most alike:\n")
    for pair in alike:
        cells = ", ".join(f"{name} {of[pair]:.2f}" for name, of in measured.items())
        print(f"- {pair.first.lab[:2]}, {pair.first.name} and {pair.second.name}: {cells}")
    if given.csv:
        with given.csv.open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["lab", "first", "second", "way", *measured])
            for pair in found:
                cells = [pair.first.lab, pair.first.name, pair.second.name, pair.second.way]
                table.writerow([*cells, *(f"{of[pair]:.4f}" for of in measured.values())])


if __name__ == "__main__":
    main()
