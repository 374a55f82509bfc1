"""What a thread has several of: side by side in one place, apart in another."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import Function, Node, walk
from grader.judging.repair.rewritten import terms_of
from grader.judging.repair.scope import Change, binary
from grader.judging.repair.shown import text_of

_COST = 0.5
_MOST = 3  # steps of one thread's number


class Apart:
    """A part of Editor."""

    def _as_apart_elsewhere(self, node: Node) -> Iterator[tuple[Change, float]]:
        """t + c * 16 for t * 4 + c, where the same t and a counter are put together so elsewhere."""
        if node.kind != "binary" or node.text != "+":
            return
        terms = terms_of(node)
        for at, one in enumerate(terms):
            for thread, side in _products(one):
                counter = next((t for t in terms if t.text in self.counters), None)
                for plain, apart in self.apart.get(text_of(thread), ())[:_MOST]:
                    if counter is None or plain or thread.text in self.counters:
                        continue
                    new = binary("+", copied(thread), binary("*", copied(counter), copied(apart)))
                    self.moving.add(node.id)
                    yield self._put(terms, at, counter, new), _COST
            if one.kind in ("name", "member") and one.text not in self.counters:
                held = ((p, c) for p in terms for c, _ in _products(p) if c.text in self.counters)
                product, counter = next(held, (None, None))
                for plain, side in self.apart.get(text_of(one), ())[:_MOST]:
                    if product is not None and plain:
                        new = binary("+", binary("*", copied(one), copied(side)), copied(counter))
                        self.moving.add(node.id)
                        yield self._put(terms, at, product, new), _COST

    def _put(self, terms: list[Node], at: int, other: Node, new: Node) -> Change:
        """The sum with `new` in place of both terms."""
        rest = [one for number, one in enumerate(terms) if number != at and one is not other]

        def change(node: Node) -> Node:
            whole = None
            for one in (*map(copied, rest), copied(new)):
                whole = one if whole is None else binary("+", whole, one)
            return whole

        return change


def counters_in(function: Function) -> frozenset[str]:
    """Names that a loop counts with."""
    loops = (n.kids[0] for n in walk(function.body) if n.kind == "for" and n.kids[0] is not None)
    return frozenset(n.text for first in loops for n in walk(first) if n.kind == "declare")


def apart_in(function: Function) -> dict[str, list[tuple[bool, Node]]]:
    """Of each number of a thread: (True, T) of t * T + c, (False, S) of t + c * S."""
    counters, found = counters_in(function), {}
    for node in walk(function.body):
        if node.kind != "binary" or node.text != "+":
            continue
        terms = terms_of(node)
        counted = [t for t in terms if t.text in counters and t.kind == "name"]
        for one in terms:
            for thread, side in _products(one):
                if thread.text in counters:
                    plain = [t for t in terms if t.kind in ("name", "member") and t is not one]
                    for t in plain:
                        found.setdefault(text_of(t), []).append((False, side))
                elif counted:
                    found.setdefault(text_of(thread), []).append((True, side))
    return {
        name: list({(plain, text_of(side)): (plain, side) for plain, side in sides}.values())
        for name, sides in found.items()
    }


def _products(node: Node) -> list[tuple[Node, Node]]:
    """(t, T) of t * T, either way round."""
    if node.kind != "binary" or node.text != "*":
        return []
    one, two = node.kids
    pairs = ((one, two), (two, one))
    return [(a, b) for a, b in pairs if a.kind in ("name", "member") and not a.macro]
