"""The line that says how large a block is, which is seldom that of the launch."""

import pytest

from grader.judging import blocks_made, host
from grader.labs.statements import Listing

SOURCE = """
#include "check.h"
constexpr int TN = 4, TM = 4;
MADE
__global__ void kernel(const float* M, const float* N, float* P, int w) {
  for (int e = threadIdx.x; e < w; e += DEVICE) P[e] = TN * TM;
}
void solve(const float* M, const float* N, float* P, int w) {
  HERE
  kernel<<<w, BLOCK>>>(M, N, P, w);
}
"""


@pytest.mark.parametrize(
    ("made", "here", "block", "line"),
    [
        ("", "dim3 block(TN, TM);", "block", 9),
        ("", "const dim3 block{TN, TM};", "block", 9),
        ("", "int threads = TN * TM;", "threads", 9),
        ("", "", "dim3(TN, TM)", 10),
        ("", "", "TN * TM", 10),
        ("", "", "TN", 10),  # the kernel is made for it
        ("constexpr int THREADS = TN * TM;", "", "THREADS", 4),
        ("#define THREADS (TN * TM)", "", "THREADS", 4),
        ("constexpr int SIDES[] = {TN, TM};", "dim3 block(SIDES[0], SIDES[1]);", "block", 4),
        ("constexpr int X = TN, Y = TM;", "dim3 block(X, Y);", "block", 9),  # either may be wrong
        ("dim3 block_of() { return dim3(TN, TM); }", "", "block_of()", 4),
        ("dim3 block_of() { return dim3(TN, TM); }", "dim3 block = block_of();", "block", 4),
        ("", "dim3 block; block.x = TN; block.y = TM;", "block", 9),
    ],
)
def test_where_a_block_is_made(made, here, block, line):
    text = SOURCE.replace("MADE", made).replace("HERE", here).replace("BLOCK", block)
    known = Listing(text.replace("DEVICE", "256"))
    found = host.read(known)
    assert blocks_made.made(known, found, found.launches[0])[0] == line


def test_a_constant_that_the_kernel_uses_is_its_own():
    text = SOURCE.replace("MADE", "constexpr int THREADS = TN * TM;").replace("HERE", "")
    known = Listing(text.replace("BLOCK", "THREADS").replace("DEVICE", "THREADS"))
    found = host.read(known)
    assert blocks_made.made(known, found, found.launches[0])[0] == 10


@pytest.mark.parametrize(
    ("made", "here", "block", "line"),
    [
        ("", "const dim3 block{TN};", "block", 9),
        ("", "auto block = dim3(TN);", "block", 9),
        ("", "dim3 block; block.x = TN;", "block", 9),
        ("", "int threads = TN;", "threads", 10),
        ("constexpr int THREADS = TN;", "", "THREADS", 10),
        ("#define THREADS TN", "", "dim3(THREADS)", 10),
        ("dim3 block_of() { return dim3(TN); }", "", "block_of()", 4),
        ("", "const dim3 block{TN, TM};", "block", 0),
    ],
)
def test_where_a_block_lacks_a_side(made, here, block, line):
    text = SOURCE.replace("MADE", made).replace("HERE", here).replace("BLOCK", block)
    known = Listing(text.replace("DEVICE", "256"))
    found = host.read(known)
    assert blocks_made.lacking_side(known, found, found.launches[0], "y") == line
