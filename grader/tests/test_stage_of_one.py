"""Of two tiles in stages one is filled where it is read."""

import pytest

from grader.judging import stage_of_one
from grader.judging.kernel_text import Kernel
from grader.labs.statements import Listing

SOURCE = """
__global__ void kernel(const float* M, const float* N, float* P, int k) {
  __shared__ float ms[2][16][16], ns[2][16][16];
  int cur = 0;
  for (int t = 0; t < k; ++t, cur ^= 1) {
    __syncthreads();
    FIRST
    SECOND
    for (int i = 0; i < 16; ++i)
      sum += READ;
  }
}
"""
CALLS = ("fill(ms[{}], M, t);", "fill(ns[{}], N, t);")
COPIES = ("copy_async<4>(&ms[{}][y][x], M + t);", "copy_async<4>(&ns[{}][y][x], N + t);")
STORES = ("ms[{}][y][x] = M[t];", "ns[{}][y][x] = N[t];")
READ = "ms[{0}][y][i] * ns[{0}][i][x]"


def _said(ways, first, second, read, array="ns", as_call=False):
    text = SOURCE.replace("FIRST", ways[0].format(first)).replace("SECOND", ways[1].format(second))
    read = f"product(ms[{read}], ns[{read}], i)" if as_call else READ.format(read)
    known = Listing(text.replace("READ", read))
    function = known.named("kernel")
    return stage_of_one.into_used(Kernel(known, function, known.parameters(function)), array)


@pytest.mark.parametrize("ways", [CALLS, COPIES, STORES])
@pytest.mark.parametrize(
    ("used", "following"),
    [("cur", "cur ^ 1"), ("t & 1", "(t + 1) & 1"), ("t % 2", "1 - t % 2"), ("cur", "next")],
)
def test_the_line_of_the_one_that_is_wrong(ways, used, following):
    said = _said(ways, following, used, used)
    assert said is not None and said.line == 8
    said = _said(ways, used, following, used, "ms")
    assert said is not None and said.line == 7
    assert _said(ways, following, used, used, "ms") is None  # of that one all is right


def test_a_helper_may_read_both():
    said = _said(CALLS, "cur ^ 1", "cur", "cur", as_call=True)
    assert said is not None and said.line == 8


@pytest.mark.parametrize(
    ("first", "second", "read"),
    [
        ("cur ^ 1", "cur ^ 1", "cur"),
        ("cur", "cur", "cur"),  # filled, met and read
        ("1", "0", "0"),
        ("cur", "cur ^ 1", "cur ^ 1"),  # another array than the one that was seen
    ],
)
def test_other_stages(first, second, read):
    array = "ms" if second == read != first else "ns"
    assert _said(CALLS, first, second, read, array) is None
