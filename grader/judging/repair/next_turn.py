"""What a turn of a loop fetches for the next one: the place is a step farther."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import Function, Node, walk
from grader.judging.repair.scope import Change, binary
from grader.judging.repair.shown import text_of

_NEXT = 1.0
_AHEAD = 0.6  # where others are counted a step ahead
_ASKED = 0.2  # whether there is a next turn is asked on that line


class NextTurn:
    """A part of Editor."""

    def _next_turn(self, node: Node) -> Iterator[tuple[Change, float]]:
        """fetch(z + STEP) for fetch(z), in a loop that goes on by STEP."""
        step = self.steps_of.get(node.text)
        if node.kind == "name" and step is not None and self._is_in_argument(node):
            said = text_of(binary("+", node, step))
            lines = {one.line for one in self.sums if text_of(one) == said}
            cost = _ASKED if node.line in lines else _AHEAD if lines else _NEXT
            yield (lambda n: binary("+", copied(n), copied(step))), cost

    def _is_in_argument(self, node: Node) -> bool:
        above = self._parent(node)
        while above.kind == "binary" and above.text == "+" and self._parent(above) is not above:
            above = self._parent(above)
        return above.kind == "call"


def steps_in(function: Function) -> dict[str, Node]:
    """By how much each loop's counter goes on, if that is not 1."""
    steps = (n.kids[2] for n in walk(function.body) if n.kind == "for" and n.kids[2] is not None)
    return {
        one.kids[0].text: one.kids[1]
        for step in steps
        for one in walk(step)
        if one.kind == "assign" and one.text == "+=" and one.kids[0].kind == "name"
    }
