"""Sums of counters: what moves data is in one of them, and a limit on a sum sees all of it."""

from pathlib import Path

import pytest

from grader.labs import sums
from grader.labs.counters import TABLE

ROOT = Path(__file__).resolve().parents[2]

# What moves data and is in no sum, and why.
APART = {
    "shared_store_requests": "wavefronts of stores are limited, not their number",
    "shared_merged_requests": "went along with another one, which is counted",
    "matrix_store_requests": "as shared_store_requests",
    "local_load_requests": "sectors are limited",
    "local_store_requests": "sectors are limited",
    "async_requests": "are loads as well, and counted there",
    "async_bytes": "likewise",
    "async_idle_sectors": "some of the sectors of loads, by when they are waited for",
}


def test_every_counter_of_data_is_in_a_sum():
    """A new instruction that moves data is a hole in all limits until it is in a sum."""
    units = ("requests", "sectors", "wavefronts", "words", "bytes")
    moves = {one.name for one in TABLE if one.adds and one.devices == "all" and one.unit in units}
    assert len(moves) > 20
    assert moves - sums.counters_in(set(sums.SUMS)) == set(APART)


@pytest.mark.parametrize("name", sums.SUMS)
def test_each_part_counts(name):
    for part in sums.PARTS[name]:
        assert sums.with_sums({part: 128})[name] > 0, part


def test_counters_stand_for_their_sums():
    assert sums.counters_in({"bank_conflicts", "tile_load_requests"}) == {
        "bank_conflicts", "shared_load_requests", "matrix_load_requests", "shared_atomic_requests",
        "lane_exchanges",
    }  # fmt: skip


def test_the_page_names_them():
    page = (ROOT / "docs" / "writing-a-lab.md").read_text(encoding="utf-8")
    assert sums.markdown() in page, sums.markdown()
