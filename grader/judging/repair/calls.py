"""What is called: a function of the file, of CUDA or of the library, a method, a lambda."""

from __future__ import annotations

from collections.abc import Callable

from grader.judging.repair.algorithms import Algorithms
from grader.judging.repair.declarations import REFERRED, host_memory
from grader.judging.repair.groups import OF_GROUP, Group, asked_of_group
from grader.judging.repair.invoking import Invoking
from grader.judging.repair.launches import Launches
from grader.judging.repair.making import Making
from grader.judging.repair.maps import OF_MAP, Map, element_of_map
from grader.judging.repair.nodes import Node, Type
from grader.judging.repair.overloads import takes, whole
from grader.judging.repair.races import unseen
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import OF_VALUES, List, asked, element_of
from grader.judging.repair.type_names import VECTORS
from grader.judging.repair.values import (
    NOTHING,
    Choice,
    Closure,
    Kernel,
    Pointer,
    Ref,
    Struct,
)
from grader.judging.repair.world import Frame

_LAUNCHES = ("cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaLaunchKernelEx")
# What pipelines and barriers are asked for: here all threads go in step, and copies come at once.
_MEETING = frozenset((
    "producer_acquire", "producer_commit", "consumer_wait", "consumer_release", "arrive",
    "arrive_and_wait", "wait", "quit", "arrive_and_drop",
))  # fmt: skip
OF_OPTIONAL: dict[str, Callable] = {
    "has_value": lambda of: lambda f, m: of(f, m) is not NOTHING,
    "value": lambda of: of,
    "value_or": lambda of, other: lambda f, m: _one_or(of(f, m), other, f, m),
}
_MOST_OF_SYMBOL = 1024  # words


def _one_or(value, other: Callable, f: Frame, m):
    return other(f, m) if value is NOTHING else value


