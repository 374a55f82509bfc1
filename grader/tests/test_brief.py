"""The short report of `grader watch`: 24 rows, what changed, the first finding on top."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.results.result import Diagnostic
from grader.tests import samples
from grader.writers import Style, brief

ROWS = 24


def shown(result, before=None, rows=ROWS, style=None) -> str:
    return brief.render(result, before, style or Style(), rows)


@pytest.mark.parametrize(
    "result",
    [samples.FAILED, samples.PASSED, samples.NOT_STARTED, samples.ERROR, samples.DOES_NOT_COMPILE],
    ids=lambda result: result.status,
)
@pytest.mark.parametrize("rows", [24, 16, 50])
def test_it_fits_with_the_line_of_keys(result, rows):
    assert len(shown(result, rows=rows).splitlines()) <= rows - 3


def test_a_long_finding_is_cut_and_the_next_step_stays():
    long = replace(samples.FAILED.diagnostics[0], message="many words " * 300)
    text = shown(replace(samples.FAILED, diagnostics=(long,)))
    assert len(text.splitlines()) <= ROWS - 3
    text = " ".join(text.split())
    assert "…" in text and "Next: " in text and "f shows the full report" in text


def test_the_first_finding_is_whole_and_the_rest_is_one_line():
    text = " ".join(shown(samples.FAILED).split())
    first, second = samples.FAILED.diagnostics[:2]
    assert first.message in text
    assert second.message not in text
    assert f"({second.code}" in text and "f shows the full report" in text


def test_what_changed_since_the_last_run():
    assert "Since" not in shown(samples.FAILED)
    assert "nothing has changed" in shown(samples.FAILED, samples.FAILED)
    gone, *kept = samples.FAILED.diagnostics
    new = Diagnostic("timeout", "error", "does not end", line=12, source="while (true) {}")
    after = replace(samples.FAILED, diagnostics=(new, *kept), score=samples.FAILED.score + 10)
    text = " ".join(shown(after, samples.FAILED).split())
    assert f"+10 points; gone: {gone.code} (line {gone.line}); new: timeout (line 12)." in text
    moved = replace(gone, line=gone.line + 2)  # a line was added above it
    assert "nothing has changed" in shown(
        replace(samples.FAILED, diagnostics=(moved, *kept)), samples.FAILED
    )
