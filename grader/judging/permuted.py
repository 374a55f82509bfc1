"""Words of a row that are permuted, and read as if they were not: a ^ b instead of a padding.

A function that gives words their places serves two masters: whoever stores and whoever reads must
ask it, and what is read as neighbours has to stay side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from grader.judging import banks, spread
from grader.judging.banks import is_permuted
from grader.judging.host import Said
from grader.judging.wording import calls, factors, value
from grader.labs.statements import Listing, Statement, closing, declared, find, function_name

CODES = frozenset(
    {"wrong-result", "out-of-bounds-shared", "misaligned-access", "uninitialised-shared"}
)
_ROWS = 8  # of a tile: as far as a permutation is tried
_TOGETHER = 4
_MOST_WORDS = 128


@dataclass(frozen=True)
class _Places:
    """int place(int i, int r) { return r ^ ...; }"""

    name: str
    parameters: tuple[str, ...]
    item: Statement


def torn(text: Listing) -> Said | None:
    """A permutation that tears apart four words that are read side by side."""
    for places in _functions(text):
        for item in text.statements:
            given = calls(item, places.name)
            if len(given) != 1 or not _takes_neighbours(text, item):
                continue
            (arguments,) = given
            moving = [
                at
                for at, one in enumerate(arguments)
                if _TOGETHER in [value(part, text.constants) for part in factors(one)]
            ]
            if len(moving) != 1 or len(arguments) != len(places.parameters):
                continue
            example = _example(text, places, moving[0])
            if example is not None:
                row, first, found = example
                shown = ", ".join(map(str, found[:-1])) + f" and {found[-1]}"
                return Said(
                    f"{places.name} tears neighbours apart: in row {row} it gives words {first} to "
                    f"{first + _TOGETHER - 1} the places {shown}, and line {item.line} takes four words "
                    "side by side from the first one's place on.",
                    places.item.line,
                    "Let it permute groups of four words, and leave the order within a group as it is: "
                    "what is combined with the place has to be a multiple of 4.",
                )
    return None


def _functions(text: Listing) -> Iterator[_Places]:
    """Functions of two numbers that return a place, permuted."""
    for function in text.functions():
        inside = text.inside(function)
        parameters = tuple(text.parameters(function))
        if len(inside) != 1 or len(parameters) != 2 or inside[0].words[:1] != ("return",):
            continue
        if is_permuted(inside[0].words):
            yield _Places(function_name(function), parameters, inside[0])


def _takes_neighbours(text: Listing, item: Statement) -> bool:
    """four = &tile[place(i, 4 * y)], of which four[q] is read; or a float4 of that place."""
    if "&" not in item.words or "[" not in item.words:
        return False
    if any(word.startswith("float4") for word in item.words):
        return True
    at = find(item.words, ("=", "&"))
    if at < 1:
        return False
    name = item.words[at - 1]
    return any(find(one.words, (name, "[")) >= 0 for one in text.inside(text.function_of(item)))


def _example(text: Listing, places: _Places, moving: int) -> tuple[int, int, list[int]] | None:
    """(row, word, where it and the next three come to) of the first four that are torn apart."""
    known = {name: number for name, words in text.constants.items()
             if (number := value((words,), {})) is not None}  # fmt: skip
    for row in range(_ROWS):
        columns = np.arange(_MOST_WORDS)
        table = {name: np.int64(number) for name, number in known.items()}
        table[places.parameters[1 - moving]] = np.int64(row)
        table[places.parameters[moving]] = columns
        found = spread.evaluated(places.item.words[1:-1], table)
        if found is None or found.shape != columns.shape:
            return None
        first = found.reshape(-1, _TOGETHER)
        apart = np.flatnonzero((first - first[:, :1] != np.arange(_TOGETHER)).any(axis=1))
        if len(apart):
            return row, int(apart[0]) * _TOGETHER, [int(one) for one in first[apart[0]]]
    return None


def straight(text: Listing) -> Said | None:
    """An array that is filled through a permutation and read without it, or the other way round."""
    for name in sorted(_arrays(text)):
        uses = {True: [], False: []}  # by whether it is a store
        for item in text.statements:
            at = find(item.words, (name, "["))
            if item.kind != "simple" or at < 0 or declared(item, name) is not None:
                continue
            if "__shared__" in item.words or text.function_of(item) is None:
                continue
            end = at + 1
            while end < len(item.words) and item.words[end] == "[":
                end = closing(item.words, end) + 1
            is_store = item.words[end : end + 1] == ("=",)
            words = item.words[at:end]
            sites = banks.sites_of(text, item.line, words, item)
            uses[is_store].append((item.line, any(_is_meant(text, one, item) for one in sites)))
        stores, loads = uses[True], uses[False]
        ways = {is_it for _, is_it in stores}, {is_it for _, is_it in loads}
        if ways == ({True}, {False}):
            return Said(
                f"Line {loads[0][0]} reads {name} at the places that its words would have if nothing "
                f"was permuted, and line {stores[0][0]} has stored them where they are permuted to.",
                loads[0][0],
                "Ask for the place in the same way where words are stored and where they are read.",
            )
        if ways == ({False}, {True}):
            return Said(
                f"Line {stores[0][0]} stores words of {name} one beside the other, and line "
                f"{loads[0][0]} reads them at the places that they would be permuted to.",
                stores[0][0],
                "Ask for the place in the same way where words are stored and where they are read.",
            )
    return None


def _is_meant(text: Listing, site: banks.Site, item: Statement) -> bool:
    """Whether a place is permuted for its own sake: (a + b) % n in the kernel may be anything."""
    if "^" in site.words:
        return True
    own = text.function_of(item)
    is_own = any(text.function_of(one) is own for one in text.at(site.line))
    return not is_own and is_permuted(site.words)


def _arrays(text: Listing) -> set[str]:
    """Arrays in shared memory, and those in structs."""
    found = set(banks.shared(text))
    for item in text.statements:
        if item.parent >= 0 and text.statements[item.parent].kind == "type" and "[" in item.words:
            if "float" in item.words:
                found.add(item.words[item.words.index("[") - 1])
    return found
