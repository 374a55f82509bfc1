"""Changes that hide a fault in place of mending it: larger launches, longer arrays."""

from __future__ import annotations

from grader.judging.repair.nodes import Function, Node, walk
from grader.judging.repair.rewritten import is_rounded_up
from grader.judging.repair.unused import LEFT_UNUSED

_LESS_OF_A_LAUNCH = 0.6
_OTHER_LAUNCH = 0.8
_EQUAL = ("==", "!=")


class Hiding:
    """A part of Editor."""

    def _is_odd(self, node: Node, changed: Node) -> float:
        """A change within (whole + piece - 1) / piece, and one that takes a name's only use."""
        above = self._parent(node)
        division = self._parent(above)
        if node.text == "-" and division.text == "/" and is_rounded_up(division):
            return 1.0
        if node.kind == "name" and self._is_target(node) and self.targets[node.text] == 1:
            return LEFT_UNUSED  # nothing would be put there
        left = {one.macro or one.text for one in walk(node)} & self.used_once
        kept = {one.macro or one.text for one in walk(changed)} if left else set()
        return 0.0 if left <= kept else LEFT_UNUSED

    def _hides(self, node: Node, changed: Node) -> float:
        """More blocks, or other ones, where the launch may have been sound: they hide what a kernel leaves out."""
        if self._is_side(node) or self._decides_parts(node) or self._is_of_a_part(node):
            return 1.0
        if self._chooses_launch(node):
            return _OTHER_LAUNCH
        if not self.is_host or not (self._is_setting(node) or self._decides_launch(node)):
            return 0.0
        if node.kind == "binary" and any(changed is kid for kid in node.kids):
            return _LESS_OF_A_LAUNCH
        if changed.kind == "name" and changed.text in self.function.templates:
            return 0.0  # what the launch is told of its tile
        is_other = node.kind == "number" and changed.kind in ("number", "name")
        return 1.0 if is_other or (node.text == "/" and changed.text != "/") else 0.0

    def _decides_parts(self, node: Node) -> bool:
        """Whether a part is launched whole or cut once more: what is never cut hides a wrong cut."""
        if not self.is_host or node.kind != "binary" or node.text not in ("&&", "||", "<=", "<"):
            return False
        while self._parent(node) is not node and node.kind == "binary":
            node = self._parent(node)
        inside = walk(node.kids[1]) if node.kind == "if" else ()
        return any(one.kind == "launch" for one in inside) and self._calls_itself()

    def _chooses_launch(self, node: Node) -> bool:
        """width % 32 == 0, where one of two launches follows: that the other one is right mends nothing."""
        if not self.is_host or node.text not in _EQUAL:
            return False
        above = self._parent(node)
        if above.kind != "if" or above.kids[0] is not node:
            return False
        launching = {name for name, one in self.file.functions.items() if _launches(one.body)}
        calls = (n.kids[0] for kid in above.kids[1:] if kid for n in walk(kid) if n.kind == "call")
        names = {(one.kids[0] if one.kind == "template" else one).text for one in calls}
        return any(_launches(kid) for kid in above.kids[1:] if kid) or bool(names & launching)

    def _is_of_a_part(self, node: Node) -> bool:
        """Whether it says how much one launch of several does: one that does all hides a wrong part."""
        while self.is_host and self._parent(node) is not node and node.kind != "declare":
            node = self._parent(node)
        return self.is_host and node.kind == "declare" and node.text in self.parts_of_launches

    def _calls_itself(self) -> bool:
        calls = (one.kids[0].text for one in walk(self.function.body) if one.kind == "call")
        return self.function.called in calls

    def _is_side(self, node: Node) -> bool:
        """HIGH in shape.grid.y = HIGH: what a helper says of a launch, whatever the sizes are."""
        above = self._parent(node)
        if (
            above.kind != "assign"
            or above.kids[1] is not node
            or node.kind not in ("name", "number")
        ):
            return False
        target = above.kids[0]
        is_of_grid = target.kind == "member" and target.text in ("x", "y", "z")
        return is_of_grid and target.kids[0].kind == "member" and not self.function.is_kernel


def _launches(body: Node) -> bool:
    return any(one.kind == "launch" for one in walk(body))


def parts_of_launches_in(function: Function) -> set[str]:
    """Names that loops around a launch go on by."""
    return {
        name.text
        for loop in walk(function.body)
        if loop.kind == "for" and loop.kids[2] is not None
        if any(one.kind == "launch" for one in walk(loop.kids[3]))
        for name in walk(loop.kids[2])
        if name.kind == "name"
    }
