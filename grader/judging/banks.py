"""Why lanes of a warp meet in a bank: how an array in shared memory is padded, or its words permuted.

An access in a loop says little: what has to be mended is the number of words that a row has too few
or too many, or the function that gives each word its place. Where these are is found by following
what the access names: its index, the functions and macros in it, the sides of the array.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.judging import spread
from grader.judging.constants import definition
from grader.judging.kernel_text import Kernel
from grader.judging.wording import bare, factors, names_in, terms, value
from grader.labs.statements import (
    Listing,
    Statement,
    closing,
    find,
    function_name,
    split,
)

_BANKS = 32
_LENGTH = "words of a row"  # no name of a program
_MOST_STEPS = 6
_DEEPEST = 3  # helpers that call helpers
_MOST_SITES = 24
_WORD = re.compile(r"\w+|<<|>>|::|\S")
_FUNCTION = r"^[ \t]*#[ \t]*define[ \t]+{}\(([^()\n]{{0,200}})\)[ \t]*(\S[^\n]*)$"
_CONSTANT = r"^[ \t]*#[ \t]*define[ \t]+{}[ \t]+(\S[^\n]*)$"


@dataclass(frozen=True)
class Place:
    """The line that has to be mended, and what it says of the banks."""

    line: int
    why: str


@dataclass(frozen=True)
class Site:
    """Words that an index is made of, and where they stand."""

    line: int
    words: tuple[str, ...]
    near: Statement  # to look names up
    given: tuple[tuple[str, ...], ...] = ()  # what a template is given, in its order
    names: tuple[str, ...] = ()  # the template's own names
    user: Statement | None = None  # the declaration that gives them


def place(text: Listing, line: int, kernel: Kernel | None = None) -> Place | None:
    """Where the index of a line's access is permuted, or the rows of its array are padded."""
    sites = []
    for site in _sites(text, line):
        sites.append(site)
        if len(sites) == _MOST_SITES:
            break
    for site in reversed(sites):  # the innermost helper first
        if is_permuted(site.words):
            return Place(
                site.line,
                f"Line {site.line} gives each word its place in its row, and lanes that come at once are "
                f"given words a multiple of {_BANKS} apart.",
            )
    if kernel is not None and _no_padding_helps(kernel, line):
        return None
    for look in (padded, _unpadded):
        for site in sites:
            found = _pitch(text, site, look)
            if found is not None:
                return found
        found = _declared(text, line, look)
        if found is not None:
            return found
    return None


def _no_padding_helps(kernel: Kernel, line: int) -> bool:
    """Whether lanes meet in a bank however long the rows are: then it is the index that is to blame."""
    found = []
    for item in kernel.body:
        if line not in item.lines:
            continue
        for at, word in enumerate(item.words):
            if word not in shared(kernel.text) or item.words[at + 1 : at + 2] != ("[",):
                continue
            end = closing(item.words, at + 1)
            if item.words[end + 1 : end + 2] != ("[",):
                return False
            column = item.words[end + 2 : closing(item.words, end + 1)]
            found.append((item, ("(", *item.words[at + 2 : end], ")", "*", _LENGTH, "+", *column)))
    for length in range(_BANKS if found else 0):
        tables = [
            spread.table_of(kernel, index, item, also={_LENGTH: length}) for item, index in found
        ]
        if not any(table is not None and _meet(table) for table in tables):
            return False
    return bool(found)


def _meet(places: np.ndarray) -> bool:
    """Whether lanes of a warp take different words of a bank in any turn."""
    if places.ndim != 2:
        return False
    for warp in range(0, places.shape[0], _BANKS):
        for turn in range(places.shape[1]):
            words = np.unique(places[warp : warp + _BANKS, turn])
            if len(np.unique(words % _BANKS)) < len(words):
                return True
    return False


# --- what an access is made of


def _sites(text: Listing, line: int) -> Iterator[Site]:
    """The subscripts of a line, what their variables stand for, and what its helpers return."""
    for item in text.at(line):
        yield from _of_words(
            text, item.line if line not in item.lines else line, item.words, item, 0
        )


def sites_of(text: Listing, line: int, words: Sequence[str], near: Statement) -> list[Site]:
    """The same of some words of a line."""
    return list(_of_words(text, line, words, near, 0))


