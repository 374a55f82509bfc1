"""Functions, kernels and launches of an interpreted file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grader.judging.repair.algorithms import Algorithms
from grader.judging.repair.declarations import REFERRED, host_memory
from grader.judging.repair.groups import OF_GROUP, Group, asked_of_group
from grader.judging.repair.launches import Launches
from grader.judging.repair.maps import OF_MAP, Map, element_of_map
from grader.judging.repair.nodes import Function, Node, Type, walk
from grader.judging.repair.overloads import owner_of, takes, whole
from grader.judging.repair.packs import of_numbers
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import OF_VALUES, List, asked, element_of
from grader.judging.repair.structs import CONVERSION
from grader.judging.repair.type_names import VECTORS
from grader.judging.repair.values import (
    NOTHING,
    Choice,
    Closure,
    Kernel,
    Place,
    Pointer,
    Ref,
    Struct,
    is_integer,
)
from grader.judging.repair.views import NUMBERS
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


def _variable(name: str) -> Callable:
    def refer(f, m):
        if name not in f.env and f.fields is not None and name in f.fields:
            known = f.fields[name]
            return known if known.__class__ is Ref else Ref(Place(f.fields, name))
        known = f.env.get(name)
        return known if known.__class__ is Ref else Ref(Place(f.env, name))

    return refer


def _length(env: dict, array: str, at: int) -> int:
    """Of an array that a function was given."""
    value = env.get(array)
    if value.__class__ is not Pointer or at >= len(value.dims):
        raise GivenUp("deduction")
    return value.dims[at]


def _deduced(function: Function, name: str, env: dict) -> tuple | None:
    """The type that a parameter of this type has."""
    for kind, parameter in function.parameters:
        if kind.parameter != name:
            continue
        value = env[parameter]
        value = value.get(True) if value.__class__ is Ref else value
        value = value.holder.get(value.name) if value.__class__ is Place else value
        if value.__class__ is Struct:
            return (value.kind, ()) if value.kind else None
        if value.__class__ is Pointer and kind.stars:
            is_word = not (value.names or value.dims or value.unit != 1 or value.is_packed)
            memory = value.memory
            whole_one = "int" if memory.is_int else "bf16" if memory.is_half else "float"
            return (whole_one, ()) if is_word else None
        if isinstance(value, NUMBERS):
            return ("int" if is_integer(value) else "float", ())
        return None
    return None


def _node_of(value) -> Node:
    """A template's argument as it would be written."""
    if value.__class__ is tuple:
        kind = Type(value[0], args=tuple(_node_of(one) for one in value[1]))
        return Node("type", list(kind.args), value[0], key=-1, type=kind)
    return Node("number", text=str(value), key=-1)


