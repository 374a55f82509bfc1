"""One of several values: an element of what stands in braces, of a pair, a tuple or a binding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.judging.host import plain_name
from grader.judging.wording import without_casts
from grader.labs.statements import Listing, Statement, arguments, closing, find

_PAIRS = frozenset({"pair", "make_pair", "tuple", "make_tuple", "tie", "array", "dim3"})


@dataclass(frozen=True)
class Origin:
    """`words` as they stand in `line`; `near` is the statement."""

    line: int
    words: tuple[str, ...]
    near: Statement


def plain(words: Sequence[str]) -> tuple[str, ...]:
    """Without casts, & and parentheses around all of it."""
    name = plain_name(words)
    if name:
        return (name,)
    found = without_casts(words)
    while found[:1] == ("(",) and closing(found, 0) == len(found) - 1:
        found = found[1:-1]
    return tuple(found)


class Several:
    """A part of Origins."""

    text: Listing

    def of_element(self, words: tuple[str, ...], near: Statement) -> Origin | None:
        """side[1], side.at(1), std::get<1>(sides) of what stands in braces."""
        name, number = _element(words)
        if not name:
            return None
        for one in reversed(self.text.inside(self.text.function_of(near))):
            if one.kind != "simple" or one.number > near.number:
                continue
            at = find(one.words, (name,))
            after = at + 1 if one.words[at + 1 : at + 2] != ("=",) else at + 2
            if at > 0 and one.words[at - 1] not in (".", "->", "(", ","):
                return self._nth(one, after, number)
        return None

    def of_nth(self, words: Sequence[str], number: int, near: Statement) -> Origin | None:
        """Of an expression of a statement that makes a pair or a tuple, or calls what gives one back."""
        begin = find(near.words, tuple(words))
        return self._nth(near, begin, number) if begin >= 0 else None

    def _nth(self, one: Statement, begin: int, number: int) -> Origin | None:
        """Of {a, b}, std::make_pair(a, b), or what a helper gives back in one of these."""
        words = one.words[begin:]
        while words[:2] == ("std", "::"):
            words, begin = words[2:], begin + 2
        called = words[0] if words[1:2] == ("(",) else ""
        if words[1:2] == ("<",) and words[0] not in _PAIRS and ">" in words:  # shape<Wide>(l, j)
            called = (
                words[0] if words[words.index(">") + 1 : words.index(">") + 2] == ("(",) else ""
            )
        opened = 0 if words[:1] in (("{",), ("(",)) else 1 if called in _PAIRS else -1
        if words[1:2] == ("<",) and words[0] in _PAIRS:
            depth = 0
            for at, word in enumerate(words[1:], 1):
                depth += (word == "<") - (word == ">")
                if depth == 0:
                    opened = at + 1
                    break
        if opened >= 0 and words[opened : opened + 1] in (("{",), ("(",)):
            parts = arguments(words, opened)
            if number >= len(parts):
                return None
            at = begin + opened + 1 + sum(len(part) + 1 for part in parts[:number])
            return Origin(one.lines[at], plain(parts[number]), one)
        function = self.text.named(called) if called else None
        back = [
            other
            for other in (self.text.inside(function) if function is not None else ())
            if other.words[:1] == ("return",)
        ]
        return self._nth(back[0], 1, number) if len(back) == 1 else None

    def of_binding(self, name: str, near: Statement) -> Origin | None:
        """auto [grid, block] = shape(l, j); std::tie(grid, block) = ..."""
        for one in reversed(self.text.inside(self.text.function_of(near))):
            if one.kind != "simple" or one.number >= near.number or name not in one.words:
                continue
            at = one.words.index("=") if "=" in one.words else -1
            for opened in (
                find(one.words, ("auto", "[")),
                find(one.words, ("&", "[")),
                find(one.words, ("tie", "(")),
            ):
                if opened < 0 or closing(one.words, opened + 1) != at - 1:
                    continue
                names = [plain_name(part) for part in arguments(one.words, opened + 1)]
                if name in names:
                    return self._nth(one, at + 1, names.index(name))
        return None


def _element(words: tuple[str, ...]) -> tuple[str, int]:
    if len(words) == 4 and words[1] == "[" and words[2].isdigit():
        return words[0], int(words[2])
    if len(words) == 6 and words[1:4] == (".", "at", "(") and words[4].isdigit():
        return words[0], int(words[4])
    own = words[2:] if words[:2] == ("std", "::") else words
    if len(own) == 7 and own[:2] == ("get", "<") and own[2].isdigit() and own[3:5] == (">", "("):
        return own[5], int(own[2])
    return "", 0
