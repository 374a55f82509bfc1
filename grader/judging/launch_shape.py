"""Grid and block exchanged in <<<grid, block>>>: what no single fault tells."""

from __future__ import annotations

from collections.abc import Iterable

from grader.judging.judge import Outcome
from grader.labs.source import launch_line
from grader.results.result import Diagnostic

_ENOUGH_CASES = 3


def exchanged(outcomes: Iterable[Outcome], text: str) -> list[Diagnostic]:
    """A finding if the grid is the same for all sizes and the block is not, and nothing is right.

    The other way round is how kernels are launched: blocks of one shape, as many as P needs.
    """
    shown = [item for item in outcomes if not item.case.hidden and item.execution is not None]
    if len(shown) < _ENOUGH_CASES or any(item.is_right for item in shown):
        return []
    runs = [(item.case.id, run) for item in shown for run in item.execution.kernels]
    names = {run.name for _, run in runs}
    blocks = {run.block for _, run in runs}
    if len(names) != 1 or len({run.grid for _, run in runs}) != 1 or len(blocks) == 1:
        return []
    (name,) = names
    largest = max((run for _, run in runs), key=lambda run: run.block)
    message = (
        "The grid is {} for every size, and the blocks have ({},{},{}) threads here and others "
        "there.".format("({},{},{})".format(*largest.grid), *largest.block)
    )
    advice = "In <<<grid, block>>> the grid comes first: are the two exchanged?"
    cases = tuple(dict.fromkeys(case for case, _ in runs))
    return [
        Diagnostic(
            "launch-config", "error", message, line=launch_line(text, name), kernel=name,
            cases=cases, advice=advice,
        )
    ]  # fmt: skip
