"""docs/sources.md is current, and a place that is not there is found."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "docs" / "book"))

import sources  # noqa: E402


def test_the_page_is_current_and_its_places_exist():
    letters, items = sources.load()
    assert list(sources.faults(items, letters)) == []
    assert (ROOT / sources.PAGE).read_text() == sources.page(letters, items), (
        "run docs/book/sources.py"
    )
    assert len(items) == 204
    assert len({(item.group, item.source, item.what) for item in items}) == len(items)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"places": ("labs/10-none/README.md",)}, "which does not exist"),
        ({"places": ("docs/machine.md#the-moon",)}, "has no such heading"),
        ({"places": (), "reason": ""}, "neither a place nor a reason"),
        ({"source": "X"}, "names no source"),
    ],
)
def test_a_planted_fault_is_found(change, complaint):
    letters, items = sources.load()
    [fault] = sources.faults([replace(items[0], **change)], letters)
    assert complaint in fault


def test_headings_are_numbered_as_github_does():
    text = "# A & b\n\n## `c` (1,*)\n\n```\n# no heading\n```\n\n## A & b\n"
    assert sources.headings(text) == ["a--b", "c-1", "a--b-1"]
