"""Rows of shared memory of which not each begins where several elements may be moved at once.

Such an access begins at a multiple of its bytes. In a two-dimensional array it does so in every row only if
the rows' length in bytes is such a multiple, padding and all. The line is that in which the length is made:
the declaration, a constant, or the constant of the one term that is no multiple.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from grader.judging.constants import definition
from grader.judging.host import Said
from grader.judging.wording import bare, size_of, terms, value
from grader.labs.source import ELEMENT_BYTES
from grader.labs.statements import Listing, Statement, closing, shown, split
from grader.results.finding import Cause, Facts, Space

_MOST_STEPS = 5  # names that stand for each other
_TOGETHER = (8, 16)  # bytes that an instruction moves at once
_KINDS = ("struct", "class")

Words = tuple[str, ...]


@dataclass(frozen=True)
class _Rows:
    """An array of rows: where it is declared, and what the names in its declaration stand for."""

    name: str
    sides: tuple[Words, ...]
    element: int  # bytes
    begin: int  # bytes from the begin of the memory that the access was in
    line: int
    near: Statement
    known: Mapping[str, str]
    given: Mapping[str, Words] = field(default_factory=dict)  # of a template, in line `made`
    made: int = 0


def out_of_line(text: Listing, facts: Facts, known: Mapping[str, str]) -> Said | None:
    """`known`: what the constants of the file and of the kernel are."""
    if facts.space is not Space.SHARED or facts.access_bytes not in _TOGETHER:
        return None
    if facts.cause is not Cause.NONE or not facts.array:
        return None
    found = [said for one in _arrays(text, facts, known) if (said := _said(text, one, facts))]
    return found[0] if len(found) == 1 else None


def _said(text: Listing, rows: _Rows, facts: Facts) -> Said | None:
    length, together = _number(rows.sides[-1], rows.known), facts.access_bytes
    at = facts.offset_bytes - rows.begin
    if not length or length < 2 or rows.element >= together or at < 0:
        return None
    size = length * rows.element
    whole = size
    for side in rows.sides[:-1]:
        count = _number(side, rows.known)
        if count is None:
            return None
        whole *= count
    # In its own row the access begins where it may: it is the row that does not.
    if size % together == 0 or at >= whole or at % size % together or rows.begin % together:
        return None
    unit = together // math.gcd(together, rows.element)
    line, made = _made(text, rows, unit)
    written = f" ({shown(made)})" if made else ""
    sides = "".join(f"[{shown(side)}]" for side in rows.sides)
    return Said(
        f"A row of {rows.name}{sides} has {length} elements{written}, {size} bytes, so not every row "
        f"begins at a multiple of {together} bytes.",
        line,
        f"Where {together} bytes are moved at once, the length of a row is a multiple of {unit} elements: "
        "padding, too.",
    )


def _made(text: Listing, rows: _Rows, unit: int) -> tuple[int, Words]:
    """The line, and what stands there for the length; no words where that is the declaration."""
    line, words, found = rows.line, rows.sides[-1], ()
    near, given = rows.near, dict(rows.given)
    for _ in range(_MOST_STEPS):
        odd = [one for one in terms(words) if (_number(one, rows.known) or 0) % unit]
        name = bare(odd[0]) if len(odd) == 1 else ()
        if name[-2:-1] == ("::",):
            name = name[-1:]
        if len(name) != 1 or not name[0].isidentifier():
            break
        if name[0] in given:
            line, words, given = rows.made, given[name[0]], {}
            found = (name[0], "=", *words)
            continue
        known = text.declaration(name[0], near) or definition(text, name[0])
        if known is None or not known[1]:
            break
        line, words = known
        found = (name[0], "=", *words)
    return line, tuple(found)


def _arrays(text: Listing, facts: Facts, known: Mapping[str, str]) -> Iterator[_Rows]:
    name = facts.array.partition(" ")[0]
    declared = [
        (item, at)
        for item in text.statements
        if item.kind == "simple" and "__shared__" in item.words
        for at, word in enumerate(item.words)
        if word == name and item.words[at + 1 : at + 2] in (("[",), (";",), (",",))
    ]
    if len(declared) != 1:
        return  # of another kernel, perhaps
    item, at = declared[0]
    sides = _sides(item.words, at + 1)
    kind = _type(item.words)
    element = _bytes(text, kind)
    if element:
        if len(sides) > 1:
            yield _Rows(name, sides, element, 0, item.lines[at], item, known)
        elif sides != ((),):
            yield from _flat(text, facts, item, name, element, known)
    elif not sides:
        yield from _members(text, name, item, kind, known)


def _members(
    text: Listing, name: str, item: Statement, kind: Words, known: Mapping[str, str]
) -> Iterator[_Rows]:
    """The arrays of a struct that lies in shared memory, up to the first that cannot be read."""
    kind = _without_alias(text, kind)
    owners = [
        one
        for one in text.statements
        if one.kind == "type"
        and any(
            kind[0] in one.words and one.words[one.words.index(kind[0]) - 1] == word
            for word in _KINDS
        )
    ]
    if len(owners) != 1:
        return
    given = _given(owners[0], kind)
    if given is None:
        return
    table = {**known, **{one: shown(words) for one, words in given.items()}}
    begin = 0
    for one in text.statements:
        if one.parent != owners[0].number or one.kind != "simple" or not one.words:
            continue
        if one.words[0] in ("static", "using", "typedef", "enum", "public", "private", "friend"):
            continue
        of = _type(one.words)
        element = _bytes(text, given.get(of[0], of) if len(of) == 1 else of)
        at = next((n for n, word in enumerate(one.words) if word == "["), 0)
        if not element or not at or "," in one.words or "alignas" in one.words:
            return
        sides = _sides(one.words, at)
        own = {
            word: known[1]
            for word in sides[-1]
            if word.isidentifier() and (known := _of_struct(text, owners[0], word)) is not None
        }
        here = {**table, **{word: shown(words) for word, words in own.items()}}
        counts = [_number(side, here) for side in sides]
        if None in counts:
            return
        begin = -(-begin // element) * element
        called = f"{name}.{one.words[at - 1]}"
        yield _Rows(called, sides, element, begin, one.lines[at], one, here, given, item.line)
        begin += element * math.prod(counts)


def _of_struct(text: Listing, owner: Statement, name: str) -> tuple[int, Words] | None:
    """The struct's own constant of that name, if the file has no other."""
    known = definition(text, name)
    is_own = any(name in one.words and one.parent == owner.number for one in text.statements)
    return known if known is not None and is_own else None


