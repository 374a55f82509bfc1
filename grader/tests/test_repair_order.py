"""What is tried first: a name that differs from its siblings', and what a helper gives back."""

from __future__ import annotations

import pytest

from grader.judging import opening
from grader.judging.host import Said
from grader.judging.quietly import LOUD
from grader.judging.repair.given import Size
from grader.judging.repair.search import Search, find
from grader.judging.repair.shown import text_of
from grader.tests import corpus_files

_EARLY = 60  # about one batch
_PROGRAM = """
struct Place { int row, col; };
__device__ Place place_of(int lane) {
  return {lane >> 1 & 1 | lane >> 2 & 2,
          (lane & 1) | (lane >> 1 & 2)};
}
__global__ void k(const float* M, const float* N, float* P, int w) {
  __shared__ float a[16], b[16];
  int lane = threadIdx.x;
  Place p = place_of(lane);
  int r = blockIdx.y * 4 + p.row, c = blockIdx.x * 4 + p.col;
  float s = 0;
  for (int i = 0; i < w; i += 4) {
    a[lane] = r < w && i + p.col < w ? M[r * w + i + p.col] : 0;
    a[p.row * 4 + p.col] = a[lane];
    b[p.row * 4 + p.col] = i + p.row < w && c < w ? N[(i + p.row) * w + c] : 0;
    float x = b[0 * 4 + p.col], y = b[1 * 4 + p.col], z = b[2 * 4 + p.col], q = b[3 * 4 + p.col];
    s += a[p.row * 4] * x + a[p.row * 4 + 1] * y + a[p.row * 4 + 2] * z + a[p.row * 4 + 3] * q;
  }
  if (r < w && c < w) P[r * w + c] = s;
}
void solve(const float* M, const float* N, float* P, int w) {
  k<<<dim3((w + 3) / 4, (w + 3) / 4), 16>>>(M, N, P, w);
}
"""


def _order(old: str, new: str, asked: str) -> list[tuple[int, str]]:
    """Line and text of what is tried, in its order, where a line was suspected."""
    assert _PROGRAM.count(old) == 1
    text = _PROGRAM.replace(old, new)
    line = next(at for at, one in enumerate(text.splitlines(), 1) if asked in one)
    search = Search(text, "square-device", False, [line])
    search.wrong = Size(5, 5, 5)
    assert not search.carried_out(search.wrong)
    return [
        (edit.line, text_of(edit.where, dict(edit.changes)).strip())
        for edit in search.ordered()
        if len(edit.changes) == 1
    ]


def test_a_name_that_differs_from_all_of_its_siblings_is_tried_at_once() -> None:
    """float z = b[2 * 4 + p.row] among three with p.col has a member; a plain name is meant here."""
    old = "float x = b[0 * 4 + p.col], y = b[1 * 4 + p.col], z = b[2 * 4 + p.col], q = b[3 * 4 + p.col];"
    new = "int u = p.col; float x = b[0 * 4 + u], y = b[1 * 4 + u], z = b[2 * 4 + lane], q = b[3 * 4 + u];"
    assert (17, "u") in _order(old, new, "s += a")[:_EARLY]


def test_what_a_helper_gives_back_is_near_its_call() -> None:
    found = _order("| lane >> 2 & 2", "| lane >> 1 & 2", "P[r * w + c] = s")
    here = [at for at, (line, text) in enumerate(found) if (line, text) == (4, "2")]
    assert here
    assert here[0] < len(found) // 2


def test_a_mask_is_no_remainder() -> None:
    """x % 1 is always 0; 4 and 3 are what & and % are mixed up with."""
    found = _order("(lane & 1)", "(lane & 3)", "P[r * w + c] = s")
    assert not any("%" in text for _, text in found if "lane %" in text or "% 1" in text)


def test_a_rule_that_fails_is_in_no_other_rules_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> Said | None:
        raise ValueError("max() of an empty sequence")

    said = Said("what is wrong", 3, "")
    with pytest.raises(ValueError, match="empty sequence"):
        opening._first_said(failing, lambda: said)
    monkeypatch.delenv(LOUD)
    assert opening._first_said(failing, lambda: None, lambda: said) is said
    assert opening._first_said(failing) is None


def _searched(asked: str) -> Search:
    """Of a program that loads too little of M."""
    text = _PROGRAM.replace("i + p.col < w ? M", "p.col < 1 ? M")
    line = next(at for at, one in enumerate(text.splitlines(), 1) if asked in one)
    search = Search(text, "square-device", False, [line])
    search.wrong = search.first_wrong()
    assert search.wrong is not None
    return search


def test_what_is_dear_is_made_last_and_nothing_is_left_out() -> None:
    search = _searched("P[r * w + c] = s")
    likely = search.likely()
    made = len(search.edits)
    in_turn = list(search.in_turn())
    assert 0 < len(likely) <= made < len(search.edits) == len(in_turn)
    assert in_turn[: len(likely)] == likely
    at_once = _searched("P[r * w + c] = s").ordered()
    assert [(edit.where.id, edit.cost) for edit in at_once] == [
        (edit.where.id, edit.cost) for edit in search.ordered()
    ]


def test_a_name_of_an_array_in_other_memory_comes_later() -> None:
    search = _searched("s += a[p.row * 4]")
    (line,) = search.lines
    costs: dict[str, float] = {}
    for edit in search.ordered():
        if edit.line == line and edit.where.kind == "name" and edit.where.text == "a":
            changed = edit.changes[0][1](edit.where)
            if len(edit.changes) == 1 and changed.kind == "name":
                costs.setdefault(changed.text, edit.cost)
    assert {"b", "M", "N", "P"} <= costs.keys()
    assert all(costs["b"] < costs[name] for name in "MNP")


def test_the_address_of_an_access_that_is_not_aligned_is_made_before_it() -> None:
    """Lane % 4 for lane % 4 * 2, three lines above the store: sooner than by an odd change of the store."""
    entry = corpus_files.find("10", "neighbouring-columns")
    lines = entry.text.splitlines()
    stored = next(at for at, one in enumerate(lines, 1) if "<float2*>(to)" in one)
    found = find(entry.text, "rect-device", False, [stored])
    assert found is not None
    assert found.line == entry.line


def test_a_name_of_another_function_is_not_near() -> None:
    """Both have an r: what the first makes of its own has nothing to do with the second's."""
    text = (
        "__device__ int other(int q) {\n"
        "  int r = q + 1;\n"
        "  return r;\n"
        "}\n"
        "__global__ void f(const float* M, const float* N, float* P, int n) {\n"
        "  int r = threadIdx.y, c = threadIdx.x;\n"
        "  float s = 0;\n"
        "  for (int i = 0; i < n; ++i) s += M[r * n + i] * N[i * n + c];\n"
        "  P[r * n + c + 1] = s;\n"
        "}\n"
        "void solve(const float* M, const float* N, float* P, int n) { f<<<1, dim3(n, n)>>>(M, N, P, n); }\n"
    )
    near = Search(text, "square-device", False, [9]).nearness()
    assert {6, 7, 8, 9, 11} <= near.keys()
    assert near.keys().isdisjoint({2, 3})
    # Where it is called it is near.
    near = Search(text.replace("c + 1]", "other(c)]"), "square-device", False, [9]).nearness()
    assert {2, 3, 6} <= near.keys()
