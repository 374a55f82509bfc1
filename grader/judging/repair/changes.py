"""Assignments of an interpreted file."""

from __future__ import annotations

from collections.abc import Callable

from grader.judging.repair.memory import joined
from grader.judging.repair.nodes import Node, Type, walk
from grader.judging.repair.overloads import takes
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Fault, Place, Pointer, Ref, Struct
from grader.judging.repair.world import BINARY, plus

_PLAIN = ("int", "float", "bool")


def store_in(place, m, value) -> None:
    if place.__class__ is Place:
        place.holder[place.name] = joined(m, value, place.holder.get(place.name))
    elif place.__class__ is Pointer:
        place.store(m, value)
    else:
        raise Fault("pointer")


class Changes:
    """A part of Machine."""

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
                if known.__class__ is Pointer and value.__class__ is not Pointer and m is not True:
                    batch = f.world.batch
                    if batch is not None and batch.is_inside:  # one of them makes a number of it
                        return batch.drop(m)
                if name not in env and f.fields is not None and name in f.fields:
                    env = f.fields
                    if env[name].__class__ is Ref:
                        return store_in(env[name].target, m, value)
                elif name not in env and name in f.world.globals:
                    batch = f.world.batch
                    if batch is not None and batch.is_inside:
                        return batch.drop(m)  # of all edits it would be changed
                    env = f.world.globals
                env[name] = value if m is True else joined(m, value, env.get(name))

            return put
        if target.kind == "call" and target.kids[0].text == "tie":
            places = self.code(target)

            def spread(f, m, value):
                if value.__class__ is not Struct:
                    raise GivenUp("tie")
                pairs = zip(places(f, m).fields.values(), value.fields.values(), strict=False)
                for place, part in pairs:
                    store_in(place.target, m, part)

            return spread
        where = self.address(target)

        def store(f, m, value):
            store_in(where(f, m), m, value)

        return store

    def _assign(self, node: Node) -> Callable:
        value = self.listed_for(node) or self.initial(node.kids[1], None)
        if node.text != "=" and any(one.kind in ("before", "after") for one in walk(node.kids[0])):
            return self._changed_once(node, value)
        put = self.assigner(node.kids[0])
        if node.text == "=":
            kind = self.types.get(node.kids[0].text) if node.kids[0].kind == "name" else None
            is_pointer = (kind is not None and kind.stars > 0) or self.is_pointer(node)
            is_new = node.kids[1].kind in ("make", "built", "braces")  # nobody else has its arrays
            target = node.kids[0].kind in ("name", "index", "member", "deref")
            where = self.address(node.kids[0]) if target else None
            taking = self.taking_others()
            if node.kids[0].kind in ("index", "deref") or (
                kind is not None and kind.name in _PLAIN
            ):
                value = self.converted(value)  # of a struct that is taken for a number
            to = self.code(node.kids[0]) if taking else None
            own = self.of_operator("=", node.kids, [to, value]) if taking else None

            def assigned(f, m):
                known = to(f, m) if own is not None else None
                if known.__class__ is Struct and known.kind in taking:
                    return own(f, m)
                given = value(f, m)
                if given.__class__ is Struct and not is_pointer and self.holds_arrays(given.kind):
                    if where is not None and self.put_whole(where(f, m), given, f, m):
                        return given
                    if not is_new:
                        given = self.duplicate(given, f, m)
                    elif m is not True:
                        raise GivenUp("a struct with arrays is copied")
                put(f, m, given)
                return given

            return assigned
        old = self.code(node.kids[0])
        do = BINARY[node.text[:-1]]
        own = self.of_operator(node.text, node.kids, [self.owner(node.kids[0]), value])

        def changed(f, m):
            before = old(f, m)
            if own is not None and before.__class__ is Struct:
                return own(f, m)
            given = do(before, value(f, m))
            put(f, m, given)
            return given

        return changed

    def listed_for(self, node: Node) -> Callable | None:
        """What {a, b} is, by what it is assigned to."""
        target, given = node.kids
        if given.kind != "braces":
            return None
        kind = self.type_of(target)
        if kind is not None:
            return self.initial(given, kind)
        where, known = self.address(target), {}

        def value(f, m):
            place = where(f, m)
            if place.__class__ is Place:
                held = place.holder.get(place.name)
                name = held.kind if held.__class__ is Struct else ""
            else:
                name = place.names.kind if place.__class__ is Pointer and place.names else ""
                if place.__class__ is Pointer and not name and place.unit in (2, 3, 4):
                    name = f"float{place.unit}"
            if not name:
                raise GivenUp("braces")
            if name not in known:
                known[name] = self.initial(given, Type(name))
            return known[name](f, m)

        return value

    def type_of(self, node: Node) -> Type | None:
        """What a variable or a member is declared as, as far as the text shows."""
        if node.kind == "name" and node.text in self.types:
            return self.types[node.text]
        if node.kind not in ("name", "member"):
            return None
        fields = [
            own for one in self.file.structs.values() for own, name in one if name == node.text
        ]
        return fields[0] if len({(one.name, one.stars) for one in fields}) == 1 else None

    def is_pointer(self, node: Node) -> bool:
        """Whether it is an address that is assigned, as far as the text shows."""
        given = node.kids[1]
        if node.type is not None:  # of a member, in a constructor
            return node.type.stars > 0
        kind = given.type if given.kind == "cast" else self.types.get(given.text)
        is_known = given.kind in ("cast", "name") and kind is not None and kind.stars > 0
        return given.kind == "address" or is_known

    def of_counting(self, node: Node, get: Callable, gives_new: bool) -> Callable | None:
        """A struct's own operator++ or --; the one behind is given a number that means nothing."""
        name = "operator" + node.text
        nodes = [] if gives_new else [Node("number", text="0", line=node.line, key=-1)]
        given = [lambda f, m: 0 for _ in nodes]
        if any(takes(one, len(nodes)) for one in self.file.of_structs.get(name, ())):
            return self.of_method(name, nodes, given, get, False)
        known = [one for one in self.file.named.get(name, ()) if takes(one, 1 + len(nodes))]
        if not known:
            return None
        return self.one_of(known, [node.kids[0], *nodes], [get, *given], [], None, False)

    def taking_others(self) -> set[str]:
        """Structs that say what it means to be assigned something else than one of them."""
        return {
            one.owner
            for one in self.file.of_structs.get("operator=", ())
            if one.parameters and one.parameters[0][0].name != one.owner
        }

    def _changed_once(self, node: Node, value: Callable) -> Callable:
        """*at++ += 1: where it is to be put is asked for once."""
        where, do = self.address(node.kids[0]), BINARY[node.text[:-1]]

        def changed(f, m):
            place = where(f, m)
            if place.__class__ is not Pointer:
                raise GivenUp("assignment")
            given = do(place.load(m), value(f, m))
            place.store(m, given)
            return given

        return changed

    def _before(self, node: Node) -> Callable:
        return self.counted(node, True)

    def _after(self, node: Node) -> Callable:
        return self.counted(node, False)

    def counted(self, node: Node, gives_new: bool) -> Callable:
        get, put = self.code(node.kids[0]), self.assigner(node.kids[0])
        by = 1 if node.text == "++" else -1
        own = self.of_counting(node, self.owner(node.kids[0]), gives_new)

        def count(f, m):
            old = get(f, m)
            if own is not None and old.__class__ is Struct:
                return own(f, m)
            if old is None:
                raise Fault("no value")
            new = plus(old, by)
            put(f, m, new)
            return new if gives_new else old

        return count
