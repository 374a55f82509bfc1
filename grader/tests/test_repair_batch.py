"""Many edits in one run: each fares as it does alone, and none is in another's way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.judging import kernel_text, suspects
from grader.judging.repair.batch import Batch, try_together
from grader.judging.repair.memory import Buffer, Local
from grader.judging.repair.nodes import Node, walk
from grader.judging.repair.own import Own, Rows
from grader.judging.repair.quick import is_pure, quick_of
from grader.judging.repair.reading import tokens_of
from grader.judging.repair.scope import bare, binary, named, number
from grader.judging.repair.search import Search
from grader.judging.repair.shown import text_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import Exhausted, GivenUp, try_out
from grader.judging.repair.values import Fault, Pointer, has_rows
from grader.judging.repair.world import Frame, World
from grader.labs.statements import listing
from grader.tests.fresh_programs import FRESH


def _search(name: str, old: str, new: str, seen: str, signature: str) -> Search:
    text = (FRESH / f"{name}.cu").read_text()
    assert text.count(old) == 1
    text = text.replace(old, new)
    line = next(at for at, one in enumerate(text.splitlines(), 1) if seen in one)
    return Search(text, signature, False, [line])


WRONG = (
    ("03-macro", "if (c >= n)", "if (c > n)", "return mat[", "square-device"),
    ("04-pointers", "B += TILE_DIM * N;", "B += TILE_DIM;", "B += TILE", "rect-device"),
    ("05-scalars", "s10 += x1 * y0;", "s10 += x1 * y1;", "s10 +=", "rect-device"),
)


@pytest.mark.parametrize("wrong", WRONG, ids=[one[0] for one in WRONG])
def test_a_batch_finds_what_its_edits_do_alone(wrong):
    search = _search(*wrong)
    size = next(size for size in search.sizes if not search.carried_out(size))
    plain = search.plain[size]
    edits = [
        dict(edit.changes)
        for edit in search.ordered()[:96]
        if search.alone.isdisjoint(key for key, _ in edit.changes)
    ]
    alone = []
    for at, changes in enumerate(edits):
        try:
            if try_out(search.file, changes, size, search.numbers(size), False, 20_000).is_right:
                alone.append(at)
        except (Exhausted, GivenUp):
            continue
    found = []
    for start in range(0, len(edits), 8):
        tried = try_together(
            search.file, edits[start : start + 8], search.turns(plain), size, search.numbers(size),
            False, 400_000,
        )  # fmt: skip
        if not tried.in_the_way:
            found += [start + at for at in (*tried.right, *tried.alone)]
    assert alone
    assert set(alone) <= set(found)
    assert len(found) < len(edits) // 2


def test_an_edit_out_of_bounds_does_not_spoil_the_others():
    """`c > n` reads beyond the matrix, and beside it an edit puts that right."""
    search = _search(*WRONG[0])
    size = next(size for size in search.sizes if not search.carried_out(size))
    edits = {text_of(edit.where, dict(edit.changes)): edit for edit in search.ordered()}
    chosen = [dict(edits[text].changes) for text in ("c >= n", "r > n")]
    tried = try_together(search.file, chosen, 80, size, search.numbers(size), False, 100_000)
    assert tried.right == [0]


def test_a_loop_without_end_ends_for_its_edit_alone():
    text = """
