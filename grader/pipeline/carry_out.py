"""Carrying out what was recorded, on the simulator or on a GPU, and judging each case; times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from grader.errors import StepError
from grader.judging import arrays, explain, judge
from grader.labs import data
from grader.labs.lab import Case, Lab
from grader.labs.options import DEFAULT_SEED
from grader.labs.submission import FILE_NAME
from grader.pipeline.session import Inputs, Place, Session, output_of, subfolder
from grader.running import execute, timing
from grader.running.compile import CompileError, compile_submission
from grader.running.execution import Execution
from grader.running.host_lines import line_of_crash, with_host_lines
from grader.running.record import Recorded, record
from grader.running.timing import Timing
from grader.text import printed_lines


def make_inputs(session: Session, case: Case) -> Inputs:
    """The arrays and their files; the toy cases' data lie in datasets/.

    Those data are published, and so is their product: under a seed of one's own they are replaced.
    """
    name = data.committed_name(case.data)
    is_committed = name is not None and session.options.seed == DEFAULT_SEED
    committed = session.course.root / "datasets" / str(name)
    kind = case.data if name is None else "integers"
    of = (session.options.seed, session.lab.id, case.id)
    if not case.problem.is_product:
        arrays = (
            data.load_arrays(committed, case.problem, case.shapes)
            if is_committed
            else data.make_arrays(kind, case.problem, case.shapes, *of)
        )
    else:
        shape = (case.j, case.k, case.l)
        factors = (
            data.load_committed(committed, shape)
            if is_committed
            else data.make_inputs(kind, shape, *of)
        )
        arrays = dict(zip("MN", factors, strict=True))
    return Inputs(arrays, execute.save_arrays(session.folder / "inputs" / case.id, arrays))


def outcomes_on(
    session: Session,
    place: Place,
    text: str,
    cases: Sequence[Case],
    recorded: Mapping[str, Recorded],
    resources: Path | None,
) -> dict[str, judge.Outcome]:
    """Carries the plans out and judges each case; cases without a plan are judged as they are."""
    jobs, backend = [], place.backend
    for case in cases:
        plan = recorded[case.id].plan
        if plan is not None:
            jobs.append(job_of(session, case, plan, backend))
    finished = 0

    def done(case_id: str) -> None:
        nonlocal finished
        finished += 1
        session.say(f"running case {finished} of {len(jobs)} on {backend}")

    session.say(f"running {len(jobs)} cases on {backend}")
    executions = execute.execute_all(
        session.course, jobs, backend=backend, device=place.device,
        resources=resources, limits=session.options.limits, done=done,
    )  # fmt: skip
    for execution in executions.values():
        judge.refuse_unsupported(execution)
    by_case = {job.case: job for job in jobs}
    outcomes = {}
    for case in cases:
        if case.id not in by_case:
            line = line_of_crash(recorded[case.id].call, session.shared_object)
            outcomes[case.id] = judge.not_recorded(case, recorded[case.id], line)
            outcomes[case.id] = _with_words(outcomes[case.id], recorded[case.id])
            continue
        if case.id not in executions:
            outcomes[case.id] = judge.not_run(case, "Not run, since the kernel does not end.")
            continue
        execution = with_host_lines(executions[case.id], session.shared_object)
        judged = judge_one(session, case, by_case[case.id], execution, text)
        judged = judge.with_library(judged, session.math_library)
        outcomes[case.id] = _with_words(judged, recorded[case.id], execution.printed)
    return judge.settled(outcomes)


def _with_words(outcome: judge.Outcome, recorded: Recorded, by_kernels: str = "") -> judge.Outcome:
    """With what the submission printed, on the host and in kernels."""
    words = [text.rstrip("\n") for text in (recorded.printed, by_kernels) if text.strip()]
    if not words or outcome.case.hidden:
        return outcome
    return replace(outcome, result=replace(outcome.result, printed=printed_lines("\n".join(words))))


def job_of(session: Session, case: Case, plan: Path, backend: str) -> execute.Job:
    output = output_of(session, backend, case)
    output.parent.mkdir(exist_ok=True, parents=True)
    files = session.inputs[case.id].result().files
    result = output.parent / "result.json"
    if case.problem.is_product:
        return execute.Job(case.id, plan, files, output, result, case.work)
    names = tuple(array.name for array in case.problem.outputs)
    return execute.Job(case.id, plan, files, output.parent, result, case.work, outputs=names)


def left_by(case: Case, job: execute.Job) -> dict[str, np.ndarray]:
    """What the outputs hold, after the job was carried out."""
    return {
        array.name: execute.load_array(
            job.file_of(array.name), case.shapes[array.name], array.element
        )
        for array in case.problem.outputs
    }


def judge_one(
    session: Session, case: Case, job: execute.Job, execution: Execution, text: str
) -> judge.Outcome:
    """A case that has been carried out; its inputs are ready, its outputs in the job's folder."""
    context = explain.context(text, case, explain.read_plan(job.plan))
    given = session.inputs[case.id].result()
    left = left_by(case, job)
    if case.problem.is_product:
        return judge.judge(case, execution, context, left["P"], given.factors, session.options.seed)
    return arrays.judge_case(case, execution, context, left, given.arrays, session.lab.reference)


def timed_cases(lab: Lab, backend: str) -> list[Case]:
    """Those that a check of time on the backend asks for."""
    wanted = {check.cases[0] for check in lab.checks_for(backend) if check.kind == "time"}
    return [case for case in lab.cases if case.id in wanted]


def times(
    session: Session, place: Place, recorded: Mapping[str, Recorded], cases: Sequence[Case]
) -> dict[str, Timing]:
    """The cases timed against the reference solution on the same GPU."""
    cases = [case for case in cases if recorded[case.id].plan is not None]
    if not cases:
        return {}
    session.say("timing against the reference solution")
    references = _reference_plans(session, place, cases)
    folder = subfolder(session, "timing")
    return {
        case.id: timing.compare(
            session.course,
            place.device,
            recorded[case.id].plan,
            references.get(case.id),
            folder / f"{case.id}.json",
            session.lab.problem.factors,
        )
        for case in cases
    }


def _reference_plans(session: Session, place: Place, cases: Sequence[Case]) -> dict[str, Path]:
    """Plans of the reference solution; {} where the course has none for this lab."""
    path = session.course.solutions / session.lab.name / FILE_NAME
    if not path.is_file():
        return {}
    compiled = compile_submission(
        session.course, session.toolchain, path.read_bytes(), place.architecture
    )
    if isinstance(compiled, CompileError):
        raise StepError(f"The reference solution {path} does not compile: {compiled.message}.")
    folder = subfolder(session, "reference")
    recorded = record(session.course, session.lab.signature, cases, compiled, place.device, folder)
    for item in recorded.values():
        if item.plan is None:
            raise StepError(f"The reference solution {path} fails: {item.message}.")
    return {case_id: item.plan for case_id, item in recorded.items()}
