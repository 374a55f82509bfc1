"""How an H200's tensor cores add products of bf16, in numpy: as common/warpsim/exec/tensor_math.h.

And products of float matrices made of them, in the ways that lab 12 speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from grader.judging import split
from grader.labs import data

F = np.float32
STEPS = 16  # of k, in one instruction
KEPT = 25  # bits below the largest exponent

SIX = ((0, 2), (1, 1), (2, 0), (0, 1), (1, 0), (0, 0))


def exponents(values: np.ndarray) -> np.ndarray:
    return np.where(values == 0, -(10**6), np.frexp(values)[1] - 1)


def towards_zero(values: np.ndarray) -> np.ndarray:
    near = values.astype(F)
    beyond = np.abs(near.astype(np.float64)) > np.abs(values)
    return np.where(beyond, np.nextafter(near, F(0)), near).astype(F)


def multiply_add(sums: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """sums + a b for 16 columns of a: shifted to one exponent, cut, added exactly, cut to float."""
    a, b, sums = (item.astype(np.float64) for item in (a, b, sums))
    products = a[:, :, None] * b[None]
    largest = (exponents(a)[:, :, None] + exponents(b)[None]).max(axis=1)
    largest = np.maximum(np.maximum(largest, exponents(sums)), -400)
    unit = np.exp2(largest.astype(float) - KEPT)
    kept = np.trunc(sums / unit) * unit
    return towards_zero(kept + (np.trunc(products / unit[:, None]) * unit[:, None]).sum(axis=1))


def _padded(matrix: np.ndarray, axis: int) -> np.ndarray:
    width = [(0, 0), (0, 0)]
    width[axis] = (0, -matrix.shape[axis] % STEPS)
    return np.pad(matrix, width)


def product(
    m: np.ndarray,
    n: np.ndarray,
    *,
    pairs: Sequence[tuple[int, int]] = SIX,
    in_one_sum: bool = False,
    promoted: int = STEPS,
    rounding: Callable[[np.ndarray], np.ndarray] = data.rounded_to_bf16,
    up: float = split.UP,
) -> np.ndarray:
    """P of pieces. pairs: in the order in which they are added; promoted: after how many steps of k.

    The pair 00 has a sum of its own, or with `in_one_sum` the same as the others, unscaled pieces.
    """
    m, n = _padded(m, 1), _padded(n, 0)
    scale = 1.0 if in_one_sum else up
    of_m, of_n = (split.pieces(matrix, rounding, scale) for matrix in (m, n))
    total = np.zeros((m.shape[0], n.shape[1]), F)
    sums = [np.zeros_like(total) for _ in range(3)]  # by how far down the pieces are

    def value() -> np.ndarray:
        # As Horner's rule: exact but for what underflows.
        down = F(1 / scale)
        return (sums[0] + ((sums[2] * down + sums[1]) * down)).astype(F)

    for i in range(0, m.shape[1], STEPS):
        for s, t in pairs:
            at = 0 if in_one_sum else s + t
            sums[at] = multiply_add(sums[at], of_m[s][:, i : i + STEPS], of_n[t][i : i + STEPS])
        if (i + STEPS) % promoted == 0:
            total = total + value()
            sums = [np.zeros_like(total) for _ in range(3)]
    return total + value()


def by_float_lanes(m: np.ndarray, n: np.ndarray) -> np.ndarray:
    total = np.zeros((m.shape[0], n.shape[1]), F)
    for i in range(m.shape[1]):
        total = (total + m[:, i : i + 1].astype(np.float64) * n[i : i + 1]).astype(F)
    return total
