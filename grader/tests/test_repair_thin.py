"""Turns of loops that the looked-at elements of P do not need are left out, and no right change is lost by it."""

from __future__ import annotations

import pytest

from grader.judging.repair import search as searches
from grader.judging.repair.batch import try_together
from grader.judging.repair.memory import Buffer
from grader.judging.repair.nodes import walk
from grader.judging.repair.reading import tokens_of
from grader.judging.repair.search import Search
from grader.judging.repair.shown import text_of
from grader.judging.repair.siblings import repeated_leaves
from grader.judging.repair.syntax import parse
from grader.judging.repair.thin import hidden
from grader.judging.repair.trial import Exhausted, GivenUp, try_out
from grader.tests import corpus_files

# Of labs whose threads count several elements each: what is wrong, and what would be right.
_TILES = (
    ("05", "col = ph * BK + i;", "col = ph * BM + i;", "ph * BK"),
    ("07", "first_row + ty + r * (BM / TM), first_col", "first_row + ty * TM + r, first_col", ""),
)


def _solution(lab: str) -> str:
    return corpus_files.bare_solution(next(one for one in corpus_files.labs() if one[:2] == lab))


def _search(text: str, old: str, new: str) -> Search:
    assert text.count(old) == 1
    text = text.replace(old, new)
    line = next(at for at, one in enumerate(text.splitlines(), 1) if new in one)
    found = Search(text, "rect-device", False, [line])
    found.wrong = found.first_wrong()
    found.shorten()
    return found


@pytest.mark.parametrize(("lab", "old", "new", "after"), _TILES, ids=[one[0] for one in _TILES])
def test_what_is_right_in_full_is_right_without_them(lab, old, new, after):
    search = _search(_solution(lab), old, new)
    size = search.wrong
    watched, skips = search.watched(size), search.skips(size)
    given = (size, search.numbers(size), False, 400_000)
    assert skips
    all_of_it = try_out(search.file, {}, *given, watched)
    thin = try_out(search.file, {}, *given, watched, skips=skips)
    assert not thin.is_right
    assert thin.steps < 0.7 * all_of_it.steps
    likely = [
        dict(edit.changes)
        for edit in search.likely()
        if search.hidden_by(size).isdisjoint(key for key, _ in edit.changes)
    ][:80]
    right = [one for one in likely if _is_right(search, one)]
    for one in right:
        assert try_out(search.file, one, *given, watched, skips=skips).is_right
    if after:
        assert right


def _is_right(search: Search, changes: dict) -> bool:
    size = search.wrong
    turns = search.turns_alone(size, len(changes) == 1)
    try:
        return try_out(
            search.file, changes, size, search.numbers(size), False, 20_000, turns=turns
        ).is_right
    except (Exhausted, GivenUp):
        return False


def test_a_zero_that_was_put_into_a_tile_by_mistake_hides_no_turn(monkeypatch):
    """Each turn adds a 0, as the file is: with the right guard it does not."""
    old, new = "row < j && col < k", "row < j && col < 0"
    text = _solution("05")
    search = _search(text, old, new)
    inner = _inner_loop(search)
    kept = search.skips(search.wrong).get(inner, {})
    # A planted fault: the 0 is left there.
    monkeypatch.setattr(Buffer, "without_zeros", lambda self, value, off: value)
    again = _search(text, old, new)
    assert len(again.skips(again.wrong).get(inner, {})) > len(kept)


def _inner_loop(search: Search) -> tuple[int, str]:
    """The loop over the steps of a phase."""
    loops = [
        node
        for node in walk(search.file.functions["register_kernel"].body)
        if node.kind == "for" and any(one.text == "BK" for one in walk(node.kids[1]))
    ]
    return loops[-1].loop


def test_changes_that_may_need_what_is_left_out_are_told():
    file = parse(
        tokens_of(
            "__global__ void f(float* P, int n) {\n"
            "  float sum[4];\n"
            "  if (n > 7) return;\n"
            "  for (int i = 0; i < 4; ++i) sum[i + 1] += P[n];\n"
            "}\n"
        )
    )
    (loop,) = (node for node in walk(file.functions["f"].body) if node.kind == "for")
    assert hidden(file, {}) == set()
    found = hidden(file, {loop.loop: {1: -1}})
    said = {
        text_of(node)
        for node in walk(file.functions["f"].body)
        if node.id in found and node.kind in ("binary", "name", "number")
    }
    assert {"n > 7", "i < 4", "i + 1"} <= said
    assert "P" not in said


