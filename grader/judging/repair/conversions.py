"""One type made of another: casts, conversions, vectors, sizes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from grader.judging.repair import halves
from grader.judging.repair.memory import Fields
from grader.judging.repair.nodes import Node, Type
from grader.judging.repair.overloads import whole
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import List
from grader.judging.repair.type_names import VECTORS
from grader.judging.repair.values import NOWHERE, Fault, Place, Pointer, Struct, to_float, to_int

# Pointers to these see elements of 2 bytes as what they are.
_OF_HALVES = frozenset(("bf16", "__nv_bfloat162"))
_BYTE = 0.25  # words: of what a char* points to
_ANY = frozenset(("void", "auto", "char"))


class Conversions:
    """A part of Machine."""

    def _cast(self, node: Node) -> Callable:
        inner, kind = self.code(node.kids[0]), node.type
        convert = self.conversion(kind)
        lengths = [self.code(size) for size in kind.sizes]
        is_laid_out = self.holds_arrays(kind.name)

        def cast(f, m):
            value = convert(inner(f, m))
            if is_laid_out and value.__class__ is Pointer:
                return self.seen_as(kind, value, f, node.key)
            if lengths and value.__class__ is Pointer:  # to rows of so many
                dims = (value.memory.size, *(int(length(f, m)) for length in lengths))
                return Pointer(
                    value.memory, value.off, dims, value.unit, value.names, value.is_packed
                )
            return value

        return cast

    def conversion(self, kind: Type) -> Callable:
        if kind.stars:
            unit = VECTORS.get(kind.name, 1)
            names = self.plain_fields(kind.name)
            is_half = kind.name in _OF_HALVES

            is_byte = kind.is_byte and kind.stars == 1

            def pointed(value):
                if is_half and value.__class__ is Pointer and value.memory.kind == "shared":
                    if not value.memory.is_half:
                        return Pointer(value.memory.in_halves(), to_int(value.off * 2), (), unit)
                if value.__class__ is Pointer and (is_byte or value.unit == _BYTE):
                    return of_bytes(value, _BYTE if is_byte else unit, len(names), names)
                if value.__class__ is Place and unit == 1 and not names:
                    held = whole(value)  # (float*)&four
                    is_vector = (
                        held.__class__ is Struct and held.fields and "".join(held.fields) in "xyzw"
                    )
                    return Pointer(Fields(held.fields)) if is_vector else value
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

    def plain_fields(self, kind: str) -> tuple[tuple[str, bool], ...]:
        """Of a struct of numbers: their names, and which are integers. Else nothing."""
        fields = self.file.structs.get(kind) or ()
        if any((kind, name) in self.file.lengths for _, name in fields):
            return ()
        if any(one.stars or one.name not in ("int", "float") for one, _ in fields):
            return ()
        return tuple((name, one.name == "int") for one, name in fields)

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
            kind = node.type.name
            return lambda f, m: 4 * self.words_in(kind, f)
        (kid,) = node.kids
        if kid.kind == "deref":
            return lambda f, m: 4
        inner = self.code(kid)

        def size(f, m):
            value = inner(f, m)
            if value.__class__ is List:
                return 8 * len(value.items)
            if value.__class__ is Struct:
                return 8
            if value.__class__ is Pointer and value.dims and holds_pointers(value.memory):
                return 8 * math.prod(value.dims)
            if value.__class__ is Pointer and value.dims:
                return (2 if value.memory.is_half else 4) * math.prod(value.dims)
            return 8 if value.__class__ is Pointer or value is None else 4

        return size


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
