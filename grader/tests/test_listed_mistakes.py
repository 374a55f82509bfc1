"""Mistakes of people who had not seen how reports are made: what a report opens with, class by class."""

from __future__ import annotations

import sys

import pytest

from grader.tests.corpus_files import REPOSITORY
from grader.tests.selection import first_of

_CAUSES = REPOSITORY / "common" / "measure" / "causes"


@pytest.mark.parametrize(
    ("listed", "name", "words"),
    first_of([
        ("fresh-24", "sums-by-column", "So the sum of P[8][0] is in c[2] of lane 0"),
        ("fresh-50", "uniforms-late", "after the launch in line 61"),
        ("fresh-50", "copy-one-row", "of N only 16 are copied to the device"),
        ("fresh-49", "tomoko-sizeof-pointer", "sizeof(ptr_) is the size of a pointer"),
        ("fresh-47", "lambda-flat-block", "threads, and the kernel counts 16 along y"),
        ("fresh-46", "padding-of-four", "68 elements (pitch = Cols + 4), 136 bytes"),
        ("fresh-46", "slice-without-pitch", "sliceN begins 1024 elements behind it"),
        ("fresh-46", "height-of-all", "min(BLOCK_SIZE, A.height - row)"),
        ("fresh-46", "tile-declared-turned", "float mt[DEPTH][TILE]"),
        ("fresh-46", "same-piece", "multiplied 2 times (lines 39 and 40)"),
        ("fresh-46", "both-scaled", "high is made smaller in line 79"),
        ("fresh-28", "commit-if", "Commit a group in every turn, even an empty one"),
        ("fresh-29", "p08-waits-for-too-few", "lets that many groups be under way"),
        ("fresh-28", "wrong-rest", "has only 1 other piece taken away from the element"),
        ("fresh-28", "low-not-zero", "low begins with no value"),
        ("fresh-29", "p06-no-zero", "v begins with no value, and where both("),
        ("fresh-28", "plain-read", "reads ms at the places that its words would have if nothing was permuted"),
        ("fresh-29", "p07-macro-without-parentheses", "with (BW / 4) in its place"),
        ("fresh-29", "s09-block-of-16x16", "threads that differ in y do the same"),
        ("fresh-28", "no-zero", "grab() puts nothing into the tile"),
        ("fresh-27", "08-copies-only-inside", "copy4() puts nothing into the tile"),
        ("fresh-28", "buffer-pitch", "with pn += EDGE in its place"),
        ("fresh-29", "p04-divided-by-grid", "blockIdx.x / args.groupsX"),
        ("fresh-28", "pitch-quarters", "+ x / 4] in its place"),
        ("fresh-26", "step-of-x", "gridDim.y * blockDim.y"),
    ]),
)  # fmt: skip
def test_the_guilty_line_and_what_is_wrong_there(listed, name, words, built):
    sys.path.insert(0, str(_CAUSES))
    import causes

    (mistake,) = [one for one in causes.mistakes(listed) if one.name == name]
    first = causes.opening(mistake)
    assert first.line in mistake.guilty and words in first.says


@pytest.mark.parametrize(
    ("listed", "name", "words"),
    first_of([
        ("fresh-49", "basti-one-stage-of-bytes", "counts elements"),
        ("fresh-49", "zhou-block-shape", "needs room for"),
        ("fresh-47", "fortran-offset", "for the second time"),
        ("fresh-47", "frag-sweep", "Nothing fills"),
        ("fresh-45", "tile-transposed", "is right at first"),
    ]),
)  # fmt: skip
def test_what_is_not_so_is_not_said(listed, name, words, built):
    sys.path.insert(0, str(_CAUSES))
    import causes

    (mistake,) = [one for one in causes.mistakes(listed) if one.name == name]
    assert words not in causes.opening(mistake).says
