"""The simulator judges, a GPU adds the clock: with a stand-in for both executors."""

import itertools
import random
from dataclasses import replace

import pytest

from grader import writers
from grader.judging import rubric
from grader.labs.lab import load_lab
from grader.machine.gpu import Gpu
from grader.results.hidden import for_students
from grader.results.result import CheckResult
from grader.results.stored import from_dict
from grader.tests.conftest import LAB_TOML, REPOSITORY
from grader.tests.stage import grade_to_json
from grader.tests.test_judge import outcome
from grader.writers.style import Style

LABS = sorted(path.parent for path in REPOSITORY.glob("labs/*/lab.toml"))


@pytest.fixture
def on_both(stage):
    """Grades on both; returns (result, its checks by id)."""

    def run(**modes):
        result = stage(backend="both", **modes)
        assert from_dict(grade_to_json(result)) == result
        return result, {check.id: check for check in result.checks}

    run.ran = stage.ran
    return run


def test_the_simulator_judges_and_the_gpu_is_looked_at_and_timed(on_both):
    result, checks = on_both()
    assert (result.status, result.score, result.backend) == ("passed", 100, "both")
    assert (checks["traffic"].score, checks["time"].score) == (15, 10)
    ran = on_both.ran()
    assert {line for line in ran if line.endswith("sim")} == {"w4 sim", "w8 sim", "secret sim"}
    assert {line for line in ran if line.endswith("gpu")} == {"w4 gpu", "w8 gpu", "secret gpu"}
    assert ran[-1] == "w8 gpu compare"
    assert (result.gpu.name, result.gpu.status) == ("NVIDIA H200", "same")
    assert 1 <= result.gpu.identical <= 3  # the integers' at least
    assert result.device == "h200" and result.kernels[0].counters


def test_a_slow_kernel_loses_the_clocks_points_and_no_others(on_both):
    result, checks = on_both(clock=9.0)
    assert (result.status, result.score) == ("failed", 90)
    assert checks["time"].score == 0 and checks["traffic"].score == 15


def test_what_is_wrong_on_the_simulator_is_not_run_on_the_gpu(on_both):
    result, checks = on_both(w8="wrong")
    assert result.status == "failed"
    assert not any(line.startswith("w8 gpu") for line in on_both.ran())
    assert checks["time"].status == "skipped" and checks["sizes"].status == "failed"
    assert result.gpu.cases == ("w4", "secret")


@pytest.mark.parametrize(
    ("case", "mode"),
    [
        ("secret", "wrong"),
        ("w8", "fault"),
        ("w4", "timeout"),
    ],
)
def test_what_only_the_gpu_sees_is_the_graders_to_look_into(on_both, case, mode):
    result, checks = on_both(**{f"{case}_gpu": mode})
    assert (result.status, result.score, result.exit_code) == ("error", None, 3)
    assert result.gpu.status == "differs" and case in result.gpu.differing
    assert "NVIDIA H200" in result.message and "costs no points" in result.message
    assert "With --backend sim the file has 100 of 100 points." in result.message
    assert sum(check.score for check in checks.values()) == 100, "the simulator's word is kept"
    shown = for_students(result)
    assert "secret" not in shown.message and "secret" not in shown.gpu.differing
    for name in ("text", "markdown", "html", "junit", "gradescope", "classroom50", "autolab"):
        assert "NVIDIA H200" in writers.render(name, [result], one=True, style=Style(width=400))


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        ({"w4_gpu": "dies"}, "no space left on device"),
        ({"clock": "dies"}, "has lost the GPU"),
        ({"gpu": None}, "there is none on the machine"),
    ],
)
def test_a_gpu_that_cannot_be_used_costs_nobody_points(on_both, modes, words):
    result, _ = on_both(**modes)
    assert (result.status, result.score, result.gpu.status) == ("error", None, "failed")
    assert words in result.message and "costs no points" in result.message


