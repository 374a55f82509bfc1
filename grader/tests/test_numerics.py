"""The bound: correct float32 in any order of summation passes, less precision fails, NaN fails."""

import numpy as np
import pytest

from grader.judging import numerics
from grader.labs import data

F = np.float32
SIDE = 24  # rows of M and columns of N; what matters is k


def _in_order(m, n, order):
    total = np.zeros((m.shape[0], n.shape[1]), F)
    for i in order:
        total = total + m[:, i : i + 1] * n[i : i + 1]
    return total


def _fused(m, n, order):
    total = np.zeros((m.shape[0], n.shape[1]), F)
    for i in order:
        product = m[:, i : i + 1].astype(np.float64) * n[i : i + 1]
        total = (total.astype(np.float64) + product).astype(F)
    return total


def _pairwise(m, n, low, high):
    if high - low == 1:
        return m[:, low:high] * n[low:high]
    middle = (low + high) // 2
    return _pairwise(m, n, low, middle) + _pairwise(m, n, middle, high)


def _lanes(m, n, width):
    """Partial sums over every width-th term, as a split-k kernel or a warp has them."""
    k = m.shape[1]
    parts = [_in_order(m, n, range(lane, k, width)) for lane in range(min(width, k))]
    return sum(parts[1:], parts[0])


def _tiles(m, n, width):
    k = m.shape[1]
    return sum(
        (_in_order(m, n, range(t, min(t + width, k))) for t in range(width, k, width)),
        _in_order(m, n, range(min(width, k))),
    )


def ten_orders(m, n):
    """Correct float32 products, each summed in another order."""
    k = m.shape[1]
    yield "forwards", _in_order(m, n, range(k))
    yield "backwards", _in_order(m, n, reversed(range(k)))
    yield "shuffled", _in_order(m, n, np.random.default_rng(0).permutation(k))
    yield "fused", _fused(m, n, range(k))
    yield "fused backwards", _fused(m, n, reversed(range(k)))
    yield "pairwise", _pairwise(m, n, 0, k)
    yield "4 lanes", _lanes(m, n, 4)
    yield "32 lanes", _lanes(m, n, 32)
    yield "tiles of 16", _tiles(m, n, 16)
    yield "BLAS", m @ n


def _round(x, bits, nearest=True):
    """Drops the lowest `bits` of the significand."""
    word = x.view(np.uint32).copy()
    if nearest:
        word += np.uint32(1 << (bits - 1))
    return (word & ~np.uint32((1 << bits) - 1)).view(F)


def _half(x):
    return x.astype(np.float16).astype(F)


def _sum_rounded(m, n, rounded):
    total = np.zeros((m.shape[0], n.shape[1]), F)
    for i in range(m.shape[1]):
        total = rounded(np.ascontiguousarray(total + m[:, i : i + 1] * n[i : i + 1]))
    return total


LOW_PRECISION = {
    "TF32 inputs": lambda m, n: _round(m, 13) @ _round(n, 13),
    "TF32 inputs, truncated": lambda m, n: _round(m, 13, False) @ _round(n, 13, False),
    "half inputs": lambda m, n: _half(m) @ _half(n),
    "bfloat16 inputs": lambda m, n: _round(m, 16) @ _round(n, 16),
    "half sums": lambda m, n: _sum_rounded(m, n, _half),
    "bfloat16 sums": lambda m, n: _sum_rounded(m, n, lambda x: _round(x, 16)),
}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 16, 17, 64, 256, 1024, 2048])
@pytest.mark.parametrize("kind", data.KINDS)
def test_correct_float32_passes_in_ten_orders(kind, k):
    m, n = data.make_inputs(kind, (SIDE, k, SIDE), 5, "x")
    products = list(ten_orders(m, n))
    assert len(products) == 10
    for name, p in products:
        compared = numerics.compare(p, m, n, exact=kind in data.EXACT_KINDS)
        assert compared.is_right, f"{name}: {compared.worst:.2f} of the bound"
        assert compared.worst <= 0.85, f"{name}: too close to the bound for comfort"


