"""A course with stand-ins for the recorder, the executor and the GPU, and grading on it."""

import json
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
from grader.machine import gpu as machine_gpu
from grader.machine.toolchain import Toolchain
from grader.pipeline import both, carry_out, grade
from grader.running.compile import Compiled
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
from grader.tests.executions import (
    COMPARISON, execution_json, fault_json, load_matrix, product, save_matrix)
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
backend = value("--backend")[0]
mode = modes["execute"].get(f"{case}_{backend}", modes["execute"].get(case, "ok"))
if mode == "dies":
    sys.exit("tilewise-exec: no space left on device")
if mode == "hangs":
    import time; time.sleep(60)
while mode == "spins":
    pass
print(case, *value("--backend"), "compare" * ("--cublas" in sys.argv), file=open(MODES + ".log", "a"))
if "--cublas" in sys.argv:
    import copy
    said = copy.deepcopy(COMPARISON)
    clock = modes["execute"].get("clock", 1.0)
    if clock == "wrong":
        said["contenders"]["submission"]["verified"].update(wrong=1, first_wrong="P[1][2] is 0")
    elif clock == "dies":
        sys.exit("tilewise-exec: the driver has lost the GPU")
    elif clock == "late":
        said["contenders"]["submission"].update(status="timeout", message="submission did not end")
    else:
        said["ratios"]["reference"] = {"median": clock, "low": clock, "high": clock}
    json.dump(said, open(value("--result")[0], "w"))
    sys.exit()
m, n = (load_matrix(text[2:]) for text in sorted(value("--inputs")))
p = product(m, n)
if mode == "wrong":
    p = [[0.0] * len(row) for row in p]
save_matrix(value("--output")[0][2:], p)
fields = {"backend": backend}
if mode == "slow":
    fields["seconds"] = 23.4
if mode in ("race", "out-of-bounds"):
    fields = {"diagnostics": [fault_json(f"{mode}-shared")]}
if mode == "fault":
    fields = {"status": "fault", "message": "an illegal memory access was encountered",
              "backend": backend}
if mode in ("timeout", "unsupported", "error"):
    fields = {"status": mode, "message": f"it is {mode}", "diagnostics": [fault_json("timeout")]}
text = json.dumps(execution_json(case, **fields))
open(value("--result")[0], "w").write("{" if mode == "garbage" else text)
"""


H200 = machine_gpu.Gpu("NVIDIA H200", 90, "13.0")


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
        head = f"#!{sys.executable} -S\nimport sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
        path.write_text(f"{head}MODES = {str(modes)!r}\n{textwrap.dedent(script)}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    toolchain = Toolchain(Path("nvcc"), Path("/bin/false"), "13.0", "test", "c++")
    monkeypatch.setattr(sandbox, "kind", lambda: "none")
    monkeypatch.setattr(grade, "find_toolchain", lambda course: toolchain)
    for module in (grade, both):
        monkeypatch.setattr(module, "architectures", lambda *_: (80, 90))
    compiled = Compiled(tmp_path, tmp_path / "submission.so", "key")
    course = Course(root, root / "build")

    def run(
        record="ok", compile_result=compiled, backend="sim", limits=None, gpu=H200, **execute_modes
    ):
        monkeypatch.setattr(machine_gpu, "find_gpu", lambda: gpu)
        modes.write_text(json.dumps({"record": record, "execute": execute_modes}))
        for module in (grade, carry_out, both):
            monkeypatch.setattr(module, "compile_submission", lambda *_: compile_result)
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
