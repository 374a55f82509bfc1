"""Constants of the file and of its structs that are counted from others: what they are counted from may be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from grader.judging.repair.nodes import File, Function, Node, Type, replace, walk
from grader.judging.repair.rewritten import rounded_up
from grader.judging.repair.scope import Change, Edit, bare

_FAR = 0.7  # how much farther it is to change them than what they are used for
_FRACTION = 0.6


class Constants:
    """A part of Editor."""

    def of_constants(
        self, is_dear: Callable[[int, float], bool] = lambda line, cost: False
    ) -> Iterator[Edit | tuple]:
        """constexpr int THREADS = (BM / TM) * (BN / TM): not of sizes that are numbers."""
        for declared in walk(self.function.body):
            if declared.kind != "declare" or declared.kids[0] or declared.kids[1] is None:
                continue
            for change, cost in self._fractions(declared):
                yield from self.made_of((declared, change, cost), is_dear)
            value = declared.kids[1]
            for node in walk(value) if value.kind == "binary" else ():
                for change, cost in self._changes(node):
                    if change is rounded_up:
                        continue  # what is counted here is divided without a rest
                    yield from self.made_of((node, change, cost + _FAR), is_dear)

    def _fractions(self, declared: Node) -> Iterator[tuple[Change, float]]:
        """constexpr int UP = 256 where 1 / UP is to be a fraction."""
        if declared.type.name != "int" or declared.kids[1].kind != "number":
            return
        if declared.text in self.divisors_of_floats:
            yield (lambda n: replace(bare(n), type=replace(n.type, name="float"))), _FRACTION


def constants_of(file: File) -> list[Function]:
    """The declarations outside of functions, and those of each struct, as if they were one's body."""
    found = [Function("", Type("void"), [], Node("block", list(file.globals)), False, 0)]
    for name, nodes in file.statics.items():
        given = [(Type("int"), one) for one in file.parameters.get(name) or ()]
        found.append(Function("", Type("void"), given, Node("block", list(nodes)), False, 0))
    return [one for one in found if one.body.kids]


def divisors_of_floats(function: Function) -> set[str]:
    """Names that a float is made by dividing by."""
    return {
        node.kids[1].text
        for declared in walk(function.body)
        if declared.kind == "declare" and declared.type.name == "float" and declared.kids[1] is not None
        for node in walk(declared.kids[1])
        if node.kind == "binary" and node.text == "/" and node.kids[1].kind == "name"
    }  # fmt: skip
