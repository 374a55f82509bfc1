"""Whole rows or columns of P that hold the right values of other rows or columns."""

from __future__ import annotations

import numpy as np

# A column this short may equal another one by chance.
_SHORTEST = 4
_FEWEST = 2  # one line in a wrong place is no rule


def misplaced_lines(
    got: np.ndarray, expected: np.ndarray, wrong: np.ndarray, near: float
) -> tuple[str, dict[int, int]] | None:
    """("column", {where: whose}): what is in column `where` belongs in column `whose`; or "row".

    Every wrong line is either another one's or 0 all along (computed from beyond the matrix).
    None if that does not explain all of `wrong`. `near`: by how much equal values may differ.
    """
    if not _is_finite(got):
        return None
    for kind, turned in (("column", False), ("row", True)):
        lines = (item.T if turned else item for item in (got, expected, wrong))
        moved = _moved_columns(*lines, near)
        if len(moved) >= _FEWEST:
            return kind, moved
    return None


def _is_finite(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all())


def _moved_columns(
    got: np.ndarray, expected: np.ndarray, wrong: np.ndarray, near: float
) -> dict[int, int]:
    rows = got.shape[0]
    if rows < _SHORTEST:
        return {}
    # A random sum of each column finds its candidates; then all of them is compared.
    weights = np.random.default_rng(0).uniform(0.5, 1.5, rows)
    keys, wanted = weights @ expected, weights @ got
    order = np.argsort(keys)
    low, high = (
        np.searchsorted(keys[order], wanted + sign * near * weights.sum()) for sign in (-1, 1)
    )
    moved = {}
    for column in np.flatnonzero(wrong.any(axis=0)):
        if not got[:, column].any():
            continue
        candidates = order[low[column] : high[column]]
        apart = np.abs(got[:, [column]] - expected[:, candidates])
        sources = candidates[(apart <= near).all(axis=0)]
        if not len(sources) or column in sources:  # its own: it is where it belongs, and inexact
            return {}
        if len(sources) == 1:  # columns that are alike tell nothing
            moved[int(column)] = int(sources[0])
    return moved
