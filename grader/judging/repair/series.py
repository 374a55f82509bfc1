"""A statement that breaks a series: o[0] = v.x, o[1] = v.y, o[2] = v.x, o[3] = v.y; put(16, s16), put(32, s16).

What two of several statements have determines the others: a number or a field goes on by the same
step. Whatever is at odds with it is written anew, with all that it lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from grader.judging.repair.nodes import Node, children, replace, walk
from grader.judging.repair.scope import Edit, bare
from grader.judging.repair.shown import text_of

_FIELDS = "xyzw"
_COST, _OF_TWO = 0.5, 0.4  # and how much farther a series is that only two make
_ALL = 0.7  # how much farther it is to write several anew: one of them may be enough
_FEWEST, _MOST = 3, 8
_NUMBERED = re.compile(r"(.*?[A-Za-z_])(\d+)$")


class Series:
    """A part of Editor."""

    def _in_series(self) -> Iterator[Edit]:
        for block in walk(self.function.body):
            if block.kind != "block":
                continue
            groups: dict[tuple, dict[int, Node]] = {}
            for one in (kid for kid in block.kids if kid is not None):
                placed = _placed(one)
                if placed is not None:
                    key, at, whole = placed
                    groups.setdefault(key, {}).setdefault(at, whole)
            for group in groups.values():
                yield from self._again(group)
                if _FEWEST <= len(group) <= _MOST:
                    yield from self._at_odds(group)

    def _at_odds(self, group: dict[int, Node]) -> Iterator[Edit]:
        known = set()
        values = {at: _value(whole) for at, whole in group.items()}
        for a, b in combinations(sorted(group), 2):
            wanted = {at: _going_on(values[a], values[b], a, b, at) for at in group}
            if not all(one is not None and self._is_known(one) for one in wanted.values()):
                continue
            odd = [at for at in group if text_of(wanted[at]) != text_of(values[at])]
            made = tuple(text_of(wanted[at]) for at in group)
            if not odd or 2 * len(odd) > len(group) or made in known:
                continue
            known.add(made)
            far = _COST + _OF_TWO * (len(group) - len(odd) < _FEWEST)
            edits = [(group[at], wanted[at]) for at in odd]
            for one in edits:
                yield self._written_anew([one], far)
            if len(edits) > 1:
                yield self._written_anew(edits, far + _ALL)

    def _is_known(self, value: Node) -> bool:
        """Whether all numbered names in it are declared: n3 may not be."""
        names = {one.text for one in walk(value) if one.kind == "name"}
        return all(name in self.scope.types for name in names if _NUMBERED.match(name))

    def _again(self, group: dict[int, Node]) -> Iterator[Edit]:
        """f(v.z, v.w), where f(v.x, v.y) stands twice: the second takes what comes next."""
        for a, b in combinations(sorted(group), 2):
            value = _value(group[b])
            if b != a + 1 or text_of(_value(group[a])) != text_of(value):
                continue
            fields = {one.text for one in walk(value) if one.kind == "member"} & set(_FIELDS)
            count = len(fields)
            if fields == set(_FIELDS[:count]) and 1 < count <= len(_FIELDS) // 2:
                yield self._written_anew([(group[b], _later(value, count))], _COST)

    def _written_anew(self, edits: list[tuple[Node, Node]], cost: float) -> Edit:
        changes = tuple(
            (
                whole.id,
                lambda n, v=value: replace(bare(n), kids=[*n.kids[:-1], _fresh(v, n.line)]),
            )
            for whole, value in edits
        )
        first = edits[0][0]
        after = "; ".join(text_of(whole, dict(changes)) for whole, _ in edits)
        return Edit(changes, first.line, cost, self.function.name, first, after)


def _placed(statement: Node) -> tuple[tuple, int, Node] | None:
    """What is given a value there but for its number, the number, and the assignment."""
    if statement.kind == "block" and len(statement.kids) == 1:
        statement = statement.kids[0]
    if statement is None:
        return None
    if statement.kind == "declare" and statement.kids[1] is not None and not statement.kids[0]:
        found = _NUMBERED.match(statement.text)
        kind = statement.type
        return (
            (("declare", kind.name, kind.stars, found[1]), int(found[2]), statement)
            if found
            else None
        )
    if statement.kind != "do" or statement.kids[0].kind not in ("assign", "call"):
        return None
    whole = statement.kids[0]
    if whole.kind == "call":
        at = whole.kids[1] if len(whole.kids) == 3 else None
        is_numbered = at is not None and at.kind == "number" and at.text.isdigit()
        return (("call", text_of(whole.kids[0])), int(at.text), whole) if is_numbered else None
    target, sign = whole.kids[0], whole.text
    if target.kind == "member" and target.text in _FIELDS:
        return (sign, text_of(target.kids[0])), _FIELDS.index(target.text), whole
    if target.kind == "index" and target.kids[1].kind == "number" and not target.kids[1].macro:
        if target.kids[1].text.isdigit():
            return (sign, text_of(target.kids[0])), int(target.kids[1].text), whole
    found = _NUMBERED.match(target.text) if target.kind == "name" else None
    return ((sign, found[1]), int(found[2]), whole) if found else None


def _value(whole: Node) -> Node:
    return whole.kids[-1]


def _going_on(one: Node, two: Node, a: int, b: int, at: int) -> Node | None:
    """The expression that comes at `at`, if those at `a` and `b` are of one series."""
    if at in (a, b):
        return one if at == a else two
    if one.kind != two.kind or len(children(one)) != len(children(two)):
        return None
    if one.kind == "number":
        if one.text == two.text and one.macro == two.macro:
            return one
        if one.macro or two.macro or not (one.text.isdigit() and two.text.isdigit()):
            return None
        found = _step(int(one.text), int(two.text), a, b, at)
        return None if found is None or found < 0 else replace(one, text=str(found))
    text = one.text
    if text != two.text:
        text = _named(one, two, a, b, at)
        if text is None:
            return None
    kids = []
    for left, right in zip(one.kids, two.kids, strict=True):
        if left is None and right is None:
            kids.append(None)
        elif left.__class__ is not Node or right.__class__ is not Node:
            return None  # of a list: nothing that is assigned
        else:
            kid = _going_on(left, right, a, b, at)
            if kid is None:
                return None
            kids.append(kid)
    return replace(one, text=text, kids=kids)


def _later(node: Node, by: int) -> Node:
    """With fields that come later by so many."""
    if node.kind == "member" and node.text in _FIELDS:
        return replace(node, text=_FIELDS[_FIELDS.index(node.text) + by])
    return replace(node, kids=[kid if kid is None else _later(kid, by) for kid in node.kids])


def _named(one: Node, two: Node, a: int, b: int, at: int) -> str | None:
    """v.z after v.x and v.y, n2 after n0 and n1."""
    if one.kind == "member" and one.text in _FIELDS and two.text in _FIELDS:
        found = _step(_FIELDS.index(one.text), _FIELDS.index(two.text), a, b, at)
        return _FIELDS[found] if found is not None and 0 <= found < len(_FIELDS) else None
    if one.kind != "name":
        return None
    left, right = _NUMBERED.match(one.text), _NUMBERED.match(two.text)
    if not left or not right or left[1] != right[1]:
        return None
    found = _step(int(left[2]), int(right[2]), a, b, at)
    return f"{left[1]}{found}" if found is not None and found >= 0 else None


def _step(one: int, two: int, a: int, b: int, at: int) -> int | None:
    step, rest = divmod(two - one, b - a)
    return None if rest else one + step * (at - a)


def _fresh(node: Node, line: int) -> Node:
    """A copy that no edit finds, on the line that it is written in."""
    kids = [kid if kid is None else _fresh(kid, line) for kid in node.kids]
    return replace(bare(node), kids=kids, ids=frozenset(), line=line)
