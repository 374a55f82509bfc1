"""Which line makes lanes meet in a bank: a padding, a permutation, or neither."""

import pytest

from grader.judging import banks
from grader.judging.kernel_text import Kernel
from grader.labs.statements import listing

PROGRAM = """
constexpr int SIDE = 64, DEPTH = 16, MINE = 4, LANES = SIDE / MINE;
HELPERS
__global__ void kernel(const float* M, float* P) {
  DECLARED
  const int i = threadIdx.x % DEPTH, r = threadIdx.x / DEPTH;
  LOCAL
  ACCESS = M[threadIdx.x];
  __syncthreads();
}
"""


def _found(helpers: str, declared: str, access: str, local: str = "") -> tuple[str, str]:
    text = PROGRAM.replace("HELPERS", helpers).replace("DECLARED", declared)
    text = text.replace("LOCAL", local).replace("ACCESS", access)
    lines = text.splitlines()
    line = next(n for n, row in enumerate(lines, 1) if " = M[threadIdx.x]" in row)
    found = banks.place(listing(text), line)
    return ("", "") if found is None else (lines[found.line - 1].strip(), found.why)


@pytest.mark.parametrize(
    ("helpers", "declared", "access", "stands", "says"),
    [
        (
            "__device__ int mix(int i, int r) { return r ^ i; }",
            "__shared__ float tile[DEPTH][SIDE];", "tile[i][mix(i, r)]", "return r ^ i", "its place",
        ),
        (
            "#define TURNED(d, r) (((r) + (d)) % SIDE)",
            "__shared__ float tile[DEPTH][SIDE];", "tile[i][TURNED(i, r)]", "#define TURNED", "its place",
        ),
        (
            "struct Rows {\n  float words[1024];\n  __device__ float& at(int i, int r) {\n"
            "    return words[i * SIDE + (r + i) % SIDE];\n  }\n};\n"
            "struct Plain {\n  float words[1024];\n  __device__ float& at(int i, int c) {\n"
            "    return words[i * SIDE + c];\n  }\n};",
            "__shared__ Rows tile;\n  __shared__ Plain other;", "tile.at(i, r)", "(r + i) % SIDE",
            "its place",
        ),
        (
            "template <int D, int LENGTH>\nstruct Rows {\n  float words[D * LENGTH];\n"
            "  __device__ float& at(int i, int r) { return words[i * LENGTH + r]; }\n};",
            "__shared__ Rows<DEPTH, SIDE> other;\n  __shared__ Rows<DEPTH, SIDE + 4> tile;",
            "tile.at(i, r)", "Rows<DEPTH, SIDE + 4> tile", "68 words",
        ),
        (
            "constexpr int LD = SIDE + 1;\ntemplate <int LENGTH>\n"
            "__device__ float& cell(float* at, int i, int r) { return at[i * LENGTH + r]; }",
            "__shared__ float tile[DEPTH * LD];", "cell<LD>(tile, i, r)", "LD = SIDE + 1", "65 words",
        ),
        (
            "#define LD SIDE + 4",
            "__shared__ float tile[DEPTH * LD];", "tile[i * LD + r]", "#define LD", "parentheses",
        ),
        (
            "#define LD (SIDE + 8)\n#define AT(i, r) tile[(i) * LD + (r)]",
            "__shared__ float tile[DEPTH * LD];", "AT(i, r)", "#define LD", "72 words",
        ),
        (
            "constexpr int extra() { return MINE; }\nconstexpr int LD = SIDE + extra();",
            "__shared__ float tile[DEPTH][LD];", "tile[i][r]", "return MINE", "68 words",
        ),
        (
            "constexpr int LD = 64;",
            "__shared__ float tile[DEPTH * LD];", "tile[i * LD + r]", "LD = 64", "in the same bank",
        ),
        ("", "__shared__ float tile[DEPTH][SIDE];", "tile[i][r]", "tile[DEPTH][SIDE]", "same bank"),
    ],
)  # fmt: skip
def test_the_line_that_makes_lanes_meet(helpers, declared, access, stands, says):
    line, why = _found(helpers, declared, access)
    assert stands in line
    assert says in why


def test_a_permutation_in_the_kernel_itself():
    line, _ = _found("", "__shared__ float tile[1024];", "tile[i * SIDE + place]",
                     "const int place = r ^ i;")  # fmt: skip
    assert "r ^ i" in line


def test_nothing_is_said_of_a_pointer():
    assert _found("", "extern __shared__ float all[];\n  float* tile = all;", "tile[i * SIDE + r]") == (
        "", "",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("column", "stands"), [("threadIdx.y", "tile[DEPTH][SIDE]"), ("16 * threadIdx.x", "")]
)
def test_rows_are_not_blamed_where_no_padding_would_help(column, stands):
    text = listing(
        PROGRAM.replace("HELPERS", "")
        .replace("DECLARED", "__shared__ float tile[DEPTH][SIDE];")
        .replace("LOCAL", "const int row = threadIdx.y, at = threadIdx.x;")
        .replace("ACCESS", f"tile[{'at' if stands else 'row'}][{column}]")
    )
    function = next(one for one in text.functions() if "__global__" in one.words)
    kernel = Kernel(text, function, ["M", "P"], block=(16, 16, 1))
    line = next(one.line for one in text.statements if one.has("M", "["))
    found = banks.place(text, line, kernel)
    assert (found is not None) == bool(stands)
    if found is not None:
        assert "__shared__" in next(one for one in text.at(found.line)).words


def test_turns_of_two_loops_on_one_line_are_told_apart():
    """The row counts on by one loop, the column by another: their values belong together turn by turn."""
    text = listing(
        PROGRAM.replace("HELPERS", "")
        .replace("DECLARED", "__shared__ float tile[DEPTH][SIDE];")
        .replace("LOCAL", "const int at = threadIdx.x;")
        .replace(
            "ACCESS",
            "for (int p = 0; p < 4; p++) for (int q = 0; q < 16; q++) P[q] = tile[p][16 * at + q];\n"
            "  tile[0][at]",
        )
    )
    function = next(one for one in text.functions() if "__global__" in one.words)
    kernel = Kernel(text, function, ["M", "P"], block=(16, 16, 1))
    line = next(one.line for one in text.statements if one.has("P", "["))
    assert banks.place(text, line, kernel) is None
