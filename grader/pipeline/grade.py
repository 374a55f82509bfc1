"""The pipeline of one lab: compile, record, execute, judge.

Inputs are made while nvcc runs. On the backend both the simulator judges, and the GPU adds the clock
(both.py). On gpu alone the checks of safety and of counts still look at the simulator, which sees
every access. Whatever a submission does becomes part of its result; a failure of our own
becomes a result with the status "error" and no score.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from grader import sandbox
from grader.errors import GraderError, ToolchainError, UnsupportedError
from grader.judging import judge, rubric
from grader.labs import source
from grader.labs.course import Course
from grader.labs.lab import Case, Lab
from grader.labs.options import DEFAULT_DEVICE, Options
from grader.labs.submission import Submission
from grader.machine import gpu
from grader.machine.toolchain import (
    PROGRAMS,
    architecture_for,
    architectures,
    capability_text,
    find_toolchain,
    program,
)
from grader.pipeline import both, causes, conclude, probes
from grader.pipeline.carry_out import (
    Place,
    Session,
    make_inputs,
    outcomes_on,
    subfolder,
    timed_cases,
    times,
)
from grader.pipeline.places import without_places
from grader.results.result import Diagnostic, GpuRun, Result
from grader.running import execute
from grader.running.compile import CompileError, compile_submission
from grader.running.named_library import named_library
from grader.running.record import Recorded, record

# For compute capabilities 1.x and 2.x (13, 20) no ptxas of today makes code, and what it says for
# a modern GPU is not what a kernel had there: registers and occupancy stay unknown.
OLDEST_WITH_REGISTERS = 50

_NOT_HERE = "This cannot be graded here:"
_GO_ON = (
    "It costs no points. To go on, write it without that, or grade on a machine with a GPU by"
    " --backend gpu; and tell whoever runs the course, for the simulator should have it."
)


def grade(
    course: Course,
    lab: Lab,
    submission: Submission,
    options: Options,
    say: Callable[[str], None] = lambda text: None,
) -> Result:
    """Grades one file. Raises GraderError only where not even an error result makes sense."""
    start = time.monotonic()
    unused = _unused_gpu(lab, options)
    options = replace(options, backend="sim") if unused else options
    regions = source.todo_regions(submission.text)
    base = replace(conclude.blank(lab, submission.shown, options), gpu=unused)
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
        message = f"{_NOT_HERE} {error} {_GO_ON}"
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
            session.inputs[case.id] = pool.submit(make_inputs, session, case)
        session.say("compiling")
        compiled = compile_submission(
            session.course,
            session.toolchain,
            submission.content,
            session.architecture,
            session.options.limits,
        )
    if isinstance(compiled, CompileError):
        return conclude.does_not_compile(session.lab, base, compiled, submission.text)
    result = replace(base, warnings=conclude.warnings(compiled))
    session.math_library = named_library(compiled.shared_object)
    session.shared_object = compiled.shared_object

    session.say("recording what solve launches")
    recorded = record(
        session.course,
        session.lab.signature,
        cases,
        compiled,
        session.options.device,
        subfolder(session, "plans"),
        session.options.limits,
    )
    _stop_if_recorder_lacks_something(recorded.values())
    recorded |= probes.plans(session, compiled)
    try:
        return _judged(session, submission, result, recorded)
    except execute.NewerInstructionError as error:
        return conclude.does_not_compile(session.lab, base, CompileError(0, str(error)))


def _stop_if_device_is_too_old(lab: Lab, options: Options) -> None:
    if options.capability >= lab.capability:
        return
    raise GraderError(
        f"Lab {lab.id} needs a GPU of compute capability {capability_text(lab.capability)} or later;"
        f" {options.device} has {capability_text(options.capability)}. The simulator can be one:"
        f" make grade LAB={lab.id} BACKEND=sim DEVICE={DEFAULT_DEVICE}"
    )


def _needed_cases(lab: Lab, backend: str) -> list[Case]:
    used = {name for check in lab.checks_for(backend) for name in check.every_case}
    return [case for case in lab.cases if case.id in used]


def _stop_if_recorder_lacks_something(recorded: Iterable[Recorded]) -> None:
    for item in recorded:
        if item.status in ("error", "crashed") and item.plan is None:
            failure = judge.recording_failure(item)
            if failure.code == "unsupported":
                raise UnsupportedError(
                    f"The simulator's CUDA runtime lacks something: {failure.message}"
                )


def _resources(session: Session) -> Path | None:
    """What ptxas says of the recorded modules, where it can."""
    if session.options.capability < OLDEST_WITH_REGISTERS:
        return None
    modules = sorted((session.folder / "plans").glob("module*.ptx"))
    return execute.resources_of(
        session.toolchain, modules, session.architecture, session.folder / "resources.json"
    )


def _judged(
    session: Session, submission: Submission, result: Result, recorded: dict[str, Recorded]
) -> Result:
    """What was recorded, carried out on the backend that is asked for, and concluded."""
    text, lab, options = submission.text, session.lab, session.options
    resources = _resources(session)
    simulator = Place("sim", options.device, session.architecture)
    if options.backend == "both":
        cases = _needed_cases(lab, "sim")
        seen = outcomes_on(session, simulator, text, cases, recorded, resources)
        probed = probes.look(session, text, seen.values(), recorded)
        told = _with_gpu(session, submission, result, recorded, seen, probed)
        return causes.told(session, text, told, seen, recorded)
    cases = _needed_cases(lab, options.backend)
    if options.backend == "sim":
        seen = outcomes_on(session, simulator, text, cases, recorded, resources)
        probed = probes.look(session, text, seen.values(), recorded)
        evidence = rubric.Evidence(seen, seen, {}, probed=probed)
        told = conclude.concluded(lab, result, evidence, text)
        return causes.told(session, text, told, seen, recorded)
    place = Place("gpu", options.device, session.architecture)
    outcomes = outcomes_on(session, place, text, cases, recorded, resources)
    checks = lab.checks_for("gpu")
    watched = {
        c for check in checks if check.kind in ("clean", "counter") for c in check.every_case
    }
    chosen = [case for case in cases if case.id in watched]
    safety = outcomes_on(session, simulator, text, chosen, recorded, resources)
    timed, timings = timed_cases(lab, "gpu"), {}
    if all(outcomes[case.id].ran for case in timed):
        timings = times(session, place, recorded, timed)
    told = conclude.concluded(lab, result, rubric.Evidence(outcomes, safety, timings), text)
    return causes.told(session, text, told, safety, recorded)


def _with_gpu(
    session: Session,
    submission: Submission,
    result: Result,
    recorded: dict[str, Recorded],
    seen: dict[str, judge.Outcome],
    probed: tuple[Diagnostic, ...],
) -> Result:
    """What the simulator saw, with the clock; an error of ours where the GPU contradicts it."""
    lab, text = session.lab, submission.text
    before = rubric.evaluate_checks(lab, "both", rubric.Evidence(seen, seen, {}, probed=probed))
    blocked = {check.id for check in before if "blocked_by" in check.data}
    clocks = [check for check in lab.checks_for("both") if check.kind == "time"]
    wanted = {check.cases[0] for check in clocks if check.id not in blocked}
    timed = [case for case in timed_cases(lab, "both") if case.id in wanted]
    beside = both.look(session, submission.content, text, recorded, seen, timed=timed)
    result = replace(result, gpu=beside.run)
    if beside.is_ours:
        alone = conclude.concluded(
            lab,
            replace(result, backend="sim"),
            rubric.Evidence(seen, seen, {}, probed=probed),
            text,
        )
        return conclude.contradicted(alone, beside.run)
    outcomes = {**seen, **beside.outcomes}
    evidence = rubric.Evidence(
        outcomes, seen, beside.timings, probed=probed, not_timed=beside.not_timed
    )
    return conclude.concluded(lab, result, evidence, text)


def _unused_gpu(lab: Lab, options: Options) -> GpuRun | None:
    """On both, where the lab asks for more than this GPU has: the simulator alone grades it."""
    found = gpu.find_gpu() if options.backend == "both" else None
    if found is None or found.capability >= lab.capability:
        return None
    message = (
        f"Lab {lab.id} needs a GPU of compute capability {capability_text(lab.capability)} or later,"
        f" and the {found.name} has {capability_text(found.capability)}: the simulator alone graded it."
    )
    return GpuRun(found.name, "not_used", message=message)
