"""Products of pieces on tensor cores: which of them never reached the sum, told by P alone.

An element of M or N is the sum of three bf16, x = x0 + x1 + x2, each the nearest to what the ones
before leave. Of the nine products of pieces six matter to a float. What P lacks of a product is a
sum of such products, and no two sets of them look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from grader.judging.patterns import Pattern
from grader.labs import data

SUMS_NOT_PROMOTED = "sums not promoted"
PIECES = 3
UP = 256.0  # how much a piece is kept larger than it is, so that it does not underflow
PAIRS = ((0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0))
_LARGEST_MULTIPLY_ADDS = 1 << 24  # six products of float64
_CLEARLY = 3.0  # so many times nearer to P than the right product a guess has to be
_AT_ONCE = 16  # steps of k in one instruction

Rounding = Callable[[np.ndarray], np.ndarray]


def pieces(
    matrix: np.ndarray, rounding: Rounding = data.rounded_to_bf16, up: float = UP
) -> list[np.ndarray]:
    """The pieces as float64, piece s up^s times as large as it is."""
    left, found = np.ascontiguousarray(matrix, np.float32), []
    for _ in range(PIECES):
        found.append(rounding(left))
        left = (left - found[-1]) * np.float32(up)
    return [piece.astype(np.float64) for piece in found]


@dataclass(frozen=True)
class _Guess:
    pattern: Pattern
    p: np.ndarray


def find(
    p: np.ndarray,
    m: np.ndarray,
    n: np.ndarray,
    expected: np.ndarray,
    wrong: np.ndarray,
    limit: np.ndarray,
) -> Pattern | None:
    """How P comes short of float's accuracy, or None. limit: the largest permitted |error|."""
    got = p.astype(np.float64)
    if not wrong.any() or not np.isfinite(got).all():
        return None
    best, nearest = None, np.inf
    if m.size * n.shape[1] <= _LARGEST_MULTIPLY_ADDS:
        off = _ratio(got, expected, limit)
        for guess in _guesses(m, n):
            ratio = _ratio(got, guess.p, limit)
            if ratio <= 1 and _CLEARLY * ratio <= off and 2 * ratio < nearest:
                best, nearest = guess.pattern, ratio
    return best or _cut_sums(got, m, n, expected, wrong)


def _ratio(got: np.ndarray, expected: np.ndarray, limit: np.ndarray) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(got - expected)
        return float(np.max(np.where(error == 0, 0.0, error / limit)))


def _guesses(m: np.ndarray, n: np.ndarray) -> Iterator[_Guess]:
    def products(of_m: list[np.ndarray], of_n: list[np.ndarray], up: float) -> dict:
        return {(s, t): of_m[s] @ of_n[t] / up ** (s + t) for s, t in PAIRS}

    each = products(pieces(m), pieces(n), UP)

    def total(times: Callable[[int, int], float]) -> np.ndarray:
        return sum(times(*pair) * each[pair] for pair in PAIRS)

    def only(*pairs: tuple[int, int]) -> np.ndarray:
        return sum(each[pair] for pair in pairs)

    yield _Guess(
        Pattern(
            "one product",
            "P is as accurate as one bf16 product: the low parts never reach the sum.",
        ),
        only((0, 0)),
    )
    text = "P is as accurate as {} products of pieces: {} never reach the sum, and they are up to 2^-{} of it."
    yield _Guess(
        Pattern("three products", text.format("three", "02, 11 and 20 (pieces of M and N)", 15)),
        only((0, 0), (0, 1), (1, 0)),
    )
    yield _Guess(
        Pattern("four products", text.format("four", "02 and 20 (pieces of M and N)", 16)),
        only((0, 0), (0, 1), (1, 0), (1, 1)),
    )
    for matrix, pairs in (("M", ((0, 0), (0, 1), (0, 2))), ("N", ((0, 0), (1, 0), (2, 0)))):
        text = f"P has the accuracy of {matrix} rounded to bf16: no low piece of {matrix} reaches the sum."
        yield _Guess(Pattern("one matrix rounded", text), only(*pairs))
    for gone in PAIRS:
        yield _Guess(
            Pattern("missing pair", f"P lacks the products of {_pair(gone)}."),
            total(lambda s, t, gone=gone: (s, t) != gone),
        )
        yield _Guess(
            Pattern("doubled pair", f"The products of {_pair(gone)} are in P twice."),
            total(lambda s, t, gone=gone: 1 + ((s, t) == gone)),
        )
        for twice in PAIRS:
            if twice == gone:
                continue
            text = f"The products of {_pair(twice)} are in P twice, those of {_pair(gone)} are not."
            yield _Guess(
                Pattern("mispaired pieces", text),
                total(lambda s, t, a=gone, b=twice: 1 + ((s, t) == b) - ((s, t) == a)),
            )
    for first, second in ((1, UP), (UP, UP), (UP, UP * UP), (UP, 1), (1, UP * UP)):
        text = (
            "A piece is kept 256 times as large as it is, and its products are added as if it were "
            "not: each step from piece to piece has to be undone by 1 / 256."
        )
        yield _Guess(
            Pattern("scale lost", text),
            total(lambda s, t, scales=(1, first, second): scales[s + t]),
        )
    cut = [pieces(matrix, data.cut_to_bf16) for matrix in (m, n)]
    text = (
        "P has the accuracy of pieces that are cut, not rounded: what is left over is twice as "
        "large each time, and always of one sign."
    )
    yield _Guess(Pattern("cut pieces", text), sum(products(*cut, UP).values()))
    plain = [pieces(matrix, up=1.0) for matrix in (m, n)]
    text = (
        "Where elements are small their low pieces are too small for a bf16. Keep each piece 256 "
        "times as large as the one before, and divide the products."
    )
    yield _Guess(Pattern("lost pieces", text), sum(products(*plain, 1.0).values()))


def _pair(pair: tuple[int, int]) -> str:
    return f"piece {pair[0]} of M with piece {pair[1]} of N"


def _cut_sums(
    got: np.ndarray, m: np.ndarray, n: np.ndarray, expected: np.ndarray, wrong: np.ndarray
) -> Pattern | None:
    """Sums of positive products that all came out too small: tensor cores cut."""
    if m.min() < 0 or n.min() < 0 or not (got < expected)[wrong].all():
        return None
    if np.abs(got - expected)[wrong].max() > 2.0**-10 * expected[wrong].max():
        return None
    if m.shape[1] <= _AT_ONCE:
        return Pattern(
            "large products first",
            "Every wrong element is a little too small: small products are added to a large sum in "
            "the tensor cores, which cut them off at its size. Add up the small ones first, or in "
            "a sum of their own.",
        )
    return Pattern(
        SUMS_NOT_PROMOTED,
        "Every wrong element is a little too small: tensor cores cut off what does not fit beside "
        "a long sum, always towards zero. Let a sum in them be some 16 to 256 steps of k long, and "
        "add it to a float of your own.",
    )
