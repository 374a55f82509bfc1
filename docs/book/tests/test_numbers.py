"""What claims.py says of the pages' numbers holds, and it finds what is planted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import claims

PAGES = sorted(claims.FOLDER.glob("*.toml"))
SMALL = claims.Numbers("", ("a C1060 has {c1060.sm_count} of them",), ("12",))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_numbers_of_a_page_are_computed(path):
    assert claims.faults(claims.load(path)) == []


def test_every_handout_has_its_numbers():
    pages = {claims.load(path).page for path in PAGES}
    handouts = [*claims.ROOT.glob("labs/*/README.md"), *claims.ROOT.glob("exercises/*/README.md")]
    assert {path.relative_to(claims.ROOT).as_posix() for path in handouts} <= pages


def test_a_table_that_another_test_computes_is_left_to_it():
    table = "<!-- computed: sums -->\n| a |\n|---|\n| 4711 |\n"
    given = claims.Numbers("", ())
    assert claims.faults(given, table + "\nand 12 others") == ["nobody computes 12"]
    assert claims.faults(given, table.replace("computed", "made")) == ["nobody computes 4711"]


def test_planted_numbers_are_found():
    assert claims.faults(SMALL, "a C1060 has 30 of them, for 12 reasons, `99`") == []
    assert claims.faults(SMALL, "a C1060 has 31 of them") == [
        "does not say: a C1060 has 30 of them",
        "nobody computes 31",
    ]
    assert claims.faults(SMALL, "a C1060 has 30 of them, and 4,711 others") == [
        "nobody computes 4,711"
    ]
