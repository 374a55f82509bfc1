"""`grader calibrate`."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands import grading, terminal
from grader.errors import UsageError
from grader.labs.course import find_course
from grader.machine import gpu


@click.command()
@click.argument("lab", default="all")
@click.option(
    "--slower",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A kernel that misses the lesson. Default: the solution of the lab before.",
)
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True)
def calibrate(lab: str, slower: tuple[Path, ...], repeats: int) -> None:
    """Propose thresholds of time for the GPU of this machine, and show why. Needs a GPU."""
    from grader.pipeline import calibrate as calibration

    course = find_course()
    one = lab != "all"
    if slower and not one:
        raise UsageError("--slower belongs to one lab: name it, as in `grader calibrate 05`.")
    how = grading.options_for(course, "gpu", None, None)
    name = gpu.find_gpu().name
    for folder in grading.folders_of(course, lab):
        found = calibration.calibrate(
            course, folder, how, name, repeats, list(slower), lambda t: click.echo(t, err=True)
        )
        terminal.show(calibration.render(found) + "\n")
