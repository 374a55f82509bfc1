"""One job array: killed tasks are graded again, and nobody is lost.

The last test starts a real cluster of this machine (slurm/cluster.sh) where Slurm is installed;
slurm/fifty.sh is the same with 50 submissions.
"""

import json
import os
import shutil
import subprocess
import time
from dataclasses import asdict

import pytest

from grader.batch import local, slurm
from grader.batch.local import Attempt, Setting
from grader.batch.slurm import Cluster
from grader.batch.store import GradedUnit, Store
from grader.batch.units import Unit
from grader.errors import GraderError, ToolchainError
from grader.labs.options import Options
from grader.results.result import to_dict
from grader.tests import samples
from grader.tests.conftest import REPOSITORY
from grader.tests.test_batch import command, contents, gradebook, run
from grader.tests.test_batch_intake import fill

UNITS = [Unit(f"{n:08x}", "02-tiled-kernel", b"x") for n in range(5)]
RECORD = GradedUnit(json.loads(json.dumps(to_dict(samples.ALL["passed"]))), 1.0)


@pytest.fixture
def setting(tmp_path, course):
    store = Store(tmp_path / "out")
    with store.opened():
        (store.state / "slurm" / "attempts").mkdir(parents=True)
        for unit in UNITS:
            store.put_content(unit)
        yield Setting(course, store, Options("sim"), 60, 8 << 30)


def leave(setting, unit, outcome):
    """As a task leaves an outcome."""
    path = setting.store.state / "slurm" / "attempts" / f"{unit.key}.json"
    path.write_text(json.dumps(asdict(outcome)))


@pytest.mark.parametrize(("most", "sizes"), [(500, [1] * 5), (2, [3, 2]), (1, [5])])
def test_shares_hold_every_unit_once(most, sizes):
    shares = slurm.deal(UNITS, most)
    assert [len(share) for share in shares] == sizes
    assert sorted(unit for share in shares for unit in share) == UNITS


def test_only_a_gpu_task_asks_for_a_gpu(setting):
    cluster = Cluster(at_a_time=4, partition="gpus", gres="gpu:h200:1")
    wanted = slurm.parameters(setting, 3, cluster, "name")
    assert "gres" not in wanted
    assert (wanted["array_parallelism"], wanted["partition"], wanted["time"]) == (4, "gpus", 5)
    assert wanted["additional_parameters"]["requeue"]
    on_gpu = Setting(setting.course, setting.store, Options("gpu"), 60, 8 << 30)
    assert slurm.parameters(on_gpu, 3, cluster, "name")["gres"] == "gpu:h200:1"
    assert slurm.parameters(on_gpu, 3, Cluster(), "name")["gres"] == "gpu:1"


class TestTasks:
    def test_a_task_that_was_put_back_goes_on_where_it_was(self, setting, monkeypatch):
        graded = []

        def attempt(_setting, unit):
            graded.append(unit.key)
            return Attempt(RECORD)

        monkeypatch.setattr(local, "attempt", attempt)
        leave(setting, UNITS[0], Attempt(RECORD))
        keys = [(unit.key, unit.lab) for unit in UNITS]
        assert slurm.run_share(setting, keys) == 4
        assert slurm.run_share(setting, keys) == 0
        assert graded == [unit.key for unit in UNITS[1:]]

    def test_what_a_lost_task_did_not_grade_has_failed(self, setting, monkeypatch):
        monkeypatch.setattr(slurm, "_POLL_SECONDS", 0.01)
        answers = iter([{"7_0", "7_1"}, None, {"7_1"}, {"7_1"}])

        def alive(_tasks):
            state = next(answers, set())
            if state == set():
                leave(setting, UNITS[4], Attempt(None, "no disk"))
            return state

        monkeypatch.setattr(slurm, "_alive", alive)
        leave(setting, UNITS[0], Attempt(RECORD))
        keys = [unit.key for unit in UNITS]
        seen = {}
        slurm._collect(
            setting.store.state / "slurm",
            {unit.key: unit for unit in UNITS},
            {"7_0": keys[:3], "7_1": keys[3:]},
            lambda unit, outcome: seen.setdefault(unit.key, outcome),
        )
        assert seen[keys[0]].final
        assert [seen[key].record for key in keys[1:]] == [None] * 4
        assert "task 7_0 ended" in seen[keys[1]].failure
        assert seen[keys[4]].failure == "no disk"

    def test_a_cluster_that_is_gone_is_a_failure(self, setting, monkeypatch):
        monkeypatch.setattr(slurm, "_POLL_SECONDS", 0.01)
        monkeypatch.setattr(slurm, "_PATIENCE_SECONDS", 0.05)
        monkeypatch.setattr(slurm, "_alive", lambda _tasks: None)
        with pytest.raises(GraderError, match="is the cluster up"):
            slurm._collect(setting.store.state / "slurm", {"a": UNITS[0]}, {"7_0": ["a"]}, print)


def test_without_slurm_it_says_so(monkeypatch):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ToolchainError, match="needs Slurm's sbatch"):
        slurm.on_a_cluster(Cluster())


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A cluster of this machine; skips where there is no Slurm."""
    pytest.importorskip("submitit", reason="submitit is not installed (the extra `slurm`)")
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = [
        x for x in ("slurmctld", "slurmd", "munged", "sbatch") if not shutil.which(x, path=path)
    ]
    if missing:
        pytest.skip(f"Slurm is not installed here: no {', '.join(missing)}")
    if os.geteuid() != 0:
        pytest.skip("the cluster's daemons need root")
    script = str(REPOSITORY / "grader/tests/slurm/cluster.sh")
    folder = tmp_path / "cluster"
    done = subprocess.run([script, "start", folder], capture_output=True, text=True, timeout=60)
    try:
        assert done.returncode == 0, done.stderr
        monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        yield folder
    finally:
        subprocess.run([script, "stop", folder], timeout=60)


@pytest.mark.slow
def test_a_real_cluster_loses_nobody(cluster, built, tmp_path):
    files = {f"s{n}/matmul.cu": f"this is no CUDA {n}".encode() for n in range(4)}
    export = fill(tmp_path / "class", {**files, "gus/matmul.cu": b""})
    output = tmp_path / "out"
    words = [*command(export, output), "--executor", "slurm", "--jobs", "1"]
    batch = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY)
    cancelled = ""
    deadline = time.monotonic() + 60
    while not cancelled and time.monotonic() < deadline and batch.poll() is None:
        asked = ["squeue", "--noheader", "--array", "--states=running,pending", "--format=%i"]
        cancelled = subprocess.run(asked, capture_output=True, text=True).stdout.split("\n")[0]
        time.sleep(0.05)
    subprocess.run(["scancel", cancelled], check=True)
    said = batch.communicate(timeout=100)[1]
    assert batch.returncode == 0, said
    assert cancelled and f"Slurm's task {cancelled} ended" in (
        output / "summary.md"
    ).read_text().replace("\\", "")
    assert {row["status"] for row in gradebook(output).values()} == {"failed"}
    assert run(export, tmp_path / "local").returncode == 0
    assert contents(output) == contents(tmp_path / "local")
