"""Loops that walk along a row, to an end that is not counted from where that row begins.

m begins at M + row * width + x, and goes on while m < M + width: that is the end of row 0 only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.judging.host import Said
from grader.judging.kernel_text import TURNED, Kernel
from grader.judging.wording import bare, changes, factors, names_in, terms, value, without_casts
from grader.labs.statements import Statement, closing, declared, shown, split

CODES = frozenset({"barrier-divergence", "wrong-result", "out-of-bounds-global", "timeout"})
_DEEPEST = 4  # names that come from each other
_MOST_TERMS = 24

Words = tuple[str, ...]


@dataclass(frozen=True)
class _Meant:
    """Where a name is given its value, and the terms that this is the sum of."""

    line: int
    words: Words
    terms: tuple[Words, ...]


def of_first_row(kernel: Kernel) -> Said | None:
    """The only end of such a walk that lacks the row of the thread or of the block."""
    found = [said for loop in kernel.body for said in _in_loop(kernel, loop)]
    return found[0] if len({one.line for one in found}) == 1 else None


def _in_loop(kernel: Kernel, loop: Statement) -> Iterator[Said]:
    if loop.kind not in ("for", "while"):
        return
    before = (_is_of_do(kernel, loop) if loop.kind == "while" else None) or loop
    for left, right in _compared(kernel, loop):
        for walker, end in ((left, right), (right, left)):
            if len(walker) != 1 or not walker[0].isidentifier() or walker[0] in end:
                continue
            steps = list(_steps(kernel, loop, before, walker[0]))
            start = _meaning(kernel, walker[0], before)
            if not steps or start is None:
                continue
            stop = _meaning(kernel, end[0], before) if len(end) == 1 else None
            if stop is None:
                stop = _Meant(loop.line, end, tuple(_spread(kernel, end, loop, 0)))
            said = _said(kernel, loop, (walker[0], start, steps), (end, stop))
            if said is not None:
                yield said


def _compared(kernel: Kernel, loop: Statement) -> Iterator[tuple[Words, Words]]:
    """Both sides of each comparison that ends a loop: in its head, or of an if with a break."""
    heads = [loop.parts[1] if loop.kind == "for" and len(loop.parts) == 3 else loop.words]
    for item in kernel.text.inside(loop):
        holder = next(kernel.text.above(item), None)
        if item.words[:1] == ("break",) and holder is not None and holder.kind == "if":
            if next(iter(kernel.text.loops(item)), None) is loop:
                heads.append(holder.words)
    for head in heads:
        for part in split(bare(head), "&&"):
            signs = [at for at, word in enumerate(part) if word in TURNED or word == "!="]
            if len(signs) == 1 and "?" not in part and "<" not in part[: signs[0]]:
                yield bare(part[: signs[0]]), bare(part[signs[0] + 1 :])


def _steps(kernel: Kernel, loop: Statement, body: Statement, name: str) -> Iterator[Words]:
    """What each turn adds to the variable that walks."""
    parts = [loop.parts[2]] if loop.kind == "for" and len(loop.parts) == 3 else []
    inside = kernel.text.inside(body)
    words = [*split(parts[0], ",")] if parts else []
    words += [part for one in inside if one.kind == "simple" for part in _parts(one)]
    for one in words:
        if changes(one, name):
            yield one


def _parts(item: Statement) -> list[Words]:
    words = item.words[:-1] if item.words[-1:] == (";",) else item.words
    return [words] if any(word in ("=", "(") for word in words[:2]) else split(words, ",")


def _is_of_do(kernel: Kernel, loop: Statement) -> Statement | None:
    """The do that a while with nothing in it ends."""
    before = [one for one in kernel.body if one.parent == loop.parent and one.number < loop.number]
    inside = kernel.text.inside(loop)
    is_empty = not inside or [one.words for one in inside] == [(";",)]
    return before[-1] if is_empty and before and before[-1].kind == "do" else None


def _meaning(kernel: Kernel, name: str, near: Statement, depth: int = 0) -> _Meant | None:
    """What a variable has where it is used first: its first value, and what was added before."""
    around = {near.number, *(one.number for one in kernel.text.above(near))}
    places = [
        (item, known)
        for item in kernel.body
        if item.number <= near.number and (item.parent in around or item is near)
        and item.kind in ("simple", "for")
        and (known := declared(item, name)) is not None
    ]  # fmt: skip
    if not places or depth > _DEEPEST:
        return None
    place, (line, words) = places[-1]
    added: list[Words] = []
    for item in kernel.body:
        if not place.number < item.number < near.number or not changes(item.words, name):
            continue
        if item.kind != "simple" or item.parent not in around or item.words[0] != name:
            return None
        sign, given = item.words[1], item.words[2:-1]
        if sign == "=" and not words and not added:
            line, words = item.line, given
        elif sign == "+=":
            added += _spread(kernel, given, item, depth + 1)
        else:
            return None
    if not words:
        return None
    found = [*_spread(kernel, words, place, depth + 1), *added]
    return _Meant(line, words, tuple(found)) if len(found) <= _MOST_TERMS else None


def _spread(kernel: Kernel, words: Sequence[str], near: Statement, depth: int) -> list[Words]:
    """The terms of a sum, with those of the variables that are summands written out."""
    words = bare(without_casts(words))
    if words[:1] == ("&",) and words[2:3] == ("[",) and closing(words, 2) == len(words) - 1:
        return [(words[1],), *_spread(kernel, words[3:-1], near, depth)]  # &M[row * width]
    if "-" in words or "?" in words:
        return [tuple(words)]
    found: list[Words] = []
    for term in terms(words):
        term = bare(term)
        inner = None
        if len(term) == 1 and value(term, kernel.known) is None:
            inner = _meaning(kernel, term[0], near, depth + 1)
        elif len(terms(term)) > 1:
            found += _spread(kernel, term, near, depth)
            continue
        found += inner.terms if inner is not None else [term]
    return found


def _rows(kernel: Kernel, meant: _Meant, length: Words, near: Statement) -> list[Words]:
    """Of row * length the summands of row."""
    found: list[Words] = []
    for term in meant.terms:
        parts = factors(term)
        if len(parts) > 1 and length in parts:
            parts.remove(length)
            if len(parts) == 1:
                found += _spread(kernel, parts[0], near, 0)
            else:
                found.append(tuple(word for part in parts for word in (*part, "*"))[:-1])
    return found


def _said(
    kernel: Kernel,
    loop: Statement,
    walk: tuple[str, _Meant, list[Words]],
    goal: tuple[Words, _Meant],
) -> Said | None:
    (walker, start, steps), (end, stop) = walk, goal
    for length in stop.terms:
        if not all(word.isidentifier() or word in (".", "->") for word in length):
            continue
        if any(set(length) & set(step) for step in steps):
            continue  # it walks down
        begins, ends = (_rows(kernel, one, length, loop) for one in (start, stop))
        lacks = [one for one in begins if one not in ends]
        others = [one for one in stop.terms if one != length and length not in factors(one)]
        if any(one not in begins for one in ends) or any(one not in start.terms for one in others):
            continue
        if not any(value((name,), kernel.known) is None for one in lacks for name in names_in(one)):
            continue
        row = shown(tuple(word for one in lacks for word in (*one, "+"))[:-1])
        row, size = f"({row})" if len(lacks) > 1 else row, shown(length)
        named = f"{shown(end)} = {shown(stop.words)}" if len(end) == 1 else shown(end)
        return Said(
            f"{named} is the end of another row than the one that {walker} walks along in the loop of "
            f"line {loop.line}: {walker} begins {row} * {size} further on.",
            stop.line,
            f"The end is in the same row as the beginning: add {row} * {size} to it, too.",
        )
    return None
