"""Stages that are filled in turn: where the turn changes, and what belongs to a group of copies."""

import pytest

from grader.judging import staging
from grader.judging.kernel_text import Kernel
from grader.labs.statements import listing

KERNEL = """
__device__ void fill(float* tile, const float* from);
__global__ void kernel(const float* M, float* P, int width) {
  __shared__ float tiles[2][16];
  int s = 0;
  float sum = 0;
  fill(tiles[s], M);
  for (int turn = 0; turn < width; ++turn) {
    TURN
  }
  P[threadIdx.x] = sum;
}
"""
READ = "for (int i = 0; i < 16; ++i) sum += now[i];"


def _kernel(*lines: str):
    text = KERNEL.replace("TURN", "\n    ".join(lines))
    found = listing(text)
    function = next(one for one in found.functions() if "__global__" in one.words)
    return Kernel(found, function, found.parameters(function)), text.splitlines()


SYNC, FLIP = "__syncthreads();", "s ^= 1;"
NOW, FILL = "const float* now = tiles[s];", "if (turn + 1 < width) fill(tiles[s], M + 16 * turn);"


@pytest.mark.parametrize(
    ("lines", "is_told"),
    [
        ((SYNC, FLIP, NOW, FILL, READ), True),
        ((SYNC, NOW, FILL, READ, FLIP), True),
        ((SYNC, "s = 1 - s;", NOW, FILL, READ), True),
        ((SYNC, NOW, FLIP, FILL, READ), False),
        ((FILL, SYNC, NOW, READ, FLIP), False),
        ((SYNC, NOW, READ, SYNC, FILL, FLIP), False),
    ],
)
def test_a_stage_that_changes_too_early_or_too_late(lines, is_told):
    kernel, rows = _kernel(*lines)
    said = staging.flipped(kernel)
    assert (said is not None) == is_told
    if said is not None:
        assert rows[said.line - 1].strip() in (FLIP, "s = 1 - s;")


NEXT = "if (turn + 1 < width) fill(tiles[(turn + 1) % 2], M + 16 * turn);"
OF_TURN = "const float* now = tiles[turn % 2];"


@pytest.mark.parametrize(
    ("lines", "is_told"),
    [((NEXT, SYNC, OF_TURN, READ), True), ((SYNC, NEXT, OF_TURN, READ), False)],
)
def test_the_next_stage_is_filled_before_the_barrier(lines, is_told):
    kernel, rows = _kernel(*lines)
    line = {part: next(n for n, row in enumerate(rows, 1) if part in row) for part in (NEXT, READ)}
    said = staging.early(kernel, line[READ], line[NEXT])
    assert (said is not None) == is_told
    if said is not None:
        assert said.line == line[NEXT]


COPIES = """
__global__ void kernel(const float* M, const float* N, float* P) {
  __shared__ float left[64], right[64];
  auto start = [&](int turn) {
    copy4(&left[threadIdx.x], M + turn);
    FIRST
    copy4(&right[threadIdx.x], N + turn);
    SECOND
  };
}
"""
COMMIT = "__pipeline_commit();"


@pytest.mark.parametrize(
    ("first", "second", "is_told"),
    [(COMMIT, "", True), ("", COMMIT, False), (COMMIT, COMMIT, False)],
)
def test_a_group_that_is_closed_too_early(first, second, is_told):
    text = COPIES.replace("FIRST", first).replace("SECOND", second)
    said = staging.closed_early(listing(text), "right")
    assert (said is not None) == is_told
    assert staging.closed_early(listing(text), "left") is None
    if said is not None:
        assert COMMIT in text.splitlines()[said.line - 1]


HELPER = """
__device__ void copy4(float* to, const float* from, int cols) {
  if (cols % 4 == 0) {
    WHOLE
  } else {
    for (int c = 0; c < 4; ++c) PART
  }
}
"""


@pytest.mark.parametrize(
    ("whole", "part", "is_told"),
    [
        ("copy_async<4>(to, from, true);", "copy_async<4>(to + c, from + c, true);", True),
        ("copy_async<16>(to, from, true);", "copy_async<4>(to + c, from + c, true);", False),
        (
            "__pipeline_memcpy_async(to, from, sizeof(float));",
            "__pipeline_memcpy_async(to + c, from + c, sizeof(float));",
            True,
        ),
        ("__pipeline_memcpy_async(to, from, 16);", "__pipeline_memcpy_async(to, from, 4);", False),
    ],
)
def test_one_float_in_place_of_four(whole, part, is_told):
    text = HELPER.replace("WHOLE", whole).replace("PART", part)
    said = staging.too_small(listing(text))
    assert (said is not None) == is_told
    if said is not None:
        assert whole in text.splitlines()[said.line - 1]
