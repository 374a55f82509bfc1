"""Named constants of the file: where they are defined, and which of them makes a number too large."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging.host import Said
from grader.judging.wording import factors, names_in, value
from grader.labs.statements import Listing, Statement, closing, declared, shown, split

_DEFINE = r"^[ \t]*#[ \t]*define[ \t]+{}[ \t]+(\S[^\n]*)$"
_WORD = re.compile(r"\w+|<<|>>|::|\S")
_MOST_STEPS = 5  # constants that name each other
_WARP = 32


def definition(text: Listing, name: str) -> tuple[int, tuple[str, ...]] | None:
    """(line, value) of the only definition outside of functions: a constexpr, an enum or a #define."""
    found = [
        known
        for item in text.statements
        if item.kind == "simple" and text.function_of(item) is None
        for known in [_in_enum(text, item, name) or declared(item, name)]
        if known is not None and known[1]
    ]
    for macro in re.finditer(_DEFINE.format(re.escape(name)), text.bare, re.MULTILINE):
        words = tuple(_WORD.findall(macro[1]))
        while words[:1] == ("(",) and closing(words, 0) == len(words) - 1:
            words = words[1:-1]
        found.append((text.bare.count("\n", 0, macro.start()) + 1, words))
    return found[0] if len(found) == 1 else None


def too_many_threads(text: Listing, words: Sequence[str], most: int, advice: str) -> Said | None:
    """The constant among a block's words that is counted from others and is more than `most`."""
    found, limit = None, most
    for _ in range(_MOST_STEPS):
        names = [name for name in names_in(_last_parts(words)) if _is_beyond(text, name, limit)]
        if len(names) != 1:
            break
        line, words = definition(text, names[0])
        found = names[0], line, words, limit
        if _is_of_warps(text, words):
            limit = most // _WARP
    if found is None:
        return None
    name, line, words, limit = found
    what = "threads" if limit == most else f"warps of {_WARP} threads"
    return Said(
        f"{name} = {shown(words)} is {value((name,), text.constants)}, and a block has at most {limit} "
        f"{what}.",
        line,
        _in_parentheses(text, words, limit) or advice,
    )


def _in_enum(text: Listing, item: Statement, name: str) -> tuple[int, tuple[str, ...]] | None:
    """enum { A = 4, B = A * 2 };"""
    if item.parent < 0 or "enum" not in text.statements[item.parent].words:
        return None
    for part in split(item.words, ","):
        if part[:2] == (name, "="):
            return item.lines[item.words.index(name)], tuple(part[2:])
    return None


def _last_parts(words: Sequence[str]) -> list[str]:
    """THREADS of Config::THREADS."""
    return [
        word
        for at, word in enumerate(words)
        if word != "::" and (at + 1 == len(words) or words[at + 1] != "::")
    ]


def _is_beyond(text: Listing, name: str, most: int) -> bool:
    """Whether a name is a constant that is too large, and an expression."""
    known = definition(text, name)
    if known is None or (len(known[1]) == 1 and not known[1][0].isidentifier()):
        return False
    number = value((name,), text.constants)
    return number is not None and number > most


def _is_of_warps(text: Listing, words: Sequence[str]) -> bool:
    """WARPS * 32"""
    parts = factors(words)
    return len(parts) == 2 and _WARP in [value(one, text.constants) for one in parts]


def _in_parentheses(text: Listing, words: Sequence[str], most: int) -> str:
    """Of a / b * c what a / (b * c) would be, where that is a number of threads."""
    for at, word in enumerate(words):
        if word != "/" or words[at + 2 : at + 3] != ("*",) or not words[at + 3].isidentifier():
            continue
        right = (*words[: at + 1], "(", *words[at + 1 : at + 4], ")", *words[at + 4 :])
        number = value(right, text.constants)
        if number is not None and 0 < number <= most:
            part = shown(words[at + 1 : at + 4])
            return (
                f"Parentheses are missing: / ({part}) divides by both, and / {part} divides by "
                f"{words[at + 1]} and multiplies by {words[at + 3]}."
            )
    return ""
