"""Sums of counters: all add up but `abu`, which is a mean over load_transactions."""

from types import SimpleNamespace

import pytest

from grader.running import execute
from grader.running.execution import add_counters
from grader.sandbox.limits import StepLimits


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


def test_all_cases_together_have_a_limit_of_processor_time(monkeypatch, tmp_path):
    """Cases that each stay below their limit; the result is the same wherever it was exceeded."""
    taken = []
    monkeypatch.setattr(
        execute,
        "execute",
        lambda course, job, **_: (
            taken.append(job.case) or SimpleNamespace(status="ok", processor_seconds=40.0)
        ),
    )
    jobs = [execute.Job(f"c{i}", tmp_path, {}, tmp_path, tmp_path, 1 << 30) for i in range(9)]
    for limit, status in ((1000, None), (100, "timeout")):
        taken.clear()
        found = execute.execute_all(
            None, jobs, backend="sim", device="h200", resources=None,
            limits=StepLimits(execute_processor_seconds=limit),
        )  # fmt: skip
        assert len(found) == 9
        if status is None:
            assert len(taken) == 9
        else:
            assert len(taken) == 3  # the fourth is not begun
            assert {one.status for one in found.values()} == {"timeout"}
            assert "more than 100 s of processor time" in found["c0"].message
