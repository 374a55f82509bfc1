"""How a wrong P lies: which mistake would explain it, or where the wrong elements are.

A pattern is only named when it explains every wrong element, so that it never misleads: either P
equals what a known mistake computes, or the wrong elements form a region with a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from grader.judging.misplaced import misplaced_lines

TILE_WIDTHS = (32, 16, 8, 4, 2)
_MOST_LISTED = 4  # runs of rows or columns
# Hypotheses cost a product each; larger cases are described by their regions only.
_LARGEST_MULTIPLY_ADDS = 1 << 26
# A guess is first made for this many rows that hold wrong elements: nearly all guesses fail there,
# at a small part of a whole product's cost.
_TRIED_ROWS = 2

# The given rows of what P would be with a mistake: an index of rows -> [rows][l].
_Guess = Callable[["np.ndarray | slice"], np.ndarray]
_ALL_ROWS = slice(None)


# What P alone lets one guess. Where it is known what was multiplied, a guess only leads away.
_NAN = ": never written, or computed from something never written. Does every sum start at 0?"
_ZEROS = ": the sum was never added to, or never stored."
_TERMS = ": terms are added more than once, or left out evenly."


def without_guess(text: str) -> str:
    """What a pattern's sentence says of P, and no more."""
    for guess in (_NAN, _ZEROS, _TERMS):
        if text.endswith(guess):
            return text.removesuffix(guess) + "."
    return text


@dataclass(frozen=True)
class Pattern:
    """A named way of being wrong."""

    name: str  # "transposed N", "missing last tile", ...
    sentence: str  # what it looks like and what to check
    is_mistake: bool = True  # P equals what this mistake computes; False: only where it is wrong

    @property
    def strength(self) -> int:
        """How much it tells: a mistake more than a place, a place more than that it is 0."""
        if self.name in ("zeros", "NaN"):
            return 1
        if self.is_mistake:
            return 3
        return 0 if self.name == "whole matrix" else 2


def find_pattern(
    p: np.ndarray, m: np.ndarray, n: np.ndarray, expected: np.ndarray, wrong: np.ndarray
) -> Pattern | None:
    """The first pattern that explains all wrong elements, or None.

    p, expected: [j][l]; m: [j][k]; n: [k][l]; wrong: mask of the elements outside the bound.
    """
    if not wrong.any():
        return None
    wide_m, wide_n = m.astype(np.float64), n.astype(np.float64)
    got = p.astype(np.float64)
    nothing = _nothing_there(got, wrong)
    if nothing is not None:
        return nothing
    if m.size * n.shape[1] <= _LARGEST_MULTIPLY_ADDS:
        # What float32 may be off by, whichever elements a mistake multiplied.
        near = 2e-6 * float(np.abs(wide_m).sum(axis=1).max() * np.abs(wide_n).max()) + 1e-30
        for pattern, guess in _hypotheses(wide_m, wide_n, expected, got):
            if _explains(guess, got, wrong, expected, near):
                return pattern
        moved = misplaced_lines(got, expected, wrong, near)
        if moved is not None:
            return _misplaced(*moved)
    region = _region(wrong)
    return region and replace(region, is_mistake=False)


def _misplaced(kind: str, moved: dict[int, int]) -> Pattern:
    (first, of_first), (second, of_second), *_ = moved.items()
    text = (
        f"The {kind}s of P are mixed up: {kind} {first} holds what belongs in {kind} {of_first}, "
        f"{kind} {second} what belongs in {kind} {of_second}. Is a sum stored into the {kind} "
        "whose factors it is made of?"
    )
    return Pattern(f"misplaced {kind}s", text)


def _nothing_there(got: np.ndarray, wrong: np.ndarray) -> Pattern | None:
    bad = got[wrong]
    where = _region(wrong)
    place = f" ({where.name})" if where is not None and not wrong.all() else ""
    if np.isnan(bad).all():
        return Pattern(
            "NaN",
            (f"Every wrong element is NaN{place}{_NAN}"),
        )
    if (bad == 0).all():
        return Pattern(
            "zeros",
            f"Every wrong element is 0{place}{_ZEROS}",
        )
    return None


