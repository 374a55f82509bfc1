"""Statements of an interpreted file."""

from __future__ import annotations

from collections.abc import Callable

from grader.judging.repair.endless import counters_of, without_endless
from grader.judging.repair.maps import map_of
from grader.judging.repair.narrow import may_be_narrow, watched
from grader.judging.repair.nodes import GIVEN, Node, Type, finish, replace, walk
from grader.judging.repair.overloads import takes
from grader.judging.repair.packs import expanded, of_many
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import List
from grader.judging.repair.structs import END
from grader.judging.repair.type_names import VECTORS
from grader.judging.repair.values import (
    Closure,
    Fault,
    Struct,
    both,
    either,
    merged,
    truth,
    without,
)
from grader.judging.repair.world import Frame

_MAX_WORDS = 1 << 18
_MAX_POINTERS = 64
REFERRED = frozenset(("name", "index", "member", "deref"))


def _passed_over(f, active, body: Callable, row: int):
    """A turn that some edits' lanes leave out, or all; none where no threads are chosen."""
    if f.world.picked is None or not f.world.is_inside:
        return either(body(f, active), f.continued)
    if row < 0:
        return active
    rest = both(active, f.world.batch.lanes_of((row,), True))
    after = either(body(f, rest), f.continued) if rest is not False else False
    return either(after, without(active, rest))


