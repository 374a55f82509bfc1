"""A trace in a file as a page, and which case a page shows."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys

import pytest

from grader.errors import SubmissionError
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import Submission
from grader.show import make
from grader.tests import command_line, corpus_files, samples
from grader.tests.conftest import REPOSITORY
from grader.trace import make as traces
from grader.writers import html

OPTIONS = Options("sim")
LAB = "05-register-tiling"


def submission(lab, *edit):
    text = (REPOSITORY / "solutions" / lab / "matmul.cu").read_text()
    if edit:
        assert text.count(edit[0]) == 1
        text = text.replace(*edit)
    return Submission(REPOSITORY / "matmul.cu", "matmul.cu", text, text.encode())


def told(path):
    """What a page carries."""
    packed = re.search(r'<script[^>]*id="trace"[^>]*>([^<]+)<', path.read_text())[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def trace(built, tmp_path_factory):
    """As warpsim run leaves one: no case, the source by its path."""
    lab = load_lab(built.labs / "01-naive-kernel")
    given = submission(lab.name)
    made = traces.make(built, lab, given.text, traces.Wanted(lab.shows[0].case), OPTIONS)
    folder = tmp_path_factory.mktemp("trace")
    source = folder / "app.cu"
    source.write_text("// my own program\n" + given.text)
    made["case"] = None
    made["files"][0] |= {"name": str(source), "text": None}
    path = folder / "trace.json"
    path.write_text(json.dumps(made))
    return path


def test_a_trace_is_shown_with_its_source(trace):
    done = command_line.call("show", trace)
    assert done.returncode == 0, done.stderr
    shown = told(trace.with_suffix(".html"))["runs"][0]["trace"]["files"][0]
    assert shown["name"] == "app.cu"
    assert shown["text"].startswith("// my own program\n")


def test_warpsim_shows_one_likewise(trace, tmp_path):
    path = tmp_path / "page.html"
    words = [sys.executable, "-c", "from grader.commands.warpsim import main; main()"]
    done = subprocess.run(
        [*words, "show", str(trace), "--output", str(path)], cwd=REPOSITORY, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert told(path)["runs"][0]["trace"]["launches"]


def test_what_is_no_trace_is_refused(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"schema": "something/1"}')
    done = command_line.call("show", path)
    assert done.returncode != 0 and "is no trace" in done.stderr
    assert not path.with_suffix(".html").exists()


@pytest.mark.slow
def test_a_fault_at_an_edge_is_shown_where_there_is_one(built):
    """The first case of this lab ends with whole blocks."""
    lab = load_lab(built.labs / LAB)
    guardless = submission(LAB, "if (row < j && col < l) P[", "if (row < j) P[")
    show, found, why = make._telling(built, lab, guardless, OPTIONS, make.chosen(lab))
    assert show.case.id == "13x7x15" and "has no finding" in why
    assert {one["code"] for one in found.trace["launches"][0]["findings"]} >= {"race-global"}
    show, found, why = make._telling(built, lab, submission(LAB), OPTIONS, make.chosen(lab))
    assert (show, why) == (make.chosen(lab), "")


@pytest.mark.slow
def test_a_fault_that_no_small_case_has_is_shown_in_one_of_the_report(built):
    lab = load_lab(built.labs / LAB)
    third = submission(
        LAB, "  int first_col = ", "  if (blockIdx.x == 2) return;\n  int first_col = "
    )
    show, found, why = make._telling(built, lab, third, OPTIONS, make.chosen(lab))
    assert show in [make.Show(case) for case in lab.cases] and not found.values
    assert "has no finding" in why
    assert found.trace["launches"][0]["findings"][0]["code"] == "unwritten-output"


def test_a_right_program_that_bears_no_smaller_constants_has_no_finding(built):
    """Its copies are made for tiles of 64 x 8: with others it reads beyond them."""
    lab = load_lab(built.labs / "05-register-tiling")
    right = corpus_files.find(lab.name, "double-buffer").submission
    small = make.trace(built, lab, right, OPTIONS, make.chosen(lab))
    assert small.values and small.trace["launches"][0]["findings"]
    show, found, why = make._telling(built, lab, right, OPTIONS, make.chosen(lab))
    assert show.case == make.chosen(lab).case and "as it is written" in why
    assert not found.values and not found.trace["launches"][0]["findings"]


def test_a_right_program_that_runs_in_no_small_case_is_shown_in_a_graded_one(built):
    """Its tile has no constant of that name, and 4x4 has no block of it."""
    lab = load_lab(built.labs / "02-tiled-kernel")
    right = corpus_files.find(lab.name, "two-streams").submission
    with pytest.raises(SubmissionError, match="launches no kernel"):
        make.trace(built, lab, right, OPTIONS, make.chosen(lab))
    show, found, why = make._telling(built, lab, right, OPTIONS, make.chosen(lab))
    assert show in [make.Show(case) for case in lab.cases] and "made for other sizes" in why
    assert found.trace["launches"] and not make._codes(found)


def test_other_values_are_given_to_all_constants_or_none(built):
    lab = load_lab(built.labs / "05-register-tiling")
    some = corpus_files.find(lab.name, "float4").submission
    found = make.trace(built, lab, some, OPTIONS, make.chosen(lab))
    assert not found.values and "no constant BM" in found.note
    assert not found.trace["launches"][0]["findings"]


def test_a_wrong_product_is_told_with_its_cause(built):
    lab = load_lab(built.labs / "01-naive-kernel")
    wrong = submission(lab.name, "M[row * width + k] *", "M[k * width + row] *")
    found = make.trace(built, lab, wrong, OPTIONS, make.chosen(lab)).trace
    (finding,) = found["launches"][0]["findings"]
    lines = wrong.text.splitlines()
    assert "M[k * width + row]" in lines[finding["line"] - 1]
    assert "multiplied M[1][0] with N[1][0]; needs M[0][1]" in finding["message"]


def test_no_tile_of_the_worked_example_hides_a_transposed_factor(built):
    """The product of toy-4x4 differs from the one with N, or any tile of it, transposed."""
    folder = REPOSITORY / "datasets" / "toy-4x4"
    import numpy as np

    n = np.load(folder / "N.npy")
    right = n[:2, 2:], n[2:, 2:]
    assert not np.array_equal(n, n.T)
    assert all(not np.array_equal(tile, tile.T) for tile in right)


@pytest.mark.parametrize("where", ["labs/02-tiled-kernel/matmul.cu", "my own.cu"])
def test_a_page_of_results_says_how_to_see_it(where):
    from dataclasses import replace

    said = html._see_it(replace(samples.FAILED, submission=where))
    given = "" if where.startswith("labs/") else " SUBMISSION='my own.cu'"
    assert said == f"make show LAB=02{given}"
    hidden = tuple(replace(case, hidden=True) for case in samples.FAILED.cases)
    assert html._see_it(replace(samples.FAILED, cases=hidden)) == ""
