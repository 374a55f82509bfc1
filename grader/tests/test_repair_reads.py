"""The search for a change reads what students write: each way of saying it is carried out, and a fault in it seen."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from grader.judging.repair.given import Size
from grader.judging.repair.nodes import walk
from grader.judging.repair.reading import GivenUp, tokens_of
from grader.judging.repair.shown import text_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import try_out
from grader.tests.more_ways import MORE
from grader.tests.ways_of_memory import MEMORY
from grader.tests.ways_of_objects import OBJECTS
from grader.tests.ways_of_saying import WAYS
from grader.tests.ways_of_templates import TEMPLATES

ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = """#include "check.h"
constexpr int T = 16;
{top}
__global__ void k(const float* M, const float* N, float* P, int w) {{
  __shared__ float a[T][T], b[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int r = blockIdx.y * T + ty, c = blockIdx.x * T + tx;
  {before}
  float s = 0;
  for (int p = 0; p < w / T; ++p) {{
    a[ty][tx] = {load};
    b[ty][tx] = N[(p * T + ty) * w + c];
    {meet}
    {inner}
    {meet}
  }}
  {store}
}}
void solve(const float* M, const float* N, float* P, int w) {{
  {launch}
}}
"""
_PLAIN = {
    "top": "",
    "before": "",
    "load": "M[r * w + p * T + tx]",
    "meet": "__syncthreads();",
    "inner": "for (int i = 0; i < T; ++i) s += a[ty][i] * b[i][tx];",
    "store": "P[r * w + c] = s;",
    "launch": "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w);",
}
_SUM = "s += {} * b[i][tx];"
_STYLES = {
    "switch": {"store": "switch (w > 0) { case 1: P[r * w + c] = s; break; default: return; }"},
    "a case that goes on into the next": {
        "store": "switch (w > 0) { case 0: s = 0; case 1: s *= 1; case 2: P[r * w + c] = s; break; "
                 "case 3: s = 0; }",
    },
    "the rest before other cases": {
        "store": "switch (w % 3) { default: s += 0; case 2: P[r * w + c] = s; break; case 5: s = 0; }",
    },
    "goto where memory is freed": {
        "launch": "int* q = 0; if (cudaMalloc(&q, sizeof *q * w) != cudaSuccess) goto end; "
                  "k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w); end: cudaFree(q);",
    },
    "cooperative groups": {
        "top": "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;",
        "before": "cg::thread_block g = cg::this_thread_block();",
        "meet": "g.sync();",
    },
    "a group's own function": {
        "top": "using namespace cooperative_groups;",
        "before": "auto g = this_thread_block();",
        "meet": "sync(g);",
    },
    "a pointer to rows": {
        "inner": "float (*q)[T] = a; for (int i = 0; i < T; ++i) " + _SUM.format("q[ty][i]")
    },
    "a loop over an array": {
        "inner": "float x[T]; for (float& one : x) one = 0;"
        "for (int i = 0; i < T; ++i) x[i] += a[ty][i] * b[i][tx]; for (auto one : x) s += one;"
    },
    "an enum without numbers": {"top": "enum class Way { RIGHT, DOWN }; enum { FIRST, SECOND };",
                                "before": "Way way; if (SECOND != 1) return;"},
    "a type with a namespace": {
        "inner": "for (std::int64_t i = 0; i < T; ++i) " + _SUM.format("a[ty][i]")
    },
    "a lambda that says its type": {
        "before": "auto at = [&](int y, int x) -> int { return y * w + x; };",
        "load": "M[at(r, p * T + tx)]",
    },
    "a lambda that adds": {
        "inner": "auto add = [&](int i) { s += a[ty][i] * b[i][tx]; };"
        "for (int i = 0; i < T; ++i) add(i);"
    },
    "a parameter that need not be given": {
        "top": "__device__ int at(int y, int x, int w, int off = 0) { return y * w + x + off; }",
        "load": "M[at(r, p * T + tx, w)]",
    },
    "a length that is deduced": {
        "top": "template <int S> __device__ float dot(const float (&x)[S][S], const float (&y)[S][S],"
        "int r, int c) { float z = 0; for (int i = 0; i < S; ++i) z += x[r][i] * y[i][c]; return z; }",
        "inner": "s += dot(a, b, ty, tx);",
    },
    "the address of a variable": {
        "top": "__device__ void add(float* z, float x, float y) { *z += x * y; }",
        "inner": "for (int i = 0; i < T; ++i) add(&s, a[ty][i], b[i][tx]);",
    },
    "a struct that is called": {
        "top": "struct View { const float* p; int w;"
        "__device__ float operator()(int r, int c) const { return p[r * w + c]; } };",
        "before": "View v{M, w};",
        "load": "v(r, p * T + tx)",
    },
    "a class with a constructor": {
        "top": "class View { public: __device__ View(const float* q, int n) : p_(q), w_(n) {}"
        "__device__ float at(int r, int c) const { return p_[r * w_ + c]; }"
        "private: const float* p_ = nullptr; int w_{0}; };",
        "load": "View(M, w).at(r, p * T + tx)",
    },
    "a struct with rows": {
        "top": "struct View { const float* p; int w;"
        "__device__ const float* operator[](int r) const { return p + r * w; } };",
        "before": "View v{M, w};",
        "load": "v[r][p * T + tx]",
    },
    "a tile as a struct template": {
        "top": "template <int S> struct Tile { float v[S][S];"
        "__device__ void put(int r, int c, float x) { v[r][c] = x; } };",
        "before": "__shared__ Tile<T> t;",
        "inner": "t.put(ty, tx, a[ty][tx]); __syncthreads();"
        "for (int i = 0; i < T; ++i) " + _SUM.format("t.v[ty][i]"),
    },
    "a pair of numbers": {"before": "int2 rc = make_int2(r, c);", "store": "P[rc.x * w + rc.y] = s;"},
    "checks while compiling": {"top": 'static_assert(T == 16, "T");',
                               "before": "static_assert(T % 4 == 0);"},
    "a pragma as a word": {
        "inner": '_Pragma("unroll") for (int i = 0; i < T; ++i) ' + _SUM.format("a[ty][i]")
    },
    "constant memory": {"top": "__constant__ int OFF[2] = {0, 0};",
                        "store": "P[r * w + c + OFF[1]] = s;"},
    "#if with a comparison": {
        "top": "#define W_ 16\n#if defined(W_) && W_ >= 16\n#define U_ 16\n#elif 0\n#else\n#endif"
        .replace("#elif 0\n", ""),
        "inner": "for (int i = 0; i < U_; ++i) " + _SUM.format("a[ty][i]"),
    },
    "a struct within the kernel": {"before": "struct Place { int r, c; }; Place q{r, c};",
                                   "store": "P[q.r * w + q.c] = s;"},
    "bindings": {
        "top": "struct Place { int r, c; }; __device__ Place place(int r, int c) { return {r, c}; }",
        "before": "auto [y, x] = place(r, c);",
        "store": "P[y * w + x] = s;",
    },
    "std::swap": {"launch": "int u = 1, v = w / T; std::swap(u, v); v = u;"
                            "k<<<dim3(u, v), dim3(T, T)>>>(M, N, P, w);"},
    "attributes and a type behind": {
        "top": "[[nodiscard]] __device__ auto same(int x) -> int { return x; }",
        "before": "int q = same(r);",
        "store": "P[q * w + c] = s;",
    },
    "words for signs": {"before": "bool in = r < w and c < w; if (not in) return;"},
    "digits apart": {"inner": "for (int i = 0; i < 1'6; ++i) " + _SUM.format("a[ty][i]")},
    "a condition that declares": {"store": "if (int q = r * w + c; q >= 0) P[q] = s;"},
    "a pointer as a condition": {"store": "if (float* to = P + r * w + c) *to = s;"},
    "an array of arrays": {"before": "int q[2][2] = {{r, c}, {w, 0}};",
                           "store": "P[q[0][0] * q[1][0] + q[0][1]] = s;"},
}  # fmt: skip


_ALL = {**WAYS, **MORE, **OBJECTS, **MEMORY, **TEMPLATES}


def _is_right(parts: dict) -> bool:
    text = _PROGRAM.format(**{**_PLAIN, **parts})
    return try_out(parse(tokens_of(text)), {}, Size(32, 32, 32), (32,), False, 20_000).is_right


@pytest.mark.parametrize("style", sorted(_STYLES))
def test_a_way_of_saying_it_is_carried_out(style: str) -> None:
    parts = _STYLES[style]
    assert _is_right(parts)
    wrong = {**parts, "before": parts.get("before", "") + " c ^= 1;"}
    if "rc" in wrong["before"] or "c}" in wrong["before"] or "{{" in wrong["before"]:
        wrong = {**parts, "before": "c ^= 1; " + parts["before"]}
    assert not _is_right({**wrong, "load": wrong.get("load", _PLAIN["load"]).replace("p * T", "0")})


@pytest.mark.parametrize("way", sorted(_ALL))
def test_another_way_is_carried_out(way: str) -> None:
    parts = _ALL[way]
    assert _is_right(parts)
    assert not _is_right({**parts, "before": "M += 1; " + parts.get("before", "")})


@pytest.mark.parametrize(
    "parts",
    [
        {
            "launch": "if (w > 0) goto end; { end: k<<<dim3(w / T, w / T), dim3(T, T)>>>(M, N, P, w); }"
        },
        {"top": "int f(int x) { return *new (&x) int(x); }", "launch": "f(w);"},
        {
            "top": "__device__ int at(int y, int x, int w) { return y * w + x; }"
            " __device__ int at(int y, int x, float w) { return *new (&y) int(y); }",
            "load": "M[at(r, p * T + tx, w)]",
        },
        {"inner": 'asm("vabsdiff.s32.s32.s32 %0, %0, %0;" : "+r"(c));'},
        {"top": "#if W ? 2 : 3\n#endif"},
    ],
)
def test_what_is_not_read_is_given_up(parts: dict) -> None:
    with pytest.raises(GivenUp):
        _is_right(parts)


def test_all_that_is_read_can_be_shown() -> None:
    """A piece that cannot be told ends the whole search."""
    read = 0
    places = ("labs/*/*.cu", "solutions/*/*.cu", "grader/tests/**/*.cu")
    for path in sorted(path for place in places for path in ROOT.glob(place)):
        with contextlib.suppress(GivenUp, RecursionError):
            file = parse(tokens_of(path.read_text(encoding="utf-8")))
            read += 1
            for function in [*file.functions.values(), *file.methods.values()]:
                for node in walk(function.body):
                    assert isinstance(text_of(node), str), (path.name, node.line)
    assert read > 150
