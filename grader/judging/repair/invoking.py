"""A function that is called: what its parameters are given, and what its template's stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grader.judging.repair.declarations import REFERRED
from grader.judging.repair.nodes import Function, Node, Type, walk
from grader.judging.repair.overloads import owner_of, whole
from grader.judging.repair.packs import of_numbers
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Place, Pointer, Ref, Struct, is_integer
from grader.judging.repair.views import NUMBERS
from grader.judging.repair.world import Frame


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


class Invoking:
    """A part of Machine."""

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
        is_float = function.type.name == "float" and not function.type.stars
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
            if inner.result is None and is_float and f.world.batch is not None:
                return np.nan  # all edits that called it are out: for the others nothing changes
            return inner.result

        if is_reference:
            for one in walk(function.body):
                if one.kind == "return" and one.kids[0].kind not in REFERRED:
                    raise GivenUp("reference")
        return run
