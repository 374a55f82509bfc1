"""The command line of `grader batch`. Talk and the progress bar go to standard error."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader import sandbox
from grader.commands import grading, options
from grader.errors import ExitCode, UsageError
from grader.labs import term as terms
from grader.labs import weights
from grader.labs.course import find_course
from grader.labs.lab import load_lab
from grader.labs.options import DEFAULT_DEVICE, DEFAULT_SEED, Options
from grader.labs.term import Term
from grader.machine.toolchain import capability

_DONE_EPILOG = (
    "Exit status: 0 everybody has a grade or a reason, 2 usage, 3 the grader or its machine failed"
    " on somebody. A batch that was stopped goes on when it is started again."
)


@click.command(epilog=_DONE_EPILOG)
@click.argument("export", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder to fill.")
@click.option(
    "--labs", help="Labs to grade: 02, or 01,02,05. Default: those of course.toml, or all."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Files at a time. Default: one a processor."
)
@click.option(
    "--executor", type=click.Choice(["local", "slurm"]), default="local", show_default=True
)
@click.option("--partition", help="Slurm partition. Default: the cluster's.")
@click.option(
    "--gres", default="gpu:1", show_default=True, help="What a Slurm task on a GPU asks for."
)
@options.course_file
@click.option(
    "--backend", type=click.Choice(["sim", "gpu", "both"]), default="sim", show_default=True
)
@click.option("--device", help="Device file whose limits hold, such as h200.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the input data. Default: 1.")
@click.option("--weights", default="", help="Points of labs: 01=10,02=20. Default: 100 each.")
@click.option(
    "--roster",
    type=click.Path(path_type=Path),
    help="The platform's list of students (CSV): who is missing, and ids for the import.",
)
@click.option("--assignment", default="", help="The platform's name of the assignment.")
@click.option(
    "--times",
    type=click.Path(path_type=Path),
    help="When students handed in: a CSV of id and time, or Classroom 50's scores.json.",
)
@click.option(
    "--adjustments",
    type=click.Path(path_type=Path),
    help="adjustments.toml: extensions, excuses, bonus points, each with a reason.",
)
@click.option("--only", default="", help="Grade this student alone: a key of results/, or an id.")
@click.option(
    "--time-limit", type=click.IntRange(min=1), default=300, show_default=True,
    help="Seconds for one file; beyond them it has no points.",
)  # fmt: skip
@click.option(
    "--memory-limit", type=click.IntRange(min=1), default=8, show_default=True,
    help="GiB of memory for grading one file.",
)  # fmt: skip
@click.option("--similarity", is_flag=True, help="Report which files resemble each other.")
@click.option(
    "--show", is_flag=True, help="Pages in which failed kernels run, linked from the feedback."
)
@click.option("--no-sandbox", is_flag=True, help="Grade without a sandbox; results say so.")
def batch(
    export: Path, output: Path, labs: str | None, course_file: Path | None, backend: str,
    no_sandbox: bool, **given,
) -> None:  # fmt: skip
    """Grade a whole class: DIR is a folder or zip with a file, folder or zip a student.

    Exports of Canvas, Moodle, Gradescope and clones of GitHub repositories are known by their
    names. What a term has in common stands in course.toml; options override it.
    """
    from grader.batch import credit, progress, run

    course = find_course()
    term = terms.find(course, course_file)
    if no_sandbox or not term.sandbox:
        sandbox.switch_off()
    else:
        sandbox.require()
    chosen = tuple(load_lab(course.folder(name)) for name in _labs(course, term, labs))
    given["device"] = given["device"] or term.device
    given["seed"] = term.seed if given["seed"] is None else given["seed"]
    how = _options(course, backend, given)
    decided = given["adjustments"]
    adjustments = credit.read_adjustments(decided, course) if decided else []
    points = weights.parse(given["weights"], course) if given["weights"] else term.weights
    names = {lab.name for lab in chosen}
    request = run.Request(
        export=export,
        output=output,
        labs=chosen,
        options=how,
        executor=_executor(given),
        executor_name=given["executor"],
        roster=given["roster"],
        assignment=given["assignment"],
        seconds=given["time_limit"],
        memory_bytes=given["memory_limit"] << 30,
        weights={lab: value for lab, value in points.items() if lab in names},
        similarity=given["similarity"],
        rules=credit.Rules(term, tuple(adjustments)),
        times=given["times"],
        only=given["only"],
        show_jobs=_jobs(given) if given["show"] else 0,
    )
    try:
        with progress.shown() as bar:
            facts = run.grade_class(course, request, bar)
    except KeyboardInterrupt:
        # Workers end with this process, and what they had finished is kept.
        click.echo("\nStopped. The same command goes on where it was.", err=True)
        sys.stderr.flush()
        os._exit(130)
    failed = sum(row.status == "error" for row in facts.rows)
    where = output / ("results" if given["only"] and len(facts.rows) == 1 else "gradebook.csv")
    click.echo(f"{len(facts.rows)} students are in {where}.", err=True)
    if facts.moved:
        click.echo(
            f"{len(facts.moved)} differ from the last gradebook: see {output / 'summary.md'}.",
            err=True,
        )
    if failed:
        click.echo(f"{failed} could not be graded: see {output / 'summary.md'}.", err=True)
    sys.exit(ExitCode.MACHINE if failed else ExitCode.FULL_MARKS)


def _labs(course, term: Term, text: str | None) -> list[str]:
    """Folder names of the labs, in order, each once."""
    if text is None:
        return term.names or course.lab_names()
    return [folder.name for folder in grading.folders_of(course, text)]


def _options(course, backend: str, given: dict):
    """On a cluster the GPU that grades is not this machine's: its device file must be named."""
    device, seed = given["device"], given["seed"]
    if backend == "sim" or given["executor"] == "local":
        return grading.options_for(course, backend, device, seed)
    if backend == "both":  # the simulator's, as everywhere
        device = device or DEFAULT_DEVICE
    if device is None:
        raise UsageError("--backend gpu on a cluster needs --device: the model of its GPUs.")
    seed = DEFAULT_SEED if seed is None else seed
    return Options(backend, device, seed, capability(course, device))


def _executor(given: dict):
    from grader.batch import run

    if given["executor"] == "local":
        return run.on_this_machine(_jobs(given))
    if given["show"]:
        raise UsageError("--show makes its pages on this machine: leave out --executor slurm.")
    from grader.batch import slurm

    return slurm.on_a_cluster(slurm.Cluster(given["jobs"], given["partition"], given["gres"]))


def _jobs(given: dict) -> int:
    return given["jobs"] or os.cpu_count() or 1
