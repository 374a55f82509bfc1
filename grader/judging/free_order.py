"""Buffers that are freed in the order in which they were allocated, one of them twice: whose turn it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
_FEW = 3  # of fewer calls any order is one


def whose_turn(made: Sequence[T], freed: Sequence[T], at: int, kept: Iterable[T]) -> T | None:
    """The buffer that is never freed, and for which another one is, first at a place of `freed`.

    None where the second time is wrong, and where the others are freed in no order: neither in that of
    their allocation nor, which is rarer, in the reverse.
    """
    again = max(place for place, one in enumerate(freed) if one == freed[at])
    never = list(kept)
    for order in (made, made[::-1]):
        wanted = list(order[: len(freed)])
        if any(_with(freed, again, one) == wanted for one in never) or len(freed) < _FEW:
            return None
        for one in never:
            if _with(freed, at, one) == wanted:
                return one
    return None


def _with(freed: Sequence[T], at: int, one: T) -> list[T]:
    return [*freed[:at], one, *freed[at + 1 :]]
