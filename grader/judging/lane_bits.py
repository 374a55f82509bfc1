"""Row and column of a lane in its warp's tile, made of the lane's bits: each bit belongs to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.judging import spread
from grader.judging.host import Said
from grader.judging.wording import names_in, value
from grader.labs.statements import Listing, Statement, find, shown, split

CODES = frozenset({
    "uninitialised-shared", "race-shared", "race-global", "wrong-result", "unwritten-output",
    "out-of-bounds-shared", "out-of-bounds-global",
})  # fmt: skip
_LANES, _BITS = 32, 5
_TAKES = frozenset({">>", "&", "/", "%"})


@dataclass(frozen=True)
class _Part:
    """One of the two: where it is written, and its value for each lane."""

    name: str
    line: int
    words: tuple[str, ...]
    values: np.ndarray
    has_idle_term: bool

    @property
    def bits(self) -> set[int]:
        return {bit for bit in range(_BITS) if self.values[1 << bit] != self.values[0]}

    @property
    def is_a_run_in_parts(self) -> bool:
        """lane % 2 + lane / 2 % 2 * 2: who means lane % 4 does not write it bit by bit."""
        low, count = min(self.bits, default=0), len(self.bits)
        run = np.arange(_LANES) >> low & (1 << count) - 1
        return bool({"+", "|"} & set(self.words)) and np.array_equal(self.values, run)

    @property
    def is_even(self) -> bool:
        """Whether it takes 0, n, 2 n, ..., each as often as the others."""
        found, counts = np.unique(self.values, return_counts=True)
        steps = np.diff(found)
        return (counts == counts[0]).all() and (steps == steps[:1]).all()


def shared(text: Listing, may_guess: bool = False) -> Said | None:
    """Two lanes that are given the same place, because a bit is in neither or in both.

    may_guess: also where either of the two may have been meant otherwise.
    """
    for function in text.functions():
        parts = _parts(text, function)
        if len(parts) != 2:
            continue
        first, second = parts
        pairs = set(zip(first.values.tolist(), second.values.tolist(), strict=True))
        counts = [len(np.unique(one.values)) for one in parts]
        if len(pairs) == _LANES and counts[0] * counts[1] == _LANES:
            continue
        blamed = _blamed(first, second, may_guess)
        if blamed is None:
            continue
        lost = set(range(_BITS)) - first.bits - second.bits
        both = first.bits & second.bits
        why = [f"bit {bit} of the lane is in neither of them" for bit in sorted(lost)]
        why += [f"bit {bit} is in both" for bit in sorted(both)]
        what = f"give {_LANES} lanes only {len(pairs)} different places"
        if len(pairs) == _LANES:
            what = f"take {counts[0]} and {counts[1]} values, and a warp has {_LANES} lanes"
        return Said(
            f"{first.name} and {second.name} {what}: {', '.join(why) or 'two of its bits become one'}. "
            f"Here {blamed.name} = {' '.join(blamed.words)}.",
            blamed.line,
            "Each of the five bits of the lane belongs to the row or to the column, and to a place of "
            "its own in it.",
        )
    return None


def _blamed(first: _Part, second: _Part, may_guess: bool) -> _Part | None:
    for is_wrong in (
        lambda one: one.has_idle_term,
        lambda one: not one.is_even,
        lambda one: one.is_a_run_in_parts,
    ):
        found = [one for one in (first, second) if is_wrong(one)]
        if len(found) == 1:
            return found[0]
    lost = set(range(_BITS)) - first.bits - second.bits
    more = max((second, first), key=lambda one: len(one.bits))
    if may_guess or not lost and len(first.bits) != len(second.bits):
        return more
    return None


def _parts(text: Listing, function: Statement) -> list[_Part]:
    inside = [one for one in text.inside(function) if one.kind == "simple"]
    lane = _lane(text, function, inside)
    found: list[_Part] = []
    for item in inside if lane else ():
        words = item.words[:-1] if item.words[-1:] == (";",) else item.words
        for part in split(words, ","):
            sides = split(part, "=")
            if len(sides) != 2 or not sides[0] or "[" in sides[0]:
                continue
            left, right = sides
            if lane not in right or not _TAKES & set(_joined(right)):
                continue
            values = _values(text, right, lane)
            if values is None:
                continue
            terms = [_values(text, one, lane) for one in _terms(right)]
            idle = any(one is not None and not one.any() for one in terms)
            name = shown(left[-3:]) if left[-2:-1] == (".",) else left[-1]
            found.append(
                _Part(name, item.lines[find(item.words, left)], tuple(_joined(right)), values, idle)
            )
    return found


def _lane(text: Listing, function: Statement, inside: Sequence[Statement]) -> str:
    """The number of a thread in its warp: thread % 32, thread & 31, or what a helper is given."""
    if "lane" in text.parameters(function):
        return "lane"
    for item in inside:
        for part in split(item.words[:-1], ","):
            sides = split(part, "=")
            if len(sides) != 2 or len(sides[1]) < 3 or not sides[0]:
                continue
            by = sides[1][-1].rstrip("uU")
            if sides[1][-2:-1] in (("%",), ("&",)) and by in ("31", "32", "warpSize", "WARP_SIZE"):
                return sides[0][-1]
    return ""


def _values(text: Listing, words: Sequence[str], lane: str) -> np.ndarray | None:
    known = {lane: np.arange(_LANES)}
    for name in names_in(words):
        if name != lane:
            number = value((name,), text.constants)
            if number is None:
                return None
            known[name] = np.int64(number)
    found = spread.evaluated(words, known)
    return found if found is not None and found.shape == (_LANES,) else None


def _joined(words: Sequence[str]) -> list[str]:
    """With > > as one sign."""
    found: list[str] = []
    for word in words:
        if word == ">" and found[-1:] == [">"]:
            found[-1] = ">>"
        else:
            found.append(word)
    return found


def _terms(words: Sequence[str]) -> list[tuple[str, ...]]:
    """a | b | c, or a + b."""
    return [part for one in split(words, "|") for part in split(one, "+") if part]
