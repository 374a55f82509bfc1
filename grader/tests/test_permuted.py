"""Words of a row that a function permutes: where they are stored, read, and read side by side."""

import pytest

from grader.judging import permuted
from grader.labs.statements import listing

PROGRAM = """
constexpr int SIDE = 64, DEPTH = 16, MINE = 4;
__device__ int place(int i, int r) { return PLACE; }
__global__ void kernel(const float* M, float* P) {
  __shared__ float tile[DEPTH][SIDE];
  const int i = threadIdx.x % DEPTH, r = threadIdx.x / DEPTH;
  tile[i][STORED] = M[threadIdx.x];
  __syncthreads();
  READ
  P[threadIdx.x] = four[0] + four[3];
}
"""
FOUR = "const float* four = &tile[i][place(i, r * MINE)];"


def _text(place: str, stored: str, read: str):
    text = PROGRAM.replace("PLACE", place).replace("STORED", stored).replace("READ", read)
    return listing(text), text.splitlines()


@pytest.mark.parametrize(
    ("place", "read", "shown"),
    [
        ("r ^ i", FOUR, "in row 1 it gives words 0 to 3 the places 1, 0, 3 and 2"),
        ("r ^ (i % 8 * 2)", FOUR, "in row 1 it gives words 0 to 3 the places 2, 3, 0 and 1"),
        (
            "i * SIDE + (r + i) % SIDE",
            "float4 four = *reinterpret_cast<const float4*>(&tile[0][place(i, 4 * r)]);",
            "in row 1 it gives words 60 to 63 the places 125, 126, 127 and 64",
        ),
    ],
)
def test_neighbours_that_are_torn_apart(place, read, shown):
    text, lines = _text(place, "place(i, r)", read)
    found = permuted.torn(text)
    assert "return" in lines[found.line - 1]
    assert shown in found.text


@pytest.mark.parametrize("place", ["r ^ (4 * (i % 8))", "r ^ (i << 2)", "r + i"])
def test_groups_of_four_that_stay(place):
    assert permuted.torn(_text(place, "place(i, r)", FOUR)[0]) is None


def test_a_word_at_a_time_may_be_anywhere():
    read = "float four[4]; four[0] = tile[i][place(i, r * MINE)]; four[3] = 0;"
    assert permuted.torn(_text("r ^ i", "place(i, r)", read)[0]) is None


def test_one_side_that_does_not_ask():
    straight = "const float* four = &tile[i][r * MINE];"
    text, lines = _text("r ^ (i << 2)", "place(i, r)", straight)
    assert "four = " in lines[permuted.straight(text).line - 1]
    text, lines = _text("r ^ (i << 2)", "r", FOUR)
    assert "tile[i][r] =" in lines[permuted.straight(text).line - 1]
    assert permuted.straight(_text("r ^ (i << 2)", "place(i, r)", FOUR)[0]) is None
    assert permuted.straight(_text("r ^ (i << 2)", "r", straight)[0]) is None
