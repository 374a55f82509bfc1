"""The table of counters in the text report."""

from __future__ import annotations

from dataclasses import replace

from grader.tests import samples
from grader.writers import Style, counts, render


def shown(result) -> str:
    return render("text", [result], one=True, style=Style())


def test_what_is_right_shows_its_counters():
    text = shown(samples.PASSED)
    assert "Counted in 256x256:" in text
    assert "262,144       524,288 sectors   2.0  15, 100%" in text
    assert "1,048,576  1,048,576 wavefronts   1.0  15, 100%" in text
    assert "    0 bank conflicts, 2,031,616 instructions, 16,777,216 multiply-adds\n" in text


def test_what_is_slow_shows_them_and_what_is_wrong_does_not():
    assert "busiest line" not in shown(samples.FAILED)
    slow = replace(samples.FAILED.checks[-1], status="failed", message="8 (at most 1.1)")
    assert "busiest line" in shown(
        replace(samples.FAILED, checks=(*samples.FAILED.checks[:-1], slow))
    )


def test_a_kernel_without_counters_has_no_table():
    assert counts.table(replace(samples.KERNEL, counters={}, lines=()), 88) is None


def test_a_narrow_terminal_breaks_no_number():
    text = render("text", [samples.PASSED], one=True, style=Style(width=60, unicode=False))
    assert "262,144       524,288 sectors   2.0" in text


def test_conflicts_are_told_even_if_there_are_none():
    counters = {"shared_load_requests": 4, "bank_conflicts": 0, "instructions": 1200, "barriers": 0}
    assert counts.sentence(counters) == "0 bank conflicts, 1,200 instructions"
