"""Changes of copies, of their order and of a loop's turns: each mends a plan with its fault.

A plan here is carried out by a comparison with the right one.
"""

from __future__ import annotations

import copy
import struct

import pytest

from grader.judging.plans import copies, missing, pitches, pointers, turns
from grader.judging.plans.change import Change
from grader.judging.plans.covered import moves_all
from grader.judging.plans.seen import Plans, Seen
from grader.labs.lab import Case

WIDTHS = (40, 50, 70)
BAND = 16
_M, _N, _BACK, _LAUNCH, _FREE = 11, 12, 13, 14, 15


def _copy(kind: str, host: str, begin: int, size: int, buffer: int, call: int) -> dict:
    fields = {"op": kind, "buffer": buffer, "bytes": size, "stream": 0, "call": call}
    if kind == "copy_d2h":
        return {**fields, "host": host, "offset": begin, "buffer_offset": 0}
    part = {"host": host, "offset": begin, "bytes": size}
    return {**fields, "offset": 0, "segments": [part]}


def plan(n: int) -> dict:
    """N at once, then bands of rows: a part of M, a launch, a part of P."""
    size = 4 * n * n
    ops = [_copy("copy_h2d", "N", 0, size, 1, _N)]
    for first in range(0, n, BAND):
        rows = min(BAND, n - first)
        begin, part = 4 * first * n, 4 * rows * n
        params = bytes(24) + struct.pack("<3i", n, rows, first)
        ops += [
            _copy("copy_h2d", "M", begin, part, 0, _M),
            {"op": "launch", "call": _LAUNCH, "kernel": "1k", "grid": [3, 3, 1], "block": [16, 16, 1],
             "params": params.hex(), "stream": 0,
             "relocations": [{"offset": 8 * at, "buffer": at, "addend": 0} for at in range(3)]},
            _copy("copy_d2h", "P", begin, part, 2, _BACK),
        ]  # fmt: skip
    ops += [{"op": "free", "buffer": 2, "call": _FREE}]
    rooms = (4 * BAND * n, size, 4 * BAND * n)
    return {
        "buffers": [
            {"id": at, "name": f"cudaMalloc #{at + 1}", "bytes": room, "address": hex(1 << 20 + at),
             "role": "student"}
            for at, room in enumerate(rooms)
        ],
        "host": [{"name": name, "bytes": size} for name in "MNP"],
        "ops": ops,
    }  # fmt: skip


def plans(wrong) -> Plans:
    """With a fault in each; `wrong` changes the ops of a plan in place."""
    right = {str(n): plan(n) for n in WIDTHS}
    seen = []
    for n in WIDTHS:
        fields = copy.deepcopy(plan(n))
        wrong(fields["ops"], n)
        seen.append(Seen(Case(str(n), "", n, n, n), fields, {"width": n}))
    return Plans(
        tuple(seen), {}, lambda tries: [fields == right[case.id] for case, fields in tries]
    )


def mends(of: Plans) -> list[Change]:
    """Those that are tried at all, too: what they ask for moves all that has to be moved."""
    found = []
    every = [*missing.of_missing(of), *copies.of_copies(of), *turns.of_turns(of, [32, BAND])]
    for one in every:
        made = [(seen, one.made(seen) or seen.fields) for seen in of.seen]
        if all(of.are_right([(seen.case, fields) for seen, fields in made])):
            assert all(moves_all(seen, fields) for seen, fields in made)
            found.append(one)
    return found


def _of(call: int):
    return lambda ops: [op for op in ops if op["call"] == call]


def _other_array(ops, n):
    _of(_N)(ops)[0]["segments"][0]["host"] = "M"


def _other_target(ops, n):
    _of(_N)(ops)[0]["buffer"] = 2


def _other_source(ops, n):
    for op in _of(_BACK)(ops):
        op["buffer"] = 0


def _one_row(ops, n):
    op = _of(_N)(ops)[0]
    op["bytes"] = op["segments"][0]["bytes"] = 4 * n


def _early(ops, n):
    for back in _of(_BACK)(ops):
        at = next(i for i, op in enumerate(ops) if op is back)
        ops[at - 1 : at + 1] = [back, ops[at - 1]]


def _always_the_first(ops, n):
    for op in _of(_M)(ops):
        op["segments"][0]["offset"] = 0


def _rows_for_elements(ops, n):
    for op in _of(_BACK)(ops):
        op["offset"] //= n


def _one_too_few(ops, n):
    end = next(i for i, op in enumerate(ops) if op["call"] == _FREE)
    del ops[end - 3 : end]


def _other_step(ops, n):
    for op in _of(_LAUNCH)(ops):
        block = bytearray.fromhex(op["params"])
        struct.pack_into("<i", block, 32, struct.unpack_from("<i", block, 32)[0] * 2)
        op["params"] = block.hex()


@pytest.mark.parametrize(
    ("wrong", "kind", "call"),
    [
        (_other_array, "array", _N),
        (_other_target, "buffer", _N),
        (_other_source, "buffer", _BACK),
        (_one_row, "all-of-it", _N),
        (_early, "order", _BACK),
        (_always_the_first, "parts", _M),
        (_rows_for_elements, "begins", _BACK),
        (_one_too_few, "turn", _LAUNCH),
        (_other_step, "step", _LAUNCH),
    ],
)
def test_each_fault_has_its_change(wrong, kind, call):
    assert (kind, call) in [(one.kind, one.call) for one in mends(plans(wrong))]


