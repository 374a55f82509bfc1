"""Walks along a row whose end is counted from the beginning of another row."""

import pytest

from grader.judging import walk_ends
from grader.judging.kernel_text import Kernel
from grader.labs.statements import Listing

SOURCE = """
constexpr int S = 16;
__global__ void kernel(const float* M, const float* N, float* P, int w, int k) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * S + y;
  float sum = 0;
  BEFORE
  END
  LOOP
}
"""
WALK = "while ({}) {{ sum += *m; __syncthreads(); m += S; }}"
START = "const float* m = M + row * w + x;"


def _said(before: str, end: str, loop: str):
    text = Listing(SOURCE.replace("BEFORE", before).replace("END", end).replace("LOOP", loop))
    function = text.named("kernel")
    return walk_ends.of_first_row(
        Kernel(text, function, text.parameters(function), {"w": "64", "k": "32"})
    )


@pytest.mark.parametrize(
    ("before", "end", "loop"),
    [
        (START, "const float* stop = M + w;", WALK.format("m < stop")),
        (START, "const float *const stop = M + w;", WALK.format("m != stop")),
        (START, "const float* stop = &M[w];", WALK.format("stop > m")),
        ("const float* m = &M[row * w + x];", "auto stop = M + w;", WALK.format("m < stop")),
        ("const float* m = M + (blockIdx.y * S + y) * w + x;", "auto stop = M + x + w;",
         WALK.format("m < stop")),
        ("const float* m = M + (blockIdx.y * S + y) * w + x;",
         "auto stop = M + blockIdx.y * S * w + w;", WALK.format("m < stop")),
        ("const float* line = M + row * w; const float* m = line + x;",
         "const float* stop = M + w;", WALK.format("m < stop")),
        ("const float* m = M; m += row * w; m += x;", "auto stop = M + w;", WALK.format("m < stop")),
        (START, "const float* stop; stop = M + w;", WALK.format("m < stop")),
        (START, "const float* stop = M + w;",
         "do { sum += *m; __syncthreads(); m += S; } while (m < stop);"),
        (START, "const float* stop = M + w;",
         "for (;;) { if (m >= stop) break; sum += *m; m += S; }"),
        (START, "const float* stop = M + w;", "for (; m < stop; m += S) sum += *m;"),
        ("", "const int stop = w;",
         "for (int at = row * w + x; at < stop; at += S) { sum += M[at]; __syncthreads(); }"),
        ("int at = (row * w) + x;", "const int stop = w + x;",
         "while (at < stop) { sum += M[at]; at += S; }"),
    ],
)  # fmt: skip
def test_an_end_without_the_row(before, end, loop):
    said = _said(before, end, loop)
    assert said is not None and said.line == 8 and "another row" in said.text, said


@pytest.mark.parametrize(
    "loop",
    [
        START + WALK.format("m < M + w"),
        "for (int at = row * w + x; at < w; at += S) sum += M[at];",
        "for (const float* m = M + row * w, *stop = M + w; m != stop; ++m) sum += *m;",
    ],
)
def test_an_end_that_the_loop_itself_has(loop):
    said = _said("", "", loop)
    assert said is not None and said.line == 9


@pytest.mark.parametrize(
    ("before", "end", "loop"),
    [
        (START, "const float* stop = m + w;", WALK.format("m < stop")),
        (START, "const float* stop = M + row * w + w;", WALK.format("m < stop")),
        (START, "const float* stop = M + (row + 1) * w;", WALK.format("m < stop")),
        (START, "const float* stop = M + w * w;", WALK.format("m < stop")),
        (START, "const float* stop = M + (blockIdx.y * S + y) * w + w;", WALK.format("m < stop")),
        ("M += row * w; const float* m = M + x;", "const float* stop = M + w;",
         WALK.format("m < stop")),
        ("const float* m = M; m += row * w;", "const float* stop = m + w;",
         WALK.format("m < stop")),
        ("const float* n = N + y * w + row;", "const float* stop = N + w * w;",
         "while (n < stop) { sum += *n; n += S * w; }"),
        ("", "", "for (int q = x; q < w; q += S) sum += M[row * w + q];"),
        ("", "", "for (int e = y * S + x; e < S * S; e += 256) sum += M[e];"),
        ("", "", "for (int i = blockIdx.x * blockDim.x + x; i < w; i += 64) sum += M[i];"),
        ("", "", "for (int e = row * S + x; e < w; e += S) sum += M[e];"),
        (START, "const float* stop = N + w;", WALK.format("m < stop")),  # of what else?
    ],
)  # fmt: skip
def test_ends_that_are_right_or_not_known(before, end, loop):
    assert _said(before, end, loop) is None
