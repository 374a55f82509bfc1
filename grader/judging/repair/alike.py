"""Names that are mixed up."""

from __future__ import annotations

# Words of names that are mixed up.
_PAIRS = (
    ("row", "col"), ("Row", "Col"), ("rows", "cols"), ("ROW", "COL"), ("x", "y"), ("X", "Y"), ("r", "c"),
    ("i", "j"), ("m", "n"), ("M", "N"), ("a", "b"), ("A", "B"), ("0", "1"), ("k", "n"), ("k", "m"), ("K", "N"),
    ("K", "M"), ("left", "right"), ("1", "2"), ("lhs", "rhs"), ("left", "top"), ("w", "h"), ("d", "w"), ("d", "h"),
)  # fmt: skip


def alike(one: str, two: str) -> bool:
    """tx and ty, row and col, M and N: names that are mixed up."""
    return any(
        one.replace(a, b) == two or one.replace(b, a) == two
        for a, b in _PAIRS
        if a in one or b in one
    )
