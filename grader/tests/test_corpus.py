"""The corpus: broken submissions are found out for their own fault, right ones lose no point.

corpus/README.md describes what is held. All go through the real pipeline on the simulator.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from grader.labs import codes
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.pipeline.grade import grade
from grader.results.result import CaseResult, Diagnostic, Result
from grader.tests import corpus_files, samples
from grader.tests.corpus_files import CORPUS, CorpusError, Entry
from grader.tests.selection import one_of_each
from grader.writers.text import SHOWN_CODES

FULL = 100


def _kinds(entry: Entry) -> tuple:
    """`make test` grades a wrong entry of each code and of each lab, and a right one a lab."""
    return (entry.lab, entry.code or entry.check)


def _in_turn(entries: list[Entry]) -> list[Entry]:
    """The first entry of every lab, then the second, and so on; last those that take long."""
    places = Counter()
    keys = {}
    for entry in entries:
        keys[entry.id] = (entry.takes_long, places[entry.lab], entry.lab)
        places[entry.lab] += 1
    return sorted(entries, key=lambda entry: keys[entry.id])


def _named(entries: list[Entry]) -> dict:
    return {"argvalues": one_of_each(entries, _kinds), "ids": [entry.id for entry in entries]}


WRONG = _in_turn(corpus_files.entries("wrong"))
RIGHT = _in_turn(corpus_files.entries("right"))


def _grade(course, entry: Entry) -> Result:
    lab = load_lab(course.folder(entry.lab))
    result = grade(course, lab, entry.submission, Options("sim"))
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
    left = missed(entry, result)
    if entry.mistaken:
        assert left, f"The report says what is pinned: take `mistaken` away.\n{said}"
    else:
        assert left == [], said


def missed(entry: Entry, result: Result) -> list[str]:
    """What of the entry's pins the report does not say."""
    if entry.check:
        failed = {check.id: check for check in result.checks if check.status == "failed"}
        errors = [item.code for item in result.diagnostics if item.severity == "error"]
        if entry.check not in failed or errors:
            return [f"check {entry.check} alone: {list(failed)} failed, {errors} found"]
        line = failed[entry.check].line
        return [] if line == entry.line else [f"line {entry.line}: {line}"]
    if not result.diagnostics:
        return ["any finding"]
    first = result.diagnostics[0]
    said = f"{first.message} {first.advice}"
    told = [item.code for item in result.diagnostics if not item.echo_of]
    echoes = [item.code for item in result.diagnostics if item.echo_of]
    case = _shown_case(result, first)
    pins = {
        f"opens with {entry.code}: {first.code}": first.code == entry.code,
        f"line {entry.line}: {first.line}": first.line == entry.line,
        f"says {entry.says!r}": entry.says in said,
        f"omits {entry.omits!r}": not entry.omits or entry.omits not in said,
        f"pattern {entry.pattern}": not entry.pattern
        or (case and first.advice and case.pattern == entry.pattern),
        f"elements {entry.elements}": not entry.elements
        or (case and elements(case) == entry.elements),
        f"also {entry.also}": not entry.also or entry.also in told[:SHOWN_CODES],
        f"{entry.echo} as an echo": not entry.echo
        or (entry.echo in echoes and entry.echo not in told),
    }
    return [pin for pin, holds in pins.items() if not holds]


def _shown_case(result: Result, told: Diagnostic) -> CaseResult | None:
    """The case that the advice speaks of: the one it names by its size, else the first."""
    cases = [case for case in result.cases if case.id in told.cases and not case.hidden]
    named = re.match(r"In (\S+): ", told.advice)
    return next(
        (case for case in cases if named and case.size == named[1]), next(iter(cases), None)
    )


SAID = samples.FAILED.diagnostics[1]
RESULT = replace(samples.FAILED, diagnostics=(SAID, *samples.FAILED.diagnostics[2:]))
HELD = {
    "code": "wrong-result", "check": "", "line": 21, "pattern": "stale tile",
    "elements": "4032 of 4096, P[0][0]: got 1.25, expected -0.5", "says": "tiles (of 16)",
    "omits": "grid", "also": "api-error", "echo": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("pin", "other"),
    [
        ("code", "race-shared"),
        ("line", 20),
        ("pattern", "zeros"),
        ("elements", "4031 of 4096, P[0][0]: got 1.25, expected -0.5"),
        ("says", "tiles (of 32)"),
        ("omits", "phase before"),
        ("also", "memory-leak"),
        ("echo", "api-error"),
        ("check", "traffic"),
    ],
)
def test_a_report_that_says_something_else_is_noticed(pin, other):
    assert missed(SimpleNamespace(**HELD), RESULT) == []
    assert len(missed(SimpleNamespace(**HELD | {pin: other}), RESULT)) == 1


def elements(case: CaseResult) -> str:
    """ "3 of 16, P[0][1]: got 1, expected 2": how many are wrong, and the first."""
    first = case.mismatches[0]
    place = f"P[{first.row}][{first.column}]"
    return (
        f"{case.wrong} of {case.checked}, {place}: got {first.got:g}, expected {first.expected:g}"
    )


@pytest.mark.parametrize("entry", **_named(RIGHT))
def test_right_submission_loses_nothing(entry, built):
    result = _grade(built, entry)
    said = _summary(result)
    assert result.status == "passed", said
    assert result.score == FULL, said
    assert not [item for item in result.diagnostics if item.severity == "error"], said


