"""Declarations of an interpreted file: variables, arrays, structs, what they begin with."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from grader.judging.repair.arrays import MAX_POINTERS, MAX_WORDS, Arrays, shared_words
from grader.judging.repair.fragments import FRAGMENT, fragment_of, fragments
from grader.judging.repair.maps import Map
from grader.judging.repair.memory import Buffer
from grader.judging.repair.nodes import GIVEN, Function, Node, Type
from grader.judging.repair.overloads import takes
from grader.judging.repair.races import unseen
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import TEXTS, List
from grader.judging.repair.type_names import INTEGERS, VECTORS
from grader.judging.repair.values import NOWHERE, TEXT, Fault, Place, Pointer, Ref, Struct, merged
from grader.judging.repair.world import DEVICE, Frame

_MET = ("barrier", "pipeline_shared_state")  # where threads wait for each other
REFERRED = frozenset(("name", "index", "member", "deref"))


def host_memory(world, given: list) -> Pointer:
    """std::vector<float> x(n), x(n, 0.0f), x(M, M + n)."""
    if given and given[0].__class__ is Pointer and len(given) == 2:
        first, last = given
        size = (last.off - first.off) if last.__class__ is Pointer else -1
    else:
        first, size = None, int(given[0]) if given else -1
    if not 0 < size <= MAX_WORDS:
        raise GivenUp("container")
    buffer = Buffer("host", size)
    buffer.world, buffer.batch = world, world.batch
    if first is not None:
        if first.off + size > first.memory.size:
            raise Fault("container")
        buffer.data[:] = first.memory.data[first.off : first.off + size]
    else:
        buffer.data[:] = given[1] if len(given) > 1 else 0
    return Pointer(buffer, 0, (size,))


def nothing(kind: str) -> Struct:
    """A vector into which nobody has put anything."""
    return Struct({one: np.nan for one in "xyzw"[: VECTORS[kind]]}, kind)


def copied_element(value):
    """Of a container that is filled with one value: memory of its own, if it has any."""
    if value.__class__ is List or value.__class__ is Struct:
        return value.copy()
    if value.__class__ is Pointer and value.memory.kind == "host" and value.dims:
        buffer = Buffer("host", value.memory.size)
        buffer.world, buffer.batch = value.memory.world, value.memory.batch
        buffer.data[:] = value.memory.data
        return Pointer(buffer, 0, value.dims)
    return value


class Declarations(Arrays):
    """A part of Machine."""

    def of_fields(self, node: Node, fields: list, kind: Type) -> Callable:
        """{row, col}, {.row = 1} of a struct."""
        fields = [(self.of_parameter(own, kind), name) for own, name in fields]
        types = {name: own for own, name in fields}
        given = []
        for (own, name), kid in zip(fields, node.kids, strict=False):
            if kid.kind == "named":
                name, kid = kid.text, kid.kids[0]
                own = types.get(name)
            if own is None:
                raise GivenUp("braces")
            if own.is_reference and not own.stars and kid.kind in REFERRED:
                given.append((name, lambda value: value, self.referring(kid)))
            else:
                given.append((name, self.conversion(own), self.initial(kid, own)))
        rest = {name: own for name, own in types.items() if name not in {one[0] for one in given}}
        templates = self.file.parameters.get(kind.name) or []
        stands_for = [
            (name, self.code(one)) for name, one in zip(templates, kind.args, strict=False)
        ]

        is_implied = any(one.is_implied for one in self.file.of_structs.get(kind.name, ()))
        may_be_copy = len(given) == 1 and len(node.kids) == 1

        def structure(f, m):
            if is_implied:  # the others are what the struct says
                whole = self.begun(kind, f, m)
                for name, convert, part in given:
                    whole.fields[name] = convert(part(f, m))
                for name, part in stands_for:
                    whole.fields[name] = part(f, m)
                return whole
            found = {name: None for _, name in fields}
            for name, convert, part in given:
                found[name] = convert(part(f, m))
                if may_be_copy and found[name].__class__ is Struct:
                    if found[name].kind == kind.name:  # View{other}
                        return found[name].copy()
            for name, own in rest.items():  # as C++ has it
                is_number = own.name in (*INTEGERS, "float", "bool")
                found[name] = 0 if is_number or own.stars else None
                if own.name in self.file.structs and not own.stars:
                    found[name] = self.empty(own, f)
            for name, part in stands_for:
                found[name] = part(f, m)
            return Struct(found, kind.name)

        return structure

    def of_parameter(self, own: Type, kind: Type) -> Type:
        """What a template's parameter stands for in a struct."""
        parameters = self.file.parameters.get(kind.name) or []
        if own.parameter not in parameters[: len(kind.args)] or own.stars:
            return own
        return kind.args[parameters.index(own.parameter)].type or own

    def _declare(self, node: Node) -> Callable:
        sizes, first = node.kids
        first = self.edited(first) if first is not None else None
        name, kind = node.text, node.type
        if kind.name == FRAGMENT and not kind.is_reference:
            return self.fragment(node, sizes or [])
        if sizes:
            return self.array(node, sizes, first)
        if kind.stars and first is not None and first.kind in GIVEN and first.kids:
            first = first.kids[0]  # of a unique_ptr, its deleter is of no interest
        fields = None if kind.stars else self.file.structs.get(kind.name)
        if fields is not None and self.holds_arrays(kind.name) and not kind.is_reference:
            return self.structure_of_arrays(node, fields, first)
        if kind.name == "vector" and not kind.stars and not kind.is_reference:
            return self.container(node, first)
        if kind.name == "map" and not kind.stars and not kind.is_reference and first is None:
            first = Node("braces", line=node.line)
        if kind.name == "tuple" and first is not None and first.kind in GIVEN:
            first = Node("call", [Node("name", text="make_tuple"), *first.kids], line=node.line)
        if kind.is_shared:
            return self.shared_word(node)
        if fields is not None and self.constructors(kind.name) and not kind.is_reference:
            return self.constructed(node, first)
        if kind.name == "auto" and kind.parameter and not (kind.stars or kind.is_reference):
            if first is None or first.kind in GIVEN:
                made = self.made_as(kind, first or Node("braces", line=node.line))

                def of_parameter(f, m):
                    f.env[name] = made(f, m)
                    return m

                return of_parameter
        convert = self.conversion(kind)
        if first is None:

            def declared(f, m):
                if m is True or name not in f.env:
                    value = None
                    if fields is not None:
                        value = self.empty(kind, f)
                    elif kind.name == "dim3":
                        value = Struct({"x": 1, "y": 1, "z": 1})
                    elif kind.name == "cudaLaunchConfig_t":
                        value = Struct({"dynamicSmemBytes": 0})
                    elif kind.name == "cudaDeviceProp":
                        value = Struct(dict(DEVICE))
                    elif kind.name in VECTORS and not kind.stars:
                        value = nothing(kind.name)
                    elif kind.name == "float" and not kind.stars:
                        value = np.nan
                    elif kind.name in TEXTS:
                        value = TEXT
                    elif kind.is_byte and kind.stars == 1:
                        value = NOWHERE
                    f.env[name] = value
                return m

            return declared
        if kind.is_reference and first.kind in REFERRED:
            return self.alias(name, first)
        value = self.initial(first, kind)
        if kind.name != "auto" and fields is None:
            value = self.converted(value)
        is_dim = kind.name == "dim3"

        def given(f, m):
            f.world.step()
            try:
                found = convert(value(f, m))
            except Fault as fault:
                fault.line = fault.line or node.line
                raise
            if is_dim and found.__class__ is not Struct:
                found = Struct({"x": found, "y": 1, "z": 1})
            f.env[name] = found if m is True else merged(m, found, f.env.get(name))
            return m

        return given

    def container(self, node: Node, first: Node | None) -> Callable:
        """std::vector<T> x, x{a, b}, x(n): of numbers it is memory of the host."""
        name, own = node.text, node.type.args[0].type if node.type.args else None
        is_number = own is not None and not own.stars and own.name in ("float", "int", "bool")
        if first is not None and first.kind not in ("make", "braces"):
            value = self.code(first)

            def copied(f, m):
                found = value(f, m)
                f.env[name] = found.copy() if found.__class__ is List else found
                return m

            return copied
        kids = first.kids if first is not None else []
        parts = [self.initial(kid, own) for kid in kids]

        def declared(f, m):
            given = [part(f, m) for part in parts]
            if first is None or first.kind == "braces":
                f.env[name] = List(given, own)
            elif len(given) == 1 and given[0].__class__ is List:
                f.env[name] = given[0].copy()
            elif not is_number:
                rest = [given[1] if len(given) > 1 else None] * int(given[0]) if given else []
                f.env[name] = List([copied_element(one) for one in rest], own)
            else:
                f.env[name] = host_memory(f.world, given)
            return m

        return declared

    def constructed(self, node: Node, first: Node | None) -> Callable:
        """Buffer x(rows, columns); of a struct that says how it is made."""
        name, kind = node.text, node.type
        is_vector = first is not None and first.kind == "make" and first.text in VECTORS
        if first is not None and (first.kind not in ("make", "braces") or is_vector):
            return self.copied(name, first, kind)
        nodes = first.kids if first is not None else []
        known = self.constructors(kind.name)
        if known[0].is_implied and nodes:
            return self.copied(name, nodes[0] if first.kind == "make" else first, kind)
        given = [self.part(kid) for kid in nodes]
        if len(nodes) == 1 and not any(takes(one, 1) for one in known):
            return self.copied(name, nodes[0])
        build = self.one_of(known, nodes, given, [], lambda f, m: f.env[name], False)
        is_copied = len(nodes) == 1 and not any(
            takes(one, 1) and one.parameters[0][0].name == kind.name for one in known
        )

        def declared(f, m):
            if is_copied:
                other = given[0](f, m)
                if other.__class__ is Struct and other.kind == kind.name:
                    f.env[name] = other.copy()
                    return m
            f.env[name] = self.empty(kind, f)
            build(f, m)
            return m

        return declared

    def constructors(self, kind: str) -> list[Function]:
        return [one for one in self.file.of_structs.get(kind, ()) if one.owner == kind]

    def begun(self, kind: Type, f: Frame, m) -> Struct:
        """A struct of which nobody says what it begins with."""
        found = self.empty(kind, f)
        if kind.name not in self.beginnings:
            known = [one for one in self.constructors(kind.name) if takes(one, 0)][:1]
            self.beginnings[kind.name] = (
                self.one_of(known, [], [], [], lambda f, m: f.env["this"], False) if known else None
            )
        begin = self.beginnings[kind.name]
        if begin is not None:
            begin(Frame(f.world, {"this": found}), m)
        return found

    def copied(self, name: str, first: Node, kind: Type | None = None) -> Callable:
        """Buffer x = make(rows);"""
        value = self.initial(first, kind)
        if kind is not None and self.is_made_of_one(kind.name):
            value = self.made_of_one(kind, value)
        is_elsewhere = first.kind in REFERRED or first.kind == "choose"

        def declared(f, m):
            found = value(f, m)
            if found.__class__ is not Struct:
                raise GivenUp("constructor")
            if is_elsewhere and self.holds_arrays(found.kind):
                found = self.duplicate(found, f, m)
            f.env[name] = found.copy()
            return m

        return declared

    def empty(self, kind: Type, f: Frame) -> Struct:
        """A struct before anything is put into it."""
        found: dict = {}
        for own, name in self.file.structs[kind.name]:
            is_struct = own.name in self.file.structs and not own.stars and not own.is_reference
            found[name] = self.begun(own, f, True) if is_struct else None
            if own.name == "float" and not own.stars and not own.is_reference:
                found[name] = np.nan
            elif own.name == "map" and not own.stars and not own.is_reference:
                found[name] = Map({}, own.args[1].type if len(own.args) > 1 else None)
            elif own.name == "vector" and not own.stars:
                found[name] = List([], own.args[0].type if own.args else None)
            elif own.name in VECTORS and not own.stars and not own.is_reference:
                found[name] = nothing(own.name)
            elif own.name == "dim3" and not own.stars and not own.is_reference:
                found[name] = Struct({"x": 1, "y": 1, "z": 1})
            elif own.name in TEXTS:
                found[name] = TEXT
            elif own.is_byte and own.stars == 1:
                found[name] = NOWHERE
        templates = self.file.parameters.get(kind.name) or []
        for name, node in zip(templates, kind.args, strict=False):
            found[name] = self.code(node)(f, True)
        self.of_bases(kind.name, found, f)
        return Struct(found, kind.name)

    def of_bases(self, kind: str, found: dict, f: Frame) -> None:
        """What the template parameters of bases stand for."""
        for name, node in self.file.of_bases.get(kind, ()):
            if name not in found:
                found[name] = self.code(node)(Frame(f.world, {**f.env, **found}), True)

    def fragment(self, node: Node, sizes: list) -> Callable:
        name, args = node.text, node.type.args
        lengths = [self.code(size) for size in sizes]
        kind = fragment_of(args, [self.code(one) for one in args[1:4]])

        def declared(f, m):
            dims = tuple(int(length(f, m)) for length in lengths)
            if math.prod(dims) > MAX_POINTERS:
                raise Fault("size")
            f.env[name] = fragments(kind(f, m), dims, f.world.batch)
            return m

        return declared

    def shared_word(self, node: Node) -> Callable:
        """__shared__ float scale; is one word for all threads of a block."""
        name, kind = node.text, node.type
        if kind.name in _MET:

            def met(f, m):
                unseen(f, name)
                f.env[name] = Struct({}, kind.name)
                return m

            return met
        if kind.stars or kind.name not in (*INTEGERS, "float", "bool"):
            raise GivenUp("shared scalar")

        def declared(f, m):
            f.env[name] = Ref(Pointer(shared_words(f.world, (name, node.key), 1, name, kind)))
            return m

        return declared

    def alias(self, name: str, first: Node) -> Callable:
        """float& x = a[i]: another name."""
        refer = self.referring(first)

        def bound(f, m):
            f.env[name] = refer(f, m)
            return m

        return bound

    def _bind(self, node: Node) -> Callable:
        """A field that is a reference, in a constructor."""
        name, source = node.kids[0].text, node.kids[1]
        refer = self.referring(source) if source.kind in REFERRED else self.code(source)

        def bound(f, m):
            f.fields[name] = refer(f, m)
            return 0

        return bound

    def referring(self, node: Node) -> Callable:
        where = self.address(node)

        def refer(f, m):
            place = where(f, m)
            if place.__class__ is Place:
                held = place.holder.get(place.name)
                # What lies elsewhere is not copied anyway.
                return held if held.__class__ is Struct else Ref(place)
            if place.__class__ is Pointer:
                return place if place.dims else Ref(place)
            if place.__class__ is Struct:
                return place
            raise GivenUp("reference")

        return refer