__global__ void k(const float *a, const float *b, float *c, int n) {
    int x = threadIdx.x, y = threadIdx.y;
    float s = 0;
    for (int i = 0; i < n; i += 1)
        s += a[y * n + i] * b[i * n + y];
    c[y * n + x] = s;
}
void solve(const float *a, const float *b, float *c, int n) { k<<<1, dim3(n, n)>>>(a, b, c, n); }
"""
    search = Search(text, "square-device", False, [6])
    (size, *_) = search.sizes
    assert not search.carried_out(size)
    edits = search.ordered()
    endless = next(e for e in edits if text_of(e.where, dict(e.changes)) == "0" and e.line == 5)
    right = next(e for e in edits if text_of(e.where, dict(e.changes)) == "x" and e.line == 6
                 and try_out(search.file, dict(e.changes), size, (3,), False, 9000).is_right)  # fmt: skip
    chosen = [dict(endless.changes), dict(right.changes)]
    tried = try_together(search.file, chosen, 80, size, (3,), False, 100_000)
    assert (tried.right, tried.in_the_way) == ([1], ())


def test_the_other_stage_is_tried():
    old, new = "int nxt = cur ^ 1;", "int nxt = cur;"
    search = _search("08-pipe", old, new, "int nxt", "rect-device")
    wrong = next(size for size in search.sizes if not search.carried_out(size))
    edits = {text_of(edit.where, dict(edit.changes)): edit for edit in search.ordered()[:96]}
    assert search.run(dict(edits["cur ^ 1"].changes), wrong)


@pytest.mark.parametrize("one", [("columns", "c"), ("tiles", "a")])
def test_a_pointer_into_other_memory_is_none_for_the_edits_beside_it(one):
    """`c = tiles + ...`: what the others load and store stays where it was."""
    text = """
