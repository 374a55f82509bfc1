"""A table of text, for the terminal and for Markdown alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Columns of text under a title; `notes` follow below."""

    title: str
    introduction: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    left: int = 2  # how many columns hold names: aligned left, the others right
