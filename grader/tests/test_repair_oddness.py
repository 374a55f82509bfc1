"""Changes that make the numbers right and that nobody would write come after those that a teacher names."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from grader.judging import searched
from grader.judging.repair.search import Search, find
from grader.judging.repair.shown import text_of
from grader.labs.course import find_course
from grader.labs.lab import load_lab
from grader.tests import corpus_files
from grader.tests.fresh_programs import program

ADDING = """
#define KB 32
#define TB 16
__global__ void add_rows(const float *A, const float *B, float *C, int rows, int columns) {
    int y = blockIdx.x, half = KB / 2;
    for (int x = threadIdx.x; x < columns; x += 32)
        if (y < rows) C[y * columns + x] = A[y * columns + x] * B[y * columns + x] + 0 * half;
}
void solve(const float *A, const float *B, float *C, int rows, int columns) {
    add_rows<<<rows, 32>>>(A, B, C, rows, columns);
}
"""


@functools.cache
def _costs(text: str) -> dict[str, float]:
    """What each change of the text costs, by what it makes of it."""
    found: dict[str, float] = {}
    for edit in Search(text, "square-device", False, [1]).all_edits():
        one = edit[0]
        said = text_of(one.where, dict(one.changes))
        found[said] = min(one.cost, found.get(said, 9.0))
    return found


def _launch(*arguments: str, launched: str = "add_rows<<<rows, 32>>>") -> str:
    return f"{launched}({', '.join(arguments)})"


def test_arguments_stay_in_the_order_of_the_parameters() -> None:
    odd = _costs(ADDING)[_launch("B", "A", "C", "rows", "columns")]
    wrong = ADDING.replace("(A, B, C, rows, columns);", "(B, A, C, rows, columns);")
    plain = _costs(wrong)[_launch("A", "B", "C", "rows", "columns")]
    assert plain < 0.8 < 2.0 < odd


def test_an_order_that_solve_has_is_kept_where_the_parameters_have_other_names() -> None:
    head, _, solve = ADDING.partition("void solve")
    solve = solve.replace("A", "left").replace("B", "right").replace("C", "out")
    found = _costs(head + "void solve" + solve)
    assert found[_launch("right", "left", "out", "rows", "columns")] > 1.5


def test_two_arguments_do_not_get_one_name() -> None:
    # As one name for another it is one step; the blocks of the launch are another.
    text = ADDING.replace("<<<rows, 32>>>", "<<<columns, 32>>>")
    search = Search(text, "square-device", False, [1])
    found = {}
    for edit, *_ in search.all_edits():
        if edit.where.kind == "name" and edit.function == "solve" and edit.where.text == "columns":
            place = "blocks" if edit.where.key < _key_of_last_argument(search) else "argument"
            if text_of(edit.where, dict(edit.changes)) == "rows":
                found[place] = edit.cost
    assert found["argument"] > found["blocks"]


def _key_of_last_argument(search: Search) -> int:
    names = [edit.where.key for edit, *_ in search.all_edits()
             if edit.function == "solve" and edit.where.text == "columns"]  # fmt: skip
    return max(names)


def test_nobody_divides_by_1() -> None:
    search = Search(ADDING, "square-device", False, [1])
    costs = {
        text_of(edit.where, dict(edit.changes)): edit.cost
        for edit, *_ in search.all_edits()
        if edit.line == 5 and edit.where.kind == "number" and edit.where.text in ("2", "32")
    }
    assert costs["1"] > 2.0
    assert costs["TB"] < costs["1"]


def test_4_bytes_of_a_float_stay_4() -> None:
    text = """
__global__ void k(const float *A, float *P, int n) { extern __shared__ float s[]; P[0] = s[0] + 4 * A[0]; }
void solve(const float *A, const float *B, float *P, int n) {
    int bytes = n * 4;
    k<<<1, 32, n * 4>>>(A, P, n);
}
"""
    search = Search(text, "square-device", False, [1])
    costs: dict[int, dict[str, float]] = {}
    for edit, *_ in search.all_edits():
        if edit.where.kind == "number" and edit.where.text == "4":
            costs.setdefault(edit.line, {})[text_of(edit.where, dict(edit.changes))] = edit.cost
    assert costs[4]["8"] >= costs[2]["8"] + 0.9
    assert costs[5]["8"] >= costs[2]["8"] + 0.9


@pytest.mark.parametrize("name", ["scale-forgotten", "store-forgotten", "x-by-block"])
def test_a_number_that_is_to_be_counted_is_not_told(name: str) -> None:
    lab = load_lab(find_course(Path(__file__).resolve().parents[2]).folder("foo-kernel"))
    cases = searched.cases(lab.reference, lab.cases, None)
    entry = corpus_files.find("foo-kernel", name)
    found = find(entry.text, "device:none", False, [entry.line], None, cases)
    assert found is None or found.counted.startswith("answers[")


def test_a_bound_that_is_none_hides_nothing() -> None:
    text = """
__global__ void k(const float *A, float *P, int from, int end) { P[from] = A[end - 1]; }
void solve(const float *A, const float *B, float *P, int n) {
    int parts = min(2, n);
    int end = min(n, parts + 4);
    int all = parts + 4;
    k<<<1, 32>>>(A, P, end, all);
}
"""
    costs: dict[int, dict[str, float]] = {}
    for edit, *_ in Search(text, "square-device", False, [1]).all_edits():
        costs.setdefault(edit.line, {})[text_of(edit.where, dict(edit.changes))] = edit.cost
    assert costs[4]["1"] > 2.0  # min(1, n) is 1
    for factor in ("n", "4"):
        assert costs[5][f"parts * {factor}"] > costs[6][f"parts * {factor}"] + 0.5


def test_a_call_is_given_the_term_that_its_line_has_as_well() -> None:
    wrong = program("08-pairbuf").replace("m, n, s, z + STEP);", "m, n, s, z);")
    search = Search(wrong, "rect-device", False, [1])
    line = next(at for at, one in enumerate(wrong.splitlines(), 1) if "m, n, s, z);" in one)
    said = {
        text_of(one.where, dict(one.changes)): one.cost
        for one, *_ in search.all_edits()
        if one.line == line and one.where.text == "z"
    }
    assert said["z + STEP"] < 0.5