__global__ void k(const float *a, const float *b, float *c, int n) {
    __shared__ float tiles[2048];
    float *rows = tiles, *columns = tiles;
    columns = tiles + n * n * 4;
    int x = threadIdx.x, y = threadIdx.y;
    rows[y * n + x] = a[y * n + x];
    columns[y * n + x] = b[y * n + x];
    __syncthreads();
    float s = 0;
    for (int i = 0; i < n; i += 1)
        s += rows[y * n + i] * columns[i * n + x];
    c[y * n + x] = s;
}
void solve(const float *a, const float *b, float *c, int n) { k<<<1, dim3(n, n)>>>(a, b, c, n); }
"""
    search = Search(text, "square-device", True, [5])
    (size, *_) = search.sizes
    assert not search.carried_out(size)
    edits = {
        (text_of(edit.where), text_of(edit.where, dict(edit.changes))): dict(edit.changes)
        for edit in search.ordered()
        if edit.line == 5
    }
    moved, right = edits[one], edits["n * n * 4", "n * n"]
    beside = [edits["4", "8"], edits["n * n * 4", "n * n + 4"], edits["columns", "rows"]]
    for edits in ([moved, right], [right, moved], [moved, *beside, right]):
        tried = try_together(search.file, edits, 80, size, (32,), False, 100_000)
        assert (tried.right, tried.in_the_way) == ([edits.index(right)], ())
        assert edits.index(moved) in tried.alone


def _kernel(text: str, **known) -> kernel_text.Kernel:
    found = listing(text)
    (function,) = (item for item in found.functions() if "__global__" in item.words)
    return kernel_text.Kernel(found, function, found.parameters(function), **known)


def test_a_factor_set_inside_the_loop_depends_on_it():
    text = (FRESH / "07-pairs.cu").read_text()
    assert suspects.product_without(_kernel(text)) is None
    text = text.replace("acc[i].x += a1 * b4.x;", "acc[i].x += b4.y * b4.x;")
    assert "no factor depends on it" in suspects.product_without(_kernel(text)).text


def test_a_thread_with_several_results_needs_no_larger_block():
    text = (FRESH / "05-scalars.cu").read_text()
    known = {"block": (16, 16, 1), "grid": (2, 2, 1), "roles": {"M": "a", "N": "b", "P": "c"}}
    assert suspects.block_too_small(_kernel(text, **known)) is None
    less = [
        line for line in text.splitlines() if "c[r1" not in line and "c[r0 * n + c1" not in line
    ]
    assert suspects.block_too_small(_kernel("\n".join(less), **known)) is not None


def test_a_block_for_each_row_needs_no_second_axis():
    text = (FRESH / "01-rows.cu").read_text()
    assert suspects.unused_axis(_kernel(text, grid=(9, 1, 1)), "y") is None
    assert suspects.unused_axis(_kernel(text, grid=(9, 9, 1)), "y") is not None


@pytest.mark.parametrize("wrong", WRONG, ids=[one[0] for one in WRONG])
def test_a_short_way_gives_the_same_values(wrong, monkeypatch):
    """With it and without, the same edits are right."""
    search = _search(*wrong)
    size = next(size for size in search.sizes if not search.carried_out(size))
    edits = [
        edit
        for edit in search.ordered()[:300]
        if len(edit.changes) == 1
        and is_pure(edit.where)
        and search.alone.isdisjoint(key for key, _ in edit.changes)
        and quick_of(edit.where, edit.changes[0][1](edit.where)) is not None
    ][:24]
    assert len(edits) > 8

    def right() -> set[int]:
        found = set()
        for start in range(0, len(edits), 8):
            tried = try_together(
                search.file, [dict(edit.changes) for edit in edits[start : start + 8]],
                search.turns(search.plain[size]), size, search.numbers(size), False, 400_000,
            )  # fmt: skip
            assert not tried.in_the_way
            found |= {start + at for at in tried.right}
        return found

    short = right()
    monkeypatch.setattr("grader.judging.repair.batch.is_pure", lambda node: False)
    assert short == right()


def test_each_short_way_is_one_step_on_the_edits_row():
    node = parse(tokens_of("void f(int a, int b) { int c = a * b; }")).functions["f"].body
    product = next(one for one in walk(node) if one.kind == "binary")
    rows = np.arange(6).reshape(3, 2)  # of three edits; k is the same for all of them
    f = Frame(None, {"a": rows, "b": 3, "k": np.array([20, 30])})
    sides, value = (rows, 3), rows * 3
    for changed, wanted in (
        (number(7), 7),
        (named("k"), [20, 30]),
        (product.kids[0], [2, 3]),
        (binary("+", bare(product), number(1)), [7, 10]),
        (binary("*", bare(product), named("k")), [120, 270]),
        (replace(product, text="-"), [-1, 0]),
        (replace(product, text="/", kids=product.kids[::-1]), [1, 1]),
    ):
        assert np.array_equal(quick_of(product, changed)(f, value, sides, 1), wanted)
    assert quick_of(product, Node("call", [named("min"), product.kids[0]])) is None


def _batch(rows: int, lanes: int) -> Batch:
    batch = Batch([{}] * rows, 80)
    batch.each, batch.is_inside = lanes, True
    return batch


def test_a_value_has_rows_only_where_an_edit_makes_another_one_of_it():
    batch, active = _batch(3, 4), np.array([True, True, False, True])
    rows = Rows(np.arange(4), batch, active)
    assert rows.put(1, np.array([0, 1, 9, 3]))  # it differs in a lane that is not active
    assert not has_rows(rows.value)
    assert not rows.put(1, 0.5)
    assert rows.put(2, 7)
    assert rows.value.tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [7, 7, 7, 7]]


def test_memory_has_rows_from_the_first_store_that_differs():
    batch = _batch(2, 3)
    buffer = Buffer("global", 4)
    buffer.batch, lanes = batch, np.arange(3)
    buffer.store(lanes, True, 1.0)
    assert buffer.rows == 1
    buffer.store(lanes, np.array([[True, False, False], [False, True, False]]), 2.0)
    assert buffer.load(lanes, True).tolist() == [[2, 1, 1], [1, 2, 1]]
    buffer.store(3, True, np.array([[5.0, 6, 7], [8, 9, 10]]))  # the last lane's
    assert buffer.load(3, True)[:, 0].tolist() == [7, 10]


def test_an_array_of_a_thread_has_rows_from_the_first_store_that_differs():
    batch, lanes = _batch(2, 3), np.arange(3)
    local = Local(3, 0.0, batch)
    local.store(lanes, True, 1.0)
    assert local.items.ndim == 2
    local.store(np.array([[0, 0, 0], [1, 1, 1]]), np.array([True, True, False]), 4.0)
    assert local.load(0, True).tolist() == [[4, 4, 0], [1, 0, 0]]
    assert local.load(np.array([1, 1, 1]), True).tolist() == [[0, 1, 0], [4, 4, 0]]


def test_edits_that_are_out_hold_nobody_up():
    batch = _batch(32, 2)
    mask = np.ones((32, 2), bool)
    mask[5] = False
    assert batch.rejoined(mask, True) is mask
    batch.drop(~mask)
    assert batch.rejoined(mask, True) is True
    out = np.ones((32, 2), bool)
    out[7] = out[9] = False
    batch.few = 2
    with pytest.raises(Fault):  # two are left: these are carried out with those of other batches
        batch.drop(out)
    assert batch.survivors == (7, 9)
    assert not batch.alone


def test_an_edit_sees_words_of_two_halves_as_they_are():
    batch = _batch(2, 3)
    halves = Local(8, 0.0, batch)
    pointer = Pointer(halves, np.array([[0, 0, 0], [2, 2, 2]]), is_packed=True)
    own = Own(Frame(World(None, 100), {"p": pointer}), 1)
    assert own["p"].is_packed
    assert own["p"].moved(1).off.tolist() == [4, 4, 4]


def test_what_is_fetched_for_each_edit_costs_steps():
    """The same store and load: of one word for all edits, and of one for each of theirs."""
    batch, lanes = _batch(64, 256), np.arange(256)
    batch.world = World(None, 1000)
    buffer = Buffer("global", 256)
    buffer.batch = batch
    buffer.store(lanes, True, 1.0)
    assert buffer.load(lanes, True).shape == (256,)
    assert batch.world.steps == 1000
    buffer.store(lanes, True, np.arange(64 * 256.0).reshape(64, 256))
    stored = batch.world.steps
    assert stored < 1000
    assert buffer.load(lanes, True).shape == (64, 256)
    assert batch.world.steps < stored


def test_a_struct_that_one_edit_is_given_back_is_not_the_others_too() -> None:
    """Arrays of a struct lie where the call that made it put them: of each edit in another place."""
    search = _search(
        "07-chunk", "acc[i].all.y += a[i].one[s] * b.all.y", "acc[i].all.y += a[i].one[s] * b.all.x",
        "b.all.x", "rect-device",
    )  # fmt: skip
    size = search.sizes[0]
    assert not search.carried_out(size)
    edits = search.ordered()
    line = next(
        at
        for at, one in enumerate(search.text.splitlines(), 1)
        if "all.y +=" in one and "b." in one
    )
    made = [(edit, text_of(edit.where, dict(edit.changes))) for edit in edits]
    right = next(edit for edit, text in made if text == "b.all.y" and edit.line == line)
    others = [
        edit
        for edit, text in made
        if text.startswith("read(") and edit.where.kind == "call" and edit.line != line
    ]
    assert len(others) > 1
    given = (size, search.numbers(size), False, 100_000)
    assert try_out(search.file, dict(right.changes), *given).is_right
    for other in others[:6]:
        batch = [dict(right.changes), dict(other.changes)]
        tried = try_together(search.file, batch, 80, *given)
        assert 0 in {*tried.right, *tried.alone, *tried.in_the_way}


def test_another_variable_for_a_reference_is_one_edits_own():
    """Where an argument lies is one place for all edits of a batch."""
    search = _search("07-fourby", "a.y, b1", "a.z, b1", "a.z, b1", "rect-device")
    size = next(size for size in search.sizes if not search.carried_out(size))
    names = [n for n in walk(search.file.functions["four_by_four"].body) if n.text == "b0"]
    (first,) = [one for one in names if one.kind == "name"]
    (wrong,) = [
        n
        for n in walk(search.file.functions["four_by_four"].body)
        if n.kind == "member"
        and n.text == "z"
        and n.kids[0].text == "a"
        and n.line == first.line + 1
    ]
    edits = [
        {wrong.id: lambda n: replace(bare(n), text="y")},
        {first.id: lambda n: named("b3")},
    ]
    tried = try_together(search.file, edits, 99, size, search.numbers(size), False, 90_000)
    assert (tried.right, tried.alone) == ([0], [1])
