"""What other lines give to a helper of one argument: up8(l) for l."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import File, Function, Node, walk
from grader.judging.repair.scope import Change, named
from grader.judging.repair.shown import text_of

_KNOWN, _NEW = 0.8, 1.2  # a call that stands elsewhere, and one that stands nowhere
_MOST = 3


class RoundedCalls:
    """A part of Editor."""

    def _called_with(self, node: Node) -> Iterator[tuple[Change, float]]:
        """A name that is given to another call, or to a variable."""
        above = self._parent(node)
        is_given = above.kind == "call" and above.kids[0] is not node
        if not (is_given or above.kind == "declare") or node.text not in self.scope.integers:
            return
        if is_given and len(above.kids) == 2:
            return  # it is what such a helper is called with
        for callee, said in self.unary_calls.items():
            is_known = f"{callee}({node.text})" in said
            yield (
                (lambda n, c=callee: Node("call", [named(c), copied(n)])),
                (_KNOWN if is_known else _NEW),
            )


def unary_calls_in(file: File, function: Function) -> dict[str, set[str]]:
    """Helpers and lambdas of one integer that are called with a name, and these calls."""
    lambdas = {
        node.text
        for node in walk(function.body)
        if node.kind == "declare" and node.kids[1] is not None and node.kids[1].kind == "lambda"
    }
    found: dict[str, set[str]] = {}
    for node in walk(function.body):
        if node.kind != "call" or len(node.kids) != 2 or node.kids[1].kind != "name":
            continue
        callee = node.kids[0].text if node.kids[0].kind == "name" else ""
        helper = file.functions.get(callee)
        is_number = helper is not None and helper.type.name == "int" and not helper.type.stars
        if callee in lambdas or is_number:
            found.setdefault(callee, set()).add(text_of(node))
    return dict(list(found.items())[:_MOST])
