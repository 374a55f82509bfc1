"""What a place in P rests on: a rule says that it lacks the thread only where it can read all of it."""

import pytest

from grader.judging import kernel_text, spread, suspects
from grader.labs.statements import Listing

SOURCE = """
#define DEEP 16
struct Who { int x; __device__ Who() { x = threadIdx.x % 8; } };
__device__ int mine() { return threadIdx.x; }
__device__ void place(int& at) { at = threadIdx.x; }
__global__ void kernel(float* P, const int* order, int l, int given) {
  const int block = blockIdx.x * DEEP, deep = block + int(threadIdx.y);
  BEFORE
  P[size_t(deep) * l + col] = 0;
}
"""


def _kernel(before: str, source: str = SOURCE) -> kernel_text.Kernel:
    text = Listing(source.replace("BEFORE", before))
    function = text.named("kernel")
    return kernel_text.Kernel(
        text, function, text.parameters(function), {"l": "64"}, {}, (4, 4, 1), (16, 16, 1)
    )


def _is_followed(before: str) -> bool:
    kernel = _kernel(before)
    store = next(one for one in kernel.body if one.has("P", "["))
    return spread.is_followed(kernel, ("deep", "*", "l", "+", "col"), store)


@pytest.mark.parametrize(
    "before",
    [
        "int col = block;",
        "int col = blockIdx.y * DEEP;",
        "int col = min(deep, l - 1) / 4;",
        "int col; col = block % DEEP;",
        "const unsigned base = given, col = (unsigned)base << 2;",
        "for (int col = 0; col < 4; ++col)",
    ],
)
def test_a_sum_of_plain_variables_is_followed(before):
    assert _is_followed(before)


@pytest.mark.parametrize(
    "before",
    [
        "Who me; int col = block + me.x;",
        "Who me, *one = &me; int col = block + one->x;",
        "const Who me; const int part = me.x * 4; int col = block + part;",
        "int col = block + Who().x;",
        "int col = block + mine();",
        "int col = block; place(col);",
        "int col; place(col);",
        "int col = block + order[3];",
        "int col = block + *order;",
        "int col = block; if (l > 3) col = threadIdx.x; else col = 0;",
        "int col = block; col += threadIdx.x;",
        "auto [row, col] = where();",
        "auto lane = [&] { return threadIdx.x; }; int col = lane();",
    ],
)
def test_fields_calls_elements_and_pointers_are_not(before):
    assert not _is_followed(before)


@pytest.mark.parametrize(
    ("source", "is_used"),
    [
        ("__global__ void kernel(float* P) { int x = threadIdx.x; }", False),
        ("__global__ void kernel(float* P) { const auto t = threadIdx; }", True),
        ("struct Me { int y = threadIdx.y; };\n__global__ void kernel(float* P) {}", True),
        ("__device__ int y() { return threadIdx.y; }\n__global__ void kernel(float* P) {}", True),
        ("struct Me { int y; __device__ Me() : y(threadIdx.y) {} };\n"
         "__global__ void kernel(float* P) {}", True),
        ("#define ROW (threadIdx.y)\n__global__ void kernel(float* P) {}", True),
        ("__global__ void other(float* P) { int y = threadIdx.y; }\n"
         "__global__ void kernel(float* P) {}", False),
    ],
)  # fmt: skip
def test_what_a_kernel_calls_may_use_an_axis(source, is_used):
    assert kernel_text.uses_elsewhere(_kernel("", source), "threadIdx", "y") is is_used


HELPED = """
HELPER
__global__ void kernel(const float* M, float* P, int l) {
  int row = ROW, col = blockIdx.x * blockDim.x + threadIdx.x;
  P[row * l + col] = 0;
}
"""


def test_an_axis_of_blocks_is_used_nowhere():
    for helper, row, is_told in (
        ("", "threadIdx.y", True),
        ("__device__ int first() { return blockIdx.y * 16; }", "first() + threadIdx.y", False),
        ("#define FIRST (blockIdx.y * 16)", "FIRST + threadIdx.y", False),
    ):
        kernel = _kernel("", HELPED.replace("HELPER", helper).replace("ROW", row))
        assert (suspects.unused_axis(kernel, "y") is not None) is is_told