def _of_words(
    text: Listing, line: int, words: Sequence[str], near: Statement, depth: int
) -> Iterator[Site]:
    if depth > _DEEPEST:
        return
    spans = []  # of subscripts
    for at, word in enumerate(words):
        if word == "[" and at and (words[at - 1].isidentifier() or words[at - 1] == "]"):
            end = closing(words, at)
            inner = tuple(words[at + 1 : end])
            spans.append((at, end))
            yield Site(line, inner, near)
            for name in names_in(inner):
                known = text.declaration(name, near) if depth == 0 else None
                if known is not None and is_permuted(known[1]):
                    yield Site(known[0], known[1], near)
    for at, word in enumerate(words):
        if not word.isidentifier() or at + 1 >= len(words) or words[at + 1] not in ("(", "<"):
            continue
        is_index = any(start < at < end for start, end in spans)
        is_method = words[at - 1 : at] in ((".",), ("->",))
        yield from _of_call(text, words, at, near, depth, is_index or is_method or depth > 0)


def _of_call(
    text: Listing, words: Sequence[str], at: int, near: Statement, depth: int, is_place: bool
) -> Iterator[Site]:
    name = words[at]
    macro = _macro(text, name)
    if macro is not None and words[at + 1] == "(":
        where, body = macro
        if is_place or "[" in body:
            yield Site(where, body, near)
            yield from _of_words(text, where, body, near, depth + 1)
        return
    functions = [one for one in text.functions() if function_name(one) == name]
    if len(functions) > 1 and words[at - 1 : at] in ((".",), ("->",)):
        functions = _of_type(text, functions, words[at - 2])
    bodies = {tuple(tuple(i.words) for i in text.inside(one)) for one in functions}
    if not functions or len(bodies) != 1:
        return
    function = functions[0]
    if not is_place and not _returns_place(function):
        return
    given, names, user = _template(text, words, at, function)
    for item in text.inside(function):
        if item.kind != "simple" or item.words[:1] != ("return",):
            continue
        yield Site(item.line, tuple(item.words[1:-1]), item, given, names, user)
        for site in _of_words(text, item.line, item.words[1:-1], item, depth + 1):
            yield site if site.given else replace(site, given=given, names=names, user=user)


def _of_type(text: Listing, methods: Sequence[Statement], name: str) -> list[Statement]:
    """Those of the struct that an object in shared memory is of."""
    found = [i for i in text.statements if "__shared__" in i.words and name in i.words]
    if len(found) != 1:
        return list(methods)
    before = found[0].words[: found[0].words.index(name)]
    return [
        one
        for one in methods
        if one.parent >= 0 and set(text.statements[one.parent].words[-1:]) & set(before)
    ]


def _returns_place(function: Statement) -> bool:
    """float& cell(...)"""
    at = find(function.words, (function_name(function), "("))
    return "&" in function.words[max(0, at - 2) : at]


def _template(
    text: Listing, words: Sequence[str], at: int, function: Statement
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...], Statement | None]:
    """What a template's numbers are in a call: cell<LD>(...), or tile.at(...) of Tile<16, 66> tile."""
    if words[at + 1] == "<":
        end = _angle(words, at + 1)
        return tuple(split(words[at + 2 : end], ",")), _template_names(function), None
    if words[at - 1 : at] not in ((".",), ("->",)) or function.parent < 0:
        return (), (), None
    kind = text.statements[function.parent]
    for item in text.statements:
        if "__shared__" not in item.words or words[at - 2] not in item.words:
            continue
        place = next((n for n, word in enumerate(item.words) if word == "<"), -1)
        if place > 0:
            end = _angle(item.words, place)
            return tuple(split(item.words[place + 1 : end], ",")), _template_names(kind), item
    return (), (), None


def _angle(words: Sequence[str], at: int) -> int:
    depth = 0
    for place in range(at, len(words)):
        depth += (words[place] == "<") - (words[place] == ">")
        if depth == 0:
            return place
    return len(words)


def _template_names(item: Statement) -> tuple[str, ...]:
    if item.words[:2] != ("template", "<"):
        return ()
    parts = split(item.words[2 : _angle(item.words, 1)], ",")
    return tuple(split(part, "=")[0][-1] for part in parts if part)


def _macro(text: Listing, name: str) -> tuple[int, tuple[str, ...]] | None:
    """(line, body) of the only #define NAME(...) ..."""
    found = list(re.finditer(_FUNCTION.format(re.escape(name)), text.bare, re.MULTILINE))
    if len(found) != 1:
        return None
    return text.bare.count("\n", 0, found[0].start()) + 1, tuple(_WORD.findall(found[0][2]))


