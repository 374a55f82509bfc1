"""Cases: what solve is given, and what its arrays must hold in the end.

Of the product it follows from the sizes. Of any other problem the lab's reference says it, to whoever
asks for the search: here it comes as numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

_OF_PIECES = 1e-7  # of a sum: the smallest pieces that matter come to ten times as much
_NEAR = 1e-5  # of a value: the search reckons in double precision
_SMALL_SIDE, _FEW_ELEMENTS = 64, 256  # what one block of a lab may do


@dataclass(frozen=True)
class Array:
    """One of solve's arrays."""

    name: str
    is_int: bool
    before: np.ndarray  # NaN where it is given nothing
    after: np.ndarray
    bound: np.ndarray | float = 0.0
    is_input: bool = False


@dataclass(frozen=True)
class Size:
    """A case of the product: M is j x k, N is k x l.

    `is_fine`: elements that need all bits of a float, of which a product of bf16 in pieces may lose some.
    """

    j: int
    k: int
    l: int  # noqa: E741
    is_fine: bool = False

    @property
    def is_small(self) -> bool:
        return max(self.j, self.l) <= _SMALL_SIDE

    def arguments(self, numbers: Sequence[int]) -> list[Array | float]:
        rng = np.random.default_rng(self.j * 7919 + self.k * 104729 + self.l)
        most, unit = (1 << 24, 1 << 21) if self.is_fine else (64, 8)
        m = rng.integers(1, most, self.j * self.k) / unit
        n = rng.integers(1, most, self.k * self.l) / unit
        p = (m.reshape(self.j, self.k) @ n.reshape(self.k, self.l)).ravel()
        bound = _OF_PIECES * p if self.is_fine else 0.0
        return [
            Array("M", False, m, m, is_input=True),
            Array("N", False, n, n, is_input=True),
            Array("P", False, np.full(len(p), np.nan), p, bound),
            *numbers,
        ]


@dataclass(frozen=True, eq=False)
class Given:
    """A case of any other problem."""

    given: tuple[Array | float, ...]

    @property
    def is_small(self) -> bool:
        return max(len(one.after) for one in self.given if isinstance(one, Array)) <= _FEW_ELEMENTS

    def arguments(self, numbers: Sequence[int] = ()) -> list[Array | float]:
        return list(self.given)


def given_from(case: Sequence[Mapping | float]) -> Given:
    """A case as it is sent to a child: an array is {"name", "is_int", "before", "after", "bound"}."""
    return Given(tuple(one if isinstance(one, (int, float)) else _array(one) for one in case))


def _array(one: Mapping) -> Array:
    after = one["after"] if one["after"] is not None else one["before"]
    before = [np.nan] * len(after) if one["before"] is None else one["before"]
    is_input = one["after"] is None
    expected = np.array(after, float)
    bound = 0.0
    if one["bound"] is not None:
        bound = np.maximum(np.array(one["bound"], float), _NEAR * np.abs(expected))
    elif not is_input and not one["is_int"]:
        bound = _NEAR * np.abs(expected)
    return Array(one["name"], one["is_int"], np.array(before, float), expected, bound, is_input)
