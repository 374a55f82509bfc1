"""Lanes that meet in a bank: how often, and which small change keeps them apart."""

import numpy as np
import pytest

from grader.judging.repair import child
from grader.judging.repair.bank_search import find_for_banks
from grader.judging.repair.lanes_meet import Meter, passes

LANES = np.arange(32)


@pytest.mark.parametrize(
    ("places", "words", "is_store", "taken", "needed"),
    [
        (LANES, 1, False, 1, 1),
        (2 * LANES, 1, False, 2, 1),
        (32 * LANES, 1, True, 32, 1),
        (0 * LANES, 1, False, 1, 1),
        (LANES // 16 * 32 + LANES % 16, 1, False, 2, 1),
        (4 * LANES, 4, False, 4, 4),
        (LANES // 8 * 16, 4, False, 2, 2),  # neighbours that share a place go together
        (LANES // 8 * 16, 4, True, 4, 4),
        (LANES % 2 * 32, 4, False, 4, 2),
        (16 * LANES, 4, True, 16, 4),
        (2 * LANES, 2, False, 2, 2),
    ],
)
def test_an_access_takes_as_many_passes_as_the_simulator_counts(
    places, words, is_store, taken, needed
):
    assert passes(places, LANES, words, is_store) == (taken, needed)


def test_the_words_of_one_access_are_counted_once():
    meter = Meter(is_strict=False)
    meter.begin(32)
    meter.note(4 * LANES, True, False, False, words=4)
    meter.silent = 4
    for word in range(4):
        meter.note(4 * LANES + word, True, False, False)
    assert (meter.taken, meter.needed) == (4, 4)
    meter.note(4 * LANES, LANES < 8, False, False)
    assert (meter.taken, meter.needed) == (5, 5)


PROGRAM = """
#include "check.h"
constexpr int SIDE = 64, DEEP = 16, EACH = 4, ACROSS = 16;
HELPERS
__global__ void kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  DECLARED
  __shared__ float n[DEEP][SIDE];
  const int t = threadIdx.x, tx = t % ACROSS, ty = t / ACROSS;
  const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
  float sum[EACH][EACH] = {};
  for (int k0 = 0; k0 < k; k0 += DEEP) {
    for (int a = 0; a < EACH; ++a) {
      const int r = ROW;
      STORE = top + r < j && k0 + tx < k ? M[(top + r) * k + k0 + tx] : 0.0f;
    }
    for (int at = t; at < DEEP * SIDE; at += 256) {
      const int i = at / SIDE, c = at % SIDE;
      n[i][c] = k0 + i < k && left + c < l ? N[(k0 + i) * l + left + c] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < DEEP; ++i)
      for (int a = 0; a < EACH; ++a)
        for (int b = 0; b < EACH; ++b) sum[a][b] += LOAD * n[i][tx + ACROSS * b];
    __syncthreads();
  }
  for (int a = 0; a < EACH; ++a)
    for (int b = 0; b < EACH; ++b) {
      const int row = top + ty + ACROSS * a, col = left + tx + ACROSS * b;
      if (row < j && col < l) P[row * l + col] = sum[a][b];
    }
}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  kernel<<<dim3((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE), 256>>>(M, N, P, j, k, l);
}
"""
APART = "ty + ACROSS * a"
TRANSPOSED = ("m[tx][r]", "m[i][ty + ACROSS * a]")
PLAIN = ("m[r][tx]", "m[ty + ACROSS * a][i]")


def _program(
    declared: str, store: str, load: str, helpers: str = "", row: str = APART
) -> tuple[str, int]:
    text = (
        PROGRAM.replace("HELPERS", helpers).replace("DECLARED", declared).replace("ROW;", f"{row};")
    )
    text = text.replace("STORE", store).replace("LOAD", load)
    return text, next(n for n, line in enumerate(text.splitlines(), 1) if f"{store} =" in line)


def _found(*given: str, first: str = "", **more: str):
    text, line = _program(*given, **more)
    lines = [n for n, row in enumerate(text.splitlines(), 1) if first and first in row]
    found = find_for_banks(text, "rect-device", [line], lines)
    return found, "" if found is None else text.splitlines()[found.line - 1].strip()


@pytest.mark.parametrize(
    ("declared", "helpers", "stands", "after"),
    [
        ("__shared__ float m[DEEP][SIDE];", "", "float m[DEEP][SIDE]", "SIDE + 2]"),
        ("__shared__ float m[DEEP][SIDE + 4];", "", "float m[DEEP][SIDE + 4]", "SIDE + 2]"),
        ("__shared__ float m[DEEP][ROW_OF_M];", "constexpr int ROW_OF_M = SIDE + 1;", "ROW_OF_M =", "SIDE + 2"),
        ("__shared__ float m[DEEP][SIDE + PAD];", "#define PAD 0", "#define PAD 0", "PAD 2"),
    ],
)  # fmt: skip
def test_rows_that_are_padded_by_too_little(declared, helpers, stands, after):
    found, row = _found(declared, *TRANSPOSED, helpers)
    assert stands in row and found.after.endswith(after)


def test_rows_of_a_struct_that_are_reached_by_a_helper():
    helpers = (
        "struct Tiles {\n  float m[DEEP][SIDE];\n};\n"
        "__device__ float& cell(Tiles& all, int i, int r) { return all.m[i][r]; }"
    )
    found, row = _found(
        "__shared__ Tiles all;", "cell(all, tx, r)", "cell(all, i, ty + ACROSS * a)", helpers
    )
    assert row == "float m[DEEP][SIDE];" and "SIDE + 2" in found.after


@pytest.mark.parametrize(
    ("helper", "before"),
    [
        ("__device__ int place(int i, int r) { return i * SIDE + (r ^ i); }", "r ^ i"),
        ("__device__ int place(int i, int r) { return i * SIDE + (r + i) % SIDE; }", "(r + i) % SIDE"),
    ],
)  # fmt: skip
def test_words_that_are_permuted_by_too_little(helper, before):
    found, row = _found(
        "__shared__ float m[DEEP * SIDE];",
        "m[place(tx, r)]",
        "m[place(i, ty + ACROSS * a)]",
        helper,
    )
    assert row == helper and before in found.before and "i * 2" in found.after


@pytest.mark.parametrize("row", ["ty * EACH + a", "EACH * ty + a"])
def test_neighbouring_lanes_that_take_rows_far_apart(row):
    found, line = _found("__shared__ float m[SIDE][DEEP];", *PLAIN, row=row)
    assert f"int r = {row};" in line and found.after == "ty + ACROSS * a"


def test_a_suspected_line_comes_first():
    helpers = "constexpr int pad() {\n  int words = 0;\n  words = 1;\n  return words;\n}"
    found, row = _found(
        "__shared__ float m[DEEP][SIDE + pad()];", *TRANSPOSED, helpers, first="words = 1"
    )
    assert row == "words = 1;" and found.after == "2"


def test_nothing_is_found_where_no_lanes_meet():
    assert _found("__shared__ float m[DEEP][SIDE + 2];", *TRANSPOSED) == (None, "")
    assert _found("__shared__ float m[SIDE][DEEP];", *PLAIN) == (None, "")


def test_a_child_finds_the_same():
    text, line = _program("__shared__ float m[DEEP][SIDE];", *TRANSPOSED)
    found = child.find_for_banks_apart(text, "rect-device", [line])
    assert found == find_for_banks(text, "rect-device", [line]) and found is not None
    assert child.find_for_banks_apart(text, "", [line]) is None
