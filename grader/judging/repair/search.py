"""Looks for the one small change that makes a file right.

A change counts only if P is then the product in the case where it was wrong and in others of
different sizes. Nothing is timed: the work is counted in steps, so that a report is the same on
every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.judging.repair.edits import Edit, Editor, leaves
from grader.judging.repair.nodes import File, Node, children, walk
from grader.judging.repair.reading import GivenUp, tokens_of
from grader.judging.repair.shown import text_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import Exhausted, Size, try_out

_STEPS = 40_000  # of all trials; each costs some more, for what it has to build
_PER_TRIAL = 70
_PER_RUN = 12_000
_TOO_LONG = 70

SIGNATURES = ("square-host", "square-device", "rect-device")  # of the labs that it is for

_SQUARE = ((3, 3, 3), (17, 17, 17), (33, 33, 33), (61, 61, 61))
_TILES = ((32, 32, 32), (64, 64, 64))
_RECTANGULAR = (
    (2, 3, 4),
    (17, 18, 20),
    (15, 15, 15),
    (18, 40, 1),
    (1, 20, 33),
    (32, 20, 66),
    (70, 34, 32),
)


@dataclass(frozen=True)
class Repair:
    """What would have to be done where."""

    line: int
    before: str
    after: str
    cost: float


def sizes_of(signature: str, in_tiles: bool) -> list[Size]:
    if signature == "rect-device":
        return [Size(*one) for one in _RECTANGULAR]
    return [Size(*one) for one in (_TILES if in_tiles else _SQUARE)]


class Search:
    """`lines`: those that are suspected, the likeliest first."""

    def __init__(self, text: str, signature: str, in_tiles: bool, lines: Sequence[int]) -> None:
        self.on_host = signature == "square-host"
        self.is_square = signature != "rect-device"
        self.sizes = sizes_of(signature, in_tiles)
        self.lines = list(lines)
        self.tokens = tokens_of(text)
        self.file = parse(self.tokens)
        self.left = _STEPS
        self.limits: dict[Size, int] = {}
        self.trials = 0

    def run(self, edits: dict, size: Size) -> bool:
        numbers = (size.j,) if self.is_square else (size.j, size.k, size.l)
        limit = min(self.left, self.limits.get(size, _PER_RUN))
        try:
            trial = try_out(self.file, edits, size, numbers, self.on_host, limit)
        except Exhausted:
            self.left -= limit + _PER_TRIAL
            if self.left <= 0:
                raise
            return False
        self.trials += 1
        self.left -= trial.steps + _PER_TRIAL
        if not edits:
            self.limits[size] = 3 * trial.steps + 500
        return trial.is_right

    def found(self) -> Repair | None:
        """None where there is no such change, or none was found in time. Raises GivenUp."""
        try:
            wrong = next((size for size in self.sizes if not self.run({}, size)), None)
            if wrong is None:
                return None
            others = [size for size in self.sizes if size != wrong]
            seen = set()
            for edit in self.ordered():
                changes = dict(edit.changes)
                if len(changes) == 1 and edit.where.kind != "for":
                    key = (edit.where.id, text_of(edit.where, changes))
                    if key in seen:
                        continue
                    seen.add(key)
                try:
                    right = self.run(changes, wrong)
                except GivenUp:
                    continue
                if right and all(self.run(changes, size) for size in others):
                    return self.described(edit)
        except Exhausted:
            return None
        return None

    # --- what to try first

    def ordered(self) -> list[Edit]:
        near = self.nearness()
        macros = {
            token.macro: int(token.text)
            for token in self.tokens
            if token.macro and token.text.isdigit()
        }
        edits: list[tuple[float, int, Edit]] = []
        functions = [*self.file.functions.values(), *self.file.methods.values()]
        for function in functions:
            editor = Editor(self.file, function, macros)
            for edit in editor.all():
                cost = edit.cost + near.get(edit.line, 1.5 if editor.is_host else 2.5)
                edits.append((cost, len(edits), edit))
        edits.sort(key=lambda one: one[:2])
        return [edit for _, _, edit in edits]

    def nearness(self) -> dict[int, float]:
        """How far each line is from the suspected ones: along the values that they use."""
        found: dict[int, float] = {}
        for at, line in enumerate(dict.fromkeys(self.lines)):
            found.setdefault(line, 0.3 * min(at, 3))
        defined: dict[str, set[int]] = {}
        used: dict[int, set[str]] = {}
        calls: dict[str, set[int]] = {}
        for function in [*self.file.functions.values(), *self.file.methods.values()]:
            for node in walk(function.body):
                name = ""
                if node.kind == "declare":
                    name = node.text
                elif node.kind in ("assign", "before", "after"):
                    name = _target(node.kids[0])
                if name:
                    defined.setdefault(name, set()).add(node.line)
                    for kid in children(node):
                        used.setdefault(node.line, set()).update(_names(kid))
                if node.kind in ("name", "member"):
                    used.setdefault(node.line, set()).add(node.text)
                if node.kind in ("call", "launch"):
                    target = (
                        node.kids[0].kids[0] if node.kids[0].kind == "template" else node.kids[0]
                    )
                    calls.setdefault(target.text, set()).add(node.line)
            lines = {node.line for node in walk(function.body)}
            for _, parameter in function.parameters:
                defined.setdefault(parameter, set()).update(calls.get(function.name, ()))
            for node in walk(function.body):  # what decides whether and how often
                if node.kind in ("if", "for"):
                    inside = {one.line for one in walk(node)}
                    if node.kind == "if" and leaves(node.kids[1]):
                        inside |= {line for line in lines if line > node.line}
                    for line in inside & lines:
                        used.setdefault(line, set()).add(f"@{node.line}")
                    defined.setdefault(f"@{node.line}", set()).add(node.line)
        for function in [*self.file.functions.values(), *self.file.methods.values()]:
            for _, parameter in function.parameters:
                defined.setdefault(parameter, set()).update(calls.get(function.name, ()))
        front = dict(found)
        for _ in range(4):
            following: dict[int, float] = {}
            for line, distance in front.items():
                for name in used.get(line, ()):
                    for there in defined.get(name, ()):
                        far = distance + (0.5 if not name.startswith("@") else 0.6)
                        if far < found.get(there, 9.0):
                            found[there] = following[there] = far
            front = following
        return found

    # --- what to say

    def described(self, edit: Edit) -> Repair:
        changes = dict(edit.changes)
        node = edit.where
        parents: dict[int, Node] = {}
        for function in [*self.file.functions.values(), *self.file.methods.values()]:
            for one in walk(function.body):
                for kid in children(one):
                    parents[id(kid)] = one
        while node.kind in ("name", "number", "member", "binary", "unary") and id(node) in parents:
            above = parents[id(node)]
            if above.kind in ("block", "for") or len(text_of(above)) > _TOO_LONG:
                break
            node = above
            if node.line != edit.line:
                break
        return Repair(edit.line, text_of(node), text_of(node, changes), edit.cost)


def _target(node: Node) -> str:
    while node.kind in ("index", "deref", "cast"):
        node = node.kids[0]
    return node.text if node.kind in ("name", "member") else ""


def _names(node: Node) -> set[str]:
    return {one.text for one in walk(node) if one.kind in ("name", "member")}


def find(text: str, signature: str, in_tiles: bool, lines: Sequence[int]) -> Repair | None:
    """The change, or None. `in_tiles`: every side is a multiple of 32.

    For a text that nobody has looked at there is child.find_apart.
    """
    if signature not in SIGNATURES:
        return None
    try:
        return Search(text, signature, in_tiles, lines).found()
    except (GivenUp, RecursionError):
        return None


__all__ = ["File", "Repair", "find"]
