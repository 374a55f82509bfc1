"""How numbers stand in a sentence: so many bytes, the three indices of a thread."""

from __future__ import annotations


def bytes_text(count: int) -> str:
    return f"{count} byte{'' if count == 1 else 's'}"


def triple(value: tuple[int, int, int]) -> str:
    return "({},{},{})".format(*value)
