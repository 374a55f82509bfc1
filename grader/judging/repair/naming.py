"""One name for another: of variables, pointers, members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.repair.alike import alike
from grader.judging.repair.arithmetic import MOST_WRITTEN
from grader.judging.repair.nodes import Node, replace
from grader.judging.repair.scope import Change, bare, binary, named, number
from grader.judging.repair.unused import UNUSED

_OTHER_MEMORY = 0.6  # what lies there is indexed in another way
_FIELD = 1.0  # another field of the same type
ODD_ONE = 0.3  # what all others of its shape have
_AS_ELSEWHERE = 0.7
_WARP = 32
_AGAINST_NAME = 1.0
_WITH_LENGTH = 0.7  # of a block
_AXES = {"x": "yz", "y": "xz", "z": ""}


class Naming:
    """A part of Editor."""

    def _near(self, names: Sequence[str], node: Node) -> list[str]:
        """Those that may be named there."""
        visible = self.visible.get(id(node), frozenset())
        return [name for name in names if name in visible or name not in self.declared]

    def _names(self, node: Node) -> Iterator[tuple[Change, float]]:
        parent = self._parent(node)
        if parent.kind == "member" or (
            parent.kind in ("call", "template") and parent.kids[0] is node
        ):
            return
        name = node.text
        scope = self.scope
        if node.id in self.odd:
            yield (lambda n, o=self.odd[node.id]: named(o)), ODD_ONE
        groups = (
            scope.integers,
            scope.pointers,
            scope.floats,
            scope.structs,
            scope.conditions,
        )
        fields = self.file.structs.get(self.function.owner, ())
        is_in_none = not any(name in group for group in groups)
        for kind in [kind for kind, field in fields if field == name and is_in_none]:
            for own, other in fields:
                if other != name and (own.name, own.stars) == (kind.name, kind.stars):
                    yield (lambda n, o=other: named(o)), _FIELD
        for group in groups:
            if name not in group:
                continue
            for other in self._near(group, node):
                if other == name:
                    continue
                is_cast = parent.kind == "cast"
                if group is scope.pointers and not is_cast:
                    if scope.types[name].name != scope.types[other].name:
                        continue
                cost = (
                    0.6 if alike(name, other) else 1.3 if len(name) < 4 or len(other) < 4 else 1.2
                )
                if group is scope.integers and (name in scope.sizes) != (other in scope.sizes):
                    cost += 0.7
                elif cost == 1.2 and {name, other} <= self.given:
                    cost = 0.8  # rows for columns
                if group is scope.pointers and self._lie_apart(name, other):
                    cost += _OTHER_MEMORY
                if self._is_setting(node) or (self.is_host and self._decides_launch(node)):
                    # Too many blocks do no harm where there is a guard.
                    is_too_few = self.leaves_out and {name, other} <= self.given
                    cost += 0.2 if is_too_few else 1.0
                if other in self._partners(node):
                    cost = min(cost, _AS_ELSEWHERE)
                cost -= UNUSED * (other in self.unused)
                yield (lambda n, o=other: named(o)), cost
        if name in self.scope.integers:
            far = 1.5 * self._is_setting(node)  # as if the blocks were the same for all sizes
            for macro in self.scope.constants:
                yield (
                    (lambda n, v=self.macros.get(macro, 0): number(v)),
                    (1.7 if name in scope.sizes else 2.4) + far,
                )
            if self.has_stages and name not in self.scope.sizes:
                yield (lambda n: binary("^", bare(n), number(1))), 1.2
            for one in ("threadIdx", "blockIdx"):
                if not self.is_host and self.scope.types[name].is_constant is False:
                    for axis in "xy":
                        yield (lambda n, o=one, a=axis: Node("member", [named(o)], a)), 2.5

    def _against_axis(self, node: Node, axis: str) -> float:
        """More for x = threadIdx.y, where y is called so, too."""
        above = self._parent(node)
        is_own = above.kind == "declare" and above.text[-1:] == node.text and axis != node.text
        return _AGAINST_NAME * is_own

    def _is_added(self, node: Node) -> bool:
        """Whether it is a part of a sum, or all there is."""
        above = self._parent(node)
        return above.kind in ("cast", "declare") or above.text == "+"

    def _lie_apart(self, one: str, two: str) -> bool:
        """Whether they surely point into different memory."""
        places = self._lies_in(one), self._lies_in(two)
        return "" not in places and places[0] != places[1]

    def _lies_in(self, pointer: str) -> str:
        """The memory that an array is in, or what a kernel is given: "" may point to either."""
        if self.function.is_kernel and any(pointer == name for _, name in self.function.parameters):
            return "global"
        return self.arrays.get(pointer, "")

    def _is_setting(self, node: Node, first: int = 0) -> bool:
        """A part of a launch's settings, as they stand there."""
        parent = self._parent(node)
        while parent is not node and parent.kind in ("binary", "make"):
            node, parent = parent, self._parent(parent)
        return parent.kind == "launch" and any(one is node for one in parent.kids[1][first:])

    def _members(self, node: Node) -> Iterator[tuple[Change, float]]:
        owner = node.kids[0]
        if owner.kind == "name" and owner.text in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            for axis in _AXES.get(node.text, ""):
                cost = 0.4 + 2 * (axis == "z") + self._against_axis(node, axis)
                yield (lambda n, a=axis: replace(bare(n), text=a)), cost
            pairs = {
                "threadIdx": "blockIdx",
                "blockIdx": "threadIdx",
                "gridDim": "blockDim",
                "blockDim": "gridDim",
            }
            other = pairs[owner.text]
            if owner.text == "blockIdx" and self._is_added(node):
                length = Node("member", [named("blockDim")], node.text, node.line)
                yield (lambda n, o=length: binary("*", bare(n), o)), _WITH_LENGTH
            yield (lambda n, o=other: Node("member", [named(o)], n.text)), 2.0
            if self.scope.integers and owner.text in ("blockDim", "gridDim"):
                for name in self._near(self.scope.integers, node):
                    yield (lambda n, o=name: named(o)), 2.0
                for value in (_WARP, *sorted(self.written - {0, 1, _WARP})[:MOST_WRITTEN]):
                    yield (lambda n, v=value: number(v)), 1.8
            if owner.text == "threadIdx" and node.text in "xy":  # of the block, where P's is meant
                for name in self._near(self.scope.integers, node):
                    if name not in self.given:
                        yield (lambda n, o=name: named(o)), 1.6
            return
        for fields in self.file.structs.values():
            kinds = {name: kind for kind, name in fields}
            for other, kind in kinds.items():
                if node.text in kinds and other != node.text and kind == kinds[node.text]:
                    yield (lambda n, o=other: replace(bare(n), text=o)), 1.0
        if node.text in "xyzw":
            kind = self.scope.types.get(owner.text) if owner.kind == "name" else None
            is_shape = kind is not None and kind.name == "dim3"
            for other in "xy" if is_shape else "xyzw":
                if other != node.text:
                    yield (lambda n, o=other: replace(bare(n), text=o)), 1.0
        if owner.kind == "name":
            kind = self.scope.types.get(owner.text)
            for name, other in self.scope.types.items():
                if kind is not None and other.name == kind.name and name != owner.text:
                    yield (lambda n, o=name: replace(bare(n), kids=[named(o)])), 1.0
