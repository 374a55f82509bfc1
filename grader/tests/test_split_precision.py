"""Lab 12's error analysis: what its handout says is what comes out, and each way that falls short is named."""

import re

import numpy as np
import pytest

from grader.judging import numerics, split
from grader.labs import data
from grader.tests import tensor_arithmetic as tensor
from grader.tests.conftest import REPOSITORY

HANDOUT = REPOSITORY / "labs" / "12-split-precision" / "README.md"
SIDE = 24
NEVER = 1 << 20  # promotion after so many steps
THREE = ((0, 1), (1, 0), (0, 0))

# The columns of the handout's table.
WAYS = {
    "one product": lambda m, n: tensor.product(m, n, pairs=((0, 0),)),
    "three": lambda m, n: tensor.product(m, n, pairs=THREE),
    "six, one long sum": lambda m, n: tensor.product(m, n, promoted=NEVER),
    "large first": lambda m, n: tensor.product(m, n, in_one_sum=True, pairs=tensor.SIX[::-1]),
    "cut pieces": lambda m, n: tensor.product(m, n, rounding=data.cut_to_bf16),
    "not scaled": lambda m, n: tensor.product(m, n, up=1.0),
    "six": tensor.product,
    "float": tensor.by_float_lanes,
}
FAMILIES = (
    ("uniform", 16), ("between", 4), ("between", 16), ("first-large", 1024), ("wide", 48),
    ("ill-conditioned", 64), ("special", 29), ("tiny", 24),
)  # fmt: skip


def compared(way, kind, k):
    m, n = data.make_inputs(kind, (SIDE, k, SIDE), 5, "x")
    p = way(m, n)
    return numerics.compare(p, m, n, exact=False), p, m, n


def shown(name):
    """A table of the handout: its lines."""
    found = re.search(rf"<!-- computed: {name} -->\n((?:\|.*\n)+)", HANDOUT.read_text())
    return found[1].splitlines()


def row(*cells):
    return "| " + " | ".join(cells) + " |"


@pytest.fixture(scope="module")
def worst():
    return {
        (kind, k, name): compared(way, kind, k)[0].worst
        for kind, k in FAMILIES
        for name, way in WAYS.items()
    }


def test_the_table_of_families_is_computed(worst):
    def number(value):
        return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"

    made = [row("data", "k", *WAYS), "|---" * (len(WAYS) + 2) + "|"]
    made += [
        row(kind, f"{k:,}", *(number(worst[kind, k, name]) for name in WAYS))
        for kind, k in FAMILIES
    ]
    assert shown("families") == made


def test_only_six_promoted_products_and_float_pass_everywhere(worst):
    passing = {name for name in WAYS if all(worst[kind, k, name] <= 1 for kind, k in FAMILIES)}
    assert passing == {"six", "float"}
    assert max(worst[kind, k, "six"] for kind, k in FAMILIES) < 0.6


def test_the_worked_example_is_computed():
    numbers = [np.float32(np.pi), np.float32(np.e)]
    of = [[float(p[0]) for p in split.pieces(np.array([x]))] for x in numbers]
    made = [row(str(x), *(repr(p) for p in each)) for x, each in zip(numbers, of, strict=True)]
    assert shown("pieces")[2:] == made
    exact, total, made = float(numbers[0]) * float(numbers[1]), 0.0, []
    for name, pairs in (
        ("00", ((0, 0),)),
        ("00, 01, 10", ((0, 1), (1, 0))),
        ("and 11", ((1, 1),)),
        ("and 02, 20", ((0, 2), (2, 0))),
    ):
        total += sum(of[0][s] * of[1][t] / split.UP ** (s + t) for s, t in pairs)
        off = (total - exact) / exact * 2**24
        made.append(row(name, f"{total:.12g}", f"{off:.3g}" if abs(off) < 1000 else f"{off:.0f}"))
    assert shown("sums")[2:] == made
    single = (float(numbers[0] * numbers[1]) - exact) / exact * 2**24
    assert f"is off by {single:.2f}." in HANDOUT.read_text()


