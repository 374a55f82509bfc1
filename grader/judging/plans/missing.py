"""Calls that a plan lacks: an input that is not copied to the device, a result that is not copied back, a fill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from grader.judging.plans.change import Change
from grader.judging.plans.seen import Plans, Seen


def of_missing(plans: Plans) -> Iterator[Change]:
    """`better`: the array that is copied. `call`: that of the buffer's allocation, or the last launch's."""
    seen = plans.seen[0]
    arrays = {one["name"] for one in seen.fields["host"]}
    problem = seen.case.problem
    launches = seen.launches()
    made = {op["buffer"]: op.get("call", 0) for op in seen.ops if op["op"] == "malloc"}
    if not launches:
        return
    filled = {
        (op["buffer"], op["offset"]) for op in seen.ops if op["op"] in ("copy_h2d", "copy_d2d", "memset")
    }  # fmt: skip
    empty = [
        (number, buffer)
        for number, (buffer, place) in enumerate(_places(seen))
        if buffer in made and (buffer, place) not in filled
    ]
    taken = {
        part.get("host") for op in seen.ops if op["op"] == "copy_h2d" for part in op["segments"]
    }
    for name in (one.name for one in problem.given):
        for number, buffer in empty if name in arrays - taken else ():
            yield Change(
                "not-copied", made[buffer], _copied(name, number), of="malloc", better=name
            )
    back = {op["host"] for op in seen.ops if op["op"] == "copy_d2h"}
    for name in (one.name for one in problem.outputs):
        last = [r["buffer"] for r in launches[-1]["relocations"]]
        for buffer in dict.fromkeys(last) if name in arrays - back else ():
            call = launches[-1].get("call", 0)
            yield Change("not-fetched", call, _fetched(name, buffer), better=name)
    for buffer in dict.fromkeys(buffer for _, buffer in empty):
        yield Change("not-set", made[buffer], _set(buffer), of="malloc")


def _with_op(seen: Seen, new: dict, at: int) -> Mapping:
    return {**seen.fields, "ops": [*seen.ops[:at], new, *seen.ops[at:]]}


def _first_launch(seen: Seen) -> int:
    return next(at for at, op in enumerate(seen.ops) if op["op"] == "launch")


def _stream(seen: Seen, launch: int) -> int:
    """The launch's own: a call in the default stream would make other streams wait, too."""
    return seen.ops[launch].get("stream", 0)


def _room(seen: Seen, buffer: int) -> int:
    of = seen.buffer(buffer)
    return int(of["bytes"]) if of is not None else 0


def _places(seen: Seen) -> list[tuple[int, int]]:
    """Where the pointers of the first launch point to."""
    return [(r["buffer"], r.get("addend", 0)) for r in seen.launches()[0]["relocations"]]


def _copied(name: str, number: int) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        size = next((one["bytes"] for one in seen.fields["host"] if one["name"] == name), 0)
        buffer, place = _places(seen)[number]
        if not 0 < size <= _room(seen, buffer) - place or place < 0:
            return None
        new = {
            "op": "copy_h2d", "buffer": buffer, "offset": place, "bytes": size,
            "stream": _stream(seen, _first_launch(seen)),
            "segments": [{"host": name, "offset": 0, "bytes": size}],
        }  # fmt: skip
        return _with_op(seen, new, _first_launch(seen))

    return made


def _fetched(name: str, buffer: int) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        size = next((one["bytes"] for one in seen.fields["host"] if one["name"] == name), 0)
        if not 0 < size <= _room(seen, buffer):
            return None
        last = max(at for at, op in enumerate(seen.ops) if op["op"] == "launch")
        new = {
            "op": "copy_d2h", "host": name, "offset": 0, "buffer": buffer, "buffer_offset": 0,
            "bytes": size, "stream": _stream(seen, last),
        }  # fmt: skip
        return _with_op(seen, new, last + 1)

    return made


def _set(buffer: int) -> Callable[[Seen], Mapping | None]:
    def made(seen: Seen) -> Mapping | None:
        if not _room(seen, buffer):
            return None
        new = {
            "op": "memset", "buffer": buffer, "offset": 0, "value": 0,
            "bytes": _room(seen, buffer), "stream": _stream(seen, _first_launch(seen)),
        }  # fmt: skip
        return _with_op(seen, new, _first_launch(seen))

    return made
