"""`grader similar`: which files of one class, or of several, resemble each other."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands import grading
from grader.errors import UsageError
from grader.labs.course import find_course
from grader.labs.options import Options
from grader.machine.toolchain import find_toolchain


@click.command()
@click.argument(
    "graded", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="GRADED..."
)
@click.option("--labs", help="Labs to compare: 02, or 01,02. Default: all that were graded.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder to fill.")
def similar(graded: tuple[Path, ...], labs: str | None, output: Path) -> None:
    """Compare what was handed in, in folders that `grader batch` filled, of several sections too.

    Writes similarity.csv and similarity.html, which shows pairs side by side.
    """
    from grader.batch import similarity

    course = find_course()
    submissions = similarity.handed_in(graded)
    names = sorted({lab for one in submissions for lab in one.files})
    if labs is not None:
        names = [folder.name for folder in grading.folders_of(course, labs)]
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.") from None
    found = similarity.report(
        course, output, find_toolchain(course), Options("sim"), submissions, names
    )
    click.echo(f"{len(found)} pairs are in {output / similarity.PAGE}.", err=True)