def test_the_field_that_none_of_several_has_is_tried():
    file = parse(
        tokens_of(
            "__device__ void add(float4& s, float a, float4 b) {\n"
            "  s.x += a * b.x; s.y += a * b.y; s.z += a * b.y; s.w += a * b.w;\n"
            "}\n"
            "__device__ void put(float* to, float4 b) {\n"
            "  to[0] = b.x; to[1] = b.y; to[1] = b.z; to[3] = b.w;\n"
            "}\n"
            "__device__ void right(float* to, float4 b) { to[0] = b.x; to[1] = b.y; to[2] = b.z; }\n"
        )
    )
    found = {name: repeated_leaves(one) for name, one in file.functions.items()}
    assert sorted(found["add"].values()) == ["z", "z"]
    assert sorted(found["put"].values()) == ["2", "2"]
    assert found["right"] == {}


def test_threads_that_touch_what_they_may_not_are_looked_at_where_all_is_right():
    text = (
        "__global__ void f(const float* M, const float* N, float* P, int n) {\n"
        "  int r = threadIdx.y, c = threadIdx.x;\n"
        "  float s = 0, next = M[r * n + c + 1];\n"
        "  for (int i = 0; i < n; ++i) s += M[r * n + i] * N[i * n + c];\n"
        "  P[r * n + c] = s;\n"
        "}\n"
        "void solve(const float* M, const float* N, float* P, int n) { f<<<1, dim3(n, n)>>>(M, N, P, n); }\n"
    )
    search = Search(text, "square-device", False, [3])
    size = search.sizes[0]
    assert not search.carried_out(size)
    assert search.plain[size].why == "Outside: M"
    watched = search.watched(size)
    assert size.j * size.j - 1 in watched.chosen
    right = next(e for e in search.ordered() if text_of(e.where, dict(e.changes)) == "r * n + c")
    others = [dict(e.changes) for e in search.likely()[:5]]
    tried = try_together(
        search.file, [dict(right.changes), *others], 80, size, search.numbers(size), False, 100_000,
        watched,
    )  # fmt: skip
    assert 0 in {*tried.right, *tried.alone}
    assert not try_out(search.file, {}, size, search.numbers(size), False, 9_000, watched).is_right


def test_no_more_than_so_many_changes_are_tried(monkeypatch):
    search = _search(_solution("05"), *_TILES[0][1:3])
    monkeypatch.setattr(searches, "_MOST_TRIED", 5)
    again = Search(search.text, "rect-device", False, [1])
    assert again.found() is None
    assert again.tried == 5


def test_another_name_that_one_change_makes_is_not_the_others_too():
    """What an object's references stand for is one value for all lanes of a batch."""
    text = (
        "struct Pair {\n"
        "  __device__ Pair(const float* a, const float* b) : a_(a), b_(b) {}\n"
        "  const float* a_; const float* b_;\n"
        "};\n"
        "struct Both {\n"
        "  __device__ Both(const Pair& p, const Pair& q) : p_(p), q_(q) {}\n"
        "  __device__ float at(int r, int c, int n) const { return p_.a_[r * n + c]; }\n"
        "  const Pair& p_; const Pair& q_;\n"
        "};\n"
        "__global__ void f(const float* M, const float* N, float* P, int n) {\n"
        "  int r = threadIdx.y, c = threadIdx.x;\n"
        "  Pair one(M, N), two(N, M);\n"
        "  Both both(one, two);\n"
        "  float s = 0;\n"
        "  for (int i = 0; i < n; ++i) s += both.at(r, c, n) * N[i * n + c];\n"
        "  P[r * n + c] = s;\n"
        "}\n"
        "void solve(const float* M, const float* N, float* P, int n) { f<<<1, dim3(n, n)>>>(M, N, P, n); }\n"
    )
    search = Search(text, "square-device", False, [15])
    size = search.sizes[0]
    assert not search.carried_out(size)
    edits = [
        edit for edit in search.ordered() if search.alone.isdisjoint(key for key, _ in edit.changes)
    ]
    right = [e for e in edits if text_of(e.where, dict(e.changes)) == "i" and e.line == 15]
    others = [e for e in edits if e.line == 6]
    assert right
    assert others
    chosen = [dict(edit.changes) for edit in [*right, *others]]
    tried = try_together(search.file, chosen, 80, size, search.numbers(size), False, 100_000)
    alone = {
        at
        for at, one in enumerate(chosen[: len(right)])
        if try_out(search.file, one, size, search.numbers(size), False, 20_000).is_right
    }
    assert alone
    assert alone <= {*tried.right, *tried.alone}
