"""Is P the product of M and N? Reference in float64, a bound per element, no lenience for NaN.

    |P - M N|  <=  C * eps * sqrt(k) * (|M| |N|)          elementwise, eps = 2^-23

The right side is what a float32 sum of k products may be off by: proportional to the size of what
was added, growing like a random walk. C = 1 is chosen by experiment (tests/test_numerics.py keeps
it): float32 in ten orders of summation reaches 0.7 of the bound at k = 4 and 0.45 from k = 64 on;
TF32 and half inputs exceed it 600 times at k = 16, still 4 times at k = 2048, bfloat16 inputs and
sums kept in 16 bits by far more. Whole numbers have exact sums and are compared exactly. Written
as !(error <= bound), so that NaN fails.

That bound is for kernels that add up the k products, in any order; one level of Strassen's or
Winograd's algorithm keeps to it on uniform data. Where the sizes of the elements differ much
("special" and "ill-conditioned" data) an algorithm that adds before it multiplies cannot: a small
element is lost beside a large one that its own sum has nothing to do with. For it the bound is

    |P - M N|  <=  k * eps * max|M| * max|N|              for the matrix as a whole

Judge accepts that on such data where P is right by the first bound on all others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

C = 1.0
EPS = 2.0**-23
SMALLEST = 2.0**-149  # of float32: below, results round to multiples of it

# Products with more multiply-adds are checked by a randomised product and by whole rows and
# columns drawn at random, instead of in full.
FULL_MULTIPLY_ADDS = 1 << 31
SAMPLED_LINES = 24
SHOWN_MISMATCHES = 5


@dataclass(frozen=True)
class Mismatch:
    """One wrong element of P, 0-based."""

    row: int
    column: int
    got: float
    expected: float


@dataclass(frozen=True)
class Comparison:
    """How P compares with the reference."""

    is_right: bool
    wrong: int  # elements outside the bound; of a sampled comparison those in the sample
    checked: int  # elements that were looked at
    first: tuple[Mismatch, ...]  # the first few, row by row
    worst: float  # largest error over its bound; inf where there is a NaN
    # For the search for patterns; None where P was only sampled.
    expected: np.ndarray | None = None
    wrong_mask: np.ndarray | None = None


def compare(
    p: np.ndarray, m: np.ndarray, n: np.ndarray, *, exact: bool, seed: int = 0
) -> Comparison:
    """Compares P[j][l] (float32) with M[j][k] N[k][l]. `exact` is for whole-number data."""
    if m.shape[0] * m.shape[1] * n.shape[1] <= FULL_MULTIPLY_ADDS:
        return _compare_full(p, m, n, exact)
    return _compare_sampled(p, m, n, exact, seed)


def reference(m: np.ndarray, n: np.ndarray) -> np.ndarray:
    """M N in float64."""
    return m.astype("float64") @ n.astype("float64")


def bound(m: np.ndarray, n: np.ndarray, *, exact: bool) -> np.ndarray:
    """The largest permitted |error| of every element of P."""
    k = m.shape[1]
    if exact:
        return np.zeros((m.shape[0], n.shape[1]))
    size = np.abs(m).astype(np.float64) @ np.abs(n).astype(np.float64)
    return C * EPS * np.sqrt(k) * size + k * SMALLEST


def _compare_full(p: np.ndarray, m: np.ndarray, n: np.ndarray, exact: bool) -> Comparison:
    expected = reference(m, n)
    return _compare_with(p, expected, bound(m, n, exact=exact))


def outside(got: np.ndarray, expected: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Which elements are off by more than they may be; NaN always is."""
    with np.errstate(invalid="ignore", over="ignore"):
        return ~(np.abs(got.astype(np.float64) - expected) <= limit)


def _compare_with(p: np.ndarray, expected: np.ndarray, limit: np.ndarray) -> Comparison:
    wrong = outside(p, expected, limit)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        error = np.abs(p.astype(np.float64) - expected)
        ratio = np.where(error == 0, 0.0, error / limit)
    count = int(wrong.sum())
    worst = float(np.max(np.where(np.isnan(ratio), np.inf, ratio), initial=0.0))
    first = tuple(
        Mismatch(int(row), int(column), float(p[row, column]), float(expected[row, column]))
        for row, column in np.argwhere(wrong)[:SHOWN_MISMATCHES]
    )
    return Comparison(count == 0, count, p.size, first, worst, expected, wrong)


