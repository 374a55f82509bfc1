"""Rows of shared memory that are padded in an array's size and not in its index, or the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.judging.constants import definition
from grader.judging.host import Said
from grader.judging.kernel_text import call_arguments
from grader.judging.wording import bare, factors, names_in, terms, value
from grader.labs.statements import Listing, Statement, closing, find, function_name, shown

CODES = frozenset({"out-of-bounds-shared", "wrong-result", "race-shared", "uninitialised-shared"})
_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+\w+\([^()\n]{0,200}\)[ \t]*(\S[^\n]*)$", re.MULTILINE
)
_WORD = re.compile(r"\w+|<<|>>|::|\S")
_MOST_STEPS = 4  # constants that name each other

Words = tuple[str, ...]


@dataclass(frozen=True)
class _Array:
    """An array whose rows lie behind each other: its size, and what it is a part of."""

    name: str
    size: Words
    line: int
    item: Statement
    owner: Statement | None  # the struct


def not_in_index(text: Listing) -> Said | None:
    """The only index that has rows lie closer than the array's size does."""
    found = [said for one in _arrays(text) for said in _compared(text, one, "index")]
    return found[0] if len({one.line for one in found}) == 1 else None


def not_in_size(text: Listing) -> Said | None:
    """The only array that has no room for the padding that its indices count with."""
    found = [said for one in _arrays(text) for said in _compared(text, one, "size")]
    return found[0] if len({one.line for one in found}) == 1 else None


def is_of(text: Listing, line: int, guilty: int) -> bool:
    """Whether a line uses the array, the object or the helper that the other line speaks of."""
    words = {word for item in text.at(line) for word in item.words}
    if line == guilty:
        return True
    macros = [one for one in _MACRO.finditer(text.bare) if _line(text, one.start()) == guilty]
    names = {one[0].split("define")[1].split("(")[0].strip() for one in macros}
    for item in text.at(guilty):
        function = text.function_of(item)
        if function is None or "__global__" in function.words:
            continue
        names.add(function_name(function))
        kind = text.statements[function.parent] if function.parent >= 0 else None
        if kind is not None and kind.kind == "type":
            names |= _objects(text, kind)
    return bool(names & words)


def _objects(text: Listing, kind: Statement) -> set[str]:
    """Names that have a struct, or another name of it, for their type."""
    types = {_name_of(kind)}
    for item in text.statements:
        if item.words[:1] in (("using",), ("typedef",)) and types & set(item.words):
            types.add(item.words[1] if item.words[0] == "using" else item.words[-2])
    return {
        word
        for item in text.statements
        if item.kind in ("simple", "function", "for") and types & set(item.words)
        for at, word in enumerate(item.words[1:], 1)
        if word.isidentifier() and item.words[at - 1] in (*types, ">", "&", ",", "*")
    }


def _name_of(kind: Statement) -> str:
    at = max((n for n, word in enumerate(kind.words) if word in ("struct", "class")), default=-1)
    return kind.words[at + 1] if 0 <= at < len(kind.words) - 1 else ""


def _arrays(text: Listing) -> Iterator[_Array]:
    for item in text.statements:
        if item.kind != "simple" or not item.words:
            continue
        kind = text.statements[item.parent] if item.parent >= 0 else None
        owner = kind if kind is not None and kind.kind == "type" else None
        if owner is None and "__shared__" not in item.words:
            continue
        for at, word in enumerate(item.words):
            if word != "[" or not at or not item.words[at - 1].isidentifier():
                continue
            end = closing(item.words, at)
            if item.words[end + 1 : end + 2] in ((";",), (",",)) and end > at + 1:
                size = tuple(item.words[at + 1 : end])
                yield _Array(item.words[at - 1], size, item.lines[at], item, owner)


def _uses(text: Listing, array: _Array) -> Iterator[tuple[int, Words]]:
    """Line and index of each place where an element is meant, in macros and helpers, too."""
    for item in text.statements:
        if item is array.item or array.name not in item.words:
            continue
        inside = array.owner is None or array.owner in text.above(item)
        for at in range(len(item.words) - 1):
            if item.words[at] != array.name:
                continue
            if item.words[at + 1] == "[" and (inside or item.words[at - 1] in (".", "->")):
                yield item.lines[at], tuple(item.words[at + 2 : closing(item.words, at + 1)])
        yield from _in_helpers(text, array, item)
    if array.owner is None:
        for one in _MACRO.finditer(text.bare):
            words = tuple(_WORD.findall(one[1]))
            at = find(words, (array.name, "["))
            if at >= 0:
                yield _line(text, one.start()), words[at + 2 : closing(words, at + 1)]


