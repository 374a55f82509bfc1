"""Which barrier is missing: seen through helpers, lambdas and macros, where the kernel calls them."""

from __future__ import annotations

import pytest

from grader.judging import barriers, divergence
from grader.judging.kernel_text import Kernel
from grader.labs.statements import Listing
from grader.tests.corpus_files import REPOSITORY, bare_solution, ladder

_FRESH = REPOSITORY / "common" / "measure" / "causes" / "fresh"


def _kernel(text: str) -> Kernel:
    listing = Listing(text)
    function = next(item for item in listing.functions() if "__global__" in item.words)
    return Kernel(listing, function, listing.parameters(function), block=(16, 16, 1))


def _said(text: str, reads: str, writes: str):
    lines = text.splitlines()
    at = [next(n for n, row in enumerate(lines, 1) if part in row) for part in (reads, writes)]
    return barriers.between(_kernel(text), *at)


def _text(name: str) -> str:
    return (
        (_FRESH / f"{name}.cu").read_text() if "-" in name else bare_solution(ladder()[int(name)])
    )


# Program, the line that reads and the one that fills, the statement before the barrier that ends a turn.
_PROGRAMS = {
    "solution": ("1", "sum += Mds", "Nds[ty][tx] =", "__syncthreads();  // separates using"),
    "macro and helper": ("02-walkers", "s += *row", "tb[me] =", "BAR();\n        pa +="),
    "methods": ("03-tilebox", "return cell[r][c]", "cell[threadIdx.y]", "__syncthreads();\n  }\n\n"),
    "loops of a macro": ("05-tall", "a_tile[s * SIDE + ty", "a_tile[c * SIDE", "__syncthreads();\n    }\n\n    REP"),
    "lambdas": ("04-visitor", "FOR_TILE(i) sum", "a[ty][tx] = m[", "__syncthreads();\n  }\n  if_inside"),
}  # fmt: skip


@pytest.mark.parametrize("style", sorted(_PROGRAMS))
def test_a_barrier_at_the_end_of_a_turn(style: str) -> None:
    name, reads, writes, last = _PROGRAMS[style]
    text = _text(name)
    assert _said(text, reads, writes) is None
    assert text.count(last) == 1
    word = last.split("(")[0]
    said = _said(text.replace(last, last.replace(word + "()", "(void)0", 1)), reads, writes)
    assert said is not None
    assert "the next turn of the loop fills again" in said.text
    assert "at the end of the loop" in said.advice


@pytest.mark.parametrize(
    ("name", "first", "reads", "writes"),
    [
        ("02-walkers", "BAR();\n        total", "s += *row", "tb[me] ="),
        ("03-tilebox", "__syncthreads();\n    const int", "return cell", "cell[threadIdx.y]"),
    ],
)
def test_a_barrier_between_filling_and_reading(name, first, reads, writes) -> None:
    text = _text(name)
    assert text.count(first) == 1
    word = first.split("(")[0]
    said = _said(text.replace(first, first.replace(word + "()", "(void)0", 1)), reads, writes)
    assert said is not None
    assert "No barrier stands between filling the tile" in said.text


def test_one_barrier_a_turn_is_enough_with_two_stages() -> None:
    """What races there may be the stage: no barrier is asked for."""
    assert _said(_text("08-exchange"), "m[r] = *reinter", "xr * kDepth + xc") is None


def test_a_line_that_each_turn_reads_and_writes() -> None:
    text = _text("reduction-strides")
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "sums[me] = sums[me]" in row)
    assert barriers.between(_kernel(text), line, line) is None
    start = text.index("sums[me + active];")
    wrong = text[:start] + text[start:].replace("__syncthreads();", "(void)0;", 1)
    said = barriers.between(_kernel(wrong), line, line)
    assert said is not None
    assert "in the turn before" in said.text


@pytest.mark.parametrize(
    ("name", "first", "instead", "reads", "writes"),
    [
        ("2", "__syncthreads();  // separates loading", "__syncwarp();  // separates loading",
         "sum += Mds", "Nds[ty][tx] ="),
        ("03-tilebox", "__syncthreads();\n    const int", "__syncwarp();\n    const int",
         "return cell", "cell[threadIdx.y]"),
    ],
)  # fmt: skip
def test_a_barrier_of_the_warp_is_none_of_the_block(name, first, instead, reads, writes) -> None:
    text = _text(name)
    assert text.count(first) == 1
    said = _said(text.replace(first, instead), reads, writes)
    assert said is not None and "only the threads of one warp wait" in said.text
    assert "__syncwarp" in text.replace(first, instead).splitlines()[said.line - 1]


