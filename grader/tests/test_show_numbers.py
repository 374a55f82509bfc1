"""The numbers of the page are those of the graded result: of the same case, the same file.

common/measure/show_numbers.py holds the same for the corpus; here a browser has opened the page.
"""

import copy
import json

import numpy as np
import pytest

from grader.errors import GraderError
from grader.labs.lab import load_lab
from grader.labs.submission import Submission
from grader.show import page
from grader.tests import browser, corpus_files, show_numbers, show_pages
from grader.tests.conftest import REPOSITORY
from grader.tests.selection import first_of
from grader.tests.show_numbers import Graded, differences

LABS = corpus_files.ladder()
WRONG = [(entry.lab, entry.name) for entry in corpus_files.entries("wrong")][::30]


def solution(lab):
    path = REPOSITORY / "solutions" / lab / "matmul.cu"
    return Submission(path, "matmul.cu", path.read_text(), path.read_bytes())


@pytest.fixture(scope="module")
def chromium():
    path = browser.find()
    if path is None:
        pytest.skip("there is no Chromium here (Debian, Ubuntu: apt install chromium)")
    with browser.Page(path) as opened:
        yield opened


def held(chromium, built, tmp_path, lab_name, given, *, is_wrong=False):
    """What differs, and whether the page was traced whole; None where there is nothing to be seen."""
    lab = load_lab(built.folder(lab_name))
    case = show_numbers.case_of(lab)
    try:
        trace = show_numbers.traced(built, lab, given, case)
    except GraderError as error:
        assert "does not compile" in str(error) or "could be traced" in str(error)
        return None
    if not trace["launches"]:
        return None
    path = tmp_path / "page.html"
    path.write_text(page.render([page.Run("yours", trace)], eyebrow="", heading=case.title))
    show_pages.open_page(chromium, path)
    shown = chromium.value(show_numbers.OF_PAGE)
    stays = show_numbers.may_stay(lab) if is_wrong else ()
    found = differences(trace, shown, show_numbers.graded(built, lab, given, case), stays)
    assert chromium.said == []
    return found, all(launch["is_whole"] for launch in trace["launches"])


@pytest.mark.parametrize("lab", first_of(LABS))
def test_of_a_solution(chromium, built, tmp_path, lab):
    assert held(chromium, built, tmp_path, lab, solution(lab)) == ([], True)


@pytest.mark.slow
@pytest.mark.parametrize(("lab", "name"), WRONG)
def test_of_a_wrong_file(chromium, built, tmp_path, lab, name):
    given = corpus_files.find(lab, name).submission
    seen = held(chromium, built, tmp_path, lab, given, is_wrong=True)
    assert seen is None or seen[0] == []


TRACE = {"launches": [{"kernel": "k", "is_whole": True, "counters": {"instructions": 9}}]}
SHOWN = [{"tally": {"barriers": 4, "bank_conflicts": 0}, "arrays": {"P": [1.0, None, 3.0, 4.0]}}]
OF_K = ("k", {"barriers": 4, "instructions": 9})
GRADED = Graded([OF_K], {"P": np.array([[1, np.nan], [3, 4]], "f4")})


def test_a_planted_difference_is_found():
    assert differences(TRACE, SHOWN, GRADED) == []
    counted = copy.deepcopy(SHOWN)
    counted[0]["tally"]["bank_conflicts"] = 1
    assert differences(TRACE, counted, GRADED) == ["k: bank_conflicts 1, not 0"]
    sums = copy.deepcopy(SHOWN)
    sums[0]["arrays"]["P"][3] = 4.0000005
    assert differences(TRACE, sums, GRADED) == ["P differs"]
    unwritten = json.loads(json.dumps(SHOWN).replace("null", "2.0"))
    assert differences(TRACE, unwritten, GRADED) == ["P differs"]
    assert differences({"launches": []}, [], GRADED) == ["[] are shown, ['k'] were graded"]


def test_launches_of_one_kernel_are_added_up():
    twice = {"launches": TRACE["launches"] * 2}
    half = {**SHOWN[0], "tally": {"barriers": 2, "bank_conflicts": 0}}
    assert differences(twice, [half, half], GRADED) == []
    assert differences(twice, [half, SHOWN[0]], GRADED) == ["k: barriers 6, not 4"]
