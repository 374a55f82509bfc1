"""Asynchronous copies that are waited for at once, and dummies that travel for long in their place."""

from pathlib import Path

import pytest

from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import FILE_NAME, Submission
from grader.pipeline.grade import grade
from grader.tests.selection import first_of

LAB_08, LAB_09 = "08-async-copies", "09-warp-tiles"
EARLY = """    __pipeline_wait_prior(0);  // what this thread has copied is there
    __syncthreads();           // what all have copied is there, and the other stage is used up
    if (ph + 1 < ceil_div(k, BK)) start_copies(ph + 1);
"""
AT_ONCE = """    __syncthreads();
    start_copies(ph);
    __pipeline_wait_prior(0);
    __syncthreads();
"""
# Eleven requests that each read four bytes, and are waited for in the next phase.
DUMMIES = """    for (int d = 0; d < 11; ++d) copy_async<4>({to}, M, true);
    __pipeline_commit();
"""
# Lab: where the first phase is asked for and what stands there instead, what comes before the
# results leave, where a dummy goes, and the checks that it must not pass.
LABS = {
    LAB_08: (
        ("  start_copies(0);\n  // END", "  __shared__ float junk[11][THREADS];\n  // END"),
        "  for (int r = 0; r < TM; ++r) {\n    store4(P",
        "&junk[d][thread]",
        ["loads", "overlap"],
    ),
    LAB_09: (
        ("  start_copies(0);\n", ""),
        "  for (int r = 0; r < TM; ++r) {  // LM rows",
        "&out[warp][0][0] + d * 32 + lane",
        ["async"],
    ),
}


def _replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.mark.parametrize("lab_name", first_of(LABS))
def test_dummies_make_up_for_no_copy_that_is_waited_for_at_once(built, lab_name):
    (first, instead), leaving, to, lost = LABS[lab_name]
    text = (built.solutions / lab_name / FILE_NAME).read_text()
    text = _replaced(text, first, instead)
    text = _replaced(text, EARLY, AT_ONCE + DUMMIES.format(to=to))
    text = _replaced(text, leaving, "  __pipeline_wait_prior(0);\n  __syncthreads();\n" + leaving)
    submission = Submission(Path(FILE_NAME), FILE_NAME, text, text.encode())
    result = grade(built, load_lab(built.folder(lab_name)), submission, Options("sim"))
    assert [check.id for check in result.checks if check.status != "passed"] == lost
