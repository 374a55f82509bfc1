"""The pipeline of one lab: compile, record, execute, judge.

Inputs are made while nvcc runs. On a GPU the checks of safety still look at the simulator, which
sees every access. Whatever a submission does becomes part of its result; a failure of our own
becomes a result with the status "error" and no score.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader import data, execute, explain, judge, rubric, sandbox, source
from grader.compile import CompileError, Compiled, compile_submission
from grader.course import Course
from grader.errors import GraderError, StepError, ToolchainError, UnsupportedError
from grader.execution import Execution
from grader.lab import FULL_POINTS, Case, Lab
from grader.record import Recorded, record
from grader.result import Diagnostic, Kernel, LineCounters, Result
from grader.submission import FILE_NAME, Submission
from grader.toolchain import (
    PROGRAMS,
    Toolchain,
    architecture_for,
    architectures,
    find_toolchain,
    program,
)

DEFAULT_DEVICE = "h200"
DEFAULT_SEED = 1
TIMED_REPEATS = 30


@dataclass(frozen=True)
class Options:
    """How to grade."""

    backend: str  # sim | gpu
    device: str = DEFAULT_DEVICE  # device file whose limits and rates hold
    seed: int = DEFAULT_SEED
    capability: int = 90  # compute capability to compile for, of the device or the GPU


@dataclass
class Session:
    """Grading one lab: what every step needs, and the folder that it may fill."""

    course: Course
    lab: Lab
    options: Options
    say: Callable[[str], None]  # told what happens now, for people
    folder: Path
    toolchain: Toolchain
    architecture: int
    inputs: dict[str, Future] = field(default_factory=dict)  # case id -> (M, N, their files)


def grade(
    course: Course,
    lab: Lab,
    submission: Submission,
    options: Options,
    say: Callable[[str], None] = lambda text: None,
) -> Result:
    """Grades one file. Raises GraderError only where not even an error result makes sense."""
    start = time.monotonic()
    regions = source.todo_regions(submission.text)
    base = _base(lab, submission.shown, options)
    if source.is_untouched(regions):
        return not_started(base, submission.shown, regions)
    toolchain = find_toolchain(course)
    for name in PROGRAMS:
        program(course, name)
    supported = architectures(toolchain, course)
    architecture = architecture_for(options.capability, supported)
    base = replace(base, toolkit=f"CUDA {toolchain.version}", sandbox=sandbox.kind())
    course.cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=course.cache))
    try:
        session = Session(course, lab, options, say, folder, toolchain, architecture)
        result = _run(session, submission, base)
    except ToolchainError:
        raise
    except UnsupportedError as error:
        diagnostic = Diagnostic("unsupported", "error", str(error), line=error.line)
        message = f"This cannot be graded here: {error}"
        result = replace(
            base, status="error", score=None, message=message, diagnostics=(diagnostic,)
        )
    except GraderError as error:
        result = replace(base, status="error", score=None, message=str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result = _with_next_step(_with_source_lines(result, submission.text), regions)
    return replace(result, seconds=round(time.monotonic() - start, 3))


def _base(lab: Lab, shown: str, options: Options) -> Result:
    return Result(
        lab=lab.name,
        title=lab.title,
        submission=shown,
        backend=options.backend,
        device=options.device,
        seed=options.seed,
        toolkit="",
        status="failed",
        score=0.0,
        max_score=float(FULL_POINTS),
    )


def not_started(base: Result, shown: str, regions: list[source.TodoRegion]) -> Result:
    """The skeleton as it was shipped."""
    first = regions[0]
    return replace(
        base,
        status="not_started",
        message="Not started: every TODO is still empty.",
        next_step=(
            f"open {shown} and begin with TODO({first.number}) at line {first.line}: {first.task}"
        ),
    )


def missing(lab: Lab, shown: str, options: Options) -> Result:
    """A tree of labs without a file for this lab."""
    base = _base(lab, shown, options)
    return replace(base, status="not_started", message=f"There is no {shown}.")


def unreadable(lab: Lab, shown: str, options: Options, message: str) -> Result:
    """One lab of several has a file that cannot be graded: no points, and the others go on."""
    base = _base(lab, shown, options)
    checks = rubric.all_failed(lab, options.backend, "The file cannot be graded.")
    return replace(base, message=message, checks=checks)


def _run(session: Session, submission: Submission, base: Result) -> Result:
    cases = _needed_cases(session.lab, session.options.backend)
    with ThreadPoolExecutor(max_workers=1) as pool:
        for case in cases:
            session.inputs[case.id] = pool.submit(_make_inputs, session, case)
        session.say("compiling")
        compiled = compile_submission(
            session.course, session.toolchain, submission.content, session.architecture
        )
    if isinstance(compiled, CompileError):
        return _does_not_compile(session.lab, base, compiled)
    result = replace(base, warnings=_warnings(compiled))

    session.say("recording what solve launches")
    recorded = record(
        session.course, session.lab, cases, compiled, session.options.device, _subfolder(session, "plans")
    )
    _stop_if_recorder_lacks_something(recorded.values())
    evidence = _execute(session, submission.text, cases, recorded)
    return _concluded(session, result, evidence)


def _needed_cases(lab: Lab, backend: str) -> list[Case]:
    used = {name for check in lab.checks_for(backend) for name in check.cases}
    return [case for case in lab.cases if case.id in used]


def _make_inputs(session: Session, case: Case) -> tuple:
    """M, N and their files; the toy cases' data lie in datasets/."""
    name = data.committed_name(case.data)
    if name is not None:
        m, n = data.load_committed(session.course.root / "datasets" / name, (case.j, case.k, case.l))
    else:
        shape = (case.j, case.k, case.l)
        m, n = data.make_inputs(case.data, shape, session.options.seed, session.lab.id, case.id)
    return m, n, execute.save_inputs(session.folder / "inputs" / case.id, m, n)


