"""Results as they are put together: of labs that were graded, and of files that cannot be."""

from __future__ import annotations

from dataclasses import replace

from grader.judging import costs, judge, launch_shape, rubric
from grader.judging.quietly import quietly
from grader.labs import source
from grader.labs.lab import Case, Lab
from grader.labs.options import Options
from grader.labs.submission import FILE_NAME
from grader.pipeline import begun, gains
from grader.results.result import Diagnostic, GpuRun, Kernel, LineCounters, Result
from grader.running import compiler_places, compiler_words
from grader.running.compile import Compiled, CompileError
from grader.running.execution import KernelRun, add_counters
from grader.text import lines_of


def unreadable(lab: Lab, shown: str, options: Options, message: str) -> Result:
    """One lab of several has a file that cannot be graded: no points, and the others go on."""
    base = begun.blank(lab, shown, options)
    checks = rubric.all_failed(lab, options.backend, "The file cannot be graded.")
    return replace(base, message=message, checks=checks)


def does_not_compile(lab: Lab, base: Result, error: CompileError, text: str = "") -> Result:
    """One diagnostic, no points. text: of the submission."""
    lines = source.without_comments(text).split("\n") if text else []
    place = compiler_places.place(error.message, error.line, lines)
    more = f" ({error.more} more follow from it or after it)" if error.more else ""
    message = f"{compiler_words.plain(error.message)}{more}."
    diagnostic = Diagnostic(
        "does-not-compile", "error", message, FILE_NAME, place.line, advice=place.advice
    )
    checks = rubric.all_failed(lab, base.backend, "The file does not compile.")
    return replace(base, diagnostics=(diagnostic,), checks=checks, message="It does not compile.")


def warnings(compiled: Compiled) -> tuple[Diagnostic, ...]:
    """What the compiler warned of."""
    return tuple(
        Diagnostic("compiler-warning", "warning", f"{item.message}.", FILE_NAME, item.line)
        for item in compiled.warnings
    )


def concluded(lab: Lab, result: Result, evidence: rubric.Evidence, text: str = "") -> Result:
    """With checks, points, diagnostics and kernels. `text`: of the submission."""
    checks = rubric.evaluate_checks(lab, result.backend, evidence)
    score = sum(check.score for check in checks)
    statuses = {check.status for check in checks}
    status = "failed"
    if statuses == {"passed"}:
        status = "passed"
    elif statuses <= {"passed", "inconclusive"}:
        status = "inconclusive"
    timed = [
        item
        for case_id, timing in evidence.timings.items()
        for item in judge.of_timing(lab.case(case_id), timing)
    ]
    more = [*evidence.probed, *timed, *launch_shape.exchanged(evidence.outcomes.values(), text)]
    found = judge.merge(_all_outcomes(evidence), more)
    kernels = _kernels(lab, evidence)
    if any(item.severity == "error" for item in found):
        kernels = tuple(_unpredicted(kernel) for kernel in kernels)
    else:
        costly = ()
        for rule in (costs.of_blocks, costs.of_loads, costs.told):
            with quietly():
                costly = costly or rule(lab, checks, evidence.safety, text)
        found = (*found, *costly)
    result = replace(result, kernels=kernels)
    return replace(
        result,
        status=status,
        score=round(float(score), 2),
        checks=checks,
        diagnostics=found,
        per_step=gains.per_step(result, lab),
        cases=tuple(outcome.result for outcome in evidence.outcomes.values()),
    )


def contradicted(alone: Result, run: GpuRun) -> Result:
    """On both: what the simulator alone says has no score while the GPU says something else."""
    said = (
        "the grader's own failure"
        if run.status == "failed"
        else ("right on the simulator, so one of the two is mistaken")
    )
    message = (
        f"{run.message} This is {said}: it costs no points, and whoever runs the course has to look"
        f" into it. With --backend sim the file has {alone.score:g} of {alone.max_score:g} points."
    )
    return replace(
        alone, backend="both", gpu=run, status="error", score=None, message=message, next_step=""
    )


def _all_outcomes(evidence: rubric.Evidence) -> list[judge.Outcome]:
    """Of both backends where two were used; what the simulator says too, it says with the line."""
    outcomes = list(evidence.outcomes.values())
    if evidence.safety is evidence.outcomes:
        return outcomes
    seen = list(evidence.safety.values())
    known = {(outcome.case.id, item.code) for outcome in seen for item in outcome.diagnostics}
    for outcome in outcomes:
        news = [item for item in outcome.diagnostics if (outcome.case.id, item.code) not in known]
        seen.append(replace(outcome, diagnostics=tuple(news)))
    return seen


def _kernels(lab: Lab, evidence: rubric.Evidence) -> tuple[Kernel, ...]:
    """What was launched in the case that performance is judged by, else in the largest that ran.

    On both the timed case follows it: that one has times, and the other has counts.
    """
    ran = [item for item in evidence.outcomes.values() if item.execution and item.execution.kernels]
    found: list[Kernel] = []
    counted = [item for item in ran if item.execution.backend == "sim"]
    for outcomes in [counted, [x for x in ran if x not in counted]] if counted else [ran]:
        if not outcomes:
            continue
        chosen = max(outcomes, key=lambda x: (x.case.role == "performance", x.case.work))
        timing = evidence.timings.get(chosen.case.id)
        times = timing.kernels_ms if timing else {}
        found += [
            replace(_kernel(run, chosen.case), time_ms=times.get(run.mangled))
            for run in chosen.execution.kernels
        ]
    return tuple(found)


def _unpredicted(kernel: Kernel) -> Kernel:
    """Of a wrong kernel: how fast it is says nothing, and a race may even make it look faster."""
    if kernel.predicted_ms is None:
        return kernel
    return replace(
        kernel, predicted_ms=None, bound=None, prediction=None, no_prediction="it is not right yet."
    )


def _kernel(run: KernelRun, case: Case) -> Kernel:
    lines: dict[int, dict[str, float]] = {}
    for entry in run.lines:
        if entry.line and judge.is_own_file(entry.file):
            add_counters(lines.setdefault(entry.line, {}), entry.counters)
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
        predicted_ms=run.predicted_ms,
        bound=run.bound,
        prediction=run.prediction,
        no_prediction=run.no_prediction,
    )


def with_source_lines(result: Result, text: str) -> Result:
    """With the file's text, and the lines that the findings speak of."""
    lines = lines_of(text)

    def with_line(item: Diagnostic) -> Diagnostic:
        if item.file != FILE_NAME or not 0 < item.line <= len(lines):
            return item
        return replace(item, source=lines[item.line - 1].strip()[:200])

    return replace(
        result,
        source=text,
        diagnostics=tuple(with_line(item) for item in result.diagnostics),
        warnings=tuple(with_line(item) for item in result.warnings),
    )


def _first_thing(result: Result) -> str:
    if any(item.severity == "error" for item in result.diagnostics):
        first = result.diagnostics[0]  # what the report opens with
        return f"mend {first.code}{f' at line {first.line}' if first.line else ''}"
    failed = [check for check in result.checks if check.status == "failed"]
    return f'look at "{failed[0].title}"' if failed else "mend what stands first"


def with_next_step(result: Result, regions: list[source.TodoRegion]) -> Result:
    """What to do now: the first TODO that is still empty, else the first finding."""
    if result.status in ("passed", "error"):
        return result
    open_todos = [region for region in regions if region.is_empty]
    if open_todos:
        todo = open_todos[0]
        step = f"TODO({todo.number}) at line {todo.line} is still empty: {todo.task}"
    else:
        step = f"{_first_thing(result)}, then grade again."
    return replace(result, next_step=step)
