"""What a plan cannot do without, told without carrying it out: that inputs reach the device and results come back."""

from __future__ import annotations

from collections.abc import Iterable

from grader.judging.plans.seen import Seen


def moves_all(seen: Seen, fields) -> bool:
    """Whether all inputs of a product are taken from the host before a launch, and all of P comes back after one.

    True where there is no host memory to copy from.
    """
    sizes = {one["name"]: one["bytes"] for one in fields["host"]}
    problem = seen.case.problem
    if not problem.is_product or not sizes:
        return True
    room = {one["id"]: one["bytes"] for one in fields["buffers"]}
    taken: dict[str, list[tuple[int, int]]] = {name: [] for name in sizes}
    back: dict[str, list[tuple[int, int]]] = {name: [] for name in sizes}
    launches = [at for at, op in enumerate(fields["ops"]) if op["op"] == "launch"]
    if not launches:
        return False
    for at, op in enumerate(fields["ops"]):
        if op["op"] == "copy_h2d":
            if op["offset"] < 0 or op["offset"] + op["bytes"] > room[op["buffer"]]:
                return False
            for part in op["segments"]:
                if "host" not in part:
                    continue
                begin, end = part["offset"], part["offset"] + part["bytes"]
                if begin < 0 or end > sizes.get(part["host"], 0):
                    return False
                if at < launches[-1]:
                    taken[part["host"]].append((begin, end))
        elif op["op"] == "copy_d2h":
            begin, end = op["offset"], op["offset"] + op["bytes"]
            if op["buffer_offset"] < 0 or op["buffer_offset"] + op["bytes"] > room[op["buffer"]]:
                return False
            if begin < 0 or end > sizes.get(op["host"], 0):
                return False
            if at > launches[0]:
                back[op["host"]].append((begin, end))
    given, results = ({one.name for one in of} for of in (problem.given, problem.outputs))
    return all(_covers(taken[name], sizes[name]) for name in given & set(sizes)) and all(
        _covers(back[name], sizes[name]) for name in results & set(sizes)
    )


def _covers(parts: Iterable[tuple[int, int]], size: int) -> bool:
    reached = 0
    for begin, end in sorted(parts):
        if begin > reached:
            return False
        reached = max(reached, end)
    return reached >= size