class Calls(Launches, Algorithms, Making, Invoking):
    """A part of Machine."""

    # --- calls

    def _template(self, node: Node) -> Callable:
        """product<16>, as a value."""
        name, given = node.kids[0].text, [self.code(kid) for kid in node.kids[1:]]
        if name not in self.file.named:
            raise GivenUp("template")
        return lambda f, m: self.kernel_named(name, tuple(part(f, m) for part in given))

    def _call(self, node: Node) -> Callable:
        return self.call(node, False)

    def call(self, node: Node, wants_address: bool) -> Callable:
        from grader.judging.repair.builtin import BUILTIN

        target = node.kids[0]
        if target.kind == "name" and target.text == "cudaMemcpyToSymbol":
            return self.to_symbol(node)
        given = [self.part(kid) for kid in node.kids[1:]]
        templates: list[Callable] = []
        if target.kind == "template":
            templates = [self.code(kid) for kid in target.kids[1:]]
            target = target.kids[0]
        if target.text in self.file.unread_names:
            return self.unread(target.text)
        if target.kind == "member":
            name = target.text
            other = None
            if name in OF_VALUES or name in OF_GROUP or name in OF_MAP:
                other = self.of_standard(node, given, wants_address)
                if name not in self.file.of_structs:
                    return other
            if name in self.file.of_structs:
                owner = self.owner(target.kids[0])
                own = self.of_method(name, node.kids[1:], given, owner, wants_address, templates)
                return own if other is None else self.either_method(owner, own, other)
            if name == "get" and not given:
                return self.code(target.kids[0])  # of unique_ptr
            if name in _MEETING:
                return lambda f, m: unseen(f, name) or 0
            if name in OF_OPTIONAL and self.file.has_optionals:
                return OF_OPTIONAL[name](self.code(target.kids[0]), *given)
            return self.called_value(self.code(target), node.kids[1:], given, wants_address)
        if target.kind == "scoped":
            return self.of_static(target.text, target, node.kids[1:], given, templates)
        if target.kind != "name":
            return self.called_value(self.owner(target), node.kids[1:], given, wants_address)
        name = target.text
        edit = self.edits.get(target.id)
        if edit is not None:
            name = edit(target).text
        functions = self.file.named.get(name)
        if functions is not None:
            run = self.one_of(functions, node.kids[1:], given, templates, None, wants_address)
            return self.with_specials(name, run, node.kids[1:], given, templates)
        known = BUILTIN.get(name) if name not in self.types else None
        if name in ("min", "max") and len(given) == 1 and node.kids[1].kind == "braces":
            return self.least_of(known, node.kids[1].kids)
        if name in self.file.of_structs and name not in self.file.structs:
            own = self.of_method(
                name, node.kids[1:], given, lambda f, m: f.env.get("this"), wants_address, templates
            )
            other = known(given, templates) if known is not None else None

            def sibling(f, m):
                if other is not None and "this" not in f.env:
                    return other(f, m)
                return own(f, m)

            return sibling
        if known is not None:
            return known(self.of_builtin(node.kids[1:], given), templates)
        if name in _LAUNCHES:
            return self.launched(node)
        if name.startswith("cuda"):
            raise GivenUp(name)
        if name == "swap" and len(given) == 2:
            return self.exchanged(node.kids[1:], given)
        if name == "for_each" and len(given) == 3:
            return self.each(given)
        if name == "visit" and len(given) > 1:
            return lambda f, m: self.of_closure(
                given[0](f, m), [part(f, m) for part in given[1:]], f, m
            )
        if name == "apply" and len(given) == 2:
            return self.applied(given)
        if name == "tie":
            return self.tied(node.kids[1:])
        if name == "exchange" and len(given) == 2:
            return self.replaced(node.kids[1:], given)
        return self.called_value(self.owner(target), node.kids[1:], given, wants_address)

    def least_of(self, two: Callable, nodes: list[Node]) -> Callable:
        """std::min({a, b, c})"""
        found = self.code(nodes[0])
        for one in nodes[1:]:
            found = two([found, self.code(one)], [])
        return found

    def of_builtin(self, nodes: list[Node], given: list) -> list:
        """What a function is given that nobody wrote; {a, b} is a vector."""
        found = []
        for node, part in zip(nodes, given, strict=True):
            if node.kind == "braces" and f"float{len(node.kids)}" in VECTORS:
                part = self.initial(node, Type(f"float{len(node.kids)}"))
            found.append(self.converted(part))
        return found

    def of_standard(self, node: Node, given: list, wants_address: bool) -> Callable:
        """A method of a container, of a text, of memory that a std::vector has, or of a group."""
        from grader.judging.repair.builtin import BUILTIN

        name, owner = node.kids[0].text, self.code(node.kids[0].kids[0])
        braces = [kid for kid in node.kids[1:] if kid.kind == "braces"]
        makes = name == "emplace_back"

        def asked_for(f, m):
            value = whole(owner(f, m))
            if value.__class__ is Ref:
                value = value.get(m)
            is_made = makes and (len(given) != 1 or self.is_object(value, given[0], f, m))
            if value.__class__ is List and (braces or is_made) and value.kind is not None:
                if is_made:
                    kid = Node("braces", node.kids[1:], line=node.line, key=-1)
                else:
                    kid = braces[0]
                return asked(name, value, [self.initial(kid, value.kind)(f, m)])
            if value.__class__ is Map:
                return self.of_map(name, value, node.kids[1:], given, wants_address)(f, m)
            if value.__class__ is Group:
                return asked_of_group(name, value, given, BUILTIN)(f, m)
            parts = [part(f, m) for part in given]
            if name == "data" and value.__class__ is List and value.items:
                if all(isinstance(one, (int, float)) for one in value.items):
                    memory = host_memory(f.world, [len(value.items)])
                    memory.memory.data[:] = value.items
                    return memory
            if wants_address and value.__class__ in (List, Pointer):
                return element_of(value, name, parts)
            return asked(name, value, parts)

        return asked_for

    def of_map(self, name: str, known: Map, nodes: list, given: list, wants_address: bool):
        if name not in OF_MAP:
            raise GivenUp("method")
        kinds = [Type("tuple")] if len(nodes) == 1 else [None, known.kind]

        def asked_for(f, m):
            parts = [
                self.initial(node, kind)(f, m) if node.kind == "braces" else part(f, m)
                for node, kind, part in zip(nodes, kinds, given, strict=False)
            ]
            if wants_address:
                return element_of_map(known, name, parts)
            return OF_MAP[name](known, *parts)

        return asked_for

    def is_object(self, known, given: Callable, f: Frame, m) -> bool:
        """Whether a container's element is to be made of what is given."""
        kind = known.kind.name if known.__class__ is List and known.kind is not None else ""
        return kind in self.file.structs and given(f, m).__class__ is not Struct

    def either_method(self, owner: Callable, own: Callable, other: Callable) -> Callable:
        """Of a struct of the file, or of the standard library."""

        def called(f, m):
            value = owner(f, m)
            is_own = whole(value).__class__ is Struct
            return own(f, m) if is_own else other(f, m)

        return called

    def unread(self, name: str) -> Callable:
        """A call of what was passed over: not before it is carried out is it in the way."""

        def called(f, m):
            raise GivenUp(name)

        return called

    def part(self, node: Node) -> Callable:
        """An argument; what braces make of it depends on the parameter."""
        return (lambda f, m: None) if node.kind == "braces" else self.code(node)

    def to_symbol(self, node: Node) -> Callable:
        """cudaMemcpyToSymbol(WIDTH, &width, sizeof(int)): a number, a struct or an array."""
        if len(node.kids) < 4:
            raise GivenUp("cudaMemcpyToSymbol")
        put, source = self.assigner(node.kids[1]), self.code(node.kids[2])
        symbol, size = node.kids[1], self.code(node.kids[3])
        offset = self.code(node.kids[4]) if len(node.kids) > 4 else lambda f, m: 0

        def copy(f, m):
            value, here = source(f, m), Frame(f.world, f.world.globals)
            place, first = f.world.globals.get(symbol.text), int(offset(f, m)) // 4
            if value.__class__ is not Pointer:
                value = whole(value)
            if place.__class__ is Pointer and place.off.__class__ is int:
                words = int(size(f, m)) // 4
                if words > _MOST_OF_SYMBOL or value.__class__ is Struct:
                    raise GivenUp("cudaMemcpyToSymbol")
                for i in range(words):
                    is_array = value.__class__ is Pointer
                    word = value.memory.load(value.off + i, m) if is_array else value
                    place.memory.store(place.off + first + i, m, word)
            elif value.__class__ is Pointer or value is None or first != 0:
                raise GivenUp("cudaMemcpyToSymbol")
            else:
                put(here, m, value.copy() if value.__class__ is Struct else value)
            return 0

        return copy

    def called_value(
        self, variable: Callable, nodes: list[Node], given: list[Callable], wants_address: bool = False
    ) -> Callable:  # fmt: skip
        """A call of a lambda, or of a struct that can be called."""
        own = None
        if any(takes(one, len(given)) for one in self.file.of_structs.get("operator()", ())):
            own = self.of_method("operator()", nodes, given, variable, wants_address)

        def lambda_call(f, m):
            value = variable(f, m)
            if own is not None:
                if value.__class__ is Struct or value.__class__ is Pointer and value.names:
                    return own(f, m)
            value = whole(value)
            if value.__class__ is Struct and own is not None:
                return own(f, m)
            if value.__class__ is Kernel and not value.function.is_kernel:
                templates = [lambda f, m, one=one: one for one in value.given]
                kept, self.types = self.types, types
                try:
                    parts = self.passed(value.function, nodes, given)
                    run = self.invoked(value.function, parts, templates, None, wants_address)
                finally:
                    self.types = kept
                return run(f, m)
            parts = [part(f, m) for part in given]
            if value.__class__ is Closure and value.bodies is None:
                for at, is_other in enumerate(value.others[: len(parts)]):
                    if is_other and nodes[at].kind in REFERRED:
                        if at not in places:
                            places[at] = self.referring(nodes[at])
                        parts[at] = places[at](f, m)
            return self.of_closure(value, parts, f, m)

        places: dict[int, Callable] = {}
        types = self.types
        return lambda_call

    def of_closure(self, value, given: list, f: Frame, m):
        if value.__class__ is Choice:
            value = value.for_these(given)
        if value.__class__ is not Closure:
            raise GivenUp("call")
        home = value.home
        before = dict(home.env)
        inner = Frame(f.world, dict(before), fields=home.fields)
        names, body = value.names, value.body
        if value.bodies is not None:
            names, body = value.bodies(len(given))
        for one, argument in zip(names, given, strict=True):
            inner.env[one] = argument
        body(inner, m)
        for one, old in before.items():  # what it changes outside; what it declares is its own
            if inner.env[one] is not old and one not in value.declared:
                home.env[one] = inner.env[one]
        return inner.result