@pytest.mark.parametrize(
    ("name", "old", "reads", "writes", "at"),
    [
        ("02-lambdas", "[] { __syncthreads(); }", "part += a", "a[y][x] =", "auto meet"),
        (
            "02-upper",
            "define BARRIER() __syncthreads()",
            "v += Ms",
            "LOAD(Ns, N",
            "#define BARRIER",
        ),
    ],
)
def test_a_barrier_of_a_warp_is_found_where_it_stands(name, old, reads, writes, at) -> None:
    text = _text(name)
    assert _said(text, reads, writes) is None
    said = _said(text.replace(old, old.replace("threads", "warp")), reads, writes)
    assert "only the threads of one warp wait" in said.text
    assert said.line == next(n for n, row in enumerate(text.splitlines(), 1) if at in row)


def test_a_barrier_that_is_not_called_is_none() -> None:
    text = _text("02-upper").replace("__syncthreads()", "__syncthreads")
    kernel = _kernel(text)
    assert barriers.barriers(kernel) == []
    (use, *_) = [item for item in kernel.body if "BARRIER" in item.words]
    assert barriers.not_called(kernel.text, use) == 4
    right = _kernel(_text("02-upper"))
    (use, *_) = [item for item in right.body if "BARRIER" in item.words]
    assert barriers.not_called(right.text, use) == 0


