"""Calls that allocate, copy, fill and free memory, of the host and of the device."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from grader.judging.repair.host_memory import as_before
from grader.judging.repair.memory import Buffer
from grader.judging.repair.overloads import whole
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Fault, Place, Pointer, Ref, Struct, Text, merged, to_int
from grader.judging.repair.views import Cell, Fields, are_halves, parts_of

_MAX_WORDS = 1 << 18
_MOST_ROWS = 512
MOST_CLEARED = 256
_FROM_HOST = {
    "cudaMemcpyHostToDevice": ("global", "host"),
    "cudaMemcpyDeviceToHost": ("host", "global"),
    "cudaMemcpyDeviceToDevice": ("global", "global"),
}


def do_malloc(given, templates, name="device"):
    def run(f, m):
        place, size = given[0](f, m), int(to_int(given[1](f, m)))
        is_element = place.__class__ is Pointer and place.memory.kind == "local"
        if place.__class__ is not Place and not is_element:
            raise Fault("cudaMalloc")
        if size <= 0 or size > 4 * _MAX_WORDS:
            raise Fault("size")
        buffer = Buffer("global", size // 4, name=name)
        buffer.owners = f.world.owners
        buffer.batch, buffer.effects = f.world.batch, f.world.effects or f.world.lenient
        if f.world.logs is not None:
            buffer.log = []
            f.world.logs.append(buffer)
        if is_element:
            place.store(True, Pointer(buffer))
        else:
            place.holder[place.name] = as_before(place, Pointer(buffer))
        return 0

    return run


def _in_words(pointer: Pointer) -> Pointer:
    off = pointer.off
    if off.__class__ is float and off.is_integer():
        return Pointer(pointer.memory, int(off))
    return pointer


def do_memcpy(given, templates):
    def run(f, m):
        to, source, size, kind = (part(f, m) for part in given[:4])
        if to.__class__ is Place and source.__class__ is Place:
            held = whole(source)
            if held.__class__ is Struct and whole(to).__class__ is Struct:
                to.holder[to.name] = held.copy()
                return 0
        if to.__class__ is not Pointer or source.__class__ is not Pointer:
            raise Fault("cudaMemcpy")
        kinds = _FROM_HOST.get(str(kind))
        if kinds is None and kind != "cudaMemcpyDefault":
            raise GivenUp("cudaMemcpy")
        if kinds is not None and (to.memory.kind, source.memory.kind) != kinds:
            raise Fault("direction")
        words = int(size) // 4
        to, source = _in_words(to), _in_words(source)
        if to.off.__class__ is not int or source.off.__class__ is not int:
            raise GivenUp("cudaMemcpy")
        if min(to.off, source.off, words) < 0:
            raise Fault("size")
        if words > to.memory.size - to.off or words > source.memory.size - source.off:
            raise Fault("size")
        if to.memory.kind == "host" and to.memory.is_input:
            raise Fault("an input")
        a, b = to.memory, source.memory
        a.is_int = a.is_int or b.is_int
        if b.rows > a.rows:
            a.split()
        here, there = slice(to.off, to.off + words), slice(source.off, source.off + words)
        a.data.reshape(-1, a.size)[:, here] = b.data.reshape(-1, b.size)[:, there]
        return 0

    return run


def do_memcpy_2d(given, templates):
    """Row by row: to, its pitch, from, its pitch, bytes of a row, rows, the way."""

    def run(f, m):
        to, to_pitch, source, pitch, width, rows, kind = (part(f, m) for part in given[:7])
        if to.__class__ is not Pointer or source.__class__ is not Pointer:
            raise GivenUp("cudaMemcpy2D")
        if int(width) > min(int(to_pitch), int(pitch)):
            raise Fault("pitch")
        if int(rows) > _MOST_ROWS:
            raise GivenUp("cudaMemcpy2D")
        for row in range(int(rows)):
            ends = [
                replace(one, off=one.off + row * int(step) // 4)
                for one, step in ((to, to_pitch), (source, pitch))
            ]
            parts = [*ends, width, kind]
            do_memcpy([lambda f, m, part=part: part for part in parts], templates)(f, m)
        return 0

    return run


def _word_by_word(to, source, size, m) -> int:
    """memcpy of a kernel."""
    if size.__class__ is np.ndarray or not 0 < size <= 4 * MOST_CLEARED:
        raise GivenUp("memcpy")
    held = whole(source) if source.__class__ is Place else None
    if to.__class__ is Place and held.__class__ is Struct and whole(to).__class__ is Struct:
        if whole(to).kind == held.kind and parts_of(held) is None:
            to.holder[to.name] = merged(m, held.copy(), to.holder.get(to.name))
            return 0
    to, source = _numbers_at(to), _numbers_at(source)
    are_halves = to.memory.is_half and source.memory.is_half
    if to.memory.is_half != source.memory.is_half:  # as words
        to, source = (replace(one, unit=1, names=(), is_packed=one.memory.is_half)
                      for one in (to, source))  # fmt: skip
    for at in range(int(size) // (2 if are_halves else 4)):
        if to.is_packed or source.is_packed:
            to.moved(at).store(m, source.moved(at).load(m))
        else:
            to.memory.store(to.off + at, m, source.memory.load(source.off + at, m))
    return 0


def _numbers_at(value) -> Pointer:
    if value.__class__ is Pointer:
        return value
    if value.__class__ is not Place:
        raise GivenUp("memcpy")
    held = whole(value)
    if held.__class__ is not Struct:
        return Pointer(Cell(value.holder, value.name))
    parts = parts_of(held)
    if not parts:
        raise GivenUp("memcpy")
    return Pointer(Fields(parts, are_halves(held)))


def do_host_memcpy(given, templates):
    """Between memory that the host reaches."""

    def run(f, m):
        to, source, size = (part(f, m) for part in given[:3])
        if f.world.is_inside:
            f.world.step()
            return _word_by_word(to, source, size, m)
        if to.__class__ is not Pointer or source.__class__ is not Pointer:
            raise GivenUp("memcpy")
        for one in (to, source):
            if one.memory.kind != "host" and getattr(one.memory, "name", "") != "managed":
                raise Fault("memcpy")
        return copied([lambda f, m: to, lambda f, m: source, lambda f, m: size], f, m)

    def copied(parts, f, m):
        return do_memcpy([*parts, lambda f, m: "cudaMemcpyDefault"], templates)(f, m)

    return run


def do_copy(given, templates):
    """std::copy(first, last, to), std::copy_n(first, n, to) in memory of the host."""

    def run(f, m):
        first, last, to = (part(f, m) for part in given[:3])
        if first.__class__ is not Pointer or to.__class__ is not Pointer:
            raise GivenUp("copy")
        size = (last.off - first.off) if last.__class__ is Pointer else int(last)
        if not 0 <= size <= _MAX_WORDS:
            raise Fault("size")
        parts = (to, first, 4 * size)
        return do_host_memcpy([lambda f, m, one=one: one for one in parts], templates)(f, m)

    return run


def do_malloc_managed(given, templates):
    return do_malloc(given, templates, "managed")


def do_memset(given, templates):
    def run(f, m):
        to, value, size = (part(f, m) for part in given[:3])
        if to.__class__ is not Pointer or to.memory.kind != "global" or value != 0:
            raise Fault("cudaMemset")
        words = int(size) // 4
        if to.off.__class__ is not int or not 0 <= words <= to.memory.size - to.off:
            raise Fault("size")
        to.memory.data.reshape(-1, to.memory.size)[:, to.off : to.off + words] = 0
        return 0

    return run


def _clear(value, m) -> None:
    if value.__class__ is Pointer:
        for at in range(math.prod(value.dims) * value.unit if value.dims else value.unit):
            value.memory.store(value.off + at, m, 0)
    elif value.__class__ is Struct:
        for name, one in value.fields.items():
            if one.__class__ is Ref:
                one.target.store(m, 0)
            elif one.__class__ is Struct or (one.__class__ is Pointer and one.dims):
                _clear(one, m)
            elif name.isidentifier() and not isinstance(one, Text):
                value.fields[name] = merged(m, 0, one)
    else:
        raise GivenUp("memset")


def do_begin(given, templates):
    return lambda f, m: _ends(given[0](f, m))[0]


def do_end(given, templates):
    return lambda f, m: _ends(given[0](f, m))[1]


def _ends(value) -> tuple:
    if value.__class__ is not Pointer or not value.dims:
        raise GivenUp("begin")
    first = Pointer(value.memory, value.off, value.dims[1:] and value.dims, value.unit, value.names)
    return first, first.moved(value.dims[0])


def do_filled(given, templates):
    """std::fill(first, last, value), std::fill_n(first, n, value)"""

    def run(f, m):
        first, last, value = (part(f, m) for part in given[:3])
        if first.__class__ is not Pointer:
            raise GivenUp("fill")
        size = last.off - first.off if last.__class__ is Pointer else last
        if size.__class__ is np.ndarray or not 0 <= size <= _MAX_WORDS:
            raise GivenUp("fill")
        if (
            first.memory.kind == "host"
            and first.off.__class__ is int
            and value.__class__ is not np.ndarray
        ):
            if first.off + size > first.memory.size:
                raise Fault("size")
            first.memory.data[first.off : first.off + int(size)] = value
            return 0
        for at in range(min(int(size), MOST_CLEARED + 1)):
            if at == MOST_CLEARED:
                raise GivenUp("fill")
            first.moved(at).store(m, value)
        return 0

    return run


def do_host_memset(given, templates):
    """memset(p, 0, n): words, or a struct."""

    def run(f, m):
        to, value, size = (part(f, m) for part in given[:3])
        if to.__class__ is Place:
            to = to.holder.get(to.name)
        if value.__class__ is not int or value != 0:
            raise GivenUp("memset")
        if to.__class__ is Pointer:
            words = int(size) // (2 if to.memory.is_half else 4)
            for at in range(words) if words <= MOST_CLEARED else ():
                to.memory.store(to.off + at, m, 0)
            if words > MOST_CLEARED:
                if to.memory.kind != "host" or words > to.memory.size - to.off:
                    raise GivenUp("memset")
                to.memory.data[to.off : to.off + words] = 0
            return 0
        _clear(to, m)
        return 0

    return run


def do_free(given, templates):
    def run(f, m):
        value = given[0](f, m)
        if isinstance(value, int) and value == 0:
            return 0
        if value.__class__ is Place and value.name.__class__ is tuple:  # a struct
            return 0
        if value.__class__ is not Pointer or value.memory.kind != "global":
            raise Fault("cudaFree")
        value.memory.kind = "freed"
        return 0

    return run
