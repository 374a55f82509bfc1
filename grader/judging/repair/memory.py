"""What words lie in: of global, host and shared memory, and a thread's own."""

from __future__ import annotations

import numpy as np

from grader.judging.repair import halves
from grader.judging.repair.values import (
    Fault,
    Outside,
    Pointer,
    Unset,
    both,
    has_rows,
    merged,
    to_int,
)


class Owners:
    """Which lane of a launch has stored each word: no other one may store it, too."""

    def __init__(self) -> None:
        self.launch = 0
        self.lanes = 1  # of the launch
        self.of: dict[int, tuple[int, np.ndarray]] = {}

    def store(self, buffer: Buffer, at, mask) -> None:
        launch, owner = self.of.get(id(buffer), (-1, None))
        if launch != self.launch:
            owner = np.full(len(buffer.data), -1)
            self.of[id(buffer)] = self.launch, owner
        lanes = np.arange(self.lanes) if mask is True else np.flatnonzero(mask)
        places = at[lanes] if at.__class__ is np.ndarray else np.full(len(lanes), at)
        before = owner[places]
        owner[places] = lanes
        if ((before >= 0) & (before != lanes)).any() or (owner[places] != lanes).any():
            raise Fault("two threads store the same element")


_INSTEAD_OF_ZERO = 61  # different values


class Buffer:
    """Words of global, host or shared memory; NaN where nobody has written."""

    def __init__(self, kind: str, size: int, copies: int = 1, name: str = "") -> None:
        self.kind, self.size, self.copies, self.name = kind, size, copies, name
        self.data = np.full(size * copies, np.nan)
        self.base: int | np.ndarray = 0  # of each lane's block
        self.rows = 1  # or one for each edit of a batch
        self.start: int | np.ndarray = 0  # of each edit's row
        self.is_int = False
        self.is_half = False  # each element of 2 bytes, rounded to bf16
        self.objects: dict = {}  # structs of pointers that lie there, by their kind and place
        self.is_words = False  # declared as integers: two halves may be put into one as a number
        self.unread: set[int] = set()  # where the copy engine has put what nobody has read since
        self.is_input = False  # of solve: nothing may be copied to it
        self.batch = None  # where several edits are tried at once
        self.effects = None  # of a run that is watched
        self.log: list | None = None  # (lanes, places) of stores
        self.owners: Owners | None = None  # of global memory, where that is looked at
        self.world = None  # of memory that the host reaches
        self.minds_unset = False  # shared memory of a file of which that is asked
        self.meter = None  # of shared memory, where it is asked how often lanes meet in a bank
        self.halves: Buffer | None = None  # what stands in its place for elements of 2 bytes
        self.shadow = None  # of shared memory, in a run that looks for races (races.py)

    def in_halves(self) -> Buffer:
        """What is taken for elements of 2 bytes: as much memory, of which nobody sees words."""
        if self.halves is None:
            found = Buffer(self.kind, 2 * self.size, self.copies, self.name)
            found.is_half = True
            found.base, found.batch, found.effects = self.base * 2, self.batch, self.effects
            found.meter = self.meter
            if found.effects is not None and found.effects.has_no_zero:
                found.fill()
            if self.shadow is not None:
                found.shadow = self.shadow.again(found)
            self.halves = found
        return self.halves

    def fill(self) -> None:
        """Numbers where nobody has written, too."""
        self.data[:] = np.tile(np.arange(self.size) % _INSTEAD_OF_ZERO + 0.5, self.copies)

    def without_zeros(self, value, off):
        """What is put there, in a run in which it is not to be a 0."""
        if self.effects is None or not self.effects.has_no_zero or self.is_int:
            return value
        if self.kind != "shared":
            return value
        return np.where(np.equal(value, 0), 1.0 + to_int(off) % _INSTEAD_OF_ZERO, value)

    def split(self) -> None:
        """A copy for each edit of the batch."""
        self.rows = self.batch.count
        self.start = (np.arange(self.rows) * len(self.data))[:, None]
        self.data = np.tile(self.data, self.rows)

    @property
    def is_closed(self) -> bool:
        """Memory of the host, in a kernel."""
        return self.kind == "host" and (self.world is None or self.world.is_inside)

    def outside(self, mask) -> None:
        if self.effects is not None:
            self.effects.outside.append(mask)
            return  # the run is to show where the others store
        if self.batch is None:
            raise Outside(self.name)
        self.batch.drop(mask)

    def places(self, off, mask, words: int = 1):
        """The indices of active lanes into `data`; raises Fault if one is outside."""
        if off.__class__ is np.ndarray and off.dtype.kind == "f":
            off = to_int(off)  # an edit among others has made it so
        if off.__class__ is not np.ndarray:
            if not 0 <= off <= self.size - words:
                self.outside(mask)
                off = 0
            return off + self.base + self.start
        if int(off.view(np.uint64).max()) > self.size - words:
            bad = outside = (off < 0) | (off > self.size - words)
            if mask is not True:
                bad = outside & mask
            if bad.any():
                self.outside(bad)
            off = np.where(outside, 0, off)
        if self.rows > 1:
            off = off + self.start
        return off + self.base if self.copies > 1 else off

    def load(self, off, mask):
        if self.meter is not None:
            self.meter.note(off, mask, self.is_half, False)
        at = self.places(off, mask)
        if at.__class__ is np.ndarray and at.shape[-1] == 1 and at.ndim > 1:
            at = np.broadcast_to(at, (self.batch.count, self.batch.each))
        if has_rows(at):
            self.batch.moved(at.size)
        if self.shadow is not None:
            self.shadow.load(at, mask)
        found = self.data[at]
        if self.minds_unset and self.effects is None:
            self.mind(np.isnan(found), mask)
        return to_int(found) if self.is_int else found

    def mind(self, unset, mask) -> None:
        """What nobody has written may not be read by active lanes."""
        if mask is not True:
            unset = unset & mask
        if not unset.any():
            return
        if self.batch is None:
            raise Unset(self.name)
        self.batch.drop(unset if has_rows(unset) else True)

    def copy(self, off, mask, value) -> None:
        """Stores it as a copy that goes on meanwhile does."""
        kept, self.shadow = self.shadow, None
        kept.copy(self.places(off, mask), mask)
        self.store(off, mask, value)
        self.shadow = kept

    def store(self, off, mask, value) -> None:
        if (
            self.rows == 1
            and self.batch is not None
            and (has_rows(off) or has_rows(mask) or has_rows(value))
        ):
            self.split()
        if self.meter is not None:
            self.meter.note(off, mask, self.is_half, True)
        at = self.places(off, mask)
        if self.rows > 1:
            if at.__class__ is not np.ndarray or at.shape != (self.rows, self.batch.each):
                at = np.broadcast_to(at, (self.rows, self.batch.each))
            self.batch.moved(at.size)
        if self.is_int:
            value = np.trunc(value)
        elif self.is_half:
            value = halves.rounded(value)
        if self.effects is not None:
            self.effects.count += 1
            self.effects.filled += self.kind == "shared"
            value = self.without_zeros(value, off)
        if self.log is not None and at.__class__ is np.ndarray:
            self.log.append((at, mask))
            if self.effects is not None and self.effects.clock is not None:
                self.effects.moments.append(self.effects.clock.steps)
        if self.owners is not None and self.owners.launch:
            self.owners.store(self, at, mask)
        if self.shadow is not None:
            self.shadow.store(at, mask)
        if at.__class__ is not np.ndarray:
            if value.__class__ is np.ndarray:
                value = value[-1] if mask is True else value[np.flatnonzero(mask)[-1]]
            self.data[at] = value
            return
        if mask is not True:
            if at.ndim > 1:
                mask = _spread(mask, at.shape)
                if value.__class__ is np.ndarray:
                    value = _spread(value, at.shape)
            at = at[mask]
            if value.__class__ is np.ndarray:
                value = value[mask]
        self.data[at] = value


