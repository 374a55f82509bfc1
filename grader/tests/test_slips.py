"""Slips that the text of solve or of a helper shows: rests of another number, products of ints."""

import pytest

from grader.judging import int_products, rests
from grader.labs.statements import listing
from grader.tests.corpus_files import REPOSITORY

_FRESH = REPOSITORY / "common" / "measure" / "causes" / "fresh"


def _of_solve(statements: str):
    text = f"void solve(const float* M, float* P, int j, int k, int l) {{\n{statements}\n}}\n"
    return rests.of_another(listing(text))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("const int high = j / B + (j % B != 0), wide = l / B + (l % B != 0);", "(l % B != 0),"),
        ("dim3 grid(l / 16 + (l % 16 > 0 ? 1 : 0), j / 16 + !!(j % 16));", "!!(l % 16)"),
        ("launch(j / block.y + (j % block.y ? 1 : 0));", "(k % block.y ? 1 : 0)"),
        ("int rows = (j % 8 != 0) + j / 8;", "(k % 8 != 0)"),
        ("int rows = j / 8;\n  if (j % 8 != 0) ++rows;", "if (l % 8 != 0)"),
        ("int rows = j / 8;\n  if (j % 8) rows += 1;", "if (l % 8)"),
    ],
)
def test_a_rest_of_another_number(right: str, wrong: str) -> None:
    assert _of_solve(right) is None
    mine = wrong.replace("l %", "j %").replace("k %", "j %")
    assert right.count(mine) == 1
    found = _of_solve(right.replace(mine, wrong))
    assert "that is the rest of another number" in found.text
    assert found.line == 2 + right[: right.index(mine)].count("\n")


@pytest.mark.parametrize(
    "right",
    [
        "int place = e / 8 + r % 8;",  # of a thread, and no rounding up
        "int pieces = j / 8 + (l % 4 != 0);",
        "int n = j / 8 + l % 8 / 2;",
        "bool both = j / 8 > 1 && l % 8 != 0;",
        "int rows = j / 8;\n  if (l % 8 != 0) wide = true;",
    ],
)
def test_other_sums_are_left_alone(right: str) -> None:
    assert _of_solve(right) is None


def test_no_program_that_is_right_has_one() -> None:
    for path in sorted(_FRESH.glob("1*.cu")):
        assert rests.of_another(listing(path.read_text())) is None, path.name
        assert rests.of_one(listing(path.read_text())) is None, path.name


@pytest.mark.parametrize(
    ("head", "line", "is_told"),
    [
        ("int blocks(int n)", "int all = n / 16; return n % 16 > 1 ? all + 1 : all;", True),
        ("__host__ __device__ int blocks(int n)", "return n / 16 + (n % 16 >= 2);", True),
        ("int blocks(int n)", "int all = n / 16; return n % 16 > 0 ? all + 1 : all;", False),
        ("__device__ bool is_odd(int t)", "int pair = t / 4; return t % 4 > 1;", False),
        ("int blocks(int n, int m)", "return n / 16 + (m % 16 > 1);", False),
    ],
)
def test_a_rest_of_one_is_one(head: str, line: str, is_told: bool) -> None:
    said = rests.of_one(listing(f"{head} {{\n  {line}\n}}\nvoid solve() {{}}\n"))
    assert (said is not None) is is_told
    assert said is None or said.line == 2


_VIEW = """
struct View {
  float* data;
  int rows, cols;
  __device__ float& operator()(int r, int c) const { return data[r * cols + c]; }
  __device__ float* row(int r) const { return data + r * cols; }
};
__device__ float at(const float* A, int stride, int r, int c) {
  const float* from = A;
  return from[r * stride + c];
}
__global__ void kernel(View m, const float* A, float* P, int n) {
  int row = threadIdx.x;
  P[row * n] = m(row, 1);
  P[0] = at(A, n, row, 1);
}
"""


def _line(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


@pytest.mark.parametrize(
    ("used", "stands", "wide"),
    [
        ("P[0] = at(", "from[r * stride", "from[size_t(r) * stride"),
        ("P[0] = at(", "from[r * stride", None),
        ("float x = m(row, 1);", "data[r * cols", "data[size_t(r) * cols"),
    ],
)
def test_a_product_of_ints_in_a_helper(used: str, stands: str, wide: str | None) -> None:
    text = _VIEW.replace("P[row * n] = m(row, 1);", "float x = m(row, 1);")
    if wide is None:
        text = text.replace("int stride", "size_t stride")
        assert int_products.narrow(listing(text), _line(text, used)) is None
        return
    if "m(row" in used:  # one helper of the two may be the one
        text = text.replace(
            "  __device__ float* row(int r) const { return data + r * cols; }\n", ""
        )
    found = int_products.narrow(listing(text), _line(text, used))
    assert found.line == _line(text, stands) and "product of ints" in found.text
    right = text.replace(stands, wide)
    assert int_products.narrow(listing(right), _line(right, used)) is None


def test_the_lines_own_product_stays_there() -> None:
    assert int_products.narrow(listing(_VIEW), _line(_VIEW, "P[row * n]")) is None
