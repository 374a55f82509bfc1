"""Sums that a tensor core leaves in a lane's registers: which elements they are, and where a store says so."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.sums import Product, place_name
from grader.labs.statements import Listing, Statement, function_name, split

_LANES_OF_A_ROW = 4
_MOST_STEPS = 4  # from a store to what gives it its row
_LAYOUT = (
    "Of 16 x 8 sums a lane has those of row lane / 4 in c[0] and c[1], those of row lane / 4 + 8 in "
    "c[2] and c[3], each of columns lane % 4 * 2 and the next."
)


def layout(belongs: tuple[int, int]) -> str:
    """What a student has to know who has stored the sum of an element elsewhere."""
    row, column = belongs
    lane = row % 8 * _LANES_OF_A_ROW + column % 8 // 2
    register = row % 16 // 8 * 2 + column % 2
    return f"{_LAYOUT} So the sum of {place_name(belongs)} is in c[{register}] of lane {lane}."


def is_stored_elsewhere(products: Sequence[Product], place: tuple[int, int]) -> bool | None:
    """Whether the operands are as mma wants them, and the sum is stored where it does not belong.

    With shapes m16n8 a lane's register of A has a row of its own, lane / 4, with 8 more in every
    other register, and one of B a column, lane / 4 (PTX ISA, fragments of mma). None where nothing
    is known of that, or both the operands and the place keep to it.
    """
    pairs = [(p.m, p.n) for p in products]
    if not pairs or any(m.fragment is None or n.fragment is None for m, n in pairs):
        return None
    rows = {m.fragment.lane // _LANES_OF_A_ROW + m.fragment.register % 2 * 8 for m, _ in pairs}
    columns = {n.fragment.lane // _LANES_OF_A_ROW for _, n in pairs}
    if len(rows) != 1 or len(columns) != 1:
        return None
    row, column = rows.pop(), columns.pop()
    if any((m.row - row) % 8 or (n.column - column) % 8 for m, n in pairs):
        return False
    is_kept = (place[0] - row) % 8 == 0 and (place[1] - column) % 8 == 0
    return None if is_kept else True


def line_of_place(text: Listing, line: int, is_row: bool) -> int:
    """Where the row (or the column) comes from that the store of a line uses."""
    near = next(iter(text.at(line)[-1:]), None)
    words = split(near.words, "=")[0] if near is not None else ()
    for _ in range(_MOST_STEPS):
        names = _names(words, is_row) or [word for word in words if word.isidentifier()]
        known = [one for name in names if (one := _given(text, name, near))]
        if not known:
            break
        line, words = known[0]
        if not _is_followed(words):
            break
    return line


def _is_followed(words: Sequence[str]) -> bool:
    """Whether it only hands on what another line makes: a pointer, a name."""
    return len(words) == 1 or "*" in words and "+" in words and not {"/", "%", "&", ">>"} & {*words}


def _names(words: Sequence[str], is_row: bool) -> list[str]:
    """Of row * l + col, of P + size_t(row) * l + col: the row, or what is added to it."""
    if "*" not in words or "+" not in words:
        return []
    found = []
    for at, word in enumerate(words):
        behind = next((one for one in words[at + 1 :] if one != ")"), "")
        before = words[at - 1] if at else ""
        if word.isidentifier() and (behind == "*" if is_row else before == "+" and behind != "*"):
            found.append(word)
    return found if is_row else found[::-1]


def _given(text: Listing, name: str, near: Statement) -> tuple[int, tuple[str, ...]] | None:
    """The line that gives a name its value, and the value; of a parameter the first call's line."""
    known = text.declaration(name, near)
    if known is not None and known[1]:
        return known
    helper = next((one for one in text.above(near) if one.kind in ("lambda", "function")), None)
    if helper is None or name not in text.parameters(helper):
        return None
    called = _called(helper)
    calls = [
        one for one in text.statements if called and one.has(called, "(") and one is not helper
    ]
    return (calls[0].line, ()) if calls else None


def _called(helper: Statement) -> str:
    if helper.kind == "function":
        return "" if "__global__" in helper.words else function_name(helper)
    at = helper.words.index("=") if "=" in helper.words else 0
    return helper.words[at - 1] if at else ""
