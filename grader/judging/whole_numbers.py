"""Where what a sum is put into is declared as an int: a parameter, what a function returns, a type's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.host import Said
from grader.judging.wording import without_casts
from grader.labs.statements import (
    Listing,
    Statement,
    arguments,
    closing,
    function_name,
    is_declaration,
    split,
)

_WHOLE = frozenset(
    {
        "int", "unsigned", "long", "short", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
        "char", "bool",
    }
)  # fmt: skip
_REAL = frozenset({"float", "double", "float2", "float4", "half", "__half"})
_GIVES = ("+=", "=", "-=", "*=")


def declared(text: Listing, line: int) -> Said | None:
    """The declaration behind a sum that is cut to an int in a line."""
    for item in text.at(line):
        for look in (_of_target, _of_called, _of_returned):
            said = look(text, item)
            if said is not None:
                return said
    return None


def _of_target(text: Listing, item: Statement) -> Said | None:
    """The variable that a statement gives a value: a parameter, or one that a helper declares."""
    name = item.words[0] if len(item.words) > 1 and item.words[1] in _GIVES else ""
    if not name:
        return None
    for one in text.above(item):
        for index, given in _parameters(one):
            if given[-1] == name and _is_whole(text, given):
                return _told(name, one.lines[index])
        if one.kind == "function":
            break
    for one in text.inside(text.function_of(item)):
        if one.number >= item.number:
            break
        if one.kind == "simple" and is_declaration(one.words) and name in one.words:
            if _is_whole(text, one.words[: one.words.index(name)]):
                return _told(name, one.lines[one.words.index(name)])
    return None


def _of_called(text: Listing, item: Statement) -> Said | None:
    """What is a float here, and an int to the function that is given it; or a function returns one."""
    for at, word in enumerate(item.words[:-1]):
        if item.words[at + 1] != "(" or not word.isidentifier():
            continue
        given = arguments(item.words, at + 1)
        for function in _named(text, word):
            parts = list(_parameters(function))
            for (index, part), argument in zip(parts, given, strict=False):
                argument = tuple(without_casts(argument))
                if _is_whole(text, part) and len(argument) == 1:
                    if _is_real(text, argument[0], item):
                        return _told(part[-1], function.lines[index])
            if _returns_whole(text, function):
                return _returning(word, function)
    return None


def _of_returned(text: Listing, item: Statement) -> Said | None:
    """return sum; of a function that returns an int."""
    if item.words[:1] != ("return",):
        return None
    for one in text.above(item):
        if one.kind in ("function", "lambda"):
            name = _name(one)
            return _returning(name, one) if name and _returns_whole(text, one) else None
    return None


def _told(name: str, line: int) -> Said:
    return Said(
        f"{name} is declared as int: what is put into it loses its fraction.",
        line,
        f"Declare {name} as float.",
    )


def _returning(name: str, function: Statement) -> Said:
    return Said(
        f"{name} returns an int: what it gives back has lost its fraction.",
        function.line,
        f"Let {name} return a float.",
    )


def _named(text: Listing, name: str) -> list[Statement]:
    found = [
        one
        for one in text.statements
        if one.kind in ("function", "lambda") and _name(one) == name
        and "__global__" not in one.words
    ]  # fmt: skip
    return found if len(found) == 1 else []


def _name(item: Statement) -> str:
    """Of a function, or of the variable that holds a lambda."""
    if item.kind == "function":
        return function_name(item)
    return item.words[item.words.index("=") - 1] if "=" in item.words[1:] else ""


def _parameters(item: Statement) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(where its name stands, its words) of each parameter of a function or a lambda."""
    if item.kind not in ("function", "lambda"):
        return
    words = item.words
    if item.kind == "function":
        name = function_name(item)
        begin = next(
            (n + 1 for n, w in enumerate(words[:-1]) if w == name and words[n + 1] == "("), -1
        )
    else:
        begin = next(
            (n + 1 for n, w in enumerate(words[:-1]) if w == "]" and words[n + 1] == "("), -1
        )
    if begin < 0:
        return
    at = begin + 1
    for part in split(words[begin + 1 : closing(words, begin)], ","):
        given = part[: part.index("=")] if "=" in part else part
        if given:
            yield at + len(given) - 1, tuple(given)
        at += len(part) + 1


def _is_whole(text: Listing, words: Sequence[str]) -> bool:
    if {"*", "["} & set(words):
        return False
    return bool((_WHOLE | _aliases(text)) & set(words)) and not _REAL & set(words)


def _aliases(text: Listing) -> set[str]:
    """using sum_t = int; typedef int sum_t;"""
    found = set()
    for item in text.statements:
        words = item.words
        if words[:1] == ("using",) and words[2:3] == ("=",) and set(words[3:-1]) <= _WHOLE:
            found.add(words[1])
        if words[:1] == ("typedef",) and len(words) > 3 and set(words[1:-2]) <= _WHOLE:
            found.add(words[-2])
    return found


def _is_real(text: Listing, name: str, near: Statement) -> bool:
    """Whether a variable is declared as a float."""
    for item in text.inside(text.function_of(near)):
        if item.number < near.number and is_declaration(item.words) and name in item.words:
            if _REAL & set(item.words[: item.words.index(name)]):
                return True
    return any(
        part[-1] == name and _REAL & set(part) and "*" not in part
        for one in text.above(near)
        for _, part in _parameters(one)
    )


def _returns_whole(text: Listing, item: Statement) -> bool:
    words = item.words
    if item.kind == "lambda":
        return "->" in words and _is_whole(text, words[words.index("->") + 1 :])
    name = function_name(item)
    return _is_whole(text, words[: words.index(name)]) if name in words else False
