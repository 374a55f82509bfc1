"""Faults that only a hidden case shows, really graded: no form that students read tells its size."""

import dataclasses
import re

import pytest

from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import Submission
from grader.pipeline import grade
from grader.results.hidden import for_students
from grader.results.result import CaseResult, CheckResult, Diagnostic
from grader.tests.conftest import REPOSITORY
from grader.tests.samples import ALL
from grader.tests.selection import first_of
from grader.tests.test_formats import STUDENT_FORMATS
from grader.writers import Style, render

SEED = 424242
LAUNCH = "tiled_kernel<<<grid, block>>>(M, N, P, width);"
# Lab 02's hidden case has width 160; its number must not stand in the file, which HTML shows.
FAULTS = {
    "unwritten-output": "if (width == 32 * 5) grid.x -= 1;",
    "out-of-bounds-global": "if (width == 32 * 5) grid.y += 1;",
    "wrong-result": "if (width == 32 * 5) { const float* swap = M; M = N; N = swap; }",
    "misaligned-access": "if (width == 32 * 5) M = (const float*)((const char*)M + 2);",
}


@pytest.mark.parametrize("code", first_of(FAULTS))
def test_a_fault_of_the_hidden_case_alone(built, code):
    lab = load_lab(built.labs / "02-tiled-kernel")
    case = next(case for case in lab.cases if case.hidden)
    assert case.j == 160
    text = (REPOSITORY / "solutions" / lab.name / "matmul.cu").read_text()
    assert text.count(LAUNCH) == 1
    text = text.replace(LAUNCH, f"{FAULTS[code]}\n  {LAUNCH}")
    file = Submission(REPOSITORY / "matmul.cu", "matmul.cu", text, text.encode())
    result = grade.grade(built, lab, file, Options("sim", seed=SEED))
    assert result.status == "failed"
    found = [item for item in result.diagnostics if item.cases == (case.id,)]
    assert code in {item.code for item in found}
    if code == "out-of-bounds-global":  # so there is something to hide
        assert any("159" in item.message for item in found)
    for name in STUDENT_FORMATS:
        shown = render(name, [result], one=True, style=Style())
        # Sizes, last indices, numbers of elements and of bytes, counts of blocks, the seed; not the
        # decimals of a time: 0.161 s tells nothing.
        told = re.findall(r"(?<!\d\.)\b(?:160|159|161|25,?600|102,?400|424242)\b", shown)
        assert not told, (name, told)


# One kernel of a school of leaks: each bit of a hidden element is a fault on a line of its own, in a
# thread of its own, so many times. The reports of two different matrices must be the same.
LEAKS = {
    "lines": [("race-shared", line, (0, 0, 0), (line, 0, 0), 1, "") for line in range(20, 30)],
    "threads": [("out-of-bounds-global", 20, (bit, 0, 0), (bit, 0, 0), 1, "") for bit in (0, 7)],
    "counts": [("uninitialised-shared", 20, (0, 0, 0), (0, 0, 0), count, "") for count in (1, 999)],
    "kernels": [("misaligned-access", 20, (0, 0, 0), (0, 0, 0), 1, name) for name in ("a", "b")],
    "other lines": [("race-shared", 20, (0, 0, 0), (0, 0, 0), 1, f"{line}") for line in (21, 22)],
}


def leaking(samples):
    """A failed result whose hidden case alone shows these findings."""
    base = dataclasses.replace(
        ALL["failed"],
        cases=(
            *(case for case in ALL["failed"].cases if not case.hidden),
            CaseResult("secret", "secret", "17x19x23", "failed", hidden=True, pattern="stale tile"),
        ),
    )
    found = tuple(
        Diagnostic(
            code, "error", f"{block} {thread} of 17x19", line=line, kernel=kernel, block=block,
            thread=thread, count=count, source="int x;", cases=("secret",),
            other_line=int(kernel) if kernel.isdigit() else 0, advice=f"line {line}",
        )
        for code, line, block, thread, count, kernel in samples
    )  # fmt: skip
    place = f" at line {found[0].line}, and {len(found) - 1} more"
    check = CheckResult(
        "clean", "no race", "safety", "failed", 0, 10, found[0].code + place,
        data={"codes": [found[0].code], "places": len(found)},
    )  # fmt: skip
    wrong = CheckResult(
        "right", "right", "correctness", "failed", 0, 10, "a hidden case: P is wrong; stale tile",
        data={"failed_cases": ["secret"]},
    )  # fmt: skip
    step = f"mend {found[0].code} at line {found[0].line}, then grade again."
    return dataclasses.replace(
        base, diagnostics=found, checks=(check, wrong), next_step=step, kernels=(), changes=()
    )


@pytest.mark.parametrize("kind", LEAKS)
@pytest.mark.parametrize("name", STUDENT_FORMATS)
def test_findings_of_hidden_cases_carry_nothing_but_one_code(kind, name):
    samples = LEAKS[kind]
    reports = {
        render(name, [leaking(chosen)], one=True, style=Style())
        for chosen in (samples, samples[:1], samples[1:], samples[::-1])
    }
    assert len(reports) == 1
    text = reports.pop()
    assert "17x19" not in text
    assert "stale tile" not in text


def test_the_gravest_of_several_codes_is_told_and_no_other():
    result = leaking([*LEAKS["threads"], *LEAKS["lines"]])
    seen = for_students(result)
    assert [item.code for item in seen.diagnostics] == ["out-of-bounds-global"]
    assert seen.next_step == "mend out-of-bounds-global, then grade again."


def test_what_a_shown_case_has_too_keeps_its_numbers():
    result = leaking(LEAKS["lines"])
    case = result.cases[0].id
    first = dataclasses.replace(result.diagnostics[0], cases=(case, "secret"))
    seen = for_students(dataclasses.replace(result, diagnostics=(first, *result.diagnostics[1:])))
    assert (seen.diagnostics[0].line, seen.diagnostics[0].cases) == (20, (case,))
    assert len(seen.diagnostics) == 2
    assert seen.checks[0].message == "race-shared at line 20"


@pytest.mark.parametrize("name", STUDENT_FORMATS)
def test_how_long_a_hidden_case_takes_is_told_by_no_form(name):
    base = leaking(LEAKS["threads"])
    shown = [dataclasses.replace(case, seconds=7.0) for case in base.cases if not case.hidden]
    hidden = next(case for case in base.cases if case.hidden)
    reports = set()
    for seconds in (0.5, 61.0):
        cases = (*shown, dataclasses.replace(hidden, seconds=seconds))
        slow = dataclasses.replace(base, cases=cases, seconds=100 + seconds)
        reports.add(render(name, [slow], one=True, style=Style()))
    assert len(reports) == 1
    assert for_students(slow).seconds == 7.0 * len(shown)
