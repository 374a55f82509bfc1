"""Sums of counters: all add up but `abu`, which is a mean over load_transactions."""

import pytest

from grader.running.execution import add_counters


def test_counters_add_up():
    total = {}
    add_counters(total, {"instructions": 3})
    add_counters(total, {"instructions": 4, "barriers": 1})
    assert total == {"instructions": 7, "barriers": 1}


def test_utilisation_is_weighted_by_the_transactions_of_loads():
    total = {}
    add_counters(total, {"load_transactions": 3, "transactions_32": 3, "abu": 0.5})
    add_counters(total, {"load_transactions": 0, "transactions_32": 8})  # a line that only stores
    add_counters(total, {"load_transactions": 1, "transactions_32": 1, "abu": 1.0})
    assert total == {
        "load_transactions": 4,
        "transactions_32": 12,
        "abu": pytest.approx((3 * 0.5 + 1) / 4),
    }
