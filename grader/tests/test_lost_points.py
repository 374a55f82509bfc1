"""`grader explain`: why each point was lost, from a result alone."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from grader.results import lost_points
from grader.results.hidden import for_students
from grader.results.result import CheckResult, to_dict
from grader.tests import samples
from grader.tests.conftest import REPOSITORY


def losses(result):
    return {loss.check: loss for loss in lost_points.explain(result).losses}


def with_check(status="failed", score=0.0, message="it is not so", **data):
    """FAILED with one check more."""
    check = CheckResult("x", "the x", "performance", status, score, 10.0, message, False, data)
    return replace(samples.FAILED, checks=(*samples.FAILED.checks, check))


def test_every_lost_point_is_accounted_for():
    for result in [*samples.ALL.values(), samples.HIDDEN, with_check(score=2.5)]:
        explained = lost_points.explain(result)
        if not result.checks:
            assert explained.summary
            continue
        lost = sum(loss.lost for loss in explained.losses)
        most = sum(check.max_score for check in result.checks)
        assert lost == most - sum(check.score for check in result.checks)
        assert all(loss.why for loss in explained.losses)


def test_outputs_tell_cases_line_and_findings():
    loss = losses(samples.FAILED)["sizes"]
    assert (loss.lost, loss.line, loss.source) == (25, 18, "sum += Mds[ty][k] * Nds[k][tx];")
    assert [text.split(": ")[1] for text in loss.findings[:2]] == ["race-shared", "wrong-result"]
    assert loss.needed == "P right in every case; it is wrong for 64x64x64 and a hidden case."


def test_a_hidden_case_of_another_check_is_not_blamed():
    other = replace(samples.FAILED.cases[0], id="h", shape="5x5x5", status="failed", hidden=True)
    result = with_check(failed_cases=["w64"])
    result = replace(result, cases=(*(x for x in result.cases if not x.hidden), other))
    for shown in (result, for_students(result)):
        needed = losses(shown)["x"].needed
        assert needed == "P right in every case; it is wrong for 64x64x64."


def test_what_was_skipped_names_what_blocked_it():
    loss = losses(samples.FAILED)["traffic"]
    assert loss.blocked_by == ("sizes",)
    assert loss.needed == 'Pass "right at other sizes" first: then this is looked at.'
    chain = losses(with_check("skipped", message="Not looked at.", blocked_by="traffic"))["x"]
    assert chain.blocked_by == ("traffic", "sizes")
    assert "right at other sizes" in chain.needed


@pytest.mark.parametrize(
    ("data", "limit", "needed"),
    [
        ({"measure": "a / b", "value": 16.0, "at_most": 4}, "at most 4", "75% less"),
        ({"measure": "bank_conflicts", "value": 8, "at_most": 0}, "at most 0", "None at all"),
        ({"measure": "a", "value": 1, "at_least": 2, "at_most": None}, "at least 2", "At least 2"),
        ({"ratio": 2.5, "full": 1.15, "none": 4.0}, "none from 4", "at most 1.15 times"),
        ({"codes": ["timeout", "trap"]}, "", "No timeout and no trap in any case."),
    ],
)
def test_measured_limit_and_what_it_takes(data, limit, needed):
    loss = losses(with_check(**data))["x"]
    assert loss.measured == data.get("value", data.get("ratio"))
    assert limit in loss.limit
    assert needed in loss.needed


def test_no_points_for_other_reasons():
    summaries = {name: lost_points.explain(result).summary for name, result in samples.ALL.items()}
    assert "the grader itself failed" in summaries["error"]
    assert 'identifier "Mds" is undefined' in summaries["does-not-compile"]
    assert "is empty: has it been saved?" in summaries["unreadable"]
    assert "every TODO is still empty" in summaries["not-started"]
    assert summaries["passed"] == "All points were given."
    unsure = lost_points.explain(with_check("inconclusive"))
    assert "10 points for what could not be measured with certainty" in unsure.summary


def test_hidden_data_stay_hidden():
    shown = lost_points.to_text([lost_points.explain(for_students(samples.HIDDEN))])
    assert "417" not in shown and "31337" not in shown
    everything = lost_points.to_text([lost_points.explain(samples.HIDDEN, with_seed=True)])
    assert "417x419 is wrong" in everything and "--seed 31337" in everything


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "grader", "explain", *map(str, arguments)],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip


class TestCommand:
    @pytest.fixture
    def stored(self, tmp_path):
        path = tmp_path / "result.json"
        path.write_text(json.dumps(to_dict(samples.FAILED)))
        return path

    def test_text(self, stored):
        done = run(stored)
        assert (done.returncode, done.stderr) == (0, "")
        assert "-25 of 25  right at other sizes  [sizes, failed]" in done.stdout
        assert "not looked at because of: sizes" in done.stdout

    def test_json_and_weights(self, stored):
        done = run(stored, "--format", "json", "--weights", "02=20")
        fields = json.loads(done.stdout)
        assert fields["schema"] == "tilewise.explanation/1"
        lab = fields["labs"][0]
        assert (lab["score"], lab["max_score"]) == (9, 20)
        assert sum(loss["lost"] for loss in lab["losses"]) == 11
        assert len(lab["source_sha256"]) == 64

    def test_a_lab_graded_now(self, tmp_path):
        done = run("02", "--submission", REPOSITORY / "labs")
        assert done.returncode == 0
        assert "Nothing was handed in" in done.stdout

    def test_mistakes(self, stored):
        for arguments, words in ((["gone.json"], "cannot be read"), (["77"], "no lab '77'")):
            done = run(*arguments)
            assert (done.returncode, done.stdout) == (2, "")
            assert words in done.stderr
