"""From a compiled file to its result: recorded, carried out, judged.

On the backend both the simulator judges, and the GPU adds the clock (both.py). On gpu alone the
checks of safety and of counts still look at the simulator, which sees every access.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from grader.errors import UnsupportedError
from grader.judging import judge, rubric
from grader.labs.lab import Case
from grader.labs.submission import Submission
from grader.pipeline import both, causes, conclude, probes, tile_use
from grader.pipeline.carry_out import outcomes_on, timed_cases, times
from grader.pipeline.session import Place, Session, subfolder
from grader.results.result import Diagnostic, Result
from grader.running import ptxas
from grader.running.compile import Compiled, CompileError
from grader.running.named_library import named_library
from grader.running.record import Recorded, record

# For compute capabilities 1.x and 2.x (13, 20) no ptxas of today makes code, and what it says for
# a modern GPU is not what a kernel had there: registers and occupancy stay unknown.
OLDEST_WITH_REGISTERS = 50


def judged(
    session: Session,
    submission: Submission,
    base: Result,
    compiled: Compiled | CompileError,
    cases: Sequence[Case],
) -> Result:
    """`base` with all that can be said of what nvcc made of the submission."""
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
    try:
        return _judged(session, submission, result, compiled, recorded)
    except ptxas.NewerInstructionError as error:
        return conclude.does_not_compile(session.lab, base, CompileError(0, str(error)))


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
    return ptxas.resources_of(
        session.toolchain, modules, session.architecture, session.folder / "resources.json"
    )


def _judged(
    session: Session,
    submission: Submission,
    result: Result,
    compiled: Compiled,
    recorded: dict[str, Recorded],
) -> Result:
    """What was recorded, carried out on the backend that is asked for, and concluded."""
    text, lab, options = submission.text, session.lab, session.options
    resources = _resources(session)
    simulator = Place("sim", options.device, session.architecture)
    if options.backend == "both":
        cases = lab.cases_for("sim")
        seen = outcomes_on(session, simulator, text, cases, recorded, resources)
        probed = probes.look(session, compiled, text, seen.values(), recorded)
        seen = tile_use.looked_at(session, seen, recorded)
        told = _with_gpu(session, submission, result, recorded, seen, probed)
        return causes.told(session, text, told, seen, recorded)
    cases = lab.cases_for(options.backend)
    if options.backend == "sim":
        seen = outcomes_on(session, simulator, text, cases, recorded, resources)
        probed = probes.look(session, compiled, text, seen.values(), recorded)
        seen = tile_use.looked_at(session, seen, recorded)
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
