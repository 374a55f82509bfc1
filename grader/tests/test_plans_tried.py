"""Changes of launch plans: each mends a plan with its fault, and the text tells where the number stands.

A plan here is carried out by a comparison with the right one; the slow tests ask the simulator.
"""

from __future__ import annotations

import struct
import sys
from types import SimpleNamespace

import pytest

from grader.judging import host
from grader.judging.plans import changes
from grader.judging.plans.change import Change
from grader.judging.plans.origin import Origins
from grader.judging.plans.parameters import fields_of
from grader.judging.plans.seen import Plans, Seen, is_small, with_word, word
from grader.labs.lab import Case
from grader.labs.options import Options
from grader.labs.statements import Listing, function_name
from grader.pipeline import tried_plans
from grader.running.execute import Job
from grader.tests.corpus_files import REPOSITORY
from grader.tests.selection import first_of

_CAUSES = REPOSITORY / "common" / "measure" / "causes"
SIZES = ((17, 18, 20), (70, 34, 33), (5, 40, 7))
_LAUNCH, _FILL, _COPY = 11, 12, 13
UNITS = [16, 8]


def plan(j: int, k: int, n: int) -> dict:
    """A right one: padded copies of nothing, one launch of 16 x 8 threads, a fill."""
    params = bytes(24) + struct.pack("<4i", j, k, n, -(-n // 16) * 16)
    return {
        "buffers": [
            {"id": at, "name": name, "bytes": 4 * size, "address": hex(4096 * (at + 1)), "role": "input"}
            for at, (name, size) in enumerate((("M", j * k), ("N", k * n), ("P", j * n)))
        ],
        "ops": [
            {"op": "memset", "call": _FILL, "buffer": 2, "offset": 0, "value": 0, "bytes": 4 * j * n,
             "stream": 1},
            {"op": "copy_d2d", "call": _COPY, "buffer": 2, "offset": 0, "source": 0,
             "source_offset": 0, "bytes": 4 * n, "rows": j, "pitch": 4 * n, "source_pitch": 4 * k,
             "stream": 1},
            {"op": "launch", "call": _LAUNCH, "kernel": "1k", "grid": [-(-n // 16), -(-j // 8), 1],
             "block": [16, 8, 1], "params": params.hex(), "stream": 1,
             "relocations": [{"offset": 8 * at, "buffer": at, "addend": 4 * min(at, 1) * k} for at in range(3)]},
        ],
    }  # fmt: skip


def plans(wrong) -> Plans:
    """With a fault in each; `wrong` changes the op of a plan."""
    right = {f"{j}x{k}x{n}": plan(j, k, n) for j, k, n in SIZES}
    seen = []
    for j, k, n in SIZES:
        fields = plan(j, k, n)
        wrong(fields["ops"], j, k, n)
        seen.append(Seen(Case(f"{j}x{k}x{n}", "", j, k, n), fields, {"j": j, "k": k, "l": n}))
    return Plans(
        tuple(seen), {}, lambda tries: [fields == right[case.id] for case, fields in tries]
    )


def mends(of: Plans) -> list[Change]:
    every = [*changes.of_launches(of, UNITS), *changes.of_streams(of), *changes.of_memory(of)]
    found = []
    for one in every:
        made = [(seen.case, one.made(seen) or seen.fields) for seen in of.seen]
        if all(of.are_right(made)):
            found.append(one)
    return found


def _set(op: int, **fields):
    def wrong(ops, j, k, n):
        ops[op] |= {name: give(j, k, n) for name, give in fields.items()}

    return wrong


def _word(at: int, give):
    def wrong(ops, j, k, n):
        block = bytearray.fromhex(ops[2]["params"])
        struct.pack_into("<i", block, at, give(j, k, n))
        ops[2]["params"] = block.hex()

    return wrong


def _both(one, two):
    return lambda *given: (one(*given), two(*given))


def _pointer(at: int, **fields):
    def wrong(ops, j, k, n):
        ops[2]["relocations"][at] |= {name: give(j, k, n) for name, give in fields.items()}

    return wrong


@pytest.mark.parametrize(
    ("wrong", "kind", "better"),
    [
        (_set(2, grid=lambda j, k, n: [-(-j // 8), -(-n // 16), 1]), "grid-exchanged", ""),
        (_set(2, grid=lambda j, k, n: [-(-n // 16), j // 8, 1]), "rounded-down", "j in pieces of 8"),
        (_set(2, grid=lambda j, k, n: [-(-n // 16), -(-j // 16), 1]), "blocks", "j in pieces of 8"),
        (_set(2, grid=lambda j, k, n: [-(-k // 16), -(-j // 8), 1]), "blocks", "l in pieces of 16"),
        (_set(2, block=lambda j, k, n: [8, 16, 1]), "block-exchanged", ""),
        (_set(2, block=lambda j, k, n: [16, 4, 1]), "block", "8"),
        (_set(2, block=lambda j, k, n: [128, 1, 1]), "block-rows", "16 x 8"),
        (_set(2, block=lambda j, k, n: [32, 4, 1]), "block-rows", "16 x 8"),
        (_set(2, block=lambda j, k, n: [16, 1, 1]), "block", "8"),
        (_word(28, lambda j, k, n: n), "number", "k"),
        (_word(36, lambda j, k, n: n), "number", ""),
        (_both(_word(24, lambda j, k, n: n), _word(32, lambda j, k, n: j)), "numbers-exchanged", ""),
        (_set(2, grid=lambda j, k, n: [-(-j // 16), -(-n // 8), 1]), "grid-of-other-sizes", ""),
        (
            _both(
                _both(_word(24, lambda j, k, n: n), _word(32, lambda j, k, n: j)),
                _set(2, grid=lambda j, k, n: [-(-j // 16), -(-n // 8), 1]),
            ),
            "sizes-exchanged",
            "l",
        ),
        (_pointer(2, addend=lambda j, k, n: 4 * n), "scaled", "k"),
        (_pointer(1, addend=lambda j, k, n: 0), "as-far", ""),
        (_set(0, bytes=lambda j, k, n: j * n), "fill", "whole"),
        (_set(1, pitch=lambda j, k, n: 4 * k), "copy", "l"),
        (_set(2, stream=lambda j, k, n: 2), "stream", ""),
    ],
)  # fmt: skip
def test_each_fault_has_its_change(wrong, kind, better):
    found = mends(plans(wrong))
    if kind == "number" and not better:  # in whole tiles, as nothing else in the launch is
        assert not any(one.kind == "number" for one in found)
        return
    named = [one for one in found if one.kind == kind]
    assert named and (not better or better in [one.better for one in named])


def test_blocks_in_slabs_or_of_a_prime_number_are_not_folded_in_another_way():
    for block in ([127, 1, 1], [16, 1, 8], [1, 1, 1], [2, 2, 2]):
        of = plans(_set(2, block=lambda *given, block=block: block))
        assert not [one for one in changes.of_launches(of, UNITS) if one.kind == "block-rows"]


def test_a_block_is_not_folded_into_what_it_is_or_has_exchanged():
    of = plans(_set(2, block=lambda *given: [16, 8, 1]))
    better = {one.better for one in changes.of_launches(of, UNITS) if one.kind == "block-rows"}
    assert better == {"32 x 4", "4 x 32", "64 x 2", "2 x 64"}


def test_slabs_along_z_that_are_too_few():
    """Four rows of blocks each: z counts 32 rows, and y is a constant."""

    def right(ops, j, k, n):
        ops[2]["grid"] = [-(-n // 16), 4, -(-j // 32)]

    def wrong(ops, j, k, n):
        ops[2]["grid"] = [-(-n // 16), 4, -(-k // 32)]

    of, want = plans(wrong), plans(right)
    fields = {seen.case.id: seen.fields for seen in want.seen}
    every = list(changes.of_launches(of, UNITS, "xyz"))
    found = [
        one
        for one in every
        if all((one.made(seen) or seen.fields) == fields[seen.case.id] for seen in of.seen)
    ]
    assert [(one.axis, one.better) for one in found] == [("z", "j in pieces of 32")]
    axes = [one.axis for one in every if one.kind == "blocks"]
    assert axes.index("z") < axes.index("y")  # as many as a constant says come last
    assert not any(one.axis == "z" for one in changes.of_launches(of, UNITS))


def test_two_pointers_that_are_exchanged():
    def wrong(ops, j, k, n):
        one, two = ops[2]["relocations"][:2]
        for name in ("buffer", "addend"):
            one[name], two[name] = two[name], one[name]

    assert "pointers-exchanged" in [one.kind for one in mends(plans(wrong))]


@pytest.mark.parametrize("step", [1, 2])
def test_three_pointers_in_another_order(step):
    def wrong(ops, j, k, n):
        given = [(one["buffer"], one["addend"]) for one in ops[2]["relocations"]]
        for number, one in enumerate(ops[2]["relocations"]):
            one["buffer"], one["addend"] = given[(number + step) % 3]

    assert "pointers-turned" in [one.kind for one in mends(plans(wrong))]


def test_a_number_in_whole_tiles_is_known_by_another_one():
    def wrong(ops, j, k, n):
        block = bytearray.fromhex(ops[2]["params"])
        struct.pack_into("<i", block, 28, k)
        ops[2]["params"] = block.hex()

    of = plans(wrong)
    better = [
        one.better
        for one in changes.of_launches(of, UNITS)
        if one.kind == "number" and one.offset == 28
    ]
    assert "k rounded up to a multiple of 16" in better


def test_a_right_plan_needs_no_change_and_a_huge_one_is_not_tried():
    of = plans(lambda *given: None)
    first = of.seen[0]
    for one in changes.of_launches(of, UNITS):
        assert one.made(first) != first.fields
    huge = {"ops": [{"op": "launch", "grid": [1 << 20, 1, 1]}]}
    assert of.are_few() and not is_small(huge)


ARGS = """struct Args {
  const float *m, *n;
  float* p;
  int j, k, l;
};
__global__ void add(Args args, size_t from, int depth) { args.p[0] = depth; }
static dim3 gridOf(int columns, int rows) {
  dim3 made;
  made.x = (columns + 15) / 16;
  made.y = (rows + 15) / 16;
  return made;
}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Args args = {M, N, P,
                     j, l, k};
  add<<<gridOf(l, j), dim3(16, 16)>>>(args, 0, 32);
}
"""


def test_a_block_of_no_rows_is_divided_by_nothing():
    of = plans(_set(2, block=lambda j, k, n: [16, 0, 1]))
    assert [one.better for one in mends(of) if one.kind == "block"] == ["8"]


def test_fields_of_a_struct_by_value_have_their_places():
    text = Listing(ARGS)
    (kernel,) = [one for one in text.functions() if "__global__" in one.words]
    found = {at: one.shown for at, one in fields_of(text, kernel).items()}
    assert found == {
        0: "args.m", 8: "args.n", 16: "args.p", 24: "args.j", 28: "args.k", 32: "args.l",
        40: "from", 48: "depth",
    }  # fmt: skip


def _launch_of(text: Listing) -> tuple[host.Launch, object]:
    item = next(one for one in text.statements if one.has("<<<"))
    return host.launches_of(text, item)[0], item


def test_a_number_is_followed_to_where_it_was_written():
    text = Listing(ARGS)
    launch, item = _launch_of(text)
    origins = Origins(text, text.named("solve"), (16,))
    found = origins.of((*launch.given[0], ".", "k"), item)
    assert found.words == ("l",)
    sides = origins.sides(launch.settings[0], item)
    assert [one.line for one in sides] == [9, 10]


@pytest.mark.parametrize(
    ("part", "name", "line_part", "words"),
    [
        ("04-padcopy", "padded", "<<<dim3(", "a . columns"),
        ("05-planned", "several", "of.k = k;", "k"),
        ("01-movable", "kernel", "launch<32, 4>(", "p . data ( )"),
        ("01-carved", "matmul", "d_P = d_N", "d_N + elems"),
    ],
)
def test_origins_in_students_programs(part, name, line_part, words):
    source = (_CAUSES / "fresh" / f"{part}.cu").read_text()
    text = Listing(source)
    launch, item = _launch_of(text)
    assert launch.kernel == name
    wanted = {"04-padcopy": 3, "05-planned": 3, "01-movable": 2, "01-carved": 2}[part]
    path = (".", "k") if part == "05-planned" else ()
    outer = [
        number
        for number, row in enumerate(source.splitlines(), 1)
        if function_name(text.function_of(item)) + "<" in row and "static" not in row
    ]
    origins = Origins(text, text.named("solve"), (item.line, *outer))
    found = origins.of((*launch.given[wanted], *path), item)
    assert line_part in source.splitlines()[found.line - 1]
    assert " ".join(found.words) == words


@pytest.mark.parametrize(
    ("listed", "name", "words"),
    first_of([
        ("hosts-8", "padcopy-inner", "rounded up to a multiple of 16"),
        ("hosts-8", "tilesofp-m", "with k in place of l"),
        ("hosts-8", "driverlike-args", "&width, &per_thread}"),
        ("hosts-8", "planned-block", "with 8 P would be right"),
        ("fresh-46", "block-in-one-row", "with 16 x 16 of them P would be right"),
        ("fresh-49", "zhou-block-shape", "with 16 x 16, which are as many"),
        ("fresh-47", "lambda-flat-block", "the kernel counts 16 along y"),
        ("hosts-8", "bandpipe-turn", "another stream"),
        ("hosts-8", "carved-bytes", "256 bytes behind"),
    ]),
)  # fmt: skip
def test_a_mistake_in_a_students_program_is_named_with_its_line(listed, name, words, built):
    sys.path.insert(0, str(_CAUSES))
    import causes

    (mistake,) = [one for one in causes.mistakes(listed) if one.name == name]
    first = causes.opening(mistake)
    assert first.line in mistake.guilty and words in first.says


def test_calls_of_a_helper_are_changed_together_first():
    frames = [70, 80]
    ops = [
        {"op": "launch", "call": call, "grid": [1, 2, 1], "block": [1, 1, 1], "params": "",
         "relocations": []}
        for call in frames
    ]  # fmt: skip
    ops.append({"op": "error", "call": 80, "api": "cudaGetLastError"})  # of the same line
    seen = Seen(Case("a", "", 2, 2, 2), {"buffers": [], "ops": ops}, {"j": 2, "k": 2, "l": 2})
    of = Plans((seen,), {frames[0]: (3, 9), frames[1]: (3, 10)}, lambda tries: [])
    together = of.by_line()
    assert together.lines == {3: (3,)} and together.launch_calls() == [3]
    turned = next(changes.of_launches(together, [])).made(together.seen[0])
    assert [op["grid"] for op in turned["ops"][:2]] == [[2, 1, 1]] * 2
    assert together.by_line() is None


def test_a_number_that_is_no_int_is_what_c_keeps_of_it() -> None:
    op = {"op": "launch", "params": "0000000007000000"}
    assert word(with_word(op, 4, 2**33 + 5), 4) == 5
    assert word(with_word(op, 4, -1), 4) == 2**32 - 1


def test_tries_end_when_all_of_them_have_used_their_processor_time(tmp_path, monkeypatch):
    """Not by the clock, so that a busy machine finds what an idle one does."""
    case, carried_out = Case("c", "", 4, 4, 4), []

    def execute(*_, **__):
        carried_out.append(1)
        return SimpleNamespace(processor_seconds=tried_plans._ALL_SECONDS / 2)

    monkeypatch.setattr(tried_plans.execute, "execute", execute)
    job = Job("c", tmp_path, {}, tmp_path / "P.npy", tmp_path, 64)
    monkeypatch.setattr(tried_plans, "job_of", lambda *_: job)
    monkeypatch.setattr(
        tried_plans, "judge_one", lambda *_: SimpleNamespace(ran=True, diagnostics=())
    )
    session = SimpleNamespace(options=Options("sim"), course=None)
    tries = tried_plans._Tries(session, "", tmp_path, {"c": tmp_path / "plan.json"})
    found = [tries.are_right([(case, {})])[0] for _ in range(5)]
    assert found == [True, True, True, False, False] and len(carried_out) == 3


def test_all_calls_of_a_line_are_one_and_the_only_one_keeps_its_callers():
    lines = {_LAUNCH: (7, 20), _FILL: (5, 21), _COPY: (5, 22)}
    of = Plans(plans(lambda *given: None).seen, lines, lambda tries: [])
    merged = of.by_line()
    assert merged.lines == {7: (7, 20), 5: (5,)}
    assert [op["call"] for op in merged.seen[0].ops] == [5, 5, 7]
    alone = Plans(of.seen, {_LAUNCH: (7, 20), _FILL: (5, 21), _COPY: (6, 22)}, lambda tries: [])
    assert alone.by_line() is None