# --- words that are permuted


def is_permuted(words: Sequence[str]) -> bool:
    """a ^ b, or (a + b) % n of two variables."""
    for at, word in enumerate(words):
        if word == "^":
            return True
        if word not in ("%", "&") or not at or words[at - 1] != ")":
            continue
        start = _opening(words, at - 1)
        inner = bare(words[start:at])
        names = names_in(inner)
        is_thread = any("." in name for name in names)  # x + y * 16, taken apart
        if len(terms(inner)) > 1 and len(names) > 1 and "-" not in inner and not is_thread:
            return True
    return False


def _opening(words: Sequence[str], at: int) -> int:
    depth = 0
    for place in range(at, -1, -1):
        depth += (words[place] == ")") - (words[place] == "(")
        if depth == 0:
            return place
    return 0


# --- rows that are padded


def _pitch(text: Listing, site: Site, look: Callable[..., Place | None]) -> Place | None:
    """row * LENGTH + column, where LENGTH is a tile's side and something more."""
    for term in terms(site.words):
        parts = factors(term)
        if len(parts) < 2:
            continue
        for part in parts:
            found = _row(text, site, part, look)
            if found is not None:
                return found
    return None


def _row(
    text: Listing, site: Site, words: tuple[str, ...], look: Callable[..., Place | None]
) -> Place | None:
    near, line = site.near, site.line
    for name, given in zip(site.names, site.given, strict=False):
        if words == (name,):
            words, near = tuple(given), site.user or near
            line = near.line if site.user is not None else line
    return _without_parentheses(text, words) or look(text, near, words, line)


def _without_parentheses(text: Listing, words: tuple[str, ...]) -> Place | None:
    """#define LD RB + PAD: row * LD is row * RB + PAD."""
    if len(words) != 1:
        return None
    found = list(re.finditer(_CONSTANT.format(re.escape(words[0])), text.bare, re.MULTILINE))
    if len(found) != 1:
        return None
    body = tuple(_WORD.findall(found[0][1]))
    if len(terms(body)) < 2 or (body[0] == "(" and closing(body, 0) == len(body) - 1):
        return None
    return Place(
        text.bare.count("\n", 0, found[0].start()) + 1,
        f"{words[0]} stands for {' '.join(body)} without parentheses: a product with it multiplies "
        f"{' '.join(terms(body)[0])} alone, so rows are not as far apart as they were meant to be.",
    )


def padded(text: Listing, item: Statement, side: Sequence[str], line: int = 0) -> Place | None:
    """SIDE + PAD, or a name that stands for it: where the last part was written."""
    line, words = line or item.line, _named(bare(side))
    for _ in range(_MOST_STEPS):
        if len(terms(words)) > 1:
            break
        known = _meaning(text, words, item)
        if known is None:
            return None
        line, words = known[0], _named(known[1])
    parts = terms(words)
    if len(parts) < 2 or "-" in words:
        return None
    whole: int | None = 0
    for number, part in enumerate(parts):
        where, meaning = line, _named(bare(part))
        for _ in range(_MOST_STEPS):
            known = _meaning(text, meaning, item)
            # A side of the tile that stands for the padding, too, is not what has to be mended.
            if known is None or not (number < len(parts) - 1 or _is_only_added(text, meaning)):
                break
            where, meaning = known[0], _named(known[1])
        size = value(meaning, text.constants)
        if number == len(parts) - 1:
            if size is None:
                return None
            line = where
        whole = None if size is None or whole is None else whole + size
    return Place(line, "" if whole is None else _of_length(whole))


def _unpadded(text: Listing, item: Statement, side: Sequence[str], line: int = 0) -> Place | None:
    """A length without a padding: where it is written, if it is used for nothing but rows."""
    line, words = line or item.line, _named(bare(side))
    if not all(word.isidentifier() for word in words):
        return None
    size = value(words, text.constants)
    if size is not None and size % 2:
        return None
    is_known = "__shared__" in item.words
    for _ in range(_MOST_STEPS):
        known = _meaning(text, words, item)
        if known is None or not _is_constant(text, known) or not _is_of_rows(text, words[0]):
            break
        line, words, is_known = known[0], _named(known[1]), True
    if not is_known:
        return None
    return Place(line, "" if size is None else _of_length(size))


def _is_constant(text: Listing, known: tuple[int, tuple[str, ...]]) -> bool:
    """Whether what a name stands for is a number of the file, not of a thread or a turn."""
    line, words = known
    given = [item for item in text.at(line) if item.kind in ("simple", "for", "if")]
    return "." not in words and all({"const", "constexpr"} & set(one.words) for one in given)


