"""The course's tensor.h and the conversions to bf16, for whole warps at once."""

from __future__ import annotations

import numpy as np

from grader.judging.repair import halves
from grader.judging.repair.memory import Buffer, Forked
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import PAIR, Fault, Pointer, Struct, both, has_rows, to_float
from grader.judging.repair.views import Halved, Shorts

_WARP = 32
_SIDE = 8  # of a matrix; a row of it is what a lane names


_STEPS = 12  # what one of these costs beside a sum


def lanes_of_warps(f) -> int:
    """All, or those of the warps that a loop is carried out for."""
    world = f.world
    for _ in range(_STEPS):
        world.step()
    if world.threads % _WARP:
        raise GivenUp("warps")
    if world.effects is not None:
        world.effects.is_of_warps = True
    thread = world.globals["threadIdx"].fields["x"]
    if thread.__class__ is not np.ndarray:
        raise GivenUp("warps")
    return len(thread)


def _rows(memory, off, m) -> np.ndarray:
    """Of each lane the row that it names."""
    if memory.__class__ is Forked:
        found = None
        for lanes, part in memory.parts:
            mine = both(m, lanes)
            if mine is not False:
                words = _rows(part, off, mine)
                found = words if found is None else np.where(lanes[:, None], words, found)
        return found
    if memory.__class__ is Shorts:
        memory = memory.memory
    elif memory.__class__ is Halved and memory.memory.__class__ is Buffer:
        Pointer(memory, off, (), _SIDE).aligned(m)
        places = memory.memory.places(off // 2, m, _SIDE // 2)
        pairs = halves.pairs_of(memory.memory.data[places[..., None] + np.arange(_SIDE // 2)])
        return pairs.reshape(*pairs.shape[:-2], _SIDE)
    if memory.__class__ is not Buffer or not memory.is_half or memory.kind != "shared":
        raise GivenUp("ldmatrix")
    Pointer(memory, off, (), _SIDE).aligned(m)
    memory.unread.clear()
    return memory.data[memory.places(off, m, _SIDE)[..., None] + np.arange(_SIDE)]


def matrices(f, row, m, is_turned: bool, many: int = 4) -> list[np.ndarray]:
    """What each lane has of so many 8 x 8, of which the first lanes name the rows."""
    count = lanes_of_warps(f)
    if row.__class__ is not Pointer:
        raise Fault("pointer")
    if row.memory.__class__ is Buffer and row.memory.is_words:
        row = Pointer(Halved(row.memory), row.off * 2)
    off = row.off if has_rows(row.off) else np.broadcast_to(row.off, count)
    if many < 4:
        m = both(m, np.arange(count) % _WARP < many * _SIDE)
    words = _rows(row.memory, off, m)
    rows = words.shape[:-2]
    words = words.reshape(*rows, -1, 4, _SIDE, _SIDE)
    bits = halves.bits(words.swapaxes(-1, -2) if is_turned else words)
    pairs = bits[..., ::2] | bits[..., 1::2] << 16
    parts = [pairs[..., i, :, :] for i in range(many)]
    return [part.reshape(*rows, count) for part in parts]


def _matrices(is_turned):
    def make(given, templates):
        def run(f, m):
            to, row = given[0](f, m), given[1](f, m)
            if to.__class__ is not Pointer:
                raise Fault("pointer")
            for i, word in enumerate(matrices(f, row, m, is_turned)):
                to.memory.store(to.off + i, m, word)
            return 0

        return run

    return make


def _registers(words: list, count: int) -> np.ndarray:
    """Of all lanes, as many 8 x 8 of each warp: row lane / 4, two columns of each lane."""
    rows = next((word.shape[:-1] for word in words if has_rows(word)), ())
    shape = (*rows, count)
    words = [word if np.shape(word) == shape else np.broadcast_to(word, shape) for word in words]
    return halves.pairs_of(np.array(words)).reshape(len(words), *rows, -1, _SIDE, _SIDE)


def multiplied(f, a: list, b: list) -> list[np.ndarray]:
    """What a warp's product of 16 x 16 (or 16 x 8) and 16 x 8 (or 8 x 8) adds to each lane's sums."""
    count = lanes_of_warps(f)
    a, b = _registers(a, count), _registers(b, count)
    halves_of = [np.concatenate(a[at : at + 2], -2) for at in range(0, len(a), 2)]
    left = np.concatenate(halves_of, -1) if len(halves_of) > 1 else halves_of[0]
    right = np.concatenate(b, -1).swapaxes(-1, -2)
    with np.errstate(all="ignore"):
        product = left @ right
    rows = product.shape[:-3]
    product = product.reshape(*rows, -1, 2, _SIDE * _SIDE // 2, 2)
    return [product[..., i // 2, :, i % 2].reshape(*rows, count) for i in range(4)]


def _multiply_add(given, templates):
    def run(f, m):
        total, a, b = (part(f, m) for part in given)
        if any(one.__class__ is not Pointer or one.memory.kind != "local" for one in (total, a, b)):
            raise Fault("pointer")
        words = [
            [one.memory.load(one.off + i, m) for i in range(many)] for one, many in ((a, 4), (b, 2))
        ]
        for i, part in enumerate(multiplied(f, *words)):
            before = total.memory.load(total.off + i, m)
            total.memory.store(total.off + i, m, before + part)
        return 0

    return run


def _pair(a, b):
    parts = {"x": halves.rounded(to_float(a)), "y": halves.rounded(to_float(b))}
    return Struct(parts, PAIR)


def _plain(do):
    def make(given, templates):
        return lambda f, m: do(*(part(f, m) for part in given))

    return make


def _rounded(value):
    return halves.rounded(to_float(value))


TENSOR = {
    "load_matrices": _matrices(False), "load_matrices_transposed": _matrices(True),
    "multiply_add": _multiply_add,
    "__float2bfloat16": _plain(_rounded), "__float2bfloat16_rn": _plain(_rounded),
    "__nv_bfloat16": _plain(_rounded), "__float2bfloat16_rz": _plain(lambda v: halves.cut(to_float(v))),
    "__bfloat162float": _plain(to_float),
    "__bfloat16_as_ushort": _plain(halves.as_number), "__bfloat16_as_short": _plain(halves.as_number),
    "__ushort_as_bfloat16": _plain(halves.of_number), "__short_as_bfloat16": _plain(halves.of_number),
    "__floats2bfloat162_rn": _plain(_pair), "__halves2bfloat162": _plain(_pair),
    "make_bfloat162": _plain(_pair), "__float2bfloat162_rn": _plain(lambda v: _pair(v, v)),
    "__bfloat162bfloat162": _plain(lambda v: _pair(v, v)),
    "__float22bfloat162_rn": _plain(lambda v: _pair(v.fields["x"], v.fields["y"])),
    "__bfloat1622float2": _plain(lambda v: Struct(dict(v.fields), "float2")),
    **dict.fromkeys(("__low2bfloat16", "__low2float"), _plain(lambda v: v.fields["x"])),
    **dict.fromkeys(("__high2bfloat16", "__high2float"), _plain(lambda v: v.fields["y"])),
}  # fmt: skip

__all__ = ["TENSOR", "matrices", "multiplied"]
