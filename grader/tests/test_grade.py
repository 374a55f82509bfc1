"""The pipeline with stand-ins for the recorder and the executor: what if one of them fails?"""

import os
from pathlib import Path

import pytest

from grader.pipeline import judged
from grader.running import execute, ptxas, record
from grader.running.compile import CompileError
from grader.sandbox.limits import StepLimits


def test_all_right(stage):
    result = stage()
    assert (result.status, result.score) == ("passed", 100)
    assert result.kernels[0].case == "w8"
    assert [line.line for line in result.kernels[0].lines] == [30, 41]


def test_on_a_gpu_safety_is_still_seen_by_the_simulator(stage):
    result = stage(backend="gpu")
    assert (result.status, result.score, result.backend) == ("passed", 100, "gpu")
    ran = stage.ran()
    on_gpu = [line for line in ran if line.endswith("gpu")]
    assert on_gpu[0] == "w4 gpu" and set(on_gpu[1:]) == {"secret gpu", "w8 gpu"}  # side by side
    assert {line for line in ran if line.endswith("sim")} == {"w4 sim", "w8 sim", "secret sim"}
    assert ran[-1] == "w8 gpu compare"
    time = next(check for check in result.checks if check.id == "time")
    assert time.data["ratio"] == 1.0


def test_what_does_not_run_is_not_timed(stage):
    result = stage(backend="gpu", w4="timeout")
    assert not [line for line in stage.ran() if line.endswith("compare")]
    assert result.score == 0


def test_does_not_compile(stage):
    result = stage(compile_result=CompileError(1, "expected a declaration", 2))
    assert (result.status, result.score) == ("failed", 0)
    (found,) = result.diagnostics
    assert (found.code, found.line, found.source) == ("does-not-compile", 1, "void solve() {}")
    assert found.message == "expected a declaration (2 more follow from it or after it)."


@pytest.mark.parametrize("mode", ["crashed", "exited", "missing-solve"])
def test_solve_that_does_not_return_a_plan_is_the_students_fault(stage, mode):
    result = stage(record=mode)
    assert (result.status, result.score) == ("failed", 0)
    assert {check.status for check in result.checks} <= {"failed", "skipped"}


def test_solve_that_hangs_gets_nothing(stage, monkeypatch):
    monkeypatch.setattr(record, "_START_SECONDS", 3)
    result = stage(record="hangs", limits=StepLimits(record_seconds=0))
    assert (result.status, result.score) == ("failed", 0)
    assert result.diagnostics[0].code == "timeout"


@pytest.mark.parametrize("mode", ["killed", "chatters", "other-case", "no-plan"])
def test_what_happens_to_the_recorder_once_it_runs_a_submission_is_the_students_fault(stage, mode):
    result = stage(record=mode)
    assert (result.status, result.score) == ("failed", 0)
    assert result.diagnostics[0].code == "host-crash"


def test_a_failing_recorder_is_ours(stage):
    result = stage(record="dies")
    assert (result.status, result.score, result.exit_code) == ("error", None, 3)
    assert result.message == "The recorder failed: tilewise-record: out of luck"


@pytest.mark.parametrize("backend", ["sim", "gpu"])
def test_a_plan_that_is_none_is_the_students_fault(stage, backend):
    result = stage(backend=backend, w4="bad-plan")
    assert result.status == "failed"
    assert result.diagnostics[0].code == "host-crash"
    assert "unknown operation" in result.diagnostics[0].message


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("dies", "The executor failed on case w4: tilewise-exec: no space left on device"),
        ("garbage", "cannot be read"),
        ("error", "could not be executed: it is error"),
    ],
)
def test_a_failing_executor_is_ours(stage, mode, words):
    result = stage(w4=mode)
    assert (result.status, result.score) == ("error", None)
    assert words in result.message


def test_a_hanging_executor_is_ours(stage, monkeypatch):
    monkeypatch.setattr(execute, "_SLACK_SECONDS", 1)
    result = stage(w4="hangs", limits=StepLimits(execute_seconds=1))
    assert result.status == "error"
    assert "had not ended after 2 s of case w4, with 0 s of processor time" in result.message


def test_an_executor_kept_busy_by_the_kernel_is_the_students_fault(stage, monkeypatch):
    monkeypatch.setattr(execute, "_SLACK_SECONDS", 1)
    result = stage(w4="spins", limits=StepLimits(execute_seconds=1))
    assert (result.status, result.diagnostics[0].code) == ("failed", "timeout")


def test_an_unsupported_feature_gives_no_score(stage):
    result = stage(w8="unsupported")
    assert (result.status, result.score, result.exit_code) == ("error", None, 3)
    assert [item.code for item in result.diagnostics] == ["unsupported"]
    assert "It costs no points. To go on, write it without that, or" in result.message


def test_after_a_time_out_the_larger_cases_are_left_out(stage):
    result = stage(w4="timeout")
    assert stage.ran() == ["w4 sim"]
    assert result.score == 0
    assert {case.id: case.status for case in result.cases} == {
        "w4": "failed", "w8": "not_run", "secret": "not_run",
    }  # fmt: skip
    assert result.diagnostics[0].code == "timeout"


def test_waves_are_ordered_by_size():
    def job(case, size):
        return execute.Job(case, Path(), {}, Path(), Path(), size)

    jobs = [job("l", 1 << 23), job("s", 10), job("t", 5), job("u", 7), job("m", 1 << 24)]
    waves = execute.waves(jobs, "sim")
    assert [[item.case for item in wave] for wave in waves] == [["t"], ["u", "s"], ["l"], ["m"]]
    on_gpu = [[item.case for item in wave] for wave in execute.waves(jobs, "gpu")]
    assert on_gpu == [["t"], ["u", "s", "l", "m"]]
    assert execute.waves([], "sim") == []


def test_ptxas_report():
    text = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5tiledPKfS0_Pfi' for 'sm_90'
ptxas info    : Function properties for _Z5tiledPKfS0_Pfi
    0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 2048 bytes smem
ptxas info    : Compiling entry function '_Z1kv' for 'sm_90'
ptxas info    : Used 8 registers, used 0 barriers
"""
    assert ptxas.parse(text) == {
        "_Z5tiledPKfS0_Pfi": {"registers": 32, "spill_store_bytes": 4, "spill_load_bytes": 8},
        "_Z1kv": {"registers": 8},
    }


def test_ptxas_says_how_much_stack_a_call_takes():
    text = """ptxas info    : Compiling entry function '_Z4sumsPf' for 'sm_90'
ptxas info    : Function properties for _Z4sumsPf
    400 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 42 registers, used 0 barriers, 440 bytes cumulative stack size
ptxas info    : Function properties for _Z3sumi
    24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
ptxas info    : Function properties for _Z3bigi
    40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function '_Z1kv' for 'sm_90'
ptxas info    : Function properties for _Z1kv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Function properties for _Z3sumi
    32 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
"""
    found = ptxas.parse(text)
    assert found.keys() == {"_Z4sumsPf", "_Z1kv"}
    assert found["_Z4sumsPf"]["frames"] == {"_Z4sumsPf": 400, "_Z3sumi": 24, "_Z3bigi": 40}
    assert found["_Z4sumsPf"]["reserved_stack_bytes"] == 40
    assert found["_Z1kv"]["frames"] == {"_Z3sumi": 32}
    assert "reserved_stack_bytes" not in found["_Z1kv"]


def test_scratch_folders_do_not_leak_when_interrupted(stage, monkeypatch):
    monkeypatch.setattr(judged, "record", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        stage()
    assert os.listdir(stage.course.cache) == []