def _given(owner: Statement, kind: Words) -> dict[str, Words] | None:
    """What a template's parameters are; None where it is given others than it has."""
    if owner.words[:1] != ("template",):
        return {} if len(kind) == 1 else None
    head = owner.words[2 : owner.words.index(">")]
    names = [part[-1] for part in split(head, ",") if part]
    if kind[1:2] != ("<",) or kind[-1] != ">":
        return None
    parts = [tuple(part) for part in split(kind[2:-1], ",")]
    return dict(zip(names, parts, strict=True)) if len(names) == len(parts) else None


def _flat(
    text: Listing, facts: Facts, item: Statement, name: str, element: int, known: Mapping[str, str]
) -> Iterator[_Rows]:
    """tile[r * PITCH + c] of an array of one dimension, in the line of the access."""
    size = next(iter(_sides(item.words, item.words.index(name) + 1)), ())
    for one in text.at(facts.line):
        for at, word in enumerate(one.words[:-1]):
            if word != name or one.words[at + 1] != "[":
                continue
            index = one.words[at + 2 : closing(one.words, at + 1)]
            pitch = _pitch(index, known)
            total, length = _number(size, known), _number(pitch, known) if pitch else None
            if pitch and total and length and total % length == 0:
                rows = (str(total // length),)
                yield _Rows(name, (rows, pitch), element, 0, one.line, one, known)


def _pitch(index: Words, known: Mapping[str, str]) -> Words:
    """The largest number that a part of an index is multiplied by."""
    found: list[tuple[int, Words]] = []
    for term in terms(index):
        parts = [bare(part) for part in split(term, "*")]
        numbers = [(number, part) for part in parts if (number := _number(part, known)) is not None]
        if len(parts) == 2 and len(numbers) == 1:
            found += numbers
    return tuple(max(found)[1]) if found else ()


def _number(words: Words, known: Mapping[str, str]) -> int | None:
    """PITCH, of Config::PITCH, has a value."""
    plain = [
        word for at, word in enumerate(words) if word != "::" and words[at + 1 : at + 2] != ("::",)
    ]
    return value(plain, known)


def _sides(words: Words, at: int) -> tuple[Words, ...]:
    found = []
    while words[at : at + 1] == ("[",):
        end = closing(words, at)
        found.append(tuple(words[at + 1 : end]))
        at = end + 1
    return tuple(found)


def _type(words: Words) -> Words:
    """bf16 of __shared__ __align__(16) bf16 tile[4][8]; with what a template is given."""
    at = 0
    while at < len(words):
        if words[at] in ("__align__", "alignas") and words[at + 1 : at + 2] == ("(",):
            at = closing(words, at + 1) + 1
        elif words[at] in ("__shared__", "extern", "static", "const", "volatile", *_KINDS):
            at += 1
        else:
            break
    while words[at + 1 : at + 2] == ("::",):
        at += 2
    if words[at + 1 : at + 2] == ("<",) and ">" in words:
        return tuple(words[at : words.index(">", at) + 1])
    end = at + 1
    while end < len(words) and " ".join(words[at : end + 1]) in ELEMENT_BYTES:
        end += 1
    return tuple(words[at:end])


def _without_alias(text: Listing, kind: Words) -> Words:
    for _ in range(_MOST_STEPS):
        if len(kind) != 1:
            break
        for item in text.statements:
            if item.words[:3] == ("using", kind[0], "="):
                kind = _type(item.words[3:-1])
                break
            if item.words[:1] == ("typedef",) and item.words[-2:] == (kind[0], ";"):
                kind = _type(item.words[1:-2])
                break
        else:
            break
    return kind


def _bytes(text: Listing, kind: Words) -> int:
    kind = _without_alias(text, kind)
    return ELEMENT_BYTES.get(" ".join(kind)) or size_of(kind, {}) or 0
