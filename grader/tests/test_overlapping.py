"""Parts of one shared array that lie over each other, and the line that says how long the first one is."""

from __future__ import annotations

import pytest

from grader.judging import overlapping
from grader.judging.kernel_text import Kernel
from grader.labs.statements import Listing

SOURCE = """
constexpr int TILE = 32, DEPTH = 8, PITCH = TILE + 1;
BEFORE
__global__ void k(const float* M, float* P) {
  extern __shared__ float arena[];
  CUT
  const int t = threadIdx.x;
  for (int e = t; e < TILE * DEPTH; e += 96) {
    const int r = e / DEPTH, i = e % DEPTH;
    FIRST = M[r];
    SECOND = M[i];
  }
  __syncthreads();
  P[t] = arena[t];
}
"""
TURNED = "a[i * PITCH + r]"  # up to 7 * 33 + 31 = 262


def said(
    cut: str, before: str = "", first: str = TURNED, second: str = "b[i * TILE + r]", more: str = ""
):
    text = (
        SOURCE.replace("BEFORE", before)
        .replace("CUT", cut)
        .replace("FIRST = M[r];", f"{first} = M[r]; {more}")
    )
    known = Listing(text.replace("SECOND", second))
    kernel = Kernel(known, known.named("k"), ["M", "P"], block=(96, 1, 1))
    found = overlapping.indexed_beyond(kernel)
    return found, "" if found is None else text.splitlines()[found.line - 1]


@pytest.mark.parametrize(
    ("before", "cut", "row"),
    [
        ("constexpr int LENGTH = TILE * DEPTH;", "float* a = arena;\n  float* b = arena + LENGTH;", "int LENGTH"),
        ("#define LENGTH (TILE * DEPTH)", "float *a = arena, *b = &arena[LENGTH];", "#define LENGTH"),
        ("enum { LENGTH = TILE * DEPTH };", "float* a = &arena[0];\n  float* b = a + LENGTH;", "enum {"),
        ("", "float* a = arena;\n  auto b = arena + TILE * DEPTH;", "auto b"),
        ("", "const int LENGTH = 256;\n  float* a = arena;\n  float* b = a + LENGTH;", "const int LENGTH"),
        (
            "struct Of {\n  static constexpr int length = TILE * DEPTH;\n};",
            "float* a = arena;\n  float* b = arena + Of::length;", "int length",
        ),
        (
            "constexpr int HEAD = 64, LENGTH = 256;",
            "float* a = arena + HEAD;\n  float* b = arena + HEAD + LENGTH;", "HEAD = 64, LENGTH",
        ),
    ],
)  # fmt: skip
def test_the_length_of_a_part_is_told_where_it_is_written(before, cut, row):
    found, line = said(cut, before)
    assert found is not None and row in line
    assert "a[262]" in found.text and "256 elements behind it" in found.text


@pytest.mark.parametrize(
    ("cut", "ways"),
    [
        ("float* a = arena;\n  float* b = arena + DEPTH * PITCH;", {}),
        ("float* a = arena;\n  float* b = arena + TILE * DEPTH;", {"first": "a[i * TILE + r]"}),
        # Its last turn is not all threads': 288 would be one too many.
        ("float* a = arena;\n  float* b = arena + 256;", {"first": "a[e]"}),
        # The same memory twice, one after the other.
        ("float* a = arena;\n  float* b = arena + TILE * DEPTH;", {"more": "__syncthreads();"}),
        # Not all threads store there, or what they do is not clear.
        ("float* a = arena;\n  float* b = arena + TILE * DEPTH;", {"first": "if (r < 31) a[i * PITCH + r]"}),
        ("float* a = arena;\n  float* b = arena + TILE * DEPTH;", {"first": "a[place(i, r)]"}),
        ("float* a = arena;\n  float* b = arena + t * 4;", {}),
        ("float* a = arena;\n  float* b = a;", {}),
    ],
)  # fmt: skip
def test_parts_that_do_not_lie_over_each_other_or_may_are_not_told(cut, ways):
    assert said(cut, **ways)[0] is None
