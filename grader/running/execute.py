"""Carrying plans out on a backend: our own, trusted program runs them; results are read back."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from grader import sandbox
from grader.errors import StepError
from grader.labs.course import Course
from grader.machine import gpu
from grader.machine.toolchain import program
from grader.results.finding import Facts
from grader.running.execution import Execution, Fault, load
from grader.sandbox.limits import StepLimits
from grader.text import clean

TIMEOUT_SECONDS = 120
_SLACK_SECONDS = 15  # beyond its own limit, for a simulator that hangs
_ADDRESS_BYTES = 1 << 42  # our own program, on many threads: it reserves more than it uses
_OTHER_PROCESSES = 64
_BAD_PLAN = 4  # exit status of the executor
# Above this many multiply-adds a case is worth all processors; below, cases run side by side.
LARGE_MULTIPLY_ADDS = 1 << 22
# Executors that share a GPU: each takes some 500 MB of it for its context.
GPU_PROCESSES = 4


class BadPlanError(StepError):
    """The plan is none: the submission damaged it, whether it meant to or not."""


@dataclass(frozen=True)
class TraceWanted:
    """A trace of a case, see docs/trace.md."""

    path: Path  # beside the output
    blocks: tuple[int, ...] = ()  # linear indices; none: all
    lines: tuple[int, int] | None = None
    events: int = 0  # 0: the executor's limit

    @property
    def arguments(self) -> list[str | Path]:
        found: list[str | Path] = ["--trace", self.path, "--trace-events", str(self.events)]
        if self.blocks:
            found += ["--trace-blocks", ",".join(map(str, self.blocks))]
        if self.lines is not None:
            found += ["--trace-lines", f"{self.lines[0]}-{self.lines[1]}"]
        return found


@dataclass(frozen=True)
class Job:
    """One case to carry out."""

    case: str
    plan: Path
    inputs: dict[str, Path]  # "M", "N": .npy files
    output: Path  # P.npy; of another problem a folder for NAME.npy of each of `outputs`
    result: Path  # result.json
    multiply_adds: int  # or what a case of another problem takes
    explain: tuple[tuple[int, int], ...] = ()  # elements of P whose provenance is wanted
    trace: TraceWanted | None = None
    outputs: tuple[str, ...] = ()  # arrays that solve fills; none: P, into the file `output`

    def file_of(self, name: str) -> Path:
        """Where one of the outputs goes."""
        return self.output / f"{name}.npy" if self.outputs else self.output

    @property
    def folder(self) -> Path:
        """What may be written to."""
        return self.output if self.outputs else self.output.parent


def execute_all(
    course: Course,
    jobs: Sequence[Job],
    *,
    backend: str,
    device: str,
    resources: Path | None,
    limits: StepLimits,
    done: Callable[[str], None] = lambda case: None,
) -> dict[str, Execution]:
    """Runs the jobs: the smallest first, then the small ones side by side, then the large ones.

    If a kernel does not end, the later waves are left out (and are missing in what is returned):
    they would not end either, only later. `done` is called with the case's id, from any thread.
    Raises StepError if the executor or its machine fails.
    """
    limit = limits.execute_processor_seconds if backend == "sim" else math.inf
    spent = Spent(limit)
    processors = len(os.sched_getaffinity(0))  # those this process may use, not the machine's
    results: dict[str, Execution] = {}

    def one(job: Job, threads: int) -> None:
        if spent.is_too_much():
            return
        result = execute(
            course, job, backend=backend, device=device, resources=resources, threads=threads,
            limits=limits,
        )  # fmt: skip
        results[job.case] = result
        spent.add(result.processor_seconds)
        done(job.case)

    side_by_side = min(processors, GPU_PROCESSES) if backend == "gpu" else processors
    for wave in waves(jobs, backend):
        if any(result.status == "timeout" for result in results.values()):
            break
        threads = processors if len(wave) == 1 else 1
        with ThreadPoolExecutor(max_workers=side_by_side) as pool:
            list(pool.map(one, wave, [threads] * len(wave)))
    if spent.is_too_much():  # whatever was done by then, so that the result is the same each time
        message = (
            f"all cases together take more than {limit:g} s of processor time on the simulator: "
            "fewer launches, blocks and instructions will do"
        )
        return {job.case: _stopped(job, backend, "timeout", message) for job in jobs}
    return results


class Spent:
    """The processor time of what was executed, in seconds, and its limit."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._seconds: list[float] = []  # which threads may lengthen

    def add(self, seconds: float) -> None:
        self._seconds.append(seconds)

    def is_too_much(self) -> bool:
        return sum(self._seconds) > self._limit


