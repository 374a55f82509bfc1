"""The search ends a run whose loop cannot come to an end, and one that adds terms that no sum lacks."""

from __future__ import annotations

import pytest

from grader.judging.repair.full_sums import loops_of_terms
from grader.judging.repair.nodes import walk
from grader.judging.repair.search import Search
from grader.judging.repair.trial import loops_of, try_out
from grader.tests import corpus_files

_LOOP = "for (int i = 0; i < BK; ++i)"
_PHASES = "ph < ceil_div(k, BK)"


def _search(old: str = "", new: str = "") -> Search:
    text = corpus_files.bare_solution(corpus_files.ladder()[4])
    assert not old or text.count(old) == 1, old
    search = Search(text.replace(old, new) if old else text, "rect-device", False, [])
    search.wrong = search.first_wrong() or search.sizes[0]
    return search


@pytest.mark.parametrize("step", ["i += 0", "i = 0", "r0 = i"])
def test_a_loop_whose_turn_changes_nothing_ends_the_run(step: str) -> None:
    text = """
#include "check.h"
__global__ void k(const float* M, const float* N, float* P, int j, int k, int l) {
  float sum = 0;
  int r0 = 0;
  for (int i = 0; i < k; STEP) sum += M[i] * N[i];
  P[0] = sum + r0;
}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  ::k<<<1, 1>>>(M, N, P, j, k, l);
}
"""
    search = Search(text.replace("::k", "k").replace("STEP", step), "rect-device", False, [])
    size = search.sizes[0]
    trial = try_out(search.file, {}, size, search.numbers(size), False, 20_000)
    assert "endless" in trial.why
    assert trial.steps < 100


def test_a_loop_that_a_break_ends_is_let_go_on() -> None:
    text = """
#include "check.h"
__global__ void product(const float* M, const float* N, float* P, int j, int k, int l) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= j || col >= l) return;
  float sum = 0;
  int i = 0;
  for (int more = 1; more; more = 1) {
    sum += M[row * k + i] * N[i * l + col];
    if (++i == k) break;
  }
  P[row * l + col] = sum;
}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + 15) / 16, (j + 15) / 16), block(16, 16);
  product<<<grid, block>>>(M, N, P, j, k, l);
}
"""
    search = Search(text, "rect-device", False, [])
    assert search.first_wrong() is None


def test_the_loop_over_phases_is_the_one_whose_terms_are_added() -> None:
    search = _search()
    found = loops_of_terms(search.file, set(search.adding()))
    first = min(node.line for node in loops_of(search.file) if node.loop in found)
    assert len(found) == 1
    assert "ph" in search.text.splitlines()[first - 1]


@pytest.mark.parametrize(
    ("old", "new", "is_full"),
    [
        ("m[r] = Mds[i][ty * TM + r]", "m[r] = Mds[i][ty + r]", True),  # other factors, as many
        (_LOOP, "for (int i = 0; i + 1 < BK; ++i)", False),
        (_PHASES, "ph < k / BK", False),
    ],
)
def test_what_has_all_terms_needs_no_turn_more(old: str, new: str, is_full: bool) -> None:
    search = _search(old, new)
    assert search.watched(search.wrong).has_all_terms == is_full
    assert bool(search.full_sums(search.wrong)) == is_full
    loops = {node.loop for node in loops_of(search.file)}
    most, _ = search.turns_alone(search.wrong, True)
    more, _ = search.turns_alone(search.wrong, False)
    assert any(most[key] < more[key] for key in loops & most.keys()) == is_full


def test_terms_are_floats_and_not_indices() -> None:
    """Row times length is a product, too, and no term of P."""
    search = _search(_PHASES, "ph < k / BK")
    assert any(
        n.kind == "binary" and n.text == "*" for f in search.all_functions() for n in walk(f.body)
    )
    assert not search.watched(search.wrong).has_all_terms


def test_a_loop_whose_body_nobody_has_carried_out_is_for_all_threads() -> None:
    """It may fill a tile, once it is carried out: few threads would not."""
    search = _search(_PHASES, "ph < k / BK / 100")
    outer = next(iter(loops_of_terms(search.file, set(search.adding()))))
    assert search.plain[search.wrong].turns_of[outer] == 1
    assert outer in search.watched(search.wrong).loud
