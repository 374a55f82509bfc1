"""Which of its sums a thread stores, and structs whose constructor sets nothing."""

import pytest

from grader.judging import never_set, sum_stores
from grader.judging.kernel_text import Kernel
from grader.labs.statements import listing

KERNEL = """
__global__ void kernel(const float* M, float* P, int width) {
  __shared__ float out[8][32];
  float sum[4][4] = {};
  int y = threadIdx.y, x = threadIdx.x;
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) sum[KEPT] += M[r * width + c];
  for (int r = 0; r < 4; ++r) {
    BEFORE
    for (int c = 0; c < 4; ++c) {
      int row = y * 4 + r, col = x * 4 + c;
      P[row * width + col] = STORED;
    }
  }
}
"""


@pytest.mark.parametrize(
    ("kept", "stored", "before", "says"),
    [
        ("r][c", "sum[c][r]", "", "c and r are exchanged"),
        ("r][c", "sum[r][c]", "", ""),
        ("r * 4 + c", "sum[c * 4 + r]", "", "c and r are exchanged"),
        ("r][c", "sum[r][0]", "", "the same sum[r][0] is stored"),
        ("r][c", "out[y][x]", "out[y][x] = sum[r][0];", "the same out[y][x] is stored"),
        ("r][c", "out[c][x]", "out[y][x] = sum[r][0];", ""),
        ("r][c", "sum[r][c] + out[c][x]", "", ""),
    ],
)
def test_the_sum_that_is_stored(kept, stored, before, says):
    text = KERNEL.replace("KEPT", kept).replace("STORED", stored).replace("BEFORE", before)
    found = listing(text)
    (function,) = found.functions()
    kernel = Kernel(found, function, found.parameters(function), roles={"M": "M", "P": "P"})
    said = sum_stores.wrong_sum(kernel, may_guess=True)
    assert sum_stores.wrong_sum(kernel) is None or "exchanged" not in says
    assert (said is not None) == bool(says)
    if said is not None:
        assert says in said.text
        assert "P[row" in text.splitlines()[said.line - 1]


def test_a_value_that_the_turn_itself_changes():
    text = KERNEL.replace("KEPT", "r][c").replace("BEFORE", "").replace("STORED", "out[y][x]")
    text = text.replace("      P[row", "      out[y][x] = sum[r][c];\n      P[row")
    found = listing(text)
    (function,) = found.functions()
    assert sum_stores.wrong_sum(Kernel(found, function, [], roles={"P": "P"})) is None


STRUCT = """
struct Quad {
  float part[4]FIRST;
  __device__ Quad() BODY
};
__global__ void kernel(float* P) {
  Quad sum[4];
  P[0] = sum[0].part[0];
}
"""


@pytest.mark.parametrize(
    ("first", "body", "is_told"),
    [
        ("", "{}", True),
        (" = {}", "{}", False),
        ("", "{ for (int i = 0; i < 4; ++i) part[i] = 0; }", False),
        ("", ": part{} {}", False),
    ],
)
def test_a_constructor_that_sets_nothing(first, body, is_told):
    text = STRUCT.replace("FIRST", first).replace("BODY", body)
    said = never_set.by_constructor(listing(text))
    assert (said is not None) == is_told
    if said is not None:
        assert "Quad()" in text.splitlines()[said.line - 1]
