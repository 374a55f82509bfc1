"""Questions about the statements of a student's text: loops, declarations, guards.

Not a C++ parser. source_reader.py has cut the text into tokens and statements; what is not certain
has no answer here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.labs import source

LOOPS = frozenset({"for", "while", "do", "macro"})
_FUNCTIONS = frozenset({"function", "lambda"})
_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="})
_MOST_LEVELS = 60


@dataclass(frozen=True)
class Statement:
    """One statement, or the head of one that holds others."""

    number: int
    kind: str  # see source_reader._statements
    parent: int  # -1: none
    words: tuple[str, ...]
    line: int  # where it begins
    lines: tuple[int, ...]  # of its words

    def has(self, *words: str) -> bool:
        """Whether these words stand in it one behind the other."""
        return find(self.words, words) >= 0

    @property
    def parts(self) -> list[tuple[str, ...]]:
        """The three parts of a for loop's head."""
        return split(self.words, ";")


def find(words: Sequence[str], wanted: Sequence[str], start: int = 0) -> int:
    """Where `wanted` stands in `words`; -1 if it does not."""
    count = len(wanted)
    for place in range(start, len(words) - count + 1):
        if words[place] == wanted[0] and tuple(words[place : place + count]) == tuple(wanted):
            return place
    return -1


def split(words: Sequence[str], mark: str) -> list[tuple[str, ...]]:
    """The words between marks that stand in no parentheses."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if word == mark and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part) for part in parts]


def closing(words: Sequence[str], at: int) -> int:
    """The place of the bracket that closes the one at `at`; the end if there is none."""
    depth = 0
    for place in range(at, len(words)):
        depth += (words[place] in ("(", "[", "{")) - (words[place] in (")", "]", "}"))
        if depth == 0:
            return place
    return len(words)


def arguments(words: Sequence[str], at: int) -> list[tuple[str, ...]]:
    """What stands in the parentheses that open at `at`, at its commas."""
    inner = words[at + 1 : closing(words, at)]
    return split(inner, ",") if inner else []


def shown(words: Sequence[str]) -> str:
    """Words as somebody would write them: "ph * TILE_WIDTH + tx"."""
    text = ""
    before = ""
    for word in words:
        tight = (
            not text
            or word in (")", "]", ",", ";", "[", ".", "->", "++", "--", "::")
            or before in ("(", "[", ".", "->", "::", "!", "&", "")
            or (word == "(" and (before[-1:].isalnum() or before[-1:] == "_"))
            or (before in ("++", "--"))
            or (word == ">" and before == ">")
        )
        text += word if tight else f" {word}"
        before = word
    return text


class Listing:
    """The statements of one text."""

    def __init__(self, text: str) -> None:
        facts = source.facts(text)
        self.constants = facts.constants
        self.bare = facts.bare
        self.statements: list[Statement] = []
        for number, (kind, parent, first, end) in enumerate(facts.statements):
            lines = tuple(facts.lines[first:end]) or tuple(facts.lines[first : first + 1])
            words = tuple(facts.tokens[first:end])
            line = lines[0] if lines else 0
            self.statements.append(Statement(number, kind, parent, words, line, lines))

    def above(self, statement: Statement) -> Iterator[Statement]:
        """What holds it, the innermost first."""
        for _ in range(_MOST_LEVELS):
            if statement.parent < 0:
                return
            statement = self.statements[statement.parent]
            yield statement

    def function_of(self, statement: Statement) -> Statement | None:
        """The function that it stands in; a lambda is part of its function."""
        return next((item for item in self.above(statement) if item.kind == "function"), None)

    def inside(self, function: Statement | None) -> list[Statement]:
        """What stands in a function, in order; None: in all of the text."""
        if function is None:
            return self.statements
        return [
            item
            for item in self.statements[function.number + 1 :]
            if any(one is function for one in self.above(item))
        ]

    def functions(self) -> list[Statement]:
        return [item for item in self.statements if item.kind == "function"]

    def named(self, name: str) -> Statement | None:
        """The only function of that name."""
        found = [item for item in self.functions() if function_name(item) == name]
        return found[0] if len(found) == 1 else None

    def at(self, line: int) -> list[Statement]:
        """Those with a word in this line."""
        if not line:
            return []
        return [item for item in self.statements if line in item.lines]

    def simple_at(self, line: int) -> Statement | None:
        """The only simple statement of a line."""
        found = [item for item in self.at(line) if item.kind == "simple" and len(item.words) > 1]
        return found[0] if len(found) == 1 else None

    def loops(self, statement: Statement) -> list[Statement]:
        """The loops around it, the innermost first."""
        return [item for item in self.above(statement) if item.kind in LOOPS]

    def declaration(self, name: str, near: Statement) -> tuple[int, tuple[str, ...]] | None:
        """(line, value) of the only declaration of `name` that `near` can mean; value () if none."""
        function = self.function_of(near)
        places = [one.number for one in self.above(near)]
        found = []
        for item in self.inside(function):
            if item.number > near.number or (item.parent not in places):
                continue
            if item.kind not in ("simple", "for", "if"):
                continue
            known = declared(item, name)
            if known is not None:
                found.append(known)
        if item_heads := [one for one in self.above(near) if one.kind in ("for", "if")]:
            for head in item_heads:
                known = declared(head, name)
                if known is not None and known not in found:
                    found.append(known)
        return found[-1] if found else None

    def assignments(self, name: str, function: Statement | None) -> list[Statement]:
        """Statements of a function that give `name` (or an element of it) a value, no declarations."""
        found = []
        for item in self.inside(function):
            if item.kind != "simple" or not item.words or item.words[0] != name:
                continue
            place = 1
            while place < len(item.words) and item.words[place] == "[":
                place = closing(item.words, place) + 1
            if place < len(item.words) and item.words[place] in _ASSIGNS:
                found.append(item)
        return found

    def parameters(self, function: Statement) -> list[str]:
        """The names of a function's parameters."""
        at = head_end(function) - 1
        depth = 0
        while at >= 0:
            depth += (function.words[at] == ")") - (function.words[at] == "(")
            if depth == 0 and function.words[at] == "(":
                break
            at -= 1
        names = []
        for part in arguments(function.words, at) if at >= 0 else ():
            said = split(part, "=")[0]
            inner = next((i for i, w in enumerate(said) if w == "(" and said[i + 1] in "*&"), -1)
            if inner >= 0:  # float (*tile)[16]
                said = said[inner : inner + 3]
            elif "[" in said:  # float tile[][16]
                said = said[: said.index("[")]
            words = [word for word in said if word[:1].isalpha() or word[:1] == "_"]
            names.append(words[-1] if words else "")
        return names


