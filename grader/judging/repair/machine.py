"""Carries a parsed file out, all threads of a launch in step, with edits put in place of nodes.

A node becomes a function once; only what an edit touches is built again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from grader.judging.repair import halves
from grader.judging.repair.calls import Calls
from grader.judging.repair.changes import Changes
from grader.judging.repair.declarations import Declarations
from grader.judging.repair.execution import Statements
from grader.judging.repair.expressions import VECTORS
from grader.judging.repair.host_memory import of_host
from grader.judging.repair.inline_ptx import InlinePtx
from grader.judging.repair.jumps import Jumps
from grader.judging.repair.layouts import Layouts
from grader.judging.repair.memory import Fields, joined
from grader.judging.repair.nodes import File, Node, Type
from grader.judging.repair.overloads import Overloads, takes, whole
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import STREAMS, List
from grader.judging.repair.values import (
    NOWHERE,
    TEXT,
    Fault,
    Place,
    Pointer,
    Ref,
    Struct,
    both,
    either,
    to_float,
    to_int,
    truth,
    without,
)
from grader.judging.repair.world import BINARY, MOST_SHIFTED, Frame

_LIMITS = {
    "INT_MAX": (1 << 31) - 1, "INT_MIN": -(1 << 31), "UINT_MAX": (1 << 32) - 1,
    "FLT_MAX": 3.4028234663852886e38, "EXIT_FAILURE": 1, "EXIT_SUCCESS": 0,
}  # fmt: skip


# Pointers to these see elements of 2 bytes as what they are.
_OF_HALVES = frozenset(("bf16", "__nv_bfloat162"))
# What an operator is at a fault with on its right.
_BADLY = {
    **dict.fromkeys("/%", lambda b: b == 0),
    **dict.fromkeys(("<<", ">>"), lambda b: (b < 0) | (b > MOST_SHIFTED)),
}
_OPERAND = "the operand"
_MOST_NEW = 64  # objects at once
_BYTE = 0.25  # words: of what a char* points to
_ANY = frozenset(("void", "auto", "char"))


class Machine(Calls, Statements, Declarations, Changes, Overloads, Jumps, InlinePtx, Layouts):
    """`edits`: what stands in place of a node, by its id."""

    def __init__(self, file: File, edits: Mapping[tuple[int, str], Callable[[Node], Node]]) -> None:
        self.file = file
        self.edits = edits
        self.fresh = any(kind == "declare" for _, kind in edits)  # types may differ
        self.types: dict[str, Type] = {}
        self.functions: dict[object, tuple] = {}
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
        return lambda f, m: TEXT

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
                found = f.fields[name]
                return found.get(m) if found.__class__ is Ref else found
            try:
                return f.world.globals[name]
            except KeyError:
                this = f.env.get("this")
                if this is not None and self.file.statics.get(this.kind):
                    args = tuple(this.fields.get(n) for n in self.file.parameters[this.kind])
                    known = self.constants_of(f.world, this.kind, args)
                    if name in known:
                        return known[name]
                if name in _LIMITS:
                    return _LIMITS[name]
                if name in STREAMS:
                    return TEXT
                if name in self.file.named:
                    return self.kernel_named(name, ())
                if name.startswith(("cuda", "mem_")):
                    return 0 if name == "cudaSuccess" else name
                raise GivenUp(name) from None

        return get

    def _type(self, node: Node) -> Callable:
        kind, given, name = node.type, [self.code(kid) for kid in node.kids], node.text

        def get(f, m):
            known = f.env.get(name, f.fields.get(name) if f.fields is not None else None)
            if known.__class__ is tuple:  # a template's own parameter
                return known
            return kind.name, tuple(part(f, m) for part in given)

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
            owner = self.special_of(*owner, f)
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
            if value.__class__ is not Struct:
                value = whole(value)
            if value.__class__ is Struct and value.lead:  # a pointer to the first of several
                value = value.at(0)
            if value.__class__ is not Struct:
                if value.__class__ is Pointer and hasattr(value.memory, "fragment"):
                    return value.dims[0] if name == "num_elements" else value  # its x
                raise GivenUp(name)
            if name not in value.fields:
                value = within(value, name)
            found = value.fields[name]
            return found.get(m) if found.__class__ is Ref else found

        return get

    def _index(self, node: Node) -> Callable:
        base, index = self.converted(self.code(node.kids[0])), self.code(node.kids[1])
        own = self.subscript(node, base, index, False)

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
                raise Fault("pointer")
            if len(value.dims) > 1:
                return value.at(index(f, m))
            off = index(f, m)
            if value.unit == 1 and not (value.is_packed or value.names):
                if value.memory.kind != "host":
                    return value.memory.load(value.off + off, m)
            return value.at(off).load(m)

        return get

    def subscript(self, node: Node, base: Callable, index: Callable, wants_address: bool):
        """A struct's own operator[]."""
        if "operator[]" not in self.file.of_structs:
            return None
        return self.of_method("operator[]", node.kids[1:], [index], base, wants_address)

    def _deref(self, node: Node) -> Callable:
        base = self.code(node.kids[0])
        own = self.of_sign("*", False)

        def get(f, m):
            value = base(f, m)
            if value.__class__ is Place:
                return value.holder.get(value.name)
            if value.__class__ is Struct:  # *this
                if own is not None and node.kids[0].text != "this":
                    return own(Frame(f.world, {_OPERAND: value}), m)
                return value.at(0) if value.lead else value
            if value.__class__ is not Pointer:
                raise Fault("pointer")
            return value.at(0) if len(value.dims) > 1 else value.load(m)

        return get

    def _new(self, node: Node) -> Callable:
        """Memory of the host, or an object that only pointers know."""
        sizes, given = node.kids
        kind, is_zero = node.type, node.macro == "zeros" or given is not None
        is_number = not kind.stars and kind.name in ("int", "float", "bool")
        count = self.code(sizes[0]) if sizes else None
        if len(sizes) > 1 or (sizes and given is not None and given.kids):
            raise GivenUp("new")
        if is_number and (sizes or not given or len(given.kids) < 2):
            value = self.initial(given.kids[0], kind) if given and given.kids else None

            def memory(f, m):
                found = of_host(f, 4 * int(to_int(count(f, m))) if count is not None else 4)
                if is_zero:
                    found.memory.data[:] = 0 if value is None else value(f, m)
                found.memory.is_int = kind.name == "int"
                return found

            return memory
        if count is not None:
            begun = self.nameless(kind, Node("braces")) if kind.name in self.file.structs else None

            def several(f, m):
                many = int(to_int(count(f, m)))
                if not 0 < many <= _MOST_NEW:
                    raise GivenUp("new")
                return List([begun(f, m) if begun else None for _ in range(many)], kind)

            return several
        made = self.nameless(kind, given or Node("braces", line=node.line))
        return lambda f, m: Place({"new": made(f, m)}, "new")

    def _delete(self, node: Node) -> Callable:
        return self.code(node.kids[0])

    def _range(self, node: Node) -> Callable:
        """What is gone over: an array, a container, or from begin() on to end()."""
        given = self.code(node.kids[0])
        ends = [
            self.of_method(name, [], [], lambda f, m: f.env["this"], False)
            if name in self.file.of_structs else None
            for name in ("begin", "end")
        ]  # fmt: skip

        def over(f, m):
            value = given(f, m)
            if value.__class__ is not Struct or None in ends:
                return value
            inner = Frame(f.world, {"this": value})
            first = ends[0](inner, m)
            if first.__class__ is Struct and first.lead:
                return first
            last = ends[1](inner, m)
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
            if value.__class__ is List:
                return len(value.items)
            if value.__class__ is Struct and value.lead:  # an array of them
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

    def _address(self, node: Node) -> Callable:
        (of,) = node.kids
        if of.kind != "index" or of.id in self.edits:
            return self.address(of)
        where, base, index = self.address(of), self.code(of.kids[0]), self.code(of.kids[1])

        def place(f, m):
            value = f.env.get(of.kids[0].text) if of.kids[0].kind == "name" else None
            if value.__class__ is not Struct or value.lead != 1:
                return where(f, m)
            return base(f, m).moved(index(f, m))  # from there one may go on to the next

        return place

    def address(self, node: Node) -> Callable:
        """Where an expression lies: a Pointer or a Place."""
        edit = self.edits.get(node.id)
        if edit is not None:
            return self.address(edit(node))
        if node.kind == "index":
            base, index = self.code(node.kids[0]), self.code(node.kids[1])
            own = self.subscript(node, base, index, True)

            def element(f, m):
                value = base(f, m)
                if value.__class__ is Struct:
                    if value.lead:
                        return value.at(index(f, m))
                    if own is not None:
                        return own(f, m)
                if value.__class__ is List:
                    return Place(value, index(f, m))
                if value.__class__ is not Pointer:
                    raise Fault("pointer")
                return value.at(index(f, m))

            return element
        if node.kind == "deref":
            base = self.code(node.kids[0])
            own = self.of_sign("*", True)

            def first(f, m):
                value = base(f, m)
                if own is not None and value.__class__ is Struct and node.kids[0].text != "this":
                    return own(Frame(f.world, {_OPERAND: value}), m)
                if value.__class__ is Pointer and value.dims:
                    return value.at(0)
                if value.__class__ is Struct and value.lead:
                    return value.at(0)
                return value

            return first
        if node.kind == "member":
            owner, field_name = self.code(node.kids[0]), node.text
            name = node.kids[0].text if node.kids[0].kind == "name" else ""
            if node.kids[0].kind in ("index", "deref", "call", "member"):
                owner = self.address(node.kids[0])

            def part(f, m):
                held = f.env.get(name) if name else None
                # A reference to what lies in an array is changed there.
                value = held.target if held.__class__ is Ref else owner(f, m)
                if value.__class__ is Pointer and value.names:
                    names = [name for name, _ in value.names]
                    if field_name not in names:
                        raise GivenUp("member")
                    return Pointer(value.memory, value.off + names.index(field_name))
                if value.__class__ is Pointer and field_name in "xyzw":
                    return Pointer(value.memory, value.off + "xyzw".index(field_name))
                value = whole(value)
                if value.__class__ is Struct and value.lead:
                    value = value.at(0)
                if value.__class__ is not Struct:
                    raise GivenUp("member")
                if field_name not in value.fields:
                    value = within(value, field_name, value)
                held = value.fields.get(field_name)
                return held.target if held.__class__ is Ref else Place(value.fields, field_name)

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
                    held = f.fields[name]
                    return held.target if held.__class__ is Ref else Place(f.fields, name)
                known = f.world.globals
                return Place(known if name not in f.env and name in known else f.env, name)

            return variable
        raise GivenUp(f"address of {node.kind}")

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

    def _unary(self, node: Node) -> Callable:
        inner, sign = self.code(node.kids[0]), node.text
        own = self.of_sign(sign, False)
        if own is not None:
            plain = self.signed(sign, lambda f, m: f.env[_OPERAND])

            def of_struct(f, m):
                operand = inner(f, m)
                inside = Frame(f.world, {_OPERAND: operand})
                return own(inside, m) if operand.__class__ is Struct else plain(inside, m)

            return of_struct
        return self.signed(sign, self.converted(inner))

    def of_sign(self, sign: str, wants_address: bool) -> Callable | None:
        """A struct's own *x, -x or !x, of what the frame has as its operand."""
        inner = lambda f, m: f.env[_OPERAND]  # noqa: E731
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
        left, right = (self.converted(self.code(kid)) for kid in node.kids)
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
        own = self.of_operator(node.text, node.kids, [left, right])
        if node.text in _BADLY and own is None:
            return _careful(do, _BADLY[node.text], left, right)
        is_product = node.text == "*"

        def combined(f, m):
            a, b = left(f, m), right(f, m)
            if own is not None and (a.__class__ is Struct or b.__class__ is Struct):
                return own(f, m)
            if is_product and f.world.pairs is not None:
                f.world.multiplied(a, b, m)
            try:
                return do(a, b)
            except TypeError:
                raise Fault("type") from None

        return combined

    def _comma(self, node: Node) -> Callable:
        first, last = (self.code(kid) for kid in node.kids)

        def both_of(f, m):
            first(f, m)
            return last(f, m)

        return both_of

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
            return joined(c, a, b)

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


def within(value: Struct, name: str, otherwise: Struct | None = None) -> Struct:
    """The struct or union without a name that has a member."""
    for known, inner in value.fields.items():
        if known[:1] == "<" and inner.__class__ is Struct:
            if name in inner.fields:
                return inner
    if otherwise is None:
        raise GivenUp(name)
    return otherwise


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
