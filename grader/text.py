"""Text from a submission or its compiler, made harmless for terminals, logs and tables."""

from __future__ import annotations

_LONGEST = 600


def clean(text: str, longest: int = _LONGEST) -> str:
    """One line of printable characters; white space is kept as blanks, the rest as `?`."""
    text = " ".join(text[: 4 * longest].split())
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= longest else text[: longest - 3] + "..."
