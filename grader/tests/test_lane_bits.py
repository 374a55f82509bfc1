"""Which bits of a lane's number are its row, and which its column."""

import pytest

from grader.judging import lane_bits
from grader.labs.statements import listing

KERNEL = """
__global__ void kernel(float* P) {
  const int t = threadIdx.x, warp = t / 32, lane = t & 31;
  const int y = ROW;
  const int x = COLUMN;
  P[warp * 64 + y * 8 + x] = 0;
}
"""


@pytest.mark.parametrize(
    ("row", "column", "stands", "says"),
    [
        ("lane / 8", "lane % 8", "", ""),
        ("(lane >> 1 & 1) | (lane >> 4 & 1) << 1", "(lane & 1) | (lane >> 2 & 3) << 1", "", ""),
        ("lane / 2 % 2 + lane / 8 * 2", "lane % 2 + lane / 4 % 2 * 2", "", ""),
        ("(lane >> 3) << 2", "(lane & 7) << 1", "", ""),
        (
            "(lane >> 1 & 1) | (lane >> 4 & 2)", "(lane & 1) | (lane >> 1 & 6)", "int y",
            "bit 4 of the lane is in neither",
        ),
        (
            "(lane >> 1 & 1) | (lane >> 2 & 2)", "(lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 2)",
            "int x", "bit 3 is in both",
        ),
        ("lane / 2 % 2 + lane / 8 * 2", "lane % 2 + lane / 4 * 2", "int x", "take 8 and 16 values"),
        ("lane / 2 % 2 + lane / 8 * 2", "lane % 2 + lane / 4 % 2", "int x", "become one"),
        ("lane / 8", "lane % 4", "int x", "bit 2 of the lane is in neither"),
        # lane % 4, written bit by bit: bit 1 is the wrong one.
        (
            "lane / 2 % 2 + lane / 8 * 2", "lane % 2 + lane / 2 % 2 * 2", "int x",
            "bit 2 of the lane is in neither",
        ),
    ],
)  # fmt: skip
def test_each_bit_belongs_to_row_or_column(row, column, stands, says):
    text = KERNEL.replace("ROW", row).replace("COLUMN", column)
    said = lane_bits.shared(listing(text), may_guess=True)
    assert (said is not None) == bool(stands)
    if said is not None:
        assert stands in text.splitlines()[said.line - 1]
        assert says in said.text


def test_either_of_the_two_may_be_meant_otherwise():
    text = KERNEL.replace("ROW", "lane / 8").replace("COLUMN", "lane % 4")
    assert lane_bits.shared(listing(text)) is None
