"""Work that solve cuts into parts: which line is told where these do not make up all of it."""

import pytest

from grader.judging import host, work_parts
from grader.labs.statements import listing

SOURCE = """
constexpr int SIDE = 64, WHOLE = 96;
__global__ void add(const float* a, const float* b, float* c, int from, int to) {
  c[threadIdx.x] += a[from] * b[to];
}
__global__ void store(const float* a, const float* b, float* c, int from, int to) {
  c[threadIdx.x] = a[from] * b[to];
}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int upper = j / 2, lower = j - upper;
  BODY
}
"""
TILES = """for (int top = 0; top < j; top += SIDE)
    for (int left = 0; left < l; left += SIDE) {
      const int rows = min(SIDE, ROWS), columns = COLUMNS < SIDE ? COLUMNS : SIDE;
      add<<<rows, columns>>>(M, N, P, 0, k);
    }"""
BANDS = """const int rows = LENGTH;
  for (int i = 0; i < 3; i++) dummy();
  for (int band = 0; band < upper; band++) {
    const int first = band * rows;
    add<<<1, 1>>>(M, N, P, first, LAST);
  }"""


def _said(body: str) -> str:
    text = SOURCE.replace("BODY", body)
    known = listing(text)
    found = work_parts.wrong_part(known, host.read(known))
    return "" if found is None else text.splitlines()[found.line - 1].strip()


@pytest.mark.parametrize(
    ("rows", "columns", "is_told"),
    [
        ("j - top", "l - left", False),
        ("j - top", "l - top", True),
        ("j - left", "l - left", True),
    ],
)
def test_what_is_left_of_another_side(rows: str, columns: str, is_told: bool):
    assert bool(_said(TILES.replace("ROWS", rows).replace("COLUMNS", columns))) == is_told


@pytest.mark.parametrize(
    ("first", "second", "is_told"),
    [
        ("add<<<1, 1>>>(M, N, P, 0, k / 2);", "add<<<1, 1>>>(M, N, P, 0, k / 2);", True),
        ("add<<<1, 1>>>(M, N, P, 0, k / 2);", "CHECK(0); add<<<1, 1>>>(M, N, P, 0, k / 2);", True),
        ("add<<<1, 1>>>(M, N, P, 0, k / 2);", "add<<<1, 1>>>(M, N, P, k / 2, k);", False),
        ("add<<<1, 1>>>(M, N, P, 0, k / 2);", "M += k; add<<<1, 1>>>(M, N, P, 0, k / 2);", False),
        ("store<<<1, 1>>>(M, N, P, 0, k);", "store<<<1, 1>>>(M, N, P, 0, k);", False),
    ],
)
def test_a_part_that_is_taken_twice(first: str, second: str, is_told: bool):
    assert (_said(f"{first}\n  {second}") == second) == is_told


@pytest.mark.parametrize(
    ("call", "is_told"),
    [
        ("store<<<1, 1>>>(M, N, P + upper * l, lower, k);", True),
        ("store<<<1, 1>>>(M, N, P + (size_t)upper * l, lower, k);", True),
        ("run(store, lower, M, N, P + l * upper);", True),
        ("store<<<1, 1>>>(M + upper * k, N, P + upper * l, lower, k);", False),
        ("store<<<1, 1>>>(M, N, P + upper * l, upper, k);", False),  # the kernel is told
        ("store<<<1, 1>>>(M, N, P, lower, k);", False),
    ],
)
def test_rows_of_the_result_that_are_made_of_the_first_ones(call: str, is_told: bool):
    assert (_said(call) == call) == is_told


@pytest.mark.parametrize(
    ("length", "last", "is_told"),
    [
        ("j / upper", "first + rows", True),
        ("j / upper", "band == upper - 1 ? j : first + rows", False),
        ("j / upper", "band + 1 < upper ? first + rows : j", False),
        ("(j + upper - 1) / upper", "first + rows", False),
        ("WHOLE / upper", "first + rows", False),
        ("j / lower", "first + rows", False),
    ],
)
def test_parts_that_are_rounded_down(length: str, last: str, is_told: bool):
    said = _said(BANDS.replace("LENGTH", length).replace("LAST", last))
    assert (said == f"const int rows = {length};") == is_told
