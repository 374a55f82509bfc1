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

from grader import sandbox
from grader.errors import GraderError, StepError, ToolchainError, UnsupportedError
from grader.judging import explain, judge, rubric
from grader.labs import data, source
from grader.labs.course import Course
from grader.labs.lab import Case, Lab
from grader.labs.options import DEFAULT_DEVICE, DEFAULT_SEED, Options
from grader.labs.submission import FILE_NAME, Submission
from grader.machine.toolchain import (
    PROGRAMS,
    Toolchain,
    architecture_for,
    architectures,
    capability_text,
    find_toolchain,
    program,
)
from grader.pipeline import conclude
from grader.pipeline.places import without_places
from grader.results.result import Diagnostic, Result
from grader.running import execute, timing
from grader.running.compile import CompileError, compile_submission
from grader.running.execution import Execution
from grader.running.named_library import named_library
from grader.running.record import Recorded, record
from grader.running.timing import Timing
from grader.text import printed_lines

# For compute capabilities 1.x and 2.x (13, 20) no ptxas of today makes code, and what it says for
# a modern GPU is not what a kernel had there: registers and occupancy stay unknown.
OLDEST_WITH_REGISTERS = 50


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
    math_library: str = ""  # that the compiled submission names
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
    base = conclude.blank(lab, submission.shown, options)
    if source.is_untouched(regions):
        return conclude.not_started(base, submission.shown, regions)
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
    result = without_places(result, course)
    result = conclude.with_next_step(conclude.with_source_lines(result, submission.text), regions)
    return replace(result, seconds=round(time.monotonic() - start, 3))


def _run(session: Session, submission: Submission, base: Result) -> Result:
    _stop_if_device_is_too_old(session.lab, session.options)
    cases = _needed_cases(session.lab, session.options.backend)
    with ThreadPoolExecutor(max_workers=1) as pool:
        for case in cases:
            session.inputs[case.id] = pool.submit(_make_inputs, session, case)
        session.say("compiling")
        compiled = compile_submission(
            session.course,
            session.toolchain,
            submission.content,
            session.architecture,
            session.options.limits,
        )
    if isinstance(compiled, CompileError):
        return conclude.does_not_compile(session.lab, base, compiled)
    result = replace(base, warnings=conclude.warnings(compiled))
    session.math_library = named_library(compiled.shared_object)

    session.say("recording what solve launches")
    recorded = record(
        session.course,
        session.lab.signature,
        cases,
        compiled,
        session.options.device,
        _subfolder(session, "plans"),
        session.options.limits,
    )
    _stop_if_recorder_lacks_something(recorded.values())
    try:
        evidence = _execute(session, submission.text, cases, recorded)
    except execute.NewerInstructionError as error:
        return conclude.does_not_compile(session.lab, base, CompileError(0, str(error)))
    return conclude.concluded(session.lab, result, evidence, submission.text)


def _stop_if_device_is_too_old(lab: Lab, options: Options) -> None:
    if options.capability >= lab.capability:
        return
    raise GraderError(
        f"Lab {lab.id} needs a GPU of compute capability {capability_text(lab.capability)} or later;"
        f" {options.device} has {capability_text(options.capability)}. The simulator can be one:"
        f" make grade LAB={lab.id} BACKEND=sim DEVICE={DEFAULT_DEVICE}"
    )


def _needed_cases(lab: Lab, backend: str) -> list[Case]:
    used = {name for check in lab.checks_for(backend) for name in check.cases}
    return [case for case in lab.cases if case.id in used]


def _make_inputs(session: Session, case: Case) -> tuple:
    """M, N and their files; the toy cases' data lie in datasets/.

    Those data are published, and so is their product: under a seed of one's own they are replaced.
    """
    name = data.committed_name(case.data)
    if name is not None and session.options.seed == DEFAULT_SEED:
        m, n = data.load_committed(
            session.course.root / "datasets" / name, (case.j, case.k, case.l)
        )
    else:
        shape = (case.j, case.k, case.l)
        kind = case.data if name is None else "integers"
        m, n = data.make_inputs(kind, shape, session.options.seed, session.lab.id, case.id)
    return m, n, execute.save_inputs(session.folder / "inputs" / case.id, m, n)


def _subfolder(session: Session, name: str) -> Path:
    folder = session.folder / name
    folder.mkdir(exist_ok=True)
    return folder


def _stop_if_recorder_lacks_something(recorded: Iterable[Recorded]) -> None:
    for item in recorded:
        if item.status in ("error", "crashed") and item.plan is None:
            failure = judge.recording_failure(item)
            if failure.code == "unsupported":
                raise UnsupportedError(
                    f"The simulator's CUDA runtime lacks something: {failure.message}"
                )


