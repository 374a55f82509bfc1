"""The shape of a block, and a tile that every thread has to itself."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Node, replace, walk
from grader.judging.repair.scope import Change, Edit, bare, binary
from grader.judging.repair.shown import text_of

_OTHER, _SHARED = 0.7, 0.7
_OF_TWO_AXES = 1.0  # how much farther it is where the kernel tells the threads apart by both
_OF_NUMBERS = 0.8  # how much farther it is for an array, which a thread may well have to itself


class Shapes:
    """A part of Editor."""

    def _of_two_sides(self, node: Node) -> Iterator[tuple[Change, float]]:
        """{T, T} for {T * T}, and {T * T} for {T, T}: a block's, or a grid's."""
        if not self.is_host or len(node.kids) not in (1, 2) or None in node.kids:
            return
        if node.kind == "make" and node.text != "dim3":
            return
        first = node.kids[0]
        if len(node.kids) == 2:
            far = _OF_TWO_AXES * self.has_two_axes
            yield (lambda n: replace(bare(n), kids=[binary("*", *n.kids)])), _OTHER + far
        elif first.kind == "binary" and first.text == "*":
            yield (lambda n, k=tuple(first.kids): replace(bare(n), kids=[*k])), _OTHER

    def _for_the_block(self) -> Iterator[Edit]:
        """A tile without __shared__, where another has it: every thread fills one of its own."""
        declared = [n for n in walk(self.function.body) if n.kind == "declare"]
        if not self.function.is_kernel or not any(one.type.is_shared for one in declared):
            return
        for node in declared:
            is_tile = bool(node.kids[0]) or node.type.name in self.file.structs
            if node.type.is_shared or node.type.stars or not is_tile or node.kids[1] is not None:
                continue
            yield Edit(
                ((node.id, _shared),), node.line, _SHARED + _OF_NUMBERS * bool(node.kids[0]),
                self.function.name, node,
                f"__shared__ {text_of(node)}",
            )  # fmt: skip


def _shared(node: Node) -> Node:
    return replace(bare(node), type=replace(node.type, is_shared=True))
