"""Which barrier is missing: seen through helpers, lambdas and macros, where the kernel calls them."""

from __future__ import annotations

import pytest

from grader.judging import barriers
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