def waves(jobs: Sequence[Job], backend: str) -> list[list[Job]]:
    """Jobs that may run side by side; all but the first on a GPU: nothing is timed here."""
    ordered = sorted(jobs, key=lambda job: (job.multiply_adds, job.case))
    if backend == "gpu":
        return [wave for wave in (ordered[:1], ordered[1:]) if wave]
    small = [job for job in ordered[1:] if job.multiply_adds < LARGE_MULTIPLY_ADDS]
    large = [[job] for job in ordered[1:] if job.multiply_adds >= LARGE_MULTIPLY_ADDS]
    return [wave for wave in ([*ordered[:1]], small, *large) if wave]


def instruction_budget(multiply_adds: int) -> int:
    """Warp instructions after which a kernel counts as endless.

    One thread doing all the work alone stays below it, with a lane's share of a warp unused.
    """
    return 2_000_000 + 16 * multiply_adds


def execute(
    course: Course,
    job: Job,
    *,
    backend: str,
    device: str,
    resources: Path | None,
    threads: int,
    limits: StepLimits,
) -> Execution:
    """Carries one plan out. Raises StepError if the executor or its machine fails."""
    command: list[str | Path] = [
        "--plan", job.plan, "--backend", backend, "--device", device,
        "--result", job.result, "--threads", str(threads),
        "--budget", str(instruction_budget(job.multiply_adds)),
    ]  # fmt: skip
    for name in job.outputs or ("P",):
        command += ["--output", f"{name}={job.file_of(name)}"]
    for name, path in job.inputs.items():
        command += ["--inputs", f"{name}={path}"]
    if job.explain:
        places = ",".join(f"{row}:{column}" for row, column in job.explain)
        command += ["--explain", places, "--checks", "bounds"]
    if job.trace is not None:
        command += job.trace.arguments
    if resources is not None:
        command += ["--resources", resources]
    if backend == "gpu":
        try:
            with gpu.turn(alone=False):
                run_executor(course, command, f"case {job.case}")
        except BadPlanError as error:
            return _stopped(job, backend, "host-crash", str(error))
        return load(job.result)
    command += ["--time-limit", f"{limits.execute_seconds:g}"]
    command += ["--memory", str(limits.device_memory_bytes >> 20)]
    return _simulated(course, job, command, resources, limits)


_PROBE_SECONDS = 20
_PROBE_MEMORY_BYTES = 4 << 30
# Warp instructions of a launch: a block whose loops go through all of P never ends.
_PROBE_INSTRUCTIONS = 20_000_000


def sampled(
    course: Course, job: Job, device: str, limits: StepLimits, devices: Path | None = None
) -> Execution:
    """Executes few blocks of each launch on the simulator, without data; nothing is left of P.

    devices: a folder of device files; None: the course's.
    Raises StepError if the executor or its machine fails.
    """
    command: list[str | Path] = [
        "--plan", job.plan, "--backend", "sim", "--device", device, "--result", job.result,
        "--threads", "1", "--budget", str(_PROBE_INSTRUCTIONS),
        "--sample", "--checks", "bounds,misaligned,counters",
    ]  # fmt: skip
    less = replace(limits, execute_seconds=_PROBE_SECONDS, execute_memory_bytes=_PROBE_MEMORY_BYTES)
    return _simulated(course, job, command, None, less, devices)


def ways_counted(
    course: Course,
    job: Job,
    places: Sequence[tuple[int, int]],
    device: str,
    limits: StepLimits,
) -> Execution:
    """Carries the plan out once more and follows the factors of products in the blocks of these
    elements of P: `tile_share`. Nothing else of what it returns counts.

    Raises StepError if the executor or its machine fails.
    """
    command: list[str | Path] = [
        "--plan", job.plan, "--backend", "sim", "--device", device, "--result", job.result,
        "--threads", "1", "--budget", str(instruction_budget(job.multiply_adds)),
        "--checks", "none", "--ways", ",".join(f"{row}:{column}" for row, column in places),
    ]  # fmt: skip
    for name, path in job.inputs.items():
        command += ["--inputs", f"{name}={path}"]
    less = replace(limits, execute_seconds=min(limits.execute_seconds, _PROBE_SECONDS))
    command += ["--time-limit", f"{less.execute_seconds:g}"]
    return _simulated(course, job, command, None, less)


def _simulated(
    course: Course,
    job: Job,
    arguments: list[str | Path],
    resources: Path | None,
    limits: StepLimits,
    devices: Path | None = None,
) -> Execution:
    """The simulator is ours, but the plan and the PTX it reads are the submission's: sandboxed."""
    executor = program(course, "tilewise-exec")
    devices = devices or course.root / "common" / "devices"
    readable = [executor.parent, devices, job.plan.parent, *job.inputs.values()]
    ended = sandbox.run(
        [executor, *arguments],
        limits=sandbox.Limits(
            seconds=limits.execute_seconds + _SLACK_SECONDS,
            memory_bytes=limits.execute_memory_bytes,
            address_bytes=_ADDRESS_BYTES,
            processes=_OTHER_PROCESSES + 2 * (os.cpu_count() or 1),
        ),
        view=sandbox.View(
            writable=[job.folder],
            readable=readable
            if resources is None
            else [*readable, resources, resources.parent / "machine-code"],
        ),
        env={"TILEWISE_DEVICES": str(devices)},
    )
    return replace(_as_it_ended(job, ended, limits), processor_seconds=ended.processor_seconds)


