"""Edits of several places at once, and statements that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from grader.judging.repair.nodes import Node, replace, walk
from grader.judging.repair.scope import Change, Edit, bare, binary, named, number
from grader.judging.repair.shown import text_of

_BUILT_IN = ("blockIdx", "threadIdx", "blockDim", "gridDim")
_MOST_GIVEN = 8
_PAIR = 0.8  # quotient and remainder by what divides in other lines
_NO_STEP, _ONE_MORE_STEP = 1.2, 2.0  # of a pointer that stands still, of one that walks


class Missing:
    """A part of Editor."""

    # --- several places, and statements that are missing

    def _exchanged(self) -> Iterator[Edit]:
        """Two variables with each other's value."""
        given = [
            node for node in walk(self.function.body)
            if node.kind == "declare" and not node.kids[0] and node.kids[1] is not None
            and node.type.name == "int" and not node.type.stars
        ]  # fmt: skip
        yield from self._of_each_two(given, 1.4)

    def _of_each_two(self, given: list[Node], cost: float) -> Iterator[Edit]:
        """Each two of what is given values, with each other's."""
        for one, two in combinations(given, 2):
            changes = tuple(
                (a.id, lambda n, v=b.kids[1]: replace(bare(n), kids=[n.kids[0], v]))
                for a, b in ((one, two), (two, one))
            )
            far = self._as_called(one.kids[1], two.kids[1])
            yield Edit(changes, one.line, cost + far, self.function.name, one)

    def _values_exchanged(self) -> Iterator[Edit]:
        """e.k = l; e.l = k; each with the other's value."""
        for block in walk(self.function.body):
            if block.kind != "block":
                continue
            given = [
                one.kids[0]
                for one in block.kids
                if one is not None and one.kind == "do" and one.kids[0].kind == "assign"
                and one.kids[0].text == "=" and one.kids[0].kids[0].kind in ("name", "member")
            ][:_MOST_GIVEN]  # fmt: skip
            yield from self._of_each_two(given, 1.2)

    def _axes_exchanged(self) -> Iterator[Edit]:
        """blockIdx.x and blockIdx.y for each other, in one expression."""
        for node in walk(self.function.body):
            if node.kind not in ("index", "declare", "assign") or node.kids[1] is None:
                continue
            found: dict[tuple[str, str], list[Node]] = {}
            for one in walk(node.kids[1]):
                if one.kind == "member" and one.text in "xy" and one.kids[0].text in _BUILT_IN:
                    found.setdefault((one.kids[0].text, one.text), []).append(one)
            for owner in _BUILT_IN:
                both = [found.get((owner, axis), []) for axis in "xy"]
                if all(both):
                    changes = tuple(
                        (n.id, lambda n, a=axis: replace(bare(n), text=a))
                        for nodes, axis in zip(both, "yx", strict=True) for n in nodes
                    )  # fmt: skip
                    yield Edit(changes, node.line, 0.9, self.function.name, node.kids[1])

    def _names_exchanged(self) -> Iterator[Edit]:
        """row and col for col and row, in one expression."""
        for node in walk(self.function.body):
            roots = []
            if node.kind in ("index", "declare", "assign"):
                roots = [node.kids[1]]
            elif node.kind == "call":
                roots = node.kids[1:]
            elif node.kind == "if":
                roots = [node.kids[0]]
            elif node.kind == "return":
                roots = [node.kids[0]]
            elif node.kind == "block" and _declares_several(node):
                roots = [node]  # Sheet a{A, rows, columns}, b{B, rows, columns};
            for root in roots:
                if root is None:
                    continue
                names: dict[str, list[Node]] = {}
                for one in walk(root):
                    if one.kind == "name" and one.text in self.scope.integers:
                        names.setdefault(one.text, []).append(one)
                known = list(names)
                for at, one in enumerate(known[:6]):
                    for two in known[at + 1 : 6]:
                        changes = tuple(
                            (n.id, lambda n, o=o: named(o))
                            for name, o in ((one, two), (two, one)) for n in names[name]
                        )  # fmt: skip
                        # In a macro's body the names are where it is used.
                        places = {n.line for name in (one, two) for n in names[name]}
                        line = places.pop() if len(places) == 1 else root.line
                        # On the host it makes of n / 256 blocks 256 / n, which may be enough.
                        cost = 0.9 if self.is_host and root.kind == "block" else 1.1 + self.is_host
                        yield Edit(changes, line, cost, self.function.name, root)

    def _everywhere(self) -> Iterator[Edit]:
        """blockDim.x where a size is meant, wherever it stands."""
        found: dict[str, list[Node]] = {}
        for node in walk(self.function.body):
            if node.kind == "member" and node.kids[0].text in ("blockDim", "gridDim"):
                found.setdefault(node.kids[0].text + node.text, []).append(node)
        for nodes in found.values():
            if len(nodes) < 2:
                continue
            for name in self.scope.integers:
                changes = tuple((n.id, lambda n, o=name: named(o)) for n in nodes)
                yield Edit(changes, nodes[0].line, 1.8, self.function.name, nodes[0])
                rest = tuple(change for change in changes if change[0] != nodes[0].id)
                yield Edit(rest, nodes[1].line, 1.9, self.function.name, nodes[1])

    def _everywhere_in_line(self) -> Iterator[Edit]:
        """Another name for one that stands several times in a line, or that several divide by."""
        found: dict[tuple, list[Node]] = {}
        for node in walk(self.function.body):
            above = self._parent(node)
            name = node.macro if node.kind == "number" else node.text
            if not name or above.kind in ("member", "template", "call") or node.kind == "literal":
                continue
            if node.kind == "name" and name not in self.scope.integers:
                continue
            if node.kind not in ("name", "number"):
                continue
            found.setdefault((name, node.line), []).append(node)
            if above.kind == "binary" and above.text in "/%" and above.kids[1] is node:
                found.setdefault((name, text_of(above.kids[0]), "/%"), []).append(node)
        done = set()
        for (name, *_), nodes in found.items():
            key = frozenset(node.id for node in nodes)
            if len({node.line for node in nodes}) == 1 and len(nodes) == len(key) == 2:
                yield from self._as_divided_elsewhere(name, nodes)
            if len(key) < 2 or len(key) != len(nodes) or key in done:
                continue
            done.add(key)
            others = [named(one) for one in self._near(self.scope.integers, nodes[0])]
            others += [
                replace(number(self.macros.get(one, 1)), macro=one) for one in self.scope.constants
            ]
            for other in others[:_MOST_GIVEN]:
                if (other.macro or other.text) == name:
                    continue
                changes = tuple((n.id, lambda n, o=other: bare(o)) for n in nodes)
                is_size = bool(other.macro) or other.text in self.scope.sizes
                cost = 1.4 + 0.6 * (not is_size) + self.is_host
                yield Edit(changes, nodes[0].line, cost, self.function.name, self._around(nodes))

    def _as_divided_elsewhere(self, name: str, nodes: list[Node]) -> Iterator[Edit]:
        """at / W and at % W for at / H and at % H, where W divides it in other lines."""
        above = [self._parent(node) for node in nodes]
        if {one.text for one in above} != {"/", "%"}:
            return
        divided = {text_of(one.kids[0]) for one in above}
        others = {
            text_of(one.kids[1]): one.kids[1]
            for one in walk(self.function.body)
            if one.kind == "binary" and one.text in ("/", "%") and text_of(one.kids[0]) in divided
        }
        for said, other in others.items():
            if len(divided) == 1 and said != name and other.kind in ("name", "number"):
                changes = tuple((n.id, lambda n, o=other: bare(o)) for n in nodes)
                yield Edit(changes, nodes[0].line, _PAIR, self.function.name, self._around(nodes))

    def _around(self, nodes: list[Node]) -> Node:
        """The least that all of them stand in."""
        around = self._parent(nodes[0])
        while self._parent(around) is not around and any(n.id not in around.ids for n in nodes):
            around = self._parent(around)
        return around

    def _other_axis(self) -> Iterator[Edit]:
        """gridDim.y * blockDim.y for gridDim.x * blockDim.x."""
        for node in walk(self.function.body):
            if node.kind != "binary" or self._parent(node).kind == "binary":
                continue
            axes = [
                one
                for one in walk(node)
                if one.kind == "member" and one.text in "xy" and one.kids[0].text in _BUILT_IN
            ]
            if len(axes) < 2 or len({one.text for one in axes}) != 1:
                continue
            other = "y" if axes[0].text == "x" else "x"
            changes = tuple((one.id, lambda n, a=other: replace(bare(n), text=a)) for one in axes)
            yield Edit(changes, node.line, 0.8, self.function.name, node)

    def _statements(self) -> Iterator[Edit]:
        body = self.function.body
        loops = [node for node in walk(body) if node.kind == "for"]
        for loop in loops:
            inside = {node.text for node in walk(loop.kids[3]) if node.kind == "name"}
            stored = {  # in each turn
                node.kids[1].text
                for node in walk(loop.kids[3])
                if node.kind == "assign" and node.text == "=" and node.kids[0].kind == "index"
            }
            for node in walk(body):
                if node.kind == "declare" and node.kids[1] is not None and not node.kids[0]:
                    if node.text not in inside or node.line >= loop.line or node.type.is_constant:
                        continue
                    if node.type.name != "float" or node.type.stars:
                        continue
                    first = Node(
                        "do", [Node("assign", [named(node.text), node.kids[1]], "=", node.line)]
                    )
                    cost = 0.9 if node.text in stored else 1.6
                    yield Edit(
                        ((loop.id, at_beginning(first)),), node.line, cost, self.function.name, node,
                        f"{text_of(first)} at the beginning of each turn",
                    )  # fmt: skip
            # Who lets no pointer walk lacks a part of an index, not a step.
            steps = {
                node.kids[0].text: node.line
                for node in walk(loop.kids[3])
                if node.kind == "assign"
                and node.text == "+="
                and node.kids[0].text in self.scope.pointers
            }
            for name in self.scope.pointers if steps else ():
                if name not in inside or self.scope.types[name].stars == 0:
                    continue
                last = max(node.line for node in walk(loop.kids[3]))
                cost = _ONE_MORE_STEP
                if name not in steps:  # beside the one that does walk
                    last, cost = max(steps.values()), _NO_STEP
                for by in self._strides(loop):
                    step = Node("do", [Node("assign", [named(name), by], "+=", last)])
                    yield Edit(
                        ((loop.id, at_end(step)),), last, cost, self.function.name, loop,
                        f"{text_of(loop)} {{ ... {text_of(step)}; }}",
                    )  # fmt: skip

    def _strides(self, loop: Node) -> Iterator[Node]:
        names = [named(n) for n in self._near(self.scope.integers, loop)]
        for macro in self.scope.constants:
            names.append(replace(number(self.macros.get(macro, 1)), macro=macro))
        yield from names
        sides = [named(n) for n in self.scope.integers if self.scope.first.get(n, 0) == 0]
        for one in names:
            for two in sides:
                yield binary("*", one, two)


def _declares_several(node: Node) -> bool:
    kids = [kid for kid in node.kids if kid is not None]
    is_list = len(kids) > 1 and all(kid.kind == "declare" for kid in kids)
    return is_list and all(kid.kids[1] is not None and kid.kids[1].kids for kid in kids)


def at_beginning(first: Node) -> Change:
    return lambda n: replace(bare(n), kids=[*n.kids[:3], Node("block", [first, n.kids[3]])])


def at_end(last: Node) -> Change:
    return lambda n: replace(bare(n), kids=[*n.kids[:3], Node("block", [n.kids[3], last])])