def test_wrong_while_it_is_timed_is_told_and_ours(on_both):
    result, _ = on_both(clock="wrong")
    assert result.status == "error"
    assert "P was right at first, and wrong while it was timed: P[1][2] is 0." in result.message


def test_too_slow_to_be_timed_loses_the_clocks_points_and_no_others(on_both):
    result, checks = on_both(clock="late", w8_gpu="slow")
    assert (result.status, result.score, result.gpu.status) == ("failed", 90, "same")
    assert checks["time"].score == 0 and checks["traffic"].score == 15
    assert checks["time"].message == "It was not timed: one run of it took 23 s."


def test_what_ends_once_and_then_does_not_is_ours(on_both):
    result, _ = on_both(clock="late")
    assert (result.status, result.gpu.status) == ("error", "differs")
    assert "it ran once, and then did not: submission did not end" in result.message


def test_a_fault_that_the_simulator_found_explains_what_the_gpu_does(on_both):
    alone, _ = on_both(w4_sim="out-of-bounds")
    result, checks = on_both(w4_sim="out-of-bounds", w8_gpu="wrong")
    assert (result.status, result.gpu.status) == ("failed", "differs")
    assert result.score == alone.score - checks["time"].max_score
    assert checks["time"].status == "inconclusive"
    assert "The findings say why" in checks["time"].message
    text = writers.render("text", [result], one=True, style=Style())
    assert "NVIDIA H200" in text


def test_a_race_that_happens_to_work_on_the_gpu_is_what_it_is_on_the_simulator(stage):
    on_sim = stage(w8="race")
    result = stage(backend="both", w8_sim="race")
    assert result.score <= on_sim.score == 20
    assert [item.code for item in result.diagnostics] == [item.code for item in on_sim.diagnostics]


def test_a_lab_that_asks_for_more_than_the_gpu_has_is_graded_by_the_simulator(on_both, monkeypatch):
    from grader.tests import stage as stage_module

    monkeypatch.setattr(
        stage_module, "load_lab", lambda folder: replace(load_lab(folder), capability=80)
    )
    result, checks = on_both(gpu=Gpu("Tesla T4", 75, "13.0"))
    assert (result.backend, result.score, result.gpu.status) == ("sim", 100, "not_used")
    assert "time" not in checks and "8.0 or later" in result.gpu.message


def test_an_older_gpu_gets_plans_of_its_own(on_both, monkeypatch):
    from grader.pipeline import both

    seen = []
    real = both.record
    monkeypatch.setattr(both, "record", lambda *words: seen.append(words[4]) or real(*words))
    result, _ = on_both(gpu=Gpu("NVIDIA A100-SXM4-80GB", 80, "13.0"))
    assert result.status == "passed" and len(seen) == 1


# ---- the timed case is not one of the simulator's ----

APART = LAB_TOML.replace(
    '[[checks]]\nid = "toy"', '[[cases]]\nid = "clock"\nwidth = 16\n\n[[checks]]\nid = "toy"'
).replace('both = 10\ncase = "w8"', 'both = 10\ncase = "clock"')


@pytest.fixture
def apart(on_both, monkeypatch, write_lab):
    assert APART.count('"clock"') == 2
    from grader.tests import stage as stage_module

    lab = load_lab(write_lab(APART))
    monkeypatch.setattr(stage_module, "load_lab", lambda folder: lab)
    return on_both


def test_the_timed_case_is_carried_out_on_the_gpu_only(apart):
    result, checks = apart()
    assert result.score == 100
    assert [line for line in apart.ran() if "clock" in line] == ["clock gpu", "clock gpu compare"]
    assert [kernel.case for kernel in result.kernels] == ["w8", "clock"]
    assert checks["time"].data["ratio"] == 1.0


