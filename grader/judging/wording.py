"""Expressions of a student's text: index expressions taken apart, values worked out.

Bounded, without recursion; what is not clear has no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.labs.arithmetic import integer
from grader.labs.source import ELEMENT_BYTES
from grader.labs.statements import Statement, arguments, closing, find

_CASTS = frozenset({"size_t", "int", "unsigned", "long", "uint32_t", "int64_t", "uint64_t"})
BUILT_IN = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_MOST_WORDS = 120


def without_casts(words: Sequence[str]) -> tuple[str, ...]:
    """size_t(row) and (int)row as row; float4-like calls stay."""
    found: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word in _CASTS and at + 1 < len(words) and words[at + 1] == "(":
            at += 1  # the parentheses stay
            continue
        if word == "(" and at + 2 < len(words) and words[at + 1] in _CASTS and words[at + 2] == ")":
            if found[-1:] == ["sizeof"]:
                found += words[at : at + 3]
            at += 3
            continue
        found.append(word)
        at += 1
    return tuple(found)


def bare(words: Sequence[str]) -> tuple[str, ...]:
    """Without parentheses around all of it."""
    words = tuple(words)
    while words and words[0] == "(" and closing(words, 0) == len(words) - 1:
        words = words[1:-1]
    return words


def terms(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The parts of a sum, as far as it is one."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in bare(words):
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if depth == 0 and word in ("+", "-"):
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part) for part in parts if part]


def factors(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The parts of a product; of anything else, itself."""
    parts: list[list[str]] = [[]]
    depth = 0
    words = bare(words)
    for word in words:
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if depth == 0 and word == "*":
            parts.append([])
        elif depth == 0 and word in ("+", "-", "/", "%", "?", "<", ">"):
            return [tuple(words)]
        else:
            parts[-1].append(word)
    return [bare(part) for part in parts if part]


@dataclass(frozen=True)
class Index:
    """matrix[row * length + column], taken apart."""

    row: tuple[str, ...]
    length: tuple[str, ...]
    column: tuple[str, ...]


def indexed(words: Sequence[str], array: str) -> tuple[str, ...]:
    """An array's first use in a statement, with its index."""
    at = find(words, (array, "["))
    end = at + 1
    while 0 < end < len(words) and words[end] == "[":
        end = closing(words, end) + 1
    return tuple(words[at:end]) if at >= 0 else ()


def index_of(words: Sequence[str], matrix: str) -> Index | None:
    """Of the only place in these words where `matrix` has an index of that form."""
    at = find(words, (matrix, "["))
    if at < 0 or find(words, (matrix, "["), at + 1) >= 0:
        return None
    inner = without_casts(words[at + 2 : closing(words, at + 1)])
    if len(inner) > _MOST_WORDS:
        return None
    products = [(term, factors(term)) for term in terms(inner)]
    # The row times its length: the product whose last factor is one name that is no constant tile.
    lengths = [
        (term, parts)
        for term, parts in products
        if len(parts) == 2 and len(parts[1]) == 1 and not parts[1][0].isupper()
    ]
    if len(lengths) != 1:
        lengths = [(term, parts) for term, parts in products if len(parts) == 2]
        lengths = lengths[:1] if len(lengths) == 1 else []
    if not lengths:
        return None
    chosen, (row, length) = lengths[0]
    column: list[str] = []
    for term, _ in products:
        if term is not chosen:
            column += ["+", *term] if column else term
    return Index(tuple(row), tuple(length), tuple(column))


def names_in(words: Sequence[str]) -> list[str]:
    """The variables that are used, each once; threadIdx.x is one name."""
    found = []
    for at, word in enumerate(words):
        if not (word[:1].isalpha() or word[:1] == "_"):
            continue
        if at and words[at - 1] in (".", "->", "::"):
            continue
        if word in BUILT_IN and at + 2 < len(words):
            word = f"{word}.{words[at + 2]}"
        elif at + 1 < len(words) and words[at + 1] == "(":
            continue
        found.append(word)
    return list(dict.fromkeys(found))


def value(words: Sequence[str], known: Mapping[str, str]) -> int | None:
    """The value of an integer expression. known: names, and "threadIdx.x" and its like."""
    if len(words) > _MOST_WORDS:
        return None
    text: list[str] = []
    table = dict(known)
    at = 0
    words = without_casts(words)
    while at < len(words):
        word = words[at]
        if word in BUILT_IN and at + 2 < len(words):
            name = f"{word}.{words[at + 2]}"
            if name not in known:
                return None
            text.append(f"({known[name]})")
            at += 3
            continue
        if word == "sizeof" and at + 1 < len(words) and words[at + 1] == "(":
            end = closing(words, at + 1)
            size = size_of(words[at + 2 : end], known)
            if size is None:
                return None
            text.append(str(size))
            at = end + 1
            continue
        text.append(word.rstrip("uUlL") if word[:1].isdigit() else word)
        at += 1
    return integer(" ".join(text), table)


def size_of(words: Sequence[str], known: Mapping[str, str]) -> int | None:
    words = [word for word in words if word != "const"]
    if words and words[-1] == "*":
        return 8
    if len(words) == 1:
        if words[0] in ELEMENT_BYTES:
            return ELEMENT_BYTES[words[0]]
        size = known.get(f"sizeof {words[0]}")
        return int(size) if size else None
    return None


def calls(item: Statement, name: str) -> list[list[tuple[str, ...]]]:
    """The arguments of each call of `name` in a statement."""
    found = []
    at = find(item.words, (name, "("))
    while at >= 0:
        found.append(arguments(item.words, at + 1))
        at = find(item.words, (name, "("), at + 1)
    return found


_COMPARES = ("==", "!=", "<=", ">=")


def changes(words: Sequence[str], name: str) -> bool:
    """Whether a statement may give a variable another value."""
    for at, word in enumerate(words):
        if word != name:
            continue
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        gives = after[-1:] == "=" and after not in _COMPARES
        if gives or before in ("++", "--", "&") or after in ("++", "--"):
            return True
    return False
