"""Changes of the copies between host and device, and of the order of calls.

Most of them need no try: what leaves an element of the result without a copy, or an input that is needed on the
host, cannot be right (covered.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from grader.judging.plans.change import Change, changed
from grader.judging.plans.seen import Plans, Seen, Symbol
from grader.judging.plans.turns import (
    device_place,
    host_place,
    with_device_place,
    with_host_place,
)

_WORD = 4
_DOWN, _UP = "copy_h2d", "copy_d2h"
_MOVED = ("launch", _DOWN, _UP, "memset", "free")


def of_copies(plans: Plans) -> Iterator[Change]:
    """Each of one place in the code, wherever and how often solve asks for it."""
    places = _places_on_device(plans.seen[0])
    for kind, call in _calls(plans, (_DOWN, _UP)):
        yield from _other_arrays(plans, kind, call)
        yield from _other_buffers(plans, kind, call, places)
        yield Change("all-of-it", call, _whole(kind, call), of=kind)
    yield from _order(plans)
    for kind, call in _calls(plans, (_DOWN, _UP)):
        yield from _other_rows(plans, kind, call)


def _calls(plans: Plans, kinds: tuple[str, ...]) -> list[tuple[str, int]]:
    return list(
        dict.fromkeys(
            (op["op"], op["call"]) for op in plans.seen[0].ops if op["op"] in kinds and "call" in op
        )
    )


def _places_on_device(seen: Seen) -> list[tuple[int, int]]:
    """(buffer, place): where what a launch is given begins."""
    given = [(r["buffer"], r.get("addend", 0)) for op in seen.launches() for r in op["relocations"]]
    begins = [(one["id"], 0) for one in seen.fields["buffers"] if one.get("role") == "student"]
    return list(dict.fromkeys([*begins, *given]))


def _hosts(op: Mapping) -> list[str]:
    if op["op"] == _UP:
        return [op["host"]]
    return [part["host"] for part in op["segments"] if "host" in part]


def _other_arrays(plans: Plans, kind: str, call: int) -> Iterator[Change]:
    """Another one of solve's arrays on the host's side."""
    seen = plans.seen[0]
    problem = seen.case.problem
    own = {name for _, op in plans.at(call, kind) for name in _hosts(op)}
    of = problem.outputs if kind == _UP else problem.given
    for name in (one.name for one in of):
        if len(own) == 1 and name not in own:
            yield Change(
                "array", call, _with_array(kind, call, name), of=kind, was=min(own), better=name
            )


def _with_array(kind: str, call: int, name: str) -> Callable[[Seen], Mapping | None]:
    def other(op: dict) -> dict:
        if kind == _UP:
            return {**op, "host": name}
        parts = [{**one, "host": name} if "host" in one else one for one in op["segments"]]
        return {**op, "segments": parts}

    return lambda seen: changed(seen, call, other, kind)


def _other_buffers(
    plans: Plans, kind: str, call: int, places: list[tuple[int, int]]
) -> Iterator[Change]:
    """Another buffer on the device's side, or another part of one."""
    at = "buffer_offset" if kind == _UP else "offset"
    first = next(op for op in plans.seen[0].ops if (op["op"], op.get("call", 0)) == (kind, call))
    for number, (buffer, place) in enumerate(places):
        if (buffer, place) == (first["buffer"], first[at]):
            continue
        made = _with_buffer(kind, call, at, number)
        yield Change("buffer", call, made, of=kind, better=f"{buffer} {place}")


def _with_buffer(kind: str, call: int, at: str, number: int) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        places = _places_on_device(seen)
        if number >= len(places):
            return None
        buffer, place = places[number]
        own = [op[at] for op in seen.ops if (op["op"], op.get("call", 0)) == (kind, call)]

        def moved(op: dict) -> dict:
            return {**op, "buffer": buffer, at: place + op[at] - own[0]}

        return changed(seen, call, moved, kind)

    return made


def _whole(kind: str, call: int) -> Callable[[Seen], Mapping | None]:
    """All of an array in place of its first bytes, if there is room for it."""

    def made(seen: Seen) -> Mapping | None:
        sizes = {one["name"]: one["bytes"] for one in seen.fields["host"]}

        def all_of(op: dict) -> dict:
            hosts = _hosts(op)
            if len(hosts) != 1 or hosts[0] not in sizes:
                return op
            size = sizes[hosts[0]]
            if kind == _UP:
                return {**op, "bytes": size} if op["offset"] == 0 else op
            if len(op["segments"]) != 1 or op["segments"][0]["offset"]:
                return op
            return {**op, "bytes": size, "segments": [{**op["segments"][0], "bytes": size}]}

        return changed(seen, call, all_of, kind)

    return made


def _other_rows(plans: Plans, kind: str, call: int) -> Iterator[Change]:
    """Parts of a matrix that begin as many rows on, but rows of another length."""
    here = plans.at(call, kind)
    single = [one for one in plans.symbols if len(one.names) == 1]
    sides = [("device", device_place, with_device_place), ("host", host_place, with_host_place)]
    for side, get, give in sides:
        numbers = [(seen, get(op)) for seen, op in here]
        if not any(number for _, number in numbers):
            continue
        for was, better in itertools.permutations([*single, Symbol("1", ())], 2):
            if all(number % (_WORD * was.of(seen)) == 0 for seen, number in numbers):
                made = _scaled(kind, call, get, give, was, better)
                yield Change("begins", call, made, side, of=kind, was=was.text, better=better.text)


def _scaled(kind, call, get, give, was: Symbol, better: Symbol):
    def made(seen: Seen) -> Mapping | None:
        def moved(op: dict) -> dict:
            return give(op, get(op) // was.of(seen) * better.of(seen))

        return changed(seen, call, moved, kind)

    return made


def _order(plans: Plans) -> Iterator[Change]:
    """A call that is made before another one, or after it; in each turn of a loop."""
    calls = _calls(plans, _MOVED)
    counts = [
        {key: sum((op["op"], op.get("call", 0)) == key for op in seen.ops) for key in calls}
        for seen in plans.seen
    ]
    for one, other in itertools.permutations(calls, 2):
        if "launch" not in (one[0], other[0]) or any(of[one] != of[other] for of in counts):
            continue
        for way in ("before", "after"):
            if way == "after" and one[0] == "launch":
                continue  # the other one is moved before it
            yield Change("order", one[1], _moved(one, other, way), way, other=other[1], of=one[0])


def _moved(one: tuple[str, int], other: tuple[str, int], way: str):
    """Each turn's `one` right before or after the `other` of that turn; None where it is there."""

    def made(seen: Seen) -> Mapping | None:
        keys = [(op["op"], op.get("call", 0)) for op in seen.ops]
        moved = [at for at, key in enumerate(keys) if key == one]
        to = [at for at, key in enumerate(keys) if key == other]
        pairs = list(zip(moved, to, strict=False))
        if way == "before" and all(a < b for a, b in pairs):
            return None
        if way == "after" and all(a > b for a, b in pairs):
            return None
        behind: dict[int, int] = {}
        for a, b in pairs:
            behind[b] = a
        ops = []
        for at, op in enumerate(seen.ops):
            if at in moved:
                continue
            if at in behind and way == "before":
                ops.append(seen.ops[behind[at]])
            ops.append(op)
            if at in behind and way == "after":
                ops.append(seen.ops[behind[at]])
        return {**seen.fields, "ops": ops}

    return made
