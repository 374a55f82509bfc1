"""Which parameter of a kernel, or which field of a struct of it, lies at an offset of its parameter block."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.labs.source import ELEMENT_BYTES
from grader.labs.statements import Listing, Statement, arguments, closing, function_name

_POINTER = 8
_DEEPEST = 4
_QUALIFIERS = frozenset(
    {"const", "__restrict__", "volatile", "struct", "static", "constexpr", "inline", "typename"}
)
_EIGHT = frozenset({"size_t", "int64_t", "uint64_t", "double", "ptrdiff_t"})


@dataclass(frozen=True)
class Field:
    """`path`: of a struct that is passed by value, the fields that lead there."""

    parameter: int  # its number
    name: str
    path: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return ".".join((self.name, *self.path))


def fields_of(text: Listing, kernel: Statement) -> dict[int, Field]:
    """By offset; only as far as every type before is known."""
    start = kernel.words.index(function_name(kernel)) + 1
    names = text.parameters(kernel)
    found: dict[int, Field] = {}
    place = 0
    for number, part in enumerate(arguments(kernel.words, start)):
        name = names[number] if number < len(names) else ""
        words = [w for w in part if w not in _QUALIFIERS]
        words = words[: words.index(name)] if name in words else words
        inner = _type(text, words, _DEEPEST)
        if inner is None:
            break
        size, align, members = inner
        place = -(-place // align) * align
        for offset, path in members:
            found[place + offset] = Field(number, name, path)
        place += size
    return found


def _type(
    text: Listing, words: list[str], depth: int
) -> tuple[int, int, list[tuple[int, tuple[str, ...]]]] | None:
    """(size, alignment, what lies where) of a type."""
    if "*" in words:
        return _POINTER, _POINTER, [(0, ())]
    name = " ".join(words)
    if name in _EIGHT or "long" in words:
        return 8, 8, [(0, ())]
    size = ELEMENT_BYTES.get(name, 4 if words and words[0] == "unsigned" else 0)
    if size:
        return (size, size, [(0, ())]) if not size & (size - 1) else None
    body = _body(text, words[-1]) if words and depth else None
    if body is None:
        return None
    found: list[tuple[int, tuple[str, ...]]] = []
    place, widest = 0, 1
    for kind, field in body:
        inner = _type(text, kind, depth - 1)
        if inner is None:
            return None
        size, align, members = inner
        place = -(-place // align) * align
        found += [(place + offset, (field, *path)) for offset, path in members]
        place, widest = place + size, max(widest, align)
    return -(-place // widest) * widest, widest, found


def members_of(text: Listing, name: str) -> list[str]:
    """The fields of a struct, in their order; [] where it cannot be read."""
    return [field for _, field in _body(text, name) or ()]


def _body(text: Listing, name: str) -> list[tuple[list[str], str]] | None:
    """(type, name) of a struct's fields."""
    tokens = _tokens(text)
    for at in range(len(tokens) - 2):
        if tokens[at] in ("struct", "class") and tokens[at + 1] == name and tokens[at + 2] == "{":
            return _fields(tokens[at + 3 : closing(tokens, at + 2)])
        if tokens[at] == "struct" and tokens[at + 1] == "{":  # typedef struct { ... } name;
            end = closing(tokens, at + 1)
            if tokens[end + 1 : end + 2] == [name]:
                return _fields(tokens[at + 2 : end])
    return None


def _tokens(text: Listing) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*|\d[\w.]*|::|->|\S", text.bare)


def _fields(tokens: list[str]) -> list[tuple[list[str], str]] | None:
    found: list[tuple[list[str], str]] = []
    at = 0
    while at < len(tokens):
        if tokens[at : at + 2] in (["public", ":"], ["private", ":"]):
            at += 2
            continue
        end, depth = at, 0
        has_body = False
        while end < len(tokens):
            depth += (tokens[end] in "({[") - (tokens[end] in ")}]")
            if tokens[end] == "{" and "(" in tokens[at:end]:
                end = closing(tokens, end)
                depth, has_body = 0, True
                break
            if depth == 0 and tokens[end] == ";":
                break
            end += 1
        part = tokens[at:end]
        at = end + 1
        if has_body or "(" in part or "static" in part or not part:
            continue
        if "[" in part or "union" in part or "using" in part:
            return None
        found += _declared(part)
    return found


def _declared(part: list[str]) -> list[tuple[list[str], str]]:
    """const float *m, *n = 0: each with its own stars."""
    groups: list[list[str]] = [[]]
    depth = 0
    for word in part:
        depth += (word in "({[") - (word in ")}]")
        if word == "," and depth == 0:
            groups.append([])
        else:
            groups[-1].append(word)
    found = []
    base: list[str] = []
    for number, words in enumerate(groups):
        words = words[: words.index("=")] if "=" in words else words
        words = words[: words.index("{")] if "{" in words else words
        words = [w for w in words if w not in _QUALIFIERS]
        if not words:
            continue
        if number == 0:
            base = [w for w in words[:-1] if w != "*"]
            found.append((words[:-1], words[-1]))
        else:
            found.append(([*base, *(w for w in words if w == "*")], words[-1]))
    return found
