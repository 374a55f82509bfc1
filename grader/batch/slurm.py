"""Grading units on a Slurm cluster: one job array, submitted through submitit.

A task of the array grades its share of the units one after the other and leaves each attempt as a
file in the batch's folder, which must lie on a file system that the nodes share. Whether a task
still exists is asked of squeue, which every cluster has, accounting or not. What a task that is
gone did not leave behind has failed, and the batch gives it a second try like any other failure;
a task whose node fails is put back into the queue by Slurm itself and goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.batch import local
from grader.batch.local import Attempt, Done, Setting
from grader.batch.store import GradedUnit, write
from grader.batch.units import Unit
from grader.errors import GraderError, ToolchainError

MOST_TASKS = 500  # of one array; clusters allow 1000 and more
_POLL_SECONDS = 2.0
_PATIENCE_SECONDS = 600  # that squeue may fail before the cluster counts as gone


@dataclass(frozen=True)
class Cluster:
    """What tasks ask of Slurm."""

    at_a_time: int | None = None  # tasks; None: as many as the cluster grants
    partition: str | None = None
    gres: str | None = None  # "gpu:1"; not asked for on sim
    processors: int = 1  # of each task


def on_a_cluster(cluster: Cluster):
    """The executor. Raises ToolchainError if this machine cannot submit to a cluster."""
    try:
        import submitit  # noqa: F401 - is it there?
    except ImportError:
        raise ToolchainError(
            "--executor slurm needs submitit: run `.venv/bin/pip install -e '.[slurm]'`."
        ) from None
    for name in ("sbatch", "srun", "squeue", "scancel"):
        if shutil.which(name) is None:
            raise ToolchainError(
                f"--executor slurm needs Slurm's {name}: run it on a node of the cluster."
            )
    return lambda setting, units, done: grade_all(setting, units, cluster, done)


def grade_all(setting: Setting, units: Sequence[Unit], cluster: Cluster, done: Done) -> None:
    """Grades the units in one job array; `done` is called as attempts arrive."""
    if not units:
        return
    name = _job_name(setting)
    _cancel(name)  # of a batch that was stopped
    folder = setting.store.state / "slurm"
    (folder / "attempts").mkdir(parents=True, exist_ok=True)
    waiting = {unit.key: unit for unit in units}
    for key in list(waiting):  # what it had finished counts, its failures do not
        found = _read(folder, key)
        if found is not None and found.final:
            done(waiting.pop(key), found)
        else:
            _attempt_file(folder, key).unlink(missing_ok=True)
    if not waiting:
        return
    shares = deal(sorted(waiting.values()), MOST_TASKS)
    tasks = _submit(setting, shares, cluster, name)
    try:
        _collect(folder, waiting, tasks, done)
    except BaseException:
        _cancel(name, wait=False)
        raise


def deal(units: Sequence[Unit], most: int) -> list[list[Unit]]:
    """The units in at most `most` shares of nearly equal size."""
    count = min(len(units), most)
    return [list(units[index::count]) for index in range(count)]


def parameters(setting: Setting, share: int, cluster: Cluster, name: str) -> dict[str, Any]:
    """What sbatch is asked for; `share` is the largest number of units of a task."""
    wanted: dict[str, Any] = {
        "job_name": name,
        "time": math.ceil(share * setting.seconds / 60) + 2,  # minutes
        "cpus_per_task": cluster.processors,
        "mem": f"{max(1, setting.memory_bytes >> 30)}GB",
        "array_parallelism": cluster.at_a_time or MOST_TASKS,
        "stderr_to_stdout": True,
        "additional_parameters": {"requeue": True},  # after a node failed
    }
    if cluster.partition:
        wanted["partition"] = cluster.partition
    if setting.options.backend != "sim":
        wanted["gres"] = cluster.gres or "gpu:1"
    return wanted


def _submit(
    setting: Setting, shares: Sequence[Sequence[Unit]], cluster: Cluster, name: str
) -> dict[str, list[str]]:
    """The keys of the units of each task, by the task's id."""
    import submitit
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    executor = submitit.SlurmExecutor(folder=setting.store.state / "slurm" / "jobs")
    executor.update_parameters(**parameters(setting, len(shares[0]), cluster, name))
    # Contents are read from the store on the node: tasks carry keys only.
    keys = [[(unit.key, unit.lab) for unit in share] for share in shares]
    try:
        jobs = executor.map_array(run_share, [setting] * len(keys), keys)
    except (FailedSubmissionError, FailedJobError, subprocess.CalledProcessError, OSError) as error:
        said = str(error).strip().splitlines() or ["sbatch failed"]
        raise GraderError(f"Slurm did not take the job array: {said[-1]}") from None
    return {job.job_id: [key for key, _ in share] for job, share in zip(jobs, keys, strict=True)}


