"""Every change that is offered is one that is carried out: what stands in no code's way would be refused whatever it did."""

from __future__ import annotations

import pytest

from grader.judging.repair.nodes import Node
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.search import Search
from grader.judging.repair.trial import try_out
from grader.judging.repair.world import Exhausted
from grader.tests.fresh_programs import FRESH
from grader.tests.selection import first_of

_STEPS = 1_000_000
# Methods of objects, lists that helpers give back or that lie in others, arrays of structs, constants.
_PROGRAMS = [
    ("01-liesel", "square-host"),
    ("03-tileclass", "square-device"),
    ("04-shape2", "rect-device"),
    ("04-numpy", "rect-device"),
    ("04-views4", "rect-device"),
    ("05-frag", "rect-device"),
    ("06-clase", "rect-device"),
    ("06-strided", "rect-device"),
    ("07-vec9", "rect-device"),
]


def _nothing(node: Node) -> Node:
    return Node("poison")


def _without_effect(name: str, signature: str) -> set[str]:
    """Where a change that cannot be carried out leaves the program right."""
    search = Search((FRESH / f"{name}.cu").read_text(), signature, False, [])
    search.wrong = size = search.sizes[0]
    assert search.carried_out(size)
    search.lines, search.left = [1], 10**9
    places = {key: edit for edit in search.ordered() for key, _ in edit.changes}
    assert len(places) > 100
    found = set()
    for key, edit in places.items():
        try:
            trial = try_out(
                search.file, {key: _nothing}, size, search.numbers(size), search.on_host, _STEPS
            )
        except (AttributeError, GivenUp, Exhausted):
            continue
        if trial.is_right:
            found.add(f"line {edit.line}: {key[1]}")
    return found


@pytest.mark.parametrize(("name", "signature"), first_of(_PROGRAMS))
def test_a_change_in_any_place_has_an_effect(name, signature):
    assert _without_effect(name, signature) == set()