def test_long_sums_leave_the_bound_where_the_handout_says():
    assert "between k = 128 and k = 256" in HANDOUT.read_text()
    off = [compared(WAYS["six, one long sum"], "first-large", k)[0].worst for k in (128, 256)]
    assert off[0] < 1 < off[1]
    for steps, passes in ((256, True), (512, False)):
        found = compared(
            lambda m, n, s=steps: tensor.product(m, n, promoted=s), "first-large", 1024
        )
        assert found[0].is_right is passes


def test_three_pieces_hold_every_float():
    random = np.random.default_rng(1)
    bits = random.integers(0, 0x7F7F0000, 200_000).astype(np.uint32)
    bits[:3] = 1, 0x007FFFFF, 0x00800001  # the least float, the largest subnormal one
    values = bits.view(np.float32) * random.choice([-1, 1], bits.size).astype(np.float32)
    held = sum(piece / split.UP**s for s, piece in enumerate(split.pieces(values)))
    assert (held == values).all()
    plain = sum(split.pieces(values[:3], up=1.0))
    assert (plain != values[:3]).any()


NAMED = (
    ("one product", WAYS["one product"], "uniform", 16),
    ("one product", WAYS["one product"], "first-large", 1024),
    ("three products", WAYS["three"], "between", 4),
    ("three products", WAYS["three"], "first-large", 1024),
    ("four products", lambda m, n: tensor.product(m, n, pairs=(*THREE, (1, 1))), "between", 4),
    ("sums not promoted", WAYS["six, one long sum"], "first-large", 1024),
    ("large products first", WAYS["large first"], "between", 4),
    ("cut pieces", WAYS["cut pieces"], "between", 4),
    ("lost pieces", WAYS["not scaled"], "tiny", 24),
)


@pytest.mark.parametrize("name, way, kind, k", NAMED)
def test_each_way_of_falling_short_is_named(name, way, kind, k):
    found, p, m, n = compared(way, kind, k)
    limit = numerics.bound(m, n, exact=False)
    assert not found.is_right
    assert split.find(p, m, n, found.expected, found.wrong_mask, limit).name == name


def planted(times):
    """A product in which each pair of pieces is added so many times."""
    m, n = data.make_inputs("uniform", (SIDE, 20, SIDE), 5, "x")
    of_m, of_n = split.pieces(m), split.pieces(n)
    p = sum(times(s, t) * (of_m[s] @ of_n[t]) / split.UP ** (s + t) for s, t in split.PAIRS).astype(
        np.float32
    )
    found = numerics.compare(p, m, n, exact=False)
    limit = numerics.bound(m, n, exact=False)
    return split.find(p, m, n, found.expected, found.wrong_mask, limit)


@pytest.mark.parametrize(
    "name, says, times",
    [
        ("mispaired pieces", "piece 1 of M with piece 0 of N are in P twice, those of piece 0 of M with piece 1 of N",
         lambda s, t: 1 + ((s, t) == (1, 0)) - ((s, t) == (0, 1))),
        ("missing pair", "lacks the products of piece 1 of M with piece 1", lambda s, t: (s, t) != (1, 1)),
        ("doubled pair", "piece 0 of M with piece 1 of N are in P twice", lambda s, t: 1 + ((s, t) == (0, 1))),
        ("one matrix rounded", "of M rounded to bf16", lambda s, t: s == 0),
        ("scale lost", "1 / 256", lambda s, t: 256 if s + t == 1 else 1),
    ],
)  # fmt: skip
def test_pairs_that_are_missing_or_doubled_are_named(name, says, times):
    pattern = planted(times)
    assert pattern.name == name and says in pattern.sentence


def test_right_products_and_other_mistakes_are_not_called_short():
    m, n = data.make_inputs("uniform", (SIDE, 20, SIDE), 5, "x")
    limit = numerics.bound(m, n, exact=False)
    for p in (tensor.product(m, n), n.T[:, :20] @ n, m @ n + np.float32(1), 2 * (m @ n)):
        found = numerics.compare(p, m, n, exact=False)
        assert split.find(p, m, n, found.expected, found.wrong_mask, limit) is None
