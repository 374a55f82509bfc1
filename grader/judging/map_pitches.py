"""Rows that lie so far apart in memory, and otherwise for the tensor map that speaks of this memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.judging.host import Said, plain_name
from grader.judging.wording import bare, calls, names_in, value
from grader.labs.statements import Listing, Statement, arguments, function_name, shown

_MAP, _ROUNDED = "make_map", "rounded"
_COLUMNS, _PITCH = 1, 3  # of a map
_COLUMNS_IN_MEMORY, _PITCH_IN_MEMORY = 2, 3  # of rounded(A, rows, cols, pitch)
_PITCHES = re.compile(r"pitch|stride|apart|ld\w?$|lead|length", re.IGNORECASE)
_MOST_STEPS = 4


def told_apart(text: Listing) -> Said | None:
    """One matrix of which map and memory do not agree: the side that has no room for whole 16 bytes, or the map."""
    found = []
    for item in text.statements:
        for given in calls(item, _MAP):
            if len(given) <= _PITCH:
                continue
            for filled, length, columns in _filled(text, plain_name(given[0]), item):
                of_map = _meaning(text, given[_PITCH], item)
                in_memory = _meaning(text, length, filled)
                if of_map == in_memory or _are_one_number(text, of_map, in_memory):
                    continue
                of_columns = [
                    _meaning(text, columns, filled), _meaning(text, given[_COLUMNS], item)
                ]  # fmt: skip
                counted = {name for words in of_columns for name in names_in(words)}
                is_of_another = not counted & set(in_memory) and counted & set(of_map)
                line = filled.line if in_memory in of_columns or is_of_another else item.line
                found.append((line, given[0], length, given[_PITCH]))
    if len(found) != 1:
        return None
    line, data, length, pitch = found[0]
    return Said(
        f"Rows of {shown(data)} lie {shown(length)} elements apart in memory, and its map speaks of "
        f"{shown(pitch)}.",
        line,
        "A map describes memory as it is: what is put there and what the map says have to agree.",
    )


def _filled(
    text: Listing, data: str, near: Statement
) -> Iterator[tuple[Statement, tuple[str, ...], tuple[str, ...]]]:
    """(the statement, length of a row, columns) of the call that gives a map's memory."""
    function = text.function_of(near)
    for item in text.inside(function) if data and function is not None else ():
        if item.number >= near.number:
            break
        for at, word in enumerate(item.words):
            if word != data or item.words[at + 1 : at + 2] != ("=",):
                continue
            name = item.words[at + 2] if at + 3 < len(item.words) else ""
            if item.words[at + 3 : at + 4] != ("(",):
                continue
            given = arguments(item.words, at + 3)
            places = _places(text, name)
            if places is not None and max(places) < len(given):
                yield item, given[places[0]], given[places[1]]


def _places(text: Listing, name: str) -> tuple[int, int] | None:
    """Which arguments are the length of a row in memory, and the number of columns."""
    own = [one for one in text.functions() if function_name(one) == name]
    if not own:
        return (_PITCH_IN_MEMORY, _COLUMNS_IN_MEMORY) if name == _ROUNDED else None
    names = text.parameters(own[0])
    found = [at for at, one in enumerate(names) if _PITCHES.search(one)]
    return (found[0], found[0] - 1) if len(found) == 1 and found[0] else None


def _meaning(text: Listing, words: Sequence[str], near: Statement) -> tuple[str, ...]:
    """What a name was declared as."""
    words = tuple(bare(words))
    for _ in range(_MOST_STEPS):
        known = text.declaration(words[0], near) if len(words) == 1 else None
        if known is None or not known[1]:
            break
        if text.assignments(words[0], text.function_of(near)):
            break
        words = tuple(bare(known[1]))
    return words


def _are_one_number(text: Listing, first: Sequence[str], second: Sequence[str]) -> bool:
    number = value(first, text.constants)
    return number is not None and number == value(second, text.constants)
