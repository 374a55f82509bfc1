"""Changes of what a loop of solve asks for: where each of its parts begins, and how many parts there are."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from grader.judging.plans import pointers
from grader.judging.plans.change import Change, changed
from grader.judging.plans.seen import Plans, Seen, Symbol, integers_of, with_word, word

_WORD = 4
_COPIES = ("copy_h2d", "copy_d2h")
_MOST_STEPS = 4


def of_turns(plans: Plans, units: list[int]) -> Iterator[Change]:
    yield from _behind_each_other(plans)
    yield from _one_more(plans)
    yield from _steps(plans, units)
    for _, call in _repeated(plans, ("launch",)):
        yield from pointers.walking(plans, call)


def _repeated(plans: Plans, kinds: tuple[str, ...]) -> list[tuple[str, int]]:
    """The calls that a loop makes: several times in a case."""
    counts: dict[tuple[str, int], int] = {}
    for op in plans.seen[0].ops:
        if op["op"] in kinds and "call" in op:
            key = op["op"], op["call"]
            counts[key] = counts.get(key, 0) + 1
    return [key for key, count in counts.items() if count > 1]


def _behind_each_other(plans: Plans) -> Iterator[Change]:
    """Parts of an array, each of which is to begin where the one before it ends; or all at one place."""
    for kind, call in _repeated(plans, _COPIES):
        for side in ("host", "device"):
            made = _in_a_row(kind, call, side)
            yield Change("parts", call, made, side, of=kind)
        yield Change("parts", call, _in_a_row(kind, call, "device", True), "begin", of=kind)


def host_place(op: Mapping) -> int:
    if op["op"] == "copy_d2h":
        return op["offset"]
    return next((one["offset"] for one in op["segments"] if "host" in one), 0)


def with_host_place(op: dict, place: int) -> dict:
    if op["op"] == "copy_d2h":
        return {**op, "offset": place}
    by = place - host_place(op)
    parts = [
        {**one, "offset": one["offset"] + by} if "host" in one else one for one in op["segments"]
    ]
    return {**op, "segments": parts}


def device_place(op: Mapping) -> int:
    return op["buffer_offset" if op["op"] == "copy_d2h" else "offset"]


def with_device_place(op: dict, place: int) -> dict:
    return {**op, "buffer_offset" if op["op"] == "copy_d2h" else "offset": place}


def _in_a_row(kind: str, call: int, side: str, at_begin: bool = False):
    get, give = (
        (host_place, with_host_place) if side == "host" else (device_place, with_device_place)
    )

    def made(seen: Seen) -> Mapping | None:
        at = [-1]

        def behind(op: dict) -> dict:
            place = get(op) if at[0] < 0 else at[0]
            at[0] = place + (0 if at_begin else op["bytes"])
            return give(op, place)

        return changed(seen, call, behind, kind)

    return made


@dataclass(frozen=True)
class _Loop:
    calls: tuple[tuple[str, int], ...]

    def turns(self, seen: Seen) -> list[list[dict]]:
        of = [[op for op in seen.ops if (op["op"], op.get("call", 0)) == key] for key in self.calls]
        return [list(turn) for turn in zip(*of, strict=True)]


def _loop(plans: Plans) -> _Loop | None:
    """What is asked for as often as the kernel is launched, wherever it is launched in a loop."""
    launches = _repeated(plans, ("launch",))
    if not launches:
        return None

    def counts(key: tuple[str, int]) -> list[int]:
        return [sum((op["op"], op.get("call", 0)) == key for op in one.ops) for one in plans.seen]

    wanted = counts(launches[0])
    same = [
        key
        for key in _repeated(plans, ("launch", "memset", "copy_d2d", *_COPIES))
        if counts(key) == wanted
    ]
    return _Loop(tuple(same))


def _one_more(plans: Plans) -> Iterator[Change]:
    """One turn more, that goes on as the others do, with what is left."""
    loop = _loop(plans)
    if loop is None:
        return
    call = next(number for kind, number in loop.calls if kind == "launch")
    launch = plans.at(call)[0][1]
    counted = [at for at in integers_of(launch) if _is_constant(plans, call, at)]
    for at in (-1, *counted):
        yield Change("turn", call, _with_turn(loop, at), offset=at)


def _is_constant(plans: Plans, call: int, at: int) -> bool:
    """Whether a number is the same in each turn of the first case, and more than 1."""
    here = {word(op, at) for seen, op in plans.at(call) if seen is plans.seen[0]}
    return len(here) == 1 and min(here) > 1


def _with_turn(loop: _Loop, at: int) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        turns = loop.turns(seen)
        if len(turns) < 2:
            return None
        *_, before, last = turns
        sizes = {one["name"]: one["bytes"] for one in seen.fields["host"]}
        more = [_gone_on(a, b, sizes) for a, b in zip(before, last, strict=True)]
        shares = [
            new["bytes"] / old["bytes"]
            for new, old in zip(more, last, strict=True)
            if new is not None and new["op"] in _COPIES and old["bytes"]
        ]
        if None in more:
            return None
        share = min(shares, default=1.0)
        if at >= 0:
            more = [_with_share(op, at, share, seen) for op in more]
            if None in more:
                return None
        end = max(n for n, op in enumerate(seen.ops) if any(op is one for one in last))
        ops = [*seen.ops[: end + 1], *more, *seen.ops[end + 1 :]]
        return {**seen.fields, "ops": ops}

    return made


def _with_share(op: dict, at: int, share: float, seen: Seen) -> dict | None:
    """How many rows are left; of a kernel's launch only."""
    if op["op"] != "launch":
        return op
    own = word(op, at)
    if share < 1:
        return with_word(op, at, max(1, round(own * share)))
    rests = [number % own for number in seen.sizes.values() if number > own and number % own]
    return with_word(op, at, rests[0]) if rests else None