def run_share(setting: Setting, keys: Sequence[tuple[str, str]]) -> int:
    """Runs on a node: grades units and leaves their attempts; returns how many."""
    folder = setting.store.state / "slurm"
    graded = 0
    for key, lab in keys:
        if _read(folder, key) is not None:  # before the node failed
            continue
        unit = Unit(key, lab, setting.store.content(key).read_bytes())
        attempt = local.attempt(setting, unit)
        write(_attempt_file(folder, key), json.dumps(asdict(attempt)).encode())
        graded += 1
    return graded


def _collect(
    folder: Path, waiting: dict[str, Unit], tasks: dict[str, list[str]], done: Done
) -> None:
    """Hands attempts on until every unit has one, or its task is gone without."""
    gone_before: set[str] = set()
    failing_since: float | None = None
    while waiting:
        alive = _alive(tasks)
        if alive is None:
            failing_since = failing_since or time.monotonic()
            if time.monotonic() - failing_since > _PATIENCE_SECONDS:
                raise GraderError(
                    f"squeue has failed for {_PATIENCE_SECONDS} seconds: is the cluster up?"
                    " The same command goes on where it was."
                )
        else:
            failing_since = None
        for key in list(waiting):
            found = _read(folder, key)
            if found is not None:
                done(waiting.pop(key), found)
        # Twice in a row, since a file may show later than the end of the task that wrote it.
        gone = set() if alive is None else set(tasks) - alive
        for task in gone & gone_before:
            for key in tasks[task]:
                if key in waiting:
                    text = f"Slurm's task {task} ended before this was graded."
                    done(waiting.pop(key), Attempt(None, text))
        gone_before = gone
        if waiting:
            time.sleep(_POLL_SECONDS)


def _alive(tasks: dict[str, list[str]]) -> set[str] | None:
    """The tasks that run or wait; None if squeue does not tell."""
    array = next(iter(tasks)).split("_")[0]
    command = ["squeue", "--noheader", "--array", "--format=%i", f"--jobs={array}"]
    asked = _run(command)
    if asked is None or (asked.returncode != 0 and "Invalid job id" not in asked.stderr):
        return None
    return set(asked.stdout.split()) if asked.returncode == 0 else set()


def _cancel(name: str, *, wait: bool = True) -> None:
    """Ends what a batch of this folder has in the queue, and waits until it has left it."""
    _run(["scancel", f"--name={name}", "--me"])
    deadline = time.monotonic() + 120
    while wait and time.monotonic() < deadline:
        asked = _run(["squeue", "--noheader", "--format=%i", f"--name={name}", "--me"])
        if asked is None or asked.returncode != 0 or not asked.stdout.strip():
            return
        time.sleep(_POLL_SECONDS)


def _run(command: Sequence[str]) -> subprocess.CompletedProcess | None:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None


def _job_name(setting: Setting) -> str:
    """The same for every batch of this folder, and no other's."""
    return "tilewise-" + hashlib.sha256(str(setting.store.output).encode()).hexdigest()[:12]


def _attempt_file(folder: Path, key: str) -> Path:
    return folder / "attempts" / f"{key}.json"


def _read(folder: Path, key: str) -> Attempt | None:
    try:
        fields = json.loads(_attempt_file(folder, key).read_text(encoding="utf-8"))
        record = fields["record"]
        return Attempt(None if record is None else GradedUnit(**record), fields["failure"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
