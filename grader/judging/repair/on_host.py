"""Changes of the host's calls, and statements that should not be there."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Function, Node, children, replace, walk
from grader.judging.repair.rewritten import rounded_up, swapped
from grader.judging.repair.scope import ALWAYS, Change, Edit, bare, binary, named, number
from grader.judging.repair.shown import text_of

_SIZES = {"cudaMalloc": 2, "cudaMemcpy": 3, "cudaMemcpyAsync": 3, "cudaMemset": 3}  # among the kids
_COPIES = ("cudaMemcpy", "cudaMemcpyAsync")
_TO, _FROM = "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost"
_ROWS_OF_BLOCKS = 0.7  # as many rows of blocks as there are in a row
_OTHER_WAY = {_TO: _FROM, _FROM: _TO}
_VECTORS = ("float2", "float3", "float4", "int2", "int4")
_ALL_ZERO = 0.9
_NOTHING = ("__syncthreads", "__syncwarp", "printf", "cudaFree", "cudaEvent", "cudaGet", "cudaPeek")


def call_of(node: Node) -> str:
    """The function that an expression calls by its name."""
    return node.kids[0].text if node.kind == "call" and node.kids[0].kind == "name" else ""


class OnHost:
    """A part of Editor."""

    def _launches(self, node: Node) -> Iterator[tuple[Change, float]]:
        _, settings, arguments = node.kids
        if len(settings) > 1:
            if settings[0].kind == "number" and settings[1].kind != "make":
                for name in self._near(self.scope.integers, node):
                    blocks = rounded_up(binary("/", named(name), settings[1]))
                    yield (
                        (
                            lambda n, b=blocks: replace(
                                bare(n), kids=[n.kids[0], [b, *n.kids[1][1:]], n.kids[2]]
                            )
                        ),
                        1.1,
                    )
            if settings[0].kind == "name" and self._counts_in_one_row(node):
                whole = binary("*", settings[0], settings[0])
                yield (
                    (
                        lambda n: replace(
                            bare(n), kids=[n.kids[0], [whole, *n.kids[1][1:]], n.kids[2]]
                        )
                    ),
                    _ROWS_OF_BLOCKS,
                )
            yield (
                (lambda n: replace(bare(n), kids=[n.kids[0], swapped(n.kids[1], 0, 1), n.kids[2]])),
                0.8 + 1.2 * _are_named(settings),
            )
        for a in range(len(arguments)):
            for b in range(a + 1, len(arguments)):
                yield (
                    (
                        lambda n, a=a, b=b: replace(
                            bare(n), kids=[n.kids[0], n.kids[1], swapped(n.kids[2], a, b)]
                        )
                    ),
                    0.8 - 0.4 * self._against_order(arguments[a], arguments[b]),
                )

    def _counts_in_one_row(self, launch: Node) -> bool:
        """Whether a kernel takes the number of its block apart into a row and a column."""
        called = launch.kids[0].kids[0] if launch.kids[0].kind == "template" else launch.kids[0]
        kernel = self.file.functions.get(called.text)
        inside = list(walk(kernel.body)) if kernel is not None else []
        axes = {n.text for n in inside if n.kind == "member" and n.kids[0].text == "blockIdx"}
        parts = {
            n.text for n in inside if n.kind == "binary" and text_of(n.kids[0]) == "blockIdx.x"
        }
        return axes == {"x"} and {"/", "%"} <= parts

    def _against_order(self, one: Node, two: Node) -> bool:
        """Two of solve's numbers, the later one first."""
        order = [name for kind, name in self.function.parameters if not kind.stars]
        if one.text not in order or two.text not in order or one.kind != "name":
            return False
        return order.index(one.text) > order.index(two.text)

    def _firsts(self, node: Node) -> Iterator[tuple[Change, float]]:
        """A variable that begins with no value."""
        kind = node.type
        if node.kids[1] is not None or kind.stars or kind.is_shared or kind.is_extern:
            return
        if node.kids[0] or kind.name in _VECTORS:
            if kind.name in ("float", "int", *_VECTORS):
                zeros = Node("braces", [], line=node.line)
                yield (lambda n, z=zeros: replace(bare(n), kids=[n.kids[0], z])), _ALL_ZERO
        elif kind.name in ("float", "int"):
            yield (lambda n: replace(bare(n), kids=[None, number(0)])), 1.1

    def _by_one_thread(self) -> Iterator[Edit]:
        """What every thread adds and one is to add."""
        for node in walk(self.function.body):
            if node.kind != "do" or not any(
                call_of(one).startswith("atomic") for one in walk(node)
            ):
                continue
            names = [named(name) for name in self._near(self.scope.integers, node)]
            for one in (*names, Node("member", [named("threadIdx")], "x")):
                guard = binary("==", one, number(0))
                yield Edit(
                    ((node.id, lambda n, g=guard: Node("if", [g, bare(n), None], line=n.line)),),
                    node.line, 1.5, self.function.name, node,
                    f"if ({text_of(guard)}) {text_of(node)}",
                )  # fmt: skip

    def _directions(self, node: Node) -> Iterator[tuple[Change, float]]:
        if node.text in _OTHER_WAY:
            yield (lambda n: replace(bare(n), text=_OTHER_WAY[n.text])), 0.5

    def _calls(self, node: Node) -> Iterator[tuple[Change, float]]:
        """The size of a call is another one's."""
        at = _SIZES.get(call_of(node), 0)
        if not at or at >= len(node.kids):
            return
        own = text_of(node.kids[at])
        pointers = {_pointer(kid) for kid in node.kids[1:3]} - {""}
        others: dict[str, tuple[Node, bool]] = {}
        for one in walk(self.function.body):
            place = _SIZES.get(call_of(one), 0)
            if place and place < len(one.kids):
                is_same = bool(pointers & {_pointer(kid) for kid in one.kids[1:3]})
                text = text_of(one.kids[place])
                if is_same or text not in others:
                    others[text] = (one.kids[place], is_same)
        for text, (size, is_same) in others.items():
            used = {one.text for one in walk(size) if one.kind == "name"} & self.declared
            if text != own and used <= self.visible.get(id(node), frozenset()):
                yield (lambda n, a=at, s=size: _with(n, a, s)), 0.5 if is_same else 1.3

    def _places(self, node: Node) -> Iterator[tuple[Change, float]]:
        """threadIdx.x, where the place among all threads is meant."""
        axis = node.text
        above = node
        while self._parent(above) is not above and above.kind not in ("declare", "do", "index"):
            above = self._parent(above)
        inside = {
            (one.kids[0].text, one.text)
            for one in walk(above)
            if one.kind == "member" and one.kids[0].kind == "name"
        }
        if node.kids[0].text != "threadIdx" or ("blockIdx", axis) in inside:
            return
        block, side = (Node("member", [named(one)], axis) for one in ("blockIdx", "blockDim"))
        yield (lambda n: binary("+", binary("*", block, side), bare(n))), 0.9

    def _unguarded(self) -> Iterator[Edit]:
        """A store that lacks a guard altogether."""
        if not self.function.is_kernel:
            return
        sides = [name for name in self.scope.integers if self.scope.first.get(name, 0) == 0]
        pointers = {name for kind, name in self.function.parameters if kind.stars}
        for node in walk(self.function.body):
            if node.kind != "do" or node.kids[0].kind != "assign" or self._is_guarded(node):
                continue
            target = node.kids[0].kids[0]
            if target.kind != "index" or target.kids[0].text not in pointers:
                continue
            used = self._names_behind(target.kids[1], sides)
            guards = [
                [binary("<", named(name), named(side)) for side in sides] for name in used[:2]
            ]
            if len(guards) == 2:
                guards.append([binary("&&", a, b) for a in guards[0] for b in guards[1]])
            for guard in (one for group in guards for one in group):
                yield Edit(
                    ((node.id, lambda n, g=guard: Node("if", [g, bare(n), None], line=n.line)),),
                    node.line, 1.2, self.function.name, node,
                    f"if ({text_of(guard)}) {text_of(node)}",
                )  # fmt: skip

    def _is_guarded(self, node: Node) -> bool:
        for one in walk(self.function.body):
            if one.kind == "if" and one.line < node.line and _ends(one.kids[1]):
                return True
        while self._parent(node) is not node:
            node = self._parent(node)
            if node.kind == "if":
                return True
        return False

    def _names_behind(self, node: Node, sides: list[str]) -> list[str]:
        """Variables in an index, and those that they are computed from."""
        given = {
            one.text: one.kids[1]
            for one in walk(self.function.body)
            if one.kind == "declare" and one.kids[1] is not None
        }
        found: list[str] = []
        waiting = [node]
        while waiting:
            for one in walk(waiting.pop()):
                name = one.text if one.kind == "name" else ""
                if name in self.scope.integers and name not in sides and name not in found:
                    found.append(name)
                    waiting += [given[name]] if name in given else []
        # i = row * columns + col is held against nothing where row and col are.
        deepest = [n for n in found if not any(o in found for o in _names_of(given.get(n)))]
        return deepest if len(deepest) > 1 else found

    def _left_out(self) -> Iterator[Edit]:
        """A statement too many."""
        for node in walk(self.function.body):
            if node.kind != "do":
                continue
            called = next((call_of(one) for one in walk(node) if call_of(one)), "")
            if called.startswith(_NOTHING) and not called.startswith("cudaFree"):
                continue
            if any(one.kind == "launch" for one in walk(node)):
                continue
            # Wherever it stands: there are few of these.
            cost = -0.6 if self._begins_anew(node) else 1.8
            yield Edit(
                ((node.id, lambda n: Node("block", [], line=n.line)),), node.line, cost,
                self.function.name, node, ALWAYS,
            )  # fmt: skip

    def _begins_anew(self, node: Node) -> bool:
        """x = 0 in a loop."""
        given = node.kids[0]
        if given.kind != "assign" or given.text != "=" or given.kids[1].kind != "number":
            return False
        while self._parent(node) is not node:
            node = self._parent(node)
            if node.kind in ("for", "dowhile"):
                return True
        return False

    def _missing_copies(self) -> Iterator[Edit]:
        """An input that is not copied to the device, a result that is not copied back."""
        if not self.is_host:
            return
        body = self.function.body
        launches = [
            node
            for node in walk(body)
            if node.kind == "do" and any(one.kind == "launch" for one in walk(node))
        ]
        made = {
            _pointer(one.kids[1]): one
            for one in walk(body)
            if call_of(one) == "cudaMalloc" and len(one.kids) == 3
        }
        copies = [one for one in walk(body) if call_of(one) in _COPIES and len(one.kids) > 4]
        targets = {_pointer(one.kids[1]) for one in copies}
        sources = {_pointer(one.kids[2]) for one in copies}
        if not launches:
            return
        hosts = [(name, kind) for kind, name in self.function.parameters if kind.stars]
        for device, call in made.items():
            kind = self.scope.types.get(device)
            for host, other in hosts:
                if kind is None or kind.name != other.name or not device:
                    continue
                if device not in targets and host not in sources:
                    yield self._copy(launches[0], device, host, call, _TO, call.line)
                if device not in sources and host not in targets and not other.is_constant:
                    yield self._copy(launches[-1], host, device, call, _FROM, launches[-1].line)

    def _copy(self, at: Node, to: str, source: str, call: Node, way: str, line: int) -> Edit:
        given = [named(to), named(source), call.kids[2], named(way)]
        copy = Node("do", [Node("call", [named("cudaMemcpy"), *given], line=line)], line=line)
        said = f"cudaMemcpy({to}, {source}, {text_of(call.kids[2])}, {way})"

        def added(node: Node) -> Node:
            parts = [copy, bare(node)] if way == _TO else [bare(node), copy]
            return Node("block", parts, line=node.line)

        return Edit(((at.id, added),), line, 1.0, self.function.name, at, said, is_added=True)


def _are_named(settings: list[Node]) -> bool:
    """A grid and a block that say so themselves stand in the right order."""
    first, second = (one.text.lower() if one.kind == "name" else "" for one in settings[:2])
    return "grid" in first and ("block" in second or "thread" in second)


def _ends(node: Node) -> bool:
    inside = [one for one in walk(node) if one.kind != "block"]
    return bool(inside) and inside[0].kind == "return"


def _names_of(node: Node | None) -> set[str]:
    return {one.text for one in walk(node) if one.kind == "name"} if node is not None else set()


def _pointer(node: Node) -> str:
    """The variable that an argument is, without & and casts."""
    while node.kind in ("address", "cast") and children(node):
        node = children(node)[0]
    return node.text if node.kind == "name" else ""


def _with(node: Node, at: int, kid: Node) -> Node:
    return replace(bare(node), kids=[*node.kids[:at], kid, *node.kids[at + 1 :]])


def is_of_host(function: Function) -> bool:
    """solve, and helpers that launch or call CUDA."""
    return function.name == "solve" or (
        not function.is_kernel
        and any(
            one.kind == "launch" or (one.kind == "name" and one.text.startswith("cuda"))
            for one in walk(function.body)
        )
    )
