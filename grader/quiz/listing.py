"""Code that a question shows, with the line numbers of its file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FIRST, _LAST = 5, 16  # of race.cu: the kernel


@cache
def race(without: int) -> str:
    """The kernel of race.cu without one of its two barriers."""
    lines = (Path(__file__).parent / "kernels" / "race.cu").read_text(encoding="utf-8").split("\n")
    shown = ["```"]
    for number in range(_FIRST, _LAST + 1):
        line = lines[number - 1]
        for barrier in (1, 2):
            there = (
                "" if barrier == without else line.replace(f"BARRIER({barrier})", "__syncthreads()")
            )
            line = there if f"BARRIER({barrier})" in line else line
        shown.append(f"{number:>3}  {line}".rstrip())
    return "\n".join([*shown, "```"]) + "\n"
