"""A limit that a condition lacks, where the condition is kept in a variable or given back by a helper."""

from __future__ import annotations

import re

import pytest

from grader.judging.repair import search
from grader.tests.fresh_programs import program

# Of students' own style; each keeps conditions of two limits.
_PROGRAMS = {
    "square-device": "03-flipflop 03-inset 03-tilebox 03-reader",
    "rect-device": (
        "04-inside 05-traits 05-views 06-plusone 06-wide 08-late 08-swap 08-threestage 09-corner 09-crew"
    ),
}
_KEPT = re.compile(
    r"(?:bool \w+ = |return )(?P<one>[^;?&]*<[^;?&]*?) && (?P<two>[^;?&]*<[^;?&]*?)(?= ?[;?])"
)


def _mistakes(text: str):
    """Each kept condition with the one limit and with the other alone, and its line."""
    for kept in _KEPT.finditer(text):
        for rest in (kept["one"], kept["two"]):
            wrong = text[: kept.start("one")] + rest + text[kept.end("two") :]
            yield wrong, text.count("\n", 0, kept.start("one")) + 1


@pytest.mark.parametrize(
    ("name", "signature"),
    [(name, signature) for signature, names in _PROGRAMS.items() for name in names.split()],
)
def test_a_limit_that_is_left_out_is_found_where_the_condition_is_kept(name, signature) -> None:
    sides = (5, 5, 5) if signature == "square-device" else (3, 5, 7)
    mistakes = list(_mistakes(program(name)))
    assert len(mistakes) >= 2
    for wrong, line in mistakes:
        # The access that leaves its array stands behind it.
        found = search.find(wrong, signature, False, [line + 1], sides)
        assert found is not None and found.line == line, (line, found)
        assert " && " in found.after
