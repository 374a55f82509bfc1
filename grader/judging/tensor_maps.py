"""Tensor maps that solve makes: one whose boxes do not fit, that speaks of memory that is not there, or is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.judging.host import Host, Said
from grader.judging.plans.origin import Origins
from grader.judging.wording import calls as calls_in
from grader.labs.layout import parts_at
from grader.labs.statements import Listing, Statement, function_name, shown
from grader.results.finding import Cause, Facts, Share, ShareKind
from grader.running.host_calls import HostCalls, HostMap

_MOST_ROWS = 256  # of a box
_STRIDE = re.compile(r"globalStrides\[0\] is (\d+) bytes?")
_ALL_OF_THEM = "Announce exactly the bytes of the copies that count on this barrier in this phase, all of them, once."
# Which argument is the distance of the rows: of the course's make_map, and of the driver's call.
_MAKES = {"make_map": 3, "cuTensorMapEncodeTiled": 5}


def copies(facts: Facts | None) -> list[Share]:
    """The copies by tensor maps that a finding's numbers are made of."""
    shares = facts.shares if facts is not None else ()
    return [one for one in shares if one.kind is ShareKind.COPY and len(one.box) > 1]


def wrong_box(source: str, facts: Facts, seen: HostCalls) -> Said | None:
    """Other bytes arrive than are announced: the map whose box does not fit its place, or the announcement."""
    found = copies(facts)
    if facts.cause not in (Cause.BYTES_LACK, Cause.BYTES_TOO_MANY) or not facts.limit:
        return None
    if len(found) != len(facts.shares) or not found:
        return None
    arrived = sum(one.amount for one in found)
    lack = facts.amount if facts.cause is Cause.BYTES_LACK else -facts.amount
    if arrived + lack != facts.limit:
        return None  # some bytes come otherwise
    by_map: dict[int, list[Share]] = {}
    for one in found:
        by_map.setdefault(one.parameter, []).append(one)
    misfits = [
        (parameter, room)
        for parameter, of in by_map.items()
        if (room := _room(source, of, lack)) is not None
    ]
    if not misfits and facts.other_line and all(_fits(source, of) for of in by_map.values()):
        return Said(
            f"{facts.limit} bytes are announced here, and the copies of the phase bring {arrived}, each "
            f"as many as its place has: {_listed(found)}.",
            facts.other_line,
            _ALL_OF_THEM,
        )
    made = _maps(seen)
    if len(misfits) != 1 or misfits[0][0] not in made:
        return None
    parameter, room = misfits[0]
    line = _line(made[parameter], made)
    if not line:
        return None
    first = by_map[parameter][0]
    return Said(
        f"Boxes of this map have {_by(first.box)} elements, {first.amount} bytes, and their place in "
        f"shared memory has {room}. The copies of the phase: {_listed(found)}; {facts.limit} bytes are "
        "announced.",
        line,
        "A box has as many columns and rows as the tile that it fills; its sizes begin with the columns.",
    )


def _room(source: str, of: Sequence[Share], lack: int) -> int | None:
    """Bytes that each copy of a map would have to bring, if its place has room for just so many."""
    if lack % len(of) or len({one.amount for one in of}) != 1:
        return None
    wanted = of[0].amount + lack // len(of)
    row = of[0].amount // of[0].box[-1]
    if wanted <= 0 or wanted > _MOST_ROWS * row:
        return None
    places = [parts_at(source, one.array, one.array_bytes, one.place) for one in of]
    if all(places):
        return wanted if not _fits(source, of) and all(wanted in one for one in places) else None
    return wanted if all(one.room == wanted for one in of) else None


def _fits(source: str, of: Sequence[Share]) -> bool:
    """Whether what copies of a map bring has just its place in the text's declarations."""
    return all(one.amount in parts_at(source, one.array, one.array_bytes, one.place) for one in of)


def beyond(facts: Facts, shapes: Mapping[str, Sequence[int]], seen: HostCalls) -> Said | None:
    """A copy leaves its memory, because the map speaks of more than there is."""
    found = copies(facts)
    if len(found) != 1 or len(found[0].sizes) != 2 or facts.cause is not Cause.PAST_END:
        return None
    (one,) = found
    columns, rows = one.sizes
    needed = (rows - 1) * one.pitch + columns * one.element_bytes
    if needed <= facts.array_bytes or (rows, columns) in {
        tuple(shape) for shape in shapes.values()
    }:
        return None  # the memory is what is too small
    made = _maps(seen)
    line = _line(made[one.parameter], made) if one.parameter in made else 0
    if not line:
        return None
    return Said(
        f"This map speaks of {rows} rows of {columns} elements, {one.pitch} bytes apart: that is "
        f"{needed} bytes, and the memory has {facts.array_bytes}.",
        line,
        "The sizes of a map begin with the inner dimension: first the length of a row, then the number "
        "of rows.",
    )


