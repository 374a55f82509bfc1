"""Another number where a constant stands: the one that a product or a quotient of constants has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

from grader.judging.repair.nodes import File, Node, replace, walk
from grader.judging.repair.scope import Change, binary, named, number

_PLACES = ("*", "/", "%", "+", "&", "<<", ">>")
_VALUES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_WRITTEN, _OF_CONSTANTS, _BARE = 1.3, 1.7, 2.2  # as the file has it elsewhere, or not; a number
_MOST_CONSTANTS = 12
_STEP = 0.4  # how much nearer the step of a loop is


@dataclass(frozen=True)
class Told:
    """How a number is written: with two constants of the file, or as it is."""

    value: int
    cost: float
    sign: str = ""
    names: tuple[str, ...] = ()
    macros: Mapping[str, int] = ()

    def node(self) -> Node:
        if not self.names:
            return number(self.value)
        parts = [self._leaf(name) for name in self.names]
        return parts[0] if len(parts) == 1 else binary(self.sign, *parts)

    def _leaf(self, name: str) -> Node:
        if name in self.macros:
            return replace(number(self.macros[name]), macro=name)
        return named(name)


class Valued:
    """A part of Editor."""

    def _other_values(self, node: Node) -> Iterator[tuple[Change, float]]:
        """TX / DEPTH for DEPTH: how many rows all threads of a row fill."""
        name = node.macro or node.text
        value = self.values.get(name)
        above = self._parent(node)
        is_step = above.kind == "assign" and above.text == "+=" and above.kids[1] is node
        is_part = above.kind == "binary" and above.text in _PLACES
        if value is None or self.is_host or not (is_step or is_part):
            return
        for told in self.told:
            if told.value != value and name not in told.names[:1]:
                yield (lambda n, t=told: t.node()), told.cost - _STEP * is_step


def values_of(file: File, macros: Mapping[str, int]) -> dict[str, int]:
    """Numbers that names stand for in all of the file."""
    known = dict(macros)
    for block in file.globals:
        for node in walk(block):
            if node.kind == "declare" and node.type.name == "int" and node.kids[1] is not None:
                value = _value(node.kids[1], known)
                if value is not None and not node.kids[0]:
                    known[node.text] = value
    return known


def constants_told(values: Mapping[str, int], macros: Mapping[str, int]) -> tuple[Told, ...]:
    """The constants themselves."""
    return tuple(
        Told(value, _WRITTEN, "", (name,), macros)
        for name, value in list(values.items())[:_MOST_CONSTANTS]
    )


def told_of(file: File, values: Mapping[str, int], macros: Mapping[str, int]) -> tuple[Told, ...]:
    """How numbers are written that a constant may have been meant to be."""
    written = {
        (node.text, *(kid.macro or kid.text for kid in node.kids))
        for body in (*(f.body for f in (*file.functions.values(), *file.methods.values())), *file.globals)
        for node in walk(body)
        if node.kind == "binary" and node.text in "*/"
    }  # fmt: skip
    found: dict[int, Told] = {}
    known = set(values.values())
    for sign in "/*":
        for one, two in permutations(list(values)[:_MOST_CONSTANTS], 2):
            a, b = values[one], values[two]
            if b < 2 or a < 2 or (sign == "/" and a % b):
                continue
            value = a // b if sign == "/" else a * b
            is_written = (sign, one, two) in written
            if value in known or not (is_written or value in _VALUES):
                continue  # another constant is tried anyway
            told = Told(value, _WRITTEN if is_written else _OF_CONSTANTS, sign, (one, two), macros)
            if value not in found or told.cost < found[value].cost:
                found[value] = told
    for value in _VALUES:
        if value not in known:
            found.setdefault(value, Told(value, _BARE))
    return tuple(found.values())


def _value(node: Node, known: Mapping[str, int]) -> int | None:
    if node.kind == "number":
        return int(node.text) if node.text.isdigit() else None
    if node.kind in ("name", "scoped"):
        return known.get(node.macro or node.text)
    if node.kind == "binary":
        left, right = (_value(kid, known) for kid in node.kids)
        if left is None or right is None:
            return None
        match node.text:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/" if right:
                return left // right
            case "<<" if 0 <= right < 31:
                return left << right
    return None
