"""What a report must not open with: rules that would accuse a line of programs of another shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import Submission
from grader.pipeline.grade import grade
from grader.tests.corpus_files import REPOSITORY, find, labs
from grader.tests.selection import first_of

_FRESH = REPOSITORY / "common" / "measure" / "causes" / "fresh"


@pytest.mark.parametrize(
    ("name", "old", "new", "untrue"),
    first_of([
        # The elements of a tile are read by an address, or in two places.
        ("10-mma", "(warp & 1) * 32", "(warp & 1) * 16", "over all threads and turns it is"),
        ("05-grid2", "sb[q][x + 1]}", "sb[q + 1][x]}", "over all threads and turns it is"),
        # t % 4 * 4 is t / 4's other half; t % 16 has one of its own.
        ("07-fetch", "m[i].z * n[2].y", "m[i].z * n[1].y", "quotient and remainder"),
        # Whether rows are aligned is not asked at all: that nobody moves four at once is no cause.
        ("07-rows4", "cols % 4 == 0 && col + 3 < cols", "col + 3 < cols", "with if ("),
        ("07-quads", "c + 3 < cols && ld % 4 == 0", "c + 3 < cols", "with if ("),
        # Threads go on by the whole grid.
        ("01-rowwise", "gridDim.x * blockDim.x", "gridDim.x * gridDim.y", "leave out"),
        ("01-rowwise", "col += threads", "col += 2 * threads", "leave out"),
        # The blocks' numbers lie along x alone and stand for rows and columns.
        ("02-plane", "(blockIdx.x % steps)", "(blockIdx.x / steps)", "is used nowhere"),
        # So does the number of a piece, and what a helper makes of a block's number.
        ("04-queue", "ms[y][i] * ns[i][x]", "ms[i][y] * ns[i][x]", "belong to one axis"),
        ("04-lone", "block % across * W", "block / across * W", "is used nowhere"),
        # The first phase is right; the tile is loaded again in the others.
        ("10-byhand", "l, z + e / TC,", "l, e / TC,", "where it was loaded it is right"),
        # What is multiplied has another name than what is only blockIdx.x.
        ("05-coarse", "bx * TILE_WIDTH * COARSE_FACTOR + tx", "bx * TILE_WIDTH + tx", "bx = blockIdx.x goes on"),
        # Each phase fills the same words.
        ("07-float4", "(tid & 15) << 2", "(tid & 7) << 2", "Each turn of the loop"),
    ]),
)  # fmt: skip
def test_a_line_is_not_accused_by_mistake(name, old, new, untrue, built):
    text = (_FRESH / f"{name}.cu").read_text()
    assert old in text
    text = text.replace(old, new, 1)
    folder = next(lab for lab in labs() if lab.startswith(name[:2]))
    submission = Submission(Path("matmul.cu"), "matmul.cu", text, text.encode())
    result = grade(built, load_lab(built.folder(folder)), submission, Options("sim"))
    first = result.diagnostics[0]
    assert first.severity == "error"
    assert untrue not in f"{first.message} {first.advice}"
    if "No thread stores" in first.message:
        assert "start at 0" not in first.advice


def test_a_result_that_stays_on_the_device_is_told_of_each_finding_by_itself(built):
    """Accesses outside are not for want of a copy; a P that is nowhere written is."""
    entry = find("01", "no-guard-and-no-copy-back")
    result = grade(built, load_lab(built.folder(entry.lab)), entry.submission, Options("sim"))
    first = result.diagnostics[0]
    assert first.code == "out-of-bounds-global" and "copied back" not in first.message
    unwritten = next(item for item in result.diagnostics if item.code == "unwritten-output")
    assert unwritten.message == "The result is never copied back: no call copies d_P into P."


def test_a_product_of_what_was_never_written_is_no_second_finding(built):
    entry = find("01", "no-copy-in")
    result = grade(built, load_lab(built.folder(entry.lab)), entry.submission, Options("sim"))
    codes = {item.code: item.echo_of for item in result.diagnostics}
    assert codes["wrong-result"] == "uninitialised-global"
    assert result.diagnostics[0].advice == ""
