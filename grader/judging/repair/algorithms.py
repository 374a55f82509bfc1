"""What the standard library does with what it is given: swap, for_each, apply, tie, exchange."""

from __future__ import annotations

from collections.abc import Callable

from grader.judging.repair.nodes import Node
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Closure, Pointer, Struct
from grader.judging.repair.world import Frame


class Algorithms:
    """A part of Machine."""

    def exchanged(self, nodes: list[Node], given: list[Callable]) -> Callable:
        """std::swap."""
        put = [self.assigner(node) for node in nodes]

        def swap(f, m):
            one, two = (part(f, m) for part in given)
            put[0](f, m, two)
            put[1](f, m, one)
            return 0

        return swap

    def each(self, given: list[Callable]) -> Callable:
        """std::for_each"""

        def over(f, m):
            first, last, what = (part(f, m) for part in given)
            if first.__class__ is not Pointer or last.__class__ is not Pointer:
                raise GivenUp("for_each")
            count = (last.off - first.off) // first.unit
            for at in range(count):
                self.of_closure(what, [first.moved(at).load(m)], f, m)
            return 0

        return over

    def applied(self, given: list[Callable]) -> Callable:
        """std::apply"""
        called = {}

        def apply(f, m):
            what, whole_of = given[0](f, m), given[1](f, m)
            if whole_of.__class__ is not Struct:
                raise GivenUp("apply")
            parts = list(whole_of.fields.values())
            if what.__class__ is Closure:
                return self.of_closure(what, parts, f, m)
            if len(parts) not in called:
                nodes = [Node("number", text="0", key=-1) for _ in parts]
                values = [lambda f, m, at=at: f.env["the parts"][at] for at in range(len(parts))]
                called[len(parts)] = self.called_value(lambda f, m: f.env["what"], nodes, values)
            inner = Frame(f.world, {**f.env, "the parts": parts, "what": what}, fields=f.fields)
            return called[len(parts)](inner, m)

        return apply

    def tied(self, nodes: list[Node]) -> Callable:
        """std::tie"""
        places = [self.referring(node) for node in nodes]

        def tie(f, m):
            return Struct({str(at): place(f, m) for at, place in enumerate(places)}, "tie")

        return tie

    def replaced(self, nodes: list[Node], given: list[Callable]) -> Callable:
        """std::exchange: what was there."""
        put = self.assigner(nodes[0])

        def exchange(f, m):
            old = given[0](f, m)
            put(f, m, given[1](f, m))
            return old

        return exchange