def _explains(
    guess: _Guess, got: np.ndarray, wrong: np.ndarray, expected: np.ndarray, near: float
) -> bool:
    """Every wrong element equals the guess, and the guess differs from the right answer there."""
    tried = np.flatnonzero(wrong.any(axis=1))[:_TRIED_ROWS]
    with np.errstate(invalid="ignore"):
        if not (np.abs(got[tried] - guess(tried)) <= near)[wrong[tried]].all():
            return False
        whole = guess(_ALL_ROWS)
        fits = np.abs(got - whole) <= near
        differs = np.abs(expected - whole) > near
    return bool(fits[wrong].all() and differs[wrong].any())


def _hypotheses(
    m: np.ndarray, n: np.ndarray, expected: np.ndarray, got: np.ndarray
) -> Iterator[tuple[Pattern, _Guess]]:
    """Mistakes and what P would be with each, the most specific first."""
    yield from _swapped_indices(m, n, expected)
    yield from _missing_terms(m, n)
    yield from _wrong_tiles(m, n)
    yield from _shifted(expected)
    yield from _sums_not_reset(expected, got)


def _product(m: np.ndarray, n: np.ndarray) -> _Guess:
    return lambda rows: m[rows] @ n


def _known(values: np.ndarray) -> _Guess:
    return lambda rows: values[rows]


def _swapped_indices(m: np.ndarray, n: np.ndarray, expected: np.ndarray) -> Iterator:
    j, k = m.shape
    l = n.shape[1]  # noqa: E741
    if k == l:
        yield (
            Pattern(
                "transposed N",
                "P is M times the transpose of N: N is indexed [column][row] somewhere.",
            ),
            _product(m, n.T),
        )
    if j == k:
        yield (
            Pattern(
                "transposed M",
                "P is the transpose of M, times N: M is indexed [column][row] somewhere.",
            ),
            _product(m.T, n),
        )
    if j == l:
        yield (
            Pattern(
                "rows and columns swapped",
                "P is transposed: the thread's row and column are swapped where P is stored.",
            ),
            _known(expected.T),
        )
    if j == k == l:
        text = "P is N times M: the two matrices are swapped."
        yield Pattern("factors swapped", text), _product(n, m)
        yield (
            Pattern(
                "both transposed",
                "P is M transposed times N transposed: rows and columns are swapped in both loads.",
            ),
            _product(m.T, n.T),
        )


def _missing_terms(m: np.ndarray, n: np.ndarray) -> Iterator:
    k = m.shape[1]

    def only(begin: int, end: int) -> _Guess:
        """The terms k = begin..end-1 alone."""
        return _product(m[:, begin:end], n[begin:end])

    if k > 1:
        text = "The last term of every sum is missing: a loop over k ends one step too early."
        yield Pattern("off by one", text), only(0, k - 1)
        text = "The first term of every sum is missing: a loop over k starts at 1."
        yield Pattern("off by one", text), only(1, k)
    for tile in TILE_WIDTHS:
        if k <= tile:
            continue
        end = (k - 1) // tile * tile
        text = (
            f"The terms k = {end}..{k - 1}, the last tile of {tile}, are missing: is "
            "the number of phases rounded up?"
        )
        yield Pattern("missing last tile", text), only(0, end)
        text = f"The terms k = 0..{tile - 1}, the first tile of {tile}, are missing from every sum."
        yield Pattern("missing first tile", text), only(tile, k)
        if k > 2 * tile:
            text = (
                f"Only the first tile of {tile} is in the sum: does the loop run over all phases?"
            )
            yield Pattern("only the first tile", text), only(0, tile)
        text = f"Only the last tile of {tile} is in the sum: is sum set to 0 again in every phase?"
        yield Pattern("only the last tile", text), only(end, k)


