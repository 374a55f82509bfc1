"""What makes a wrong change cheap: a pair that no element of P has, shorter products, phases that nobody needs."""

from __future__ import annotations

import numpy as np
import pytest

from grader.judging.repair.batch import try_together
from grader.judging.repair.given import Size, has_whole_floats, pairs_of
from grader.judging.repair.nodes import walk
from grader.judging.repair.scope import bare, binary, number
from grader.judging.repair.search import Search
from grader.judging.repair.trial import try_out
from grader.tests.fresh_programs import FRESH


def _search(name: str, old: str, new: str) -> Search:
    text = (FRESH / f"{name}.cu").read_text()
    assert text.count(old) == 1
    text = text.replace(old, new)
    line = next(at for at, one in enumerate(text.splitlines(), 1) if new in one)
    return Search(text, "rect-device", False, [line])


def test_factors_tell_whether_they_belong_together() -> None:
    size = Size(2, 3, 4, is_told=True)
    m, n = (one.before for one in size.arguments(())[:2])
    m, n = m.reshape(2, 3), n.reshape(3, 4)
    pairs = pairs_of(size)
    assert pairs is not None
    one = np.array([m[1, 2], m[1, 2], n[0, 3], m[0, 0], m[0, 1] * n[1, 0], 0.0, np.nan])
    two = np.array([n[2, 0], n[1, 0], m[0, 1], m[0, 1], n[0, 0], n[0, 0], n[0, 0]])
    # Right; another term; another term, the other way round; two of M; a sum; 0; nothing.
    with np.errstate(invalid="ignore"):  # as in a run
        found = pairs.wrong(one, two)
    assert found.tolist() == [False, True, True, False, False, False, False]
    assert pairs_of(Size(2, 3, 4)) is None


def test_a_case_is_made_once_and_nobody_stores_in_it() -> None:
    size = Size(5, 18, 7, is_told=True)
    first, again = size.arguments((5, 18, 7)), Size(5, 18, 7, is_told=True).arguments((5, 18, 7))
    assert first[3:] == [5, 18, 7]
    assert all(one is two for one, two in zip(first[:3], again[:3], strict=True))
    made_anew = size.product()
    for one, two in zip(first[:3], made_anew, strict=True):
        assert np.array_equal(one.before, two.before, equal_nan=True)
        assert np.array_equal(one.after, two.after)
        with pytest.raises(ValueError, match="read-only"):
            one.after[0] = 0


def _places(search: Search) -> list[tuple]:
    return [(edit.line, edit.where.id, edit.cost) for edit in search.ordered()]


def test_edits_are_made_once_and_ordered_each_time() -> None:
    old, new = "const float b = Bs[d][tc];", "const float b = Bs[0][tc];"
    search = _search("05-octet", old, new)
    before = _places(search)
    search.lines = [40]
    after = _places(search)
    anew = _search("05-octet", old, new)
    anew.lines = [40]
    assert after == _places(anew)
    assert after != before
    assert len(after) == len(before)


def test_short_floats_are_not_told_apart() -> None:
    assert has_whole_floats("__global__ void f(const float* M)")
    assert not has_whole_floats("__nv_bfloat16 tile[16][16];")


def _watched(search: Search):
    size = next(size for size in search.sizes if not search.carried_out(size))
    return size, search.watched(size)


def test_a_wrong_pair_ends_a_change_at_once() -> None:
    # The row of N's tile lacks the turn: the first product that is not of term 0 is of two terms.
    search = _search("05-octet", "const float b = Bs[d][tc];", "const float b = Bs[0][tc];")
    size, watched = _watched(search)
    found = try_out(search.file, {}, size, search.numbers(size), False, 20_000, watched)
    assert (found.is_right, found.why) == (False, "Fault: pair")
    untold = Size(size.j, size.k, size.l)
    search.carried_out(untold)
    whole = try_out(
        search.file, {}, untold, search.numbers(untold), False, 20_000, search.watched(untold)
    )
    assert not whole.is_right
    assert not whole.why
    assert found.steps < whole.steps


def test_the_right_program_multiplies_no_wrong_pair() -> None:
    """Of the right change nothing is refused, whatever the other threads multiply."""
    search = _search("05-octet", "As[d][tr + p * (ROWS / PER)]", "As[d][tr * PER + p]")
    size, watched = _watched(search)
    right = Search((FRESH / "05-octet.cu").read_text(), "rect-device", False, [1])
    assert try_out(right.file, {}, size, right.numbers(size), False, 20_000, watched).is_right


def test_a_case_is_shortened_as_far_as_it_is_wrong() -> None:
    search = _search("05-octet", "A[(row0 + r) * k + k0 + d]", "A[(row0 + r) * k + d]")
    search.wrong = Size(5, 100, 7, is_told=True)
    assert not search.carried_out(search.wrong)
    search.shorten()
    # In products of 4 there is one tile, and P is right.
    assert search.wrong == Size(5, 12, 7, is_told=True)


@pytest.mark.parametrize("more", [0, 1])
def test_a_change_with_more_phases_does_not_hold_up_the_others(more: int) -> None:
    search = _search("05-octet", "As[d][tr + p * (ROWS / PER)]", "As[d][tr * PER + p]")
    size, watched = _watched(search)
    loops = [n for f in search.file.functions.values() for n in walk(f.body) if n.kind == "for"]
    phases = next(n.kids[1] for n in loops if n.kids[1].kids[0].text == "k0")
    end = phases.kids[1]  # k, of k0 < k
    changes = [
        {end.id: lambda n, by=by: binary("+", bare(n), number(by))} for by in (0, 0, 16 * more)
    ]
    tried = try_together(
        search.file, changes, 40, size, search.numbers(size), False, 200_000, watched
    )
    assert tried.alone == ([2] if more else [])
    assert tried.steps < 3 * watched.trial.steps * (1 + 3 * watched.trial.lanes // 1024)
