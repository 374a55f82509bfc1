"""`grader run`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import click

from grader.commands import grading, options, terminal
from grader.errors import UsageError
from grader.labs import submission as submissions
from grader.labs import term as terms
from grader.labs.course import Course, find_course
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.weights import weigh
from grader.results.hidden import for_students
from grader.results.result import Result
from grader.text import lab_number


@click.command(epilog=options.EPILOG)
@click.argument("lab", default="all")
@options.submission
@options.backend
@options.device
@options.seed
@options.course_file
@options.format_of_results("text")
@options.output
@click.option(
    "--show",
    is_flag=True,
    help="With --format html --output FILE: pages in which failed kernels run, linked.",
)
def run(
    lab: str,
    submission: Path | None,
    backend: str,
    device: str | None,
    seed: int | None,
    course_file: Path | None,
    format_name: str,
    output: Path | None,
    show: bool,
) -> None:
    """Grade LAB (a number or folder name, or several: 01,02), or all labs of the course."""
    course = find_course()
    term = terms.find(course, course_file)
    how = grading.options_for(
        course, backend, device or term.device, term.seed if seed is None else seed
    )
    terminal.check_folder_of(output)
    if show and (output is None or format_name != "html"):
        raise UsageError("--show puts pages beside a report: add --format html --output FILE.html.")
    one = lab != "all" and "," not in lab
    wanted = ",".join(term.names) if lab == "all" and term.names else lab
    results = [
        weigh(grading.grade_one(course, folder, submission, how, one=one), term.weights)
        for folder in grading.folders_of(course, wanted)
    ]
    links = _pages(course, results, submission, how, output, one=one) if show and output else {}
    terminal.report(results, format_name, output, one=one, runs=links)
    if any(result.toolkit and result.sandbox == "none" for result in results):
        click.echo(
            "Without a sandbox: the file ran with limits only, and could read and write what you"
            " can. `grader doctor` says how to get one.",
            err=True,
        )
    sys.exit(max(result.exit_code for result in results))


def _pages(
    course: Course,
    results: Sequence[Result],
    given: Path | None,
    how: Options,
    output: Path,
    *,
    one: bool,
) -> dict[str, str]:
    """Writes the pages in which failed kernels run; their addresses from the report, by lab."""
    from grader.show import make
    from grader.writers.html import is_worth_seeing

    links = {}
    for result in results:
        if not is_worth_seeing(for_students(result)):
            continue
        lab = load_lab(course.folder(result.lab))
        place = submissions.find(course, lab, given, explicit_lab=one)
        text = make.for_student(course, lab, submissions.read(place), how)
        if text:
            page = output.with_name(f"{output.stem}-run-{lab_number(result.lab)}.html")
            terminal.write(text, page)
            links[result.lab] = quote(page.name)
    return links
