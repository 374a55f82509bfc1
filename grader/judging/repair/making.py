"""Structs that are made in the middle of an expression: without a name, of one value, of a template's parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grader.judging.repair.nodes import Node, Type
from grader.judging.repair.overloads import takes
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import List
from grader.judging.repair.structs import CONVERSION
from grader.judging.repair.values import Choice, Closure, Place, Ref, Struct
from grader.judging.repair.world import Frame


def _node_of(value) -> Node:
    """A template's argument as it would be written."""
    if value.__class__ is tuple:
        kind = Type(value[0], args=tuple(_node_of(one) for one in value[1]))
        return Node("type", list(kind.args), value[0], key=-1, type=kind)
    return Node("number", text=str(value), key=-1)


class Making:
    """A part of Machine."""

    def _built(self, node: Node) -> Callable:
        """View(data, width), View{data, width}: a struct without a name."""
        if node.text in self.file.choices:
            kinds = [[kind for kind, _ in kid.given] for kid in node.kids]
            parts = [self.initial(kid, None) for kid in node.kids]
            return lambda f, m: Choice(
                [(kind, part(f, m)) for kind, part in zip(kinds, parts, strict=True)]
            )
        return self.nameless(
            node.type or Type(node.text), Node("braces", node.kids, line=node.line)
        )

    def _object(self, node: Node) -> Callable:
        """A member that is given (a, b) or {a, b}."""
        return self.nameless(node.type, node.kids[0])

    def nameless(self, kind: Type, given: Node) -> Callable:
        kind = replace(kind, is_reference=False)
        if given.kind == "make" and kind.name in self.file.structs and not kind.stars:
            if not self.constructors(kind.name):
                given = Node("braces", given.kids, line=given.line)
        declared = self.code(Node("declare", [None, given], "", given.line, -1, kind))

        def build(f, m):
            inner = Frame(f.world, dict(f.env), fields=f.fields)
            declared(inner, m)
            return inner.env[""]

        return build

    def made_as(self, kind: Type, given: Node) -> Callable:
        """Of what a template's parameter stands for, where that is a struct; else a number."""
        known: dict[tuple, Callable] = {}
        parts = [self.part(kid) for kid in given.kids]

        def converted(name: str, value):
            return self.conversion(Type(name))(value)

        def made(f, m):
            owner = f.env.get(kind.parameter)
            if owner.__class__ is not tuple and f.fields is not None:
                owner = f.fields.get(kind.parameter)
            if owner.__class__ is not tuple or owner[0] not in self.file.structs:
                value = parts[0](f, m) if parts else 0
                return value if owner.__class__ is not tuple else converted(owner[0], value)
            if owner not in known:
                args = tuple(_node_of(one) for one in owner[1])
                known[owner] = self.nameless(Type(owner[0], args=args), given)
            return known[owner](f, m)

        return made

    def _of_parameter(self, node: Node) -> Callable:
        return self.made_as(node.type, node.kids[0])

    def _delegate(self, node: Node) -> Callable:
        """A base's constructor, or another one of the same struct."""
        known = self.file.of_structs.get(node.text)
        if known is None:
            if node.kids:
                raise GivenUp("base")
            return lambda f, m: 0
        given = [self.part(kid) for kid in node.kids]
        return self.one_of(known, node.kids, given, [], lambda f, m: f.env["this"], False)

    def converted(self, part: Callable) -> Callable:
        """What a struct is taken for, if it says so by an operator of its own."""
        known = self.file.of_structs.get(CONVERSION)
        if not known:
            return part
        owners = {one.owner for one in known}

        def value(f, m):
            found = part(f, m)
            if found.__class__ is Struct and found.kind in owners and not found.lead:
                of = [one for one in known if one.owner == found.kind]
                return self.one_of(of, [], [], [], lambda f, m: found, False)(f, m)
            return found

        return value

    def is_made_of_one(self, kind: str) -> bool:
        """Whether a number or a pointer may be given where such a struct is meant."""
        return any(
            takes(one, 1) and one.parameters[0][0].name != kind
            for one in self.constructors(kind) if one.parameters and not one.is_implied
        )  # fmt: skip

    def made_of_one(self, kind: Type, part: Callable) -> Callable:
        known = [
            one for one in self.constructors(kind.name)
            if takes(one, 1) and one.parameters and one.parameters[0][0].name != kind.name
        ]  # fmt: skip
        node = Node("number", text="0", key=-1)
        given = [lambda f, m: f.env["given"]]
        build: list[Callable] = []

        def made(f, m):
            value = place = part(f, m)
            if value.__class__ is Ref:
                value = value.get(m)
            if value.__class__ is Struct and not _is_vector(value, kind.name):
                return place
            if value.__class__ in (Place, Ref, List, Closure) or value is None:
                return value
            if not build:
                run = self.one_of(known, [node], given, [], lambda f, m: f.env["this"], False)
                build.append(run)
            found = self.empty(kind, f)
            build[0](Frame(f.world, {"this": found, "given": value}), m)
            return found

        return made


def _is_vector(value: Struct, kind: str) -> bool:
    """Whether it is no such struct, but a vector of numbers."""
    return value.kind != kind and value.fields.keys() <= {"x", "y", "z", "w"} and not value.lead
