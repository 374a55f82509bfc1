"""What common/measure/show_every_page.py holds of every page: a right one passes, each planted fault is named."""

import copy
import sys

import numpy as np
import pytest

from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.show import make, page
from grader.tests import browser, corpus_files, show_pages
from grader.tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "common" / "measure"))

import show_every_page


@pytest.fixture(scope="module")
def traced(built):
    lab = load_lab(built.lab_folder("02-tiled-kernel"))
    given = corpus_files.find("02-tiled-kernel", "no-first-barrier").submission
    return make.trace(built, lab, given, Options("sim"), make.chosen(lab)).trace


@pytest.fixture(scope="module")
def chromium():
    if browser.find() is None:
        pytest.skip("there is no Chromium here (Debian, Ubuntu: apt install chromium)")
    with browser.Page(browser.find()) as opened:
        yield opened


@pytest.fixture
def seen(chromium, tmp_path, traced):
    def seen(trace, left=None, extra=""):
        path = tmp_path / "page.html"
        text = page.render([page.Run("yours", trace)], eyebrow="Lab 02", heading="4x4")
        path.write_text(text.replace("</body>", f"{extra}</body>"))
        return show_every_page.examine(chromium, path, left or {})

    return seen


def test_a_page_and_its_planted_faults(chromium, seen, traced):
    found = seen(traced)
    assert found["faults"] == [] and found["moments"] == found["findings"] > 0
    shown = chromium.value(show_pages.CONTENTS.format("P"))
    right = np.array([np.nan if value is None else value for value in shown], "f4").reshape(4, 4)
    assert seen(traced, {"4x4": {"P": right}})["held"] == ["P"]

    other = right.copy()
    other[3, 3] += 1
    assert seen(traced, {"4x4": {"P": other}})["faults"] == [
        "P differs from what the executor left"
    ]

    planted = copy.deepcopy(traced)
    finding = planted["launches"][0]["findings"][0]
    finding["line"] += 1
    told = (
        f"launch 0, finding 1, {finding['code']}: line {finding['line'] - 1}, not {finding['line']}"
    )
    assert set(seen(planted)["faults"]) == {told}

    said = seen(traced, extra='<img src="http://127.0.0.1:9/x" alt="">')["faults"]
    assert any("console" in one for one in said)
