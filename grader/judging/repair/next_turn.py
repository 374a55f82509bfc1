"""What a turn of a loop fetches for the next one: the place is a step farther."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import Function, Node, walk
from grader.judging.repair.scope import Change, binary
from grader.judging.repair.shown import text_of

_NEXT = 1.0
_ASKED = 0.2  # whether there is a next turn is asked on that line


class NextTurn:
    """A part of Editor."""

    def _next_turn(self, node: Node) -> Iterator[tuple[Change, float]]:
        """fetch(z + STEP) for fetch(z), in a loop that goes on by STEP."""
        step = self.steps_of.get(node.text)
        above = self._parent(node)
        if node.kind == "name" and step is not None and above.kind == "call":
            said = text_of(binary("+", node, step))
            is_asked = any(one.line == node.line and text_of(one) == said for one in self.sums)
            cost = _ASKED if is_asked else _NEXT
            yield (lambda n: binary("+", copied(n), copied(step))), cost


def steps_in(function: Function) -> dict[str, Node]:
    """By how much each loop's counter goes on, if that is not 1."""
    steps = (n.kids[2] for n in walk(function.body) if n.kind == "for" and n.kids[2] is not None)
    return {
        one.kids[0].text: one.kids[1]
        for step in steps
        for one in walk(step)
        if one.kind == "assign" and one.text == "+=" and one.kids[0].kind == "name"
    }
