"""Memory that is seen as something else: floats as their bits, halves as numbers, words as halves, the
parts of a struct by their number.
"""

from __future__ import annotations

import math

import numpy as np

from grader.judging.repair import halves
from grader.judging.repair.values import (
    PAIR,
    Fault,
    Place,
    Pointer,
    Ref,
    Struct,
    bits_of,
    both,
    float_of,
    is_integer,
    merged,
    nested,
    to_int,
    truth,
)

NUMBERS = (int, float, np.generic, np.ndarray)


class Seen:
    """What lies in `memory`, as something else."""

    is_half = False
    is_int = True
    each = 1.0  # of its elements one of these is so many

    def __init__(self, memory) -> None:
        self.memory, self.batch = memory, memory.batch
        self.size = int(memory.size * self.each)

    @property
    def kind(self) -> str:
        return self.memory.kind

    @property
    def meter(self):
        return getattr(self.memory, "meter", None)

    @property
    def effects(self):
        return self.memory.effects if self.memory.kind != "local" else None


class Bits(Seen):
    """Floats whose bits are seen as integers."""

    kind = "local"

    def load(self, off, mask):
        return bits_of(self.memory.load(off, mask))

    def store(self, off, mask, value) -> None:
        self.memory.store(off, mask, float_of(value))


class Reals(Seen):
    """Integers that are seen as the floats whose bits they are."""

    kind = "local"
    is_int = False

    def load(self, off, mask):
        return float_of(self.memory.load(off, mask))

    def store(self, off, mask, value) -> None:
        self.memory.store(off, mask, bits_of(value))


class Shorts(Seen):
    """Elements of 2 bytes as integers."""

    def load(self, off, mask):
        return halves.as_number(self.memory.load(off, mask))

    def store(self, off, mask, value) -> None:
        self.memory.store(off, mask, halves.of_number(value))


class Halved(Seen):
    """Words as two elements of 2 bytes each, the lower half first."""

    is_half = True
    is_int = False
    each = 2

    def load(self, off, mask):
        word = to_int(self.memory.load(off // 2, mask))
        return halves.of_number(word >> off % 2 * 16)

    def store(self, off, mask, value) -> None:
        at, by = off // 2, off % 2 * 16
        known = to_int(self.memory.load(at, mask))
        new = halves.as_number(value) << by
        self.memory.store(at, mask, 0 if known is None else known & ~(0xFFFF << by) | new)


class Fields:
    """The parts of a struct by their number; those of structs in it come one after the other."""

    kind = "local"
    effects = None
    is_int = False

    def __init__(self, parts: list[tuple], is_half: bool = False) -> None:
        self.parts = parts  # (what it lies in, its name or number there)
        self.size, self.is_half, self.batch = len(parts), is_half, None

    def _outside(self, off, mask) -> None:
        bad = (off < 0) | (off >= self.size)
        bad = bad if mask is True else bad & mask
        if np.any(bad):
            raise Fault("vector")

    def _get(self, at: int, mask):
        holder, name = self.parts[at]
        return holder[name] if holder.__class__ is dict else holder.load(name, mask)

    def load(self, off, mask):
        self._outside(off, mask)
        if off.__class__ is not np.ndarray:
            return self._get(off, mask)
        parts = [np.broadcast_to(self._get(at, mask), off.shape) for at in range(self.size)]
        return np.choose(np.clip(off, 0, len(parts) - 1), parts)

    def store(self, off, mask, value) -> None:
        self._outside(off, mask)
        if self.is_half:
            value = halves.rounded(value)
        places = range(self.size) if off.__class__ is np.ndarray else [off]
        for at in places:
            mine = both(mask, truth(off == at)) if len(places) > 1 else mask
            if mine is False:
                continue
            holder, name = self.parts[at]
            if holder.__class__ is dict:
                holder[name] = merged(mine, value, holder[name])
            else:
                holder.store(name, mine, value)


class Whole(Seen):
    """Words of which it is known that they are integers."""

    def load(self, off, mask):
        return to_int(self.memory.load(off, mask))

    def store(self, off, mask, value) -> None:
        self.memory.store(off, mask, value)


def in_place(pointer: Pointer) -> Struct:
    """The struct that lies there; what is put into a field of it is put there."""
    found = {}
    for at, (name, is_int) in enumerate(pointer.names):
        memory = Whole(pointer.memory) if is_int else pointer.memory
        found[name] = Ref(Pointer(memory, pointer.off + at))
    names = pointer.names
    return nested(found, names) if names.is_deep else Struct(found, names.kind)


class Cell(Fields):
    """A variable, into which the bits are put of what has another type."""

    def __init__(self, holder: dict, name: str) -> None:
        super().__init__([(holder, name)])

    def store(self, off, mask, value) -> None:
        holder, name = self.parts[0]
        known = holder.get(name) if holder.__class__ is dict else holder[name]
        if (known is None or is_integer(known)) and not is_integer(value):
            value = bits_of(value)
        elif known is not None and not is_integer(known) and is_integer(value):
            value = float_of(value)
        super().store(off, mask, value)


def is_of_fields(memory) -> bool:
    while isinstance(memory, Seen):
        memory = memory.memory
    return isinstance(memory, Fields)


def are_halves(value: Struct) -> bool:
    """Whether a struct has nothing but elements of 2 bytes, as far as it shows."""
    parts = [one.target if one.__class__ is Ref else one for one in value.fields.values()]
    return value.kind == PAIR or bool(parts) and all(
        are_halves(one) if one.__class__ is Struct
        else one.__class__ is Pointer and one.memory.is_half
        for one in parts
    )  # fmt: skip


def parts_of(value: Struct) -> list[tuple] | None:
    """What Fields is made of; None where there is something else than numbers."""
    found: list[tuple] = []
    if value.lead:
        return None
    for name, part in value.fields.items():
        more = _parts_of(value.fields, name, part)
        if more is None:
            return None
        found += more
    return found


def _parts_of(holder: dict, name: str, part) -> list[tuple] | None:
    if part.__class__ is Ref:
        part = part.target
        if part.__class__ is Place:
            return [(part.holder, part.name)] if part.holder.__class__ is dict else None
        return _in_memory(part)
    if part.__class__ is Struct:
        return parts_of(part)
    if part.__class__ is Pointer:
        return _in_memory(part) if part.dims and part.memory.kind == "local" else None
    if part is None or isinstance(part, NUMBERS):
        return [(holder, name)]
    return None


def _in_memory(part: Pointer) -> list[tuple]:
    count = math.prod(part.dims) * part.unit
    if part.is_packed:
        raise Fault("parts")
    return [(part.memory, part.off + at) for at in range(count)]