def test_the_corpus_is_complete():
    """Every file is described, every description has its file, every expectation can be met."""
    described = [entry.stored for entry in WRONG + RIGHT if entry.is_stored]
    assert len(set(described)) == len(described)
    assert set(described) == set(CORPUS.glob("*/*/*.cu"))
    names = [(entry.lab, entry.name) for entry in WRONG + RIGHT]
    assert len(set(names)) == len(names)
    for entry in WRONG:
        assert not entry.code or entry.code in codes.KNOWN, entry.id
        assert entry.line >= 0  # the line it pins is there, once


PINNED = Entry("02-tiled-kernel", "wrong", "x", fault="f", code="wrong-result", at="none")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"fault": ""}, "fault is missing"),
        ({"code": ""}, "one of code and check"),
        ({"check": "traffic"}, "one of code and check"),
        ({"at": ""}, "at is missing"),
        ({"pattern": ""}, "pins its pattern, or its elements"),
        ({"elements": "1 of 4"}, "pins its pattern, or its elements"),
        ({"code": "no-launch"}, "only a wrong result has a pattern"),
        ({"code": "", "check": "traffic", "pattern": "", "says": "x"}, "go with a code"),
        ({"kind": "right"}, "style is missing"),
    ],
)
def test_an_entry_that_pins_less_is_refused(changed, words):
    entry = replace(PINNED, pattern="stale tile")
    corpus_files.require_pins(entry)
    with pytest.raises(CorpusError, match=words):
        corpus_files.require_pins(replace(entry, **changed))


def test_a_line_that_is_not_there_once_is_refused():
    for part in ("no such line", "float"):
        with pytest.raises(CorpusError, match="must in one"):
            _ = replace(WRONG[0], at=part).line


def test_every_edit_fits_its_base_and_says_less_than_the_file():
    for entry in WRONG + RIGHT:
        if entry.edit:
            assert len(entry.edit.splitlines()) < len(entry.text.splitlines()) / 2, entry.id


BASE = "a\nb\na\nc\n"


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        ("-b\n", "a\na\nc\n"),
        (" b\n+x\n", "a\nb\nx\na\nc\n"),
        ("-b\n+x\n@@\n a\n-c\n", "a\nx\na\n"),
    ],
)
def test_an_edit_is_carried_out(edit, text):
    assert corpus_files.apply(edit, BASE) == text


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("-x\n", "stands 0 times"),
        ("-a\n+x\n", "stands 2 times"),
        (" b\n", "changes nothing"),
        ("-b\n+b\n", "changes nothing"),
        ("+x\n", "does not say where"),
        ("-b\n a\n@@\n-a\n c\n", "two hunks change line 3"),
        ("-b\n@@\n", "a hunk is empty"),
        ("b\n", "begins with none of"),
    ],
)
def test_an_edit_that_does_not_fit_is_an_error(edit, words):
    with pytest.raises(CorpusError, match=words):
        corpus_files.apply(edit, BASE)


def test_an_entry_whose_edit_does_not_fit_is_named():
    entry = replace(WRONG[0], edit="-no such line\n")
    with pytest.raises(CorpusError, match=f"{entry.lab}, wrong {entry.name}: .*stands 0 times"):
        entry.text


def test_another_labs_solution_need_not_be_stored_again():
    entry = corpus_files.find("07", "lab-06")
    assert entry.text == f"// Fault: {entry.fault}\n" + corpus_files.bare_solution(entry.base)
    changed = replace(
        entry,
        kind="right",
        style="s",
        edit="-constexpr int BK = 16;  // columns of M and rows of N in a phase",
    )
    assert changed.text.startswith("// Style: s\n") and "BK" in entry.text
    assert len(changed.text.splitlines()) == len(entry.text.splitlines()) - 1


@pytest.mark.parametrize("base", ["solution", "right/by-address", "lab-05", "05"])
def test_a_base_alone_must_be_another_labs_solution(base):
    with pytest.raises(CorpusError, match="without an edit|there is no base"):
        _ = replace(corpus_files.find("07", "lab-06"), base=base).text


def test_nothing_is_stored_of_which_a_solution_has_most():
    """Seven tenths of its lines, and more: an edit says what is different."""
    solutions = {
        lab: set(corpus_files.bare_solution(lab).splitlines()) for lab in corpus_files.labs()
    }
    for entry in WRONG + RIGHT:
        lines = [line for line in entry.text.splitlines() if len(line.strip()) > 1]
        for lab, held in solutions.items():
            same = sum(line in held for line in lines) / len(lines)
            assert not entry.is_stored or same < 0.7, (entry.id, lab, same)


def test_make_test_grades_one_of_each_code_and_of_each_lab():
    for entries in (WRONG, RIGHT):
        always = [param.values[0] for param in one_of_each(entries, _kinds) if not param.marks]
        for field in ("lab", "code", "check"):
            held = {getattr(entry, field) for entry in always}
            assert held == {getattr(entry, field) for entry in entries}, field
        assert not [entry.id for entry in always if entry.takes_long]
        assert len(always) < len(entries) / 3


def test_the_corpus_is_large_enough():
    for lab in corpus_files.labs():
        wrong, right = corpus_files.entries("wrong", lab), corpus_files.entries("right", lab)
        assert (len(wrong) >= 10, len(right) >= 6) == (True, True), lab
    first_labs = [entry for entry in WRONG if entry.lab[:2] in ("01", "02")]
    assert len(first_labs) >= 25
    assert len([entry for entry in RIGHT if entry.lab[:2] in ("01", "02")]) >= 15
