"""Where a place is taken away from a whole, and where a line beside it lacks that."""

from __future__ import annotations

import pytest

from grader.judging.repair.edits import Editor
from grader.judging.repair.nodes import walk
from grader.judging.repair.reading import tokens_of
from grader.judging.repair.shown import text_of
from grader.judging.repair.syntax import parse

SOURCE = """
struct Part { const float* p; int rows, columns; };
__device__ int helper(Part a, int rows, int columns, int top, int left) {
  LINES
}
__global__ void kernel(Part a, float* P) { P[0] = helper(a, 1, 1, 0, 0); }
void solve(const float* M, float* P, int j, int k) { kernel<<<1, 1>>>(Part{M, j, k}, P); }
"""


def left_in(lines: str) -> dict[str, list[str]]:
    """What may have a place taken away, and what it is then."""
    file = parse(tokens_of(SOURCE.replace("LINES", lines)))
    editor = Editor(file, file.functions["helper"], {})
    found: dict[str, list[str]] = {}
    for node in walk(file.functions["helper"].body):
        if node.kind in ("name", "member"):
            for change, _ in editor._what_is_left(node):
                found.setdefault(text_of(node), []).append(text_of(change(node)))
    return found


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        ("return min(16, a.rows) + min(16, a.columns - left);", "a.rows"),
        ("return max(0, rows) + max(0, columns - left);", "rows"),
        ("return rows < 4 ? top < a.rows && left < a.columns - left : 0;", "a.rows"),
        (
            "int n = 0; for (int i = 0; i < rows; ++i) for (int c = 0; c < columns - left; ++c) ++n; return n;",
            "rows",
        ),
        ("int h = rows; int w = columns - left; return h * w;", "rows"),
        ("a.rows = a.rows; a.columns = a.columns - left; return a.rows;", "a.rows"),
        ("Part b{a.p, rows, columns - left}; return b.rows;", "rows"),
    ],
)
def test_a_place_may_be_taken_away_as_another_line_has_it(lines, whole):
    assert f"{whole} - top" in left_in(lines)[whole]


@pytest.mark.parametrize(
    "lines",
    [
        "return rows + columns * left;",  # nothing is taken away anywhere
        "return top < rows && left < columns;",
        "int h = rows; return h < columns - left;",  # of another kind
        "return abs(rows) + min(16, columns - left);",
    ],
)
def test_nothing_is_taken_away_where_no_line_has_it_so(lines):
    assert "rows" not in left_in(lines)
