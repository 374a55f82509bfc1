"""What each turn of a loop has to do anew: count on, and begin with empty sums."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from grader.judging.repair.linear import copied
from grader.judging.repair.missing import at_beginning, at_end
from grader.judging.repair.nodes import Node, walk
from grader.judging.repair.scope import Edit, named, number
from grader.judging.repair.shown import text_of

_STANDING, _KEPT = 1.0, 0.9
_MOST_STEPS = 4
_MOST_ELEMENTS = 32
_CHANGING = ("assign", "before", "after")


class EachTurn:
    """A part of Editor."""

    def _left_standing(self) -> Iterator[Edit]:
        """nk += EDGE or left -= EDGE at the end of a turn, where others go on so and it stays what it is."""
        inside = list(walk(self.function.body))
        changed = {one.kids[0].text for one in inside if one.kind in _CHANGING}
        still = {
            one.text: one
            for one in inside
            if one.kind == "declare" and not one.kids[0] and one.kids[1] is not None
            and one.type.name == "int" and not one.type.stars and not one.type.is_constant
            and one.text not in changed
        }  # fmt: skip
        for loop in (one for one in inside if one.kind == "for"):
            steps = [
                one.kids[0]
                for block in walk(loop.kids[3])
                if block.kind == "block"
                for one in block.kids
                if one is not None and one.kind == "do" and one.kids[0].kind == "assign"
                and one.kids[0].text == "+=" and one.kids[0].kids[0].text in self.scope.integers
            ]  # fmt: skip
            used = {one.text for one in walk(loop.kids[3]) if one.kind == "name"}
            by = {text_of(one.kids[1]): one for one in steps[::-1]}
            for name in sorted(still.keys() & used):
                for one, sign in product(list(by.values())[:_MOST_STEPS], ("+=", "-=")):
                    step = Node("assign", [named(name), copied(one.kids[1])], sign, one.line)
                    added = Node("do", [step], line=one.line)
                    yield Edit(
                        ((loop.id, at_end(added)),), one.line, _STANDING, self.function.name,
                        still[name], f"{text_of(step)} at the end of each turn", True,
                    )  # fmt: skip

    def _kept_sums(self) -> Iterator[Edit]:
        """Arrays that are zero at first, and have to be in each turn of a loop after them."""
        for block in walk(self.function.body):
            kids = block.kids if block.kind == "block" else []
            for at, one in enumerate(kids):
                names = _zeroed(one) if one is not None else set()
                after = [later for later in kids[at + 1 :] if later is not None] if names else []
                for loop in (inner for later in after for inner in walk(later)):
                    if loop.kind != "for":
                        continue
                    if names.isdisjoint(n.text for n in walk(loop.kids[3]) if n.kind == "name"):
                        continue
                    zeros = self._zeros(one)
                    first = Node("block", zeros) if zeros else one
                    yield Edit(
                        ((loop.id, at_beginning(first)),), one.line, _KEPT, self.function.name, one,
                        f"{text_of(one)} inside the loop of line {loop.line}",
                        is_declaring=not zeros,
                    )  # fmt: skip

    def _zeros(self, statement: Node) -> list[Node]:
        """What sets such arrays to zero, element by element; nothing if there are many."""
        found = []
        for one in statement.kids if statement.kind == "block" else [statement]:
            sides = [self._side(length) for length in one.kids[0]]
            if 0 in sides or math.prod(sides) > _MOST_ELEMENTS:
                return []
            for place in np.ndindex(*sides):
                target = named(one.text)
                for at in place:
                    target = Node("index", [target, number(at)])
                found.append(Node("do", [Node("assign", [target, number(0)], "=")]))
        return found

    def _side(self, length: Node | None) -> int:
        if length is None:
            return 0
        if length.kind == "number":
            return int(length.text) if length.text.isdigit() else 0
        value = self.lane_values.get(length.text) if length.kind == "name" else None
        return value if isinstance(value, int) else 0


def _zeroed(statement: Node) -> set[str]:
    """Arrays that a declaration, or a list of them, sets to zero."""
    declared = statement.kids if statement.kind == "block" else [statement]
    if not declared or any(one is None or one.kind != "declare" for one in declared):
        return set()
    if any(not one.kids[0] or one.kids[1] is None or one.type.is_shared for one in declared):
        return set()
    return {one.text for one in declared}
