"""Bits of a number: those that are left once others are shifted away, a mask too many, and fourths."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Function, Node, walk
from grader.judging.repair.scope import Change, bare, binary, number
from grader.judging.repair.shown import text_of

_LIMITS = (2, 4, 8, 16, 32)
_LIKE_OTHERS, _OF_ANY = 0.9, 2.0
_FOURTH = 1.3
_MOVED, _UPWARDS = 1.1, (1, 2, 3)
_ONE_SIDE, _NOT_TURNED = 1.3, 2.2  # what is permuted with ^ is so on purpose


class Masked:
    """A part of Editor."""

    def _masks(self, node: Node) -> Iterator[tuple[Change, float]]:
        """lane / 4 % 2 for lane / 4, lane >> 2 & 1 for lane >> 2; (lane & 4) >> 1 for lane & 4; a for a & b."""
        above = self._parent(node)
        if node.text in ("/", ">>") and above.text not in ("%", "&") and not self.is_host:
            sign = "%" if node.text == "/" else "&"
            # Who takes a few bits of it elsewhere takes them here, too.
            is_usual = text_of(node.kids[0]) in self.taken_apart
            for limit in _LIMITS:
                most = limit - (sign == "&")
                cost = _LIKE_OTHERS if is_usual and limit < 8 else _OF_ANY
                yield (lambda n, s=sign, v=most: binary(s, bare(n), number(v))), cost
        if node.text == "&" and above.text not in (">>", "<<", "/", "*") and not self.is_host:
            for sign, by in _moves(node.kids[1]):
                yield (lambda n, s=sign, b=by: binary(s, bare(n), number(b))), _MOVED
        if node.text in ("&", "^", "|"):
            cost = _NOT_TURNED if node.text == "^" else _ONE_SIDE
            yield (lambda n: bare(n).kids[0]), cost
            yield (lambda n: n.kids[1]), cost

    def _fourth(self, node: Node) -> Iterator[tuple[Change, float]]:
        """x / 4 in a sum, where other terms are counted in fours."""
        if self.counts_fours and self._parent(node).text == "+" and not self.is_host:
            yield (lambda n: binary("/", bare(n), number(4))), _FOURTH

    def _in_fours(self, node: Node) -> Iterator[tuple[Change, float]]:
        """R * C / 4, where a loop goes over as many and each turn moves four."""
        above = self._parent(node)
        if node.text != "*" or above.text not in ("<", "<=") or above.kids[1] is not node:
            return
        if self._parent(above).kind == "for" and self.counts_fours:
            yield (lambda n: binary("/", bare(n), number(4))), _FOURTH


def _moves(mask: Node) -> list[tuple[str, int]]:
    """To where bits that a mask leaves are moved: (lane & 4) >> 1."""
    if mask.macro or not mask.text.isdigit():
        return []
    lowest = (int(mask.text) & -int(mask.text)).bit_length() - 1
    return [(">>", by) for by in range(1, lowest + 1)] + [("<<", by) for by in _UPWARDS]


def counts_fours(function: Function) -> bool:
    """Whether something is divided by 4 there."""
    return any(
        node.kind == "binary" and (node.text, node.kids[1].text) in (("/", "4"), (">>", "2"))
        for node in walk(function.body)
    )


def taken_apart_in(function: Function) -> set[str]:
    """lane, where there is a lane / 4 % 2, or a lane % 4."""
    found = set()
    for node in walk(function.body):
        is_taken = node.kind == "binary" and node.text in ("%", "&")
        if is_taken and node.kids[1].kind == "number" and not node.kids[1].macro:
            left = node.kids[0]
            is_part = left.kind == "binary" and left.text in ("/", ">>")
            found.add(text_of(left.kids[0] if is_part else left))
    return found
