"""A change is refused by the few threads that are wrong: they do as they do among all, and others are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.judging.repair.batch import try_together
from grader.judging.repair.search import Search
from grader.judging.repair.shown import text_of
from grader.judging.repair.trial import try_out
from grader.judging.repair.watching import watch
from grader.tests.fresh_programs import FRESH

WRONG = (
    ("03-clamp", "total += L", "total = L", "+=", "square-device"),
    ("04-pointers", "B += TILE_DIM * N;", "B += TILE_DIM;", "B += TILE_DIM * N", "rect-device"),
    ("05-scalars", "s10 += x1 * y0;", "s10 += x1 * y1;", "y0", "rect-device"),
    ("07-quads", "out[col + 2] = sum.z", "out[col + 2] = sum.y", "z", "rect-device"),
    # Elements that nobody stores: threads that store what others store, too, are looked at.
    ("04-flatgrid", "tile % across * B + j", "tile % down * B + j", "across", "rect-device"),
)


def _search(name: str, old: str, new: str, signature: str) -> Search:
    text = (FRESH / f"{name}.cu").read_text()
    assert text.count(old) == 1
    text = text.replace(old, new)
    line = next(at for at, one in enumerate(text.splitlines(), 1) if new in one)
    return Search(text, signature, False, [line])


def _wrong(search: Search):
    return next(size for size in search.sizes if not search.carried_out(size))


@pytest.mark.parametrize(
    ("name", "old", "new", "after", "signature"), WRONG, ids=[w[0] for w in WRONG]
)
def test_the_chosen_threads_accept_the_right_change(name, old, new, after, signature):
    search = _search(name, old, new, signature)
    size = _wrong(search)
    watched = search.watched(size)
    assert watched is not None
    assert len(watched.chosen) <= (8 if watched.lacking is None else 264)
    edits = search.ordered()
    right = [
        dict(edit.changes)
        for edit in edits
        if after in text_of(edit.where, dict(edit.changes)) and edit.line == search.lines[0]
    ]
    others = [dict(edit.changes) for edit in edits[:30]]
    given = (size, search.numbers(size), search.on_host, 400_000)
    alone = [try_out(search.file, one, *given).is_right for one in right + others]
    assert any(alone[: len(right)])
    few = [try_out(search.file, one, *given, watched).is_right for one in right + others]
    assert all(there for here, there in zip(alone, few, strict=True) if here)


@pytest.mark.parametrize(
    ("name", "old", "new", "after", "signature"), WRONG, ids=[w[0] for w in WRONG]
)
def test_a_batch_accepts_what_each_is_accepted_with(name, old, new, after, signature):
    search = _search(name, old, new, signature)
    size = _wrong(search)
    watched = search.watched(size)
    edits = [
        dict(edit.changes)
        for edit in search.ordered()[:120]
        if search.alone.isdisjoint(key for key, _ in edit.changes)
    ][:40]
    given = (size, search.numbers(size), search.on_host, 400_000)
    tried = try_together(search.file, edits, 80, *given, watched)
    assert not tried.in_the_way
    for at, one in enumerate(edits):
        if try_out(search.file, one, *given).is_right:
            assert at in tried.right or at in tried.alone


def test_the_file_as_it_is_is_refused():
    search = _search(*WRONG[2][:3], "rect-device")
    size = _wrong(search)
    watched = search.watched(size)
    given = (size, search.numbers(size), False, 400_000)
    assert not try_out(search.file, {}, *given, watched).is_right
    # A planted fault: threads that were right all along accept it.
    threads = np.array([255])  # its rows are all outside
    assert 255 in watched.chosen
    assert try_out(search.file, {}, *given, replace(watched, chosen=threads)).is_right


def test_a_right_file_has_no_thread_to_look_at():
    text = (FRESH / "05-scalars.cu").read_text()
    search = Search(text, "rect-device", False, [])
    size = search.sizes[0]
    assert watch(search.file, size, search.numbers(size), False, 30_000) is None


@pytest.mark.parametrize("name", ["06-flatpad", "02-onebuf", "03-mask"])
def test_no_change_holds_itself(name: str) -> None:
    """A macro's body is one place wherever it is used: what replaces a part of it may not have that part."""
    text = (FRESH / f"{name}.cu").read_text()
    search = Search(text, "square-device" if name < "04" else "rect-device", False, [])
    for edit in search.ordered():
        assert isinstance(text_of(edit.where, dict(edit.changes)), str)


@pytest.mark.parametrize(
    ("name", "old", "new", "place", "after"),
    [
        ("07-fetch", "m[i].z * n[2].y", "m[i].z * n[1].y", "1", "2"),
        ("09-places", "b[stage] + (d + s)", "a[stage] + (d + s)", "a", "b"),
    ],
)
def test_what_a_loop_of_a_helper_fetches_is_there_for_all(name, old, new, place, after) -> None:
    """Loops that fill what is put into a tile afterwards are not left out by the other threads."""
    search = _search(name, old, new, "rect-device")
    size = _wrong(search)
    watched = search.watched(size)
    given = (size, search.numbers(size), search.on_host, 400_000)
    changes = [
        dict(edit.changes)
        for edit in search.ordered()
        if edit.line == search.lines[0]
        and text_of(edit.where) == place
        and text_of(edit.where, dict(edit.changes)) == after
    ]
    assert watched is not None
    assert any(try_out(search.file, one, *given, watched).is_right for one in changes)
