"""What is left for a tile: a remainder, or an unsigned number that goes down."""

import pytest

from grader.judging import tails
from grader.judging.kernel_text import Kernel
from grader.labs.statements import listing

KERNEL = """
constexpr int TILE = 16;
__global__ void kernel(const float* M, float* P, int n) {
  __shared__ float tile[TILE];
  float sum = 0;
  COUNT left = n;
  for (int at = 0; at < n; at += TILE) {
    tile[threadIdx.x] = M[at + threadIdx.x];
    LIMIT
    for (int i = 0; i < stop; ++i) sum += tile[i];
    REST
  }
  while (left > 0) {
    left -= (int)TILE;
  }
  P[threadIdx.x] = sum;
}
"""


def _said(limit: str, rest: str = "", count: str = "int", size: int = 17):
    text = KERNEL.replace("LIMIT", limit).replace("REST", rest).replace("COUNT", count)
    found = listing(text)
    (function,) = found.functions()
    kernel = Kernel(found, function, ["M", "P", "n"], {"n": str(size)})
    said = tails.wrong_rest(kernel)
    return "" if said is None else text.splitlines()[said.line - 1].strip()


@pytest.mark.parametrize("limit", ["const int stop = n % TILE;", "int stop = left & 15;"])
def test_a_remainder_is_not_what_is_left(limit):
    assert _said(limit) == limit


@pytest.mark.parametrize(
    ("limit", "rest"),
    [
        ("const int stop = min(TILE, n - at);", ""),
        ("int stop = n % TILE;\n    if (stop == 0) stop = TILE;", ""),
        ("int stop = n % TILE;\n    stop = at + TILE <= n ? TILE : stop;", ""),
        ("const int stop = n % TILE == 0 ? TILE : n % TILE;", ""),
        ("const int stop = n % TILE;", "for (int i = stop; i < TILE; ++i) sum += tile[i];"),
        ("const int stop = n % TILE, whole = n / TILE;", ""),
    ],
)
def test_a_remainder_that_is_asked_for(limit, rest):
    assert _said(limit, rest) == ""


@pytest.mark.parametrize(
    ("count", "size", "is_told"),
    [("unsigned", 17, True), ("uint32_t", 40, True), ("unsigned", 32, False), ("int", 17, False)],
)
def test_an_unsigned_number_never_comes_below_0(count, size, is_told):
    line = _said("const int stop = TILE;", "", count, size)
    assert line == (f"{count} left = n;" if is_told else "")
