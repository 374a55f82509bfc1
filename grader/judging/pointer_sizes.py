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
    words = item.words[at + 1 : at + 4]
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
    declared = [one for words in places for one in _declared(words, name)]
    return bool(declared) and all(declared)


def _declared(words: tuple[str, ...], name: str) -> Iterator[bool]:
    """Of each declaration of it whether that is float* name, and no table of pointers."""
    for at, word in enumerate(words):
        if word != name or not at or words[at - 1] not in ("*", "&", "float", "int", "const"):
            continue
        start = at - 1
        while start > 0 and words[start - 1] not in (";", "(", "{"):
            start -= 1
        if not {"float", "int", "double"} & set(words[start:at]) or "=" in words[start : start + 2]:
            continue
        is_pointer = words[at - 1] == "*" and words[at - 2 : at - 1] != ("*",)
        yield is_pointer and words[at + 1 : at + 2] != ("[",)
