"""Carries a parsed file out, all threads of a launch in step, with edits put in place of nodes.

A node becomes a function once; only what an edit touches is built again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from grader.judging.repair.calls import Calls
from grader.judging.repair.execution import Statements
from grader.judging.repair.expressions import VECTORS
from grader.judging.repair.nodes import File, Node, Type
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import (
    Fault,
    Place,
    Pointer,
    Ref,
    Struct,
    both,
    either,
    merged,
    to_float,
    to_int,
    truth,
    without,
)
from grader.judging.repair.world import BINARY, Frame, plus


class Machine(Calls, Statements):
    """`edits`: what stands in place of a node, by its id."""

    def __init__(self, file: File, edits: Mapping[tuple[int, str], Callable[[Node], Node]]) -> None:
        self.file = file
        self.edits = edits
        self.fresh = any(kind == "declare" for _, kind in edits)  # types may differ
        self.types: dict[str, Type] = {}
        self.functions: dict[str, tuple] = {}

    # --- trees to functions

    def code(self, node: Node) -> Callable:
        edit = self.edits.get(node.id)
        if edit is not None:
            return self.code(edit(node))
        return self.plain(node, self.fresh or not node.ids.isdisjoint(self.edits))

    def plain(self, node: Node, touched: bool) -> Callable:
        if touched or not node.ids:
            return getattr(self, "_" + node.kind)(node)
        if node.code is None:
            node.code = getattr(self, "_" + node.kind)(node)
        return node.code

    def _number(self, node: Node) -> Callable:
        text = node.text.replace("'", "")
        if text[:2] in ("0x", "0X"):
            value = int(text.rstrip("uUlL"), 16)
        elif any(c in text for c in ".eEfF"):
            value = float(text.rstrip("fF"))
        else:
            value = int(text.rstrip("uUlL"))
        return lambda f, m: value

    def _string(self, node: Node) -> Callable:
        return lambda f, m: 0

    def _name(self, node: Node) -> Callable:
        name = node.text
        kind = self.types.get(name)
        if kind is not None and kind.is_reference:

            def referred(f, m):
                value = f.env[name]
                return value.get(m) if value.__class__ is Ref else value

            return referred

        def get(f, m):
            if name in f.env:
                return f.env[name]
            if f.fields is not None and name in f.fields:
                return f.fields[name]
            try:
                return f.world.globals[name]
            except KeyError:
                if name.startswith("cuda"):
                    return 0 if name == "cudaSuccess" else name
                raise GivenUp(name) from None

        return get

    def _type(self, node: Node) -> Callable:
        kind, given = node.type, [self.code(kid) for kid in node.kids]
        return lambda f, m: (kind.name, tuple(part(f, m) for part in given))

    def _scoped(self, node: Node) -> Callable:
        """A constant of a struct, of a struct template, or of a template's parameter."""
        kind, name = node.type, node.text
        given = [self.code(kid) for kid in node.kids]

        def get(f, m):
            owner = f.env.get(kind.name)
            if owner.__class__ is not tuple:
                owner = (kind.name, tuple(part(f, m) for part in given))
            try:
                return self.constants_of(f.world, *owner)[name]
            except KeyError:
                raise GivenUp(name) from None

        return get

    def constants_of(self, world, name: str, args: tuple) -> dict:
        known = world.constants.get((name, args))
        if known is None:
            if name not in self.file.statics:
                raise GivenUp(name)
            known = dict(zip(self.file.parameters[name], args, strict=False))
            for node in self.file.statics[name]:
                self.code(node)(Frame(world, known), True)
            world.constants[name, args] = known
        return known

    def _member(self, node: Node) -> Callable:
        base, name = self.code(node.kids[0]), node.text

        def get(f, m):
            value = base(f, m)
            if value.__class__ is not Struct or name not in value.fields:
                raise GivenUp(name)
            return value.fields[name]

        return get

    def _index(self, node: Node) -> Callable:
        base, index = self.code(node.kids[0]), self.code(node.kids[1])
        own = self.operator("operator[]", [index], False)

        def get(f, m):
            value = base(f, m)
            if value.__class__ is Struct and own is not None:
                return own(value)(f, m)
            if value.__class__ is not Pointer:
                raise Fault("pointer")
            if len(value.dims) > 1:
                return value.at(index(f, m))
            off = index(f, m)
            if value.unit == 1 and value.memory.kind != "host":
                return value.memory.load(value.off + off, m)
            return value.at(off).load(m)

        return get

    def _deref(self, node: Node) -> Callable:
        base = self.code(node.kids[0])

        def get(f, m):
            value = base(f, m)
            if value.__class__ is Place:
                return value.holder.get(value.name)
            if value.__class__ is not Pointer:
                raise Fault("pointer")
            return value.load(m)

        return get

    def _extent(self, node: Node) -> Callable:
        """How many elements an array has."""
        array = self.code(node.kids[0])

        def count(f, m):
            value = array(f, m)
            if value.__class__ is not Pointer or not value.dims:
                raise GivenUp("extent")
            return value.dims[0]

        return count

    def _part(self, node: Node) -> Callable:
        """A field by its number."""
        whole, at = self.code(node.kids[0]), int(node.text)

        def get(f, m):
            value = whole(f, m)
            if value.__class__ is not Struct or at >= len(value.fields):
                raise GivenUp("bindings")
            return list(value.fields.values())[at]

        return get

    def _address(self, node: Node) -> Callable:
        return self.address(node.kids[0])

    def address(self, node: Node) -> Callable:
        """Where an expression lies: a Pointer or a Place."""
        edit = self.edits.get(node.id)
        if edit is not None:
            return self.address(edit(node))
        if node.kind == "index":
            base, index = self.code(node.kids[0]), self.code(node.kids[1])
            own = self.operator("operator[]", [index], True)

            def element(f, m):
                value = base(f, m)
                if value.__class__ is Struct and own is not None:
                    return own(value)(f, m)
                if value.__class__ is not Pointer:
                    raise Fault("pointer")
                return value.at(index(f, m))

            return element
        if node.kind == "deref":
            return self.code(node.kids[0])
        if node.kind == "member":
            owner, field_name = self.code(node.kids[0]), node.text
            if node.kids[0].kind in ("index", "deref"):
                owner = self.address(node.kids[0])

            def part(f, m):
                value = owner(f, m)
                if value.__class__ is Pointer and field_name in "xyzw":
                    return Pointer(value.memory, value.off + "xyzw".index(field_name))
                if value.__class__ is not Struct:
                    raise GivenUp("member")
                return Place(value.fields, field_name)

            return part
        if node.kind == "call":
            return self.call(node, True)
        if node.kind == "name":
            name = node.text

            def variable(f, m):
                value = f.env.get(name)
                if value.__class__ is Ref:
                    return value.target
                if value.__class__ is Pointer and (value.dims or value.memory.kind == "local"):
                    return value
                if name not in f.env and f.fields is not None and name in f.fields:
                    return Place(f.fields, name)
                return Place(f.env, name)

            return variable
        raise GivenUp(f"address of {node.kind}")

    def _cast(self, node: Node) -> Callable:
        inner, kind = self.code(node.kids[0]), node.type
        convert = self.conversion(kind)

        def cast(f, m):
            return convert(inner(f, m))

        return cast

    def conversion(self, kind: Type) -> Callable:
        if kind.stars:
            unit = {"float4": 4, "float2": 2}.get(kind.name, 1)

            def pointed(value):
                if value.__class__ is not Pointer:
                    return value
                return Pointer(value.memory, value.off, value.dims if unit == 1 else (), unit)

            return pointed
        if kind.name == "int":
            return to_int
        if kind.name == "float":
            return to_float
        return lambda value: value.copy() if value.__class__ is Struct else value

    def _unary(self, node: Node) -> Callable:
        inner, sign = self.code(node.kids[0]), node.text
        if sign == "!":

            def negated(f, m):
                value = truth(inner(f, m))
                return ~value if value.__class__ is np.ndarray else not value

            return negated
        if sign == "-":
            return lambda f, m: -inner(f, m)
        if sign == "~":
            return lambda f, m: ~inner(f, m)
        return inner

    def _binary(self, node: Node) -> Callable:
        left, right = self.code(node.kids[0]), self.code(node.kids[1])
        if node.text in ("&&", "||"):
            is_and = node.text == "&&"

            def joined(f, m):
                a = truth(left(f, m))
                if a is (not is_and):
                    return a
                rest = both(m, a) if is_and else without(m, a)
                if rest is False:
                    return a
                b = truth(right(f, rest))
                return both(a, b) if is_and else either(a, b)

            return joined
        do = BINARY[node.text]
        if node.text in ("/", "%"):
            return _dividing(do, left, right)

        def combined(f, m):
            try:
                return do(left(f, m), right(f, m))
            except TypeError:
                raise Fault("type") from None

        return combined

    def _choose(self, node: Node) -> Callable:
        condition, yes, no = (self.code(kid) for kid in node.kids)

        def chosen(f, m):
            c = truth(condition(f, m))
            first = both(m, c)
            if first is False:
                return no(f, m)
            second = without(m, c)
            if second is False:
                return yes(f, m)
            a, b = yes(f, first), no(f, second)
            return merged(c, a, b)

        return chosen

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
            return Struct({n: given[i] if i < len(given) else rest for i, n in enumerate(names)})

        return made

    def _converted(self, part: Callable, kind: str) -> Callable:
        convert = self.conversion(Type(kind))
        return lambda f, m: convert(part(f, m))

    def _sizeof(self, node: Node) -> Callable:
        (kid,) = node.kids
        if kid.kind == "deref":
            return lambda f, m: 4
        inner = self.code(kid)

        def size(f, m):
            value = inner(f, m)
            if value.__class__ is Pointer and value.dims:
                return 4 * math.prod(value.dims)
            return 8 if value.__class__ is Pointer or value is None else 4

        return size

    # --- changes

    def assigner(self, target: Node) -> Callable:
        """Stores a value: f, m, value."""
        edit = self.edits.get(target.id)
        if edit is not None:
            return self.assigner(edit(target))
        if target.kind == "name":
            name = target.text
            kind = self.types.get(name)
            convert = self.conversion(kind) if kind is not None else (lambda value: value)

            def put(f, m, value):
                value = convert(value)
                env = f.env
                known = env.get(name)
                if known.__class__ is Ref:
                    return store_in(known.target, m, value)
                if name not in env and f.fields is not None and name in f.fields:
                    env = f.fields
                env[name] = value if m is True else merged(m, value, env.get(name))

            return put
        where = self.address(target)

        def store(f, m, value):
            store_in(where(f, m), m, value)

        return store

    def _assign(self, node: Node) -> Callable:
        put = self.assigner(node.kids[0])
        value = self.initial(node.kids[1], None)
        if node.text == "=":

            def assigned(f, m):
                given = value(f, m)
                put(f, m, given)
                return given

            return assigned
        old = self.code(node.kids[0])
        do = BINARY[node.text[:-1]]

        def changed(f, m):
            given = do(old(f, m), value(f, m))
            put(f, m, given)
            return given

        return changed

    def _before(self, node: Node) -> Callable:
        return self.counted(node, True)

    def _after(self, node: Node) -> Callable:
        return self.counted(node, False)

    def counted(self, node: Node, gives_new: bool) -> Callable:
        get, put = self.code(node.kids[0]), self.assigner(node.kids[0])
        by = 1 if node.text == "++" else -1

        def count(f, m):
            old = get(f, m)
            if old is None:
                raise Fault("no value")
            new = plus(old, by)
            put(f, m, new)
            return new if gives_new else old

        return count


def store_in(place, m, value) -> None:
    if place.__class__ is Place:
        place.holder[place.name] = merged(m, value, place.holder.get(place.name))
    elif place.__class__ is Pointer:
        place.store(m, value)
    else:
        raise Fault("pointer")


def _dividing(do: Callable, left: Callable, right: Callable) -> Callable:
    """A division; only lanes that are active and divide by 0 are at fault."""

    def divided(f, m):
        a, b = left(f, m), right(f, m)
        try:
            return do(a, b)
        except TypeError:
            raise Fault("type") from None
        except Fault:
            if b.__class__ is not np.ndarray:
                raise
            bad = b == 0
            active = bad if m is True else bad & m
            if active.any():
                batch = f.world.batch
                if batch is None or not batch.is_inside or len(batch.lanes) != len(active):
                    raise
                batch.drop(active)
            return do(a, np.where(bad, 1, b))

    return divided
