"""Limits that a condition lacks, where it is asked and where it is kept for somebody to ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.repair.nodes import File, Node, replace, walk
from grader.judging.repair.scope import ALWAYS, Change, bare, binary, named, number
from grader.judging.repair.shown import text_of

ORDERS = ("<", "<=", ">", ">=")
# What a limit costs: of what has it elsewhere or is counted with it, of a row or a column, of anything.
_LIMIT, _OF_PLACE, _ANY = 0.7, 1.0, 1.6
_NO_QUESTION, _OTHER_WAY = 0.9, 1.2  # more where all threads are only sent another way
_OUTSIDE = 0.3  # less, where an access does leave its array
_ELSEWHERE = 0.9  # another condition of the function has it, and may be what is wrong


class Guards:
    """A part of Editor."""

    def _guards(self, node: Node) -> Iterator[tuple[Change, float]]:
        if node.kind == "if" and node.kids[2] is None:
            always = replace(number(1), macro=ALWAYS)
            asked = node.kids[0].kids[0] if node.kids[0].text == "!" else node.kids[0]
            is_flag = asked.kind in ("name", "member") and leaves(node.kids[1])
            yield (
                (lambda n: replace(bare(n), kids=[always, *n.kids[1:]])),
                _NO_QUESTION + _OTHER_WAY * is_flag,
            )
        yield from self._also(node, 0, node.kind == "if" and leaves(node.kids[1]))

    def _kept_guards(self, node: Node, at: int) -> Iterator[tuple[Change, float]]:
        """A condition that a variable keeps, or a helper gives back, for others to ask."""
        value = node.kids[at]
        first = first_limit(value)
        if first is not None:
            is_outside = first.text in (">", ">=") if first is value else value.text == "||"
            yield from self._also(node, at, is_outside)

    def _also(self, node: Node, at: int, is_outside: bool) -> Iterator[tuple[Change, float]]:
        """One more limit in the condition that is the node's part `at`."""
        condition = node.kids[at]
        asked = condition.kids[0] if condition.text == "!" else condition
        if asked.kind == "name" and asked.text in self.keeping:
            return  # where it is made up is the place
        sign, joins = (">=", "||") if is_outside else ("<", "&&")
        seen = {_sides(one) for one in walk(condition) if one.kind == "binary"}
        for left, right, cost in self._missing_limits(node, condition):
            extra = binary(sign, left, right)
            if any(one.id == node.id for one in walk(extra)):
                continue  # the node would hold itself
            if _sides(extra) not in seen:
                seen.add(_sides(extra))
                if _sides(extra) in self.compared:
                    cost = max(cost, _ELSEWHERE)
                elif self.leaves_arrays and cost != _ANY:
                    cost -= _OUTSIDE
                yield (lambda n, e=extra: _joined(n, at, joins, e)), cost

    def _missing_limits(self, node: Node, condition: Node) -> Iterator[tuple[Node, Node, float]]:
        """What may be less than what, the likeliest first; of other conditions names alone."""
        names = self._near(self.scope.integers, node)
        sides = [n for n in self.scope.integers if self.scope.first.get(n, 0) == 0]
        # One of two ways is left out by any limit that nothing keeps.
        is_choice = node.kind == "if" and node.kids[2] is not None
        if first_limit(condition) is not None and not is_choice:
            places = [one for one in self.places if self._are_near(one, node)]
            yield from ((column, length, _LIMIT) for _, length, column in places)
            lefts = [one for row, _, column in places for one in (row, column)]
            lefts += [one for one in self.index_sums if self._are_near([one], node)]
            for left in [*lefts, *map(named, names)]:
                for right in self._usual_limits(left):
                    if self._are_near([right], node):
                        yield left, right, _LIMIT
            if node.kind != "if":
                yield from ((left, named(side), _OF_PLACE) for left in lefts for side in sides)
            if lefts and node.kind == "declare":
                return
        for name in names:
            for side in sides:
                if name != side and not (name in sides and self.function.is_kernel):
                    yield named(name), named(side), _ANY

    def _usual_limits(self, left: Node) -> Iterator[Node]:
        for one in walk(left):
            if one.kind in ("name", "member"):
                yield from self.limits.get(text_of(one), {}).values()

    def _are_near(self, parts: Sequence[Node], node: Node) -> bool:
        names = {one.text for part in parts for one in walk(part) if one.kind == "name"}
        known = names.intersection(self.scope.integers) | names.intersection(self.scope.structs)
        return len(self._near(known, node)) == len(names)


def first_limit(value: Node | None) -> Node | None:
    """The first comparison of a condition that is made of limits; None if it is no such."""
    while value is not None and value.kind == "binary" and value.text in ("&&", "||"):
        value = value.kids[0]
    is_limit = value is not None and value.kind == "binary" and value.text in ORDERS
    return value if is_limit else None


def _sides(comparison: Node) -> frozenset[str]:
    return frozenset(text_of(kid) for kid in comparison.kids)


def compared_in(body: Node) -> set[frozenset[str]]:
    return {_sides(one) for one in walk(body) if one.kind == "binary" and one.text in ORDERS}


def _joined(node: Node, at: int, joins: str, extra: Node) -> Node:
    """The node, whose part `at` is a condition, with one more in it."""
    kids = [*node.kids]
    kids[at] = binary(joins, kids[at], extra)
    return replace(bare(node), kids=kids)


def limits_of(file: File) -> dict[str, dict[str, Node]]:
    """Names and members, and what is somewhere the limit of them or of a sum that they are part of."""
    found: dict[str, dict[str, Node]] = {}
    for function in [*file.functions.values(), *file.methods.values()]:
        for node in walk(function.body):
            if node.kind != "binary" or node.text not in ORDERS:
                continue
            less, more = node.kids if node.text[0] == "<" else node.kids[::-1]
            if more.kind not in ("name", "member"):
                continue
            for one in walk(less):
                if one.kind in ("name", "member"):
                    found.setdefault(text_of(one), {})[text_of(more)] = more
    return found


def leaves(node: Node) -> bool:
    inside = [one for one in walk(node) if one.kind != "block"]
    return bool(inside) and inside[0].kind in ("return", "continue", "break")
