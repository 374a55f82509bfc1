"""Rows of shared memory that are no multiple of 16 bytes, and the line in which their length is made."""

from __future__ import annotations

import pytest

from grader.judging import row_bytes
from grader.labs.statements import Listing
from grader.results.finding import Access, Facts, Space

KERNEL = """
__global__ void k(const float* M, float* P) {{
  {array}
  {use};
}}
"""


def said(text: str, offset: int, array: str = "tile", together: int = 16):
    line = next((at for at, row in enumerate(text.splitlines(), 1) if "use(" in row), 0)
    facts = Facts(
        line=line, access=Access.LOAD, access_bytes=together, space=Space.SHARED, array=array,
        array_bytes=1 << 15, offset_bytes=offset,
    )  # fmt: skip
    known = Listing(text)
    return row_bytes.out_of_line(known, facts, known.constants)


def program(before: str, array: str, use: str = "use(tile)") -> str:
    return before + KERNEL.format(array=array, use=use)


# What stands before, the array, the access, its place in bytes, what the line has, the row's bytes.
WAYS = {
    "a constant": (
        "constexpr int ROWS = 64, COLS = 32;\nconstexpr int PITCH = COLS + 2;",
        "__shared__ float tile[ROWS][PITCH];", "use(tile)", 136, "PITCH = COLS", 136,
    ),
    "its padding": (
        "enum { ROWS = 64, COLS = 32 };\n#define PAD 1",
        "__shared__ float tile[ROWS][COLS + PAD];", "use(tile)", 132 + 16, "#define PAD", 132,
    ),
    "the declaration": (
        "using bf16 = __nv_bfloat16;",
        "__shared__ alignas(16) bf16 tile[3][16][128 + 4];", "use(tile)", 3 * 264, "tile[3]", 264,
    ),
    "a macro": (
        "#define COLS 64\n#define PITCH (COLS + 2)\ntypedef __nv_bfloat16 half_t;",
        "__shared__ half_t tile[128][PITCH];", "use(tile)", 132, "#define PITCH", 132,
    ),
    "a constant of the kernel": (
        "", "constexpr int pitch = 20;\n  __shared__ unsigned short tile[8][pitch];", "use(tile)", 40,
        "int pitch", 40,
    ),
    "a struct": (
        "const int EDGE = 32;\nstruct Tiles {\n  __nv_bfloat16 m[64][EDGE + 8];\n  float n[8][EDGE + 2];\n};",
        "__shared__ Tiles tile;", "use(tile.n[1])", 64 * 80 + 136, "float n[8]", 136,
    ),
    "a template's argument": (
        "template <class T, int R, int P>\nstruct Tile {\n  T at[R][P];\n};",
        "__shared__ Tile<float, 64, 33> tile;", "use(tile.at)", 132, "Tile<float, 64", 132,
    ),
    "an array of one dimension": (
        "constexpr int PITCH = 33;", "__shared__ float tile[64 * PITCH];",
        "use(tile[threadIdx.y * PITCH + threadIdx.x * 4])", 132, "int PITCH", 132,
    ),
    "of a configuration": (
        "struct Config {\n  static constexpr int rows = 64;\n  static constexpr int pitch = 34;\n};",
        "__shared__ float tile[Config::rows][Config::pitch];", "use(tile)", 136, "int pitch", 136,
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_the_line_is_that_in_which_the_length_is_made(way):
    before, array, use, offset, row, count = WAYS[way]
    text = program(before, array, use)
    found = said(text, offset)
    assert found is not None and row in text.splitlines()[found.line - 1]
    assert f", {count} bytes, so not every row begins at a multiple of 16 bytes" in found.text


@pytest.mark.parametrize(
    ("before", "array", "offset"),
    [
        ("", "__shared__ float tile[64][36];", 144 + 4),  # the column is wrong, not the row
        ("", "__shared__ float tile[64][33];", 132 + 4),  # it would be with rows of 36, too
        ("", "__shared__ float tile[64 * 33];", 132),  # nothing says that it has rows
        ("", "__shared__ float4 tile[64][9];", 8),
        ("", "__shared__ float tile[64][PITCH];", 132),  # nobody knows how long
        ("", "extern __shared__ float tile[];", 132),
        ("struct Tiles {\n  Other m;\n  float n[8][33];\n};", "__shared__ Tiles tile;", 132),
    ],
)
def test_nothing_is_said_of_rows_that_are_not_known_to_be_the_cause(before, array, offset):
    assert said(program(before, array), offset) is None


def test_moves_of_eight_bytes_have_rows_of_their_own():
    text = program("", "__shared__ float tile[64][33];")
    assert "multiple of 8 bytes" in said(text, 132, together=8).text
    assert said(program("", "__shared__ float tile[64][34];"), 136, together=8) is None
    assert said(text, 132, array="other") is None
