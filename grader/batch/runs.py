"""Pages in which a student's kernel runs, beside the feedback: `grader batch --show`.

    OUTPUT/.batch/shown/KEY.html          of a unit; empty where there is nothing to see
    OUTPUT/feedback/runs/STUDENT-02.html  the same for a student, whose page has the link

No page has a hidden case or the data of a secret seed: what is shown is a case that fits the eye, with
the data that students have.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.batch.local import Setting, grade_all
from grader.batch.store import Store, write
from grader.batch.units import Unit
from grader.results.hidden import for_students
from grader.results.result import Result
from grader.text import lab_number
from grader.writers.html import is_worth_seeing


def make_missing(
    setting: Setting, units: Sequence[tuple[Unit, Result]], jobs: int, progress
) -> None:
    """The pages of those units that have something to see and none yet, `jobs` at a time."""
    wanted = [
        unit
        for unit, result in units
        if is_worth_seeing(for_students(result)) and not setting.store.shown(unit.key).is_file()
    ]
    progress.begin(len(wanted))

    def done(unit: Unit, _attempt) -> None:
        path = setting.store.shown(unit.key)
        if not path.is_file():  # it took too long, or failed: nobody loses anything by it
            write(path, b"")
        progress.advance(f"page of {unit.lab}")

    for unit in wanted:
        setting.store.put_content(unit)
    grade_all(replace(setting, showing=True), wanted, jobs, done)


def place(store: Store, student: str, units: Mapping[str, str]) -> dict[str, str]:
    """Puts a student's pages beside the feedback; their addresses from there, by lab.

    `units`: keys of the student's units by the lab's folder name.
    """
    links = {}
    for lab, key in units.items():
        path = store.shown(key)
        page = path.read_bytes() if path.is_file() else b""
        if page:
            name = f"{student}-{lab_number(lab)}.html"
            store.runs.mkdir(exist_ok=True)
            write(store.runs / name, page)
            links[lab] = f"{store.runs.name}/{name}"
    return links


def remove_but(store: Store, links: Mapping[str, Mapping[str, str]]) -> None:
    """Removes pages that no student's feedback leads to."""
    kept = {link.rpartition("/")[2] for pages in links.values() for link in pages.values()}
    if not kept:
        shutil.rmtree(store.runs, ignore_errors=True)
    elif store.runs.is_dir():
        for path in store.runs.iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)
