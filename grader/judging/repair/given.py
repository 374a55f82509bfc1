"""Cases: what solve is given, and what its arrays must hold in the end.

Of the product it follows from the sizes. Of any other problem the lab's reference says it, to whoever
asks for the search: here it comes as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from grader.judging.repair.values import count_nonzero

_OF_PIECES = 1e-7  # of a sum: the smallest pieces that matter come to ten times as much
_NEAR = 1e-5  # of a value: the search reckons in double precision
_SMALL_SIDE, _FEW_ELEMENTS = 64, 256  # what one block of a lab may do
_UNITS = 8  # of 1: most elements have a fraction, which an int loses
_SHORT_FLOATS = re.compile(r"bf16|bfloat16|half|wmma|tf32")


def has_whole_floats(text: str) -> bool:
    """Whether a kernel's factors keep all their bits."""
    return _SHORT_FLOATS.search(text) is None


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
    `is_told`: each element of M and N has a value of its own, so that a factor tells where it is from.
    """

    j: int
    k: int
    l: int  # noqa: E741
    is_fine: bool = False
    is_told: bool = False

    @property
    def is_small(self) -> bool:
        return max(self.j, self.l) <= _SMALL_SIDE

    def is_as_large(self, other: Size) -> bool:
        return self.j >= other.j and self.k >= other.k and self.l >= other.l

    def arguments(self, numbers: Sequence[int]) -> list[Array | float]:
        return [*_product(self), *numbers]

    def product(self) -> list[Array]:
        of_m, of_n = self.j * self.k, self.k * self.l
        mixed = _mixed(of_m + of_n, self.j * 7919 + self.k * 104729 + self.l)
        if self.is_told:
            m = (1 + np.argsort(mixed[:of_m])) / _UNITS
            n = (1 + of_m + np.argsort(mixed[of_m:])) / _UNITS
        else:
            most, unit = (1 << 24, 1 << 21) if self.is_fine else (64, _UNITS)
            values = (1 + (mixed % np.uint64(most - 1)).astype(np.int64)) / unit
            m, n = values[:of_m], values[of_m:]
        p = (m.reshape(self.j, self.k) @ n.reshape(self.k, self.l)).ravel()
        bound = _OF_PIECES * p if self.is_fine else 0.0
        return [
            Array("M", False, m, m, is_input=True),
            Array("N", False, n, n, is_input=True),
            Array("P", False, np.full(len(p), np.nan), p, bound),
        ]


def _mixed(count: int, seed: int) -> np.ndarray:
    """Numbers without a pattern, by splitmix64: to load numpy.random takes as long as many a search."""
    found = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found += np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found ^= found >> np.uint64(shift)
        found *= np.uint64(factor)
    return found ^ (found >> np.uint64(31))


@lru_cache(maxsize=16)
def _product(size: Size) -> tuple[Array, ...]:
    """Made once: a search asks for a case hundreds of times. Nobody stores in them."""
    arrays = tuple(size.product())
    for one in arrays:
        one.before.flags.writeable = one.after.flags.writeable = False
    return arrays


@lru_cache(maxsize=8)
def pairs_of(size: Size | Given) -> Pairs | None:
    if not isinstance(size, Size) or not size.is_told:
        return None
    m, n = (np.rint(one.before * _UNITS).astype(np.int64) for one in size.arguments(())[:2])
    terms = np.zeros(len(m) + len(n) + 2, np.int64)
    terms[m] = np.tile(np.arange(1, size.k + 1), size.j)
    terms[n] = -np.repeat(np.arange(1, size.k + 1), size.l)
    return Pairs(terms)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which elements may be multiplied: M[y][k] with N[k][x], each known by its value.

    `terms`: by the value, k + 1 for an element of M, -(k + 1) for one of N, 0 for no element.
    """

    terms: np.ndarray

    def wrong(self, one, two):
        """Where an element of M meets one of N that has no term in common with it."""
        one, two = one * _UNITS, two * _UNITS
        a, b = one.astype(np.int64), two.astype(np.int64)
        of_a, of_b = self.terms.take(a, mode="clip"), self.terms.take(b, mode="clip")
        found = (of_a * of_b < 0) & (of_a + of_b != 0)
        if count_nonzero(found):
            found &= (a == one) & (b == two)  # a sum is no element
        return found


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
