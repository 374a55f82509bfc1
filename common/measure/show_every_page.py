#!/usr/bin/env python3
"""The page of `grader show` of every solution and every file of the corpus, in headless Chromium.

    show_every_page.py RESULTS.jsonl [--seconds 600] [--labs 02 05] [--again]    look at files that RESULTS lacks
    show_every_page.py RESULTS.jsonl --table                                     what was seen, in Markdown

Of each file: the page that `make show` writes for it opens without a word on the console and asks for
nothing; every finding's link and every finding's address lands on its moment, at the line that it
names; and who steps through the last block to its end sees what the executor has left in the outputs,
as the grader judged them. One line of JSON a file; a file that has changed since is looked at again.
Needs the build, nvcc and chromium.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.errors import SubmissionError  # noqa: E402
from grader.labs.course import Course, find_course  # noqa: E402
from grader.labs.lab import load_lab  # noqa: E402
from grader.labs.submission import Submission  # noqa: E402
from grader.pipeline import carry_out  # noqa: E402
from grader.show import make, page  # noqa: E402
from grader.tests import browser, corpus_files, show_numbers, show_pages  # noqa: E402

MOST_STEPS = 400  # by line; a longer block is stepped through by phase
# Every link is clicked, and its address given; what does not hold is listed.
FINDINGS = """(async () => {
  const wrong = [];
  let moments = 0, all = 0;
  const launches = tilewise.runs[0].trace.launches;
  for (let number = 0; number < launches.length; number++) {
    tilewise.show(0, number);
    const viewer = tilewise.viewer, film = viewer.film;
    const links = [...document.querySelectorAll("#finding-list a")];
    if (links.length !== launches[number].findings.length) wrong.push(`launch ${number}: ${links.length} links`);
    for (let i = 0; i < links.length; i++) {
      all += 1;
      const told = launches[number].findings[i], {moment} = film.findings[i];
      const names = `launch ${number}, finding ${i + 1}, ${told.code}: `;
      const wants = told.events.at;
      if (told.elements?.length ? moment < -1 : moment !== (wants < 0 ? -1 : Math.max(wants, told.events.other)))
        wrong.push(names + `moment ${moment}`);
      for (const go of [() => links[i].click(), () => viewer.open({finding: i + 1})]) {
        viewer.to(0);
        go();
        if (viewer.finding?.index !== i) wrong.push(names + "is not chosen");
        if (moment >= 0 && (viewer.n !== moment || viewer.block !== film.steps[moment].block))
          wrong.push(names + `at step ${viewer.n}, not ${moment}`);
        if (links[i].getAttribute("aria-current") !== "true") wrong.push(names + "is not marked");
        if (!document.getElementById("what").textContent.includes(film.findings[i].message))
          wrong.push(names + "is not told");
        if (moment >= 0 && !told.elements?.length && told.line && wants >= 0 && film.steps[wants].line !== told.line
            && film.steps[wants].file === viewer.file) wrong.push(names + `line ${film.steps[wants].line}, not ${told.line}`);
      }
      tilewise.settled();
      if (!location.hash.includes(`finding=${i + 1}`)) wrong.push(names + `has the address ${location.hash}`);
      moments += moment >= 0;
    }
  }
  return {wrong, moments, all};
})()"""
# Steps as its user does, from the beginning of the last block to its end, in every launch.
TO_THE_END = """(() => {
  const launches = tilewise.runs[0].trace.launches;
  let steps = 0, arrays = {}, whole = launches.length > 0;
  const wrong = [];
  for (let number = 0; number < launches.length; number++) {
    if (!launches[number].events.count) continue;
    tilewise.show(0, number);
    const viewer = tilewise.viewer, film = viewer.film;
    viewer.choose({block: film.blocks[film.blocks.length - 1], warp: null, thread: null});
    const unit = viewer.track.of("line").length <= MOST ? "line" : "phase";
    viewer.by = unit;
    viewer.toPlace(1);
    let count = 1;
    while (viewer.move(1)) count += 1;
    steps += count;
    if (count !== viewer.track.of(unit).length) wrong.push(`launch ${number}: ${count} steps of ${viewer.track.of(unit).length}`);
    const end = Math.max(...film.steps.map(step => step.n));
    if (viewer.n !== viewer.track.last) wrong.push(`launch ${number} ends at step ${viewer.n}`);
    const state = viewer.fold.at(end);
    for (const one of film.arrays) if (one.isNamed && one.space === "global")
      arrays[one.role] = [...state[one.id].values].map(value => Number.isNaN(value) ? null : value);
    whole &&= launches[number].is_whole;
  }
  return {steps, arrays, whole, wrong, at: tilewise.runs[0].trace.case.id};
})()""".replace("MOST", str(MOST_STEPS))


def submissions() -> Iterator[tuple[str, str, str, Submission]]:
    """Kind, name, folder of the lab, and the file."""
    for path in sorted(ROOT.glob("solutions/*/matmul.cu")):
        if (ROOT / "labs" / path.parent.name).is_dir() or (ROOT / "exercises" / path.parent.name).is_dir():  # fmt: skip
            text = path.read_text(encoding="utf-8")
            given = Submission(path, "matmul.cu", text, text.encode())
            yield "solution", path.parent.name, path.parent.name, given
    for kind in corpus_files.KINDS:
        for entry in corpus_files.entries(kind):
            yield kind, entry.id, entry.lab, entry.submission


def look(
    course: Course, opened: browser.Page, lab_name: str, given: Submission, folder: Path, is_wrong: bool
) -> dict[str, Any]:  # fmt: skip
    """What is seen of one file. `faults` is empty if all holds."""
    lab = load_lab(course.folder(lab_name))
    left: dict[str, dict[str, np.ndarray]] = {}
    left_by = carry_out.left_by

    def kept(case, job):
        left[case.id] = left_by(case, job)
        return left[case.id]

    path = folder / "page.html"
    try:
        with mock.patch.object(carry_out, "left_by", kept):
            text = make.write(
                course, lab, [make.Shown("yours", given)], show_numbers.OPTIONS,
                make.chosen(lab), or_another=True,
            )  # fmt: skip
    except SubmissionError as error:
        return {"nothing": str(error), "faults": []}
    path.write_text(text, encoding="utf-8")
    stays = show_numbers.may_stay(lab) if is_wrong else ()
    return examine(opened, path, left, stays)


def examine(
    opened: browser.Page,
    path: Path,
    left: Mapping[str, Mapping[str, np.ndarray]],
    stays: Collection[str] = (),
) -> dict[str, Any]:
    """What is seen on a page; `left` is what the outputs hold by case, `stays` what may be otherwise."""
    show_pages.open_page(opened, path)
    opened.deadline = time.monotonic() + 300
    found = opened.value(FINDINGS)
    ended = opened.value(TO_THE_END)
    faults = found["wrong"] + ended["wrong"]
    held = []
    for name, right in left.get(ended["at"], {}).items() if ended["whole"] else ():
        shown = ended["arrays"].get(name)
        if shown is None:
            continue  # nothing of the device becomes this output
        values = np.array([np.nan if value is None else value for value in shown])
        if values.size == right.size and np.array_equal(values, right.ravel(), equal_nan=True):
            held.append(name)
        elif name not in stays:
            faults.append(f"{name} differs from what the executor left")
    faults += [f"console: {said[:300]}" for said in opened.said]
    if opened.asked != [path.resolve().as_uri()]:
        faults.append(f"asked for {opened.asked}")
    size = path.stat().st_size
    if size > page.MOST_BYTES:
        faults.append("larger than 2 MB")
    return {
        "case": ended["at"], "bytes": size, "findings": found["all"], "moments": found["moments"],
        "steps": ended["steps"], "whole": ended["whole"], "held": held, "faults": faults,
    }  # fmt: skip


def read(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The last line of each file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    found = [json.loads(line) for line in lines]
    return {(one["kind"], one["name"]): one for one in found}


def table(known: dict[tuple[str, str], dict[str, Any]]) -> str:
    rows: dict[str, collections.Counter] = {}
    for one in known.values():
        row = rows.setdefault(one["lab"], collections.Counter())
        row["files"] += 1
        row["nothing"] += "nothing" in one
        row["findings"] += one.get("findings", 0)
        row["moments"] += one.get("moments", 0)
        row["steps"] += one.get("steps", 0)
        row["held"] += bool(one.get("held"))
        row["faults"] += bool(one["faults"])
    names = ("files", "nothing", "findings", "moments", "steps", "held", "faults")
    heads = ("files", "nothing to see", "findings", "with a moment", "steps", "P held", "not as it should be")  # fmt: skip
    rows["all"] = sum(rows.values(), collections.Counter())
    lines = [f"| lab | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for lab in [*sorted(set(rows) - {"all"}), "all"]:
        lines.append(f"| {lab} | " + " | ".join(f"{rows[lab][name]:,}" for name in names) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--labs", nargs="+", default=[""])
    parser.add_argument("--again", action="store_true", help="also those that were not as they should be")  # fmt: skip
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    known = read(given.results)
    if given.table:
        print(table(known))
        return int(any(one["faults"] for one in known.values()))
    course = find_course(ROOT)
    until = time.monotonic() + given.seconds
    left = 0
    with browser.Page(browser.find()) as opened, tempfile.TemporaryDirectory() as folder:
        for kind, name, lab, submission in submissions():
            digest = hashlib.sha256(submission.content).hexdigest()[:16]
            before = known.get((kind, name))
            is_known = before is not None and before["file"] == digest
            if not lab.startswith(tuple(given.labs)) or (is_known and not (given.again and before["faults"])):  # fmt: skip
                continue
            if time.monotonic() > until:
                left += 1
                continue
            begun = time.monotonic()
            try:
                seen = look(course, opened, lab, submission, Path(folder), kind == "wrong")
            except Exception as error:  # one file's failure is a line, too
                seen = {"faults": [f"{type(error).__name__}: {error}"[:500]]}
            line = {"kind": kind, "name": name, "lab": lab, "file": digest, **seen}
            line["seconds"] = round(time.monotonic() - begun, 2)
            with given.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{'FAULT' if seen['faults'] else 'ok':5} {name} {line['seconds']} {seen['faults'] or ''}", flush=True)  # fmt: skip
    print(f"{left} files are left")
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main())