def _spread(value: np.ndarray, shape: tuple) -> np.ndarray:
    return value if value.shape == shape else np.broadcast_to(value, shape)


class Local:
    """A thread's own array: each element one value for all lanes, or an array of one each."""

    kind = "local"

    def __init__(
        self, size: int, first: object = np.nan, batch=None, is_int: bool = False,
        is_half: bool = False,
    ) -> None:  # fmt: skip
        self.size, self.is_half = size, is_half
        self.items: object = [first] * size  # a matrix once lanes ask for different elements
        self.batch, self.is_int = batch, is_int
        self.lanes: np.ndarray | None = None

    def outside(self, mask) -> None:
        if self.batch is None:
            raise Fault("local")
        self.batch.drop(mask)

    def load(self, off, mask):
        if off.__class__ is np.ndarray:
            matrix, off = self.matrix(off.shape[-1]), self._inside(off, mask)
            if matrix.ndim > 2:
                self.batch.moved(matrix[0].size)
                return matrix[off, np.arange(matrix.shape[1])[:, None], self.lanes]
            return matrix[off, self.lanes]
        if not 0 <= off < self.size:
            self.outside(mask)
            return 0 if self.is_int else np.nan
        found = self.items[off]
        return found if self.lanes is None else found.copy()

    def store(self, off, mask, value) -> None:
        if self.is_half:
            value = halves.rounded(value)
        if off.__class__ is np.ndarray:
            matrix, off, lanes = self.matrix(off.shape[-1]), self._inside(off, mask), self.lanes
            if matrix.ndim > 2 or has_rows(off) or has_rows(mask) or has_rows(value):
                self._store_rows(off, mask, value)
                return
            if mask is not True:
                off, lanes = off[mask], lanes[mask]
                value = value[mask] if value.__class__ is np.ndarray else value
            matrix[off, lanes] = value
            return
        if not 0 <= off < self.size:
            self.outside(mask)
            return
        value = merged(mask, value, self.items[off])
        if self.lanes is not None and has_rows(value):
            self.split(len(value))
        self.items[off] = value

    def split(self, rows: int) -> np.ndarray:
        """The matrix, with a row for each edit."""
        if self.items.ndim == 2:
            self.items = np.repeat(self.items[:, None], rows, axis=1)
        return self.items

    def _store_rows(self, off, mask, value) -> None:
        rows = self.items.shape[1] if self.items.ndim > 2 else self.batch.count
        matrix = self.split(rows)
        shape = (rows, len(self.lanes))
        self.batch.moved(2 * rows * len(self.lanes))
        off, value = np.broadcast_to(off, shape), np.broadcast_to(value, shape)
        if mask is True:
            matrix[off, np.arange(rows)[:, None], self.lanes] = value
            return
        row, lane = np.nonzero(np.broadcast_to(mask, shape))
        matrix[off[row, lane], row, lane] = value[row, lane]

    def _inside(self, off, mask):
        if off.dtype.kind == "f":
            off = to_int(off)
        if int(off.view(np.uint64).max()) < self.size:
            return off
        bad = outside = (off < 0) | (off >= self.size)
        if mask is not True:
            bad = outside & mask
        if bad.any():
            self.outside(bad)
        return np.where(outside, 0, off)

    def matrix(self, lanes: int) -> np.ndarray:
        if self.lanes is None:
            rows = [len(item) for item in self.items if has_rows(item)][:1]
            shape = (self.size, *rows, lanes)
            found = np.zeros(shape, np.int64 if self.is_int else np.float64)
            for at, item in enumerate(self.items):
                found[at] = np.where(np.isfinite(item), item, 0) if self.is_int else item
            self.items, self.lanes = found, np.arange(lanes)
        return self.items