def test_a_right_plan_moves_all_and_a_change_of_it_is_another_plan():
    of = plans(lambda ops, n: None)
    assert all(moves_all(seen, seen.fields) for seen in of.seen)
    made = [one.made(of.seen[0]) for one in [*copies.of_copies(of), *turns.of_turns(of, [32])]]
    assert len([one for one in made if one is not None]) > 5
    assert of.seen[0].fields not in made


@pytest.mark.parametrize("wrong", [_other_array, _one_row, _one_too_few, _always_the_first])
def test_what_does_not_move_all_is_not_tried(wrong):
    of = plans(wrong)
    assert not any(moves_all(seen, seen.fields) for seen in of.seen)


def test_what_leaves_its_buffer_is_not_tried():
    of = plans(lambda ops, n: _of(_M)(ops)[0].update(buffer=2, offset=4 * n * BAND))
    assert not any(moves_all(seen, seen.fields) for seen in of.seen)


def _once(n: int, without: str) -> Plans:
    """All at once, without one kind of call."""
    size = 4 * n * n
    ops = [{"op": "malloc", "buffer": at, "call": 20 + at} for at in range(3)]
    ops += [_copy("copy_h2d", name, 0, size, at, 30 + at) for at, name in enumerate("MN")]
    ops += [
        {
            "op": "memset",
            "buffer": 2,
            "offset": 0,
            "value": 0,
            "bytes": size,
            "stream": 0,
            "call": 40,
        }
    ]
    ops += [op for op in plan(n)["ops"] if op["op"] == "launch"][:1]
    ops += [_copy("copy_d2h", "P", 0, size, 2, 50)]
    buffers = [
        {"id": at, "name": f"cudaMalloc #{at + 1}", "bytes": size, "role": "student"}
        for at in range(3)
    ]
    fields = {**plan(n), "buffers": buffers, "ops": [op for op in ops if op["op"] != without]}
    return Plans((Seen(Case("a", "", n, n, n), fields, {"width": n}),), {}, lambda tries: [])


@pytest.mark.parametrize(
    ("without", "kind", "call", "better"),
    [("copy_h2d", "not-copied", 20, "M"), ("copy_d2h", "not-fetched", _LAUNCH, "P"), ("memset", "not-set", 22, "")],
)  # fmt: skip
def test_what_a_plan_lacks_is_put_where_it_belongs(without, kind, call, better):
    of = _once(40, without)
    (seen,) = of.seen
    found = [one for one in missing.of_missing(of) if (one.kind, one.better) == (kind, better)]
    assert call in [one.call for one in found]
    kinds = [op["op"] for op in found[0].made(seen)["ops"]]
    at, launch = kinds.index(without), kinds.index("launch")
    assert at > launch if without == "copy_d2h" else at < launch
    assert (without == "memset") == moves_all(seen, seen.fields)
    whole = _once(40, "")
    assert list(missing.of_missing(whole)) == []


def _of_pitched(n: int, back: int) -> dict:
    """N in rows 512 bytes apart, and P's rows taken `back` bytes apart; 4 * n: in one piece."""
    line = 4 * n
    ops = []
    for row in range(n):
        part = {"host": "N", "offset": row * line, "bytes": line}
        ops.append(
            {"op": "copy_h2d", "buffer": 0, "offset": row * 512, "bytes": line, "segments": [part],
             "stream": 0, "call": _N}
        )  # fmt: skip
    pieces = [(0, n * line)] if back == line else [(row, line) for row in range(n)]
    for row, size in pieces:
        ops.append(
            {"op": "copy_d2h", "host": "P", "offset": row * line, "buffer": 1,
             "buffer_offset": row * back, "bytes": size, "stream": 0, "call": _BACK}
        )  # fmt: skip
    rooms = [{"id": at, "bytes": 512 * n, "role": "student"} for at in range(2)]
    return {"buffers": rooms, "host": [], "ops": ops}


@pytest.mark.parametrize(("way", "wrong", "right"), [("pitch", 0, 512), ("close", 512, 0)])
def test_rows_that_lie_another_distance_apart(way, wrong, right):
    for n in WIDTHS:
        case = Case(str(n), "", n, n, n)
        fields = _of_pitched(n, wrong or 4 * n)
        of = Plans((Seen(case, fields, {"width": n}),), {}, lambda tries: [])
        made = {
            (one.kind, one.call): plan
            for one in pitches.of_pitches(of)
            if (plan := one.made(of.seen[0])) is not None
        }
        begins = [
            (op["offset"], op["buffer_offset"])
            for op in made[way, _BACK]["ops"]
            if op["op"] == "copy_d2h"
        ]
        assert begins == [(4 * n * row, (right or 4 * n) * row) for row in range(n)]
        assert (way, _N) not in made or way == "close"


def test_a_pointer_that_does_not_go_on_from_launch_to_launch():
    def stands(ops, n):
        for op in _of(_LAUNCH)(ops):
            op["relocations"][2]["addend"] = 8

    of = plans(stands)
    made = {
        one.better: one.made(of.seen[0])
        for one in pointers.walking(of, _LAUNCH)
        if one.kind == "walks" and one.offset == 16
    }
    places = [op["relocations"][2]["addend"] for op in _of(_LAUNCH)(made["width"]["ops"])]
    assert places == [8 + 4 * 40 * turn for turn in range(3)]
    one = plans(lambda ops, n: None)
    for turn, op in enumerate(_of(_LAUNCH)(one.seen[0].ops)):
        op["relocations"][2]["addend"] = turn
    assert not any(change.offset == 16 for change in pointers.walking(one, _LAUNCH))
