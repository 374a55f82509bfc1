"""Loops in which a block's threads go over a row together, and what is left of a row."""

from types import SimpleNamespace

import pytest

from grader.judging import short_loops, spread, tails
from grader.judging.kernel_text import Kernel
from grader.judging.repair.search import find
from grader.labs.statements import listing

SOURCE = """
constexpr int ROWS = 8, WIDE = 64, HALF = 32, QUARTER = 16;
__global__ void kernel(float* P, int l) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int y = 0; y < 2; ++y) {
    LOOP {
      const int row = ROW, col = COLUMN;
      P[row * l + col] = 0;
    }
  }
}
"""
TIMES = "for (int x = lane; x < {}; x += 32)"
ALL = "for (int e = lane; e < {} * WIDE; e += 32)"


def _said(loop: str, row: str, column: str, which: int, side: int):
    text = SOURCE.replace("LOOP", loop).replace("ROW;", f"{row};").replace("ROW,", f"{row},")
    known = listing(text.replace("COLUMN", column))
    function = known.named("kernel")
    kernel = Kernel(known, function, ["P", "l"], block=(128, 1, 1))
    store = next(one for one in kernel.body if one.has("P", "["))
    words = (("row",), ("col",))[which]
    found = spread.values_of(kernel, words, store)
    return short_loops.ends_early(kernel, words, store, found, side)


@pytest.mark.parametrize(
    ("loop", "row", "column", "which", "side"),
    [
        (TIMES.format("HALF"), "y", "warp % 2 * WIDE + x", 1, 128),
        (TIMES.format("WIDE / 2"), "y", "warp % 2 * WIDE + x", 1, 128),
        (TIMES.format("32"), "y", "x", 1, 64),
        (ALL.format("4"), "warp * ROWS + e / WIDE", "e % WIDE", 0, 32),
    ],
)
def test_a_loop_of_a_block_that_ends_too_early(loop, row, column, which, side):
    found = _said(loop, row, column, which, side)
    assert (found is not None) and found.line == 6 and "twice as far" in found.text


@pytest.mark.parametrize(
    ("loop", "row", "column", "which", "side"),
    [
        (TIMES.format("WIDE"), "y", "warp % 2 * WIDE + x", 1, 128),  # all of them
        (TIMES.format("WIDE"), "y", "warp % 2 * HALF + x", 1, 128),  # they meet
        ("for (int x = 0; x < 2; ++x)", "y", "lane + 32 * x", 1, 128),  # each thread's own
        (TIMES.format("WIDE"), "y", "warp * WIDE * 3 + x", 1, 512),
    ],
)
def test_other_gaps_are_not_the_loops(loop, row, column, which, side):
    assert _said(loop, row, column, which, side) is None


REST = """
constexpr int TILE = 16;
__global__ void kernel(const float* M, float* P, int k) {
  const int tx = threadIdx.x, row = blockIdx.x * TILE + tx;
  const float* m = M + tx;
  FIRST;
  for (int turn = (k + TILE - 1) / TILE; turn > 0; --turn) {
    tile[tx] = GUARD ? *m : 0.0f;
    m += TILE;
    LAST
  }
}
"""


@pytest.mark.parametrize(
    ("first", "guard", "last", "is_told"),
    [
        ("int left = k", "tx < left", "", True),
        ("unsigned left = k", "(tx < left)", "", True),
        ("int left = k", "tx < left", "left -= TILE;", False),
        ("int left = k", "row < left", "", False),  # of the block: that does not go on
        ("int left = k", "turn < left", "", False),
        ("const int left = k", "tx < left", "", False),
        ("int left = TILE", "tx < left", "", False),
    ],
)
def test_what_is_left_stays_the_same(first, guard, last, is_told):
    text = REST.replace("FIRST", first).replace("GUARD", guard).replace("LAST", last)
    kernel = SimpleNamespace(text=listing(text), known={})
    said = tails.wrong_rest(kernel)
    assert (said is not None) == is_told
    if said is not None:
        assert "m += TILE;" in text.splitlines()[said.line - 1] and "left" in said.advice


CONFIGURED = """
template <int BM, int BN, int BK, int RM, int RN>
struct Config {
  static constexpr int bm = BM, bn = BN, bk = BK, rm = RM, rn = RN;
  static constexpr int tx = bn / rn, ty = bm / rm;
  static constexpr int threads = tx * ty;
  static constexpr int m_loads = FIRST * bk / threads;
  static constexpr int n_loads = bk * SECOND / threads;
};
template <class C>
__global__ void kernel(const float* A, const float* B, float* D, int rows, int depth, int cols) {
  __shared__ float a[C::bk][C::bm], b[C::bk][C::bn];
  const int t = threadIdx.x, x0 = blockIdx.x * C::bn, y0 = blockIdx.y * C::bm;
  float sum[C::rm][C::rn] = {};
  for (int k0 = 0; k0 < depth; k0 += C::bk) {
    for (int u = 0; u < C::m_loads; ++u) {
      const int at = t + u * C::threads, y = at / C::bk, z = at % C::bk;
      a[z][y] = y0 + y < rows && k0 + z < depth ? A[(y0 + y) * depth + k0 + z] : 0.0f;
    }
    for (int u = 0; u < C::n_loads; ++u) {
      const int at = t + u * C::threads, z = at / C::bn, x = at % C::bn;
      b[z][x] = k0 + z < depth && x0 + x < cols ? B[(k0 + z) * cols + x0 + x] : 0.0f;
    }
    __syncthreads();
    for (int z = 0; z < C::bk; ++z)
      for (int i = 0; i < C::rm; ++i)
        for (int j = 0; j < C::rn; ++j)
          sum[i][j] += a[z][t / C::tx * C::rm + i] * b[z][t % C::tx + j * C::tx];
    __syncthreads();
  }
  for (int i = 0; i < C::rm; ++i)
    for (int j = 0; j < C::rn; ++j) {
      const int y = y0 + t / C::tx * C::rm + i, x = x0 + t % C::tx + j * C::tx;
      if (y < rows && x < cols) D[y * cols + x] = sum[i][j];
    }
}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  using C = Config<SIDES>;
  kernel<C><<<dim3((l + C::bn - 1) / C::bn, (j + C::bm - 1) / C::bm), C::threads>>>(M, N, P, j, k, l);
}
"""


@pytest.mark.parametrize(
    ("first", "second", "sides", "after"),
    [
        ("bn", "bn", "64, 32, 8, 4, 4", "m_loads = bm * bk / threads"),
        ("bm", "bm", "32, 64, 8, 4, 4", "n_loads = bk * bn / threads"),
    ],
)
def test_a_constant_is_counted_from_another_than_it_should_be(first, second, sides, after):
    text = CONFIGURED.replace("FIRST", first).replace("SECOND", second).replace("SIDES", sides)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "sum[i][j] +=" in row)
    found = find(text, "rect-device", False, [line], minds_unset=True)
    assert found is not None and found.after.endswith(after)
