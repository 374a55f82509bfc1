"""One type made of another: casts, conversions, vectors, sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grader.judging.repair import halves
from grader.judging.repair.memory import Buffer, Local
from grader.judging.repair.nodes import Node, Type
from grader.judging.repair.nodes import replace as replaced
from grader.judging.repair.overloads import whole
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import List
from grader.judging.repair.type_names import SHORT_VECTORS, VECTORS, size_of_type
from grader.judging.repair.values import (
    NOWHERE,
    Fault,
    Names,
    Place,
    Pointer,
    Struct,
    is_integer,
    to_float,
    to_int,
)
from grader.judging.repair.views import (
    Bits,
    Fields,
    Halved,
    Reals,
    Shorts,
    are_halves,
    parts_of,
)
from grader.judging.repair.world import Frame

# Pointers to these see elements of 2 bytes as what they are.
_OF_HALVES = frozenset(("bf16", "__nv_bfloat162"))
_BYTE = 0.25  # words: of what a char* points to
_NONE = Names()
_PLAIN = ("int", "float", "bool", "bf16")
_ANY = frozenset(("void", "auto", "char"))


class Conversions:
    """A part of Machine."""

    def _cast(self, node: Node) -> Callable:
        inner, kind = self.code(node.kids[0]), node.type
        if kind.parameter and kind.name == "auto" and kind.stars:
            return self.cast_to_parameter(node)
        convert = self.conversion(kind)
        lengths = [self.code(size) for size in kind.sizes]
        is_laid_out = self.holds_arrays(kind.name)

        is_flat = kind.stars == 1 and kind.name not in _ANY and not lengths
        is_address = kind.stars == 1 and kind.name not in _ANY

        def cast(f, m):
            value = inner(f, m)
            if is_address and value.__class__ is Place:
                return self.place_as(value, kind)
            if is_address and value.__class__ is Struct and value.lead:
                value = only_array(value)
            value = convert(value)
            if kind.stars > 1 and value.__class__ is Pointer and value.memory.kind == "host":
                if value.memory.__class__ is Buffer:  # malloc(n * sizeof(float*))
                    return Pointer(Local(max(1, value.memory.size // 2), None, f.world.batch), 0)
            if is_laid_out and value.__class__ is Pointer:
                return self.seen_as(kind, value, f, node.key)
            if lengths and value.__class__ is Pointer:  # to rows of so many
                dims = (value.memory.size, *(int(length(f, m)) for length in lengths))
                return Pointer(
                    value.memory, value.off, dims, value.unit, value.names, value.is_packed
                )
            if is_flat and value.__class__ is Pointer and len(value.dims) > 1:
                return replace(value, dims=())
            return value

        return cast

    def _bits(self, node: Node) -> Callable:
        """A value as one of another type with the same bits."""
        inner, kind = self.code(node.kids[0]), node.type
        pointer = replace(kind, stars=1)

        def bits(f, m):
            found = self.place_as(Place({"": inner(f, m)}, ""), pointer)
            return whole(found) if found.__class__ is Place else found.load(m)

        return bits

    def cast_to_parameter(self, node: Node) -> Callable:
        """reinterpret_cast<T*>(p): as what T stands for there."""
        known: dict[str, Callable] = {}
        inner = self.code(node.kids[0])

        def cast(f, m):
            kind = self.of_frame(node.type, f)
            if kind.name == "auto":
                return inner(f, m)
            if kind.name not in known:
                known[kind.name] = self._cast(replaced(node, type=kind, code=None))
            return known[kind.name](f, m)

        return cast

    def place_as(self, place: Place, kind: Type):
        """What lies there, seen by a pointer to something else."""
        held, unit, names = whole(place), VECTORS.get(kind.name, 1), self.plain_fields(kind.name)
        is_half = kind.name in _OF_HALVES or names.is_half
        if held.__class__ is not Struct:
            if unit > 1 or names:
                return place
            cell = Fields([(place.holder, place.name)])
            is_number = kind.name == "int" and not kind.is_byte
            if is_half and is_integer(held):
                return Pointer(Halved(cell), 0)
            if is_number and isinstance(held, (float, np.floating, np.ndarray)):
                if not is_integer(held):
                    return Pointer(Shorts(cell) if kind.is_short else Bits(cell), 0)
            return Pointer(Reals(cell), 0) if kind.name == "float" and is_integer(held) else place
        if kind.name == held.kind or "".join(held.fields) == "xyzw"[:unit] and not is_half:
            if not self.is_of_halves(held):
                return place
        parts = parts_of(held)
        if not parts:
            return place
        memory = Fields(parts, self.is_of_halves(held))
        return self.seen(Pointer(memory), kind, len(names) or unit, names, is_half)

    def is_of_halves(self, value: Struct) -> bool:
        if value.kind in _OF_HALVES or self.plain_fields(value.kind).is_half:
            return True
        return are_halves(value)

    def seen(self, value: Pointer, kind: Type, unit: int, names: tuple, is_half: bool) -> Pointer:
        """Words as halves, halves as words or as numbers."""
        memory = value.memory
        if is_half and not memory.is_half:
            memory = memory.memory if memory.__class__ is Shorts else Halved(memory)
            off = value.off if memory.__class__ is not Halved else value.off * 2
            return Pointer(memory, off, (), unit, names)
        if memory.is_half and not is_half and (kind.is_short or kind.name in SHORT_VECTORS):
            return Pointer(Shorts(memory), value.off, (), unit)
        if memory.is_half and not is_half:
            return Pointer(memory, value.off, (), unit, (), True)
        return Pointer(memory, value.off, (), unit, names)

    def conversion(self, kind: Type) -> Callable:
        if kind.stars and kind.name == "auto":
            return lambda value: Place(value, 0) if value.__class__ is List else value
        if kind.stars:
            unit = VECTORS.get(kind.name, 1)
            names = self.plain_fields(kind.name)
            is_half = kind.name in _OF_HALVES

            is_half = is_half or names.is_half
            is_byte = kind.is_byte and kind.stars == 1
            is_short = kind.is_short or kind.name in SHORT_VECTORS
            each = len(names) or unit

            def pointed(value):
                if value.__class__ is Pointer:
                    memory = value.memory
                    if is_half and not memory.is_half:
                        is_device = memory.kind == "global" and memory.name == "device"
                        if (memory.kind == "shared" or is_device) and memory.__class__ is Buffer:
                            if not memory.is_words:
                                off = to_int(value.off * 2)
                                return Pointer(memory.in_halves(), off, (), each, names)
                            return self.seen(value, kind, each, names, True)
                        if memory.__class__ in (Local, Shorts):
                            return self.seen(value, kind, each, names, True)
                    elif memory.__class__ is Shorts and not is_short and kind.name not in _ANY:
                        value = replace(value, memory=memory.memory)
                    if is_short and value.memory.is_half:
                        return Pointer(Shorts(value.memory), value.off, (), unit)
                if value.__class__ is Pointer and (is_byte or value.unit == _BYTE):
                    return of_bytes(value, _BYTE if is_byte else unit, len(names), names)
                if value.__class__ is List:
                    return Place(value, 0)
                if value.__class__ is not Pointer:
                    return NOWHERE if is_byte and value.__class__ is int and not value else value
                if kind.name not in _ANY and value.memory.is_half and not is_half:
                    return Pointer(value.memory, value.off, (), unit, (), True)
                if names:
                    dims = value.dims if value.names == names else ()
                    return Pointer(value.memory, value.off, dims, len(names), names)
                return Pointer(value.memory, value.off, value.dims if unit == 1 else (), unit)

            return pointed
        if kind.name == "int":
            return to_int
        if kind.name == "float":
            return to_float
        if kind.name == "bf16":
            return lambda value: halves.rounded(to_float(value))
        return lambda value: value.copy() if value.__class__ is Struct else value

    def plain_fields(self, kind: str) -> Names:
        """Of a struct of numbers, or of such structs: their names. Else nothing."""
        if kind not in self.plain_kinds:
            self.plain_kinds[kind] = _NONE  # of one that has itself
            self.plain_kinds[kind] = self.names_of(kind)
        return self.plain_kinds[kind]

    def names_of(self, kind: str) -> Names:
        fields = self.file.structs.get(kind) or ()
        found: list[tuple[str, bool]] = []
        kinds: dict[str, str] = {}
        for own, name in fields:
            if own.stars or own.is_reference or (kind, name) in self.file.lengths:
                return _NONE
            if own.name in ("int", "float", "bf16"):
                found.append((name, own.name == "int"))
                continue
            inner = self.plain_fields(own.name)
            if own.name in VECTORS:
                inner = Names((axis, False) for axis in "xyzw"[: VECTORS[own.name]])
            if not inner:
                return _NONE
            found += [(f"{name}.{one}", is_int) for one, is_int in inner]
            kinds |= {name: own.name, **{f"{name}.{n}": k for n, k in inner.kinds.items()}}
        are_halves = [
            own.name in _OF_HALVES or self.plain_fields(own.name).is_half for own, _ in fields
        ]
        if not found or kind in self.file.unions or any(are_halves) and not all(are_halves):
            return _NONE
        names = Names(found)
        names.kind, names.kinds, names.is_deep = kind, kinds, bool(kinds)
        names.is_half = all(are_halves)
        return names

    def _make(self, node: Node) -> Callable:
        parts = [self.code(kid) for kid in node.kids]
        if node.text == "dim3":
            names, rest = "xyz", 1
        elif node.text in VECTORS:
            names, rest = "xyzw"[: VECTORS[node.text]], 0.0
        else:
            if len(parts) == 1:
                return self._converted(parts[0], node.text)
            raise GivenUp("constructor")
        if node.text == "dim3" and len(parts) == 1:

            def one(f, m):
                value = parts[0](f, m)
                if value.__class__ is Struct:
                    return value.copy()
                return Struct({"x": value, "y": 1, "z": 1})

            return one

        def made(f, m):
            given = [part(f, m) for part in parts]
            each = {n: given[i] if i < len(given) else rest for i, n in enumerate(names)}
            return Struct(each, node.text)

        return made

    def _converted(self, part: Callable, kind: str) -> Callable:
        convert = self.conversion(Type(kind))
        return lambda f, m: convert(part(f, m))

    def _sizeof(self, node: Node) -> Callable:
        if not node.kids:  # of a struct's type
            kind, names = node.type.name, self.file.parameters.get(node.type.name) or ()
            given = [self.code(one) for one in node.type.args]

            def of_type(f, m):
                known = {name: part(f, m) for name, part in zip(names, given, strict=False)}
                inner = Frame(f.world, {**f.env, **known}, fields=f.fields) if known else f
                return 4 * self.words_in(kind, inner)

            return of_type
        (kid,) = node.kids
        known = self.types.get(kid.kids[0].text if kid.kind == "deref" else kid.text)
        stars = kid.kind == "deref"
        if known is not None and kid.kind in ("name", "deref") and known.stars == stars:
            if known.name in self.file.structs:
                return lambda f, m: self.bytes_in(known.name, f)
            if known.name not in ("auto", "void") and known.name in (*VECTORS, *_PLAIN):
                each = size_of_type(
                    Type(known.name, is_byte=known.is_byte, is_short=known.is_short)
                )
                return lambda f, m: each
        if kid.kind == "deref":
            return lambda f, m: 4
        inner = self.code(kid)

        def size(f, m):
            value = inner(f, m)
            if value.__class__ is List:
                are_structs = all(one.__class__ is Struct for one in value.items)
                each = self.size_of(value.items[0], f) if are_structs and value.items else 8
                return each * len(value.items)
            if value.__class__ is Struct:
                return self.size_of(value, f)
            if value.__class__ is Pointer and value.dims and holds_pointers(value.memory):
                return 8 * math.prod(value.dims)
            if value.__class__ is Pointer and value.dims:
                each = 2 if value.memory.is_half else 4
                return each * value.unit * math.prod(value.dims)
            return 8 if value.__class__ is Pointer or value is None else 4

        return size

    def size_of(self, value: Struct, f) -> int:
        if value.kind in self.file.structs and not value.lead:
            return self.bytes_in(value.kind, f)
        parts = parts_of(value)
        return len(parts) * (2 if self.is_of_halves(value) else 4) if parts else 8


def only_array(value: Struct) -> Pointer:
    """What an array of structs consists of, if each of them is an array."""
    found = [one for one in value.fields.values() if one.__class__ is Pointer]
    if len(found) != 1 or value.shape:
        raise GivenUp("cast")
    return found[0]


def of_bytes(value: Pointer, unit: float, words: int, names: tuple) -> Pointer:
    """A pointer to bytes, or what it was made of."""
    off = value.off
    if unit != _BYTE:
        unit = words or unit
        if np.any(np.mod(off, 1)):
            raise Fault("alignment")
        off = to_int(off)
        off = off if off.__class__ is np.ndarray else int(off)
    return Pointer(value.memory, off, (), unit, names if unit != _BYTE else ())


def holds_pointers(memory) -> bool:
    items = getattr(memory, "items", None)
    return items.__class__ is list and any(one is None or one.__class__ is Pointer for one in items)
