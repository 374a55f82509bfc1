"""The changes of a plan that are tried: each of one call, wherever and how often solve makes it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from grader.judging.plans import pointers
from grader.judging.plans.change import Change, changed
from grader.judging.plans.seen import Plans, Seen, Symbol, integers_of, with_word, word

_MOST_THREADS = 1024
_MOST_UNITS = 12
_MOST_ROWS = 8
_AXES = "xy"


def of_launches(plans: Plans, units: list[int], axes: str = _AXES) -> Iterator[Change]:
    """`units`: numbers that the text has, which may be those of a tile. `axes`: that the kernels count blocks by."""
    for call in plans.launch_calls():
        yield from exchanged_sides(call)
        yield from _exchanged_sizes(plans, call)
        yield from _numbers(plans, call, units)
        yield from _sides(plans, call, units, axes)
        yield from pointers.exchanged_pointers(plans, call)
        yield from pointers.turned_pointers(plans, call)
        yield from pointers.places(plans, call)
        yield from _shared(plans, call)
        yield from _block_sides(plans, call, units)
        yield from _rows_of_block(plans, call)
    for call in plans.launch_calls():
        yield from _unclear_numbers(plans, call)
        yield from pointers.other_pointers(plans, call)


def exchanged_sides(call: int) -> Iterator[Change]:
    def turned(name: str) -> Callable[[Seen], Mapping | None]:
        def made(seen: Seen) -> Mapping | None:
            return changed(
                seen, call, lambda op: {**op, name: [op[name][1], op[name][0], *op[name][2:]]}
            )

        return made

    yield Change("grid-exchanged", call, turned("grid"))
    yield Change("block-exchanged", call, turned("block"))

    def both(seen: Seen) -> Mapping | None:
        return changed(seen, call, lambda op: {**op, "grid": op["block"], "block": op["grid"]})

    yield Change("grid-for-block", call, both)


def _exchanged_sizes(plans: Plans, call: int) -> Iterator[Change]:
    """Two of solve's sizes, each for the other in all that a launch is given: an object made with them exchanged."""
    here, known = plans.at(call), _known(plans, call)
    single = [one for one in plans.symbols if len(one.names) == 1]
    for one, two in itertools.combinations(single, 2):
        turned = {one: two, two: one}
        words = {at: turned[own] for at, own in known.items() if own in turned}
        sides = {
            axis: (turned[own], unit)
            for axis in range(len(_AXES))
            for own in turned
            if (unit := here[0][1]["block"][axis])
            and _up(here, own, unit) == [op["grid"][axis] for _, op in here]
        }
        if len(sides) == len(_AXES):
            yield Change("grid-of-other-sizes", call, _with_sizes(call, {}, sides))
        if len(words) > 1 and sides:
            made = _with_sizes(call, words, sides)
            yield Change("sizes-exchanged", call, made, "", min(words), -1, one.text, two.text)


