"""Kernels for aligned rows that are launched where these are not."""

import pytest

from grader.judging import chosen_templates, host
from grader.labs.statements import listing

SOURCE = """
template <bool FIRST, bool SECOND>
__global__ void kernel(const float* M, const float* N, float* P, int j, int k, int l) {}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const bool fast_m = k % 4 == 0, fast_n = l % 4 == 0;
  BODY
}
"""
CHAIN = """if (A && B)
    kernel<true, true><<<1, 2>>>(M, N, P, j, k, l);
  else if (A)
    kernel<true, false><<<1, 2>>>(M, N, P, j, k, l);
  else if (B)
    kernel<false, true><<<1, 2>>>(M, N, P, j, k, l);
  else
    kernel<false, false><<<1, 2>>>(M, N, P, j, k, l);"""
NESTED = """if (A) {
    if (B) kernel<true, true><<<1, 2>>>(M, N, P, j, k, l);
    else kernel<true, false><<<1, 2>>>(M, N, P, j, k, l);
  } else {
    if (!B) kernel<false, false><<<1, 2>>>(M, N, P, j, k, l);
    else kernel<false, true><<<1, 2>>>(M, N, P, j, k, l);
  }"""


def _said(body: str, a: str, b: str, first: str = "FastM", second: str = "FastN"):
    body = body.replace("A", a).replace("B", b)
    text = SOURCE.replace("FIRST", first).replace("SECOND", second).replace("BODY", body)
    known = listing(text)
    found = chosen_templates.exchanged(known, text, host.read(known))
    return found and (text.splitlines()[found.line - 1].strip(), found.text)


@pytest.mark.parametrize("body", [CHAIN, NESTED])
@pytest.mark.parametrize(
    ("a", "b", "first", "second"),
    [
        ("fast_m", "fast_n", "FastM", "FastN"),
        ("k % 4 == 0", "l % 4 == 0", "AlignedK", "AlignedL"),
        ("(k & 3) == 0", "(l & 3) == 0", "vec_a", "vec_b"),
    ],
)
def test_exchanged_conditions(body, a, b, first, second):
    assert _said(body, a, b, first, second) is None
    line, says = _said(body, b, a, first, second)
    assert line.endswith("(M, N, P, j, k, l);")
    assert ("kernel<true, false>" in line) or ("kernel<false, true>" in line)
    assert "does not hold" in says


def test_what_is_launched_where_too_little_is_known():
    body = CHAIN.replace("kernel<false, false>", "kernel<false, true>")
    line, says = _said(body, "fast_m", "fast_n")
    assert line.startswith("kernel<false, true>") and "FastN is true" in says


def test_parameters_that_say_nothing_of_a_matrix():
    assert _said(CHAIN, "fast_n", "fast_m", "X", "Y") is None
    assert _said("kernel<true, false><<<1, 2>>>(M, N, P, j, k, l);", "", "") is None
