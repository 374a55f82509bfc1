"""What the search says of mistakes in the lists, each of a class of its own (common/measure/causes)."""

from __future__ import annotations

import sys

import pytest

from grader.judging.repair import search
from grader.labs.course import find_course
from grader.labs.lab import load_lab
from grader.tests.corpus_files import REPOSITORY
from grader.tests.selection import first_of

_CAUSES = REPOSITORY / "common" / "measure" / "causes"

# A list, a mistake in it, lines that the report would suspect, a case that was wrong, and what the
# search would write; then the line of another change that does the same.
_LISTED = [
    ("fresh-30", "n-row-as-m-col", (32, 41, 31), (2, 3, 4), "int n_row = ph * TILE_WIDTH + ty", 0),
    ("fresh-34", "pitch-mask", (59, 60), (15, 15, 15), "int lo = id & 15", 0),
    ("fresh-34", "wide-bits", (98, 69, 73, 70), (1, 40, 50), "bit(lane, 3)", 64),
    ("fresh-32", "s09-bit-used-twice", (95, 90, 89), (2, 3, 4), "x = lane % 2 + lane / 4 % 2 * 2", 51),
    ("fresh-30", "mask-of-the-wrong-bit", (86, 48, 46), (1, 40, 50), "int x = lane & 1 | lane >> 1 & 2 | lane >> 2 & 4", 0),
    ("fresh-35", "09-x-beyond", (81,), (1, 40, 50), "x = lane % 2 + lane / 4 % 2 * 2", 0),
    ("fresh-32", "java-times-before-divide", (21,), (32, 32, 32), "int top = blockIdx.x / blocksPerRow * SIZE", 0),
    ("fresh-32", "stride-plus-before-unequal", (63,), (200, 20, 12), "return whole / part + (whole % part != 0)", 0),
    ("fresh-33", "fill-by-h", (11, 15), (1, 1, 1), "w[at / W][at % W]", 0),
    ("fresh-33", "no-quarter", (34,), (1, 1, 1), "q < R * C / 4", 0),
    ("fresh-33", "nk-stays", (35,), (1, 40, 50), "nk += 1 << SHIFT at the end of each turn", 0),
    ("fresh-33", "less-than-order", (93, 53, 54), (2, 3, 4), "s <= order", 0),
    ("fresh-33", "sums-kept", (35,), (15, 15, 15), "float small[4] = {}, float large[4] = {} inside the loop of line 72", 0),
    ("fresh-34", "sixteen-phases", (21,), (32, 32, 32), "ph < width / TILE_WIDTH", 0),
    ("fresh-34", "tuto-readout", (55, 31, 37), (17, 17, 17), "res[m * TN + n]", 45),
    ("fresh-34", "ahead-ternary", (82,), (1, 1, 1), "j % rowsPerBlock ? 1 : 0", 0),
    ("fresh-35", "06-every-other-row", (54, 46, 43), (1, 1, 1), "i += 4", 0),
    ("fresh-35", "07-switch-unclamped", (), (15, 15, 15), "min(w - x, 4)", 0),
    ("fresh-35", "02-block-swapped", (39,), (32, 32, 32), "uint2(threadIdx.y, threadIdx.x)", 56),
    ("fresh-30", "half-the-chunk", (35, 50, 40), (17, 17, 17), "min(DEPTH, common - k0)", 38),
    ("fresh-37", "total-overwritten", (49, 91), (20, 40, 51), "total[e] += fmaf(tiny[e], INV, main_[e])", 0),
    ("fresh-39", "sum-of-pages", (41,), (20, 32, 48), "across * down", 0),
    ("fresh-39", "rest-of-the-wrong-piece", (13, 17, 15), (15, 15, 15), "__bfloat162float(mid)", 0),
    ("fresh-40", "greater-than-n", (24,), (3, 3, 3), "if (r >= n || c >= n)", 0),
    ("fresh-41", "end-from-array", (38, 44), (32, 32, 32), "float *endM = srcM + pitch", 0),
    ("fresh-41", "precedence-of-conditional", (62, 63, 53, 54), (17, 17, 17), "elements / TILE_SIZE + (elements % TILE_SIZE != 0 ? 1 : 0)", 0),
    ("fresh-41", "shape-l-k", (38,), (50, 40, 1), "Shape(k, l)", 0),
    ("fresh-41", "remainder-by-product", (73,), (2, 3, 4), "int col = col0 + tx + q % PATCH * SIDE", 0),
    ("fresh-41", "swap-without-old", (81, 52, 27), (1, 40, 50), "back = old", 0),
    ("fresh-42", "quads-n1-twice", (56, 51, 73, 50), (2, 3, 4), "n[2]", 0),
    ("fresh-43", "grid-rounded-down", (77, 84), (200, 20, 12), "dim3(max(1, (l + BN - 1) / BN), max(1, (j + BM - 1) / BM))", 0),
    ("fresh-44", "tail-everywhere", (71,), (15, 15, 15), "int n = pitch - x", 0),
    ("fresh-44", "tile-without-pitch", (47,), (1, 1, 1), "float tm[PITCH * ROWS]", 16),
    ("fresh-45", "tile-transposed", (22, 20, 26, 29, 19), (32, 32, 32), "kr[z][s]", 26),
    ("fresh-45", "shape-of-left", (54,), (50, 40, 1), "right.getNumCols()", 0),
    ("fresh-45", "shift-four", (49,), (1, 1, 1), "int nRow = tid >> 6", 0),
    ("fresh-46", "rows-two-ways", (35, 29, 42, 11), (32, 32, 32), "m.v[threadIdx.y + e * STEP]", 0),
    ("fresh-46", "left-of-all", (20,), (65, 65, 65), "p + ni < k ? l - (nc + x0) : 0", 0),
    ("fresh-47", "lane-shift", (17,), (1, 40, 50), "x = lane & 1 | (lane & 4) >> 1", 0),
    ("fresh-50", "cell-turned", (47,), (3, 3, 3), "{index / width, index % width}", 0),
    ("fresh-50", "side-of-16", (38,), (32, 32, 32), "int side = w / T", 48),
    ("fresh-50", "cover-turned", (49,), (20, 32, 48), "{up(p.cols), up(p.rows), 1}", 0),
    ("fresh-51", "partial-not-reset", (42, 47, 9), (64, 64, 64), "result = partial", 35),
    ("fresh-51", "one-row-of-blocks", (31,), (32, 32, 32), "matmul_tiles<<<per_side * per_side, T * T, 0, stream>>>(M, N, P, width)", 0),
    ("fresh-51", "l4-of-j", (25,), (20, 40, 51), "bool l4 = l % 4 == 0", 0),
    ("fresh-24", "inside-or", (16,), (3, 3, 3), "if (row < size && column < size)", 0),
]  # fmt: skip