class Calls(Launches, Algorithms):
    """A part of Machine."""

    # --- calls

    def function(self, function: Function) -> tuple:
        if function not in self.functions:
            outer, self.types = self.types, self.types_of(function)
            body = self.code(function.body)
            converts = [self.conversion(kind) for kind, _ in function.parameters]
            self.types = outer
            self.functions[function] = (body, converts)
        return self.functions[function]

    def types_of(self, function: Function) -> dict[str, Type]:
        found = {name: kind for kind, name in function.parameters}
        declared: dict[str, Type] = {}
        found["return"] = function.type
        if function.type.is_reference:
            found["&"] = function.type
        if function.declared is None:
            nodes = walk(function.body)
            function.declared = [node for node in nodes if node.kind == "declare"]
        for node in function.declared:
            edit = self.edits.get(node.id)
            node = edit(node) if edit is not None else node
            if node.kind == "declare" and not node.kids[0]:
                # One word of a block's is another name of where it lies.
                is_reference = node.type.is_reference or node.type.is_shared
                kind = replace(node.type, is_reference=is_reference)
                known = declared.setdefault(node.text, kind)
                if (known.name, known.stars) != (kind.name, kind.stars):
                    # Two of one name: each is what it is declared as.
                    is_reference = known.is_reference or is_reference
                    kind = Type("auto", is_reference=is_reference)
                found[node.text] = kind
        return found

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
                return lambda f, m: 0
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

    def passed(self, function: Function, nodes: list[Node], given: list) -> list[Callable]:
        """Arguments; of a reference where it lies."""
        found = []
        for (kind, _), node, part in zip(function.parameters, nodes, given, strict=False):
            if kind.is_reference and kind.stars and node.kind == "name":
                found.append(_variable(node.text))  # not what it points to
            elif kind.is_reference and node.kind in REFERRED:
                found.append(self.referring(node))
                if self.is_made_of_one(kind.name):
                    found[-1] = self.made_of_one(kind, found[-1])
            elif node.kind == "braces":
                found.append(self.initial(node, kind))
            elif not kind.stars and self.is_made_of_one(kind.name):
                found.append(self.made_of_one(kind, part))
            elif kind.name in self.file.structs or (kind.name == "auto" and not kind.stars):
                found.append(part)
            else:
                found.append(self.converted(part))
        return found + given[len(function.parameters) :]

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
                if value.__class__ is Struct:
                    return place
            if value.__class__ in (Struct, Place, Ref, List, Closure) or value is None:
                return value
            if not build:
                run = self.one_of(known, [node], given, [], lambda f, m: f.env["this"], False)
                build.append(run)
            found = self.empty(kind, f)
            build[0](Frame(f.world, {"this": found, "given": value}), m)
            return found

        return made

    def with_defaults(self, function: Function, given: list[Callable]) -> list[Callable]:
        """What each template parameter stands for; of a type that is deduced nothing need be known."""
        found = list(given)
        for name in function.templates[len(given) :]:
            if name in function.defaults:
                found.append(self.code(function.defaults[name]))
            elif name in function.kinds or name in function.lengths or self.is_of(function, name):
                found.append(lambda f, m: None)
            else:
                raise GivenUp("deduction")
        return found

    def is_of(self, function: Function, name: str) -> tuple | None:
        """Which parameter is a struct template that has this one, and what the struct calls it."""
        for kind, parameter in function.parameters:
            known = self.file.parameters.get(kind.name) or ()
            for own, node in zip(known, kind.args, strict=False):
                if node.text == name and node.kind == "name":
                    return parameter, own
        return None

    def for_numbers(self, function, given, templates, owner, wants_address) -> Callable:
        """A call of what is given std::index_sequence<I...>."""
        at = [kind.name for kind, _ in function.parameters].index("sequence")
        known, types = {}, self.types

        def run(f, m):
            many = int(given[at](f, m).fields["many"])
            if many not in known:
                kept, self.types = self.types, types
                one = of_numbers(self.file, function, many)
                try:
                    known[many] = self.invoked(one, given, templates, owner, wants_address)
                finally:
                    self.types = kept
            return known[many](f, m)

        return run

    def _sequence(self, node: Node) -> Callable:
        many = self.code(node.kids[0])
        return lambda f, m: Struct({"many": many(f, m)}, "sequence")

    def invoked(self, function, given, templates, owner, wants_address) -> Callable:
        if function.numbers and "sequence" in [kind.name for kind, _ in function.parameters]:
            return self.for_numbers(function, given, templates, owner, wants_address)
        names = [name for _, name in function.parameters]
        lacking = len(names) - len(given)
        said = len(given)
        if 0 < lacking <= len(function.rest):
            given = [*given, *(self.code(one) for one in function.rest[-lacking:])]
        deduced = function.templates[len(templates) :]
        if len(names) != len(given) or len(templates) > len(function.templates):
            raise GivenUp("arguments")
        templates = self.with_defaults(function, templates)
        is_reference = function.type.is_reference
        others = {name for kind, name in function.parameters if kind.is_reference}

        def run(f, m):
            f.world.step()
            body, converts = f.world.machine.function(function)
            env = {}
            inside = f
            given_types = [part(f, m) for part in templates]
            called_of = owner(f, m) if owner is not None else None
            if lacking > 0:  # what is not given is a matter of the struct's
                this = whole(called_of)
                known = dict(zip(function.templates, given_types, strict=True))
                if this.__class__ is Struct:
                    inside = Frame(f.world, {**f.env, "this": this, **known}, fields=this.fields)
                elif known:
                    inside = Frame(f.world, {**f.env, **known}, fields=f.fields)
            for at, (name, convert, part) in enumerate(zip(names, converts, given, strict=True)):
                value = part(f if at < said else inside, m)
                is_itself = value.__class__ is Ref or (value.__class__ is Struct and name in others)
                env[name] = value if is_itself else convert(value)
            for name, known in zip(function.templates, given_types, strict=True):
                env[name] = known
            for name in deduced:
                if name in function.lengths:
                    env[name] = _length(env, *function.lengths[name])
                elif name in function.kinds and env[name] is None:
                    env[name] = _deduced(function, name, env)
                elif name not in function.kinds and name not in function.defaults:
                    parameter, own = self.is_of(function, name)
                    given_to = whole(env[parameter])
                    if given_to.__class__ is not Struct or own not in given_to.fields:
                        raise GivenUp("deduction")
                    env[name] = given_to.fields[own]
            inner = Frame(f.world, env)
            if owner is not None:
                value = owner_of(called_of)
                if value.__class__ is not Struct:
                    raise GivenUp("method")
                value = value.at(0) if value.lead == 1 else value
                inner.fields, env["this"] = value.fields, value
            body(inner, m)
            if is_reference and inner.result.__class__ is not Struct:  # not *this
                if inner.result.__class__ is Place:
                    return inner.result if wants_address else whole(inner.result)
                if inner.result.__class__ is not Pointer:
                    raise GivenUp("reference")
                return inner.result if wants_address else inner.result.load(m)
            return inner.result

        if is_reference:
            for one in walk(function.body):
                if one.kind == "return" and one.kids[0].kind not in REFERRED:
                    raise GivenUp("reference")
        return run