def _wrong_tiles(m: np.ndarray, n: np.ndarray) -> Iterator:
    """Whole tiles used in the wrong phase; where all tiles are full."""
    k = m.shape[1]
    for tile in TILE_WIDTHS:
        phases = k // tile
        if phases < 2 or k % tile:
            continue
        # The sums over all phases of an element's place in its tile: [j][tile] and [tile][l].
        sum_m = m.reshape(len(m), phases, tile).sum(axis=1)
        sum_n = n.reshape(phases, tile, -1).sum(axis=0)
        text = (
            f"Every phase multiplies the first pair of tiles (of {tile}) again: does "
            "the load depend on the phase?"
        )
        yield Pattern("stale tile", text), _product(phases * m[:, :tile], n[:tile])
        text = (
            f"The tile of M (width {tile}) stays the first one in all phases: its load "
            "ignores the phase."
        )
        yield Pattern("stale tile", text), _product(m[:, :tile], sum_n)
        text = (
            f"The tile of N (width {tile}) stays the first one in all phases: its load "
            "ignores the phase."
        )
        yield Pattern("stale tile", text), _product(sum_m, n[:tile])
        text = (
            f"Each phase uses the tiles (of {tile}) of the phase before: is there a "
            "barrier between loading and using?"
        )
        yield Pattern("stale tile", text), _product(m[:, : k - tile], n[: k - tile])


def _shifted(expected: np.ndarray) -> Iterator:
    for axis, what in ((1, "column"), (0, "row")):
        for step in (1, -1):
            if expected.shape[axis] > 1:
                text = (
                    f"Every wrong element holds the value of its neighbouring {what}: an index "
                    "of the store is off by one."
                )
                yield Pattern("off by one", text), _known(np.roll(expected, step, axis))


_LEAST_RATIO = 0.01  # less than that, nothing was added more than once
_OF_TERMS = 0.02


def _sums_not_reset(expected: np.ndarray, got: np.ndarray) -> Iterator:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = (
            float(np.nanmedian(got / np.where(expected == 0, np.nan, expected)))
            if expected.any()
            else np.nan
        )
        offset = float(np.median(got - expected))
    if np.isfinite(ratio) and abs(ratio) > _LEAST_RATIO and ratio != 1.0:
        shown = f"{round(ratio)}" if abs(ratio - round(ratio)) < 1e-3 else f"{ratio:.6g}"
        text = f"Every wrong element is {shown} times what it should be"
        # A factor next to 1 is one of rounding or of a format, and comes from no number of terms.
        is_of_terms = abs(ratio - 1) > _OF_TERMS
        text += _TERMS if is_of_terms else "."
        yield Pattern("scaled", text), _known(ratio * expected)
    if np.isfinite(offset):
        text = (
            f"Every wrong element is off by the same {offset:.6g}: "
            "the sum does not start at 0, or something is added to it."
        )
        yield Pattern("uninitialised sum", text), _known(expected + offset)
    text = (
        "Each element still contains the ones before it in its {}: the sum is not "
        "set to 0 for every element."
    )
    yield Pattern("uninitialised sum", text.format("row")), _known(np.cumsum(expected, axis=1))
    yield Pattern("uninitialised sum", text.format("column")), _known(np.cumsum(expected, axis=0))
    for tile in (2, 4, 8):
        for axis, what in ((1, "row"), (0, "column")):
            if expected.shape[axis] % tile == 0:
                guess = _known(_running(expected, tile, axis))
                yield Pattern("uninitialised sum", text.format(what)), guess


def _running(values: np.ndarray, group: int, axis: int) -> np.ndarray:
    """Running sums that start again every `group` elements."""
    moved = np.moveaxis(values, axis, -1)
    grouped = moved.reshape(*moved.shape[:-1], -1, group).cumsum(axis=-1)
    return np.moveaxis(grouped.reshape(moved.shape), -1, axis)