class Forked:
    """What a pointer points to that is another one for some lanes than for the others."""

    def __init__(self, parts: list[tuple]) -> None:
        self.parts = parts  # (lanes, memory); each lane is in one of them
        first = parts[0][1]
        self.kind, self.is_half, self.is_int = first.kind, first.is_half, first.is_int
        self.batch, self.size = first.batch, max(one.size for _, one in parts)
        self.effects = getattr(first, "effects", None)
        self.name = getattr(first, "name", "")
        self.meter = getattr(first, "meter", None)

    def load(self, off, mask):
        found = None
        for lanes, memory in self.parts:
            mine = both(mask, lanes)
            if mine is not False:
                found = merged(mine, memory.load(off, mine), found)
        return found

    def store(self, off, mask, value) -> None:
        for lanes, memory in self.parts:
            mine = both(mask, lanes)
            if mine is not False:
                memory.store(off, mine, value)


def copied(memory, off, mask, value) -> None:
    """Stored by a copy that goes on meanwhile."""
    if memory.__class__ is Forked:
        for lanes, part in memory.parts:
            mine = both(mask, lanes)
            if mine is not False:
                copied(part, off, mine, value)
    elif memory.__class__ is Buffer and memory.shadow is not None:
        memory.copy(off, mask, value)
    else:
        memory.store(off, mask, value)


def _parts_of(memory, lanes) -> list[tuple]:
    if memory.__class__ is not Forked:
        return [(lanes, memory)]
    parts = [(both(one, lanes), part) for one, part in memory.parts]
    return [(one, part) for one, part in parts if one is not False]


def joined(mask, new, old):
    """`new` for active lanes, `old` for the others, as merged; of pointers, too, whatever they point to."""
    if (
        new.__class__ is not Pointer
        or old.__class__ is not Pointer
        or new.memory is old.memory
        or mask.__class__ is not np.ndarray
        or mask.ndim > 1
        or new.dims[1:] != old.dims[1:]
        or (new.unit, new.names, new.is_packed) != (old.unit, old.names, old.is_packed)
        or (new.memory.kind, new.memory.is_half) != (old.memory.kind, old.memory.is_half)
    ):
        return merged(mask, new, old)
    parts: dict[int, tuple] = {}
    for lanes, memory in (*_parts_of(new.memory, mask), *_parts_of(old.memory, ~mask)):
        before = parts.get(id(memory))
        parts[id(memory)] = lanes if before is None else before[0] | lanes, memory
    found = list(parts.values())
    memory = Forked(found) if len(found) > 1 else found[0][1]
    off = np.where(mask, new.off, old.off)
    return Pointer(memory, off, new.dims, new.unit, new.names, new.is_packed)