def _does_not_compile(lab: Lab, base: Result, error: CompileError) -> Result:
    more = f" ({error.more} more follow from it or after it)" if error.more else ""
    message = f"{error.message}{more}."
    diagnostic = Diagnostic("does-not-compile", "error", message, FILE_NAME, error.line)
    checks = rubric.all_failed(lab, base.backend, "The file does not compile.")
    return replace(base, diagnostics=(diagnostic,), checks=checks, message="It does not compile.")


def _warnings(compiled: Compiled) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic("compiler-warning", "warning", f"{item.message}.", FILE_NAME, item.line)
        for item in compiled.warnings
    )


def _subfolder(session: Session, name: str) -> Path:
    folder = session.folder / name
    folder.mkdir(exist_ok=True)
    return folder


def _stop_if_recorder_lacks_something(recorded: Iterable[Recorded]) -> None:
    for item in recorded:
        if item.status == "error" and item.plan is None:
            failure = judge.recording_failure(item)
            if failure.code == "unsupported":
                raise UnsupportedError(
                    f"The simulator's CUDA runtime lacks something: {failure.message}"
                )


def _execute(
    session: Session, text: str, cases: list[Case], recorded: dict[str, Recorded]
) -> rubric.Evidence:
    modules = sorted((session.folder / "plans").glob("module*.ptx"))
    resources = execute.resources_of(
        session.toolchain, modules, session.architecture, session.folder / "resources.json"
    )
    backend = session.options.backend
    outcomes = _execute_on(session, backend, text, cases, recorded, resources)
    safety = outcomes
    reference_ms: dict[str, float] = {}
    if backend == "gpu":
        checks = session.lab.checks_for(backend)
        watched = {name for check in checks if check.kind == "clean" for name in check.cases}
        chosen = [case for case in cases if case.id in watched]
        safety = _execute_on(session, "sim", text, chosen, recorded, resources)
        reference_ms = _time_reference(session)
    return rubric.Evidence(outcomes, safety, reference_ms)


def _execute_on(
    session: Session,
    backend: str,
    text: str,
    cases: list[Case],
    recorded: dict[str, Recorded],
    resources: Path | None,
) -> dict[str, judge.Outcome]:
    """Carries the plans out and judges each case; cases without a plan are judged as they are."""
    timed = _timed_cases(session.lab, backend)
    jobs = []
    for case in cases:
        plan = recorded[case.id].plan
        if plan is not None:
            repeat = TIMED_REPEATS if case.id in timed else 0
            jobs.append(_job(session, case, plan, backend, repeat))
    finished = 0

    def done(case_id: str) -> None:
        nonlocal finished
        finished += 1
        session.say(f"running case {finished} of {len(jobs)} on {backend}")

    session.say(f"running {len(jobs)} cases on {backend}")
    executions = execute.execute_all(
        session.course, jobs, backend=backend, device=session.options.device,
        resources=resources, done=done,
    )  # fmt: skip
    for execution in executions.values():
        judge.refuse_unsupported(execution)
    by_case = {job.case: job for job in jobs}
    outcomes = {}
    for case in cases:
        if case.id not in by_case:
            outcomes[case.id] = judge.not_recorded(case, recorded[case.id])
            continue
        if case.id not in executions:
            outcomes[case.id] = judge.not_run(case, "Not run, since the kernel does not end.")
            continue
        execution = executions[case.id]
        outcomes[case.id] = _judge(session, case, by_case[case.id], execution, text)
    return outcomes


def _job(session: Session, case: Case, plan: Path, backend: str, repeat: int) -> execute.Job:
    folder = _subfolder(session, f"outputs-{backend}")
    return execute.Job(
        case.id,
        plan,
        session.inputs[case.id].result()[2],
        folder / f"{case.id}.npy",
        folder / f"{case.id}.json",
        case.multiply_adds,
        repeat,
    )


