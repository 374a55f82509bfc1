"""What a term has elsewhere: the part of the phase, and the factor that a name is multiplied with."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import File, Node, replace, walk
from grader.judging.repair.scope import Change, bare, binary, named, number

_OF_A_PHASE = 1.1
_OF_THE_WHOLE = 0.8
_MEETINGS = ("__syncthreads", "sync", "wait_for_phase")


class Elsewhere:
    """A part of Editor."""

    def _phase_added(self, node: Node) -> Iterator[tuple[Change, float]]:
        """What is the same in every phase, and lacks the part of the phase."""
        found = self._phase_around(node)
        if found is None:
            return
        counter, is_unit = found
        if any(one.kind == "name" and one.text == counter for one in walk(node)):
            return
        if not is_unit:
            yield (lambda n: binary("+", bare(n), named(counter))), _OF_A_PHASE
            return
        for macro in self.scope.constants:
            part = binary(
                "*", named(counter), replace(number(self.macros.get(macro, 1)), macro=macro)
            )
            yield (lambda n, p=part: binary("+", bare(n), p)), _OF_A_PHASE

    def _phase_for_0(self, node: Node) -> Iterator[tuple[Change, float]]:
        """A helper that is given the first row in every phase."""
        found = self._phase_around(node) if self._parent(node).kind == "call" else None
        if found is not None:
            yield (lambda n: named(found[0])), _OF_A_PHASE

    def _phase_around(self, node: Node) -> tuple[str, bool] | None:
        """What counts the phases there, and whether it goes on by 1."""
        while (above := self._parent(node)) is not node:
            node = above
            if node.kind != "for" or node.kids[0] is None or node.kids[2] is None:
                continue
            if id(node) not in self.meeting:
                self.meeting[id(node)] = any(
                    one.kind == "name" and one.text in _MEETINGS for one in walk(node.kids[3])
                )
            first = [one for one in walk(node.kids[0]) if one.kind == "declare"]
            if self.meeting[id(node)] and first:
                is_unit = any(one.kind in ("before", "after") for one in walk(node.kids[2]))
                return first[0].text, is_unit
        return None

    def _part_of_whole(self, node: Node) -> Iterator[tuple[Change, float]]:
        """second.top = whole.top + first.rows, where it begins at first.rows, wherever the whole lies."""
        target, value = node.kids
        if node.text != "=" or target.kind != "member" or target.kids[0].kind != "name":
            return
        owner = self.scope.types.get(target.kids[0].text)
        if owner is None or any(n.kind == "member" and n.text == target.text for n in walk(value)):
            return
        fields = {name: kind for kind, name in self.file.structs.get(owner.name, ())}
        kind = fields.get(target.text)
        if kind is None or kind.name != "int" or kind.stars:
            return
        for name in self._near(self.scope.structs, node):
            if name != target.kids[0].text and self.scope.types[name].name == owner.name:
                part = Node("member", [named(name)], target.text, node.line)
                yield (lambda n, p=part: _added_to(n, p)), _OF_THE_WHOLE

    def _partners(self, node: Node) -> set[str]:
        """What the other factor beside a name is multiplied with elsewhere in the file.

        And what a name is divided by: quotient and remainder belong together.
        """
        above = self._parent(node)
        if above.kind == "binary" and above.text in ("/", "%") and above.kids[1] is node:
            left = above.kids[0]
            return self.partners.get(f"{left.text} /", set()) if left.kind == "name" else set()
        if above.kind != "binary" or above.text != "*":
            return set()
        beside = above.kids[1] if above.kids[0] is node else above.kids[0]
        return self.partners.get(beside.text, set()) if beside.kind == "name" else set()


def _added_to(node: Node, part: Node) -> Node:
    return replace(bare(node), kids=[node.kids[0], binary("+", part, node.kids[1])])


def partners_of(file: File) -> dict[str, set[str]]:
    """Names, and the names that they are multiplied with; "lane /": what lane is divided by."""
    found: dict[str, set[str]] = {}
    for function in [*file.functions.values(), *file.methods.values()]:
        for node in walk(function.body):
            if node.kind == "binary" and node.text in ("/", "%"):
                one, two = node.kids
                if one.kind == "name" and (two.kind == "name" or two.macro):
                    found.setdefault(f"{one.text} /", set()).add(two.macro or two.text)
            elif node.kind == "binary" and node.text == "*":
                one, two = node.kids
                if one.kind == two.kind == "name":
                    found.setdefault(one.text, set()).add(two.text)
                    found.setdefault(two.text, set()).add(one.text)
    return found
