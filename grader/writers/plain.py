"""Text that came from a submission, made harmless for every reader.

A source file may hold control characters, which XML forbids and terminals obey, and characters
that turn the direction of reading, with which code can look like something else.
"""

from __future__ import annotations

import re
import unicodedata

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Without control characters but tab and newline; changes of direction by their names."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("\ufffd", text)
    return _DIRECTION.sub(lambda found: f"[{unicodedata.name(found[0])}]", text)


def points(value: float) -> float | int:
    """A number of points for JSON: 20 rather than 20.0, 3.33 rather than 3.3333333."""
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded
