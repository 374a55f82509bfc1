"""Changes that make an expression like others of its function: what they are counted with lacks here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.judging.repair.linear import copied
from grader.judging.repair.nodes import File, Function, Node, replace, walk
from grader.judging.repair.scope import Change, bare, binary, named, number
from grader.judging.repair.shown import text_of

_ROW = re.compile(r"row|(?:^|_)[ry]$|^ty$", re.IGNORECASE)
_COLUMN = re.compile(r"col|(?:^|_)[cx]$|^tx$", re.IGNORECASE)
_LEAVES = ("name", "number")
_MOST = 6
_BITS, _HALVES = {">>": "&", "&": ">>"}, {"/": "%", "%": "/"}
_MASKS, _SHIFTS = (1, 3, 7, 15, 31), (1, 2, 3, 4, 5)
_MOST_DIVISORS = 4
_OF_A_ROW = 0.2
_WITH_BLOCK = 0.7
_GIVEN = 0.4  # to a call in a line that has the whole term as well


class Repeated:
    """A part of Editor."""

    def _like_others(self, node: Node) -> Iterator[tuple[Change, float]]:
        """t where the same line has t - 128, T where an array has rows of T + 1."""
        above = self._parent(node)
        if node.kind not in _LEAVES or above.kind == "member":
            return
        is_given = above.kind == "call"
        if is_given and above.kids[0] is node:
            return
        found: dict[tuple[str, str, str], tuple[Node, bool]] = {}
        shown = _shown(node)
        for one in self.sums:
            if one is above or one.kids[1].kind != "number" or _shown(one.kids[0]) != shown:
                continue
            if node.id in one.ids:  # the same place of a macro's body: it would hold itself
                continue
            key = (shown, one.text, _shown(one.kids[1]))
            is_here = one.line == node.line
            if key not in found or is_here:
                found[key] = (one, is_here)
        for one, is_here in list(found.values())[:_MOST]:
            if is_given and not is_here:
                continue  # what a call is given is seldom what others count with
            cost = _GIVEN if is_given else 0.9 if is_here else 1.1
            yield (lambda n, o=one: bare(o)), cost

    def _with_block(self, node: Node) -> Iterator[tuple[Change, float]]:
        """block * T + r for r, as it stands elsewhere: what a thread has in its block alone."""
        above = self._parent(node)
        if node.kind != "name" or not self.function.is_kernel or above.kind == "member":
            return
        if node.text not in self.scope.integers or (
            above.kind == "assign" and above.kids[0] is node
        ):
            return
        whole = self._of_global(node)
        if whole is None:
            return
        own, known = {text_of(one) for one in walk(whole)}, set()
        for one in self.sums:
            for mine, other in (one.kids, one.kids[::-1]):
                if one.text != "+" or _shown(mine) != node.text or node.id in one.ids:
                    continue
                text = text_of(other)
                if self._is_of_block(other) and text not in known and text not in own:
                    known.add(text)
                    yield (lambda n, o=one: copied(o)), _WITH_BLOCK

    def _of_global(self, node: Node) -> Node | None:
        """The index, address or call with memory that the kernel was given which it stands in."""
        pointers = {name for kind, name in self.function.parameters if kind.stars}
        while self._parent(node) is not node:
            above = self._parent(node)
            if above.kind == "index" and above.kids[1] is node:
                return node if above.kids[0].text in pointers else None
            if above.kind in ("block", "for", "if", "dowhile"):
                return None
            node = above
            if node.kind in ("call", "declare", "assign", "deref"):
                names = {one.text for kid in node.kids[1:] if kid for one in walk(kid)}
                if node.kind == "deref":
                    names = {one.text for one in walk(node)}
                return node if names & pointers else None
        return None

    def _is_of_block(self, node: Node) -> bool:
        """A number that all threads of a block have, and other blocks have not."""
        names = {one.text for one in walk(node) if one.kind == "name"}
        return bool(names & {"blockIdx", *self.of_block}) and "threadIdx" not in names

    def _thread_numbers(self, node: Node) -> Iterator[tuple[Change, float]]:
        """threadIdx.x + threadIdx.y * blockDim.x: a row of threads is as long as the block."""
        product = self._parent(node)
        whole = self._parent(product)
        if product.kind != "binary" or whole.kind != "binary":
            return
        if product.text != "*" or whole.text != "+" or not self.function.is_kernel:
            return
        if self._parent(whole).kind == "index":
            return  # a place in a tile: its rows may be longer
        if _shown(node) == "blockDim.x" or node not in product.kids or product not in whole.kids:
            return
        row = product.kids[product.kids[0] is node]
        column = whole.kids[whole.kids[0] is product]
        if self._thread_axis(row) == "y" and self._thread_axis(column) == "x":
            yield (lambda n: Node("member", [named("blockDim")], "x", n.line)), _OF_A_ROW

    def _thread_axis(self, node: Node) -> str:
        return self.of_thread.get(_shown(node), "")

    def _grid_steps(self, node: Node) -> Iterator[tuple[Change, float]]:
        """A step of one block, where all blocks of the grid go on together."""
        if not self.function.is_kernel:
            return
        above = self._parent(node)
        if node.kind == "name" and node.text in self.declared:
            return  # what it is computed from is changed
        is_step = above.kind == "assign" and above.text == "+=" and above.kids[1] is node
        is_named = _shown(node) == "blockDim.x" and "blockIdx" not in self._whole(node)
        if is_step or is_named:
            blocks = Node("member", [named("gridDim")], "x")
            yield (lambda n: binary("*", bare(n), blocks)), 0.8 if is_step else 0.5

    def _other_parts(self, node: Node) -> Iterator[tuple[Change, float]]:
        """Lower bits for upper ones, t % 4 for t / 2, and the other way round."""
        sign = node.text
        if sign in _BITS:
            for value in _MASKS if sign == ">>" else _SHIFTS:
                yield _divided(_BITS[sign], value), 1.3
        if sign in _HALVES:
            far = 0.4 * self._against_name(node, replace(bare(node), text=_HALVES[sign]))
            for value in sorted(self.divisors)[:_MOST_DIVISORS]:
                if str(value) != node.kids[1].text:
                    yield _divided(_HALVES[sign], value), 1.6 + far

    def _whole(self, node: Node) -> set[str]:
        """The names in the expression that it is a part of."""
        while self._parent(node) is not node and self._parent(node).kind in ("binary", "cast"):
            node = self._parent(node)
        return {one.text for one in walk(node) if one.kind == "name"}

    def _decides_launch(self, node: Node) -> bool:
        """Whether it is a part of a variable's value that a launch has for its blocks or threads."""
        while self._parent(node) is not node and node.kind != "declare":
            node = self._parent(node)
        return node.kind == "declare" and node.text in self.launched_with

    def _against_name(self, node: Node, changed: Node) -> bool:
        """A row that would be a remainder, a column that would be a quotient."""
        if node.kind != "binary" or {node.text, changed.text} != {"/", "%"}:
            return False
        while self._parent(node) is not node and node.kind not in ("declare", "assign"):
            node = self._parent(node)
        target = node.kids[0] if node.kind == "assign" else node
        wrong = _ROW if changed.text == "%" else _COLUMN
        return target.kind in ("declare", "name", "member") and bool(wrong.search(target.text))


