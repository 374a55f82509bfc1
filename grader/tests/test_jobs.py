"""Blocks that go from one part of P to the next, and switches that are cascades."""

import pytest

from grader.judging import cascades, jobs
from grader.judging.kernel_text import Kernel
from grader.labs.statements import listing

KERNEL = """
__global__ void kernel(const float* M, const float* N, float* P, int width) {
  BEFORE
  for (int job = blockIdx.x; job < width * width; job += STEP) {
    WITHIN
    for (int i = 0; i < width; ++i) SUM += M[job / width * width + i] * N[i * width + job % width];
    P[job] = SUM;
  }
}
"""


def _said(
    before: str, within: str, total: str = "sum", step: str = "gridDim.x", code="wrong-result"
):
    text = KERNEL.replace("BEFORE", before).replace("WITHIN", within)
    text = text.replace("SUM", total).replace("STEP", step)
    found = listing(text)
    (function,) = found.functions()
    said = jobs.between_jobs(Kernel(found, function, found.parameters(function)), code)
    return "" if said is None else text.splitlines()[said.line - 1].strip(), said


@pytest.mark.parametrize(
    ("before", "within", "total"),
    [
        ("float sum = 0.0f;", "", "sum"),
        ("float sum[2] = {};", "", "sum[1]"),
        ("float sum[2];\n  sum[1] = 0;", "", "sum[1]"),
    ],
)
def test_a_sum_that_goes_on_from_one_part_to_the_next(before, within, total):
    line, said = _said(before, within, total)
    assert line.startswith("float sum")
    assert "from its second turn on" in said.text


@pytest.mark.parametrize(
    ("before", "within", "total"),
    [
        ("", "float sum = 0.0f;", "sum"),
        ("float sum;", "sum = 0;", "sum"),
        ("float sum[2];", "for (int q = 0; q < 2; ++q) sum[q] = 0.0f;", "sum[1]"),
        ("float sum[4] = {};", "", "sum[job]"),
    ],
)
def test_a_sum_that_begins_anew(before, within, total):
    assert _said(before, within, total) == ("", None)


def test_a_sum_of_the_only_loop():
    text = KERNEL.replace("BEFORE", "float sum = 0;").replace("WITHIN", "").replace("STEP", "1")
    text = text.replace("SUM", "sum").replace("    P[job] = sum;\n  }", "  }\n  P[0] = sum;")
    found = listing(text)
    (function,) = found.functions()
    assert jobs.between_jobs(Kernel(found, function, []), "wrong-result") is None


def test_a_step_of_the_block_itself():
    line, said = _said("", "float sum = 0;", step="blockDim.x", code="unwritten-output")
    assert "job += blockDim.x" in line
    assert "there are gridDim.x blocks" in said.text


CASCADE = """
__device__ float4 load(const float* p, int n) {
  float4 v = make_float4(0, 0, 0, 0);
  switch (n) {
    default: v.w = p[3]; A
    case 3: v.z = p[2]; B
    case 2: v.y = p[1]; C
    case 1: v.x = p[0]; D
  }
  return v;
}
"""


@pytest.mark.parametrize(
    ("breaks", "stands"),
    [("B", "case 3"), ("C", "case 2"), ("ABCD", "default"), ("", ""), ("D", "")],
)
def test_a_break_in_a_cascade(breaks, stands):
    text = CASCADE
    for one in "ABCD":
        text = text.replace(f"; {one}\n", "; break;\n" if one in breaks else ";\n")
    said = cascades.broken(listing(text))
    assert (said is not None) == bool(stands)
    if said is not None:
        assert stands in text.splitlines()[said.line - 1]


@pytest.mark.parametrize(
    "guard", ["if (n < 1) break;", "if (n < 1) { break; }", "if (!p) return v;"]
)
def test_a_cascade_that_begins_with_a_guard(guard):
    text = CASCADE.replace("default: ", f"default: {guard}\n      ")
    for one, end in zip("ABCD", ("", "break;", "", ""), strict=True):
        text = text.replace(f"; {one}\n", f"; {end}\n")
    said = cascades.broken(listing(text))
    assert said is not None and "case 3" in text.splitlines()[said.line - 1]
    assert cascades.broken(listing(text.replace("p[2]; break;", "p[2];"))) is None


ROLES = """
__device__ int row(int role, int a, int b) {
  int r = 0;
  switch (role) {
    case 0: r = a; break;
    case 1: r = b; BREAK
    case 2: OTHER = a + b; break;
  }
  return r;
}
"""


@pytest.mark.parametrize(("end", "other", "is_told"), [
    ("", "r", True), ("break;", "r", False), ("", "a", False),
])  # fmt: skip
def test_a_case_without_its_break(end, other, is_told):
    text = ROLES.replace("BREAK", end).replace("OTHER", other)
    said = cascades.broken(listing(text))
    assert (said is not None) == is_told
    if said is not None:
        assert "case 1" in text.splitlines()[said.line - 1]
