"""Which function a name means: several of one name, methods of several structs, a file's own operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.judging.repair.nodes import Function, Node, walk
from grader.judging.repair.packs import of_pack
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import TEXTS
from grader.judging.repair.values import Place, Pointer, Struct, Text, is_integer
from grader.judging.repair.views import in_place
from grader.judging.repair.world import Frame

_CHANGING = frozenset(("before", "after", "assign"))
_NUMBERS = frozenset(("int", "float", "bool"))


def takes(function: Function, count: int) -> bool:
    most = len(function.parameters)
    if function.pack:
        return count >= most - 1
    return most - len(function.rest) <= count <= most


def whole(value):
    """A struct, where a pointer to it is given."""
    if value.__class__ is Place:
        return value.holder.get(value.name)
    if value.__class__ is Pointer and value.names:
        return value.load(True)
    return value


def owner_of(value):
    """A struct whose method is called: where it lies in memory, it is changed there."""
    if value.__class__ is Pointer and value.names:
        return in_place(value)
    return whole(value)


def kind_of(value) -> str:
    """What kind of struct has a method that is called."""
    if value.__class__ is Pointer and value.names:
        return value.names.kind
    value = whole(value)
    if value.__class__ is not Struct:
        raise GivenUp("method")
    return value.kind


class Overloads:
    """A part of Machine."""

    def one_of(
        self, known: Sequence[Function], nodes: list[Node], given: list, templates: list,
        owner: Callable | None, wants_address: bool,
    ) -> Callable:  # fmt: skip
        """A call of the one that fits; what it is given decides where their number does not."""
        fitting = [one for one in known if takes(one, len(given))]
        if not fitting:
            raise GivenUp("arguments")
        if any(one.pack for one in fitting):
            fitting = [one for one in fitting if not one.pack] or fitting
            fitting = [of_pack(self.file, one, len(given)) for one in fitting]
        if len(fitting) > 1 and templates:
            named = [one for one in fitting if len(one.templates) >= len(templates)]
            fitting = named or fitting
        runs = [
            self.invoked(one, self.passed(one, nodes, given), templates, owner, wants_address)
            for one in fitting
        ]
        if len(runs) == 1:
            return runs[0]
        if any(one.kind in _CHANGING for node in nodes for one in walk(node)):
            raise GivenUp("overloads")

        def run(f, m):
            values = [part(f, m) for part in given]
            likeness = [self.likeness(f, one, values) for one in fitting]
            best = max(likeness)
            if best < 0:
                raise GivenUp("overloads")
            return runs[likeness.index(best)](f, m)

        return run

    def likeness(self, f: Frame, function: Function, values: list) -> int:
        """How well a function's parameters are like what it is given; below 0: not at all."""
        found = 0
        for (kind, name), value in zip(function.parameters, values, strict=False):
            if value.__class__ is Text:
                if kind.name not in TEXTS and not kind.stars:
                    return -1
                found += 2
                continue
            is_pointer = value.__class__ in (Pointer, Place)
            if kind.name == "auto" and not kind.stars:
                continue
            if bool(kind.stars) != is_pointer and not (kind.is_reference and is_pointer):
                return -1
            if value.__class__ is Struct:
                if kind.name in _NUMBERS or (value.kind and value.kind != kind.name):
                    return -1
                found += 2 * bool(value.kind)
                if kind.args and not self.has_arguments(f, kind, value):
                    return -1
            elif not is_pointer:
                if kind.name in self.file.structs and self.is_made_of_one(kind.name):
                    continue
                if kind.name not in _NUMBERS:
                    return -1
                found += 1 + (is_integer(value) == (kind.name != "float"))
            elif name in function.sizes:
                dims = self.dims_of(f, function.sizes[name])
                own = value.dims[-len(dims) :] if value.__class__ is Pointer else ()
                if None not in dims and tuple(dims) != tuple(own):
                    return -1
                found += 2
            elif value.__class__ is Pointer and value.unit == {"float4": 4, "float2": 2}.get(
                kind.name, 1
            ):
                found += 1
        return found

    def has_arguments(self, f: Frame, kind, value: Struct) -> bool:
        """Whether no number that a struct template is given is another one."""
        for name, node in zip(self.file.parameters.get(kind.name, ()), kind.args, strict=False):
            known = value.fields.get(name)
            if is_integer(known) and node.kind != "type":
                (number,) = self.dims_of(f, [node])
                if is_integer(number) and number != known:
                    return False
        return True

    def dims_of(self, f: Frame, sizes: list) -> list:
        found = []
        for size in sizes:
            try:
                found.append(self.code(size)(Frame(f.world, dict(f.world.globals)), True))
            except GivenUp:
                found.append(None)  # a template's parameter
        return found

    def of_method(
        self, name: str, nodes: list[Node], given: list, owner: Callable, wants_address: bool,
        templates: Sequence[Callable] = (),
    ) -> Callable:  # fmt: skip
        """A call of a struct's function; which struct's is known when it is called."""
        known = self.file.of_structs.get(name, [])
        owners = {one.owner for one in known}
        runs: dict[str, Callable] = {}
        of_now: list = []  # what it is called of, which is asked for once
        once = owner if len(owners) == 1 else lambda f, m: of_now[-1]

        def of(kind: str) -> Callable:
            if kind not in runs:
                line = self.file.lines_of(kind) if kind else []
                named = next((one for one in line if one in owners), None)
                if named is None and len(owners) == 1:
                    (named,) = owners
                mine = [one for one in known if one.owner == named]
                if not mine:
                    raise GivenUp("method")
                kept, self.types = self.types, types
                try:
                    runs[kind] = self.one_of(
                        mine, nodes, given, list(templates), once, wants_address
                    )
                finally:
                    self.types = kept
            return runs[kind]

        types = self.types
        if len(owners) == 1:
            return of("")

        def run(f, m):
            value = owner(f, m)
            of_now.append(value)
            try:
                return of(kind_of(value))(f, m)
            finally:
                of_now.pop()

        return run

    def owner(self, node: Node) -> Callable:
        """What a method is called of: where it lies, if it is an element or another name of one."""
        return self.address(node) if self.is_in_memory(node) else self.code(node)

    def is_in_memory(self, node: Node) -> bool:
        if node.id in self.edits:
            return False
        if node.kind == "name":
            known = self.types.get(node.text)
            return known is not None and known.is_reference and not known.stars
        if node.kind == "call":
            name = node.kids[0].text
            known = [*self.file.named.get(name, ()), *self.file.of_structs.get(name, ())]
            return bool(known) and all(one.type.is_reference for one in known)
        if node.kind == "member":
            return self.is_in_memory(node.kids[0])
        return node.kind in ("index", "deref") and node.kids[0].text != "this"

    def special_of(self, owner: str, args: tuple, f: Frame) -> tuple:
        """What a struct template is for just these arguments."""
        for given, special in self.file.specials.get(owner, ()):
            if special.__class__ is str:
                names = self.file.parameters.get(special) or ()
                known = self.fits(given, args, f, names)
                if known is not None:
                    return special, tuple(known.get(name) for name in names)
        return owner, args

    def fits(
        self, given: Sequence[Node], args: Sequence, f: Frame, names: Sequence[str] = ()
    ) -> dict | None:
        """What `names` stand for if arguments are those that a specialisation is for."""
        if len(given) != len(args):
            return None
        found: dict = {}
        for node, value in zip(given, args, strict=True):
            if node.text in names:
                if found.setdefault(node.text, value) != value:
                    return None
                continue
            known = self.code(node)(Frame(f.world, f.world.globals), True)
            if known.__class__ is tuple and value.__class__ is tuple:
                if known[0] != value[0]:
                    return None
            elif not is_integer(value) or known != value:
                return None
        return found

    def with_specials(self, name: str, run: Callable, nodes: list, given: list, templates: list):
        """A call of a function template, or of what stands for it where its arguments are known."""
        known = [(args, one) for args, one in self.file.specials.get(name, ())
                 if one.__class__ is Function]  # fmt: skip
        if not known or not templates:
            return run
        runs = [
            self.invoked(one, self.passed(one, nodes, given), [], None, False) for _, one in known
        ]

        def chosen(f, m):
            values = [part(f, m) for part in templates]
            for (args, _), other in zip(known, runs, strict=True):
                if self.fits(args, values[: len(args)], f) is not None:
                    return other(f, m)
            return run(f, m)

        return chosen

    def of_static(
        self, name: str, node: Node, nodes: list[Node], given: list, templates: Sequence = ()
    ) -> Callable:
        """Tile::index(r, c), Policy::index(r, c)."""
        known = self.file.of_structs.get(name, ())
        kind = node.type
        sides = [self.code(kid) for kid in node.kids]

        def run(f, m):
            owner, args = f.env.get(kind.name), ()
            if owner.__class__ is not tuple and f.fields is not None:
                owner = f.fields.get(kind.name)
            if owner.__class__ is not tuple:
                owner, args = kind.name, tuple(part(f, m) for part in sides)
            else:
                owner, args = owner
                args = args or tuple(part(f, m) for part in sides)
            owner, args = self.special_of(owner, args, f)
            mine = [one for one in known if one.owner in self.file.lines_of(owner)]
            fields = dict(zip(self.file.parameters.get(owner, ()), args, strict=False))
            this = Struct(fields, owner)
            if f.env.get("this") is not None and not any(one.is_static for one in mine):
                this_one = lambda f, m: f.env["this"]  # noqa: E731
            else:
                this_one = lambda f, m: this  # noqa: E731
            return self.one_of(mine, nodes, given, list(templates), this_one, False)(f, m)

        return run

    def of_operator(self, sign: str, nodes: list[Node], given: list) -> Callable | None:
        """What a file's own operator makes of its operands; None where it has none of that sign."""
        name = "operator" + sign
        functions = [one for one in self.file.named.get(name, ()) if takes(one, len(nodes))]
        methods = [one for one in self.file.of_structs.get(name, ()) if takes(one, len(nodes) - 1)]
        if not functions and not methods:
            return None
        owners = {one.owner for one in methods}
        operands: list = []  # which are asked for once
        known = [lambda f, m, at=at: operands[-1][at] for at in range(len(nodes))]
        of_all = self.one_of(functions, nodes, known, [], None, False) if functions else None
        of_own = self.of_method(name, nodes[1:], known[1:], known[0], False) if methods else None

        def run(f, m, values=None):
            operands.append(values or [part(f, m) for part in given])
            try:
                return chosen(f, m, operands[-1][0])
            finally:
                operands.pop()

        def chosen(f, m, first):
            kind = first.names.kind if first.__class__ is Pointer and first.names else ""
            first = whole(first) if not kind else first
            kind = first.kind if first.__class__ is Struct else kind
            is_own = any(one in owners for one in self.file.lines_of(kind)) if kind else False
            if of_own is not None and (is_own or of_all is None):
                return of_own(f, m)
            if of_all is None:
                raise GivenUp("operator")
            return of_all(f, m)

        return run
