"""A count of elements times the size of a pointer to them, where that of an element is meant."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.host import Said
from grader.judging.wording import value
from grader.labs.statements import Listing, Statement, head_end

CODES = frozenset(
    {
        "input-modified", "host-crash", "api-error", "out-of-bounds-global", "uninitialised-global",
        "wrong-result", "unwritten-output",
    }
)  # fmt: skip
_NUMBERS = frozenset({"float", "int", "double"})
_ADVICE = (
    "What is counted are elements: times the size of one of them, sizeof *{0} or sizeof(float)."
)


def of_pointer(text: Listing) -> Said | None:
    """n * sizeof p, where `p` points to numbers, or n * sizeof(float*)."""
    found = []
    for item in text.statements:
        for at, word in enumerate(item.words):
            if word != "sizeof" or not _is_factor(text, item, at):
                continue
            name, length = _named(item, at)
            if name and _points_to_numbers(text, name, item):
                found.append((item.lines[at], name, " ".join(item.words[at : at + length])))
    if len({line for line, _, _ in found}) != 1:
        return None
    line, name, written = found[0]
    written = written.replace(" ( ", "(").replace(" )", ")")
    return Said(
        f"{written} is the size of a pointer, 8 bytes, and not that of what {name} points to.",
        line,
        _ADVICE.format(name),
    )


def _is_factor(text: Listing, item: Statement, at: int) -> bool:
    """Whether more than one of them is counted."""
    before, (_, length) = item.words[max(0, at - 2) : at], _named(item, at)
    after = item.words[at + length : at + length + 2]
    for sign, other in (((before or ("",))[-1], before[:1]), ((after or ("",))[0], after[1:])):
        if sign == "*" and other:
            return value(other, text.constants) != 1
    return False


def _named(item: Statement, at: int) -> tuple[str, int]:
    """The variable of sizeof x and sizeof(x), and of how many words that is."""
    words = item.words[at + 1 : at + 6]
    if words[:3] == ("(", "this", "->") and words[4:] == (")",):
        return words[3], 6
    if words[:1] == ("(",) and words[2:3] == (")",) and words[1].isidentifier():
        return words[1], 4
    return (words[0], 2) if words and words[0].isidentifier() else ("", 2)


def _points_to_numbers(text: Listing, name: str, near: Statement) -> bool:
    function = text.function_of(near)
    places: list[tuple[str, ...]] = [
        item.words for item in text.inside(function) if item.number <= near.number
    ]
    if function is not None:
        places.append(function.words[: head_end(function)])
    declared = [one for words in places for one in _declared(words, name, _NUMBERS)]
    if not declared:
        kinds = [one for one in text.above(near) if one.kind == "type"]
        declared = [one for kind in kinds[:1] for one in _in_type(text, kind, name)]
    return bool(declared) and all(declared)


def _in_type(text: Listing, kind: Statement, name: str) -> Iterator[bool]:
    """The same of a member of a class, which may be of a type that a template is given."""
    types = {
        kind.words[at + 1]
        for at, word in enumerate(kind.words[:-2])
        if word in ("typename", "class") and kind.words[at + 2] in (",", ">", "=")
    }
    for item in text.statements:
        if item.parent == kind.number and item.kind == "simple":
            yield from _declared(item.words, name, _NUMBERS | types)


def _declared(words: tuple[str, ...], name: str, types: frozenset[str]) -> Iterator[bool]:
    """Of each declaration of it whether that is float* name, and no table of pointers."""
    for at, word in enumerate(words):
        if word != name or not at or words[at - 1] not in ("*", "&", "const", *types):
            continue
        start = at - 1
        while start > 0 and words[start - 1] not in (";", "(", "{"):
            start -= 1
        if not types & set(words[start:at]) or "=" in words[start : start + 2]:
            continue
        is_pointer = words[at - 1] == "*" and words[at - 2 : at - 1] != ("*",)
        yield is_pointer and words[at + 1 : at + 2] != ("[",)
