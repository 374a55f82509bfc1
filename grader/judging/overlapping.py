"""Parts of one shared array, cut by pointers: one is indexed beyond where the next one begins.

Both are filled with no barrier between, so that they are to hold their elements at the same time. The line is
that which says how long the part is: the constant that its length has for a name, or the next pointer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from grader.judging import spread
from grader.judging.barriers import barriers
from grader.judging.constants import definition
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel
from grader.judging.sums import several
from grader.judging.wording import bare, value
from grader.labs.statements import Statement, closing, shown, split

CODES = frozenset({"race-shared", "out-of-bounds-shared", "wrong-result", "uninitialised-shared"})

# Who reaches as far as this has other threads than he thinks, and a part that is long enough.
_MOST = 2  # times its length

Words = tuple[str, ...]


@dataclass(frozen=True)
class _Part:
    """A pointer into the array, so many elements behind `after`, or behind its begin."""

    name: str
    after: str
    by: Words  # () where it begins as that does
    begin: int
    item: Statement
    line: int


def indexed_beyond(kernel: Kernel) -> Said | None:
    """The only part that reaches into the next one."""
    found = []
    for array in _arrays(kernel):
        parts = _parts(kernel, array)
        if len({part.name for part in parts}) == len(parts):
            found += [said for one in parts for said in _beyond(kernel, parts, one)]
    return found[0] if len(found) == 1 else None


def _beyond(kernel: Kernel, parts: list[_Part], one: _Part) -> Iterator[Said]:
    behind = [part for part in parts if part.begin > one.begin]
    if not behind:
        return
    begin = min(part.begin for part in behind)
    following = [part for part in behind if part.begin == begin]
    if len(following) != 1 or sum(part.begin == one.begin for part in parts) != 1:
        return
    (other,) = following
    mine, theirs = _stores(kernel, one.name), _stores(kernel, other.name)
    if not mine or not theirs or not _at_one_time(kernel, mine, theirs):
        return
    reached = [
        (most, item) for item, index in mine if (most := _most(kernel, index, item)) is not None
    ]
    room = other.begin - one.begin
    if not reached or not room <= max(most for most, _ in reached) < _MOST * room:
        return
    most, item = max(reached, key=lambda each: each[0])
    line, words = _made(kernel, one, other)
    yield Said(
        f"{one.name} is filled up to {one.name}[{most}] in line {item.line}, and {other.name} begins "
        f"{several(room, 'element')} behind it ({shown(words)}): the two lie over each other.",
        line,
        f"{one.name} needs room for at least {most + 1} elements.",
    )


def _made(kernel: Kernel, one: _Part, other: _Part) -> tuple[int, Words]:
    """Where the length is written: a constant of the file, if it is nothing else."""
    words = other.by
    if other.after != one.name and one.by and words[: len(one.by) + 1] == (*one.by, "+"):
        words = words[len(one.by) + 1 :]  # a begins at X, and b at X + LENGTH
    name = words[-1] if all(word == "::" or word.isidentifier() for word in words) else ""
    if other.after != one.name and one.by and words == other.by:
        name = ""
    known = (
        kernel.text.declaration(name, other.item) or definition(kernel.text, name) if name else None
    )
    if known is not None and known[1]:
        return known[0], (name, "=", *known[1])
    return other.line, words


def _arrays(kernel: Kernel) -> list[str]:
    found = []
    for item in kernel.body:
        at = item.words.index("[") if "[" in item.words else 0
        if item.kind == "simple" and "__shared__" in item.words and at:
            if closing(item.words, at) + 1 < len(item.words) and item.words[-2] == "]":
                found.append(item.words[at - 1])
    return found


def _parts(kernel: Kernel, array: str) -> list[_Part]:
    found: list[_Part] = []
    for item in kernel.body:
        if item.kind != "simple" or "*" not in item.words and "auto" not in item.words:
            continue
        for part in split(item.words[:-1], ","):
            left = split(part, "=")
            if len(left) != 2 or not left[0] or not left[0][-1].isidentifier():
                continue
            if "*" not in left[0] and "auto" not in left[0]:
                continue
            words, name = bare(left[1]), left[0][-1]
            known = {array: 0, **{one.name: one.begin for one in found}}
            if words[:1] == ("&",) and words[1:2] and words[1] in known and words[-1:] == ("]",):
                after, by = words[1], tuple(words[3:-1])
            elif words and words[0] in known and words[1:2] in ((), ("+",)):
                after, by = words[0], tuple(words[2:])
            else:
                continue
            by = bare(by)
            begin = value(_plain(by), kernel.known) if by else 0
            if begin is None:
                continue  # a thread's own place
            line = item.lines[item.words.index(name)]
            found.append(_Part(name, after, tuple(by), known[after] + begin, item, line))
    return found


def _plain(words: Words) -> list[str]:
    """PITCH, of Config::PITCH."""
    return [
        word for at, word in enumerate(words) if word != "::" and words[at + 1 : at + 2] != ("::",)
    ]


def _stores(kernel: Kernel, name: str) -> list[tuple[Statement, Words]]:
    """Where each thread stores an element, without a condition that would keep some from it."""
    found = []
    for item in kernel.body:
        if item.kind != "simple" or item.words[:2] != (name, "["):
            continue
        end = closing(item.words, 1)
        if item.words[end + 1 : end + 2] != ("=",):
            continue
        if any(
            above.kind in ("if", "else", "while", "do", "switch")
            for above in kernel.text.above(item)
        ):
            continue
        found.append((item, tuple(item.words[2:end])))
    return found


def _most(kernel: Kernel, index: Words, item: Statement) -> int | None:
    """The largest index over all threads and turns; None where it is not clear."""
    if not spread.is_followed(kernel, index, item):
        return None
    ends: dict[str, int] = {}  # of loops that count from a thread's own number
    for loop in kernel.text.loops(item):
        found = spread.turns(kernel, loop)
        if found is not None and found[2]:
            ends[found[0]] = value(loop.parts[1][2:], kernel.known)
    names = [word for name in ends for word in ("+", "0", "*", name)]
    table = spread.table_of(kernel, ("(", *index, ")", *names), item)
    if table is None:
        return None
    is_there = np.ones_like(table, bool)
    for name, end in ends.items():
        counted = spread.table_of(kernel, (name, *names, "+", "0", "*", "(", *index, ")"), item)
        if counted is None:
            return None
        is_there = is_there & (counted < end)
    found = np.broadcast_to(table, is_there.shape)[is_there]
    return int(found.max()) if len(found) else None


def _at_one_time(kernel: Kernel, mine: list, theirs: list) -> bool:
    """Whether no barrier stands between where the one and the other are filled."""
    numbers = [[item.number for item, _ in some] for some in (mine, theirs)]
    first, last = min(map(min, numbers)), max(map(max, numbers))
    return not any(first < one.number < last for one in barriers(kernel))
