"""`grader show`, and `warpsim show` of a trace: the page in which a kernel runs."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands import grading, options, terminal
from grader.errors import UsageError
from grader.labs import submission as submissions
from grader.labs.course import Course, find_course
from grader.labs.lab import Lab, load_lab
from grader.labs.options import Options
from grader.machine.toolchain import write_atomically


@click.command(
    epilog="Exit status: 0 it worked, 2 there is nothing to see yet, 3 a failure of ours."
)
@click.argument("lab", metavar="LAB|TRACE")
@options.submission
@click.option("--case", "case_id", help="A case of lab.toml. Default: the first that fits the eye.")
@click.option(
    "--beside",
    type=click.Path(path_type=Path),
    help="Another file, run beside it: before and after. The source of one in solutions/ is not shown.",
)
@options.device
@options.seed
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write the page to this file. Default: build/show/LAB.html.",
)
def show(
    lab: str,
    submission: Path | None,
    case_id: str | None,
    beside: Path | None,
    device: str | None,
    seed: int | None,
    output: Path | None,
) -> None:
    """Write a page in which the kernel of LAB runs: every thread, tile, bank and barrier.

    Of a TRACE, a file that warpsim run --trace or grader trace has written, likewise.
    """
    trace = Path(lab)
    if trace.is_file():
        terminal.check_folder_of(output)
        _write(of_trace(trace), output or trace.with_suffix(".html"))
        return
    course = find_course()
    found = load_lab(course.lab_folder(lab))
    how = grading.options_for(course, "sim", device, seed)
    terminal.check_folder_of(output)
    with terminal.status_line(found.id) as say:
        text = page(course, found, submission, how, case_id, beside, say)
    _write(text, output or course.build / "show" / f"{found.name}.html")


def _write(text: str, path: Path) -> None:
    try:
        write_atomically(path.absolute(), text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from None
    click.echo(f"See it run: {path.resolve().as_uri()}")


def of_trace(path: Path) -> str:
    """The page of a trace in a file, with the sources that it names where they are still there."""
    from grader.show import page
    from grader.trace import reader

    trace = reader.load(path)
    for file in trace["files"]:
        source = Path(file["name"])
        if file["text"] is None and source.is_absolute() and source.is_file():
            file["text"] = source.read_text(encoding="utf-8", errors="replace")
        file["name"] = source.name
    if not trace["launches"]:
        raise UsageError(f"{path} has no launch: there is nothing to see.")
    heading = trace["program"].rpartition("/")[2] or path.name
    text = page.render([page.Run("yours", trace)], eyebrow=path.name, heading=heading)
    if len(text.encode()) > page.MOST_BYTES:
        raise UsageError(
            f"The page of {path} would be larger than {page.MOST_BYTES // 1_000_000} MB: trace fewer"
            " blocks (--trace-blocks) or instructions (--trace-events)."
        )
    return text


def page(
    course: Course,
    lab: Lab,
    given: Path | None,
    how: Options,
    case_id: str | None = None,
    beside: Path | None = None,
    say=lambda text: None,
) -> str:
    """The page's text."""
    from grader.show import make

    shown = [make.Shown("yours", _read(course, lab, given))]
    if beside is not None:
        other = _read(course, lab, beside)
        is_ours = (course.root / "solutions") in other.path.resolve().parents
        title = "the reference" if is_ours else other.shown
        shown.append(make.Shown(title, other, with_source=not is_ours))
    return make.write(course, lab, shown, how, make.chosen(lab, case_id), say, case_id is None)


def _read(course: Course, lab: Lab, given: Path | None) -> submissions.Submission:
    place = submissions.find(course, lab, given, explicit_lab=True)
    assert isinstance(place, Path)
    return submissions.read(place)
