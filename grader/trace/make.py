"""The trace of one case of a submission: compiled, recorded and carried out as the grader does."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.errors import GraderError, StepError
from grader.judging.explain import buffer_roles, read_plan
from grader.labs import source
from grader.labs.course import Course
from grader.labs.lab import Case, Lab
from grader.labs.options import Options
from grader.labs.submission import FILE_NAME
from grader.machine.toolchain import architecture_for, architectures, find_toolchain
from grader.pipeline import begun, causes
from grader.pipeline.carry_out import job_of, judge_one, make_inputs
from grader.pipeline.session import Session, subfolder
from grader.running import execute
from grader.running.compile import CompileError, compile_submission
from grader.running.execution import Execution
from grader.running.record import record
from grader.trace import constants, outputs, reader

# Operations of the largest case of which all blocks are traced, unless one asks for it.
_SMALL = 1 << 13
_TYPES = {"float": "f32", "int": "s32"}  # of the elements of solve's arrays


@dataclass(frozen=True)
class Wanted:
    """What of a case is to be traced."""

    case: Case
    constants: Mapping[str, int] = field(default_factory=dict)  # that the file is given
    blocks: tuple[int, ...] = ()  # linear; none: all of a small or a show case, else the first
    finding: int | None = None  # the blocks of that finding, from 0, instead
    lines: tuple[int, int] | None = None
    events: int = 0  # 0: the executor's limit


def make(
    course: Course,
    lab: Lab,
    text: str,
    wanted: Wanted,
    options: Options,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """tilewise.trace/1 as in its file. Raises GraderError where there can be none."""
    if wanted.case.hidden:
        raise GraderError(f"Case {wanted.case.id} is hidden: there is no trace of it.")
    text = constants.with_constants(text, wanted.constants)
    toolchain = find_toolchain(course)
    architecture = architecture_for(options.capability, architectures(toolchain, course))
    course.cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="trace-", dir=course.cache))
    try:
        session = Session(course, lab, options, say, folder, toolchain, architecture)
        return _made(session, text, wanted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _made(session: Session, text: str, wanted: Wanted) -> dict[str, Any]:
    case, options = wanted.case, session.options
    session.say("compiling")
    compiled = compile_submission(
        session.course, session.toolchain, text.encode(), session.architecture, options.limits
    )
    if isinstance(compiled, CompileError):
        where = f"line {compiled.line}: " if compiled.line else ""
        raise GraderError(f"The file does not compile: {where}{compiled.message}")
    recorded = record(
        session.course, session.lab.signature, [case], compiled, options.device,
        subfolder(session, "plans"), options.limits,
    )[case.id]  # fmt: skip
    if recorded.plan is None:
        raise GraderError(f"solve launched nothing that could be traced: {recorded.message}")
    ready: Future = Future()
    ready.set_result(make_inputs(session, case))
    session.inputs[case.id] = ready
    job = job_of(session, case, recorded.plan, "sim")
    blocks = wanted.blocks
    if wanted.finding is not None:
        session.say("looking for the finding")
        blocks = _blocks_of(_run(session, job), wanted.finding)
    elif not blocks and case.work > _SMALL and session.lab.show(case.id) is None:
        blocks = (0,)
    session.say("tracing")
    path = job.folder / "trace.json"
    asked = execute.TraceWanted(path, blocks, wanted.lines, wanted.events)
    job = replace(job, trace=asked)
    execution = _run(session, job)
    if not path.is_file():
        raise StepError(f"The executor left no trace of case {case.id}.")
    trace = _told(session, reader.load(path), text, wanted, recorded.plan)
    if execution.status == "ok" and trace["launches"]:
        outcome = judge_one(session, case, job, execution, text)
        base = begun.blank(session.lab, FILE_NAME, options)
        base = replace(base, cases=(outcome.result,), diagnostics=outcome.diagnostics)
        told = causes.told(session, text, base, {case.id: outcome}, {case.id: recorded})
        trace["launches"][-1]["findings"] += outputs.findings(outcome, told.diagnostics)
    return trace


def _run(session: Session, job: execute.Job) -> Execution:
    return execute.execute(
        session.course, job, backend="sim", device=session.options.device, resources=None,
        threads=1, limits=session.options.limits,
    )  # fmt: skip


def _blocks_of(execution: Execution, number: int) -> tuple[int, ...]:
    faults = [fault for fault in execution.faults if execution.kernels]
    if number >= len(faults):
        raise GraderError(
            f"The case has {len(faults)} findings of the simulator: there is no number {number}."
        )
    facts, grid = faults[number].facts, execution.kernels[0].grid
    places = [facts.block] + ([facts.other.block] if facts.other is not None else [])
    linear = [x + grid[0] * (y + grid[1] * z) for x, y, z in places]
    return tuple(dict.fromkeys(linear))


def _told(
    session: Session, trace: dict[str, Any], text: str, wanted: Wanted, plan: Path
) -> dict[str, Any]:
    """The trace with what the grader knows: the case, the text, names and shapes of arrays."""
    case = wanted.case
    trace["program"] = f"lab {session.lab.id}, {case.title}"
    trace["case"] = {
        "lab": session.lab.id,
        "id": case.id,
        "title": case.title,
        "hidden": case.hidden,
        "tile_width": wanted.constants.get("TILE_WIDTH"),
        "constants": dict(wanted.constants),
        **case.numbers,
    }
    for file in trace["files"]:
        own = file["name"].endswith("/" + FILE_NAME) or file["name"] == FILE_NAME
        file["name"] = FILE_NAME if own else Path(file["name"]).name
        file["text"] = text if own else None
    shapes = {name: list(shape) for name, shape in case.shapes.items()}
    elements = {array.name: _TYPES[array.element] for array in case.problem.arrays}
    roles = buffer_roles(read_plan(plan), case.problem)
    for launch in trace["launches"]:
        for finding in launch["findings"]:
            _with_own_file(finding)
            if finding["other"] is not None:
                _with_own_file(finding["other"])
        for array in launch["arrays"]:
            _shape(array, shapes, roles, text, launch["kernel"])
            array["type"] = _type(array, elements)
    return trace


def _with_own_file(party: dict[str, Any]) -> None:
    for name in ("file", "other_file"):
        if party.get(name, "").endswith("/" + FILE_NAME):
            party[name] = FILE_NAME


def _type(array: Mapping[str, Any], elements: Mapping[str, str]) -> str:
    """Of an array that a launch does not touch the executor cannot know it."""
    own = elements.get(array["holds"], array["type"])
    return own if own[1:] == array["type"][1:] else array["type"]


def _shape(
    array: dict[str, Any],
    shapes: Mapping[str, list[int]],
    roles: Mapping[str, str],
    text: str,
    kernel: str,
) -> None:
    if array["space"] == "shared":
        known = source.shared_array(text, array["name"], array["bytes"], kernel)
        if known is not None:
            array["shape"] = list(known.dimensions)
        return
    role = array["holds"] or roles.get(array["name"], "")
    shape = shapes.get(role)
    if shape is not None and 4 * math.prod(shape) == array["bytes"]:
        array["shape"], array["holds"] = list(shape), role
