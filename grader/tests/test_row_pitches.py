"""Padding that rows of shared memory have in the array's size and not in its index, or the other way."""

import pytest

from grader.judging import row_pitches
from grader.labs.statements import Listing

STRUCT = """
template <int Rows, int Cols, int Pad>
struct Padded {
  float cell[SIZE];
  __device__ float& operator()(int r, int c) { return cell[INDEX]; }
};
__global__ void kernel(float* P) {
  __shared__ Padded<16, 64, 2> left;
  left(1, 2) = 0;
}
"""
MACRO = """
#define DEEP 16
#define TILE 64
#define PITCH (TILE + 1)
#define AT(i, r) sa[INDEX]
__global__ void kernel(float* P) {
  __shared__ float sa[SIZE];
  AT(1, 2) = 0;
}
"""
HELPER = """
constexpr int BM = 64, BK = 16;
constexpr int LD = BM + 4;
__device__ float& at(float* tile, int r, int c) {
  return tile[INDEX];
}
__global__ void kernel(float* P) {
  __shared__ float ms[SIZE];
  at(ms, 1, 2) = 0;
}
"""
PLAIN = """
constexpr int BM = 64, BK = 16, PAD = 4;
__global__ void kernel(float* P) {
  __shared__ float ms[SIZE];
  for (int i = 0; i < BK; ++i)
    ms[INDEX] = 0;
}
"""
PADDED = [
    (STRUCT, "Rows * (Cols + Pad)", "r * (Cols + Pad) + c", "r * Cols + c", 4, 5),
    (STRUCT, "(Cols + Pad) * Rows", "c + (Cols + Pad) * r", "c + r * Cols", 4, 5),
    (MACRO, "DEEP * PITCH", "(i) * PITCH + (r)", "(i) * TILE + (r)", 7, 5),
    (HELPER, "BK * LD", "r * LD + c", "r * BM + c", 8, 5),
    (PLAIN, "BK * (BM + PAD)", "i * (BM + PAD) + threadIdx.x", "i * BM + threadIdx.x", 4, 6),
]


def _both(source: str, size: str, index: str):
    text = Listing(source.replace("SIZE", size).replace("INDEX", index))
    return row_pitches.not_in_index(text), row_pitches.not_in_size(text)


@pytest.mark.parametrize(("source", "size", "index", "short", "where", "line"), PADDED)
def test_an_index_without_the_padding(source, size, index, short, where, line):
    said, other = _both(source, size, short)
    assert said is not None and said.line == line and other is None
    assert _both(source, size, index) == (None, None)


@pytest.mark.parametrize(("source", "size", "index", "short", "where", "line"), PADDED)
def test_a_size_without_the_padding(source, size, index, short, where, line):
    narrow = size.replace("(Cols + Pad)", "Cols").replace("(BM + PAD)", "BM")
    narrow = narrow.replace("PITCH", "TILE").replace("LD", "BM")
    said, other = _both(source, narrow, index)
    assert said is None and other is not None and other.line == where
    assert _both(source, narrow, short) == (None, None)


@pytest.mark.parametrize(
    ("size", "index"),
    [
        ("BK * (BM + PAD)", "threadIdx.x"),  # it is not said how far its rows lie apart
        ("BK * (BM + PAD)", "i * 32 + threadIdx.x"),
        ("BM * (BM + 1)", "i * (BM + 1) + threadIdx.x"),
        ("(BK + 1) * BM", "i * BM + threadIdx.x"),  # a row more
        ("(BM + 1) * BM", "i * BM + threadIdx.x"),
        ("BK * BM + PAD", "i * BM + threadIdx.x"),
    ],
)
def test_other_sizes_are_not_spoken_of(size, index):
    said = _both(PLAIN, size, index)
    assert said == (None, None)


def test_what_a_line_of_conflicts_has_to_do_with_it():
    text = Listing(STRUCT.replace("SIZE", "Rows * (Cols + Pad)").replace("INDEX", "r * Cols + c"))
    assert row_pitches.is_of(text, 9, 5) and not row_pitches.is_of(text, 2, 5)
