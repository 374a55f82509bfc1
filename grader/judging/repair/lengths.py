"""Lengths of arrays: a longer one hides an index that goes too far, and a short one may be what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from grader.judging.repair.nodes import File, Function, Node, Type, walk
from grader.judging.repair.scope import Edit
from grader.judging.repair.shown import text_of

AS_COUNTED = 0.4  # how much nearer a length is that has the rows which indices count


class Lengths:
    """A part of Editor."""

    def of_lengths(self, is_dear: Callable[[int, float], bool]) -> Iterator[Edit | tuple]:
        """float data[ROWS * COLUMNS + PADDING] in a struct (lengths_of)."""
        for declared in self.function.body.kids:
            for length in declared.kids[0]:
                for node in walk(length) if length is not None else ():
                    for change, cost in self._changes(node):
                        yield from self.made_of((node, change, cost), is_dear)

    def _is_plain_length(self, node: Node, changed: Node, array: str, place: int) -> bool:
        """A term less, or a name that indices in its place have: it hides no index that goes too far."""
        if node.kind == "binary":
            return changed is node.kids[0] and node.text == "+"
        name = changed.macro or (changed.text if changed.kind == "name" else "")
        return bool(name) and name in self._counted_with(array, place)

    def _is_counted_in(self, changed: Node, array: str) -> bool:
        """Rows of so many elements as an index has: data[ROWS * (COLUMNS + PADDING)]."""
        lengths = {text_of(kid) for kid in changed.kids} if changed.text == "*" else set()
        sums = {text for text in lengths if "+" in text or "-" in text}
        return bool(sums) and not sums.isdisjoint(self.row_lengths.get(array, ()))

    def _counted_with(self, array: str, place: int) -> set[str]:
        """Names in the indices of a dimension."""
        if (array, place) in self.of_dimensions:
            return self.of_dimensions[array, place]
        found = self.of_dimensions[array, place] = set()
        for node in walk(self.function.body):
            if node.kind == "index" and _indexed(node) == (array, place):
                for one in walk(node.kids[1]):
                    found.add(one.macro or one.text)
                    helper = (
                        self.file.functions.get(one.kids[0].text) if one.kind == "call" else None
                    )
                    if helper is not None:
                        found |= {inner.macro or inner.text for inner in walk(helper.body)}
        return found


def lengths_of(file: File) -> list[Function]:
    """The arrays of each struct, as if they were declared in a function's body."""
    found = []
    for (owner, array), lengths in file.lengths.items():
        given = [(Type("int"), one) for one in file.parameters.get(owner) or ()]
        line = next((one.line for one in lengths if one is not None), 0)
        declared = Node("declare", [list(lengths), None], array, line, -1, Type("float"))
        found.append(Function("", Type("void"), given, Node("block", [declared]), False, 0))
    return found


def row_lengths_in(file: File) -> dict[str, set[str]]:
    """Of each array what is a factor in its indices."""
    found: dict[str, set[str]] = {}
    for function in (*file.functions.values(), *file.methods.values()):
        for node in walk(function.body):
            if node.kind == "index" and node.kids[0].kind in ("name", "member"):
                products = [n for n in walk(node.kids[1]) if n.kind == "binary" and n.text == "*"]
                texts = {text_of(kid) for one in products for kid in one.kids}
                found.setdefault(node.kids[0].text, set()).update(texts)
    return found


def _indexed(node: Node) -> tuple[str, int]:
    """The array, and which of its dimensions."""
    place = -1
    while node.kind == "index":
        node, place = node.kids[0], place + 1
    return node.text, place
