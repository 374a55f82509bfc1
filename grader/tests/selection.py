"""Which of many like cases `make test` runs: one of each kind. `make test ALL=1` runs them all."""

from __future__ import annotations

import argparse
import re
import zlib
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

_LIKE = "like_others"  # names the mark of items of which there are many of a kind


_REST = [pytest.mark.slow, getattr(pytest.mark, _LIKE)]


def one_of_each(items: Iterable, kinds: Callable[[Any], Iterable[Hashable]]) -> list:
    """Parameters for pytest: an item is marked slow if those before it are of all its kinds."""
    seen = set()
    chosen = []
    for item in items:
        of_item = set(kinds(item))
        chosen.append(pytest.param(item, marks=_REST if of_item <= seen else []))
        seen |= of_item
    return chosen


def first_of(items: Iterable, count: int = 1) -> list:
    """Parameters for pytest: all but the first `count` are marked slow. A tuple is several parameters."""
    given = [item if isinstance(item, tuple) else (item,) for item in items]
    return [
        pytest.param(*item, marks=_REST if number >= count else [])
        for number, item in enumerate(given)
    ]


@dataclass(frozen=True)
class Part:
    """The part of those left over that is run, 1 to `parts`: a test's name decides which it is in."""

    number: int
    parts: int

    @classmethod
    def read(cls, words: str) -> Part:
        found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", words)
        if found is None or int(found[1]) > int(found[2]):
            raise argparse.ArgumentTypeError(f"{words} is no part: 1/2 is the first of two")
        return cls(int(found[1]), int(found[2]))

    def has(self, item: pytest.Item) -> bool:
        """Whether the test is run: all but those of which there are many of a kind are."""
        if item.get_closest_marker(_LIKE) is None:
            return True
        return zlib.crc32(item.nodeid.encode()) % self.parts == self.number - 1
