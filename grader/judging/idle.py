"""A statement that leaves its variable as it is: which ^= 0; stage += 0; x = x;"""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.host import Said
from grader.labs.statements import Listing, Statement, declared, shown, split

CODES = frozenset(
    {
        "race-shared", "race-global", "uninitialised-shared", "wrong-result", "low-precision", "phase",
        "deadlock", "timeout", "barrier-divergence", "out-of-bounds-shared", "out-of-bounds-global",
        "unwritten-output",
    }
)  # fmt: skip
_OF_NOTHING = {
    "+=": "0", "-=": "0", "^=": "0", "|=": "0", "<<=": "0", ">>=": "0", "*=": "1", "/=": "1",
}  # fmt: skip
_TURNS = "Each turn has to change it: ^= 1 takes 0 and 1 in turn, += 1 counts on."


def idle(text: Listing) -> Said | None:
    """The only one of a file, if its variable is used elsewhere."""
    found = [
        (item, words)
        for item in text.statements
        for words in _changes(item)
        if _leaves(words) and _is_used(text, words[0], item)
    ]
    if len(found) != 1:
        return None
    item, words = found[0]
    at = next(n for n in range(len(item.words)) if item.words[n : n + len(words)] == words)
    return Said(
        f"{shown(words)} leaves {words[0]} as it is.",
        item.lines[min(at, len(item.lines) - 1)],
        _TURNS if words[1] != "=" else f"What is {words[0]} to become?",
    )


def _changes(item: Statement) -> Iterator[tuple[str, ...]]:
    """What may change a variable: a statement, or a part of a loop's step."""
    if item.kind == "for" and len(item.parts) == 3:
        yield from split(item.parts[2], ",")
    elif item.kind == "simple":
        yield item.words[:-1] if item.words[-1:] == (";",) else item.words


def _leaves(words: tuple[str, ...]) -> bool:
    if len(words) != 3 or not words[0].isidentifier():
        return False
    name, sign, value = words
    return (sign == "=" and value == name) or value.rstrip("uUlL") == _OF_NOTHING.get(sign)


def _is_used(text: Listing, name: str, item: Statement) -> bool:
    """Whether something but its declaration and this statement asks for it; of a field, anywhere."""
    function = text.function_of(item)
    if function is None:
        return False
    is_own = text.declaration(name, item) is not None or name in text.parameters(function)
    inside = [one for one in text.inside(function if is_own else None) if name in one.words]
    return any(
        one.words.count(name) > 1 or (one.words[:1] != (name,) and declared(one, name) is None)
        for one in inside
        if one is not item or item.kind == "for"
    )
