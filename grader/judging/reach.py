"""Which of solve's arrays a kernel can have anything to do with, by its launches and the copies.

Lab 00 and some exercises have several outputs, each of a kernel of its own: what is wrong in one of
these kernels is no reason to doubt the other outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# Others may carry data in ways that are not looked at here.
_KNOWN = frozenset(
    {"malloc", "free", "copy_h2d", "copy_d2h", "copy_d2d", "memset", "launch"}
    | {"record_event", "wait_for_event", "error"}
)
# A variable of the device is reached by every kernel, without an argument.
_VARIABLE = re.compile(r"\b(?:__device__|__constant__|__managed__)[^(){};]*[;=\[{]")


def arrays_of_kernels(
    plan: Mapping, source: str, names: Iterable[str]
) -> dict[str, frozenset[str]]:
    """By the kernel's mangled name: those of `names` that data of its launches can come from or go
    to, through other kernels and copies as well. {} where a plan does not tell."""
    ops = plan.get("ops", [])
    if (
        not ops
        or not {op.get("op") for op in ops} <= _KNOWN
        or plan.get("host_writes", {}).get("count")
        or _VARIABLE.search(source)
    ):
        return {}
    groups = _Groups()
    for buffer in plan.get("buffers", []):
        groups.join(("buffer", buffer["id"]), ("array", buffer["name"]))
    for op in ops:
        if op["op"] == "launch":
            kernel = ("kernel", op["kernel"])
            groups.join(kernel, kernel)
            for given in op["relocations"]:
                groups.join(kernel, ("buffer", given["buffer"]))
        elif op["op"] == "copy_h2d":
            for part in op["segments"]:
                groups.join(("buffer", op["buffer"]), ("array", part.get("host") or op["op"]))
        elif op["op"] == "copy_d2h":
            groups.join(("buffer", op["buffer"]), ("array", op["host"]))
        elif op["op"] == "copy_d2d":
            groups.join(("buffer", op["buffer"]), ("buffer", op["source"]))
    return {
        name: frozenset(one for one in names if groups.same((kind, name), ("array", one)))
        for kind, name in groups.known()
        if kind == "kernel"
    }


class _Groups:
    """Disjoint sets of what has had to do with each other."""

    def __init__(self) -> None:
        self._above: dict[tuple, tuple] = {}

    def join(self, one: tuple, other: tuple) -> None:
        self._above[self._top(one)] = self._top(other)

    def same(self, one: tuple, other: tuple) -> bool:
        return self._top(one) == self._top(other)

    def known(self) -> list[tuple]:
        return list(self._above)

    def _top(self, one: tuple) -> tuple:
        above = self._above.setdefault(one, one)
        while above != one:
            one, above = above, self._above[above]
        return one