def _with_sizes(
    call: int, words: Mapping[int, Symbol], sides: Mapping[int, tuple[Symbol, int]]
) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        def turned(op: dict) -> dict:
            for at, symbol in words.items():
                op = with_word(op, at, symbol.of(seen))
            for axis, (symbol, unit) in sides.items():
                op = _with_side(op, axis, -(-symbol.of(seen) // unit))
            return op

        return changed(seen, call, turned)

    return made


def _known(plans: Plans, call: int) -> dict[int, Symbol | None]:
    """The integers of a launch by their offsets: which size each is; None: a constant."""
    here = plans.at(call)
    found: dict[int, Symbol | None] = {}
    for at in integers_of(here[0][1]):
        fits = [s for s in plans.symbols if all(word(op, at) == s.of(seen) for seen, op in here)]
        if fits:
            found[at] = fits[0]
        elif len({word(op, at) for _, op in here}) == 1:
            found[at] = None
    return found


def _numbers(plans: Plans, call: int, units: list[int]) -> Iterator[Change]:
    """Integers that the kernel is given: another one of solve's sizes, or two of them exchanged."""
    here, known = plans.at(call), _known(plans, call)
    for one, two in itertools.combinations(known, 2):
        if any(word(op, one) != word(op, two) for _, op in here):
            yield Change("numbers-exchanged", call, _swapped_words(call, one, two), "", one, two)
    whole = _rounded(plans, call, integers_of(here[0][1]), units)
    for at, own in known.items():
        for better in [*plans.symbols, *whole] if own is not None else ():
            if better != own:
                made = _with_symbol(call, at, better)
                yield Change("number", call, made, "", at, -1, own.text, better.text)


def _unclear_numbers(plans: Plans, call: int) -> Iterator[Change]:
    """Integers that are none of solve's sizes, and no constants: a size, or what another one is.

    At last constants, which may stand for a size.
    """
    here, known = plans.at(call), _known(plans, call)
    offsets = integers_of(here[0][1])
    for at in (one for one in offsets if one not in known):
        for better in plans.symbols:
            yield Change("number", call, _with_symbol(call, at, better), "", at, better=better.text)
        for other in offsets:
            if any(word(op, at) != word(op, other) for _, op in here):
                yield Change("same-number", call, _as_given(call, at, other), "", at, other)
    for at in (one for one, own in known.items() if own is None):
        was = str(word(here[0][1], at))
        for better in (one for one in plans.symbols if len(one.names) == 1):
            made = _with_symbol(call, at, better)
            yield Change("number", call, made, "", at, -1, was, better.text)


def _as_given(call: int, one: int, two: int) -> Callable[[Seen], Mapping | None]:
    return lambda seen: changed(seen, call, lambda op: with_word(op, one, word(op, two)))


def _rounded(plans: Plans, call: int, offsets: list[int], units: list[int]) -> list[Symbol]:
    """Sizes in whole tiles, as another number of this launch is one."""
    here = plans.at(call)
    single = [one for one in plans.symbols if len(one.names) == 1]
    for unit in units:
        of = [
            Symbol(f"{one.text} rounded up to a multiple of {unit}", one.names, unit)
            for one in single
        ]
        fits = [
            one
            for one in of
            if any(all(word(op, at) == one.of(seen) for seen, op in here) for at in offsets)
            and any(one.of(seen) != Symbol("", one.names).of(seen) for seen, _ in here)
        ]
        if fits:
            return of
    return []


def _swapped_words(call: int, one: int, two: int) -> Callable[[Seen], Mapping | None]:
    def swap(op: dict) -> dict:
        return with_word(with_word(op, one, word(op, two)), two, word(op, one))

    return lambda seen: changed(seen, call, swap)


def _with_symbol(call: int, at: int, symbol: Symbol) -> Callable[[Seen], Mapping | None]:
    return lambda seen: changed(seen, call, lambda op: with_word(op, at, symbol.of(seen)))


def _sides(plans: Plans, call: int, units: list[int], axes: str) -> Iterator[Change]:
    """Blocks along an axis: rounded up, counted of another size, or in other pieces."""
    here = plans.at(call)
    block = here[0][1]["block"]
    # The largest first: more blocks than are needed do no harm where a guard keeps the rest out.
    few = sorted(one for one in units if one <= _MOST_THREADS)[:_MOST_UNITS]
    by_blocks = block[1] * here[0][1]["grid"][1]  # what the blocks along y do is one piece along z
    known = sorted({one for one in (block[0], block[1], *few) if one > 0}, reverse=True)
    of_axes = []
    for axis in axes:
        at = "xyz".index(axis)
        units = known if axis != "z" else list(dict.fromkeys([by_blocks, *known]))
        counts = [op["grid"][at] for _, op in here]
        ups = [(s, u) for s in plans.symbols for u in units if _up(here, s, u) == counts]
        downs = [(s, u) for s in plans.symbols for u in units if _down(here, s, u) == counts]
        of_axes.append((axis, at, units, counts, ups, downs))
    # As many blocks as a constant says are seldom too few.
    of_axes.sort(key=lambda one: not (one[-2] or one[-1]))
    for axis, at, known, counts, ups, downs in of_axes:
        for symbol, unit in downs[:2] if not ups else ():
            if _up(here, symbol, unit) != counts:
                yield _counted(call, axis, "rounded-down", symbol, unit, "")
        own = (ups or downs)[:1]
        was = f"{own[0][0].text} in pieces of {own[0][1]}" if own else ""
        tried = {tuple(counts)}
        single = [one for one in plans.symbols if len(one.names) == 1]
        same = [(s, own[0][1]) for s in single] if own else []
        same += [(own[0][0], u) for u in known] if own else []
        same += [(s, own[0][1]) for s in plans.symbols] if own else []
        for symbol, unit in [*same, *itertools.product(plans.symbols[:3], known)]:
            new = tuple(_up(here, symbol, unit))
            if new not in tried and not _is_larger_by_far(new, counts):
                tried.add(new)
                yield _counted(call, axis, "blocks", symbol, unit, was)
        if own and at > 0 and all(one == 1 for one in counts):
            continue
        yield Change("one-more", call, _one_more(call, at), axis, was=was)


def _is_larger_by_far(new: tuple[int, ...], old: list[int]) -> bool:
    """Where a kernel strides over all, more blocks are no mistake's mend."""
    return any(a > 4096 and a > 16 * max(b, 1) for a, b in zip(new, old, strict=True))


def _up(here: list[tuple[Seen, dict]], symbol: Symbol, unit: int) -> list[int]:
    return [-(-symbol.of(seen) // unit) for seen, _ in here]


def _down(here: list[tuple[Seen, dict]], symbol: Symbol, unit: int) -> list[int]:
    return [symbol.of(seen) // unit for seen, _ in here]


def _with_side(op: dict, at: int, count: int) -> dict:
    return {**op, "grid": [*op["grid"][:at], count, *op["grid"][at + 1 :]]}


def _one_more(call: int, at: int) -> Callable[[Seen], Mapping | None]:
    return lambda seen: changed(seen, call, lambda op: _with_side(op, at, op["grid"][at] + 1))


def _counted(call: int, axis: str, kind: str, symbol: Symbol, unit: int, was: str) -> Change:
    at = "xyz".index(axis)

    def made(seen: Seen) -> Mapping | None:
        count = max(1, -(-symbol.of(seen) // unit))
        return changed(seen, call, lambda op: _with_side(op, at, count))

    return Change(kind, call, made, axis, was=was, better=f"{symbol.text} in pieces of {unit}")


def _block_sides(plans: Plans, call: int, units: list[int]) -> Iterator[Change]:
    block = plans.at(call)[0][1]["block"]
    for axis in _AXES:
        at = _AXES.index(axis)
        for unit in units[:_MOST_UNITS]:
            if unit != block[at] and unit * block[1 - at] * block[2] <= _MOST_THREADS:
                made = _with_block(call, at, unit)
                yield Change("block", call, made, axis, was=str(block[at]), better=str(unit))


def _rows_of_block(plans: Plans, call: int) -> Iterator[Change]:
    """As many threads in other rows, the squarest block first."""
    blocks = {tuple(op["block"]) for _, op in plans.at(call)}
    width, height, depth = blocks.pop()
    threads = width * height
    if blocks or depth != 1:
        return
    known = {(width, height), (height, width)}  # exchanged sides are tried before
    sides = [
        (threads // one, one)
        for one in range(2, threads)
        if threads % one == 0 and (threads // one, one) not in known
    ]
    sides.sort(key=lambda one: (max(one), one[1]))
    was = str(threads) if height == 1 else f"{width} x {height}"
    for one in sides[:_MOST_ROWS]:
        better = f"{one[0]} x {one[1]}"
        yield Change("block-rows", call, _with_sides(call, [*one, 1]), was=was, better=better)


def _with_sides(call: int, sides: list[int]) -> Callable[[Seen], Mapping | None]:
    return lambda seen: changed(seen, call, lambda op: {**op, "block": sides})


def _shared(plans: Plans, call: int) -> Iterator[Change]:
    """More dynamic shared memory, where the launch asks for some."""
    for factor in (2, 3, 4) if plans.at(call)[0][1].get("shared_bytes") else ():
        yield Change("shared", call, _with_shared(call, factor), better=str(factor))


def _with_shared(call: int, factor: int) -> Callable[[Seen], Mapping | None]:
    def more(op: dict) -> dict:
        return {**op, "shared_bytes": factor * op["shared_bytes"]}

    return lambda seen: changed(seen, call, more)


def _with_block(call: int, at: int, count: int) -> Callable[[Seen], Mapping | None]:
    def wider(op: dict) -> dict:
        return {**op, "block": [*op["block"][:at], count, *op["block"][at + 1 :]]}

    return lambda seen: changed(seen, call, wider)


def of_memory(plans: Plans) -> Iterator[Change]:
    """Fills, and copies on the device: elements for bytes, rows of another length."""
    calls = dict.fromkeys(
        (op["op"], op["call"])
        for op in plans.seen[0].ops
        if op["op"] in ("memset", "copy_d2d") and "call" in op
    )
    for kind, call in calls:
        if kind == "memset":
            yield Change("fill", call, _filled(call), better="whole")
            continue
        for name in ("pitch", "source_pitch", "bytes"):
            for symbol in plans.symbols:
                yield Change(
                    "copy", call, _with_length(call, name, symbol), name, better=symbol.text
                )


def _filled(call: int) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        def whole(op: dict) -> dict:
            of = seen.buffer(op["buffer"])
            room = int(of["bytes"]) - op["offset"] if of is not None else op["bytes"]
            return op if op.get("rows", 1) > 1 else {**op, "bytes": room}

        return changed(seen, call, whole, "memset")

    return made


def _with_length(call: int, name: str, symbol: Symbol) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        def longer(op: dict) -> dict:
            return {**op, name: 4 * symbol.of(seen)} if op.get("rows", 1) > 1 else op

        return changed(seen, call, longer, "copy_d2d")

    return made


def of_streams(plans: Plans) -> Iterator[Change]:
    """What is asked for in another stream than the call before it."""
    calls = dict.fromkeys(op["call"] for op in plans.seen[0].ops if "stream" in op and "call" in op)
    for call in calls if any(op.get("stream") for op in plans.seen[0].ops) else ():
        yield Change("stream", call, _in_stream_before(call))


def _in_stream_before(call: int) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        ops: list[dict] = []
        for op in seen.ops:
            # What makes a stream asks for nothing in it.
            work = (one for one in reversed(ops) if "stream" in one and "call" in one)
            before = next((one["stream"] for one in work), None)
            if op.get("call", 0) == call and "stream" in op and before is not None:
                op = {**op, "stream": before}
            ops.append(op)
        return {**seen.fields, "ops": ops} if ops != seen.ops else None

    return made
