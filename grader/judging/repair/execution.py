"""Statements of an interpreted file."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from grader.judging.repair.expressions import INTEGERS, VECTORS
from grader.judging.repair.narrow import may_be_narrow, watched
from grader.judging.repair.nodes import Function, Node, Type, walk
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import (
    Buffer,
    Fault,
    Local,
    Place,
    Pointer,
    Ref,
    Struct,
    both,
    either,
    merged,
    truth,
    without,
)
from grader.judging.repair.world import DEVICE, Exhausted, Frame

_MAX_WORDS = 1 << 18
_MAX_POINTERS = 64
REFERRED = frozenset(("name", "index", "member", "deref"))


def shared_words(world, key: tuple, size: int, name: str, kind: Type) -> Buffer:
    """A block's array, made by the first that declares it."""
    if key not in world.shared:
        buffer = Buffer("shared", size, world.blocks, name)
        if size * world.blocks > _MAX_WORDS * 4:
            raise Exhausted
        buffer.is_int = kind.name == "int"
        buffer.batch, buffer.effects = world.batch, world.effects
        world.words += size
        if world.blocks > 1:
            buffer.base = world.block_of * size
        world.shared[key] = buffer
    return world.shared[key]


class Statements:
    """A part of Machine."""

    # --- statements: f, m -> the lanes that go on

    def _block(self, node: Node) -> Callable:
        parts = [self.code(kid) for kid in node.kids]

        def run(f, m):
            for part in parts:
                m = part(f, m)
                if m is False:
                    break
            return m

        return run

    def _do(self, node: Node) -> Callable:
        inner = self.code(node.kids[0])

        def run(f, m):
            f.world.step()
            inner(f, m)
            return m

        return run

    def initial(self, node: Node, kind: Type | None) -> Callable:
        if node.kind == "lambda":
            body = self.code(node.kids[0])
            names = [name for name in node.text.split(",") if name]
            declared = {*names, *(n.text for n in walk(node) if n.kind == "declare")}
            return lambda f, m: (names, body, declared)
        if node.kind != "braces":
            return self.code(node)
        if kind is None:
            raise GivenUp("braces")
        parts = [self.code(kid) for kid in node.kids if kid.kind != "braces"]
        if kind.name in VECTORS or kind.name == "dim3":
            return self._make(Node("make", node.kids, kind.name, node.line, node.key))
        fields = self.file.structs.get(kind.name)
        if fields is not None:
            converts = [self.conversion(one) for one, _ in fields]

            def structure(f, m):
                found = {name: None for _, name in fields}
                for (_, name), convert, part in zip(fields, converts, parts, strict=False):
                    found[name] = convert(part(f, m))
                return Struct(found)

            return structure
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return lambda f, m: 0
        raise GivenUp("braces")

    def _declare(self, node: Node) -> Callable:
        sizes, first = node.kids
        name, kind = node.text, node.type
        if sizes:
            return self.array(node, sizes, first)
        fields = None if kind.stars else self.file.structs.get(kind.name)
        if fields is not None and any((kind.name, one) in self.file.lengths for _, one in fields):
            return self.structure_of_arrays(node, fields, first)
        if kind.is_shared:
            return self.shared_word(node)
        made = self.file.methods.get(kind.name) if fields is not None else None
        if made is not None:
            return self.constructed(node, made, first)
        convert = self.conversion(kind)
        if first is None:

            def declared(f, m):
                if m is True or name not in f.env:
                    value = None
                    if fields is not None:
                        value = Struct({one: None for _, one in fields})
                    elif kind.name == "dim3":
                        value = Struct({"x": 1, "y": 1, "z": 1})
                    elif kind.name == "cudaDeviceProp":
                        value = Struct(dict(DEVICE))
                    elif kind.name in VECTORS and not kind.stars:
                        value = Struct({one: np.nan for one in "xyzw"[: VECTORS[kind.name]]})
                    elif kind.name == "float" and not kind.stars:
                        value = np.nan
                    f.env[name] = value
                return m

            return declared
        if kind.is_reference and first.kind in REFERRED:
            return self.alias(name, first)
        value = self.initial(first, kind)
        is_dim = kind.name == "dim3"

        def given(f, m):
            f.world.step()
            found = convert(value(f, m))
            if is_dim and found.__class__ is not Struct:
                found = Struct({"x": found, "y": 1, "z": 1})
            f.env[name] = found if m is True else merged(m, found, f.env.get(name))
            return m

        return given

    def constructed(self, node: Node, made: Function, first: Node | None) -> Callable:
        """Buffer x(rows, columns); of a struct that says how it is made."""
        name, fields = node.text, self.file.structs[node.type.name]
        if first is not None and first.kind not in ("make", "braces"):
            raise GivenUp("constructor")
        nodes = first.kids if first is not None else []
        given = self.passed(made, nodes, [self.code(kid) for kid in nodes])
        build = self.invoked(made, given, [], lambda f, m: f.env[name], False)

        def declared(f, m):
            f.env[name] = Struct({one: None for _, one in fields})
            build(f, m)
            return m

        return declared

    def shared_word(self, node: Node) -> Callable:
        """__shared__ float scale; is one word for all threads of a block."""
        name, kind = node.text, node.type
        if kind.stars or kind.name not in (*INTEGERS, "float", "bool"):
            raise GivenUp("shared scalar")

        def declared(f, m):
            f.env[name] = Ref(Pointer(shared_words(f.world, (name, node.key), 1, name, kind)))
            return m

        return declared

    def alias(self, name: str, first: Node) -> Callable:
        """float& x = a[i]: another name."""
        refer = self.referring(first)

        def bound(f, m):
            f.env[name] = refer(f, m)
            return m

        return bound

    def referring(self, node: Node) -> Callable:
        where = self.address(node)

        def refer(f, m):
            place = where(f, m)
            if place.__class__ is Place:
                held = place.holder.get(place.name)
                # What lies elsewhere is not copied anyway.
                return held if held.__class__ is Struct else Ref(place)
            if place.__class__ is Pointer:
                return place if place.dims else Ref(place)
            raise GivenUp("reference")

        return refer

    def array(self, node: Node, sizes: list, first: Node | None) -> Callable:
        name, kind = node.text, node.type
        if kind.is_extern and sizes == [None]:
            sizes = []
        is_plain = kind.name in (*INTEGERS, "float", "float4", "float2", "auto")
        if not is_plain or (kind.stars and kind.is_shared):
            raise GivenUp("array")
        if kind.stars:
            return self.pointers(name, sizes, first)
        unit = {"float4": 4, "float2": 2}.get(kind.name, 1)
        if None in sizes:
            raise GivenUp("array")
        lengths = [self.code(size) for size in sizes]
        given = self.listed(first) if first is not None else []
        key = (name, node.key)

        def declared(f, m):
            world = f.world
            dims = tuple(int(n(f, m)) for n in lengths) or (world.dynamic,)
            if kind.is_extern and not world.dynamic:
                return m
            size = math.prod(dims) * unit
            if size < 1 or size > _MAX_WORDS:
                raise Fault("size")
            if not kind.is_shared:
                is_int = kind.name in INTEGERS
                beginning = np.nan if first is None else 0 if is_int else 0.0
                memory = Local(size, beginning, world.batch, is_int)
                for at, part in given:
                    place = sum(i * math.prod(dims[d + 1 :]) for d, i in enumerate(at))
                    memory.store(place, True, part(f, m))
                f.env[name] = Pointer(memory, 0, dims, unit)
                return m
            f.env[name] = Pointer(shared_words(world, key, size, name, kind), 0, dims, unit)
            return m

        return declared

    def pointers(self, name: str, sizes: list, first: Node | None) -> Callable:
        """An array of pointers: each thread's own."""
        if len(sizes) != 1:
            raise GivenUp("array")
        given = self.listed(first) if first is not None else []
        length = self.code(sizes[0]) if sizes[0] is not None else None

        def declared(f, m):
            count = int(length(f, m)) if length is not None else len(given)
            if not 0 < count <= _MAX_POINTERS:
                raise Fault("size")
            memory = Local(count, None, f.world.batch)
            for (at,), part in given:
                memory.store(at, True, part(f, m))
            f.env[name] = Pointer(memory, 0, (count,), 1)
            return m

        return declared

    def structure_of_arrays(self, node: Node, fields: list, first: Node | None) -> Callable:
        """A struct whose fields are arrays, in shared memory or a thread's own."""
        if first is not None and first.kids:
            raise GivenUp("braces")
        name, kind = node.text, node.type
        templates = self.file.parameters.get(kind.name) or []
        given = [self.code(one) for one in kind.args]
        if len(given) != len(templates) or kind.name in self.file.methods:
            raise GivenUp("struct template with arrays")
        lengths = {
            one: [self.code(size) for size in self.file.lengths.get((kind.name, one), ())]
            for _, one in fields
        }
        if kind.is_shared and not all(lengths.values()):
            raise GivenUp("shared scalar")

        def declared(f, m):
            found = {one: part(f, m) for one, part in zip(templates, given, strict=True)}
            inner = Frame(f.world, {**f.env, **found}, fields=f.fields)
            for own, one in fields:
                dims = tuple(int(part(inner, m)) for part in lengths[one])
                if not dims:
                    found[one] = None
                    continue
                size = math.prod(dims)
                if own.stars or own.name not in (*INTEGERS, "float") or not 0 < size <= _MAX_WORDS:
                    raise GivenUp("array")
                if kind.is_shared:
                    memory = shared_words(
                        f.world, (name, node.key, one), size, f"{name}.{one}", own
                    )
                else:
                    memory = Local(size, np.nan, f.world.batch, own.name in INTEGERS)
                found[one] = Pointer(memory, 0, dims)
            f.env[name] = Struct(found)
            return m

        return declared

    def listed(self, first: Node) -> list[tuple[tuple[int, ...], Callable]]:
        """An array's first values and their places, where they are not all 0."""
        if first.kind != "braces":
            raise GivenUp("array")
        leaves = [one for one in walk(first) if one.kind != "braces"]
        if all(one.kind == "number" and float(one.text.rstrip("fF")) == 0 for one in leaves):
            return []
        found: list[tuple[tuple[int, ...], Callable]] = []
        for at, kid in enumerate(first.kids):
            if kid.kind == "braces":
                found += [((at, *inner), part) for inner, part in self.listed(kid)]
            else:
                found.append(((at,), self.code(kid)))
        return found

    def _if(self, node: Node) -> Callable:
        condition = self.code(node.kids[0])
        yes = self.code(node.kids[1])
        no = self.code(node.kids[2]) if node.kids[2] is not None else None

        def run(f, m):
            f.world.step()
            c = truth(condition(f, m))
            first = both(m, c)
            second = without(m, c)
            after = yes(f, first) if first is not False else False
            if second is not False and no is not None:
                second = no(f, second)
            return either(after, second)

        return run

    def _for(self, node: Node) -> Callable:
        first, condition, step, body = (
            self.code(kid) if kid is not None else None for kid in node.kids
        )
        key = node.id

        def run(f, m):
            if first is not None:
                first(f, m)
            kept = f.broken, f.continued
            f.broken, done, active = False, False, m
            turns, batch = 0, f.world.batch
            while active is not False:
                f.world.step()
                turns += 1
                if batch is not None:
                    if turns > batch.turns_of.get(key, batch.most_turns):
                        batch.drop(active)
                    active = batch.living(active)
                    if active is False:
                        break
                if condition is not None:
                    c = truth(condition(f, active))
                    done = either(done, without(active, c))
                    active = both(active, c)
                    if active is False:
                        break
                f.continued = False
                active = either(body(f, active), f.continued)
                if active is not False and step is not None:
                    step(f, active)
            f.world.turns = max(f.world.turns, turns)
            if f.world.effects is not None:
                seen = f.world.effects.turns
                seen[key] = max(seen.get(key, 0), turns)
            done = either(done, f.broken)
            f.broken, f.continued = kept
            return done

        return watched(node, run) if may_be_narrow(node) else run

    def _dowhile(self, node: Node) -> Callable:
        condition, body = (self.code(kid) for kid in node.kids)
        key = node.id

        def run(f, m):
            kept = f.broken, f.continued
            f.broken, done, active = False, False, m
            turns, batch = 0, f.world.batch
            while active is not False:
                f.world.step()
                turns += 1
                if batch is not None:
                    if turns > batch.turns_of.get(key, batch.most_turns):
                        batch.drop(active)
                    active = batch.living(active)
                    if active is False:
                        break
                f.continued = False
                active = either(body(f, active), f.continued)
                if active is False:
                    break
                c = truth(condition(f, active))
                done = either(done, without(active, c))
                active = both(active, c)
            f.world.turns = max(f.world.turns, turns)
            if f.world.effects is not None:
                seen = f.world.effects.turns
                seen[key] = max(seen.get(key, 0), turns)
            done = either(done, f.broken)
            f.broken, f.continued = kept
            return done

        return watched(node, run) if may_be_narrow(node) else run

    def _break(self, node: Node) -> Callable:
        def run(f, m):
            f.broken = either(f.broken, m)
            return False

        return run

    def _continue(self, node: Node) -> Callable:
        def run(f, m):
            f.continued = either(f.continued, m)
            return False

        return run

    def _return(self, node: Node) -> Callable:
        (inner,) = node.kids
        if inner is None:
            return lambda f, m: False
        # A function that returns a reference gives back a place.
        value = (
            self.reference(inner)
            if self.types.get("&")
            else self.initial(inner, self.types.get("return"))
        )

        def run(f, m):
            given = value(f, m)
            given = given.copy() if given.__class__ is Struct else given
            f.result = merged(m, given, f.result)
            return False

        return run

    def reference(self, node: Node) -> Callable:
        return self.address(node)
