"""An array in shared memory, or a member of a struct there, into which no line puts anything."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, shared_arrays
from grader.labs.statements import (
    Listing,
    Statement,
    arguments,
    closing,
    find,
    function_name,
    split,
)

_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "++", "--", "^=", "|=", "&="})

_READERS = frozenset({"sizeof", "fma", "fmaf", "__fmaf_rn", "__fmul_rn", "__hfma", "min", "max"})


def never_filled(kernel: Kernel, array: str, reader: int) -> Said | None:
    """`array`: the one that is read; `reader`: the line."""
    if re.search(rf"#[ \t]*define[^\n]*\b{re.escape(array)}\b", kernel.text.bare):
        return None  # a macro may fill it
    for places in (_members(kernel, array), [(one,) for one in shared_arrays(kernel)]):
        filled = {place: _fillings(kernel, place) for place in places}
        empty = [place for place, items in filled.items() if not items]
        if array not in {place[0] for place in empty} or len(empty) != 1:
            continue
        name = ".".join(empty[0])
        beside = [(place, items) for place, items in filled.items() if items]
        where = f", which line {reader} reads" if reader else ""
        if not beside:
            return Said(f"Nothing fills {name}{where}.", reader, _fill(name))
        other, items = beside[-1]
        item = _nearest(kernel, items, reader)
        before = [one for one in items if one.parent == item.parent and one.number < item.number]
        if before:
            return Said(
                f"Nothing fills {name}{where}. This line fills {'.'.join(other)}, which line "
                f"{before[-1].line} has filled before.",
                item.line,
                f"Is {name} meant here?",
            )
        return Said(
            f"Nothing fills {name}{where}. This line fills {'.'.join(other)}; no line does so for {name}.",
            item.line,
            _fill(name),
        )
    return None


def _fill(name: str) -> str:
    return f"Let the threads of the block fill {name}, too, before the __syncthreads()."


def _nearest(kernel: Kernel, items: Sequence[Statement], reader: int) -> Statement:
    """In a loop around the reading line, if one is."""
    loops = {one.number for here in kernel.text.at(reader) for one in kernel.text.loops(here)}
    inside = [one for one in items if loops & {loop.number for loop in kernel.text.loops(one)}]
    before = [one for one in inside or items if one.line <= reader]
    return (before or inside or items)[-1]


def _members(kernel: Kernel, name: str) -> list[tuple[str, ...]]:
    """(tiles, left), (tiles, right): the arrays of a struct in shared memory."""
    made = [one for one in kernel.body if "__shared__" in one.words and name in one.words]
    types = [one for one in kernel.text.statements if one.kind == "type"]
    for item in made:
        own = [one for one in types if one.words[-1] in item.words]
        if len(own) == 1 and item.words[item.words.index(name) + 1 :] == (";",):
            fields = [one for one in kernel.text.statements if one.parent == own[0].number]
            return [
                (name, part[part.index("[") - 1])
                for one in fields
                if one.kind == "simple" and "(" not in one.words
                for part in split(one.words[:-1], ",")
                if "[" in part[1:]
            ]
    return []


def _fillings(kernel: Kernel, place: tuple[str, ...]) -> list[Statement]:
    """The statements that put something into it, or may do so."""
    words = (place[0],) if len(place) == 1 else (place[0], ".", place[1])
    return [item for item in kernel.body if _may_fill(kernel.text, item, words, len(place) > 1)]


def _may_fill(text: Listing, item: Statement, place: tuple[str, ...], is_member: bool) -> bool:
    if "__shared__" in item.words:
        return False
    words, at = item.words, find(item.words, place[:1])
    while at >= 0:
        end = at + len(place)
        is_whole = is_member and words[at:end] != place and words[at + 1 : at + 2] != (".",)
        if is_whole or words[at:end] == place:
            if is_whole:
                end = at + 1
            while words[end : end + 1] == ("[",):
                end = closing(words, end) + 1
            after, before = words[end : end + 1], words[at - 1 : at] if at else ()
            if {*after, *before} & {"++", "--", "&", "."} or set(after) & _ASSIGNS:
                return True
            is_given = {*before, *after} <= {"(", ",", ")"}
            if (words[end - 1] != "]" or is_given) and not _is_read(text, item, at, end):
                return True
            if _is_pointer_to(words[:at]):
                return True
        elif is_member and words[at + 3 : at + 4] in (("(",), ("<",)):
            return True  # a method of its own, or a template of one
        at = find(words, place[:1], at + 1)
    return False


def _is_pointer_to(before: tuple[str, ...]) -> bool:
    """float* row = tile[i]; float (&row)[T] = tile[i]; auto row = tile[i]"""
    left = before[: before.index("=")] if "=" in before else ()
    return bool({"*", "&", "auto"} & set(left)) and "const" not in left


def _is_read(text: Listing, item: Statement, at: int, end: int) -> bool:
    """Whether a whole array is given to what only reads it."""
    opened, depth = at - 1, 0
    while opened >= 0:
        depth += (item.words[opened] in (")", "]", "}")) - (item.words[opened] in ("(", "[", "{"))
        if depth < 0:
            break
        opened -= 1
    if opened < 1 or item.words[opened] != "(":
        return item.words[end - 1] == "]"
    called = item.words[opened - 1]
    if called == ">" and "<" in item.words[:opened]:
        called = item.words[max(n for n in range(opened) if item.words[n] == "<") - 1]
    function = text.named(called)
    if function is None:
        return called in _READERS or not called.isidentifier()
    given = arguments(item.words, opened)
    number = next((n for n, one in enumerate(given) if one == item.words[at:end]), -1)
    parts = _declared_parameters(function)
    return 0 <= number < len(parts) and _only_reads(text, function, parts[number])


def _declared_parameters(function: Statement) -> list[tuple[str, ...]]:
    name = function_name(function)
    at = find(function.words, (name, "("))
    return arguments(function.words, at + 1) if name and at >= 0 else []


def _only_reads(text: Listing, function: Statement, parameter: tuple[str, ...]) -> bool:
    """const float (&tile)[T][T], or a parameter that stands in no place where it would be written."""
    if "const" in parameter:
        return True
    name = next(
        (one for one in reversed(parameter) if one.isidentifier() and not one.isupper()), ""
    )
    inside = [one for one in text.inside(function) if name in one.words]
    return bool(name) and all(
        one.words[find(one.words, (name,)) + 1 : find(one.words, (name,)) + 2] == ("[",)
        and not set(one.words[: find(one.words, (name,))]) & {"&", "*"}
        and not (one.words[0] == name and set(one.words) & _ASSIGNS)
        for one in inside
    )