def _compare_sampled(
    p: np.ndarray, m: np.ndarray, n: np.ndarray, exact: bool, seed: int
) -> Comparison:
    """Whole rows and columns, then a randomised product over everything."""
    random = np.random.default_rng([seed, *p.shape])
    rows = _sample(random, p.shape[0])
    columns = _sample(random, p.shape[1])
    by_row = _compare_full(p[rows], m[rows], n, exact)
    by_column = _compare_full(p[:, columns], m, n[:, columns], exact)
    first = [
        *(Mismatch(int(rows[x.row]), x.column, x.got, x.expected) for x in by_row.first),
        *(Mismatch(x.row, int(columns[x.column]), x.got, x.expected) for x in by_column.first),
    ]
    wrong = by_row.wrong + by_column.wrong
    suspicious = [] if wrong else rows_failing_product(p, m, n, random)
    if len(suspicious):
        again = suspicious[:SAMPLED_LINES]
        closer = _compare_full(p[again], m[again], n, exact)
        first = [Mismatch(int(again[x.row]), x.column, x.got, x.expected) for x in closer.first]
        wrong = max(closer.wrong, 1)
    worst = max(by_row.worst, by_column.worst, np.inf if len(suspicious) else 0.0)
    checked = by_row.checked + by_column.checked
    first.sort(key=lambda item: (item.row, item.column))
    return Comparison(wrong == 0, wrong, checked, tuple(first[:SHOWN_MISMATCHES]), worst)


def _sample(random: np.random.Generator, size: int) -> np.ndarray:
    """Line numbers, sorted: the first, the last, and others at random."""
    chosen = random.choice(size, min(SAMPLED_LINES, size), replace=False)
    return np.unique(np.concatenate([chosen, [0, size - 1]]))


def rows_failing_product(
    p: np.ndarray, m: np.ndarray, n: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Rows i in which (P x)[i] is not (M (N x))[i] for a random x of +1 and -1.

    If every element of row i is within its bound t[i][c], then by Hoeffding's inequality
    |sum of x[c] e[i][c]| exceeds 7.5 times the 2-norm of t[i] with a probability below 1e-12;
    that norm is at most C eps sqrt(k) sum over r of |M[i][r]| times the 2-norm of row r of N.
    """
    x = random.choice([-1.0, 1.0], n.shape[1])
    wide_n = n.astype(np.float64)
    left = p.astype(np.float64) @ x
    right = m.astype(np.float64) @ (wide_n @ x)
    norms = np.sqrt((wide_n**2).sum(axis=1))
    limit = 7.5 * C * EPS * np.sqrt(m.shape[1]) * (np.abs(m).astype(np.float64) @ norms)
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(~(np.abs(left - right) <= limit + m.shape[1] * SMALLEST))


def norm_ratio(p: np.ndarray, m: np.ndarray, n: np.ndarray) -> float:
    """The largest error over the bound for algorithms that add before they multiply; inf: NaN."""
    limit = m.shape[1] * (EPS * float(np.abs(m).max()) * float(np.abs(n).max()) + SMALLEST)
    with np.errstate(invalid="ignore", over="ignore"):
        error = float(np.abs(p.astype(np.float64) - reference(m, n)).max())
    return error / limit if np.isfinite(error) else np.inf


def looks_like_low_precision(p: np.ndarray, m: np.ndarray, n: np.ndarray) -> bool:
    """Wrong the way 16-bit or TF32 arithmetic is: a little, nearly everywhere.

    P as a whole is within 5% of the product, no element is further off than bfloat16 would be,
    and the typical error is far above float32's. A missing term can look like that too, so
    patterns come first.
    """
    expected = reference(m, n)
    error = np.abs(p.astype(np.float64) - expected)
    size = np.abs(m).astype(np.float64) @ np.abs(n).astype(np.float64)
    if not np.all(np.isfinite(error)) or np.linalg.norm(error) > 0.05 * np.linalg.norm(expected):
        return False
    share = error[size > 0] / size[size > 0]
    return bool(share.size and share.max() <= 2.0**-6 and np.median(share) > 4 * 2.0**-24)
