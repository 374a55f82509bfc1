"""Changes of the pointers that a launch is given."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from grader.judging.plans.change import Change, changed
from grader.judging.plans.seen import Plans, Seen, Symbol


def exchanged_pointers(plans: Plans, call: int) -> Iterator[Change]:
    """Two pointers of a launch that are exchanged."""
    here = plans.at(call)
    first = here[0][1]["relocations"]
    if any(len(op["relocations"]) != len(first) for _, op in here):
        return
    for one, two in itertools.combinations(range(len(first)), 2):
        if any(_place(op, one) != _place(op, two) for _, op in here):
            yield Change(
                "pointers-exchanged", call, _swapped_places(call, one, two), "",
                first[one]["offset"], first[two]["offset"],
            )  # fmt: skip


_THREE = 3


def turned_pointers(plans: Plans, call: int) -> Iterator[Change]:
    """Three pointers in another order, each one place too far: (m, n, p) for (p, m, n)."""
    here = plans.at(call)
    if any(len(op["relocations"]) != _THREE for _, op in here):
        return
    for step in (1, 2):
        yield Change("pointers-turned", call, _turned_places(call, step))


def _turned_places(call: int, step: int) -> Callable[[Seen], Mapping | None]:
    def turned(op: dict) -> dict:
        places = [_place(op, (number + step) % _THREE) for number in range(_THREE)]
        for number, place in enumerate(places):
            op = _at_place(op, number, place)
        return op

    return lambda seen: changed(seen, call, turned)


def other_pointers(plans: Plans, call: int) -> Iterator[Change]:
    """A pointer that is to point to another buffer's begin."""
    here = plans.at(call)
    first = here[0][1]["relocations"]
    if any(len(op["relocations"]) != len(first) for _, op in here):
        return
    begins = [one["id"] for one in plans.seen[0].fields["buffers"] if one.get("role") != "symbol"]
    for number, r in enumerate(first):
        for buffer in begins:
            if (buffer, 0) != _place(here[0][1], number):
                yield Change(
                    "pointer", call, _with_begin(call, number, buffer), "", r["offset"],
                    better=str(buffer),
                )  # fmt: skip


def _place(op: Mapping, number: int) -> tuple[int, int]:
    r = op["relocations"][number]
    return r["buffer"], r.get("addend", 0)


def _at_place(op: dict, number: int, place: tuple[int, int]) -> dict:
    found = [dict(r) for r in op["relocations"]]
    found[number]["buffer"], found[number]["addend"] = place
    return {**op, "relocations": found}


def _swapped_places(call: int, one: int, two: int) -> Callable[[Seen], Mapping | None]:
    def swap(op: dict) -> dict:
        return _at_place(_at_place(op, one, _place(op, two)), two, _place(op, one))

    return lambda seen: changed(seen, call, swap)


def _with_begin(call: int, number: int, buffer: int) -> Callable[[Seen], Mapping | None]:
    return lambda seen: changed(seen, call, lambda op: _at_place(op, number, (buffer, 0)))


def places(plans: Plans, call: int) -> Iterator[Change]:
    """A pointer that goes on by so many rows of another length, or as far as another one does."""
    here = plans.at(call)
    first = here[0][1]["relocations"]
    if any(len(op["relocations"]) != len(first) for _, op in here):
        return
    single = [one for one in plans.symbols if len(one.names) == 1]
    one = Symbol("1", ())
    for number, r in enumerate(first):
        places = [(seen, _far(seen, op, r["buffer"], number)) for seen, op in here]
        if any(place for _, place in places):
            for was, better in itertools.permutations([*single, one], 2):
                if all(place % (_WORD * was.of(seen)) == 0 for seen, place in places):
                    made = _scaled(call, number, r["buffer"], was, better)
                    yield Change("scaled", call, made, "", r["offset"], -1, was.text, better.text)
        for other, like in enumerate(first):
            if any(
                _place(op, other)[1] != place
                for (_, op), (_, place) in zip(here, places, strict=True)
            ):
                made = _as_far(call, number, other)
                yield Change("as-far", call, made, "", r["offset"], like["offset"])


_WORD = 4


def _far(seen: Seen, op: Mapping, buffer: int, number: int) -> int:
    """How far behind a buffer's begin: what leaves it may be told as a place in another one."""
    own, addend = _place(op, number)
    if own == buffer:
        return addend
    of, base = seen.buffer(own), seen.buffer(buffer)
    return int(of["address"], 16) + addend - int(base["address"], 16) if of and base else addend


def _scaled(
    call: int, number: int, buffer: int, was: Symbol, better: Symbol
) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        def moved(op: dict) -> dict:
            far = _far(seen, op, buffer, number)
            return _at_place(op, number, (buffer, far // was.of(seen) * better.of(seen)))

        return changed(seen, call, moved)

    return made


def _as_far(call: int, number: int, other: int) -> Callable[[Seen], Mapping | None]:
    def moved(op: dict) -> dict:
        return _at_place(op, number, (_place(op, number)[0], _place(op, other)[1]))

    return lambda seen: changed(seen, call, moved)


def walking(plans: Plans, call: int) -> Iterator[Change]:
    """A pointer that is the same in each launch of a loop, and is to go on from one to the next."""
    here = plans.at(call)
    first = here[0][1]["relocations"]
    if any(len(op["relocations"]) != len(first) for _, op in here):
        return
    for number, r in enumerate(first):
        of_case: dict[str, list[tuple[int, int]]] = {}
        for seen, op in here:
            of_case.setdefault(seen.case.id, []).append(_place(op, number))
        if max(map(len, of_case.values())) < 2 or any(
            len(set(one)) > 1 for one in of_case.values()
        ):
            continue
        for symbol in plans.symbols:
            made = _going_on(call, number, symbol)
            yield Change("walks", call, made, "", r["offset"], better=symbol.text)


def _going_on(call: int, number: int, symbol: Symbol) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        turn = itertools.count()

        def moved(op: dict) -> dict:
            buffer, addend = _place(op, number)
            return _at_place(op, number, (buffer, addend + next(turn) * _WORD * symbol.of(seen)))

        return changed(seen, call, moved)

    return made