def _region(wrong: np.ndarray) -> Pattern | None:
    """A name for where the wrong elements are, if they are exactly one region."""
    rows, columns = wrong.shape
    if wrong.all():
        return Pattern("whole matrix", "Every element of P is wrong.") if wrong.size > 1 else None
    whole_rows = wrong.all(axis=1)
    whole_columns = wrong.all(axis=0)
    if (wrong == whole_rows[:, None]).all():
        return _lines("row", whole_rows)
    if (wrong == whole_columns[None, :]).all():
        return _lines("column", whole_columns)
    last_row, last_column = _tail(whole_rows), _tail(whole_columns)
    if last_row and last_column and 2 * last_row < rows and 2 * last_column < columns:
        text = (
            f"The last {_count(last_row, 'row')} and the last "
            f"{_count(last_column, 'column')} are wrong, the rest is right: the last "
            "tile in both directions."
        )
        edge = wrong.copy()
        edge[rows - last_row :] = False
        edge[:, columns - last_column :] = False
        if not edge.any():
            return Pattern("last tile", text)
    return _rectangle(wrong)


def _lines(kind: str, whole: np.ndarray) -> Pattern:
    numbers = np.flatnonzero(whole)
    size = len(whole)
    if len(numbers) == _tail(whole):
        first = int(numbers[0])
        text = (
            f"The last {_count(len(numbers), kind)} of P ({first}..{size - 1}) are "
            "wrong, the rest is right: does the grid cover them, and is the last tile "
            "complete?"
        )
        return Pattern(f"last {kind}s", text)
    if len(numbers) == _tail(whole[::-1]):
        return Pattern(
            f"first {kind}s",
            f"The first {_count(len(numbers), kind)} of P are wrong, the rest is right.",
        )
    steps = np.diff(numbers)
    if len(numbers) > 2 and (steps == steps[0]).all() and steps[0] > 1:
        text = f"One {kind} of P in {steps[0]} is wrong, from {kind} {numbers[0]} on."
        return Pattern(f"one {kind} in {steps[0]}", text)
    right, wrong = _runs(np.flatnonzero(~whole)), _runs(numbers)
    if len(right) <= _MOST_LISTED < len(wrong):
        return Pattern(f"whole {kind}s", f"All {kind}s of P are wrong but {', '.join(right)}.")
    shown = ", ".join(wrong[:_MOST_LISTED]) + (", ..." if len(wrong) > _MOST_LISTED else "")
    return Pattern(f"whole {kind}s", f"Whole {kind}s of P are wrong: {shown}; the rest is right.")


def _runs(numbers: np.ndarray) -> list[str]:
    """ "0..15" and "20" for 0 to 15 and 20."""
    pieces = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    return [
        f"{piece[0]}..{piece[-1]}" if len(piece) > 1 else f"{piece[0]}"
        for piece in pieces
        if len(piece)
    ]


def _rectangle(wrong: np.ndarray) -> Pattern | None:
    rows = np.flatnonzero(wrong.any(axis=1))
    columns = np.flatnonzero(wrong.any(axis=0))
    top, bottom, left, right = rows[0], rows[-1], columns[0], columns[-1]
    place = f"P[{top}..{bottom}][{left}..{right}]"
    if len(rows) == len(columns) == 1:
        return Pattern("one element", f"Only P[{top}][{left}] is wrong.")
    if wrong[top : bottom + 1, left : right + 1].all():
        return Pattern(
            "one block", f"Exactly {place} is wrong, the rest is right: one block's part of P."
        )
    height = int((~wrong).any(axis=1).sum())
    width = int((~wrong).any(axis=0).sum())
    if not wrong[:height, :width].any() and height * width == int((~wrong).sum()):
        text = (
            f"Only P[0..{height - 1}][0..{width - 1}] is right: do the grid's blocks cover the "
            "rest, and do they use blockIdx?"
        )
        return Pattern("only the first block", text)
    return None


def _tail(flags: np.ndarray) -> int:
    """How many flags are set at the end."""
    unset = np.flatnonzero(~flags)
    return len(flags) - 1 - int(unset[-1]) if len(unset) else len(flags)


def _count(number: int, what: str) -> str:
    return what if number == 1 else f"{number} {what}s"
