"""Text that came from a submission, made harmless for every reader.

A source file may hold control characters, which XML forbids and terminals obey, and characters
that turn the direction of reading, with which code can look like something else.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from typing import Any

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Without control characters but tab and newline; changes of direction by their names."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("\ufffd", text)
    return _DIRECTION.sub(lambda found: f"[{unicodedata.name(found[0])}]", text)


def plainly(value: Any) -> Any:
    """A result with all its texts made harmless; numbers and the like stay."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, tuple):
        items = [plainly(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [plainly(item) for item in value]
    if isinstance(value, dict):
        return {key: plainly(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return dataclasses.replace(
            value, **{name: plainly(getattr(value, name)) for name in fields}
        )
    return value


def points(value: float) -> float | int:
    """A number of points for JSON: 20 rather than 20.0, 3.33 rather than 3.3333333."""
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded
