"""The part of a product's factors that comes by way of tiles: which checks ask it, and what it costs."""

from dataclasses import replace

import pytest

from grader.errors import StepError
from grader.judging import rubric
from grader.judging.judge import Outcome
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.pipeline import tile_use
from grader.pipeline.session import Session
from grader.results.result import CaseResult
from grader.running import execute
from grader.running.execution import parse
from grader.tests.executions import execution_json

LABS = ("02-tiled-kernel", "06-bank-conflicts", "11-copy-engine")


def _session(course, lab, folder):
    return Session(course, lab, Options("sim"), lambda text: None, folder, None, 90)


def _share_of(factors):
    return parse(execution_json("w256") | {"factors": factors}).tile_share


@pytest.mark.parametrize(
    ("factors", "share"),
    [
        (None, None),
        ({"from_tiles": 0, "past_tiles": 0}, None),
        ({"from_tiles": 3, "past_tiles": 1}, 0.75),
        ({"from_tiles": 0, "past_tiles": 8}, 0),
    ],
)
def test_what_the_executor_counts(factors, share):
    assert _share_of(factors) == share


@pytest.mark.parametrize("name", LABS)
def test_it_is_looked_at_where_counts_are(course, name, tmp_path):
    lab = load_lab(course.labs / name)
    cases = tile_use.wanted(_session(course, lab, tmp_path))
    assert [case.role for case in cases] == ["performance"]
    assert not any(case.hidden for case in cases)


def test_a_lab_without_tiles_is_spared(course, tmp_path):
    lab = load_lab(course.labs / "01-naive-kernel")
    assert tile_use.wanted(_session(course, lab, tmp_path)) == ()


@pytest.mark.parametrize(("share", "status"), [(None, "passed"), (0.5, "passed"), (0.1, "failed")])
def test_what_it_costs(course, share, status):
    lab = load_lab(course.labs / "02-tiled-kernel")
    asked = [
        one for check in lab.checks for one in check.also if tile_use.FACT in one.value
    ]  # by themselves: what else the checks count is not made up here
    assert len(asked) == 1
    case = lab.case(asked[0].cases[0])
    execution = replace(parse(execution_json(case.id)), tile_share=share)
    outcome = Outcome(case, CaseResult(case.id, "", "", "passed"), (), True, execution)
    evidence = rubric.Evidence({}, {case.id: outcome}, {})
    found = rubric._KINDS["counter"](asked[0], lab, evidence)
    assert found.status == status


def test_what_our_side_cannot_find_out_costs_nobody_anything(course, tmp_path, monkeypatch):
    lab = load_lab(course.labs / "02-tiled-kernel")
    session = _session(course, lab, tmp_path)
    case = tile_use.wanted(session)[0]

    def fails(*arguments):
        raise StepError("The executor failed.")

    monkeypatch.setattr(execute, "ways_counted", fails)
    monkeypatch.setattr(
        tile_use,
        "job_of",
        lambda *a: execute.Job(case.id, tmp_path, {}, tmp_path / "P.npy", tmp_path / "r", 1),
    )
    outcome = Outcome(
        case, CaseResult(case.id, "", "", "passed"), (), True, parse(execution_json(case.id))
    )
    recorded = {case.id: type("Recorded", (), {"plan": tmp_path})()}
    seen = tile_use.looked_at(session, {case.id: outcome}, recorded)
    assert seen[case.id].execution.tile_share is None


def test_the_blocks_are_drawn_by_the_seed(course, tmp_path):
    lab = load_lab(course.labs / "02-tiled-kernel")
    session = _session(course, lab, tmp_path)
    case = tile_use.wanted(session)[0]
    one = tile_use._places(session, case)
    assert one == tile_use._places(session, case)
    session.options = replace(session.options, seed=99)
    assert one != tile_use._places(session, case)
