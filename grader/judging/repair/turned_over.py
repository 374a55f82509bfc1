"""Two pairs of pointers that take turns, of which only one is exchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator

from grader.judging.repair.nodes import Node, walk
from grader.judging.repair.scope import Edit, bare, named

_COST = 0.5


class TurnedOver:
    """A part of Editor."""

    def _exchanged_too(self) -> Iterator[Edit]:
        """swap(now_n, next_n), where now_m and next_m are exchanged."""
        found = [(last, pair) for last, pair in self._exchanges()]
        done = {frozenset(pair) for _, pair in found}
        for last, (one, two) in found:
            for other in _like(one, two, (*self.scope.pointers, *self.scope.integers)):
                kinds = [self.scope.types[name] for name in (one, *other)]
                if frozenset(other) in done or len({(k.name, k.stars) for k in kinds}) > 1:
                    continue
                yield self._exchange_of(other, last)

    def _exchanges(self) -> Iterator[tuple[Node, tuple[str, str]]]:
        """The last statement of each, and the two names."""
        for block in walk(self.function.body):
            if block.kind != "block":
                continue
            kids = [kid for kid in block.kids if kid is not None]
            for kid in kids:
                call = kid.kids[0] if kid.kind == "do" else kid
                if call.kind == "call" and call.kids[0].text == "swap" and len(call.kids) == 3:
                    if all(one.kind == "name" for one in call.kids[1:]):
                        yield kid, (call.kids[1].text, call.kids[2].text)
            for first, second, third in zip(kids, kids[1:], kids[2:], strict=False):
                given = [_given(one) for one in (first, second, third)]
                if None in given:
                    continue
                (kept, a), (b, c), (d, e) = given
                if (a, c, kept) == (b, d, e) and b != c:
                    yield third, (b, c)

    def _exchange_of(self, pair: tuple[str, str], last: Node) -> Edit:
        both = [named(name) for name in pair]
        call = Node("do", [Node("call", [named("swap"), *both], line=last.line)], line=last.line)

        def added(node: Node) -> Node:
            return Node("block", [bare(node), call], line=node.line)

        said = f"std::swap({pair[0]}, {pair[1]})"
        return Edit(
            ((last.id, added),), last.line, _COST, self.function.name, last, said, is_added=True
        )


def _given(statement: Node) -> tuple[str, str] | None:
    """Of a = b: a and b."""
    if statement.kind == "block" and len(statement.kids) == 1:
        statement = statement.kids[0]
    if statement.kind == "declare" and not statement.kids[0] and statement.kids[1] is not None:
        target, value = statement.text, statement.kids[1]
    elif statement.kind == "do" and statement.kids[0].kind == "assign":
        whole = statement.kids[0]
        if whole.text != "=" or whole.kids[0].kind != "name":
            return None
        target, value = whole.kids[0].text, whole.kids[1]
    else:
        return None
    return (target, value.text) if value.kind == "name" else None


def _like(one: str, two: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Pairs of names that differ as these two do: now_n and next_n, of now_m and next_m."""
    known = set(names)
    begin = len(os.path.commonprefix([one, two]))
    end = len(os.path.commonprefix([one[::-1], two[::-1]]))
    for name in names:
        for size in range(end + 1):
            head, other = one[: len(one) - size], two[: len(two) - size]
            if head and name.startswith(head) and name not in (one, two):
                beside = other + name[len(head) :]
                if beside in known and beside != name:
                    yield name, beside
        for size in range(1, begin + 1):
            tail, other = one[size:], two[size:]
            if tail and name.endswith(tail) and name not in (one, two):
                beside = name[: len(name) - len(tail)] + other
                if beside in known and beside != name:
                    yield name, beside