def _is_of_rows(text: Listing, name: str) -> bool:
    """Whether a name is used for nothing but arrays of shared memory and their indices."""
    for item in text.statements:
        if "__shared__" in item.words or item.kind in ("function", "type"):
            continue
        for at, word in enumerate(item.words):
            if word != name or item.words[at + 1 : at + 2] == ("=",):
                continue
            is_given = item.words[at - 1 : at] == ("<",) and item.words[at + 1 : at + 2] == (">",)
            if not is_given and not _is_in_brackets(item.words, at):
                return False
    return True


def _is_in_brackets(words: Sequence[str], at: int) -> bool:
    return words[:at].count("[") > words[:at].count("]")


def _of_length(words: int) -> str:
    apart = words % _BANKS
    return f"A row has {words} words, so what lies below an element is " + (
        f"{apart} {'bank' if apart == 1 else 'banks'} further on." if apart else "in the same bank."
    )


def _is_only_added(text: Listing, part: Sequence[str]) -> bool:
    """Whether a name is used for nothing but lengths of rows."""
    part = bare(part)
    if len(part) != 1 or not part[0].isidentifier():
        return True
    for item in text.statements:
        for at, word in enumerate(item.words):
            if word != part[0]:
                continue
            around = {item.words[at - 1] if at else "", *item.words[at + 1 : at + 2]}
            if around & {"*", "/", "%", "<", "<="}:
                return False
    return True


def _named(words: Sequence[str]) -> tuple[str, ...]:
    """PITCH of Shape::PITCH"""
    words = tuple(words)
    return words[2:] if len(words) == 3 and words[1] == "::" else words


def _declared(text: Listing, line: int, look: Callable[..., Place | None]) -> Place | None:
    """The sides of the only array of shared memory that a line names."""
    arrays = {name: one for name, one in shared(text).items() if uses(text, line, name)}
    if len(arrays) != 1:
        return None
    ((item, sides),) = arrays.values()
    if look is not padded and len(sides) < 2:
        return None
    found = look(text, item, sides[-1])
    if found is not None or look is padded:
        return found
    size = value(sides[-1], text.constants)
    return None if size is None or size % 2 else Place(item.line, _of_length(size))


def shared(text: Listing) -> dict[str, tuple[Statement, list[tuple[str, ...]]]]:
    """Arrays of floats in shared memory: where each is declared, and its sides."""
    found = {}
    for item in text.statements:
        if "__shared__" not in item.words or "float" not in item.words:
            continue
        at = 0
        while at < len(item.words):
            if item.words[at] == "[" and item.words[at - 1].isidentifier():
                name, sides = item.words[at - 1], []
                while at < len(item.words) and item.words[at] == "[":
                    end = closing(item.words, at)
                    sides.append(tuple(item.words[at + 1 : end]))
                    at = end + 1
                found[name] = item, sides
            at += 1
    return found


def uses(text: Listing, line: int, name: str) -> bool:
    return any(name in item.words for item in text.at(line))


def _meaning(
    text: Listing, words: Sequence[str], near: Statement
) -> tuple[int, tuple[str, ...]] | None:
    """(line, value) of a name, or of a function without parameters."""
    if len(words) == 3 and tuple(words[1:]) == ("(", ")"):
        return _returned(text, words[0])
    if len(words) != 1 or len(names_in(words)) != 1:
        return None
    known = text.declaration(words[0], near)
    if known is not None and known[1]:
        return known[0], bare(known[1])
    return definition(text, words[0])


def _returned(text: Listing, name: str) -> tuple[int, tuple[str, ...]] | None:
    """What a function returns: where its last value was given."""
    functions = [one for one in text.functions() if function_name(one) == name]
    if len(functions) != 1:
        return None
    returns = [one for one in text.inside(functions[0]) if one.words[:1] == ("return",)]
    if len(returns) != 1:
        return None
    words = bare(returns[0].words[1:-1])
    if len(words) != 1 or not words[0].isidentifier():
        return returns[0].line, words
    given = text.assignments(words[0], functions[0])
    if given and given[-1].words[1:2] == ("=",):
        return given[-1].line, bare(given[-1].words[2:-1])
    if given:
        return None
    known = text.declaration(words[0], returns[0])
    return known if known is not None and known[1] else (returns[0].line, words)
