#!/usr/bin/env python3
"""Does a report open with the cause? Grades every mistake of mistakes.toml on the simulator.

    common/measure/causes/causes.py [--list mistakes] [--labs 01 05] [--names grid-width] [--jobs 2]
                                    [--output docs/measurements/causes.md]
    common/measure/causes/causes.py --list fresh-1 --bases

Lists: `mistakes`, `fresh-1` to `fresh-14`, `fresh-15a`, `fresh-16a`, `fresh-17` to `fresh-27`, `fresh-tiles-1`, `fresh-tiles-2`,
and `hosts-1` to `hosts-11` (the host's side, types and barriers). With --bases it grades the right programs that a list's
mistakes are edits of: none may have a finding.

A mistake counts as named if the first finding stands on a line that mistakes.toml calls guilty; what
the sentence says is for people to judge, so the page shows it beside the teacher's words. Exit
status 1 if a mistake passes, or fails without a finding. Needs the build; run it in the
repository's root.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))
from grader.labs.course import find_course  # noqa: E402
from grader.labs.lab import load_lab  # noqa: E402
from grader.labs.options import Options  # noqa: E402
from grader.labs.submission import Submission  # noqa: E402
from grader.pipeline.grade import grade  # noqa: E402
from grader.tests import corpus_files  # noqa: E402

_INSTEAD = re.compile(r" Or (?:leave that|exchange the two)\b.*? line (\d+)")


@dataclass(frozen=True)
class Mistake:
    """One wrong file, and what a teacher would say of it."""

    folder: str
    name: str
    teacher: str
    text: str
    guilty: tuple[int, ...]


@dataclass(frozen=True)
class Opening:
    """What the report says first; `line` is None where it has no finding."""

    status: str
    code: str
    line: int | None
    says: str

    @property
    def instead(self) -> int | None:
        """The line of another change that does the same, where the report names one."""
        found = _INSTEAD.search(self.says)
        return int(found[1]) if found else None


def base(folder: str, name: str) -> str:
    if name == "solution":
        return corpus_files.bare_solution(folder)
    if name.startswith("right/"):
        return corpus_files.find(folder, name.removeprefix("right/")).text
    folder = "" if "/" in name else "bases"
    return (HERE / folder / f"{name}.cu").read_text()


def bases(name: str) -> list[Mistake]:
    """The right programs of a list, as entries without a mistake."""
    entries = tomllib.loads((HERE / f"{name}.toml").read_text())["mistake"]
    found = []
    for lab, stem in dict.fromkeys((entry["lab"], entry["base"]) for entry in entries):
        folder = next(other for other in corpus_files.labs() if other.startswith(lab))
        found.append(Mistake(folder, stem, "right", base(folder, stem), ()))
    return found


def mistakes(name: str = "mistakes") -> list[Mistake]:
    found = []
    for entry in tomllib.loads((HERE / f"{name}.toml").read_text())["mistake"]:
        folder = next(lab for lab in corpus_files.labs() if lab.startswith(entry["lab"]))
        text = base(folder, entry["base"])
        for old, new in entry["replace"]:
            if text.count(old) != 1:
                sys.exit(f"{entry['name']}: {old!r} is found {text.count(old)} times, not once.")
            text = text.replace(old, new)
        lines = list(enumerate(text.splitlines(), 1))
        guilty = []
        for part in entry.get("guilty", []):
            here = [number for number, line in lines if part in line]
            if not here:
                sys.exit(f"{entry['name']}: no line has {part!r}.")
            guilty += here
        found.append(Mistake(folder, entry["name"], entry["teacher"], text, tuple(guilty)))
    return found


def opening(mistake: Mistake) -> Opening:
    course = find_course(ROOT)
    submission = Submission(Path("matmul.cu"), "matmul.cu", mistake.text, mistake.text.encode())
    lab = load_lab(course.folder(mistake.folder))
    result = grade(course, lab, submission, Options("sim"))
    if not result.diagnostics:
        return Opening(result.status, "", None, result.message or "")
    first = result.diagnostics[0]
    advice = f" {first.advice}" if first.advice else ""
    return Opening(result.status, first.code, first.line, first.message + advice)


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def page(rows: list[tuple[Mistake, Opening]]) -> str:
    failed = [(m, o) for m, o in rows if o.status != "passed" and o.code]
    marked = [(m, o) for m, o in failed if m.guilty]
    named = [m for m, o in marked if o.line in m.guilty]
    beside = [m for m, o in marked if o.line not in m.guilty and o.instead in m.guilty]
    today = datetime.date.today()
    lines = [
        "# What a report opens with",
        "",
        f"{today}, simulator. Command: `common/measure/causes/causes.py`. The mistakes are in "
        "`common/measure/causes/mistakes.toml`; the rules that name causes were made with them at "
        "hand, so this page says nothing about mistakes that nobody has thought of.",
        "",
        f"- {len(rows)} mistakes; {len(failed)} have a finding, {len(marked)} of these a line marked guilty.",
        f"- The first finding is on a guilty line: {len(named)} of {len(marked)}; of the others "
        f"{len(beside)} have one as the other line that would do.",
        f"- Without a finding: {len(rows) - len(failed)} "
        + (
            ", ".join(
                f"{m.folder[:2]} {m.name} ({o.status})" for m, o in rows if (m, o) not in failed
            )
            or "none"
        )
        + ".",
        "",
        "| lab | a teacher would say | guilty | line | the report opens with |",
        "|---|---|---|---|---|",
    ]
    for mistake, first in rows:
        guilty = ", ".join(map(str, mistake.guilty)) or "any"
        here = "" if first.line is None else str(first.line)
        if first.code and mistake.guilty and first.line not in mistake.guilty:
            here += f" or {first.instead}" if first.instead in mistake.guilty else " (not guilty)"
        said = f"{first.code}: {first.says}" if first.code else f"{first.status}: {first.says}"
        lines.append(
            f"| {mistake.folder[:2]} | {cell(mistake.teacher)} | {guilty} | {here} | {cell(said)} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", default="mistakes")
    parser.add_argument("--bases", action="store_true")
    parser.add_argument("--labs", nargs="*", default=[])
    parser.add_argument("--names", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path)
    a = parser.parse_args()
    chosen = [
        m
        for m in (bases if a.bases else mistakes)(a.list)
        if (not a.labs or m.folder[:2] in a.labs) and (not a.names or m.name in a.names)
    ]
    with ThreadPoolExecutor(a.jobs) as pool:
        rows = list(zip(chosen, pool.map(opening, chosen), strict=True))
    if a.bases:
        for mistake, first in rows:
            print(mistake.folder[:2], mistake.name, first.status, first.code, first.says)
        return any(first.code for _, first in rows)
    text = page(rows)
    if a.output:
        a.output.write_text(text)
    print(text)
    return any(not first.code for _, first in rows)


if __name__ == "__main__":
    sys.exit(main())
