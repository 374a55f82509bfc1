"""Points for time: by the ratio to the reference, none for wrong, impossible or unsure times."""

import copy

import pytest

from grader.errors import StepError
from grader.judging import judge
from grader.running import timing
from grader.tests.executions import COMPARISON
from grader.tests.test_judge import evaluate


def check(lab, *, ratio=None, **changes):
    fields = copy.deepcopy(COMPARISON)
    if ratio is not None:
        fields["ratios"]["reference"] = dict(zip(("median", "low", "high"), ratio, strict=True))
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = fields
        for name in parents:
            place = place[name]
        place[last] = value
    return evaluate(lab, backend="gpu", timings={"w8": timing.parse(fields)})["time"]


@pytest.mark.parametrize(
    ("ratio", "status", "score"),
    [
        (1.0, "passed", 25),
        (1.15, "passed", 25),
        (2.575, "failed", 12.5),
        (4.0, "failed", 0),
        (9.0, "failed", 0),
    ],
)
def test_graded_by_the_ratio(lab, ratio, status, score):
    found = check(lab, ratio=(ratio, ratio, ratio))
    assert (found.status, found.score) == (status, score)
    assert found.data["ratio"] == ratio
    assert f"{ratio:.2f} times the reference's time" in found.message


def test_uncertain_where_it_matters_is_inconclusive(lab):
    found = check(lab, ratio=(1.2, 1.0, 1.5))
    assert (found.status, found.score) == ("inconclusive", 0)
    assert "run it again" in found.message


@pytest.mark.parametrize("ratio", [(1.1, 1.09, 1.2), (0.9, 0.7, 1.1), (6.0, 4.5, 9.0)])
def test_uncertain_where_it_does_not_matter_is_graded(lab, ratio):
    assert check(lab, ratio=ratio).status != "inconclusive"


def test_wrong_while_timed(lab):
    found = check(
        lab,
        contenders__submission__verified={"wrong": 1, "first_wrong": "round 3: P[1][2] is 0"},
    )
    assert (found.status, found.score) == ("failed", 0)
    assert "round 3" in found.message


def test_faster_than_possible(lab):
    found = check(lab, floor_ms=2.5)
    assert (found.status, found.score) == ("failed", 0)
    assert found.message.startswith("too-fast: ")


def test_findings_of_the_clock_are_diagnostics(lab):
    def codes(**changes):
        found = timing.parse(COMPARISON | changes)
        return [item.code for item in judge.of_timing(lab.case("w8"), found)]

    assert codes() == []
    assert codes(floor_ms=2.5) == ["too-fast"]
    wrong = copy.deepcopy(COMPARISON["contenders"])
    wrong["submission"]["verified"] = {"wrong": 1, "first_wrong": "round 3: P[1][2] is 0"}
    assert codes(contenders=wrong) == ["wrong-result"]


def test_not_timed(lab):
    found = check(
        lab, contenders__submission__status="timeout", contenders__submission__message="too slow"
    )
    assert (found.status, found.message) == ("failed", "It was not timed: too slow")
    assert evaluate(lab, backend="gpu")["time"].status == "skipped"


def test_no_reference_is_inconclusive(lab):
    found = check(lab, ratios={})
    assert found.status == "inconclusive"


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "tilewise.comparison/2"},
        {"contenders": {"reference": {"status": "timeout", "message": "x"}}},
        {"contenders": {}},
    ],
)
def test_failures_that_are_not_the_submissions(change):
    with pytest.raises(StepError):
        timing.parse(COMPARISON | change)