def _in_helpers(text: Listing, array: _Array, item: Statement) -> Iterator[tuple[int, Words]]:
    """Where a helper is given the array."""
    for at, word in enumerate(item.words[:-1]):
        function = text.named(word) if item.words[at + 1] == "(" else None
        if function is None or item.kind == "function":
            continue
        for name, given in zip(
            text.parameters(function), call_arguments(item.words, at), strict=False
        ):
            if given != (array.name,) or not name:
                continue
            for one in text.inside(function):
                place = find(one.words, (name, "["))
                if place >= 0:
                    end = closing(one.words, place + 1)
                    yield one.lines[place], tuple(one.words[place + 2 : end])


def _compared(text: Listing, array: _Array, guilty: str) -> Iterator[Said]:
    uses = list(dict.fromkeys(_uses(text, array)))
    sides = [bare(part) for part in factors(array.size)]
    if len(sides) != 2 or not uses:
        return
    pitches = [_pitch(text, index) for _, index in uses]
    if any(one is None for one in pitches):
        return
    for side in sides:
        width = _padded(text, side)
        if width is not None and side is sides[0] and _same(text, sides[1], width):
            continue  # (T + 1) * T may have a row more
        if guilty == "index" and width is not None:
            short = [use for use, one in zip(uses, pitches, strict=True) if _same(text, one, width)]
            others = [one for one in pitches if not _same(text, one, width)]
            if short and all(_same(text, one, side) for one in others):
                for line, index in short:
                    yield Said(
                        f"{array.name}[{shown(index)}]: rows of {array.name} lie {shown(side)} apart, as "
                        f"its size in line {array.line} has it, and this index counts {shown(width)}: the "
                        "padding is not between the rows.",
                        line,
                        f"Multiply the row by {_in_parentheses(side)}.",
                    )
        if guilty == "size" and not any(_padded(text, one) for one in sides):
            widths = [_padded(text, one) for one in pitches]
            if all(one is not None and _same(text, one, side) for one in widths):
                pitch = pitches[0]
                yield Said(
                    f"{array.name}[{shown(array.size)}] has rows of {shown(side)}, and the index in line "
                    f"{uses[0][0]} has them {shown(pitch)} apart: the last rows lie beyond its end.",
                    array.line,
                    f"Its size is the rows times {_in_parentheses(pitch)}.",
                )


def _pitch(text: Listing, index: Words) -> Words | None:
    """What the row is multiplied by, in row * PITCH + column."""
    products = [factors(term) for term in terms(index)]
    products = [parts for parts in products if len(parts) == 2]
    if len(products) != 1:
        return None
    row, pitch = (bare(part) for part in products[0])
    if value(row, text.constants) is not None or "+" in row:
        row, pitch = pitch, row  # PITCH * row
    is_row = value(row, text.constants) is None and bool(names_in(row))
    return pitch if is_row else None


def _padded(text: Listing, words: Words) -> Words | None:
    """The width, of WIDTH + PAD and of a name that stands for it."""
    words = bare(words)
    for _ in range(_MOST_STEPS):
        parts = terms(words)
        if len(parts) == 2 and "-" not in words and "+" in words:
            return bare(parts[0])
        known = definition(text, words[0]) if len(words) == 1 else None
        if known is None:
            return None
        words = bare(known[1])
    return None


def _same(text: Listing, one: Words, other: Words) -> bool:
    if bare(one) == bare(other):
        return True
    sizes = value(one, text.constants), value(other, text.constants)
    return sizes[0] is not None and sizes[0] == sizes[1]


def _in_parentheses(words: Words) -> str:
    return f"({shown(words)})" if len(words) > 1 else shown(words)


def _line(text: Listing, at: int) -> int:
    return text.bare.count("\n", 0, at) + 1
