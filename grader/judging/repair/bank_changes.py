"""Small changes of a text after which lanes of a warp may no longer meet in a bank of shared memory.

Rows may be padded, or be padded by another number of words; a place in a row may be permuted in another
way; and lanes that lie next to each other may take rows that do, instead of every fourth one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PADDINGS = (1, 4, 8, 2, 6, 16, 3, 5, 12, 20)
_FACTORS = (2, 4, 8, 16)
_MOST_PADDING = 32
_MOST_SIDES = 8  # constants that may be how far rows of a thread lie apart
_ARRAY = re.compile(
    r"\b(?:float[24]?|T|real|Real)\s[^;(){}=]{0,80}?\b\w+\s*(?:\[[^\[\]\n;]{1,60}\]\s*){1,4}"
)
_LAST_SIDE = re.compile(r"\[([^\[\]\n;]{1,60})\](?=\s*(?:[;,={]|\w|$))")
_CONSTANT = re.compile(
    r"(?:\b(?:constexpr|const|static|enum)\b[^;(){}\n]{0,60}?[\s,{]|,\s*|\{\s*)(\w+)\s*=\s*([^,;{}\n=]{1,60}?)\s*(?=[,;}])"
)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]{0,60}?)[ \t]*$", re.MULTILINE)
_PADDED = re.compile(r"(.*[^+])\+\s*(\d{1,2})\s*(\)?)$")
_NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?![\w.])")
_OPERAND = r"(?:\w+|\([^()]*(?:\([^()]*\)[^()]*)*\))"
_TURN = re.compile(rf"\^\s*({_OPERAND})")
_TURNED = re.compile(rf"\(\s*({_OPERAND})\s*\+\s*({_OPERAND})\s*\)\s*[%&]")
_ROWS = re.compile(r"\b(\w+(?:\.\w+)?)\s*\*\s*(\w+(?:::\w+)?)\s*\+\s*(\w+)\b(?!\s*[*/%(\[.])")
_ROWS_APART = re.compile(
    r"\b(\w+(?:\.\w+)?)\s*\+\s*(\w+(?:::\w+)?)\s*\*\s*(\w+(?:::\w+)?)\b(?!\s*[*/%(\[.])"
)
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Change:
    """text[start:end] becomes `after`."""

    start: int
    end: int
    after: str
    cost: float

    def of(self, text: str) -> str:
        return text[: self.start] + self.after + text[self.end :]


def changes(bare: str, lines: Sequence[int], first: Sequence[int] = ()) -> list[Change]:
    """The likeliest first. `bare`: without comments; `lines`: where lanes meet; `first`: suspected."""
    found = [*_paddings(bare), *_permutations(bare), *_orders(bare, lines), *_numbers(bare, first)]
    kept: dict[str, Change] = {}
    for one in sorted(found, key=lambda one: one.cost):
        kept.setdefault(one.of(bare), one)
    return list(kept.values())


def line_of(bare: str, change: Change) -> int:
    return bare.count("\n", 0, change.start) + 1


# --- rows that are longer


def _paddings(bare: str) -> Iterator[Change]:
    for array in _ARRAY.finditer(bare):
        if not ("__shared__" in _statement(bare, array.start()) or _is_member(bare, array.start())):
            continue
        sides = list(re.finditer(r"\[([^\[\]\n;]{1,60})\]", array[0]))
        at = array.start() + sides[-1].start(1)
        yield from _lengths(bare, at, sides[-1][1], 1.8 if len(sides) > 1 else 6)
    for one in _DEFINED.finditer(bare):
        if "+" in one[2] and not one[2].startswith("("):
            yield Change(*one.span(2), f"({one[2]})", 0.4)
    for constant in (*_CONSTANT.finditer(bare), *_DEFINED.finditer(bare)):
        yield from _lengths(bare, constant.start(2), constant[2], 3, constant[1])


def _statement(bare: str, at: int) -> str:
    """What stands before a place since the last statement ended."""
    start = max(bare.rfind(sign, 0, at) for sign in ";{}")
    return bare[start + 1 : at]


def _is_member(bare: str, at: int) -> bool:
    """Whether a declaration is of a struct."""
    depth = 0
    for place in range(at - 1, -1, -1):
        depth += (bare[place] == "}") - (bare[place] == "{")
        if depth < 0:
            before = _statement(bare, place)
            return re.search(r"\b(?:struct|class|union)\b", before) is not None
    return False


def _lengths(bare: str, at: int, side: str, cost: float, name: str = "") -> Iterator[Change]:
    padded = _PADDED.match(side)
    if padded is not None:
        start = at + padded.start(2)
        for number, padding in enumerate((*_PADDINGS, 0)):
            if padding != int(padded[2]):
                yield Change(start, start + len(padded[2]), str(padding), 1 + number / 100)
        return
    if side.strip().isdigit() and int(side) < _MOST_PADDING:
        is_added = name and re.search(rf"\+\s*(?:\w+::)*{name}\s*[\]);,}}\n]", bare) is not None
        for number, padding in enumerate(_PADDINGS):  # it may be a padding by itself
            if padding != int(side):
                price = (1.1 if is_added else 4) + number / 100
                yield Change(at, at + len(side), str(padding), price)
    if not re.fullmatch(r"[\w\s:+*/()%-]+", side) or "sizeof" in side:
        return
    for number, padding in enumerate(_PADDINGS):
        yield Change(at, at + len(side), f"{side.strip()} + {padding}", cost + number / 100)


def _numbers(bare: str, lines: Sequence[int]) -> Iterator[Change]:
    """words = 1; return 4;"""
    rows = bare.split("\n")
    for line in lines:
        begin = sum(len(row) + 1 for row in rows[: line - 1])
        for one in _NUMBER.finditer(rows[line - 1]):
            for number, padding in enumerate(_PADDINGS):
                if int(one[0]) < _MOST_PADDING and padding != int(one[0]):
                    start = begin + one.start()
                    yield Change(start, start + len(one[0]), str(padding), 1 + number / 100)


# --- words that are permuted


def _permutations(bare: str) -> Iterator[Change]:
    rows = bare.split("\n")
    begin = 0
    for row in rows:
        is_turned = "^" in row or re.search(r"\+[^;%]*\)\s*[%&]", row) is not None
        if is_turned and "^=" not in row:
            places = [one.span(1) for one in _TURN.finditer(row) if not one[1].isdigit()]
            for one in _TURNED.finditer(row):
                places += [one.span(2), one.span(1)]
            for start, end in places:
                for by in _FACTORS:
                    after = f"({row[start:end]} * {by})"
                    yield Change(begin + start, begin + end, after, 1.5 + by / 100)
            for one in _NUMBER.finditer(row):
                number = int(one[0])
                others = {2 * number, 4 * number, 8 * number, number // 2, number // 4}
                others |= {number + 1, number - 1} if number < 8 else set()
                for other in sorted(others - {number}):
                    if other >= 0:
                        start = begin + one.start()
                        yield Change(start, start + len(one[0]), str(other), 1.6 + other / 1000)
        begin += len(row) + 1


# --- which rows lanes take that lie next to each other


def _orders(bare: str, lines: Sequence[int]) -> Iterator[Change]:
    """thread * EACH + turn: thread + THREADS * turn, and the other way round."""
    rows = bare.split("\n")
    everything = re.sub(r"[ \t]+", "", bare)
    sides = list(dict.fromkeys(one[1] for one in _CONSTANT.finditer(bare)))
    sides += [one[1] for one in _DEFINED.finditer(bare)]
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)
    for line in _with_declarations(rows, lines):
        row, begin = rows[line - 1], starts[line - 1]
        for one in (*_ROWS.finditer(row), *_ROWS_APART.finditer(row)):
            for after in _reordered(one, sides[:_MOST_SIDES]):
                is_used = re.sub(r"\s+", "", after) in everything
                cost = 0.5 if is_used else 5
                yield Change(begin + one.start(), begin + one.end(), after, cost)


def _reordered(found: re.Match[str], sides: Sequence[str]) -> Iterator[str]:
    one, two, three = found.groups()
    if found.re is _ROWS:
        for thread, factor in ((one, two), (two, one)):
            for side in (factor, *sides):
                yield f"{thread} + {side} * {three}"
                yield f"{thread} + {three} * {side}"
        return
    for turn, factor in ((two, three), (three, two)):
        for side in (factor, *sides):
            yield f"{one} * {side} + {turn}"


def _with_declarations(rows: Sequence[str], lines: Sequence[int]) -> list[int]:
    """Lines, and those above that declare what they name."""
    found = list(lines)
    for line in lines:
        names = set(_WORD.findall(rows[line - 1])) if 0 < line <= len(rows) else set()
        for above in range(line - 1, max(0, line - 40), -1):
            row = rows[above - 1]
            declared = re.search(r"\b(?:int|unsigned|auto|size_t|uint32_t|idx)\s+(.*=.*)", row)
            if declared and names & set(re.findall(r"(\w+)\s*=", declared[1])):
                found.append(above)
    return list(dict.fromkeys(one for one in found if 0 < one <= len(rows)))
