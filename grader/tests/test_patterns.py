"""Every pattern is found in data that has it, and none where another mistake was made."""

import ast
import fnmatch
from pathlib import Path

import numpy as np
import pytest

from grader.judging import numerics, patterns
from grader.labs import data

J = K = L = 32


def _tiled(m, n, tile, which_m, which_n):
    """Sum over phases of tile which_m(phase) of M times tile which_n(phase) of N."""
    phases = range(m.shape[1] // tile)
    parts = lambda a: slice(a * tile, (a + 1) * tile)  # noqa: E731
    return sum(m[:, parts(which_m(p))] @ n[parts(which_n(p))] for p in phases)


def _with(p, value, *region):
    p = p.copy()
    p[region] = value
    return p


PLANTED = {
    "transposed N": lambda m, n, p: m @ n.T,
    "transposed M": lambda m, n, p: m.T @ n,
    "rows and columns swapped": lambda m, n, p: p.T,
    "factors swapped": lambda m, n, p: n @ m,
    "both transposed": lambda m, n, p: m.T @ n.T,
    "missing last tile": lambda m, n, p: m[:, :16] @ n[:16],
    "missing first tile": lambda m, n, p: m[:, 8:] @ n[8:],
    "only the first tile": lambda m, n, p: m[:, :8] @ n[:8],
    "only the last tile": lambda m, n, p: m[:, 24:] @ n[24:],
    "scaled": lambda m, n, p: 2 * p,
    "zeros": lambda m, n, p: 0 * p,
    "NaN": lambda m, n, p: np.nan * p,
    "last rows": lambda m, n, p: _with(p, 7, slice(30, None)),
    "last columns": lambda m, n, p: _with(p, 7, slice(None), slice(16, None)),
    "first rows": lambda m, n, p: _with(p, 7, slice(0, 4)),
    "one row in 2": lambda m, n, p: _with(p, 7, slice(1, None, 2)),
    "whole columns": lambda m, n, p: _with(p, 7, slice(None), [3, 4, 9]),
    "misplaced columns": lambda m, n, p: p.reshape(J, 4, 8).swapaxes(1, 2).reshape(J, L),
    "misplaced rows": lambda m, n, p: _with(p, p[[9, 3, 4]], [3, 4, 9]),
    "one element": lambda m, n, p: _with(p, 7, 3, 4),
    "one block": lambda m, n, p: _with(p, 7, slice(8, 16), slice(16, 24)),
    "whole matrix": lambda m, n, p: p + np.random.default_rng(0).random(p.shape),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_pattern_is_found(name):
    assert _find(PLANTED[name]).name == name


SAME_NAME = {
    "off by one": [
        lambda m, n, p: m[:, :-1] @ n[:-1],
        lambda m, n, p: m[:, 1:] @ n[1:],
        lambda m, n, p: np.roll(p, 1, axis=1),
        lambda m, n, p: np.roll(p, -1, axis=0),
    ],
    "stale tile": [
        lambda m, n, p: _tiled(m, n, 8, lambda ph: 0, lambda ph: 0),
        lambda m, n, p: _tiled(m, n, 8, lambda ph: 0, lambda ph: ph),
        lambda m, n, p: _tiled(m, n, 16, lambda ph: ph, lambda ph: 0),
    ],
    "uninitialised sum": [
        lambda m, n, p: p + 3.5,
        lambda m, n, p: np.cumsum(p, axis=1),
        lambda m, n, p: np.cumsum(p, axis=0),
        lambda m, n, p: np.cumsum(p.reshape(J, L // 4, 4), axis=2).reshape(J, L),
    ],
    "last tile": [
        lambda m, n, p: _with(_with(p, 7, slice(28, None)), 8, slice(None), slice(28, None)),
    ],
    "only the first block": [
        lambda m, n, p: np.where(_corner(16, 16), p, 7),
    ],
}


def _corner(rows, columns):
    mask = np.zeros((J, L), bool)
    mask[:rows, :columns] = True
    return mask


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, i) for name, makers in SAME_NAME.items() for i in range(len(makers))],
)
def test_planted_variant_is_found(name, number):
    assert _find(SAME_NAME[name][number]).name == name


def named(source: str) -> list[str]:
    """The names that patterns are made with; * for what an f-string puts in."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    made = [call.args[0] for call in calls if getattr(call.func, "id", "") == "Pattern"]
    return [
        "".join(
            getattr(part, "value", "") if isinstance(part, ast.Constant) else "*" for part in parts
        )
        for parts in (name.values if isinstance(name, ast.JoinedStr) else [name] for name in made)
    ]


def test_every_pattern_is_planted_here():
    names = set(named(Path(patterns.__file__).read_text(encoding="utf-8")))
    assert len(names) > 20 and {"transposed N", "last *s"} <= names
    planted = (*PLANTED, *SAME_NAME)
    assert [name for name in names if not fnmatch.filter(planted, name)] == []


def _find(plant):
    m, n = data.make_inputs("uniform", (J, K, L), 5, "x")
    right = m.astype(float) @ n
    p = plant(m.astype(float), n.astype(float), right).astype(np.float32)
    compared = numerics.compare(p, m, n, exact=False)
    assert not compared.is_right
    found = patterns.find_pattern(p, m, n, compared.expected, compared.wrong_mask)
    assert found is not None
    assert found.sentence.endswith((".", "?"))
    return found


@pytest.mark.parametrize("kind", data.KINDS)
@pytest.mark.parametrize("name", ["transposed N", "missing last tile", "rows and columns swapped"])
def test_patterns_are_found_in_any_data(name, kind):
    m, n = data.make_inputs(kind, (J, K, L), 5, "x")
    with np.errstate(over="ignore"):
        p = PLANTED[name](m, n, (m @ n)).astype(np.float32)
    compared = numerics.compare(p, m, n, exact=False)
    found = patterns.find_pattern(p, m, n, compared.expected, compared.wrong_mask)
    assert found is not None and found.name == name


def test_scattered_errors_have_no_pattern():
    m, n = data.make_inputs("uniform", (J, K, L), 5, "x")
    p = m @ n
    p[np.random.default_rng(2).random(p.shape) < 0.3] += np.float32(1)
    compared = numerics.compare(p, m, n, exact=False)
    assert patterns.find_pattern(p, m, n, compared.expected, compared.wrong_mask) is None


def test_where_most_rows_are_wrong_the_right_ones_are_told():
    m, n = data.make_inputs("uniform", (J, K, L), 5, "x")
    p = np.random.default_rng(0).random((J, L))
    p[::3] = (m @ n)[::3]
    assert _find_in(p, m, n).sentence.startswith("Whole rows of P are wrong: 1..2, 4..5, 7..8, ")
    right = [3, 8, 17, 30]
    p[:] = 99 + np.random.default_rng(0).random((J, L))
    p[right] = (m @ n)[right]
    assert _find_in(p, m, n).sentence == "All rows of P are wrong but 3, 8, 17, 30."


def test_columns_that_are_alike_are_not_called_misplaced():
    m, n = np.arange(1, 9.0)[:, None], np.array([[1, 1, 2, 2, 5, 5.0]])
    found = _find_in((m @ n)[:, [2, 3, 4, 5, 0, 1]], m, n)
    assert found is None or not found.name.startswith("misplaced")
    n = np.array([[1, 3, 2, 7, 5, 9.0]])
    found = _find_in((m @ n)[:, [2, 3, 4, 5, 0, 1]], m, n)
    assert "column 0 holds what belongs in column 2" in found.sentence


def _find_in(p, m, n):
    return patterns.find_pattern(p, m, n, m @ n, np.abs(p - m @ n) > 1e-6)


def test_nothing_wrong_nothing_found():
    m, n = data.make_inputs("uniform", (J, K, L), 5, "x")
    compared = numerics.compare(m @ n, m, n, exact=False)
    assert patterns.find_pattern(m @ n, m, n, compared.expected, compared.wrong_mask) is None


def test_nan_in_the_last_columns_says_so():
    m, n = data.make_inputs("uniform", (J, K, L), 5, "x")
    p = m @ n
    p[:, 24:] = np.nan
    compared = numerics.compare(p, m, n, exact=False)
    found = patterns.find_pattern(p, m, n, compared.expected, compared.wrong_mask)
    assert found.name == "NaN"
    assert "last columns" in found.sentence


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 7, 1), (1, 5, 9), (9, 5, 1), (3, 1, 4), (5, 33, 7)]
)
def test_odd_shapes_do_not_break_the_search(shape):
    m, n = data.make_inputs("uniform", shape, 5, "x")
    for p in (m @ n + np.float32(1), np.zeros_like(m @ n), np.full_like(m @ n, np.nan)):
        compared = numerics.compare(p, m, n, exact=False)
        found = patterns.find_pattern(p, m, n, compared.expected, compared.wrong_mask)
        assert found is None or found.sentence


def test_a_guess_can_be_left_out():
    zeros = "Every wrong element is 0: the sum was never added to, or never stored."
    assert patterns.without_guess(zeros) == "Every wrong element is 0."
    assert patterns.without_guess("N is used transposed.") == "N is used transposed."


@pytest.mark.parametrize(("factor", "is_of_terms"), [(256 / 255, False), (2, True), (0.5, True)])
def test_a_factor_next_to_1_comes_of_no_number_of_terms(factor, is_of_terms):
    found = _find(lambda m, n, p: factor * p)
    assert found.name == "scaled"
    assert found.sentence.endswith("left out evenly.") == is_of_terms
