"""Where the threads of a block meet, and wait for copies: what is missing, too early or too late.

Offered only where nothing but a race is wrong (races.py): to the values of a run it makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import MADE, File, Function, Node, replace, walk
from grader.judging.repair.scope import Change, Edit, bare, binary, named, number
from grader.judging.repair.shown import text_of

_MEET, _COMMIT, _WAIT = "meet", "commit", "wait"
_NAMES = {
    "__syncthreads": _MEET, "sync": _MEET, "__pipeline_commit": _COMMIT,
    "__pipeline_wait_prior": _WAIT,
}  # fmt: skip
_IN_PTX = {
    "cp.async.commit": _COMMIT, "cp.async.wait": _WAIT, "bar.sync": _MEET, "barrier.sync": _MEET
}  # fmt: skip
_COPYING = frozenset(("copy_async", "__pipeline_memcpy_async"))
_TOUCHING = frozenset(("index", "deref", "call", "for", "dowhile", "asm"))
_MISSING = {
    _MEET: "without it a thread may go on before others are done",
    _COMMIT: "without it no wait waits for these copies",
    _WAIT: "without it the copies may still be on their way",
}
_MISPLACED = {
    _MEET: "as it is, a thread may go on before others are done",
    _COMMIT: "as it is, a wait may count on copies that are in another group",
    _WAIT: "as it is, copies may still be on their way when they are needed",
}
_MEETS_FIRST = "as it is, the block meets before each thread has waited for its own copies"
# Of too few threads; out of an if; by one statement, into a loop, by several statements; another number.
_OF_A_WARP, _OUT, _SWAPPED, _INTO, _MOVED, _COUNTED = 0.1, 0.2, 0.25, 0.3, 0.5, 0.3
_ADDED = {_MEET: 0.35, _COMMIT: 0.4, _WAIT: 0.4}
_BEGINNING, _BETWEEN, _INSIDE, _IN_HELPER = 0.1, 0.2, 0.05, 0.3
_MOST_MOVED = 12  # statements of a block
_OF_LAMBDA = 3  # loops, as which it is counted: a barrier belongs where it is called
_IN_TURN = 0.02  # before a loop in each turn of another: at the end of the turn it is plainer


def waits_in(file: File) -> dict[str, str]:
    """What statements of one call do, by what is called: also helpers that do nothing else."""
    found = dict(_NAMES)
    for name, functions in file.named.items():
        kinds = {_only(function.body, found) for function in functions}
        if len(kinds) == 1 and "" not in kinds:
            found[name] = kinds.pop()
    return found


def _only(body: Node, names: dict[str, str]) -> str:
    kids = [kid for kid in body.kids if kid is not None] if body.kind == "block" else [body]
    return kind_of(kids[0], names) if len(kids) == 1 else ""


def kind_of(statement: Node, names: dict[str, str]) -> str:
    """What a statement waits for; nothing, mostly."""
    if statement.kind == "asm":
        return next((kind for text, kind in _IN_PTX.items() if text in statement.text), "")
    if statement.kind != "do" or statement.kids[0].kind != "call":
        return ""
    return names.get(statement.kids[0].kids[0].text, "")


def copying_in(file: File, functions: list[Function]) -> set[str]:
    """What starts copies: calls, helpers, lambdas."""
    found = set(_COPYING)
    for _ in range(3):  # helpers of helpers
        for function in functions:
            if _copies(function.body, found):
                found.add(function.called)
            for node in walk(function.body):
                if node.kind == "declare" and node.kids[1] is not None:
                    if node.kids[1].kind == "lambda" and _copies(node.kids[1], found):
                        found.add(node.text)
    return found


def _copies(node: Node, names: set[str]) -> bool:
    return any(_copies_itself(one, names) for one in walk(node))


def _copies_itself(node: Node, names: set[str]) -> bool:
    if node.kind == "asm":
        return "cp.async.c" in node.text and ".shared" in node.text
    if node.kind != "call":
        return False
    target = node.kids[0].kids[0] if node.kids[0].kind == "template" else node.kids[0]
    return target.text in names


def _calls(statement: Node, name: str) -> bool:
    call = statement.kids[0]
    return call.kind == "call" and call.kids[0].text == name


class Meetings:
    """A part of Editor."""

    def meetings(self) -> Iterator[Edit]:
        if self.is_host:
            return
        self.waits = waits_in(self.file)
        functions = [*self.file.functions.values(), *self.file.methods.values()]
        self.copying = copying_in(self.file, functions)
        self.has_copies = any(_copies(one.body, set(_COPYING)) for one in functions)
        for block, loop, depth in self._bodies():
            yield from self._moved_in(block)
            yield from self._into_loops(block)
            yield from self._added_in(block, loop, _INSIDE * depth)
        for node in walk(self.function.body):
            if node.kind == "if" and node.kids[2] is None:
                yield from self._out_of(node)
            elif node.kind == "call" and self.waits.get(node.kids[0].text) == _WAIT:
                yield from self._fewer_on_their_way(node)
            elif node.kind == "do" and _calls(node, "__syncwarp"):
                said = (
                    f"{text_of(node)} in line {node.line} waits for the threads of one warp alone: it "
                    "has to be __syncthreads()."
                )
                one = _call(_MEET, node.line)
                yield self._edit(node, lambda n, o=one: o, node.line, _OF_A_WARP, said)

    def _bodies(self) -> Iterator[tuple[Node, Node | None, int]]:
        """Blocks that all threads may come to, the loops whose turns they are, and in how many they lie."""
        inside_if: set[int] = set()
        loops: dict[int, Node] = {}
        depths: dict[int, int] = {}
        for node in walk(self.function.body):
            if node.kind == "if":
                inside_if |= {id(one) for kid in node.kids[1:] if kid for one in walk(kid)}
            elif node.kind == "lambda":
                for one in walk(node.kids[0]):
                    depths[id(one)] = depths.get(id(one), 0) + _OF_LAMBDA
            elif node.kind == "for":
                loops[id(node.kids[3])] = node
                for one in walk(node.kids[3]):
                    depths[id(one)] = depths.get(id(one), 0) + 1
            if node.kind != "block" or id(node) in inside_if or node.key > MADE:
                continue
            kids = [kid for kid in node.kids if kid is not None]
            is_list = len(kids) > 1 and all(kid.kind == "declare" for kid in kids)
            if kids and len(kids) == len(node.kids) and not is_list:
                yield node, loops.get(id(node)), depths.get(id(node), 0)

    def _edit(
        self, at: Node, change: Change, line: int, cost: float, said: str, where: Node | None = None
    ) -> Edit:  # fmt: skip
        far = 0.0 if self.function.is_kernel else _IN_HELPER
        where = where if where is not None else at
        return Edit(
            ((at.id, change),), line, cost + far, self.function.name, where, said, says=said
        )

    # --- moved

    def _moved_in(self, block: Node) -> Iterator[Edit]:
        kids = block.kids
        for at, one in enumerate(kids):
            kind = kind_of(one, self.waits)
            if not kind:
                continue
            for to in range(max(0, at - _MOST_MOVED), min(len(kids), at + _MOST_MOVED + 1)):
                passed = kids[at + 1 : to + 1] if to > at else kids[to:at]
                if not any(self._touches(kid) for kid in passed):
                    continue
                yield self._moved_to(block, at, to, kind)

    def _moved_to(self, block: Node, at: int, to: int, kind: str) -> Edit:
        one, other = block.kids[at], block.kids[to]
        kids = [*block.kids[:at], *block.kids[at + 1 :]]
        kids.insert(to, one)
        others = kind_of(other, self.waits)
        is_next = abs(at - to) == 1
        why = _MISPLACED[kind]
        if is_next and {kind, others} == {_MEET, _WAIT}:
            why = _MEETS_FIRST
            if kind == _MEET:  # it is the same as the wait in front of it
                one, other, at, to = other, one, to, at
        where = "behind" if to > at else "before"
        said = f"{text_of(one)} in line {one.line} has to stand {where} {_shown(other)}: {why}."
        cost = _SWAPPED if is_next else _MOVED
        return self._edit(block, _with(kids), one.line, cost, said, one)

    def _into_loops(self, block: Node) -> Iterator[Edit]:
        """What stands behind a loop, or before it, in each turn of the loop."""
        for loop, one, is_behind in [
            *((a, b, True) for a, b in zip(block.kids, block.kids[1:], strict=False)),
            *((b, a, False) for a, b in zip(block.kids, block.kids[1:], strict=False)),
        ]:
            kind = kind_of(one, self.waits)
            if not kind or loop.kind != "for":
                continue
            part = [loop.kids[3], one] if is_behind else [one, loop.kids[3]]
            changed = replace(bare(loop), kids=[*loop.kids[:3], Node("block", part)])
            kids = [changed if kid is loop else kid for kid in block.kids if kid is not one]
            place = "end" if is_behind else "beginning"
            said = (
                f"{text_of(one)} in line {one.line} has to stand at the {place} of each turn of the "
                f"loop of line {loop.line}: {_MISPLACED[kind]}."
            )
            yield self._edit(block, _with(kids), one.line, _INTO, said, one)

    def _out_of(self, branch: Node) -> Iterator[Edit]:
        """if (...) { ...; __pipeline_commit(); }: what all have to do, whatever the condition is."""
        body = branch.kids[1]
        kids = body.kids if body.kind == "block" else [body]
        for at, one in enumerate(kids):
            kind = kind_of(one, self.waits) if one is not None else ""
            if not kind:
                continue
            rest = [*kids[:at], *kids[at + 1 :]]
            inner = replace(bare(branch), kids=[branch.kids[0], Node("block", rest), None])
            ways = [[one, inner], [inner, one]] if rest else [[one]]
            if at or kind == _COMMIT:
                ways.reverse()
            said = (
                f"{text_of(one)} in line {one.line} must not depend on {text_of(branch)}: "
                f"{_MISPLACED[kind]}."
            )
            for parts in ways:
                change = lambda n, p=tuple(parts): Node("block", [*p], line=n.line, key=-1)  # noqa: E731
                yield self._edit(branch, change, one.line, _OUT, said, one)

    # --- added

    def _added_in(self, block: Node, loop: Node | None, far: float) -> Iterator[Edit]:
        kids, is_whole = block.kids, block is self.function.body
        for at in range(len(kids) + 1):
            before = kids[at - 1] if at else None
            after = kids[at] if at < len(kids) else None
            beside = [kid for kid in (before, after) if kid is not None]
            if any(kind_of(kid, self.waits) == _MEET for kid in beside):
                kinds = []
            elif is_whole and self.function.is_kernel and (before is None or after is None):
                kinds = []
            else:
                kinds = [_MEET] if any(self._touches(kid) for kid in beside) else []
            if self.has_copies:
                if before is not None and _copies(before, self.copying):
                    kinds.append(_COMMIT)
                if after is not None and kind_of(after, self.waits) == _MEET:
                    kinds.append(_WAIT)
            for kind in kinds:
                yield self._added_at(block, at, kind, loop, far)

    def _added_at(self, block: Node, at: int, kind: str, loop: Node | None, far: float) -> Edit:
        before = block.kids[at - 1] if at else None
        after = block.kids[at] if at < len(block.kids) else None
        cost = _ADDED[kind] + far
        if after is None and loop is not None:
            line, where = _last_line(before), f"at the end of the loop of line {loop.line}"
        elif before is None and loop is not None and kind != _WAIT:
            line, where = loop.line, f"at the beginning of the loop of line {loop.line}"
            cost += _BEGINNING
        elif after is not None and (after.kind == "for" or before is None or kind == _WAIT):
            line, where = after.line, f"before {_shown(after)}"
            cost += _IN_TURN * (loop is not None)
        else:
            line, where = before.line, f"behind {_shown(before)}"
            cost += _BETWEEN if kind == _MEET else 0.0
        if kind == _COMMIT:
            line = max(n.line for n in walk(before) if _copies_itself(n, self.copying))
        one = _call(kind, line)
        kids = [*block.kids[:at], one, *block.kids[at:]]
        said = f"{text_of(one)} is missing {where}: {_MISSING[kind]}."
        return self._edit(block, _with(kids), line, cost, said, before or after)

    def _touches(self, statement: Node) -> bool:
        """Whether it may fill or read what others see."""
        return any(one.kind in _TOUCHING for one in walk(statement))

    # --- another number

    def _fewer_on_their_way(self, call: Node) -> Iterator[Edit]:
        if len(call.kids) != 2:
            return
        most = call.kids[1]
        others = [number(0)]
        if most.kind == "number" and most.text.isdigit() and not most.macro:
            others = [number(n) for n in (int(most.text) - 1, 0, int(most.text) + 1) if n >= 0]
        elif most.kind == "binary" and most.text == "-" and most.kids[1].text.isdigit():
            less = int(most.kids[1].text)
            others = [binary("-", most.kids[0], number(less + by)) for by in (1, -1)] + others
        else:
            others = [binary("-", most, number(by)) for by in (1, 2)] + others
        for other in others:
            said = (
                f"{text_of(call)}: with {text_of(other)} in place of {text_of(most)} no copy would "
                "be on its way any more when it is needed."
            )
            change = lambda n, o=other: replace(bare(n), kids=[n.kids[0], o])  # noqa: E731
            yield self._edit(call, change, call.line, _COUNTED, said)


def _last_line(statement: Node) -> int:
    return max(one.line for one in walk(statement) if one.key < MADE)


def _with(kids: list[Node]) -> Change:
    return lambda n: replace(bare(n), kids=list(kids))


def _call(kind: str, line: int) -> Node:
    name = next(name for name, own in _NAMES.items() if own == kind)
    given = [number(0)] if kind == _WAIT else []
    call = Node("call", [named(name), *given], line=line, key=-1)
    return Node("do", [call], line=line, key=-1)


def _shown(statement: Node) -> str:
    return (
        f"the loop of line {statement.line}"
        if statement.kind == "for"
        else f"line {statement.line}"
    )
