"""What is wrong with an element of P, told by the products that it is made of: facts and a sentence.

docs/result.schema.json describes the JSON form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

KINDS = (
    "wrong-factor", "missing", "zeroed", "beyond", "doubled", "foreign", "mispaired", "misplaced",
    "converted", "added", "unset", "not-stored", "stored-twice", "reads-p", "one-matrix", "starts",
)  # fmt: skip


@dataclass(frozen=True)
class Explanation:
    """What is wrong with the elements looked at."""

    kind: str  # one of KINDS
    sentence: str  # the first wrong element, exactly
    common: str = ""  # what all of them have in common
    operand: str = ""  # "M", "N", "MN" or "P" (the store)
    line: int = 0  # to look at first, 0: not known
    other_line: int = 0
    element: tuple[int, int] = (0, 0)
    phase: int | None = None  # counted from 0
    got: tuple[int, int] = (0, 0)  # row and column of the wrong operand
    needed: tuple[int, int] | None = None  # of the right one
    to: str = ""  # of "converted": "int", "half" ..., or how it was rounded
    is_telling: bool = True  # False: another case may tell more


def explanation_from(stored: Mapping[str, Any]) -> Explanation:
    """The counterpart of dataclasses.asdict; fields that this version does not know are left out."""
    names = {field.name for field in fields(Explanation)}
    found = {name: value for name, value in stored.items() if name in names}
    for name in ("element", "got", "needed"):
        if found.get(name) is not None:
            found[name] = tuple(found[name])
    return Explanation(**found)