def head_end(function: Statement) -> int:
    """How many of its words come before what a constructor gives its fields: Plan(int r) : rows(r)."""
    at = find(function.words, (")", ":"))  # not private: int rows()
    return at + 1 if at >= 0 else len(function.words)


def function_name(function: Statement) -> str:
    depth = 0
    for at in range(head_end(function) - 1, 0, -1):
        word = function.words[at]
        depth += (word == ")") - (word == "(")
        if depth == 0 and word == "(":
            return function.words[at - 1]
    return ""


_NO_TYPES = frozenset({"return", "else", "case", "goto", "delete", "new", "throw", "using"})


def declared(item: Statement, name: str) -> tuple[int, tuple[str, ...]] | None:
    """(line, value) if the statement declares `name`: int row = 1, col = 2;"""
    words = item.parts[0] if item.kind == "for" else item.words
    if not words or words[-1] == ";":
        words = words[:-1]
    for number, part in enumerate(split(words, ",")):
        left = split(part, "=")
        names = left[0]
        place = next((i for i, word in enumerate(names) if word == name), -1)
        if place < 0 or (number == 0 and place == 0):
            continue
        if number == 0:
            kinds = names[:place]
            if kinds[0] in _NO_TYPES or not all(
                word.replace("_", "a").isalnum() or word in ("*", "&", "<", ">", "::", "(", ")")
                for word in kinds
            ):
                continue
            if kinds[-1] in (".", "->", "(", "::") or any(w in ("[", ".") for w in kinds):
                continue
            if kinds.count("(") > kinds.count(")") and not _is_function_pointer(names, place):
                continue  # an argument: CHECK(cudaFree(*one))
        elif not is_declaration(words) or any(w not in ("*", "&") for w in names[:place]):
            continue
        at = find(words, (name,))
        value: tuple[str, ...] = ()
        if len(left) > 1:
            value = left[1]
        elif place + 1 < len(names) and names[place + 1] == "(":
            value = tuple(names[place + 2 : closing(names, place + 1)])
        return item.lines[min(at, len(item.lines) - 1)], value
    return None


def _is_function_pointer(words: Sequence[str], at: int) -> bool:
    """void (*launch)(int)"""
    return words[at - 2 : at] == ("(", "*") and words[at + 1 : at + 3] == (")", "(")


_TYPE_WORDS = frozenset(
    {
        "int", "float", "double", "unsigned", "size_t", "const", "constexpr", "auto", "long",
        "short", "char", "bool", "float2", "float4", "half", "dim3", "static", "register",
        "__shared__", "alignas", "int64_t", "uint32_t", "int32_t", "uint64_t", "extern", "volatile",
    }
)  # fmt: skip


def is_declaration(words: Sequence[str]) -> bool:
    """Whether it begins like one."""
    if not words:
        return False
    if words[0] in _TYPE_WORDS:
        return True
    return (
        len(words) > 2
        and words[0].isidentifier()
        and words[1].isidentifier()
        and words[0] not in _NO_TYPES
    )


@functools.lru_cache(maxsize=4)
def listing(text: str) -> Listing:
    return Listing(text)
