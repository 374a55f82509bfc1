"""The course's copy_engine.h and product_parts.h: boxes of a matrix, copied as the engine does.

Barriers are passed: all threads go in step, and whoever asks for a tile has it at once.
"""

from __future__ import annotations

import numpy as np

from grader.judging.repair import halves
from grader.judging.repair.memory import Buffer
from grader.judging.repair.races import unseen
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import (
    Fault,
    Place,
    Pointer,
    Ref,
    Struct,
    both,
    divided,
    has_rows,
    truth,
)

_SPAN, _PIECE = 64, 8  # elements: what a swizzle spans, and what it moves as one
_MAX_WORDS = 1 << 20
_MAP = "CUtensorMap"


def _held(value):
    """What &map is the place of."""
    if value.__class__ is Ref:
        value = value.target
    if value.__class__ is Place:
        value = value.holder.get(value.name)
    return value


def _rounded(given, templates):
    def run(f, m):
        source, rows, cols, pitch = (part(f, m) for part in given)
        if source.__class__ is not Pointer or source.memory.kind != "global":
            raise Fault("rounded")
        rows, cols, pitch = int(rows), int(cols), int(pitch)
        size = rows * pitch
        if not 0 < size <= _MAX_WORDS or cols > pitch and rows > 1:
            raise Fault("size")
        if source.memory.rows > 1 or source.off.__class__ is not int:
            raise GivenUp("rounded")
        buffer = Buffer("global", size, name="rounded")
        buffer.is_half = True
        buffer.batch, buffer.effects = f.world.batch, f.world.effects or f.world.lenient
        if rows * cols > source.memory.size - source.off:
            raise Fault("size")
        values = source.memory.data[source.off : source.off + rows * cols]
        # What lies behind a row is never set.
        buffer.data.reshape(rows, pitch)[:, :cols] = halves.rounded(values.reshape(rows, cols))
        return Pointer(buffer)

    return run


def _make_map(given, templates):
    def run(f, m):
        source, *numbers = (part(f, m) for part in given)
        cols, rows, pitch, box_cols, box_rows = (int(number) for number in numbers)
        if source.__class__ is Pointer and getattr(source.memory, "halves", None) is not None:
            source = Pointer(source.memory.halves, source.off * 2)  # that a kernel has filled
        if source.__class__ is not Pointer or not source.memory.is_half:
            raise Fault("map")
        if pitch % _PIECE or not 0 < box_cols <= _SPAN or not 0 < box_rows <= 256 or cols > pitch:
            raise Fault("map")
        names = ("cols", "rows", "pitch", "box_cols", "box_rows")
        return Struct(
            {
                "at": source,
                **dict(zip(names, (cols, rows, pitch, box_cols, box_rows), strict=True)),
            },
            _MAP,
        )

    return run


def _copy_box(given, templates):
    def run(f, m):
        f.world.step()
        unseen(f, "copy_box")
        to, chart, x, y = (part(f, m) for part in given[:4])
        chart, to = _held(chart), _held(to)
        while to.__class__ is Struct and to.fields and not to.lead:
            to = next(iter(to.fields.values()))
        if to.__class__ is not Pointer or not to.memory.is_half or to.memory.kind != "shared":
            raise GivenUp("copy_box")
        if chart.__class__ is not Struct or chart.kind != _MAP:
            raise Fault("map")
        field = chart.fields
        count = f.world.blocks * f.world.threads
        given_rows = [one for one in (m, to.off, x, y) if has_rows(one)]
        if given_rows and to.memory.rows == 1:
            to.memory.split()
        if to.memory.rows > 1:
            count = to.memory.rows, count
        lanes = np.flatnonzero(np.broadcast_to(m, count))
        if f.world.effects is not None:
            f.world.effects.count += 1
            f.world.effects.filled += 1
        size = field["box_rows"] * field["box_cols"]
        bad = np.broadcast_to(to.off % (8 * _SPAN) != 0, count)
        if to.memory.batch is not None and (bad & (True if m is True else m)).any():
            to.memory.batch.drop(truth(bad if m is True else bad & m))
        elif bad.ravel()[lanes].any() and to.memory.effects is None:
            raise Fault("alignment")
        at = np.broadcast_to(to.memory.places(to.off, m, size), count).ravel()[lanes]
        if int(at[0]) in to.memory.unread:
            raise GivenUp("ring")  # whoever asks runs ahead here, beyond what there are stages for
        to.memory.unread.add(int(at[0]))
        x, y = (np.broadcast_to(one, count).ravel()[lanes, None] for one in (x, y))
        number = np.arange(size)
        row, col = y + number // field["box_cols"], x + number % field["box_cols"]
        inside = (row >= 0) & (row < field["rows"]) & (col >= 0) & (col < field["cols"])
        source = field["at"]
        off = np.where(inside, source.off + row * field["pitch"] + col, 0)
        values = np.where(inside, source.memory.data[off], 0.0)
        values = to.memory.without_zeros(values, number)
        # Pieces are permuted by the number of the 128 bytes that they lie in.
        placed = number ^ (number // _SPAN % _PIECE * _PIECE)
        to.memory.data[at[:, None] + placed] = values
        return 0

    return run


def _store_sums(given, templates):
    def run(f, m):
        f.world.step()
        p, j, l, row, col, sums = (part(f, m) for part in given)  # noqa: E741
        if p.__class__ is not Pointer or sums.__class__ is not Pointer:
            raise Fault("pointer")
        thread = f.world.globals["threadIdx"].fields["x"]
        row, col = row + thread % 32 // 4, col + thread % 4 * 2
        for i in range(4):
            here_row, here_col = row + i // 2 * 8, col + i % 2
            mine = both(m, truth((here_row < j) & (here_col < l)))
            if mine is not False:
                value = sums.memory.load(sums.off + i, mine)
                p.memory.store(p.off + here_row * l + here_col, mine, value)
        return 0

    return run


def _ceil_div(given, templates):
    return lambda f, m: divided(given[0](f, m) + given[1](f, m) - 1, given[1](f, m))


COPY_ENGINE = {
    "rounded": _rounded, "make_map": _make_map, "copy_box": _copy_box, "store_sums": _store_sums,
    "ceil_div": _ceil_div,
}  # fmt: skip
BARRIERS = (
    "init_barrier", "publish_barriers", "arrive", "arrive_and_expect", "wait_for_phase",
)  # fmt: skip

__all__ = ["BARRIERS", "COPY_ENGINE"]
