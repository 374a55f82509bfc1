"""Other values for the constants of a file, so that a kernel runs at a size that fits the eye.

`constexpr int TILE_WIDTH = 16;` and `#define TILE_WIDTH 16` are rewritten in their places: no
line moves. A trace is of what was then compiled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.errors import GraderError

_NAME = re.compile(r"[A-Za-z_]\w*\Z")


def with_constants(text: str, values: Mapping[str, int]) -> str:
    """Raises GraderError with one sentence where the file has no such constant."""
    for name, value in values.items():
        if not _NAME.match(name):
            raise GraderError(f"'{name}' is no name of a constant.")
        text = _with_constant(text, name, value)
    return text


def _with_constant(text: str, name: str, value: int) -> str:
    # `constexpr int A = 1, NAME = 16;`: up to the comma or semicolon, on one line.
    declared = re.compile(
        rf"^(?P<before>[ \t]*(?:static\s+|inline\s+|__device__\s+)*"
        rf"(?:constexpr|const)\s+(?:static\s+)?(?:unsigned\s+)?(?:int|unsigned|size_t|auto)\b"
        rf"[^;\n/]*?\b{name}\s*=\s*)(?P<value>[^,;\n/]+?)(?P<after>\s*[,;])",
        re.MULTILINE,
    )
    defined = re.compile(
        rf"^(?P<before>[ \t]*#[ \t]*define[ \t]+{name}[ \t]+)(?P<value>[^\s/]+)(?P<after>)",
        re.MULTILINE,
    )
    for pattern in (declared, defined):
        changed, count = pattern.subn(
            lambda found: f"{found['before']}{value}{found['after']}", text, count=1
        )
        if count:
            return changed
    raise GraderError(
        f"The file has no constant {name} (constexpr int {name} = ...; or #define {name} ...):"
        " its tile width cannot be set."
    )
