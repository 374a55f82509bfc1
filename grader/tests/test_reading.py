"""Handouts say how long they take and what they need, and their first reading is short."""

import re

import pytest

from grader.tests.conftest import REPOSITORY

LABS = sorted(REPOSITORY.glob("labs/*/README.md"))
MOST_WORDS = 1100  # before the questions, without what is folded; words of pictures count
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_TARGET = re.compile(r"\]\([^)]*\)")


def first_reading(handout):
    """The words that everybody reads before grading for the first time."""
    return _TARGET.sub("]", _FOLDED.sub("", handout)).partition("\n## Questions")[0].split()


@pytest.mark.parametrize("page", LABS, ids=lambda page: page.parent.name)
def test_a_handout_says_time_and_need_and_is_short(page):
    text = page.read_text()
    top = text.partition("\n## ")[0]
    assert re.search(r"^\*\*Time:\*\* about .+\*\*You need\*\* ", top, re.MULTILINE)
    assert len(first_reading(text)) <= MOST_WORDS


def test_what_is_folded_is_no_first_reading():
    page = "One [two](three four)\n<details><summary>five</summary>\n\nsix\n</details>\nseven\n"
    assert first_reading(page + "\n## Questions\neight") == ["One", "[two]", "seven"]
    assert len(first_reading("word " * (MOST_WORDS + 1))) > MOST_WORDS
