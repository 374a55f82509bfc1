"""The figures of the handouts are what a run of the solution gives."""

import re

import pytest

from grader.show import banks, figures, fragments, svg
from grader.tests.conftest import REPOSITORY
from grader.tests.selection import first_of


@pytest.fixture(scope="module")
def story(built):
    return figures.story_of(built, figures.FIGURES[0])


@pytest.mark.parametrize("figure", first_of(figures.FIGURES))
def test_committed_figures_are_current(built, figure):
    assert figures.outdated(built, [figure]) == {}, "python -m grader.show.figures"


def test_a_figure_that_is_not_is_found(story, built):
    figure = figures.FIGURES[0]
    right = figures.drawn(figure, story)
    folder = REPOSITORY / "labs" / figure.lab
    changed = story.launch | {"values": story.launch["values"][::-1].copy()}
    other = figures.Story(changed)
    assert figures.drawn(figure, other) != right
    assert {name: (folder / name).read_text() for name in right} == right


def test_frames_say_what_the_handout_says(story):
    frames = figures.FIGURES[0].frames(story)
    assert [frame.title for frame in frames][:2] == ["phase 0: load", "phase 0: add"]
    held = [[frame.values.get(("P", cell)) for cell in (0, 1, 4, 5)] for frame in frames]
    assert held == [[None] * 4, [1, 2, 0, 1], [1, 2, 0, 1], [2, 4, 8, 8], [2, 4, 8, 8]]
    assert frames[0].reads == {(name, cell) for name in "MN" for cell in (0, 1, 4, 5)}
    assert frames[2].reads == {("M", c) for c in (2, 3, 6, 7)} | {("N", c) for c in (8, 9, 12, 13)}
    assert frames[4].writes == {("P", cell) for cell in (0, 1, 4, 5)}


@pytest.fixture(scope="module")
def stores(built):
    return [banks.store_of(built, stride) for stride in banks.STRIDES]


@pytest.mark.slow
def test_the_figure_of_banks_is_current(built, stores):
    assert svg.not_current(built, banks.LAB, banks.drawn(built)) == {}, (
        "python -m grader.show.figures"
    )
    changed = [banks.Store(1, one.banks[::-1], one.wavefronts) for one in stores]
    assert banks._frame(changed[0], 16) != banks._frame(stores[0], 16)


@pytest.mark.slow
def test_lanes_go_to_the_banks_that_the_handout_computes(stores):
    """Lane (i, r) stores word i * stride + r; a bank serves one of them in each wavefront."""
    for store in stores:
        lanes = [(lane % 16, lane // 16) for lane in range(32)]
        assert list(store.banks) == [(i * store.stride + r) % 32 for i, r in lanes]
        assert len(set(zip(store.banks, store.wavefronts, strict=True))) == 32
        assert store.count == max(map(store.banks.count, store.banks))


def test_a_swizzle_without_padding_leaves_two_wavefronts(built):
    """Lane (i, r) stores word 64 i + (r ^ 4 (i % 8)), as the handout says."""
    store = banks.store_of(built, 64, swizzled=True)
    lanes = [(lane % 16, lane // 16) for lane in range(32)]
    assert list(store.banks) == [(i * 64 + (r ^ 4 * (i % 8))) % 32 for i, r in lanes]
    assert store.count == 2


def test_a_missing_barrier_shows_who_meets(built, story):
    """With both no element is written and read by two threads in one interval; without, most are."""
    whole = figures.FIGURES[0].frames(story)
    assert [frame.races for frame in whole] == [set()] * 5
    first, second = (one for one in figures.FIGURES if one.without)
    tiles = {(name, cell) for name in ("Mds", "Nds") for cell in range(4)}
    without_first = first.frames(figures.story_of(built, first))
    assert [frame.races for frame in without_first] == [tiles, tiles, set()]
    without_second = second.frames(figures.story_of(built, second))
    assert [frame.races for frame in without_second] == [set(), tiles, set()]


PLACES = [
    *((figure.lab, figure.prefix) for figure in figures.FIGURES),
    (banks.LAB, ""),
    (banks.LAB, banks.SWIZZLE),
]


@pytest.mark.parametrize(("lab", "prefix"), PLACES)
def test_they_show_data_and_rest_where_one_wants_no_movement(lab, prefix):
    folder = REPOSITORY / "labs" / lab
    handout = (folder / "README.md").read_text()
    assert f"]({prefix}steps.svg)" in handout and f"]({prefix}moving.svg)" in handout
    for name in (f"{prefix}steps.svg", f"{prefix}moving.svg"):
        text = (folder / name).read_text()
        assert not re.search(r"<script|https?://(?!www\.w3\.org/2000/svg)|__|;\s*$", text)
        assert "prefers-color-scheme:dark" in text and "aria-label=" in text
        assert len(text) < 150_000
    assert "prefers-reduced-motion:reduce" in (folder / f"{prefix}moving.svg").read_text()


def test_the_figure_of_lanes_is_current_and_the_handouts(built):
    loads = fragments.loads_of(built)
    assert svg.not_current(built, fragments.LAB, fragments.drawn(built)) == {}, (
        "python -m grader.show.figures"
    )
    # Lane names row lane % 16, column lane / 16 * 8; of matrix 1 lane 5 gets A[9][2] and A[9][3].
    named = [one for load in loads for one in load.rows]
    assert named == [(lane, lane % 16, lane // 16 * 8) for lane in range(32)]
    assert [load.got for load in loads] == [(1, 2), (9, 2), (1, 10), (9, 10)]
    changed = fragments.Loaded(0, loads[1].rows, loads[1].got)
    assert fragments._frame(changed) != fragments._frame(loads[0])