def _judge(
    session: Session, case: Case, job: execute.Job, execution: Execution, text: str
) -> judge.Outcome:
    context = explain.Context(text, case, explain.buffer_roles(explain.read_plan(job.plan)))
    m, n, _ = session.inputs[case.id].result()
    p = execute.load_output(job.output, (case.j, case.l))
    return judge.judge(case, execution, context, p, (m, n), session.options.seed)


def _timed_cases(lab: Lab, backend: str) -> set[str]:
    if backend != "gpu":
        return set()
    return {check.cases[0] for check in lab.checks_for(backend) if check.kind == "time"}


def _time_reference(session: Session) -> dict[str, float]:
    """Milliseconds of the reference solution, measured on the same GPU just after the submission."""
    timed = _timed_cases(session.lab, "gpu")
    cases = [case for case in session.lab.cases if case.id in timed]
    path = session.course.solutions / session.lab.name / FILE_NAME
    if not cases or not path.is_file():
        return {}
    session.say("timing the reference solution")
    compiled = compile_submission(
        session.course, session.toolchain, path.read_bytes(), session.architecture
    )
    if isinstance(compiled, CompileError):
        raise StepError(f"The reference solution {path} does not compile: {compiled.message}.")
    folder = _subfolder(session, "reference")
    recorded = record(session.course, session.lab, cases, compiled, session.options.device, folder)
    times = {}
    for case in cases:
        plan = recorded[case.id].plan
        if plan is None:
            raise StepError(f"The reference solution {path} fails: {recorded[case.id].message}.")
        job = replace(_job(session, case, plan, "gpu", TIMED_REPEATS), output=folder / "P.npy")
        execution = execute.execute(
            session.course, job, backend="gpu", device=session.options.device,
            resources=None, threads=1,
        )  # fmt: skip
        if execution.time_ms is None:
            raise StepError(f"The reference solution was not timed on case {case.id}.")
        times[case.id] = execution.time_ms["median"]
    return times


def _concluded(session: Session, result: Result, evidence: rubric.Evidence) -> Result:
    checks = rubric.evaluate_checks(session.lab, result.backend, evidence)
    score = sum(check.score for check in checks)
    statuses = {check.status for check in checks}
    status = "failed"
    if statuses == {"passed"}:
        status = "passed"
    elif statuses <= {"passed", "inconclusive"}:
        status = "inconclusive"
    outcomes = list(evidence.outcomes.values())
    if evidence.safety is not evidence.outcomes:
        outcomes += list(evidence.safety.values())
    return replace(
        result,
        status=status,
        score=round(float(score), 2),
        checks=checks,
        diagnostics=judge.merge(outcomes),
        kernels=_kernels(session.lab, evidence),
        cases=tuple(outcome.result for outcome in evidence.outcomes.values()),
    )


def _kernels(lab: Lab, evidence: rubric.Evidence) -> tuple[Kernel, ...]:
    """What was launched in the case that performance is judged by, else in the largest that ran."""
    ran = [item for item in evidence.outcomes.values() if item.execution and item.execution.kernels]
    if not ran:
        return ()
    chosen = max(ran, key=lambda item: (item.case.role == "performance", item.case.multiply_adds))
    return tuple(_kernel(run, chosen.case) for run in chosen.execution.kernels)


def _kernel(run, case: Case) -> Kernel:
    lines: dict[int, dict[str, int]] = {}
    for entry in run.lines:
        if entry.line and judge.is_own_file(entry.file):
            counts = lines.setdefault(entry.line, {})
            for name, count in entry.counters.items():
                counts[name] = counts.get(name, 0) + count
    return Kernel(
        name=run.name,
        case=case.id,
        grid=run.grid,
        block=run.block,
        shared_bytes=run.shared_bytes,
        registers=run.registers,
        occupancy=run.occupancy,
        counters=run.counters,
        lines=tuple(LineCounters(line, counts) for line, counts in sorted(lines.items())),
        time_ms=run.time_ms,
    )


def _with_source_lines(result: Result, text: str) -> Result:
    lines = text.splitlines()

    def with_line(item: Diagnostic) -> Diagnostic:
        if item.file != FILE_NAME or not 0 < item.line <= len(lines):
            return item
        return replace(item, source=lines[item.line - 1].strip()[:200])

    return replace(
        result,
        diagnostics=tuple(with_line(item) for item in result.diagnostics),
        warnings=tuple(with_line(item) for item in result.warnings),
    )


def _with_next_step(result: Result, regions: list[source.TodoRegion]) -> Result:
    if result.status in ("passed", "error"):
        return result
    open_todos = [region for region in regions if region.is_empty]
    if open_todos:
        todo = open_todos[0]
        step = f"TODO({todo.number}) at line {todo.line} is still empty: {todo.task}"
    else:
        step = "mend what stands first, then grade again."
    return replace(result, next_step=step)