class Statements:
    """A part of Machine."""

    # --- statements: f, m -> the lanes that go on

    def _block(self, node: Node) -> Callable:
        if any(kid.kind == "label" for kid in node.kids):
            return self.with_labels(node)
        parts = [self.code(kid) for kid in node.kids]
        if node.text == "{" and END in self.file.of_structs:
            ended = self.ended(node)
            if ended:
                return self.with_ends(parts, ended)

        def run(f, m):
            for part in parts:
                m = part(f, m)
                if m is False:
                    break
            return m

        return run

    def ended(self, node: Node) -> list[str]:
        """Objects of a block that do something when it ends, the last one first."""
        owners = {one.owner for one in self.file.of_structs[END]}
        kids = [
            kid for part in node.kids for kid in (part.kids if part.kind == "block" else [part])
        ]
        return [
            kid.text
            for kid in reversed(kids)
            if kid is not None and kid.kind == "declare" and kid.type.name in owners
            and not (kid.type.stars or kid.type.is_reference or kid.kids[0])
        ]  # fmt: skip

    def with_ends(self, parts: list[Callable], names: list[str]) -> Callable:
        end = self.of_method(END, [], [], lambda f, m: f.env["this"], False)

        def run(f, m):
            active = m
            for part in parts:
                m = part(f, m)
                if m is False:
                    break
            for name in names:
                known = f.env.pop(name, None)
                if known.__class__ is Struct:
                    end(Frame(f.world, {"this": known}), active)
            return m

        return run

    def _do(self, node: Node) -> Callable:
        inner = self.code(node.kids[0])

        def run(f, m):
            f.world.step()
            try:
                inner(f, m)
            except Fault as fault:
                fault.line = fault.line or node.line
                raise
            return m

        return run

    def edited(self, node: Node) -> Node:
        """What an object is made of, with edits of its lists: these are looked at and not carried out."""
        while node.kind in GIVEN and node.id in self.edits:
            node = self.edits[node.id](node)
        if node.kind == "braces" and any(kid.kind == "braces" for kid in node.kids):
            kids = [self.edited(kid) if kid.kind == "braces" else kid for kid in node.kids]
            return replace(node, kids=kids)
        return node

    def initial(self, node: Node, kind: Type | None) -> Callable:
        node = self.edited(node)
        if node.kind == "lambda":
            return self.closure(node)
        if node.kind != "braces":
            return self.code(node)
        if kind is None:
            raise GivenUp("braces")
        if kind.name in VECTORS or kind.name == "dim3":
            return self._make(Node("make", node.kids, kind.name, node.line, node.key))
        if kind.name == "tuple" and not kind.stars:
            return self.code(Node("call", [Node("name", text="make_tuple"), *node.kids]))
        if kind.name == "cudaLaunchConfig_t":
            return self.launch_shape(node)
        fields = self.file.structs.get(kind.name)
        if fields is not None:
            count = len(node.kids)
            if any(takes(one, count) for one in self.constructors(kind.name) if not one.is_implied):
                return self._built(Node("built", node.kids, kind.name, node.line, node.key, kind))
            if self.holds_arrays(kind.name) and not kind.stars:
                return self._built(Node("built", node.kids, kind.name, node.line, node.key, kind))
            return self.of_fields(node, fields, kind)
        if kind.name == "map" and not kind.stars:
            own = kind.args[1].type if len(kind.args) > 1 else None
            pairs = [self.pair_of(kid, own) for kid in node.kids]
            return lambda f, m: map_of([part(f, m) for part in pairs], own)
        if kind.name == "vector" and not kind.stars:
            own = kind.args[0].type if kind.args else None
            items = [self.initial(kid, own) for kid in node.kids]
            return lambda f, m: List([part(f, m) for part in items], own)
        parts = [self.code(kid) for kid in node.kids if kid.kind != "braces"]
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return lambda f, m: 0
        raise GivenUp("braces")

    def pair_of(self, node: Node, kind: Type | None) -> Callable:
        """{key, {a, b}} of a map of structs."""
        if node.kind != "braces" or len(node.kids) != 2:
            return self.initial(node, Type("tuple"))
        first, second = self.code(node.kids[0]), self.initial(node.kids[1], kind)
        return lambda f, m: Struct({"first": first(f, m), "second": second(f, m)}, "tuple")

    def launch_shape(self, node: Node) -> Callable:
        names = ("gridDim", "blockDim", "dynamicSmemBytes", "stream", "attrs", "numAttrs")
        parts = [
            (kid.text, kid.kids[0]) if kid.kind == "named" else (names[at], kid)
            for at, kid in enumerate(node.kids)
        ]
        parts = [
            (name, self.initial(kid, Type("dim3" if name in names[:2] else "int")))
            for name, kid in parts
        ]
        return lambda f, m: Struct(
            {"dynamicSmemBytes": 0, **{name: part(f, m) for name, part in parts}}
        )

    def closure(self, node: Node) -> Callable:
        names = [name for _, name in node.given]
        outer, self.types = self.types, {**self.types, **{name: kind for kind, name in node.given}}
        try:
            return self.closure_of(node, names)
        finally:
            self.types = outer

    def closure_of(self, node: Node, names: list[str]) -> Callable:
        others = [kind.is_reference and not kind.is_constant for kind, _ in node.given]
        inside = walk(node.kids[0])
        declared = {*names, *(n.text for n in inside if n.kind == "declare")}
        body, bodies = None, None
        if not node.pack:
            body = self.code(node.kids[0])
        else:
            known: dict[int, tuple] = {}

            def bodies(count: int) -> tuple:
                """For so many arguments."""
                if count not in known:
                    known[count] = self.of_many(node, count)
                return known[count]

        captured = [self.code(one) for one in node.kids[1]]
        if node.text != "=" and not captured:
            return lambda f, m: Closure(names, body, declared, f, bodies, others)
        is_copy = node.text == "="

        def made(f, m):
            home = Frame(f.world, dict(f.env), fields=f.fields) if is_copy else f
            for one in captured:
                one(home, m)
            return Closure(names, body, declared, home, bodies, others)

        return made

    def of_many(self, node: Node, count: int) -> tuple:
        """A lambda's names and body for so many arguments."""
        names = [name for _, name in node.given]
        many = count - (len(names) - 1)
        body = expanded(node.kids[0], node.pack, many)
        finish(body)
        return [*names[:-1], *(of_many(node.pack, at) for at in range(many))], self.code(body)

    def _lambda(self, node: Node) -> Callable:
        return self.initial(node, None)

    def _if(self, node: Node) -> Callable:
        condition = self.converted(self.code(node.kids[0]))
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
            after = either(after, second)
            batch = f.world.batch
            return after if batch is None else batch.rejoined(after, m)

        return run

    def _for(self, node: Node) -> Callable:
        first, condition, step, body = (
            self.code(kid) if kid is not None else None for kid in node.kids
        )
        condition = self.converted(condition) if condition is not None else None
        key = node.loop
        counters = [self.code(one) for one in counters_of(node)]

        def run(f, m):
            if first is not None:
                first(f, m)
            kept = f.broken, f.continued
            f.broken, done, active = False, False, m
            turns, batch, skips = 0, f.world.batch, f.world.skips.get(key)
            while active is not False:
                f.world.step()
                turns += 1
                if batch is None:
                    f.world.turned(key, turns)
                else:
                    batch.turned(key, turns, active)
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
                is_late = counters and f.world.is_late(key, turns)
                before = [of(f, active) for of in counters] if is_late else None
                if skips is not None and turns in skips:
                    active = _passed_over(f, active, body, skips[turns])
                else:
                    active = either(body(f, active), f.continued)
                if active is not False and step is not None:
                    step(f, active)
                    if before is not None:
                        after = [of(f, active) for of in counters]
                        active = without_endless(f.world, before, after, active)
            f.world.turns = max(f.world.turns, turns)
            seen = f.world.turns_of
            seen[key] = max(seen.get(key, 0), turns)
            done = either(done, f.broken)
            f.broken, f.continued = kept
            return done if batch is None else batch.rejoined(done, m)

        return watched(node, run) if may_be_narrow(node) else run

    def _dowhile(self, node: Node) -> Callable:
        condition, body = (self.code(kid) for kid in node.kids)
        condition = self.converted(condition)
        key = node.loop

        def run(f, m):
            kept = f.broken, f.continued
            f.broken, done, active = False, False, m
            turns, batch, skips = 0, f.world.batch, f.world.skips.get(key)
            while active is not False:
                f.world.step()
                turns += 1
                if batch is None:
                    f.world.turned(key, turns)
                else:
                    batch.turned(key, turns, active)
                    active = batch.living(active)
                    if active is False:
                        break
                f.continued = False
                if skips is not None and turns in skips:
                    active = _passed_over(f, active, body, skips[turns])
                else:
                    active = either(body(f, active), f.continued)
                if active is False:
                    break
                c = truth(condition(f, active))
                done = either(done, without(active, c))
                active = both(active, c)
            f.world.turns = max(f.world.turns, turns)
            seen = f.world.turns_of
            seen[key] = max(seen.get(key, 0), turns)
            done = either(done, f.broken)
            f.broken, f.continued = kept
            return done if batch is None else batch.rejoined(done, m)

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
        is_place = bool(self.types.get("&"))
        # A function that returns a reference gives back a place.
        value = (
            self.reference(inner)
            if self.types.get("&")
            else self.initial(inner, self.types.get("return"))
        )
        kind = self.types.get("return")
        if kind is not None and not (kind.stars or is_place) and self.is_made_of_one(kind.name):
            value = self.made_of_one(kind, value)

        def run(f, m):
            given = value(f, m)
            if given.__class__ is Struct and not is_place:
                if self.holds_arrays(given.kind) and m is not True:
                    if f.result.__class__ is not Struct:
                        f.result = self.duplicate(given, f, m)
                    else:
                        self.copy_words(f.result, given, m)
                    return False
                given = given.copy()
            f.result = merged(m, given, f.result)
            return False

        return run

    def reference(self, node: Node) -> Callable:
        return self.address(node)
