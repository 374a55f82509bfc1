"""Which of many like cases `make test` runs: one of each kind. `make test ALL=1` runs them all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest


def one_of_each(items: Iterable, kind: Callable[[Any], Hashable]) -> list:
    """Parameters for pytest: all but the first item of each kind are marked slow."""
    seen = set()
    chosen = []
    for item in items:
        marks = [pytest.mark.slow] if kind(item) in seen else []
        seen.add(kind(item))
        chosen.append(pytest.param(item, marks=marks))
    return chosen
