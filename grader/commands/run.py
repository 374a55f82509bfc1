"""`grader run`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.commands import grading, options, terminal
from grader.labs import term as terms
from grader.labs.course import find_course
from grader.labs.weights import weigh


@click.command(epilog=options.EPILOG)
@click.argument("lab", default="all")
@options.submission
@options.backend
@options.device
@options.seed
@options.course_file
@options.format_of_results("text")
@options.output
def run(
    lab: str,
    submission: Path | None,
    backend: str,
    device: str | None,
    seed: int | None,
    course_file: Path | None,
    format_name: str,
    output: Path | None,
) -> None:
    """Grade LAB (a number or folder name, or several: 01,02), or all labs of the course."""
    course = find_course()
    term = terms.find(course, course_file)
    how = grading.options_for(
        course, backend, device or term.device, term.seed if seed is None else seed
    )
    terminal.check_folder_of(output)
    one = lab != "all" and "," not in lab
    wanted = ",".join(term.names) if lab == "all" and term.names else lab
    results = [
        weigh(grading.grade_one(course, folder, submission, how, one=one), term.weights)
        for folder in grading.folders_of(course, wanted)
    ]
    terminal.report(results, format_name, output, one=one)
    if any(result.toolkit and result.sandbox == "none" for result in results):
        click.echo(
            "Without a sandbox: the file ran with limits only, and could read and write what you"
            " can. `grader doctor` says how to get one.",
            err=True,
        )
    sys.exit(max(result.exit_code for result in results))