def _gone_on(before: dict, last: dict, sizes: Mapping[str, int]) -> dict | None:
    """The op of the turn after these two."""
    if last["op"] in _COPIES:
        hosts = [last["host"]] if last["op"] == "copy_d2h" else [
            one["host"] for one in last["segments"] if "host" in one
        ]  # fmt: skip
        if len(hosts) != 1 or hosts[0] not in sizes:
            return None
        place = 2 * host_place(last) - host_place(before)
        size = min(last["bytes"], sizes[hosts[0]] - place)
        if size <= 0:
            return None
        new = with_host_place(last, place)
        new = with_device_place(new, 2 * device_place(last) - device_place(before))
        new = {**new, "bytes": size}
        if "segments" in new:
            new["segments"] = [{**new["segments"][0], "bytes": size}]
        return new
    if last["op"] != "launch" or len(last["params"]) != len(before["params"]):
        return dict(last)
    new = last
    for at in integers_of(last):
        new = with_word(new, at, max(0, 2 * word(last, at) - word(before, at)))
    places = [
        {**r, "addend": 2 * r.get("addend", 0) - old.get("addend", 0)}
        for r, old in zip(last["relocations"], before["relocations"], strict=True)
    ]
    return {**new, "relocations": places}


def _steps(plans: Plans, units: list[int]) -> Iterator[Change]:
    """A number of the kernel's that goes on by the same from turn to turn: by another step."""
    for _, call in _repeated(plans, ("launch",)):
        here = plans.at(call)
        for at in integers_of(here[0][1]):
            steps = {_step_of(one, call, at) for one in plans.seen} - {None}
            if len(steps) != 1 or 0 in steps:
                continue
            (step,) = steps
            for unit in itertools.islice((one for one in units if one != step), _MOST_STEPS):
                made = _stepped(call, at, step, unit, _rests(plans, call, at))
                yield Change("step", call, made, "", at, was=str(step), better=str(unit))


def _step_of(seen: Seen, call: int, at: int) -> int | None:
    """0: it does not go on evenly; None: there is one turn only."""
    given = [word(op, at) for op in seen.launches() if op.get("call", 0) == call]
    steps = {b - a for a, b in itertools.pairwise(given)}
    if not steps:
        return None
    return steps.pop() if len(steps) == 1 and given[0] == 0 else 0


def _rests(plans: Plans, call: int, at: int) -> list[tuple[int, Symbol, int]]:
    """(offset, size, most) of numbers that are what is left of a size from there, or a whole part."""
    here = plans.at(call)
    found = []
    for other in integers_of(here[0][1]):
        most = max(word(op, other) for _, op in here)
        for size in (one for one in plans.symbols if len(one.names) == 1):
            left = [min(most, size.of(seen) - word(op, at)) for seen, op in here]
            if other != at and left == [word(op, other) for _, op in here] and len(set(left)) > 1:
                found.append((other, size, most))
    return found


def _stepped(
    call: int, at: int, step: int, unit: int, rests: list[tuple[int, Symbol, int]]
) -> Callable[[Seen], Mapping | None]:
    """With what depends on it."""

    def made(seen: Seen) -> Mapping | None:
        def go_on(op: dict) -> dict:
            place = word(op, at) // step * unit
            op = with_word(op, at, place)
            for other, size, most in rests:
                op = with_word(op, other, max(0, min(most, size.of(seen) - place)))
            return op

        return changed(seen, call, go_on)

    return made
