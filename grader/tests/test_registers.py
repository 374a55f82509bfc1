"""Where a store of a tensor core's sums has its row from."""

from __future__ import annotations

import pytest

from grader.judging.registers import line_of_place
from grader.labs.statements import listing

_POINTER = """__global__ void f(float* P, int l) {
  int row = 16 * r + lane / 4 * 2 + half;
  int col = 8 * c + lane % 4 * 2;
  float* to = P + size_t(row) * l + col;
  if (col < l) to[0] = sum[0];
}
"""
_HELPER = """__device__ void put(float* P, int l, int row, int col, float a) {
  P[size_t(row) * l + col] = a;
}
__global__ void f(float* P, int l) {
  put(P, l, 2 * g, 2 * t, sum[0]);
}
"""


@pytest.mark.parametrize(
    ("text", "store", "is_row", "line"),
    [
        (_POINTER, 5, True, 2),
        (_POINTER, 5, False, 3),
        (_HELPER, 2, True, 5),
        (_HELPER, 2, False, 5),
    ],
)
def test_the_line_that_makes_the_row_or_the_column(text, store, is_row, line):
    assert line_of_place(listing(text), store, is_row) == line
