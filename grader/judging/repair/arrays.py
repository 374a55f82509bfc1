"""Arrays of an interpreted file: of numbers, of pointers, of structs, and what they begin with."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np

from grader.judging.repair.fragments import FRAGMENT, fragment_of, fragments
from grader.judging.repair.memory import Buffer, Local
from grader.judging.repair.nodes import Node, Type, walk
from grader.judging.repair.overloads import takes
from grader.judging.repair.races import Shadow
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import TEXTS, List
from grader.judging.repair.type_names import INTEGERS, VECTORS
from grader.judging.repair.values import Fault, Pointer, Ref, Struct
from grader.judging.repair.views import Shorts
from grader.judging.repair.world import Exhausted, Frame

MAX_WORDS = 1 << 18
MAX_POINTERS = 64
HALVES = frozenset(("bf16", "__nv_bfloat162"))
_OBJECTS = (
    "dim3", "cudaStream_t", "cudaEvent_t", "cudaError_t", "tuple", "vector", "cudaLaunchAttribute",
    "CUtensorMap",
)  # fmt: skip


class Arrays:
    """A part of Machine."""

    def array(self, node: Node, sizes: list, first: Node | None) -> Callable:
        name, kind = node.text, node.type
        if self.holds_arrays(kind.name) and not kind.stars:
            return self.array_of_structs(node, sizes, first)
        if kind.is_extern and sizes == [None]:
            sizes = []
        if len(sizes) == 1 and first is not None and first.kind == "braces":
            inner = first.kids[0] if len(first.kids) == 1 else None
            if inner is not None and inner.kind == "braces" and len(inner.kids) > 1:
                if kind.name not in self.file.structs or inner.kids[0].kind == "braces":
                    first = inner  # of a std::array, whose array has braces of its own
        names = self.plain_fields(kind.name)
        is_half = kind.name in HALVES or names.is_half or kind.is_short
        as_numbers = Shorts if kind.is_short else lambda memory: memory
        is_plain = kind.name in (*INTEGERS, "float", "bool", "bf16", *VECTORS, "auto") or bool(
            names
        )
        if kind.stars and not kind.is_shared:
            return self.pointers(name, sizes, first)
        is_table = kind.name in self.file.structs or kind.name in (*TEXTS, *_OBJECTS)
        if not kind.is_shared and (kind.name in self.file.structs or not is_plain) and is_table:
            if not names or (first is not None and first.kids):
                return self.table(name, kind, sizes, first)
        if not is_plain or kind.stars:
            raise GivenUp("array")
        unit = len(names) or VECTORS.get(kind.name, 1)
        if None in sizes and first is not None and first.kind == "braces" and len(sizes) == 1:
            sizes = [Node("number", text=str(len(first.kids)))]
        if None in sizes:
            raise GivenUp("array")
        lengths = [self.code(size) for size in sizes]
        given = self.listed(first, len(sizes), kind) if first is not None else []
        key = (name, node.key)
        begins = names and any(takes(one, 0) for one in self.constructors(kind.name))

        def declared(f, m):
            world = f.world
            dims = tuple(int(n(f, m)) for n in lengths)
            dims = dims or ((world.dynamic << is_half) // unit,)
            if kind.is_extern and not world.dynamic:
                return m
            if kind.is_byte and kind.is_shared and len(dims) == 1:
                size = dims[0] if not lengths else -(-dims[0] // 4)
                if not 0 < size <= MAX_WORDS:
                    raise Fault("size")
                words = shared_words(world, key, size, name, Type("float"))
                f.env[name] = Pointer(words, 0, (), 0.25)
                return m
            size = math.prod(dims) * unit
            if size < 1 or size > MAX_WORDS:
                raise Fault("size")
            if not kind.is_shared:
                is_int = kind.name in INTEGERS
                beginning = np.nan if first is None else 0 if is_int else 0.0
                memory = Local(size, beginning, world.batch, is_int and not is_half, is_half)
                f.env[name] = Pointer(as_numbers(memory), 0, dims, unit, names)
                if begins:
                    value = self.begun(kind, f, m)
                    for at in range(math.prod(dims)):
                        Pointer(memory, at * unit, (), unit, names).store(True, value)
                for at, part in given:
                    f.env[name].store_at(at, part(f, m))
                return m
            words = shared_words(world, key, size, name, kind, is_half)
            f.env[name] = Pointer(as_numbers(words), 0, dims, unit, names)
            return m

        return declared

    def table(self, name: str, kind: Type, sizes: list, first: Node | None) -> Callable:
        """An array of structs, one for all threads."""
        if len(sizes) != 1 or (first is not None and first.kind != "braces"):
            raise GivenUp("array of structs")
        parts = [self.initial(kid, kind) for kid in first.kids] if first is not None else []
        length = self.code(sizes[0]) if sizes[0] is not None else None

        def declared(f, m):
            count = int(length(f, m)) if length is not None else len(parts)
            if not 0 < count <= MAX_POINTERS:
                raise GivenUp("array of structs")
            items = [part(f, m) for part in parts[:count]]
            while len(items) < count:
                is_struct = kind.name in self.file.structs
                items.append(self.begun(kind, f, m) if is_struct else None)
            f.env[name] = List(items, kind)
            return m

        return declared

    def pointers(self, name: str, sizes: list, first: Node | None) -> Callable:
        """An array of pointers: each thread's own."""
        if len(sizes) != 1:
            raise GivenUp("array")
        given = self.listed(first) if first is not None else []
        length = self.code(sizes[0]) if sizes[0] is not None else None

        def declared(f, m):
            count = int(length(f, m)) if length is not None else len(given)
            if not 0 < count <= MAX_POINTERS:
                raise Fault("size")
            memory = Local(count, None, f.world.batch)
            for (at,), part in given:
                memory.store(at, True, part(f, m))
            f.env[name] = Pointer(memory, 0, (count,), 1)
            return m

        return declared

    def structure_of_arrays(self, node: Node, fields: list, first: Node | None) -> Callable:
        """A struct whose fields are arrays, in shared memory or a thread's own."""
        name, kind = node.text, node.type
        is_made = bool(self.constructors(kind.name))
        if first is not None and first.kind not in ("braces", "make"):
            return self.copied(name, first)
        templates = self.file.parameters.get(kind.name) or []
        args = kind.args or [Node("name", text=one, line=node.line, key=-1) for one in templates]
        given = [self.code(one) for one in args]
        if len(given) != len(templates):
            raise GivenUp("struct template with arrays")
        build, values = None, []
        if is_made:
            nodes = first.kids if first is not None else []
            known = self.constructors(kind.name)
            if known[0].is_implied:
                values, nodes = self.first_values(fields, first) if nodes else [], []
            given_to = [self.part(kid) for kid in nodes]
            build = self.one_of(known, nodes, given_to, [], lambda f, m: f.env[name], False)
        elif first is not None:
            values = self.first_values(fields, first)

        def declared(f, m):
            found = {one: part(f, m) for one, part in zip(templates, given, strict=True)}
            known = self.file.statics.get(kind.name) and f.world.machine.constants_of(
                f.world, kind.name, tuple(found.values())
            )
            inner = Frame(f.world, {**f.env, **(known or {}), **found}, fields=f.fields)
            is_zero = first is not None and not is_made
            whole = self.laid_out(
                kind.name, fields, inner, (), (name, node.key), kind.is_shared, is_zero, kind.args
            )
            found |= whole.fields
            self.of_bases(kind.name, found, inner)
            f.env[name] = Struct(found, kind.name)
            if build is not None:
                build(f, m)
            for one, at, part in values:
                value = part(f, m)
                if at is None:
                    found[one] = value
                else:
                    found[one].store_at(at, value)
            return m

        return declared

    def holds_arrays(self, kind: str) -> bool:
        """Whether a struct, or one in it, has an array."""
        fields = self.file.structs.get(kind) or ()
        if kind in self.file.unions:
            return True
        return any(
            own.name == FRAGMENT
            or (kind, name) in self.file.lengths
            or (not own.stars and not own.is_reference and self.holds_arrays(own.name))
            for own, name in fields
        )

    def array_of_structs(self, node: Node, sizes: list, first: Node | None) -> Callable:
        """Slot slots[4], where a Slot holds arrays."""
        name, kind = node.text, node.type
        if sizes == [None] and first is not None:
            sizes = [Node("number", text=str(len(first.kids)))]
        if None in sizes:
            raise GivenUp("array of structs")
        lengths = [self.code(size) for size in sizes]
        fields = self.file.structs[kind.name]
        known = [one for one in self.constructors(kind.name) if takes(one, 0)][:1]
        begin = None
        if known and not kind.is_shared:
            begin = self.one_of(known, [], [], [], lambda f, m: f.env["this"], False)
        given = [self.code(one) for one in kind.args]
        parts = [self.initial(kid, kind) for kid in first.kids] if first is not None else []
        if parts and len(sizes) > 1:
            raise GivenUp("array of structs")

        def declared(f, m):
            lead = tuple(int(part(f, m)) for part in lengths)
            templates = self.file.parameters.get(kind.name) or ()
            args = {one: part(f, m) for one, part in zip(templates, given, strict=False)}
            inner = Frame(f.world, {**f.env, **args}, fields=f.fields) if args else f
            found = self.laid_out(
                kind.name, fields, inner, lead, (name, node.key), kind.is_shared, first is not None,
                kind.args,
            )  # fmt: skip
            found.fields.update(args)
            f.env[name] = found
            for place in product(*map(range, lead)) if begin is not None else ():
                one = found
                for at in place:
                    one = one.at(at)
                begin(Frame(f.world, {"this": one}), m)
            for at, part in enumerate(parts):
                self.copy_words(found.at(at), part(f, m), m)
            return m

        return declared

    def laid_out(
        self, kind: str, fields: list, f: Frame, lead: tuple, key: tuple, is_shared: bool,
        is_zero: bool, args: tuple = (),
    ) -> Struct:  # fmt: skip
        """A struct, or an array of them: each field is one array for all."""
        if kind in self.file.unions:
            if not is_shared:
                return self.union(kind, f, lead, is_zero)
            size = self.words_in(kind, f) * math.prod(lead)
            words = shared_words(f.world, key, size, key[0], Type("float"))
            return self.overlay(kind, words, 0, f, lead)
        found: dict = {}
        for own, one in fields:
            if args and own.parameter:
                own = self.of_parameter(own, Type(kind, args=args))
            elif own.parameter:
                own = self.of_frame(own, f)
            sizes = self.file.lengths.get((kind, one), ())
            dims = (*lead, *(int(self.code(size)(f, True)) for size in sizes))
            inner = None if own.stars else self.file.structs.get(own.name)
            if own.name == FRAGMENT:
                of = fragment_of(own.args, [self.code(one) for one in own.args[1:4]])
                found[one] = fragments(of(f, True), dims, f.world.batch)
                continue
            if inner is not None and self.holds_arrays(own.name):
                names = self.file.parameters.get(own.name) or ()
                given = {n: self.code(a)(f, True) for n, a in zip(names, own.args, strict=False)}
                inside = Frame(f.world, {**f.env, **given}, fields=f.fields)
                found[one] = self.laid_out(
                    own.name, inner, inside, dims, (*key, one), is_shared, is_zero, own.args
                )
                found[one].fields.update(given)
                continue
            if not dims and not is_shared:
                found[one] = self.empty(own, f) if inner is not None else None
                continue
            names = () if own.stars else self.plain_fields(own.name)
            unit = len(names) or VECTORS.get(own.name, 1)
            size = math.prod(dims) * unit
            if own.stars and not is_shared and 0 < size <= MAX_POINTERS:
                memory = Local(size, None, f.world.batch)
                found[one] = Pointer(memory, 0, dims, 1)
                continue
            is_known = own.name in (*INTEGERS, "float", "bool", "bf16", *VECTORS) or bool(names)
            if own.stars or not is_known or not 0 < size <= MAX_WORDS:
                raise GivenUp("array")
            is_half = own.name in HALVES or bool(names) and names.is_half
            if is_shared:
                named = ".".join((key[0], *key[2:], one))
                memory = shared_words(f.world, (*key, one), size, named, own, is_half)
            else:
                beginning = 0.0 if is_zero or (kind, one) in self.file.zeroed else np.nan
                memory = Local(size, beginning, f.world.batch, own.name in INTEGERS, is_half)
            place = Pointer(memory, 0, dims, unit, names)
            found[one] = place if sizes else Ref(place)  # a scalar of one among several
        return Struct(found, kind, len(lead))

    @staticmethod
    def of_frame(own: Type, f: Frame) -> Type:
        """What a template's parameter stands for in a method of the struct."""
        known = f.env.get(own.parameter)
        if known is None and f.fields is not None:
            known = f.fields.get(own.parameter)
        return Type(known[0], own.stars) if known.__class__ is tuple else own

    def first_values(self, fields: list, first: Node) -> list[tuple]:
        """{{1, 2}, 3} of a struct with arrays: the field, the place in it, the value."""
        found: list[tuple] = []
        for (_, name), kid in zip(fields, first.kids, strict=False):
            if kid.kind == "braces":
                found += [(name, at, part) for at, part in self.listed(kid)]
            else:
                found.append((name, None, self.code(kid)))
        return found

    def listed(
        self, first: Node, depth: int = 0, kind: Type | None = None
    ) -> list[tuple[tuple[int, ...], Callable]]:
        """An array's first values and their places, where they are not all 0.

        `kind`: of what each is, so many braces further in.
        """
        if first.kind != "braces":
            raise GivenUp("array")
        leaves = [one for one in walk(first) if one.kind != "braces"]
        if all(one.kind == "number" and float(one.text.rstrip("fF")) == 0 for one in leaves):
            return []
        found: list[tuple[tuple[int, ...], Callable]] = []
        for at, kid in enumerate(first.kids):
            if kid.kind == "braces" and depth == 1 and not is_number(kind):
                found.append(((at,), self.initial(kid, kind)))
            elif kid.kind == "braces":
                inside = self.listed(kid, depth - 1, kind)
                found += [((at, *inner), part) for inner, part in inside]
            else:
                found.append(((at,), self.code(kid)))
        return found


def is_number(kind: Type | None) -> bool:
    return kind is None or kind.name in ("int", "float", "bool", "bf16", "auto")


def shared_words(
    world, key: tuple, size: int, name: str, kind: Type, is_half: bool = False
) -> Buffer:
    """A block's array, made by the first that declares it."""
    if key not in world.shared:
        buffer = Buffer("shared", size, world.blocks, name)
        if size * world.blocks > MAX_WORDS * 4:
            raise Exhausted
        buffer.is_int = kind.name == "int" and not is_half
        buffer.is_half = is_half or kind.name in HALVES
        is_whole = kind.name == "int" or kind.name.startswith(("int", "uint"))
        buffer.is_words = is_whole and not (kind.is_extern or kind.is_byte or is_half)
        buffer.batch, buffer.effects = world.batch, world.effects or world.lenient
        buffer.minds_unset = world.machine.file.minds_unset
        buffer.meter = world.meter
        if buffer.effects is not None and buffer.effects.has_no_zero:
            buffer.fill()
        world.words += size
        if world.races is not None:
            buffer.shadow = Shadow(world.races, name, len(buffer.data), world.blocks)
        if world.blocks > 1:
            buffer.base = world.block_of * size
        world.shared[key] = buffer
    return world.shared[key]
