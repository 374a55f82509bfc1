"""Tiles that no line fills, and lines that may fill one in another way."""

import pytest

from grader.judging.kernel_text import Kernel
from grader.judging.never_filled import never_filled
from grader.labs.statements import listing

PROGRAM = """
struct Tiles {
  float left[16][16], right[16][16];
};
__device__ void put(float& to, float v) { to = v; }
__device__ void row(float* to, const float* from) { to[threadIdx.x] = from[threadIdx.x]; }
__device__ float dot(float (&a)[16][16], const float (&b)[16][16]) { return a[0][0] * b[0][0]; }
__global__ void kernel(const float* M, float* P) {
  __shared__ Tiles tiles;
  __shared__ float at[16][16], bt[16][16];
  at[threadIdx.y][threadIdx.x] = M[threadIdx.x];
  row(tiles.left[threadIdx.y], M);
  FILLED
  __syncthreads();
  P[threadIdx.x] = dot(at, bt) + dot(tiles.left, tiles.right) + fmaf(bt[0][0], at[1][1], 1.0f);
}
"""


def _said(filled: str, array: str):
    text = listing(PROGRAM.replace("FILLED", filled))
    function = text.named("kernel")
    return never_filled(Kernel(text, function, text.parameters(function)), array, 15)


@pytest.mark.parametrize(
    "filled", ["", "float v = bt[0][0];", "P[1] = bt[0][0] * tiles.right[0][0];"]
)
def test_nothing_fills_it(filled: str):
    assert _said(filled, "bt").line == 11 and "Nothing fills bt" in _said(filled, "bt").text
    assert _said(filled, "tiles").line == 12
    assert "Nothing fills tiles.right" in _said(filled, "tiles").text
    assert _said(filled, "at") is None


@pytest.mark.parametrize(
    "filled",
    [
        "bt[0][threadIdx.x] = 1.0f;", "put(bt[0][threadIdx.x], 1.0f);", "row(bt[threadIdx.y], M);",
        "fill(bt, M);", "float* p = bt[threadIdx.y];", "float (&r)[16] = bt[threadIdx.y];",
        "float4* p = reinterpret_cast<float4*>(bt);", "row(&bt[0][0], M);", "auto p = bt[0];",
        "bt[0][0]++;",
    ],
)  # fmt: skip
def test_a_line_may_fill_it(filled: str):
    assert _said(filled, "bt") is None
    assert _said(filled.replace("bt", "tiles.right"), "tiles") is None


def test_all_of_a_struct_is_given_to_a_helper():
    assert _said("load(tiles, M);", "tiles") is None
    assert _said("tiles.load(M);", "tiles") is None


def test_a_macro_may_fill_it():
    text = PROGRAM.replace("struct Tiles", "#define FILL bt[0][0] = 1.0f\nstruct Tiles", 1)
    text = listing(text.replace("FILLED", "FILL;"))
    function = text.named("kernel")
    kernel = Kernel(text, function, text.parameters(function))
    assert never_filled(kernel, "bt", 16) is None
