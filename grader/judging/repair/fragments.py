"""nvcuda::wmma: fragments, of which each lane of a warp has as many elements, one row after the other.

How CUDA spreads them is not said anywhere, so that no program can ask for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from grader.judging.repair.memory import Local
from grader.judging.repair.nodes import Node
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.tensor import lanes_of_warps
from grader.judging.repair.values import Fault, Pointer, has_rows, to_int

FRAGMENT = "fragment"
_WARP = 32
_ROWS, _COLUMNS = "row_major", "col_major"
_ORDERS = ("mem_row_major", "mem_col_major")


class Fragment:
    """What a fragment is of: its rows and columns, and whether these lie one after the other."""

    def __init__(self, rows: int, columns: int, is_turned: bool, is_sum: bool) -> None:
        self.rows, self.columns, self.is_turned, self.is_sum = rows, columns, is_turned, is_sum
        self.each = rows * columns // _WARP  # elements of a lane

    def place(self, lane, at: int, pitch, is_turned: bool):
        number = lane * self.each + at
        row, column = number // self.columns, number % self.columns
        return column * pitch + row if is_turned else row * pitch + column


def fragment_of(args: Sequence[Node], sizes: Sequence[Callable]) -> Callable:
    """f, m -> Fragment, of what stands between < and >; `sizes`: m, n and k."""
    use = args[0].text
    kind = args[4].type.name if len(args) > 4 and args[4].kind == "type" else ""
    is_turned = len(args) > 5 and args[5].text == _COLUMNS
    if (use == "accumulator") != (kind == "float") or kind not in ("float", "bf16"):
        raise GivenUp("fragment")

    def made(f, m) -> Fragment:
        rows, columns, depth = (int(size(f, m)) for size in sizes)
        sides = {
            "matrix_a": (rows, depth), "matrix_b": (depth, columns), "accumulator": (rows, columns)
        }.get(use)  # fmt: skip
        if sides is None or (rows, columns, depth) not in ((16, 16, 16), (32, 8, 16), (8, 32, 16)):
            raise GivenUp("fragment")
        return Fragment(*sides, is_turned, use == "accumulator")

    return made


def fragments(kind: Fragment, dims: tuple, batch) -> Pointer:
    """One, or an array of them."""
    count = int(np.prod(dims)) if dims else 1
    memory = Local(count * kind.each, np.nan, batch)
    memory.fragment = kind
    return Pointer(memory, 0, (*dims, kind.each))


def _kind(value) -> Fragment:
    found = getattr(value.memory, "fragment", None) if value.__class__ is Pointer else None
    if found is None:
        raise Fault("fragment")
    return found


def _lane(f):
    lanes_of_warps(f)
    return f.world.globals["threadIdx"].fields["x"] % _WARP


def _fill(given, templates):
    def run(f, m):
        to, value = given[0](f, m), given[1](f, m)
        for at in range(_kind(to).each):
            to.memory.store(to.off + at, m, value)
        return 0

    return run


def _is_turned(kind: Fragment, order) -> bool:
    if kind.is_sum and order not in _ORDERS:
        raise GivenUp("layout")
    return order == _ORDERS[1] if kind.is_sum else kind.is_turned


def _load(given, templates):
    def run(f, m):
        to, source, pitch = (part(f, m) for part in given[:3])
        kind, lane = _kind(to), _lane(f)
        if source.__class__ is not Pointer or source.memory.is_half == kind.is_sum:
            raise Fault("fragment")
        is_turned = _is_turned(kind, given[3](f, m) if len(given) > 3 else "")
        for at in range(kind.each):
            off = source.off + kind.place(lane, at, to_int(pitch), is_turned)
            to.memory.store(to.off + at, m, source.memory.load(off, m))
        return 0

    return run


def _store(given, templates):
    def run(f, m):
        to, source, pitch, order = (part(f, m) for part in given[:4])
        kind, lane = _kind(source), _lane(f)
        if to.__class__ is not Pointer or to.memory.is_half:
            raise Fault("fragment")
        is_turned = _is_turned(kind, order)
        for at in range(kind.each):
            off = to.off + kind.place(lane, at, to_int(pitch), is_turned)
            to.memory.store(off, m, source.memory.load(source.off + at, m))
        return 0

    return run


def _matrix(f, value, m) -> np.ndarray:
    """Of each warp the whole."""
    kind, count = _kind(value), f.world.globals["threadIdx"].fields["x"].shape[-1]
    parts = [value.memory.load(value.off + at, m) for at in range(kind.each)]
    rows = next((part.shape[:-1] for part in parts if has_rows(part)), ())
    parts = [np.broadcast_to(part, (*rows, count)) for part in parts]
    return np.stack(parts, -1).reshape(*rows, -1, kind.rows, kind.columns)


def _multiply(given, templates):
    def run(f, m):
        lanes_of_warps(f)
        to, a, b, before = (part(f, m) for part in given[:4])
        kind = _kind(to)
        with np.errstate(all="ignore"):
            product = _matrix(f, a, m) @ _matrix(f, b, m) + _matrix(f, before, m)
        parts = product.reshape(*product.shape[:-3], -1, kind.each)
        for at in range(kind.each):
            to.memory.store(to.off + at, m, parts[..., at])
        return 0

    return run


WMMA = {
    "fill_fragment": _fill, "load_matrix_sync": _load, "store_matrix_sync": _store,
    "mma_sync": _multiply,
}  # fmt: skip
