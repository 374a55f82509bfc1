"""Bits of a number: those that are left once others are shifted away, and a mask too many."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Node
from grader.judging.repair.scope import Change, bare, binary, number

_LIMITS = (2, 4, 8, 16, 32)
_LIKE_OTHERS, _OF_ANY = 0.9, 1.5
_ONE_SIDE = 1.3


class Masked:
    """A part of Editor."""

    def _masks(self, node: Node) -> Iterator[tuple[Change, float]]:
        """lane / 4 % 2 for lane / 4, lane >> 2 & 1 for lane >> 2; a for a & b."""
        above = self._parent(node)
        if node.text in ("/", ">>") and above.text not in ("%", "&") and not self.is_host:
            sign = "%" if node.text == "/" else "&"
            # Who takes a few bits elsewhere takes them here, too.
            is_usual = any(text == sign for text, *_ in self.parts) or bool(self.masks)
            for limit in _LIMITS:
                most = limit - (sign == "&")
                cost = _LIKE_OTHERS if is_usual and limit < 8 else _OF_ANY
                yield (lambda n, s=sign, v=most: binary(s, bare(n), number(v))), cost
        if node.text in ("&", "^", "|"):
            yield (lambda n: bare(n).kids[0]), _ONE_SIDE
            yield (lambda n: n.kids[1]), _ONE_SIDE
