"""A name in place of what it stands for with the other axis: m_col for ph * TILE_WIDTH + ty."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Function, Node, replace, walk
from grader.judging.repair.scope import Change, bare, named
from grader.judging.repair.shown import text_of

_AXES = {"x": "y", "y": "x"}
_PLAIN = frozenset(("binary", "name", "member", "number"))
_MOST_NODES = 9  # of an expression that a name stands for
_COST = 1.2


class Followed:
    """A part of Editor."""

    def _of_the_other_axis(self, node: Node) -> Iterator[tuple[Change, float]]:
        """What a variable is given, with one of its names along the other axis."""
        value = self.given_once.get(node.text)
        if self.is_host or value is None or value.kind != "binary" or self._is_target(node):
            return
        if any(one.kind not in _PLAIN for one in walk(value)) or len(value.ids) > _MOST_NODES:
            return
        for leaf in walk(value):
            turned = self._along_the_other(leaf)
            if turned is not None and turned.text in self.visible.get(id(node), turned.text):
                yield (lambda n, v=value, at=leaf, t=turned: _with(v, at, t)), _COST

    def _along_the_other(self, leaf: Node) -> Node | None:
        if leaf.kind == "member" and leaf.text in _AXES:
            return replace(bare(leaf), text=_AXES[leaf.text])
        other = self.across.get(leaf.text) if leaf.kind == "name" else None
        return named(other) if other is not None else None


def given_once_in(function: Function) -> dict[str, Node]:
    """Variables that are declared once, with a value that is not changed later."""
    inside = list(walk(function.body))
    declared: dict[str, list[Node]] = {}
    for node in inside:
        if node.kind == "declare" and not node.kids[0] and node.kids[1] is not None:
            declared.setdefault(node.text, []).append(node.kids[1])
    changed = {one.kids[0].text for one in inside if one.kind in ("assign", "before", "after")}
    return {
        name: values[0]
        for name, values in declared.items()
        if len(values) == 1 and name not in changed
    }


def across_in(given_once: dict[str, Node]) -> dict[str, str]:
    """ty for tx: the variable that is counted in the same way along the other axis."""
    texts = {text_of(value): name for name, value in given_once.items()}
    found = {}
    for name, value in given_once.items():
        said = text_of(value)
        other = "".join(
            _AXES.get(one, one) if at and said[at - 1] == "." else one
            for at, one in enumerate(said)
        )
        if other != said and other in texts:
            found[name] = texts[other]
    return found


def _with(value: Node, leaf: Node, other: Node) -> Node:
    """A copy, with that node in place of the leaf."""
    if value is leaf:
        return other
    return replace(bare(value), kids=[_with(kid, leaf, other) for kid in value.kids])
