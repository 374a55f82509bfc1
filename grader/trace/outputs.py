"""What the outputs of solve hold at its end, as findings of a trace: no instruction shows by itself that
the sum it stores is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from grader.judging.judge import Outcome
from grader.results.result import Diagnostic

_CODES = ("wrong-result", "low-precision", "unwritten-output")


def findings(outcome: Outcome, told: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """What was told of the outcome, in the form of the others, without an event.

    `elements` are the first that are wrong; what each is made of, and the line to look at, come with
    the message, as in a report.
    """
    places = [_place(one.element, (one.row, one.column)) for one in outcome.result.mismatches]
    elements = [{"array": array, "index": list(index)} for array, index in places]
    return [
        {
            "code": one.code,
            "severity": one.severity,
            "message": f"{one.message} {one.advice}".strip(),
            "kernel": one.kernel,
            "count": one.count,
            "line": one.line,
            "other": None,
            "events": {"at": -1, "lane": -1, "other": -1, "other_lane": -1},
            "elements": elements,
        }
        for one in told
        if one.code in _CODES
    ]


def _place(element: str, of_product: tuple[int, int]) -> tuple[str, tuple[int, ...]]:
    """`histogram[3]` in two; an element of a product has no name of its own."""
    if not element:
        return "P", of_product
    return element.partition("[")[0], tuple(int(i) for i in re.findall(r"\[(\d+)\]", element))