# And where a word of a tile was read that nobody has written: then such a read ends a run.
_UNSET = [
    ("fresh-47", "frag-sweep", (40,), (1, 1, 1), "int perSweep = COUNT / COLS"),
    ("fresh-51", "ring-plus-one", (35,), (1, 40, 50), "request(phase + 1, ring[(now + 1) % RING])"),
    ("fresh-36", "05-step-by-rows", (48,), (1, 1, 1), "int step = Config::threads / Cols"),
    ("fresh-26", "too-few-rows-of-threads", (58, 54), (1, 40, 50), "dim3(kTile, kRows)"),
    (
        "fresh-42",
        "s09-lane-bit",
        (51, 95, 90, 89, 91),
        (2, 3, 4),
        "x = lane % 2 + lane / 4 % 2 * 2",
    ),
    ("fresh-37", "piece-width-four", (54, 44, 43), (1, 1, 1), "int i = (s & 1) * 8 + dc"),
    ("fresh-39", "step-of-sixteen-rows", (69, 61, 59), (1, 1, 1), "y += 8"),
    ("fresh-44", "step-nt", (45, 34, 31), (1, 1, 1), "r += NX * NY / TILE_K"),
]


@pytest.mark.parametrize(
    ("listed", "name", "suspected", "seen", "after", "instead"), first_of(_LISTED)
)
def test_the_search_finds_what_was_changed(listed, name, suspected, seen, after, instead):
    mistake, found = _found(listed, name, suspected, seen)
    assert found is not None
    assert found.after == after
    other = found.instead.line if found.instead is not None else found.other
    assert other == instead
    assert {found.line, other} & set(mistake.guilty)


@pytest.mark.parametrize(("listed", "name", "suspected", "seen", "after"), first_of(_UNSET))
def test_the_search_finds_what_leaves_words_unset(listed, name, suspected, seen, after):
    mistake, found = _found(listed, name, suspected, seen, minds_unset=True)
    assert found is not None
    assert (found.after, found.line in mistake.guilty) == (after, True)


def _found(listed, name, suspected, seen, **more):
    """The mistake, and what the search says of it."""
    sys.path.insert(0, str(_CAUSES))
    import causes

    (mistake,) = [one for one in causes.mistakes(listed) if one.name == name]
    problem = load_lab(find_course(REPOSITORY).folder(mistake.folder)).problem
    found = search.find(
        mistake.text, problem.signature, mistake.folder[:2] == "02", suspected, seen,
        is_fine=problem.factors == "split", **more,
    )  # fmt: skip
    return mistake, found
