"""Where sums of products of pieces have to be made smaller: pieces are kept larger than they are.

The products of pieces whose numbers add up to 2 go into a sum first; it is divided before those that add
up to 1 are added. Where that is left out, all of the first products are too large, and none of their
lines is wrong: the division belongs behind the last of them, or where their sum is added to another.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.judging.wording import bare, terms
from grader.labs.statements import Listing, Statement, closing, function_name
from grader.results.provenance import ElementHistory, Term

_ADDS = ("+=", "=")
_SCALES = ("*=", "/=")


@dataclass(frozen=True)
class _Products:
    """Of pieces whose numbers add up to the same: their lines."""

    lines: frozenset[int]
    numbers: frozenset[int]  # what the pieces' numbers add up to


def scale_of(term: Term) -> float:
    scale = term.scale
    for factor in term.factors:
        scale *= factor.scale
    return scale


def line_of_division(one: ElementHistory, first: Term, text: Listing) -> int:
    """Where it is missing, or done once too often; the line of `first` where that is not certain."""
    wrong, right = _sorted(one, scale_of(first))
    if not text.statements or not right.numbers or wrong.numbers & right.numbers:
        return first.line
    is_other = any(scale_of(term) not in (1, scale_of(first)) for term in _of_pieces(one))
    if is_other or min(wrong.numbers) <= max(right.numbers):
        return first.line
    lines, right_lines = sorted(wrong.lines), sorted(right.lines)
    if wrong.lines & right.lines:
        calls = _calls(text, first.line, len(wrong.numbers) + len(right.numbers))
        if not calls:
            return first.line
        lines, right_lines = calls[: len(wrong.numbers)], calls[len(wrong.numbers) :]
    sums = {_sum_of(text, line) for line in lines}
    others = {_sum_of(text, line) for line in right_lines}
    last = lines[-1]
    if len(sums) == 1 and "" not in sums and not sums & others:
        return _next_use(text, last, sums.pop()) or last
    return last


def sum_made_smaller(one: ElementHistory, first: Term, text: Listing) -> tuple[int, str]:
    """Where products of pieces 0 are scaled, and the sum that holds them alone; (0, "") if that is not clear.

    These pieces are as large as they are: no sum of their products is to be made smaller.
    """
    wrong, right = _sorted(one, scale_of(first))
    if scale_of(first) >= 1 or wrong.numbers != {0} or wrong.lines & right.lines:
        return 0, ""
    sums = {_sum_of(text, line) for line in wrong.lines}
    if len(sums) != 1 or "" in sums or sums & {_sum_of(text, line) for line in right.lines}:
        return 0, ""
    (name,) = sums
    lines = _scaled_at(text, max(wrong.lines), name)
    return (lines[0], name) if len(lines) == 1 else (0, "")


def _scaled_at(text: Listing, line: int, name: str) -> list[int]:
    """The lines after this one that multiply or divide a sum, or what it is a part of."""
    near: Statement | None = next(iter(text.at(line)[-1:]), None)
    found: list[int] = []
    for item in text.inside(text.function_of(near)) if near is not None else ():
        words, of = item.words, {name}
        if item.number <= near.number or item.kind != "simple":
            continue
        for loop in text.loops(item):  # for (float& value : high) value *= DOWN;
            at = loop.words.index(":") if loop.kind == "for" and ":" in loop.words else 0
            if at and name in loop.words[at:]:
                of.add(loop.words[at - 1])
        sign = next((at for at, word in enumerate(words) if word in (*_ADDS, *_SCALES)), -1)
        if sign < 1:
            continue
        is_itself = words[sign] in _SCALES and words[0] in of
        if is_itself or any(_is_scaled(part, of) for part in terms(_value(words, sign))):
            found.append(item.line)
    return list(dict.fromkeys(found))


def _value(words: tuple[str, ...], sign: int) -> tuple[str, ...]:
    return words[sign + 1 : -1] if words[-1:] == (";",) else words[sign + 1 :]


def _is_scaled(part: tuple[str, ...], names: set[str]) -> bool:
    """Whether a term is a product, or a quotient, and one of the names a part of it."""
    part, depth, is_scaled = bare(part), 0, False
    for at, word in enumerate(part):
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        is_scaled |= depth == 0 and at > 0 and word in ("*", "/")
    return is_scaled and bool(names & {*part})


def _of_pieces(one: ElementHistory) -> list[Term]:
    return [
        term for term in one.terms if len(term.factors) == 2 and all(f.matrix for f in term.factors)
    ]


def _sorted(one: ElementHistory, scale: float) -> tuple[_Products, _Products]:
    found: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for term in _of_pieces(one):
        number = sum(factor.piece for factor in term.factors)
        if scale_of(term) in (1, scale):
            found[scale_of(term) == scale].append((term.line, number))
    wrong, right = (
        _Products(frozenset(line for line, _ in some), frozenset(number for _, number in some))
        for some in (found[True], found[False])
    )
    return wrong, right


def _calls(text: Listing, line: int, groups: int) -> list[int]:
    """The calls of the helper that a line stands in, if each adds one group of products."""
    item = next(iter(text.at(line)[-1:]), None)
    function = text.function_of(item) if item is not None else None
    if function is None or "__global__" in function.words:
        return []
    name = function_name(function)
    calls = [
        one
        for one in text.statements
        if one.kind == "simple" and any(
            word == name and one.words[at + 1] in ("(", "<")
            for at, word in enumerate(one.words[:-1])
        )
    ]  # fmt: skip
    return [one.line for one in calls] if len(calls) == groups else []


def _sum_of(text: Listing, line: int) -> str:
    """low, of multiply_add(low, m, n) and of low[e] += m * n."""
    for item in text.at(line):
        if item.kind != "simple" or not item.words:
            continue
        words = item.words
        while words[1:2] == ("::",):
            words = words[2:]
        if words[1:2] == ("(",) and closing(words, 1) >= len(words) - 2:
            at = 3 if words[2:3] == ("&",) else 2
            return words[at] if words[at : at + 1] and words[at].isidentifier() else ""
        if any(sign in words for sign in _ADDS) and words[0].isidentifier():
            return words[0]
    return ""


def _next_use(text: Listing, line: int, name: str) -> int:
    """Where a sum is added to another one."""
    near: Statement | None = next(iter(text.at(line)[-1:]), None)
    if near is None:
        return 0
    for item in text.inside(text.function_of(near)):
        if item.number <= near.number or item.kind != "simple" or name not in item.words:
            continue
        sign = next((at for at, word in enumerate(item.words) if word in _ADDS), -1)
        if sign > 0 and name in item.words[sign:] and item.words[0] != name:
            return item.line
    return 0