def test_a_fault_of_the_timed_case_that_the_simulator_confirms_is_the_submissions(apart):
    result, checks = apart(clock_gpu="fault", clock_sim="race")
    assert (result.status, result.score) == ("failed", 90)
    assert [(item.code, item.cases) for item in result.diagnostics] == [("race-shared", ("clock",))]
    assert checks["time"].status == "skipped"


@pytest.mark.parametrize("on_sim", ["ok", "timeout", "dies"])
def test_a_fault_of_the_timed_case_that_it_does_not_confirm_is_ours(apart, on_sim):
    result, _ = apart(clock_gpu="wrong", clock_sim=on_sim)
    assert (result.status, result.gpu.status) == ("error", "differs")


# ---- points ----


@pytest.mark.parametrize("folder", LABS, ids=lambda folder: folder.name)
def test_the_clock_has_points_of_its_own_in_every_lab(folder):
    lab = load_lab(folder)
    checks = lab.checks_for("both")
    assert sum(check.points for check in checks) == pytest.approx(100)
    clocks = [check for check in checks if check.kind == "time"]
    assert len(clocks) == 1 and clocks[0].points > 0
    of_sim = {check.id: check.points for check in lab.checks_for("sim")}
    for check in checks:
        if check.group != "performance":
            assert check.points == of_sim[check.id]
        assert check.id in of_sim or check.kind == "time"


@pytest.mark.parametrize("folder", LABS, ids=lambda folder: folder.name)
def test_no_time_gives_more_than_the_simulator_alone(folder):
    """Whatever fails and however fast it is: at most the points of sim, and all of them at best."""
    lab = load_lab(folder)
    dice = random.Random(7)
    counts = [check for check in lab.checks_for("both") if check.kind != "time"]
    (clock,) = (check for check in lab.checks_for("both") if check.kind == "time")
    of_sim = {check.id: check.points for check in lab.checks_for("sim")}
    chosen = itertools.product([True, False], repeat=len(counts))
    for passed in dice.sample(list(chosen), min(300, 2 ** len(counts))):
        alone = sum(of_sim[check.id] for check, ok in zip(counts, passed, strict=True) if ok)
        given = [
            CheckResult(c.id, c.title, c.group, "", c.points * ok, c.points, "")
            for c, ok in zip(counts, passed, strict=True)
        ]
        performance = [item for item in given if item.group == "performance"]
        for share in (0, dice.random(), 1):
            timed = CheckResult(
                "time", "", "performance", "", clock.points * share, clock.points, ""
            )
            time = rubric.capped(timed, performance)
            # Points that a share is taken of are rounded to a millionth, each.
            assert sum(item.score for item in given) + time.score <= alone + 1e-6 * len(given)
        assert sum(item.score for item in given) + time.score == pytest.approx(alone, abs=0.01)


def test_the_cap_is_said(lab):
    def with_no_loads(case):
        return outcome(lab, case, kernels=[])

    from grader.running import timing
    from grader.tests.executions import COMPARISON

    outcomes = {case.id: with_no_loads(case.id) for case in lab.cases}
    timings = {"w8": timing.parse(COMPARISON)}
    evidence = rubric.Evidence(outcomes, outcomes, timings)
    checks = {check.id: check for check in rubric.evaluate_checks(lab, "both", evidence)}
    assert (checks["traffic"].status, checks["time"].score) == ("failed", 0)
    assert checks["time"].message.endswith(
        "no larger share than the other checks of performance give"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAB_TOML.replace("both = 10", "both = 25"), "must be less than the 25 points"),
        (LAB_TOML.replace("both = 10", 'both = "x"'), "'both' must be a number"),
        (
            LAB_TOML.replace('backend = "sim"\n', "both = 3\n"),
            "there is no field 'both'",
        ),
    ],
)
def test_points_of_the_clock_that_cannot_be_are_refused(write_lab, text, words):
    from grader.errors import CourseError

    with pytest.raises(CourseError, match=words):
        load_lab(write_lab(text))
