"""1 / 256 in integers, which is 0, where a fraction is meant."""

from __future__ import annotations

import re

from grader.judging.host import Said

_CONSTANT = re.compile(
    r"#[ \t]*define[ \t]+(\w+)[ \t]+\(?(\d+)\)?[ \t]*$|"
    r"\b(?:int|unsigned|size_t|long|short)\b[^;()\n]{0,80}?\b(\w+)\s*=\s*(\d+)\s*[;,]",
    re.MULTILINE,
)
_QUOTIENT = re.compile(r"(?<![\w.)/*%])(\d+|[A-Za-z_]\w*)\s*/\s*(\d+|[A-Za-z_]\w*)(?![\w.(])")
_BEFORE = ("*", "/", "%")
_MEANT = re.compile(r"\b(?:float|double|define)\b")  # a number by a number is meant anywhere


def fraction(bare: str) -> Said | None:
    """The first one in a float's value or in a macro. `bare`: a text without its comments."""
    known = {one[1] or one[3]: int(one[2] or one[4]) for one in _CONSTANT.finditer(bare)}

    def number(word: str) -> int:
        return int(word) if word.isdigit() else known.get(word, 0)

    for at, line in enumerate(bare.split("\n"), 1):
        for one in _QUOTIENT.finditer(line):
            if line[: one.start()].rstrip().endswith(_BEFORE):
                continue  # of B * B / NT it is B * B that is divided
            is_meant = _MEANT.search(line) or (one[1].isdigit() and "int " not in line)
            if is_meant and 0 < number(one[1]) < number(one[2]):
                return Said(
                    f"{one[1]} / {one[2]} divides integers: it is 0, not {number(one[1])}/{number(one[2])}.",
                    at,
                    f"Write {one[1]}.0f / {one[2]}."
                    if one[1].isdigit()
                    else f"Make a float of {one[1]} first.",
                )
    return None
