"""Structs that hold arrays, and unions: where their parts lie, and how they are copied."""

from __future__ import annotations

import math

import numpy as np

from grader.judging.repair.memory import Local
from grader.judging.repair.nodes import Node
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.type_names import INTEGERS, VECTORS
from grader.judging.repair.values import Fault, Pointer, Ref, Struct, merged
from grader.judging.repair.views import Bits, parts_of
from grader.judging.repair.world import Frame

_MOST_WORDS = 1 << 18
_HALVES = frozenset(("bf16", "__nv_bfloat162"))


def in_steps(lead: tuple, words: int) -> tuple:
    """Of each index how many there are, and how many words it goes on by."""
    return tuple((count, words * math.prod(lead[at + 1 :])) for at, count in enumerate(lead))


class Layouts:
    """A part of Machine."""

    def overlay(self, kind: str, memory, off, f: Frame, lead: tuple = ()) -> Struct:
        """A struct, or an array of them, as what lies in memory from a place on."""
        found, at = {}, 0
        fields = self.file.structs[kind]
        is_union = kind in self.file.unions
        if not self.is_of_words(kind, f, memory.is_half):
            raise GivenUp("what lies in memory")
        fields = [(self.of_frame(own, f) if own.parameter else own, name) for own, name in fields]
        sizes = [self.words_of(kind, own, name, f) for own, name in fields]
        has_floats = any(not self.is_whole(own.name) for own, _ in fields)
        for (own, name), words in zip(fields, sizes, strict=True):
            dims = self.dims_of_field(kind, name, f)
            if own.name in self.file.structs:
                found[name] = self.overlay(own.name, memory, off + at, f, dims)
                at += 0 if is_union else words
                continue
            is_bits = is_union and has_floats and self.is_whole(own.name)
            unit = VECTORS.get(own.name, 1)
            place = Pointer(Bits(memory) if is_bits else memory, off + at, dims, unit)
            found[name] = place if dims else Ref(place)
            at += 0 if is_union else words
        words = max(sizes, default=0) if is_union else at
        return Struct(found, kind, len(lead), in_steps(lead, words))

    def seen_as(self, kind, pointer: Pointer, f: Frame, key: int) -> Struct:
        """Memory that is taken for structs of a kind, or for one."""
        templates = self.file.parameters.get(kind.name) or []
        args = kind.args or [Node("name", text=name, key=-1) for name in templates]
        given = {n: self.code(one)(f, True) for n, one in zip(templates, args, strict=False)}
        inner = Frame(f.world, {**f.env, **given}, fields=f.fields)
        is_plain = self.is_of_words(kind.name, inner, pointer.memory.is_half)
        if pointer.memory.kind == "shared" and not is_plain:
            # The block's dynamic memory, taken for one struct, or for as many as there is room for.
            fields = self.file.structs[kind.name]
            count = 4 * pointer.memory.size // max(1, self.bytes_in(kind.name, f))
            lead = (count,) if count > 1 else ()
            found = self.laid_out(
                kind.name, fields, inner, lead, (kind.name, key), True, False, kind.args
            )
            found.fields.update(given)
            return found
        if pointer.memory.kind == "host" and not is_plain:  # of malloc
            fields = self.file.structs[kind.name]
            return self.laid_out(kind.name, fields, f, (), (kind.name, key), False, True)
        found = self.overlay(kind.name, pointer.memory, pointer.off, inner, (1 << 20,))
        found.fields.update(given)
        return found

    def is_of_words(self, kind: str, f: Frame, in_halves: bool = False) -> bool:
        """Whether a struct has nothing but numbers, or nothing but elements of 2 bytes."""
        known = _HALVES if in_halves else {*INTEGERS, "float", *VECTORS} - _HALVES

        def is_known(own) -> bool:
            own = self.of_frame(own, f) if own.parameter else own
            if own.stars or own.name in known:
                return not own.stars
            is_struct = own.name in self.file.structs and own.name != kind
            return is_struct and self.is_of_words(own.name, f, in_halves)

        return all(is_known(own) for own, _ in self.file.structs[kind])

    @staticmethod
    def is_whole(name: str) -> bool:
        return name in INTEGERS or name.startswith(("int", "uint"))

    def dims_of_field(self, kind: str, name: str, f: Frame) -> tuple:
        sizes = self.file.lengths.get((kind, name), ())
        return tuple(int(self.code(size)(f, True)) for size in sizes)

    def words_of(self, kind: str, own, name: str, f: Frame) -> int:
        unit = VECTORS.get(own.name, 1)
        if own.name in self.file.structs:
            unit = self.words_in(own.name, f)
        return unit * math.prod(self.dims_of_field(kind, name, f))

    def words_in(self, kind: str, f: Frame) -> int:
        fields = self.file.structs[kind]
        sizes = [self.words_of(kind, own, name, f) for own, name in fields]
        found = max(sizes, default=0) if kind in self.file.unions else sum(sizes)
        if not 0 < found <= _MOST_WORDS:
            raise GivenUp("size")
        return found

    def bytes_in(self, kind: str, f: Frame) -> int:
        found = []
        for own, name in self.file.structs[kind]:
            each = 8 if own.stars else (2 if own.name in _HALVES else 4) * VECTORS.get(own.name, 1)
            if own.name in self.file.structs and not own.stars:
                each = self.bytes_in(own.name, f)
            found.append(each * math.prod(self.dims_of_field(kind, name, f)))
        return max(found, default=0) if kind in self.file.unions else sum(found)

    def union(self, kind: str, f: Frame, lead: tuple, is_zero: bool) -> Struct:
        """One, or an array of them, of a thread's own."""
        if any(own.name in _HALVES for own, _ in self.file.structs[kind]):
            return self.half_union(kind, f, lead, is_zero)
        if not self.is_of_words(kind, f):  # pointers, streams: what is put there is what is taken
            found: dict = {name: None for _, name in self.file.structs[kind]}
            if lead or any((kind, name) in self.file.lengths for name in found):
                raise GivenUp("union")
            return Struct(found, kind)
        size = self.words_in(kind, f) * math.prod(lead)
        is_int = all(self.is_whole(own.name) for own, _ in self.file.structs[kind])
        memory = Local(size, 0 if is_zero else np.nan, f.world.batch, is_int)
        return self.overlay(kind, memory, 0, f, lead)

    def half_union(self, kind: str, f: Frame, lead: tuple, is_zero: bool) -> Struct:
        """Of elements of 2 bytes, and of words that hold two of them."""
        places, most = [], 0
        for own, name in self.file.structs[kind]:
            unit = VECTORS.get(own.name, 1)
            if own.stars or not (own.name in _HALVES or self.is_whole(own.name)):
                raise GivenUp("union")
            dims = self.dims_of_field(kind, name, f)
            is_packed = own.name not in _HALVES
            places.append((name, dims, unit, is_packed))
            most = max(most, math.prod(dims) * unit << is_packed)
        if not 0 < most * math.prod(lead) <= _MOST_WORDS:
            raise GivenUp("union")
        memory = Local(
            most * math.prod(lead), 0.0 if is_zero else np.nan, f.world.batch, False, True
        )
        found: dict = {}
        for name, dims, unit, is_packed in places:
            place = Pointer(memory, 0, dims, unit, (), is_packed)
            found[name] = place if dims else Ref(place)
        return Struct(found, kind, len(lead), in_steps(lead, most))

    # --- copies

    def duplicate(self, value: Struct, f: Frame, m) -> Struct:
        """One with arrays of its own."""
        fields = self.file.structs.get(value.kind)
        if fields is None or value.lead:
            raise GivenUp("a struct with arrays is copied")
        inner = Frame(f.world, {**f.env, **value.fields}, fields=f.fields)
        if value.kind in self.file.unions:
            found = self.union(value.kind, inner, (), False)
        else:
            key = ("", value.kind)
            found = self.laid_out(value.kind, fields, inner, (), key, False, False)
            rest = {n: v for n, v in value.fields.items() if n not in found.fields}
            found.fields.update(rest)
        self.copy_words(found, value, m)
        return found

    def copy_words(self, to: Struct, source: Struct, m) -> None:
        if to.kind != source.kind or to.lead or source.lead:
            raise GivenUp("a struct with arrays is copied")
        given = self.file.parameters.get(to.kind) or ()  # what these stand for is the same
        names = [name for name in to.fields if name not in given]
        if to.kind in self.file.unions:
            names = names[:1] if len(names) == 1 else [self.widest(to)]
        for name in names:
            new, old = source.fields.get(name), to.fields[name]
            if old.__class__ is Ref:
                old.target.store(m, new.get(m) if new.__class__ is Ref else new)
            elif new.__class__ is Ref:
                to.fields[name] = merged(m, new.get(m), old)
            elif old.__class__ is Pointer and (to.kind, name) in self.file.lengths:
                for at in range(math.prod(old.dims) * old.unit):
                    word = new.memory.load(new.off + at, m)
                    old.memory.store(old.off + at, m, word)
            elif old.__class__ is Struct and (
                self.holds_arrays(old.kind) or Ref in map(type, old.fields.values())
            ):
                self.copy_words(old, new, m)
            else:
                to.fields[name] = merged(m, new, old)

    def widest(self, value: Struct) -> str:
        """The part of a union that has all of its words, of floats if there are any."""

        def size(name: str) -> tuple:
            part = value.fields[name]
            if part.__class__ is Struct:
                return len(parts_of(part) or ()), False
            place = part.target if part.__class__ is Ref else part
            return math.prod(place.dims) * place.unit, place.memory.__class__ is not Bits

        return max(value.fields, key=size)

    def put_whole(self, place, given: Struct, f: Frame, m) -> bool:
        """Copies into the struct with arrays that lies there; whether there is one."""
        if place.__class__ is Ref:
            place = place.target
        old = place if place.__class__ is Struct else None
        if old is None and hasattr(place, "holder"):
            old = place.holder.get(place.name)
        if old.__class__ is not Struct or old.kind != given.kind:
            return False
        if old.lead:
            raise Fault("struct")
        self.copy_words(old, given, m)
        return True