def _execute(
    session: Session, text: str, cases: list[Case], recorded: dict[str, Recorded]
) -> rubric.Evidence:
    modules = sorted((session.folder / "plans").glob("module*.ptx"))
    resources = None
    if session.options.capability >= OLDEST_WITH_REGISTERS:
        resources = execute.resources_of(
            session.toolchain, modules, session.architecture, session.folder / "resources.json"
        )
    backend = session.options.backend
    outcomes = _execute_on(session, backend, text, cases, recorded, resources)
    safety = outcomes
    timings: dict[str, Timing] = {}
    if backend == "gpu":
        checks = session.lab.checks_for(backend)
        kinds = ("clean", "counter")
        watched = {name for check in checks if check.kind in kinds for name in check.cases}
        chosen = [case for case in cases if case.id in watched]
        safety = _execute_on(session, "sim", text, chosen, recorded, resources)
        if all(outcomes[name].ran for name in _timed_cases(session.lab, backend)):
            timings = _time(session, recorded)
    return rubric.Evidence(outcomes, safety, timings)


def _execute_on(
    session: Session,
    backend: str,
    text: str,
    cases: list[Case],
    recorded: dict[str, Recorded],
    resources: Path | None,
) -> dict[str, judge.Outcome]:
    """Carries the plans out and judges each case; cases without a plan are judged as they are."""
    jobs = []
    for case in cases:
        plan = recorded[case.id].plan
        if plan is not None:
            jobs.append(_job(session, case, plan, backend))
    finished = 0

    def done(case_id: str) -> None:
        nonlocal finished
        finished += 1
        session.say(f"running case {finished} of {len(jobs)} on {backend}")

    session.say(f"running {len(jobs)} cases on {backend}")
    executions = execute.execute_all(
        session.course, jobs, backend=backend, device=session.options.device,
        resources=resources, limits=session.options.limits, done=done,
    )  # fmt: skip
    for execution in executions.values():
        judge.refuse_unsupported(execution)
    by_case = {job.case: job for job in jobs}
    outcomes = {}
    for case in cases:
        if case.id not in by_case:
            outcomes[case.id] = judge.not_recorded(case, recorded[case.id])
            outcomes[case.id] = _with_words(outcomes[case.id], recorded[case.id])
            continue
        if case.id not in executions:
            outcomes[case.id] = judge.not_run(case, "Not run, since the kernel does not end.")
            continue
        execution = executions[case.id]
        judged = _judge(session, case, by_case[case.id], execution, text)
        judged = judge.with_library(judged, session.math_library)
        outcomes[case.id] = _with_words(judged, recorded[case.id], execution.printed)
    return outcomes


def _with_words(outcome: judge.Outcome, recorded: Recorded, by_kernels: str = "") -> judge.Outcome:
    """With what the submission printed, on the host and in kernels."""
    words = [text.rstrip("\n") for text in (recorded.printed, by_kernels) if text.strip()]
    if not words or outcome.case.hidden:
        return outcome
    return replace(outcome, result=replace(outcome.result, printed=printed_lines("\n".join(words))))


def _job(session: Session, case: Case, plan: Path, backend: str) -> execute.Job:
    folder = _subfolder(session, f"outputs-{backend}") / case.id
    folder.mkdir(exist_ok=True)
    return execute.Job(
        case.id,
        plan,
        session.inputs[case.id].result()[2],
        folder / "P.npy",
        folder / "result.json",
        case.multiply_adds,
    )


def _judge(
    session: Session, case: Case, job: execute.Job, execution: Execution, text: str
) -> judge.Outcome:
    context = explain.context(text, case, explain.read_plan(job.plan))
    m, n, _ = session.inputs[case.id].result()
    p = execute.load_output(job.output, (case.j, case.l))
    return judge.judge(case, execution, context, p, (m, n), session.options.seed)


def _timed_cases(lab: Lab, backend: str) -> set[str]:
    if backend != "gpu":
        return set()
    return {check.cases[0] for check in lab.checks_for(backend) if check.kind == "time"}


def _time(session: Session, recorded: dict[str, Recorded]) -> dict[str, Timing]:
    """The timed cases, against the reference solution on the same GPU."""
    timed = _timed_cases(session.lab, "gpu")
    cases = [case for case in session.lab.cases if case.id in timed]
    cases = [case for case in cases if recorded[case.id].plan is not None]
    if not cases:
        return {}
    session.say("timing against the reference solution")
    references = _reference_plans(session, cases)
    folder = _subfolder(session, "timing")
    return {
        case.id: timing.compare(
            session.course,
            session.options.device,
            recorded[case.id].plan,
            references.get(case.id),
            folder / f"{case.id}.json",
        )
        for case in cases
    }


def _reference_plans(session: Session, cases: list[Case]) -> dict[str, Path]:
    """Plans of the reference solution; {} where the course has none for this lab."""
    path = session.course.solutions / session.lab.name / FILE_NAME
    if not path.is_file():
        return {}
    compiled = compile_submission(
        session.course, session.toolchain, path.read_bytes(), session.architecture
    )
    if isinstance(compiled, CompileError):
        raise StepError(f"The reference solution {path} does not compile: {compiled.message}.")
    folder = _subfolder(session, "reference")
    recorded = record(
        session.course, session.lab.signature, cases, compiled, session.options.device, folder
    )
    for item in recorded.values():
        if item.plan is None:
            raise StepError(f"The reference solution {path} fails: {item.message}.")
    return {case_id: item.plan for case_id, item in recorded.items()}
