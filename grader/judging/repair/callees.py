"""What is called: another object's method, another method, another function that takes and gives the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grader.judging.repair.alike import alike
from grader.judging.repair.nodes import Function, Node, replace
from grader.judging.repair.scope import Change, bare

_ALIKE, _OTHER = 0.8, 1.2


class Callees:
    """A part of Editor."""

    def _is_called(self, node: Node) -> bool:
        above = self._parent(node)
        if above.kind == "template":
            node, above = above, self._parent(above)
        return above.kind == "call" and above.kids[0] is node

    def _of_another(self, node: Node) -> Iterator[tuple[Change, float]]:
        """A change of what is called is one of the call, which is carried out as a whole."""
        called = node.kids[0]
        if called.kind == "template" and called.kids[0].kind == "member":
            called = called.kids[0]
        if called.kind == "member":
            methods = {one.name for one in self.file.methods.values()}
            for change, cost in self._members(called):
                if change(called).text in methods:
                    yield (lambda n, c=change: _with(n, c)), cost
            known = self.file.methods.values()
            owners = {one.owner for one in known if one.name == called.text}
            mine = [one for one in known if one.owner in owners]
        elif called.kind == "name":
            mine = [one for one in self.file.functions.values() if not one.is_kernel]
        else:
            return
        for other in _like(called.text, mine):
            cost = _ALIKE if alike(called.text, other) else _OTHER
            yield (lambda n, o=other: _with(n, lambda one: replace(bare(one), text=o))), cost


def _like(name: str, functions: Iterable[Function]) -> dict[str, None]:
    """Names of the others that are declared as it is."""
    functions = list(functions)
    shapes = {_shape(one) for one in functions if one.name == name}
    return dict.fromkeys(
        one.name for one in functions if one.name != name and _shape(one) in shapes
    )


def _shape(function: Function) -> tuple:
    kinds = tuple(kind for kind, _ in function.parameters)
    return function.owner, function.type, kinds, len(function.templates)


def _with(node: Node, change: Change) -> Node:
    """The call with what is called changed; of x.f<N>() that is x.f."""
    called = node.kids[0]
    if called.kind == "template" and called.kids[0].kind == "member":
        changed = replace(bare(called), kids=[change(called.kids[0]), *called.kids[1:]])
    else:
        changed = change(called)
    return replace(bare(node), kids=[changed, *node.kids[1:]])
