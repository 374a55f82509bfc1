"""Where an expression lies: places, pointers, what is made by new and taken apart by *."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.judging.repair.host_memory import of_host
from grader.judging.repair.iterations import Iteration
from grader.judging.repair.maps import Map
from grader.judging.repair.memory import joined
from grader.judging.repair.nodes import Node
from grader.judging.repair.overloads import whole
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import List
from grader.judging.repair.type_names import VECTORS
from grader.judging.repair.values import (
    Fault,
    Nothing,
    Place,
    Pointer,
    Ref,
    Struct,
    both,
    to_int,
    truth,
    without,
)
from grader.judging.repair.views import NUMBERS, Fields, parts_of
from grader.judging.repair.world import Frame

OPERAND = "the operand"
_MOST_NEW = 64  # objects at once


class Addresses:
    """A part of Machine."""

    def _deref(self, node: Node) -> Callable:
        base = self.code(node.kids[0])
        own = self.of_sign("*", False)

        def get(f, m):
            value = base(f, m)
            if value.__class__ is Place:
                return value.holder.get(value.name)
            if value.__class__ is Struct:  # *this
                if own is not None and node.kids[0].text != "this":
                    return own(Frame(f.world, {OPERAND: value}), m)
                return value.at(0) if value.lead else value
            if value.__class__ is not Pointer:
                if self.file.has_optionals and value.__class__ is not Nothing:
                    return value
                raise Fault("pointer")
            return value.at(0) if len(value.dims) > 1 else value.load(m)

        return get

    def _new(self, node: Node) -> Callable:
        """Memory of the host, or an object that only pointers know."""
        sizes, given = node.kids
        kind, is_zero = node.type, node.macro == "zeros" or given is not None
        is_number = not kind.stars and kind.name in ("int", "float", "bool")
        count = self.code(sizes[0]) if sizes else None
        if len(sizes) > 1 or (sizes and given is not None and given.kids and not is_number):
            raise GivenUp("new")
        listed = [self.code(kid) for kid in given.kids] if sizes and given is not None else []
        if is_number and (sizes or not given or len(given.kids) < 2):
            is_one = given and given.kids and not listed
            value = self.initial(given.kids[0], kind) if is_one else None

            def memory(f, m):
                found = of_host(f, 4 * int(to_int(count(f, m))) if count is not None else 4)
                if is_zero:
                    found.memory.data[:] = 0 if value is None else value(f, m)
                for at, part in enumerate(listed):
                    found.memory.data[at] = part(f, m)
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

    def _address(self, node: Node) -> Callable:
        (of,) = node.kids
        if of.kind in ("member", "name") and of.id not in self.edits:
            return self.first_of_more(of)
        if of.kind != "index" or of.id in self.edits:
            return self.address(of)
        where, base, index = self.address(of), self.code(of.kids[0]), self.code(of.kids[1])
        root, depth = of.kids[0], 1
        while root.kind == "index":
            root, depth = root.kids[0], depth + 1
        name = root.text if root.kind == "name" else ""

        def place(f, m):
            value = f.env.get(name)
            if value.__class__ is not Struct or value.lead != depth:
                return where(f, m)
            return base(f, m).moved(index(f, m))  # from there one may go on to the next

        return place

    def one_of_places(self, node: Node) -> Callable:
        """(a < b ? x : y) = 0;"""
        condition, yes, no = self.code(node.kids[0]), *map(self.address, node.kids[1:])

        def place(f, m):
            c = truth(condition(f, m))
            first, second = both(m, c), without(m, c)
            if first is False or second is False:
                return no(f, m) if first is False else yes(f, m)
            one, other = yes(f, first), no(f, second)
            if one.__class__ is Place and one != other:
                raise GivenUp("one of two places")
            return joined(c, one, other)

        return place

    def first_of_more(self, node: Node) -> Callable:
        """&four.x: the other numbers lie behind it."""
        where, is_name = self.address(node), node.kind == "name"

        def place(f, m):
            found = where(f, m)
            if found.__class__ is not Place or is_name and found.holder is not f.fields:
                return found
            held = found.holder.get(found.name)
            if not (
                held.__class__ is float or isinstance(held, np.ndarray) and held.dtype == float
            ):
                if found.name not in "xyzw" or not isinstance(held, NUMBERS):
                    return found
            parts = parts_of(Struct(found.holder)) if found.holder.__class__ is dict else None
            names = [name for holder, name in parts or () if holder is found.holder]
            if len(names) != len(parts or ()) or not names:
                return found
            return Pointer(Fields(parts), names.index(found.name))

        return place

    def address(self, node: Node) -> Callable:
        """Where an expression lies: a Pointer or a Place."""
        edit = self.edits.get(node.id)
        if edit is not None:
            return self.address(edit(node))
        if node.kind == "index":
            base, index = self.code(node.kids[0]), self.code(node.kids[1])
            own = self.subscript(node, base, index, True)
            index = self.converted(index)

            def element(f, m):
                value = base(f, m)
                if value.__class__ is Struct:
                    if value.lead:
                        return value.at(index(f, m))
                    if own is not None:
                        return own(f, m)
                if value.__class__ is List:
                    return Place(value, index(f, m))
                if value.__class__ is Map:
                    return self.of_key(value, index(f, m), f).target
                if value.__class__ is Place and value.holder.__class__ is List:
                    return Place(value.holder, value.name + index(f, m))
                if value.__class__ is Iteration:
                    return Place({"": value.value(m)}, "")
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
                    return own(Frame(f.world, {OPERAND: value}), m)
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
                    try:
                        at, inner = value.names.of(field_name)
                    except KeyError:
                        raise GivenUp("member") from None
                    if inner.kind in VECTORS:
                        return Pointer(value.memory, value.off + at, (), len(inner))
                    return Pointer(value.memory, value.off + at, (), len(inner) or 1, inner)
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
        if node.kind == "choose":
            return self.one_of_places(node)
        if node.kind == "template":  # of a function
            return self.code(node)
        if node.kind == "name":
            name, of_function = node.text, node.text in self.file.named

            def variable(f, m):
                value = f.env.get(name)
                if of_function and value is None and name not in f.env:
                    return self.kernel_named(name, ())
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


def within(value: Struct, name: str, otherwise: Struct | None = None) -> Struct:
    """The struct or union without a name that has a member."""
    for known, inner in value.fields.items():
        if known[:1] == "<" and inner.__class__ is Struct:
            if name in inner.fields:
                return inner
    if otherwise is None:
        raise GivenUp(name)
    return otherwise