# Program, what is changed, the line to blame, words of the sentence.
_DIVERGES = {
    "a return in a helper": (
        "03-staging", "  const bool there = row < w && col < w;\n",
        "  if (row >= w || col >= w) return;\n  const bool there = row < w && col < w;\n",
        "col >= w) return;", "return from stage()",
    ),
    "a loop that depends on the thread": (
        "03-staging", "at < w; at", "at + threadIdx.x < w; at", "at + threadIdx.x < w",
        "depends on the thread",
    ),
    "a barrier in a branch": (
        "03-staging", "  __syncthreads();\n}", "  if (there) __syncthreads();\n}", "if (there)",
        "This __syncthreads() is inside if (there)",
    ),
    "a continue": (
        "02-upper", "        BARRIER();\n        for",
        "        if (threadIdx.x > 3) continue;\n        BARRIER();\n        for", "continue;",
        "go on to the next turn",
    ),
    "the first column of a loop": (
        "02-upper", "unsigned int t = 0; t <", "unsigned int t = threadIdx.y / 8; t <",
        "t = threadIdx.y / 8", "depends on the thread",
    ),
    "a call in a branch": (
        "02-lambdas", "    total += dot();\n    meet();", "    total += dot();\n    if (x < 8) meet();",
        "if (x < 8) meet", "This barrier is inside if (x < 8)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", sorted(_DIVERGES))
def test_what_keeps_threads_from_a_barrier(what: str) -> None:
    name, old, new, at, words = _DIVERGES[what]
    text = _text(name)
    assert divergence.diverges(_kernel(text), []) is None
    assert text.count(old) == 1
    text = text.replace(old, new)
    said = divergence.diverges(_kernel(text), [])
    assert words in said.text
    assert said.line == next(n for n, row in enumerate(text.splitlines(), 1) if at in row)


@pytest.mark.parametrize(
    "name", ["02-upper", "02-lambdas", "03-staging", "02-walkers", "08-double"]
)
def test_barriers_that_all_threads_reach_are_not_accused(name: str) -> None:
    assert divergence.diverges(_kernel(_text(name)), []) is None


@pytest.mark.parametrize("number", range(len(ladder())))
def test_barriers_of_solutions_are_not_accused(number: int) -> None:
    listing = Listing(_text(str(number)))
    for function in listing.functions():
        if "__global__" in function.words:
            kernel = Kernel(listing, function, listing.parameters(function))
            assert divergence.diverges(kernel, []) is None


@pytest.mark.parametrize(
    ("name", "old", "new", "reads", "writes", "at"),
    [
        (
            "02-blockof", "addBoth(s, sum);\n    __sync", "addBoth(s, sum);\n    if (phase % 2) __sync",
            "sum += s.left", "s.right[i][j] =", "if (phase % 2)",
        ),
        (
            "1", "    __syncthreads();  // separates loading", "    if (ph > 0) __syncthreads();  //",
            "sum += Mds", "Nds[ty][tx] =", "if (ph > 0)",
        ),
    ],
)  # fmt: skip
def test_a_barrier_that_is_passed_by_in_some_turns(name, old, new, reads, writes, at) -> None:
    text = _text(name)
    assert text.count(old) == 1
    text = text.replace(old, new)
    said = _said(text, reads, writes)
    assert "nobody waits" in said.text
    assert said.line == next(n for n, row in enumerate(text.splitlines(), 1) if at in row)


def test_a_fence_waits_for_nobody() -> None:
    text = bare_solution("block-transpose")
    kernel = next(at for at, row in enumerate(text.splitlines(), 1) if "void turn_kernel" in row)
    rows = text.splitlines()
    write, stop, read = (
        next(n for n, row in enumerate(rows, 1) if n > kernel and part in row)
        for part in ("tile[threadIdx.y]", "__syncthreads", "tile[threadIdx.x]")
    )
    listing = Listing(text.replace("__syncthreads();", "__threadfence_block();"))
    function = next(item for item in listing.functions() if "turn_kernel" in item.words)
    own = Kernel(listing, function, listing.parameters(function), block=(16, 16, 1))
    said = barriers.between(own, read, write)
    assert said.line == stop
    assert "waits for nobody" in said.text
    listing = Listing(text.replace("  __syncthreads();\n", "\n"))
    function = next(item for item in listing.functions() if "turn_kernel" in item.words)
    own = Kernel(listing, function, listing.parameters(function), block=(16, 16, 1))
    assert barriers.between(own, read, write).advice.endswith(f"before line {read} reads.")


@pytest.mark.parametrize("read", ["load_matrices(m[r]", "load_matrices_transposed(n[c]"])
def test_a_tile_that_a_helper_fills_and_another_reads(read: str) -> None:
    """c % 2 of an inner loop, and l % 2 where P is stored, are no stages."""
    text = bare_solution(ladder()[9])
    write = "*reinterpret_cast<uint2*>(to) ="
    assert _said(text, read, write) is None
    last = "    __syncthreads();  // separates using the tiles from filling them again\n"
    assert text.count(last) == 1
    text = text.replace(last, "")
    said = _said(text, read, write)
    assert "the next turn of the loop fills again" in said.text
    assert "multiply_add(sum" in text.splitlines()[said.line - 1]


_TURNS = """
__device__ void give(float* to, float value) { *to = value; }
__device__ float sum_of(const float (*tile)[8], int r, int c) { return tile[r][c]; }
__global__ void kernel(const float* M, float* P, int n) {
  __shared__ float tile[STAGES8][8];
  float sum = 0;
  for (int t = 0; t < n; ++t) {
    give(&tile[PLACE threadIdx.y][threadIdx.x], M[t]);
    __syncthreads();
    for (int c = 0; c < 8; ++c) sum += sum_of(tile PLUS, c % 2, c);
    sum *= 0.5f;
  }
  if (n % 2 == 0) P[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize(
    ("stages", "place", "plus", "is_wrong"),
    [
        ("", "", "", True),
        ("2 * ", "t % 2 * 8 +", "+ t % 2 * 8", False),
        ("2 * ", "(t ^ 1) % 2 * 8 +", "+ (t ^ 1) % 2 * 8", False),
    ],
)
def test_turns_with_and_without_stages(stages: str, place: str, plus: str, is_wrong: bool) -> None:
    text = _TURNS.replace("STAGES", stages).replace("PLACE", place).replace("PLUS", plus)
    said = _said(text, "return tile", "*to = value")
    assert (said is not None) == is_wrong
    if said is not None:
        assert "sum *= 0.5f" in text.splitlines()[said.line - 1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "    __syncthreads();           // what all have copied is there, and the other stage is used up\n"
            "    if (ph + 1 < ceil_div(k, BK)) start_copies(ph + 1);\n",
            "    if (ph + 1 < ceil_div(k, BK)) start_copies(ph + 1);\n    __syncthreads();\n",
            "before the barrier",
        ),
        ("start_copies(ph + 1);", "start_copies(ph + 2);", "in the same turn"),
    ],
)
def test_copies_into_a_stage_that_others_read(old: str, new: str, said: str) -> None:
    text = bare_solution(ladder()[7])
    assert text.count(old) == 1
    text = text.replace(old, new)
    lines = text.splitlines()
    copies = next(at for at, one in enumerate(lines, 1) if "copy_async<16>" in one)
    reads = next(at for at, one in enumerate(lines, 1) if "float4_at(&Nds[ph % 2]" in one)
    found = barriers.copied(_kernel(text), copies, reads)
    assert found is not None
    assert said in found.text
    assert lines[found.line - 1].strip().startswith("if (ph + 1")


def test_the_second_barrier_of_a_warp_is_missing() -> None:
    text = bare_solution(ladder()[8])
    old = "    __syncwarp();  // separates storing the rows from filling them again\n"
    assert text.count(old) == 1
    text = text.replace(old, "")
    lines = text.splitlines()
    writes = next(at for at, one in enumerate(lines, 1) if "float4_at(&out[warp][y]" in one)
    reads = next(at for at, one in enumerate(lines, 1) if "= out[warp][s][lane]" in one)
    found = barriers.between(_kernel(text), reads, writes, True)
    assert found is not None
    assert found.line >= reads
    assert "__syncwarp()" in found.advice


def test_a_barrier_behind_the_loop_that_belongs_into_it() -> None:
    text = bare_solution(ladder()[1])
    last = next(row for row in text.splitlines(True) if "separates using" in row)
    moved = text.replace(last + "  }\n", "  }\n" + last)
    assert moved != text
    said = _said(moved, "sum += Mds", "Nds[ty][tx] =")
    assert "stands behind the loop" in said.text
    assert "separates using" in moved.splitlines()[said.line - 1]
