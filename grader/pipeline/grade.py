"""The pipeline of one lab: compile, record, execute, judge.

While nvcc runs, inputs are made, and the modules that judge are loaded: that takes about as long as
one of nvcc's passes, so nothing here imports them before. What follows is in judged.py. Whatever a
submission does becomes part of its result; a failure of our own becomes a result with the status
"error" and no score.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from grader import sandbox
from grader.errors import GraderError, ToolchainError, UnsupportedError
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
from grader.pipeline import begun
from grader.pipeline.places import without_places
from grader.pipeline.session import Inputs, Session
from grader.results.result import Diagnostic, GpuRun, Result
from grader.running.compile import compile_submission

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
    base = replace(begun.blank(lab, submission.shown, options), gpu=unused)
    if source.is_untouched(regions):
        return begun.not_started(base, submission.shown, regions)
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
    from grader.pipeline import conclude

    result = without_places(result, course)
    result = conclude.with_next_step(conclude.with_source_lines(result, submission.text), regions)
    return replace(result, seconds=round(time.monotonic() - start, 3))


def _run(session: Session, submission: Submission, base: Result) -> Result:
    _stop_if_device_is_too_old(session.lab, session.options)
    cases = session.lab.cases_for(session.options.backend)
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(import_module, _JUDGED)  # where this fails, the import below says so
        for case in cases:
            session.inputs[case.id] = pool.submit(_inputs, session, case)
        session.say("compiling")
        compiled = compile_submission(
            session.course,
            session.toolchain,
            submission.content,
            session.architecture,
            session.options.limits,
        )
    return import_module(_JUDGED).judged(session, submission, base, compiled, cases)


_JUDGED = "grader.pipeline.judged"


def _inputs(session: Session, case: Case) -> Inputs:
    from grader.pipeline.carry_out import make_inputs

    return make_inputs(session, case)


def _stop_if_device_is_too_old(lab: Lab, options: Options) -> None:
    if options.capability >= lab.capability:
        return
    raise GraderError(
        f"Lab {lab.id} needs a GPU of compute capability {capability_text(lab.capability)} or later;"
        f" {options.device} has {capability_text(options.capability)}. The simulator can be one:"
        f" make grade LAB={lab.id} BACKEND=sim DEVICE={DEFAULT_DEVICE}"
    )


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
