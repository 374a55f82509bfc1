"""A count beyond its limit as a finding: whose line, and what it says of the banks."""

from types import SimpleNamespace

import pytest

from grader.judging import banks, costs
from grader.labs.problem import PRODUCT
from grader.labs.statements import listing
from grader.results.result import CheckResult

PROGRAM = """
#define PAD 4
constexpr int SIDE = 64, SPARE = 1;
constexpr int padding() {
  int words = 0;
  words = 1;
  return words;
}
constexpr int ROW = SIDE + padding();
constexpr int LONG = SIDE + SPARE;
__global__ void kernel(const float* M, float* P) {
  DECLARED
  tile[threadIdx.x][threadIdx.y] = M[threadIdx.x];
  __syncthreads();
  P[threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
"""


def _line(text: str, part: str) -> int:
    return next(n for n, row in enumerate(text.splitlines(), 1) if part in row)


def _told(
    text: str, measure: str = "conflicts", status: str = "failed", points: float = 20, **more
):
    line = _line(text, "tile[threadIdx.x]")
    counters = {
        "shared_store_requests": 100, "shared_store_wavefronts": 400, "bank_conflicts": 300,
    }  # fmt: skip
    entry = SimpleNamespace(line=line, file="/x/matmul.cu", counters=counters)
    outcome = SimpleNamespace(
        case=SimpleNamespace(hidden=False, id="large", problem=PRODUCT, j=256, k=256, l=256),
        execution=SimpleNamespace(
            kernels=[
                SimpleNamespace(name="kernel", lines=[entry], grid=(16, 16, 1), block=(16, 16, 1))
            ],
            launches=1,
        ),
    )
    result = CheckResult(
        "banks", "no bank conflicts", "performance", status, 0, points, "conflicts: 300 (at most 0)",
        data={"case": "large", "measure": measure, "line": line}, **more,
    )  # fmt: skip
    lab = SimpleNamespace(
        signature="rect-device", checks=[SimpleNamespace(id="banks", kind="counter")]
    )
    return costs.told(lab, [result], {"large": outcome}, text)


@pytest.mark.parametrize(
    ("declared", "stands", "words"),
    [
        ("__shared__ float tile[16][ROW];", "words = 1;", 65),
        ("__shared__ float tile[16][SIDE + PAD];", "#define PAD 4", 68),
        ("__shared__ float tile[16][64 + 2], other[4];", "__shared__ float tile", 66),
        ("__shared__ float other[4], tile[16][LONG];", "SPARE = 1", 65),
        (
            "constexpr int EXTRA = 8;\n  __shared__ float tile[2][16][SIDE + EXTRA];",
            "EXTRA = 8",
            72,
        ),
        ("__shared__ float tile[16][SIDE];", "__shared__ float tile", 64),
        ("float (*tile)[65] = reinterpret_cast<float(*)[65]>(memory);", "tile[threadIdx.x]", 0),
    ],
)
def test_lanes_that_meet_in_a_bank(declared: str, stands: str, words: int):
    text = PROGRAM.replace("DECLARED", declared)
    (found,) = _told(text)
    assert (found.code, found.severity) == ("costly", "warning")
    assert found.line == _line(text, stands), found
    assert "take 4 wavefronts each, where 1 would do" in found.message
    assert (f"A row has {words} words" in found.message) == bool(words)
    assert "at most 0" in found.message


def test_other_counts_are_no_finding():
    """A right program may load more than it must: the check says so, and nobody is accused."""
    assert _told(PROGRAM, "loaded_sectors / 64") == ()


def test_a_check_of_few_points_is_no_finding():
    """No bank conflicts are a side of lab 04, and all of lab 06."""
    assert _told(PROGRAM, points=5) == ()


def test_what_is_passed_or_hidden_is_no_finding():
    assert _told(PROGRAM, status="passed") == ()
    assert _told(PROGRAM, status="skipped") == ()
    assert _told(PROGRAM, hidden=True) == ()


def test_a_part_that_cannot_be_worked_out():
    text = PROGRAM.replace("DECLARED", "__shared__ float tile[16][SIDE + many(3)];")
    (found,) = _told(text)
    assert found.line == _line(text, "tile[threadIdx.x]")
    assert banks.padded(listing(text), listing(text).statements[0], ("SIDE",)) is None