def of_block_in(function: Function) -> set[str]:
    """Variables whose value comes from the block's number, and from no thread's."""
    found: set[str] = set()
    for node in walk(function.body):
        if node.kind == "declare" and node.kids[1] is not None and not node.kids[0]:
            names = {one.text for one in walk(node.kids[1]) if one.kind == "name"}
            if names & {"blockIdx", *found} and "threadIdx" not in names and not node.type.stars:
                found.add(node.text)
    return found


def of_thread_in(function: Function) -> dict[str, str]:
    """threadIdx.x, and variables that are nothing else, each with its axis."""
    found = {f"threadIdx.{axis}": axis for axis in "xy"}
    for node in walk(function.body):
        if node.kind == "declare" and node.kids[1] is not None and not node.kids[0]:
            axis = found.get(_shown(node.kids[1]))
            if axis:
                found[node.text] = axis
    return found


def _divided(sign: str, value: int) -> Change:
    return lambda n: replace(bare(n), text=sign, kids=[n.kids[0], number(value)])


def factors_of(function: Function) -> set[int]:
    """Numbers that something is multiplied by."""
    return {
        int(side.text)
        for node in walk(function.body)
        if node.kind == "binary" and node.text == "*"
        for side in node.kids
        if side.kind == "number" and side.text.isdigit() and int(side.text) > 1 and not side.macro
    }


def products_of(file: File) -> set[tuple[str, str]]:
    """Each two names that are multiplied somewhere in the file: tile and wide, in tile * wide."""
    found: set[tuple[str, str]] = set()
    bodies = [one.body for one in (*file.functions.values(), *file.methods.values())]
    for node in (one for body in (*bodies, *file.globals) for one in walk(body)):
        if node.kind == "binary" and node.text == "*":
            left, right = ([_shown(one) for one in _factors(side)] for side in node.kids)
            found |= {(a, b) for a in left for b in right if a and b and a != b}
    return found | {(b, a) for a, b in found}


def lacks_factor(node: Node, name: str, products: set[tuple[str, str]]) -> bool:
    """Whether a product has one of two that are multiplied elsewhere, and not the other."""
    names = [_shown(one) for one in _factors(node)]
    return name not in names and any((one, name) in products for one in names)


def _factors(node: Node) -> list[Node]:
    if node.kind == "binary" and node.text == "*":
        return [*_factors(node.kids[0]), *_factors(node.kids[1])]
    return [node] if node.kind in _LEAVES else []


def divisors_of(function: Function) -> set[int]:
    return {
        int(node.kids[1].text)
        for node in walk(function.body)
        if node.kind == "binary" and node.text in _HALVES
        if node.kids[1].text.isdigit() and int(node.kids[1].text) > 1 and not node.kids[1].macro
    }


def _shown(node: Node) -> str:
    if node.kind == "member" and node.kids[0].kind == "name":
        return f"{node.kids[0].text}.{node.text}"
    return (node.macro or node.text) if node.kind in _LEAVES else ""
