"""The sides of an array for each other: tile[ROWS][DEPTH] that is indexed [step][row]."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.nodes import Node, replace
from grader.judging.repair.rewritten import swapped
from grader.judging.repair.scope import Change, bare
from grader.judging.repair.shown import text_of

_SIDES, _OWN = 0.6, 1.1  # of an array that threads share, of a thread's own
_NUMBERS = ("name", "number", "scoped", "binary")


class Sides:
    """A part of Editor."""

    def _sides_exchanged(self, node: Node) -> Iterator[tuple[Change, float]]:
        """float tile[DEPTH][ROWS], and Tile<DEPTH, ROWS> tile."""
        cost = _SIDES if node.type.is_shared else _OWN
        sides = node.kids[0] or []
        for at in range(1, len(sides)):
            if _differ(sides[at - 1], sides[at]):
                yield (
                    (
                        lambda n, a=at: replace(
                            bare(n), kids=[swapped(n.kids[0], a - 1, a), n.kids[1]]
                        )
                    ),
                    cost,
                )
        given = node.type.args or ()
        for at in range(1, len(given)):
            if _differ(given[at - 1], given[at]):
                yield (
                    (
                        lambda n, a=at: replace(
                            bare(n),
                            type=replace(n.type, args=tuple(swapped(n.type.args, a - 1, a))),
                        )
                    ),
                    cost,
                )


def _differ(one: Node | None, other: Node | None) -> bool:
    """Whether both are numbers, and not the same."""
    both = (one, other)
    return all(n is not None and n.kind in _NUMBERS for n in both) and text_of(one) != text_of(
        other
    )
