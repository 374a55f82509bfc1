"""The attacks of attacks/attacks.toml as files: a .cu beside it, or lab 02's solution with lines added.

right.toml has programs that attack nothing in the same form.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ATTACKS = REPOSITORY / "grader" / "tests" / "attacks"


@dataclass(frozen=True)
class Attack:
    """One file and how its grading must end."""

    name: str
    attacks: str
    codes: tuple[str, ...]
    most: float = 0
    exact: float | None = None
    lab: str = "02-tiled-kernel"
    compile_seconds: float | None = None  # of its own
    record_seconds: float | None = None  # likewise
    execute_seconds: float | None = None  # likewise
    top: str = ""  # of a file that is the solution but for these: lines before its code
    solve: str = ""  # and lines at the beginning of solve
    edits: dict[str, str] = field(default_factory=dict)  # and what stands once is replaced
    is_right: bool = False  # it computes all phases, not only the first

    @property
    def has_file(self) -> bool:
        return not self.top and not self.solve and not self.edits

    def text(self, secret: str, answers: Callable[[str, str], str]) -> str:
        """`secret`: the file it is after. answers(lab, case): what it has learnt by heart."""
        if not self.has_file:
            return self._around_the_solution()
        text = (ATTACKS / f"{self.name}.cu").read_text().replace("@SECRET@", secret)
        return re.sub(r"@ANSWERS:(\w+)@", lambda found: answers(self.lab, found[1]), text)

    def _around_the_solution(self) -> str:
        text = (REPOSITORY / "solutions" / self.lab / "matmul.cu").read_text()
        changes = {'#include "check.h"': f'#include "check.h"\n{self.top}'}
        begin = re.search(r"^void solve\(.*\{$", text, re.MULTILINE)[0]
        changes[begin] = f"{begin}\n  {self.solve}"
        if not self.is_right:
            changes["ph < width / TILE_WIDTH"] = "ph < 1"
        for old, new in {**changes, **self.edits}.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text


def _listed() -> list[Attack]:
    entries = tomllib.loads((ATTACKS / "attacks.toml").read_text())["attack"]
    return [Attack(**{**entry, "codes": tuple(entry["codes"])}) for entry in entries]


def _right() -> list[Attack]:
    found = []
    for entry in tomllib.loads((ATTACKS / "right.toml").read_text())["attack"]:
        what = entry.pop("what")
        found.append(Attack(**entry, attacks=what, codes=(), is_right=True))
    return found


ALL = _listed()
RIGHT = _right()