def _maps(seen: HostCalls) -> dict[int, HostMap]:
    """By their place in the parameter block, of the launch that has maps; none if that is not clear."""
    launches = [one for one in seen.of("launch") if one.maps]
    return {one.place: one for one in launches[0].maps} if len(launches) == 1 else {}


def _line(one: HostMap, made: Mapping[int, HostMap]) -> int:
    """Where a map is made; where a helper makes several of them, the line that calls it for this one."""
    if not one.lines:
        return 0
    same = [other for other in made.values() if other.lines[:1] == one.lines[:1]]
    return one.lines[0] if len(same) == 1 else one.lines[-1]


def _by(sizes: Sequence[int]) -> str:
    return " x ".join(str(size) for size in sizes)


def _listed(found: Sequence[Share]) -> str:
    by_line: dict[int, list[int]] = {}
    for one in found:
        by_line.setdefault(one.line, []).append(one.amount)
    parts = [f"line {line} brings {_times(amounts)} bytes" for line, amounts in by_line.items()]
    return ", ".join(parts)


def _times(amounts: Sequence[int]) -> str:
    if len(amounts) > 1 and len(set(amounts)) == 1:
        return f"{len(amounts)} times {amounts[0]}"
    return " + ".join(str(one) for one in amounts)


def refused_pitch(
    text: Listing, host: Host, message: str, line: int, lines: Sequence[int]
) -> Said | None:
    """The line in which the distance of a map's rows was worked out, where the driver refuses it."""
    bytes_apart = _STRIDE.search(message)
    if bytes_apart is None or int(bytes_apart[1]) % 16 == 0:
        return None
    for item in text.at(line):
        for name, place in _MAKES.items():
            for given in calls_in(item, name):
                if place >= len(given):
                    continue
                made = _worked_out(text, host, given[place], item, lines or (line,))
                if made is None:
                    continue
                where, words = made
                where, words = _rounding(text, words) or made
                return Said(
                    f"{shown(words)}: rows so long are {bytes_apart[1]} bytes apart here, "
                    "and the copy engine needs a multiple of 16 bytes.",
                    where,
                    "Count in elements of the map's type: how many of them are 16 bytes?",
                )
    return None


def _rounding(text: Listing, words: Sequence[str]) -> tuple[int, tuple[str, ...]] | None:
    """What the file's own function returns that is given nothing but a count: it is to round it up."""
    value = tuple(words[2:]) if words[1:2] == ("=",) else tuple(words)
    if len(value) < 4 or value[1] != "(" or value[-1] != ")" or "," in value:
        return None
    functions = [one for one in text.functions() if function_name(one) == value[0]]
    returns = [
        item
        for one in functions
        for item in text.inside(one)
        if item.words[:1] == ("return",) and len(item.words) > 3
    ]
    return (returns[0].line, value) if len(functions) == len(returns) == 1 else None


def _worked_out(
    text: Listing, host: Host, words: Sequence[str], near: Statement, lines: Sequence[int]
) -> tuple[int, tuple[str, ...]] | None:
    """(line, the assignment) of the number behind an argument."""
    for _ in range(4):
        if len(words) != 1 or not words[0].isidentifier():
            return (near.line, tuple(words)) if words else None
        name = words[0]
        function = text.function_of(near)
        given = [one for one in text.assignments(name, function) if one.number < near.number]
        if given and given[-1].words[1:2] == ("=",):
            last = given[-1]
            value = last.words[2:-1] if last.words[-1:] == (";",) else last.words[2:]
            if len(value) != 1:
                return last.line, (name, "=", *value)
            words, near = value, last
            continue
        known = text.declaration(name, near)
        if known is not None and known[1]:
            value = _number_of(known[1])
            if len(value) != 1:
                return known[0], (name, "=", *value)
            words = value
            near = next(iter(text.at(known[0])), near)
            continue
        origin = Origins(text, host.solve, lines).of(words, near)
        if tuple(origin.words) == tuple(words):
            return None
        words, near = origin.words, origin.near
    return None


def _number_of(words: Sequence[str]) -> tuple[str, ...]:
    """Of { pitch * sizeof(bf16) } the pitch; other expressions as they are."""
    if words[:1] != ("{",):
        return tuple(words)
    names = [one for one in words if one.isidentifier() and ("pitch" in one or "ld" in one)]
    return (names[0],) if len(names) == 1 else tuple(words)
