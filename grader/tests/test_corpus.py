"""The corpus: broken submissions are found out for their own fault, right ones lose no point.

corpus/LAB/corpus.toml describes the files beside it. All go through the real pipeline on the
simulator; lines that may be named end in `// FAULT`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader import codes
from grader.grade import grade
from grader.lab import load_lab
from grader.options import Options
from grader.result import Result
from grader.submission import read
from grader.tests.conftest import REPOSITORY
from grader.writers.text import SHOWN_CODES

CORPUS = REPOSITORY / "grader" / "tests" / "corpus"
FULL = 100


_WANTED = ("code", "check", "pattern", "leads", "says", "echo")


@dataclass(frozen=True)
class Entry:
    """One file of the corpus and what grading it must say."""

    lab: str
    path: Path
    code: str = ""  # the report shows this diagnostic, at a marked line if there are any
    check: str = ""  # this check must fail, where the fault is no diagnostic
    pattern: str = ""  # of a wrong result
    leads: bool = False  # the report opens with `code`
    says: str = ""  # words of that diagnostic or its advice
    echo: str = ""  # this code is told as following from another one

    @property
    def fault_lines(self) -> list[int]:
        lines = self.path.read_text().splitlines()
        return [
            number for number, line in enumerate(lines, 1) if line.rstrip().endswith("// FAULT")
        ]


def _entries(kind: str) -> list[Entry]:
    entries = []
    for table in sorted(CORPUS.glob("*/corpus.toml")):
        lab = table.parent.name
        for item in tomllib.loads(table.read_text()).get(kind, []):
            path = table.parent / kind / f"{item['name']}.cu"
            wanted = {name: item[name] for name in _WANTED if name in item}
            entries.append(Entry(lab, path, **wanted))
    return entries


def _named(entries: list[Entry]) -> dict:
    return {
        "argvalues": entries,
        "ids": [f"{entry.lab[:2]}-{entry.path.stem}" for entry in entries],
    }


WRONG, RIGHT = _entries("wrong"), _entries("right")


def _grade(course, entry: Entry) -> Result:
    lab = load_lab(course.labs / entry.lab)
    result = grade(course, lab, read(entry.path), Options("sim"))
    assert result.status != "error", result.message
    return result


def _summary(result: Result) -> str:
    lines = [f"{result.score:g} points"]
    lines += [
        f"  {item.code} line {item.line} x{item.count} {item.message} {item.cases}"
        for item in result.diagnostics
    ]
    lines += [
        f"  {check.id}: {check.status} {check.message}"
        for check in result.checks
        if check.status != "passed"
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("entry", **_named(WRONG))
def test_fault_is_found(entry, built):
    result = _grade(built, entry)
    said = _summary(result)
    assert result.status == "failed", said
    assert result.score < FULL, said
    if entry.code:
        told = [item.code for item in result.diagnostics if not item.echo_of]
        shown = list(dict.fromkeys(told))[:SHOWN_CODES]
        assert entry.code in shown, said
        if entry.fault_lines:
            first = next(item for item in result.diagnostics if item.code == entry.code)
            assert first.line in entry.fault_lines, said
        told = next(item for item in result.diagnostics if item.code == entry.code)
        assert not entry.leads or told is result.diagnostics[0], said
        assert entry.says in f"{told.message} {told.advice}", said
    if entry.echo:
        assert entry.echo not in {item.code for item in result.diagnostics if not item.echo_of}, (
            said
        )
        assert entry.echo in {item.code for item in result.diagnostics}, said
    if entry.check:
        assert entry.check in {check.id for check in result.checks if check.status == "failed"}, (
            said
        )
        assert not [item for item in result.diagnostics if item.severity == "error"], said
    if entry.pattern:
        assert entry.pattern in {case.pattern for case in result.cases}, said


@pytest.mark.parametrize("entry", **_named(RIGHT))
def test_right_submission_loses_nothing(entry, built):
    result = _grade(built, entry)
    said = _summary(result)
    assert result.status == "passed", said
    assert result.score == FULL, said
    assert not [item for item in result.diagnostics if item.severity == "error"], said


def test_the_corpus_is_complete():
    """Every file is described, every description has its file, every expectation can be met."""
    described = [entry.path for entry in WRONG + RIGHT]
    assert len(set(described)) == len(described)
    assert set(described) == set(CORPUS.glob("*/*/*.cu"))
    for entry in WRONG:
        assert entry.code or entry.check, entry.path
        assert not entry.code or entry.code in codes.KNOWN, entry.path
        assert entry.code or not (entry.leads or entry.says), entry.path


def test_the_corpus_is_large_enough():
    first_labs = [entry for entry in WRONG if entry.lab[:2] in ("01", "02")]
    assert len(first_labs) >= 25
    assert len([entry for entry in RIGHT if entry.lab[:2] in ("01", "02")]) >= 15
