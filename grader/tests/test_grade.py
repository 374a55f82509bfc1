"""The pipeline with stand-ins for the recorder and the executor: what if one of them fails?"""

import json
import os
import stat
import sys
import textwrap
from pathlib import Path

import pytest

from grader import sandbox
from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import read
from grader.machine.toolchain import Toolchain
from grader.pipeline import grade
from grader.running import execute, record
from grader.running.compile import Compiled, CompileError
from grader.sandbox.limits import StepLimits
from grader.tests.conftest import LAB_TOML, REPOSITORY
from grader.tests.test_schema import validate

RECORDER = """
import json, os, sys
arguments = sys.argv[1:]
cases = [b.split(":") for a, b in zip(arguments, arguments[1:]) if a == "--case"]
mode = json.load(open(MODES))["record"]
if mode == "dies":
    sys.exit("tilewise-record: out of luck")
print('{"schema": "tilewise.recording/1"}', flush=True)
if mode == "hangs":
    import time; time.sleep(60)
if mode == "killed":
    import signal; os.kill(os.getpid(), signal.SIGKILL)
if mode == "chatters":
    print("all tests passed")
for case, shape in cases:
    j, k, l = map(int, shape.split("x"))
    if mode == "other-case":
        j += 1
    plan = {"case": case, "signature": "square-device", "j": j, "k": k, "l": l, "modules": [],
            "buffers": [], "ops": []}
    status = mode if mode in ("crashed", "exited", "missing-solve") else "ok"
    print(json.dumps({"case": case, "status": status, "message": "because",
                      "plan": json.dumps(plan) if mode != "no-plan" else 7}))
"""
EXECUTOR = """
import json, sys
import numpy as np
from grader.tests.conftest import execution_json, fault_json
value = lambda name: [b for a, b in zip(sys.argv, sys.argv[1:]) if a == name]
if sys.argv[1] == "check":  # what Python takes for the plan from now on
    for text in value("--case"):
        place, path = text.split("=", 1)
        case, shape = place.split(":")
        plan = json.load(open(path))
        right = isinstance(plan, dict) and shape == "{j}x{k}x{l}".format(**plan)
        wrong = "" if right else "not the case's"
        if not wrong:
            json.dump(plan, open(f"{value('--output')[0]}/{case}.plan.json", "w"))
        print(json.dumps({"case": case, "refused": wrong}))
    sys.exit()
case = value("--plan")[0].split("/")[-1].split(".")[0]
if json.load(open(MODES))["execute"].get(case) == "bad-plan":
    print("tilewise-exec: plan: ops[0].op: unknown operation", file=sys.stderr)
    sys.exit(4)
modes = json.load(open(MODES))
mode = modes["execute"].get(case, "ok")
if mode == "dies":
    sys.exit("tilewise-exec: no space left on device")
if mode == "hangs":
    import time; time.sleep(60)
print(case, *value("--backend"), "compare" * ("--cublas" in sys.argv), file=open(MODES + ".log", "a"))
if "--cublas" in sys.argv:
    from grader.tests.test_timing import COMPARISON
    json.dump(COMPARISON, open(value("--result")[0], "w"))
    sys.exit()
m, n = (np.load(text[2:]) for text in sorted(value("--inputs")))
np.save(value("--output")[0][2:], (m @ n).astype(np.float32))
fields = {}
if mode in ("timeout", "unsupported", "error"):
    fields = {"status": mode, "message": f"it is {mode}", "diagnostics": [fault_json("timeout")]}
text = json.dumps(execution_json(case, **fields))
open(value("--result")[0], "w").write("{" if mode == "garbage" else text)
"""


@pytest.fixture
def stage(tmp_path, monkeypatch):
    """A course with stand-ins; returns a function that grades with them in the given modes."""
    modes = tmp_path / "modes.json"
    root = tmp_path / "course"
    folder = root / "labs" / "02-tiled-kernel"
    folder.mkdir(parents=True)
    (folder / "lab.toml").write_text(LAB_TOML)
    (folder / "matmul.cu").write_text("void solve() {}\n")
    for name, script in (("tilewise-record", RECORDER), ("tilewise-exec", EXECUTOR)):
        path = root / "build" / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"#!{sys.executable}\nimport sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
        path.write_text(f"{head}MODES = {str(modes)!r}\n{textwrap.dedent(script)}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    toolchain = Toolchain(Path("nvcc"), Path("/bin/false"), "13.0", "test", "c++")
    monkeypatch.setattr(sandbox, "kind", lambda: "none")
    monkeypatch.setattr(grade, "find_toolchain", lambda course: toolchain)
    monkeypatch.setattr(grade, "architectures", lambda *_: (90,))
    compiled = Compiled(tmp_path, tmp_path / "submission.so", "key")
    course = Course(root, root / "build")

    def run(record="ok", compile_result=compiled, backend="sim", limits=None, **execute_modes):
        modes.write_text(json.dumps({"record": record, "execute": execute_modes}))
        monkeypatch.setattr(grade, "compile_submission", lambda *_: compile_result)
        result = grade.grade(
            course,
            load_lab(folder),
            read(folder / "matmul.cu"),
            Options(backend, limits=limits or StepLimits()),
        )
        validate(grade_to_json(result))
        assert not list(course.cache.glob("run-*")), "the scratch folder was left behind"
        return result

    def ran():
        log = Path(f"{modes}.log")
        lines = log.read_text().splitlines() if log.exists() else []
        return [line.strip() for line in lines]

    run.ran, run.course = ran, course
    return run


def grade_to_json(result):
    from grader.results.result import to_dict

    return to_dict(result)


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
    monkeypatch.setattr(record, "_START_SECONDS", 0.5)
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
    assert "did not finish" in result.message


def test_an_unsupported_feature_gives_no_score(stage):
    result = stage(w8="unsupported")
    assert (result.status, result.score, result.exit_code) == ("error", None, 3)
    assert [item.code for item in result.diagnostics] == ["unsupported"]


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
    assert execute.parse_ptxas(text) == {
        "_Z5tiledPKfS0_Pfi": {"registers": 32, "spill_store_bytes": 4, "spill_load_bytes": 8},
        "_Z1kv": {"registers": 8},
    }


def test_scratch_folders_do_not_leak_when_interrupted(stage, monkeypatch):
    monkeypatch.setattr(grade, "record", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        stage()
    assert os.listdir(stage.course.cache) == []
