"""The still pictures are what figures.py draws, and every one is shown and says what it shows."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "docs" / "book"))

import figures  # noqa: E402


@pytest.mark.parametrize("name", figures.FIGURES)
def test_a_figure_is_as_drawn(name):
    drawn = figures.FIGURES[name]().svg()
    assert (figures.FOLDER / f"{name}.svg").read_text() == drawn, "run docs/book/figures.py"
    root = ElementTree.fromstring(drawn)
    assert len(root.attrib["aria-label"]) > 40
    width = int(root.attrib["width"])
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        # 0.53 of the size is about the width of a letter; nothing runs out of the picture
        letters = 0.53 * float(text.attrib["font-size"]) * len(text.text)
        share = {"start": 1, "middle": 0.5, "end": 0}[text.attrib["text-anchor"]]
        assert float(text.attrib["x"]) + share * letters <= width + 12, text.text


def test_every_figure_is_shown_with_words():
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("labs/*/README.md")]
    shown = {}
    for page in pages:
        for words, name in re.findall(
            r"!\[((?:[^\[\]]|\[\d+\])+)\]\(\S*figures/([\w-]+)\.svg\)", page.read_text()
        ):
            shown[name] = words
    assert set(shown) == set(figures.FIGURES)
    assert all(len(words) > 20 for words in shown.values())


def test_the_roofline_is_that_of_the_device_files():
    drawn = figures.roofline().svg()
    assert "622 GFLOP/s; ridge at 6.1" in drawn
    assert "66,908 GFLOP/s; ridge at 13.9" in drawn
    assert [figures.intensity(loads) for _, loads in figures.KERNELS] == [0.25, 4, 8, 16, 32]


def test_the_frames_end_in_the_handouts_sums():
    texts = re.findall(r">(\d+)</text>", figures.six_frames().svg())
    assert texts[-4:] == ["2", "4", "8", "8"]
