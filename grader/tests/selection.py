"""Which of many like cases `make test` runs: one of each kind. `make test ALL=1` runs them all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest


def one_of_each(items: Iterable, kinds: Callable[[Any], Iterable[Hashable]]) -> list:
    """Parameters for pytest: an item is marked slow if those before it are of all its kinds."""
    seen = set()
    chosen = []
    for item in items:
        of_item = set(kinds(item))
        chosen.append(pytest.param(item, marks=[pytest.mark.slow] if of_item <= seen else []))
        seen |= of_item
    return chosen


def first_of(items: Iterable, count: int = 1) -> list:
    """Parameters for pytest: all but the first `count` are marked slow. A tuple is several parameters."""
    given = [item if isinstance(item, tuple) else (item,) for item in items]
    return [
        pytest.param(*item, marks=[pytest.mark.slow] if number >= count else [])
        for number, item in enumerate(given)
    ]