@pytest.mark.parametrize("k", [8, 16, 64, 256, 1024, 2048])
@pytest.mark.parametrize("name", LOW_PRECISION)
def test_low_precision_fails(name, k):
    m, n = data.make_inputs("uniform", (SIDE, k, SIDE), 5, "x")
    compared = numerics.compare(LOW_PRECISION[name](m, n), m, n, exact=False)
    assert not compared.is_right
    assert compared.worst > 3


@pytest.mark.parametrize("name", LOW_PRECISION)
def test_low_precision_is_recognised(name):
    m, n = data.make_inputs("uniform", (SIDE, 64, SIDE), 5, "x")
    assert numerics.looks_like_low_precision(LOW_PRECISION[name](m, n), m, n)


def test_wrong_indices_are_not_taken_for_low_precision():
    m, n = data.make_inputs("uniform", (SIDE, SIDE, SIDE), 5, "x")
    for p in (m @ n.T, np.zeros_like(m), m @ n + F(1), 2 * (m @ n)):
        assert not numerics.looks_like_low_precision(p, m, n)
    one_wrong = m @ n
    one_wrong[3, 4] += F(0.01)
    assert not numerics.looks_like_low_precision(one_wrong, m, n)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_fail(value):
    m, n = data.make_inputs("uniform", (4, 4, 4), 5, "x")
    p = m @ n
    p[2, 3] = value
    compared = numerics.compare(p, m, n, exact=False)
    assert compared.wrong == 1
    assert (compared.first[0].row, compared.first[0].column) == (2, 3)
    assert compared.worst == np.inf


def test_integers_are_compared_exactly():
    m, n = data.make_inputs("integers", (8, 8, 8), 5, "x")
    p = (m @ n).astype(F)
    assert numerics.compare(p, m, n, exact=True).is_right
    p[0, 1] = np.nextafter(p[0, 1], F(100))
    assert numerics.compare(p, m, n, exact=True).wrong == 1


def test_first_mismatches_are_in_reading_order():
    m, n = data.make_inputs("uniform", (8, 8, 8), 5, "x")
    p = m @ n
    p[5:, 2] = 9
    p[1, 7] = 9
    compared = numerics.compare(p, m, n, exact=False)
    assert [(x.row, x.column) for x in compared.first] == [(1, 7), (5, 2), (6, 2), (7, 2)]
    assert compared.first[0].got == 9
    assert compared.first[0].expected == pytest.approx(float(m[1].astype(float) @ n[:, 7]))


class TestSampled:
    """Products too large to be checked in full."""

    @pytest.fixture
    def inputs(self, monkeypatch):
        monkeypatch.setattr(numerics, "FULL_MULTIPLY_ADDS", 0)
        return data.make_inputs("uniform", (200, 64, 300), 5, "x")

    def test_right_product_passes(self, inputs):
        m, n = inputs
        for seed in range(20):
            assert numerics.compare(m @ n, m, n, exact=False, seed=seed).is_right

    def test_one_wrong_element_anywhere_is_found(self, inputs):
        m, n = inputs
        random = np.random.default_rng(1)
        for seed in range(20):
            p = m @ n
            row, column = random.integers(0, 200), random.integers(0, 300)
            p[row, column] += F(0.5)
            compared = numerics.compare(p, m, n, exact=False, seed=seed)
            assert not compared.is_right
            assert (compared.first[0].row, compared.first[0].column) == (row, column)

    def test_one_nan_is_found(self, inputs):
        m, n = inputs
        p = m @ n
        p[77, 133] = np.nan
        assert not numerics.compare(p, m, n, exact=False).is_right

    def test_tf32_is_found(self, inputs):
        m, n = inputs
        assert not numerics.compare(_round(m, 13) @ _round(n, 13), m, n, exact=False).is_right
