"""Faults that only a hidden case shows, really graded: no form that students read tells its size."""

import re

import pytest

from grader import grade
from grader.lab import load_lab
from grader.options import Options
from grader.submission import Submission
from grader.tests.conftest import REPOSITORY
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


@pytest.mark.parametrize("code", FAULTS)
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
        # Sizes, last indices, numbers of elements and of bytes, counts of blocks, the seed.
        told = re.findall(r"\b(?:160|159|161|25,?600|102,?400|424242)\b", shown)
        assert not told, (name, told)
