"""Whatever a student hands in: the search can list its changes, or gives it up."""

from contextlib import suppress
from pathlib import Path

import pytest

from grader.judging.repair.reading import GivenUp
from grader.judging.repair.search import Search
from grader.tests import attack_files, corpus_files

ROOT = Path(__file__).resolve().parents[2]
LABS = sorted(
    folder.name for place in ("labs", "exercises") for folder in (ROOT / place).glob("*[0-9a-z]")
)
MOST_CHARACTERS = 60_000  # some attacks are nothing but long
ATTACKS = 12  # parts that they are looked at in


def changes_of(text: str) -> int:
    """Any other exception ends the test."""
    with suppress(GivenUp):
        return len(Search(text, "rect-device", False, [1]).all_edits())
    return 0


@pytest.mark.parametrize("lab", LABS)
def test_files_of_the_corpus(lab):
    names = [one.name for kind in ("wrong", "right") for one in corpus_files.entries(kind, lab)]
    made = [changes_of(corpus_files.find(lab, name).text) for name in names]
    assert sum(count > 0 for count in made) > 0.9 * len(made)


@pytest.mark.parametrize("part", range(ATTACKS))
def test_attacks_and_odd_programs(part):
    mine = [*attack_files.ALL, *attack_files.RIGHT][part::ATTACKS]
    texts = [one.text("", lambda *_: "") for one in mine]
    made = [changes_of(text) for text in texts if len(text) <= MOST_CHARACTERS]
    assert sum(count > 0 for count in made) > 0.5 * len(made)