def _as_it_ended(job: Job, ended: sandbox.Ended, limits: StepLimits) -> Execution:
    if ended.returncode == 0 and not ended.exceeded:
        return load(job.result)
    said = _last_line(ended.stderr) or f"it ended with status {ended.returncode}"
    if ended.returncode == _BAD_PLAN:
        return _stopped(job, "sim", "host-crash", _bad_plan(said))
    if ended.exceeded == "time":
        text = f"had not ended after {limits.execute_seconds + _SLACK_SECONDS:g} s"
        if ended.processor_seconds < limits.execute_seconds / 2:  # it waited: not for the kernel
            spent = f"{ended.processor_seconds:.0f} s of processor time"
            raise StepError(f"The executor {text} of case {job.case}, with {spent}.")
        # What the kernel does keeps the executor from looking at its own limit.
        return _stopped(job, "sim", "timeout", f"the case {text}: does a loop never end?")
    if ended.exceeded:
        limit = f"{limits.execute_memory_bytes / (1 << 30):g} GiB are there for a case"
        limit = f" ({limit})" if ended.exceeded == "memory" else ""
        return _stopped(job, "sim", "api-error", f"The case takes {ended.too_much}{limit}.")
    raise StepError(f"The executor failed on case {job.case}: {said}")


def _bad_plan(said: str) -> str:
    return f"What solve left behind is no list of launches that can be carried out: {said}"


def _stopped(job: Job, backend: str, code: str, message: str) -> Execution:
    """A case that the submission made impossible to carry out."""
    text = clean(message)
    status = "timeout" if code == "timeout" else "fault"
    fault = Fault(code, "error", text, Facts(words=text))
    return Execution(
        case=job.case,
        backend=backend,
        status=status,
        message=text,
        faults=(fault,),
        kernels=(),
        unwritten=0,
        api_errors=(),
        seconds=0.0,
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def run_executor(course: Course, arguments: Sequence[str | Path], what: str) -> None:
    """Runs tilewise-exec to its end. Raises StepError, naming `what`, unless it succeeded."""
    command = [program(course, "tilewise-exec"), *arguments]
    env = {"TILEWISE_DEVICES": str(course.root / "common" / "devices")}
    try:
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_SECONDS,
            env=os.environ | env,
        )
    except subprocess.TimeoutExpired:
        raise StepError(
            f"The executor did not finish {what} within {TIMEOUT_SECONDS} seconds."
        ) from None
    if done.returncode != 0:
        said = _last_line(done.stderr) or f"it ended with status {done.returncode}"
        if done.returncode == _BAD_PLAN:
            raise BadPlanError(_bad_plan(said))
        raise StepError(f"The executor failed on {what}: {said}")


def save_inputs(folder: Path, m: np.ndarray, n: np.ndarray) -> dict[str, Path]:
    """Writes M.npy and N.npy into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "M.npy", m)
    np.save(folder / "N.npy", n)
    return {"M": folder / "M.npy", "N": folder / "N.npy"}


def save_arrays(folder: Path, arrays: dict[str, np.ndarray]) -> dict[str, Path]:
    """Writes NAME.npy into the folder, as the executor reads it: in two dimensions."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.npy" for name in arrays}
    for name, array in arrays.items():
        np.save(files[name], array if array.ndim == 2 else array.reshape(1, -1))
    return files


def load_array(path: Path, shape: tuple[int, ...], element: str) -> np.ndarray:
    """One array as the plan left it; unlike anything if the executor was stopped before."""
    flat = shape if len(shape) == 2 else (1, *shape)
    if element == "float":
        return load_output(path, flat).reshape(shape)
    if not path.exists():
        return np.full(shape, np.iinfo(np.int32).min, np.int32)
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise StepError(f"The executor's output {path.name} cannot be read: {error}.") from None
    if array.dtype != np.int32 or array.shape != flat:
        raise StepError(f"The executor's output {path.name} is {array.dtype}{list(array.shape)}.")
    return array.reshape(shape)


def load_output(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """P as the plan left it; NaN throughout if the executor was stopped before it could say.

    Raises StepError if the file is not a float32 matrix of that shape.
    """
    if not path.exists():
        return np.full(shape, np.nan, np.float32)
    try:
        p = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise StepError(f"The executor's output {path.name} cannot be read: {error}.") from None
    if p.dtype != np.float32 or p.shape != shape:
        raise StepError(f"The executor's output {path.name} is {p.dtype}{list(p.shape)}.")
    return p
