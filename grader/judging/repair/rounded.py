"""What a rounded piece leaves over: taken away, and multiplied by a constant."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Function, Node, replace, walk
from grader.judging.repair.scope import Change, bare, binary, named
from grader.judging.repair.unused import UNUSED, unused_of

_BACK = {
    "__float2bfloat16_rn": "__bfloat162float",
    "__float2bfloat16": "__bfloat162float",
    "__float2half_rn": "__half2float",
    "__float2half": "__half2float",
}
_COST, _SCALED = 0.6, 1.2


class Rounded:
    """A part of Editor."""

    def _left_over(self, node: Node) -> Iterator[tuple[Change, float]]:
        """x = (x - __bfloat162float(piece)) * UP for x = x * UP."""
        target = node.kids[0]
        if node.text != "=" or target.kind != "name" or target.text not in self.scope.floats:
            return
        unused = unused_of(self.file)
        for name in self.scope.floats:
            if self.scope.types[name].is_constant:
                kids = [target, binary("*", node.kids[1], named(name))]
                cost = _SCALED - UNUSED * (name in unused)
                yield (lambda n, k=kids: replace(bare(n), kids=list(k))), cost
        pieces = self.pieces.get(target.text, ())
        if any(
            one.kind == "name" and one.text == piece for one in walk(node) for piece, _ in pieces
        ):
            return
        for piece, back in pieces:
            rest = binary("-", named(target.text), Node("call", [named(back), named(piece)]))
            value = _with(node.kids[1], target.text, rest)
            yield (lambda n, v=value: replace(bare(n), kids=[n.kids[0], v])), _COST


def pieces_in(function: Function) -> dict[str, list[tuple[str, str]]]:
    """Of each variable what it was rounded to, and what makes a float of that again."""
    found: dict[str, list[tuple[str, str]]] = {}
    for node in walk(function.body):
        call = node.kids[1] if node.kind == "declare" and not node.kids[0] else None
        if call is not None and call.kind == "call" and call.kids[0].text in _BACK:
            if len(call.kids) == 2 and call.kids[1].kind == "name":
                back = _BACK[call.kids[0].text]
                found.setdefault(call.kids[1].text, []).append((node.text, back))
    return found


def _with(node: Node, name: str, value: Node) -> Node:
    """The expression with something else in the name's place."""
    if node.kind == "name" and node.text == name:
        return value
    kids = [_with(kid, name, value) if isinstance(kid, Node) else kid for kid in node.kids]
    return replace(bare(node), kids=kids, ids=frozenset())
