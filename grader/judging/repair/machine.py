"""Carries a parsed file out, all threads of a launch in step, with edits put in place of nodes.

A node becomes a function once; only what an edit touches is built again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from grader.judging.repair.addresses import OPERAND, Addresses, within
from grader.judging.repair.calls import Calls
from grader.judging.repair.changes import Changes
from grader.judging.repair.conversions import Conversions
from grader.judging.repair.declarations import Declarations
from grader.judging.repair.execution import Statements
from grader.judging.repair.expressions import TRAITS
from grader.judging.repair.inline_ptx import InlinePtx
from grader.judging.repair.iterations import Iteration, Iterations
from grader.judging.repair.jumps import Jumps
from grader.judging.repair.layouts import Layouts
from grader.judging.repair.maps import Map, default_of
from grader.judging.repair.memory import Buffer, joined
from grader.judging.repair.nodes import File, Node, Type
from grader.judging.repair.overloads import Overloads, takes, whole
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import STREAMS, List
from grader.judging.repair.values import (
    NOTHING,
    TEXT,
    Fault,
    Names,
    Place,
    Pointer,
    Ref,
    Struct,
    Text,
    both,
    either,
    truth,
    without,
)
from grader.judging.repair.world import BINARY, MOST_SHIFTED, Frame

_LIMITS = {
    "INT_MAX": (1 << 31) - 1, "INT_MIN": -(1 << 31), "UINT_MAX": (1 << 32) - 1,
    "FLT_MAX": 3.4028234663852886e38, "EXIT_FAILURE": 1, "EXIT_SUCCESS": 0,
}  # fmt: skip


# What an operator is at a fault with on its right.
_BADLY = {
    **dict.fromkeys("/%", lambda b: b == 0),
    **dict.fromkeys(("<<", ">>"), lambda b: (b < 0) | (b > MOST_SHIFTED)),
}


class Machine(
    Calls,
    Statements,
    Declarations,
    Changes,
    Overloads,
    Jumps,
    InlinePtx,
    Iterations,
    Layouts,
    Addresses,
    Conversions,
):
    """`edits`: what stands in place of a node, by its id."""

    def __init__(self, file: File, edits: Mapping[tuple[int, str], Callable[[Node], Node]]) -> None:
        self.file = file
        self.edits = edits
        # Types may differ, or how long a struct is.
        lengths = (one for sizes in file.lengths.values() for one in sizes if one is not None)
        self.fresh = any(kind == "declare" for _, kind in edits) or any(
            not one.ids.isdisjoint(edits) for one in lengths
        )
        self.types: dict[str, Type] = {}
        self.functions: dict[object, tuple] = {}
        self.plain_kinds: dict[str, Names] = {}
        self.beginnings: dict[str, Callable | None] = {}  # constructors without arguments

    # --- trees to functions

    def code(self, node: Node) -> Callable:
        edit = self.edits.get(node.id)
        if edit is not None:
            return self.code(edit(node))
        return self.plain(node, self.fresh or not node.ids.isdisjoint(self.edits))

    def plain(self, node: Node, touched: bool) -> Callable:
        if touched or not node.ids:
            return getattr(self, "_" + node.kind.replace(" ", "_"))(node)
        if node.code is None:
            node.code = getattr(self, "_" + node.kind.replace(" ", "_"))(node)
        return node.code

    def _begin(self, node: Node) -> Callable:
        raise GivenUp("constructor")  # of a struct that is passed over

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
        text = Text(node.text[1:-1])
        return lambda f, m: text

    def _name(self, node: Node) -> Callable:
        name = node.text
        kind = self.types.get(name)
        if kind is not None and kind.is_reference:

            def referred(f, m):
                value = f.env[name]
                return value.get(m) if value.__class__ is Ref else value

            return referred
        if kind is not None and kind.stars == 1 and self.has_fields_alone(kind.name):
            return self.object_at(name, kind)

        def get(f, m):
            if name in f.env:
                return f.env[name]
            if f.fields is not None and name in f.fields:
                found = f.fields[name]
                return found.get(m) if found.__class__ is Ref else found
            try:
                return f.world.globals[name]
            except KeyError:
                this = f.env.get("this")
                if this is not None and self.file.statics.get(this.kind):
                    args = tuple(this.fields.get(n) for n in self.file.parameters[this.kind])
                    known = f.world.machine.constants_of(f.world, this.kind, args)
                    if name in known:
                        return known[name]
                if name in _LIMITS:
                    return _LIMITS[name]
                if name in STREAMS:
                    return TEXT
                if name == "nullopt":
                    return NOTHING
                if name in self.file.named:
                    return self.kernel_named(name, ())
                if name.startswith(("cuda", "mem_")):
                    return 0 if name == "cudaSuccess" else name
                raise GivenUp(name) from None

        return get

    def has_fields_alone(self, kind: str) -> bool:
        """Whether a struct is known by its fields alone: it has pointers, and no arrays."""
        is_plain = bool(self.plain_fields(kind)) or self.holds_arrays(kind)
        return bool(self.file.structs.get(kind)) and not is_plain

    def object_at(self, name: str, kind: Type) -> Callable:
        """A pointer to a struct in memory that was asked for."""

        def get(f, m):
            value = f.env.get(name)
            if name not in f.env:
                here = f.fields if f.fields is not None and name in f.fields else f.world.globals
                value = here.get(name)
                value = value.get(m) if value.__class__ is Ref else value
            if value.__class__ is Pointer and value.memory.__class__ is Buffer:
                key = kind.name, int(value.off)
                if key not in value.memory.objects:
                    value.memory.objects[key] = self.empty(kind, f)
                return Place(value.memory.objects, key)
            return value

        return get

    def _type(self, node: Node) -> Callable:
        kind, given, name = node.type, [self.code(kid) for kid in node.kids], node.text

        def get(f, m):
            known = f.env.get(name, f.fields.get(name) if f.fields is not None else None)
            if known.__class__ is tuple:  # a template's own parameter
                return known
            return kind.name, tuple(part(f, m) for part in given)

        return get

    def _trait(self, node: Node) -> Callable:
        """std::is_same_v<T, float>"""
        kinds, asked = [self.code(kid) for kid in node.kids], TRAITS[node.text]

        def get(f, m):
            known = [part(f, m) for part in kinds]
            if any(one.__class__ is not tuple or one[0] == "auto" for one in known):
                raise GivenUp("trait")
            return asked(*(one[0] for one in known))

        return get

    def _scoped(self, node: Node) -> Callable:
        """A constant of a struct, of a struct template, or of a template's parameter."""
        kind, name = node.type, node.text
        given = [self.code(kid) for kid in node.kids]

        def get(f, m):
            owner = f.env.get(kind.name)
            if owner.__class__ is not tuple and f.fields is not None:
                owner = f.fields.get(kind.name)
            if owner.__class__ is not tuple:
                owner = (kind.name, tuple(part(f, m) for part in given))
            elif given and not owner[1]:  # of a parameter that is a template itself
                owner = (owner[0], tuple(part(f, m) for part in given))
            owner = self.special_of(*owner, f)
            try:
                return f.world.machine.constants_of(f.world, *owner)[name]
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
            if value.__class__ is not Struct:
                value = whole(value)
            if value.__class__ is Struct and value.lead:  # a pointer to the first of several
                value = value.at(0)
            if value.__class__ is not Struct:
                if value.__class__ is Pointer and hasattr(value.memory, "fragment"):
                    return value.dims[0] if name == "num_elements" else value  # its x
                if value.__class__ is Pointer and len(value.dims) <= 1:  # to a float4
                    value = value.load(m)
                if value.__class__ is not Struct:
                    raise GivenUp(name)
            if name not in value.fields:
                value = within(value, name)
            found = value.fields[name]
            return found.get(m) if found.__class__ is Ref else found

        return get

    def _index(self, node: Node) -> Callable:
        base, index = self.converted(self.code(node.kids[0])), self.code(node.kids[1])
        own = self.subscript(node, base, index, False)
        index = self.converted(index)

        def get(f, m):
            value = base(f, m)
            if value.__class__ is Struct:
                if value.lead:
                    return value.at(index(f, m))
                if own is not None:
                    return own(f, m)
            if value.__class__ is List:
                return value.chosen(index(f, m), m)
            if value.__class__ is not Pointer:
                if value.__class__ is Map:
                    return self.of_key(value, index(f, m), f).get(m)
                if value.__class__ is Iteration:
                    return value.value(m)
                if value.__class__ is Place and value.holder.__class__ is List:
                    return value.holder.chosen(value.name + index(f, m), m)
                raise Fault("pointer")
            if len(value.dims) > 1:
                return value.at(index(f, m))
            off = index(f, m)
            if value.unit == 1 and not (value.is_packed or value.names):
                if value.memory.kind != "host":
                    return value.memory.load(value.off + off, m)
            return value.at(off).load(m)

        return get

    def of_key(self, known: Map, key, f: Frame) -> Ref:
        """Where the element of a map lies; made if there is none."""
        if key not in known.items:
            kind = known.kind
            is_struct = kind is not None and kind.name in self.file.structs and not kind.stars
            known[key] = self.begun(kind, f, True) if is_struct else default_of(kind)
        return Ref(Place(known, key))

    def subscript(self, node: Node, base: Callable, index: Callable, wants_address: bool):
        """A struct's own operator[]."""
        if "operator[]" not in self.file.of_structs:
            return None
        if self.is_in_memory(node.kids[0]):
            base = self.owner(node.kids[0])
        return self.of_method("operator[]", node.kids[1:], [index], base, wants_address)

    def _range(self, node: Node) -> Callable:
        """What is gone over: an array, a container, or from begin() on to end()."""
        given = self.code(node.kids[0])
        ends = [
            self.of_method(name, [], [], lambda f, m: f.env["this"], False)
            if name in self.file.of_structs else None
            for name in ("begin", "end")
        ]  # fmt: skip

        parts = self.iterating() if None not in ends else None

        def over(f, m):
            value = given(f, m)
            if value.__class__ is Map:
                return value.pairs()
            if value.__class__ is not Struct or None in ends:
                return value
            inner = Frame(f.world, {"this": value})
            first = ends[0](inner, m)
            if first.__class__ is Struct and first.lead:
                return first
            last = ends[1](inner, m)
            if first.__class__ is Struct:
                return self.iteration(parts, first, last, f)
            if first.__class__ is not Pointer or last.__class__ is not Pointer:
                raise GivenUp("range")
            count = (last.off - first.off) // first.unit
            return Pointer(first.memory, first.off, (count,), first.unit, first.names)

        return over

    def _extent(self, node: Node) -> Callable:
        """How many elements an array has."""
        array = self.code(node.kids[0])

        def count(f, m):
            value = array(f, m)
            if value.__class__ is Iteration:
                return value.extent(m)
            if value.__class__ is List:
                return len(value.items)
            if value.__class__ is Struct and value.lead:  # an array of them
                if value.shape:
                    return value.shape[0][0]
                value = next(iter(value.fields.values()))
                value = value.target if value.__class__ is Ref else value
            if value.__class__ is not Pointer or not value.dims:
                raise GivenUp("extent")
            return value.dims[0]

        return count

    def _part(self, node: Node) -> Callable:
        """A field by its number."""
        whole, at = self.code(node.kids[0]), int(node.text)

        def get(f, m):
            value = whole(f, m)
            if value.__class__ is Pointer and value.dims and at < value.dims[0]:
                place = value.at(at)
                return place if place.dims else place.load(m)
            if value.__class__ is List:
                return value[at]
            if value.__class__ is not Struct or at >= len(value.fields):
                raise GivenUp("bindings")
            found = list(value.fields.values())[at]
            return found.get(m) if found.__class__ is Ref else found

        return get

    def _unary(self, node: Node) -> Callable:
        inner, sign = self.code(node.kids[0]), node.text
        own = self.of_sign(sign, False)
        if own is not None:
            plain = self.signed(sign, lambda f, m: f.env[OPERAND])

            def of_struct(f, m):
                operand = inner(f, m)
                inside = Frame(f.world, {OPERAND: operand})
                return own(inside, m) if operand.__class__ is Struct else plain(inside, m)

            return of_struct
        return self.signed(sign, self.converted(inner))

    def of_sign(self, sign: str, wants_address: bool) -> Callable | None:
        """A struct's own *x, -x or !x, of what the frame has as its operand."""
        inner = lambda f, m: f.env[OPERAND]  # noqa: E731
        name = "operator" + sign
        if any(takes(one, 0) for one in self.file.of_structs.get(name, ())):
            return self.of_method(name, [], [], inner, wants_address)
        known = [one for one in self.file.named.get(name, ()) if takes(one, 1)]
        if not known:
            return None
        node = Node("number", text="0", key=-1)
        return self.one_of(known, [node], [inner], [], None, wants_address)

    def signed(self, sign: str, inner: Callable) -> Callable:
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
        raw = [self.code(kid) for kid in node.kids]
        left, right = (self.converted(one) for one in raw)
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
        own = self.of_operator(node.text, node.kids, raw)
        if own is not None and left is not raw[0]:
            return self.own_or_converted(node, own, raw)
        if node.text in _BADLY and own is None:
            return _careful(do, _BADLY[node.text], left, right)
        is_product = node.text == "*"

        def combined(f, m):
            a, b = left(f, m), right(f, m)
            if own is not None and (a.__class__ is Struct or b.__class__ is Struct):
                return own(f, m, (a, b))
            if is_product and f.world.pairs is not None:
                f.world.multiplied(a, b, m)
            try:
                return do(a, b)
            except TypeError:
                raise Fault("type") from None

        return combined

    def own_or_converted(self, node: Node, own: Callable, raw: list[Callable]) -> Callable:
        """A sign of a struct's own, or of the number that it is taken for."""
        do = BINARY[node.text]

        def combined(f, m):
            a, b = (one(f, m) for one in raw)
            if a.__class__ is Struct or b.__class__ is Struct:
                try:
                    return own(f, m, (a, b))
                except GivenUp:  # not for these
                    a, b = (self.as_number(one, f, m) for one in (a, b))
            try:
                return do(a, b)
            except TypeError:
                raise Fault("type") from None

        return combined

    def as_number(self, value, f: Frame, m):
        return self.converted(lambda f, m: value)(f, m)

    def _comma(self, node: Node) -> Callable:
        first, last = (self.code(kid) for kid in node.kids)

        def both_of(f, m):
            first(f, m)
            return last(f, m)

        return both_of

    def _choose(self, node: Node) -> Callable:
        condition, yes, no = (self.code(kid) for kid in node.kids)
        condition = self.converted(condition)

        def chosen(f, m):
            c = truth(condition(f, m))
            first = both(m, c)
            if first is False:
                return no(f, m)
            second = without(m, c)
            if second is False:
                return yes(f, m)
            a, b = yes(f, first), no(f, second)
            if b.__class__ is Struct and a.__class__ is Struct and self.holds_arrays(b.kind):
                found = self.duplicate(b, f, m)
                self.copy_words(found, a, first)
                return found
            return joined(c, a, b)

        return chosen


def _careful(do: Callable, is_bad: Callable, left: Callable, right: Callable) -> Callable:
    """A division or a shift; only lanes that are active and divide by 0 are at fault."""

    def done(f, m):
        a, b = left(f, m), right(f, m)
        try:
            return do(a, b)
        except TypeError:
            raise Fault("type") from None
        except Fault:
            if b.__class__ is not np.ndarray:
                raise
            bad = is_bad(b)
            active = bad if m is True else bad & m
            if active.any():
                batch = f.world.batch
                if batch is None or not batch.is_inside:
                    raise
                batch.drop(active)
            return do(a, np.where(bad, 1, b))

    return done
