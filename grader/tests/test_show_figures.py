"""The figures of the handouts are what a run of the solution gives."""

import re

import pytest

from grader.show import figures
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


@pytest.mark.parametrize("figure", figures.FIGURES, ids=lambda figure: figure.lab)
def test_they_show_data_and_rest_where_one_wants_no_movement(figure):
    folder = REPOSITORY / "labs" / figure.lab
    handout = (folder / "README.md").read_text()
    assert "](steps.svg)" in handout and "](moving.svg)" in handout
    for name in ("steps.svg", "moving.svg"):
        text = (folder / name).read_text()
        assert not re.search(r"<script|https?://(?!www\.w3\.org/2000/svg)|__|;\s*$", text)
        assert "prefers-color-scheme:dark" in text and "aria-label=" in text
        assert len(text) < 150_000
    assert "prefers-reduced-motion:reduce" in (folder / "moving.svg").read_text()
