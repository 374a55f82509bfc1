"""The command line. Only commands print or end the process: here, cli_results, batch and study.

Results go to standard output (or --output), everything said on the way to standard error.
Exit status: see grader.errors.ExitCode.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from grader import __version__, cli_results
from grader.batch.command import batch
from grader.course import Course, find_course
from grader.errors import ExitCode, GraderError, SubmissionError, UsageError
from grader.study.command import occupancy, study

if TYPE_CHECKING:
    from grader.lab import Lab
    from grader.options import Options
    from grader.result import Result

EPILOG = (
    "Exit status: 0 full marks (or: it worked), 1 less, 2 usage or a submission that cannot be"
    " read, 3 the grader or its machine failed."
)


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="grader")
def cli() -> None:
    """Grades CUDA matrix multiplication, on a simulator or a GPU."""


for _command in cli_results.COMMANDS:
    cli.add_command(_command)

_submission_option = click.option(
    "--submission",
    type=click.Path(path_type=Path),
    help="A file, a lab folder, or a tree laid out like labs/. Default: labs/.",
)
_backend_option = click.option(
    "--backend",
    type=click.Choice(["auto", "sim", "gpu"]),
    default="auto",
    show_default=True,
    help="auto is gpu where a usable GPU is found, else sim.",
)
_device_option = click.option("--device", help="Device file whose limits hold, such as h200.")
_seed_option = click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the input data. Default: 1."
)


@cli.command(epilog=EPILOG)
@click.argument("lab", default="all")
@_submission_option
@_backend_option
@_device_option
@_seed_option
@click.option(
    "--format",
    "format_name",
    type=click.Choice(cli_results.FORMATS),
    default="text",
    show_default=True,
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the report to this file.")
def run(
    lab: str,
    submission: Path | None,
    backend: str,
    device: str | None,
    seed: int | None,
    format_name: str,
    output: Path | None,
) -> None:
    """Grade LAB (a number or folder name), or all labs."""
    course = find_course()
    options = grading_options(course, backend, device, seed)
    check_folder_of(output)
    one = lab != "all"
    results = [
        grade_one(course, folder, submission, options, one=one)
        for folder in ([course.lab_folder(lab)] if one else _all_labs(course))
    ]
    report(results, format_name, output, one=one)
    if any(result.toolkit and result.sandbox == "none" for result in results):
        click.echo(
            "Without a sandbox: the file ran with limits only, and could read and write what you"
            " can. `grader doctor` says how to get one.",
            err=True,
        )
    sys.exit(max(result.exit_code for result in results))


def _all_labs(course: Course) -> list[Path]:
    folders = [course.labs / name for name in course.lab_names()]
    return folders or [course.lab_folder("all")]


def grading_options(course: Course, backend: str, device: str | None, seed: int | None) -> Options:
    """What the options of that name ask for."""
    from grader import gpu
    from grader.options import DEFAULT_DEVICE, DEFAULT_SEED, Options
    from grader.toolchain import capability

    found = None if backend == "sim" else gpu.find_gpu()
    if backend == "gpu" and found is None:
        raise GraderError(
            "No usable GPU was found here: use --backend sim, or see `grader doctor`."
        )
    if device is None:
        device = gpu.device_file_for(course, found, DEFAULT_DEVICE) if found else DEFAULT_DEVICE
    compute_capability = found.capability if found else capability(course, device)
    return Options(
        "gpu" if found else "sim",
        device,
        DEFAULT_SEED if seed is None else seed,
        compute_capability,
    )


def grade_one(
    course: Course, folder: Path, given: Path | None, options: Options, *, one: bool
) -> Result:
    """One lab. With several, a file that cannot be read costs that lab its points, no more."""
    from grader import conclude, grade, progress, submission
    from grader.lab import load_lab

    lab = load_lab(folder)
    place = submission.find(course, lab, given, explicit_lab=one)
    if isinstance(place, submission.Missing):
        return conclude.missing(lab, place.shown, options)
    try:
        handed_in = submission.read(place)
    except SubmissionError as error:
        if one:
            raise
        return conclude.unreadable(lab, submission.shorten(place), options, str(error))
    with _progress(lab) as say:
        result = grade.grade(course, lab, handed_in, options, say)
    if given is None:
        result = progress.follow_up(course, result)
        progress.remember(course, result, handed_in.content)
    return result


class _progress:  # noqa: N801 - used as a function
    """A status line on standard error while a lab is graded, where that is a terminal."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.status = None

    def __enter__(self):
        if sys.stderr.isatty() and not _is_dumb():
            from rich.console import Console

            self.status = Console(stderr=True).status(self._text("starting"))
            self.status.start()
        return self.say

    def say(self, text: str) -> None:
        if self.status is not None:
            self.status.update(self._text(text))

    def _text(self, text: str) -> str:
        return f"Lab {self.lab.id}: {text} ..."

    def __exit__(self, *exception: object) -> None:
        if self.status is not None:
            self.status.stop()


def check_folder_of(output: Path | None) -> None:
    if output is not None and not output.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {output.parent} to write {output.name} into.")


def report(results: list[Result], format_name: str, output: Path | None, *, one: bool) -> None:
    from grader import writers

    style = terminal_style() if output is None else writers.Style()
    deliver(writers.render(format_name, results, one=one, style=style), output)


def deliver(text: str, output: Path | None) -> None:
    """A report to standard output, or whole into a file."""
    from grader.toolchain import write_atomically

    if output is None:
        _show(text)
        return
    try:
        write_atomically(output.absolute(), text)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.") from None
    click.echo(f"The report is in {output}.", err=True)


def terminal_style():
    """How standard output may look: color on a terminal only, and not with NO_COLOR."""
    import shutil

    from grader.writers import Style

    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((88, 24)).columns if is_terminal else 88
    color = is_terminal and not os.environ.get("NO_COLOR") and not _is_dumb()
    return Style(width=max(50, min(width, 100)), color=color, unicode=encoding.startswith("utf"))


def _is_dumb() -> bool:
    """A terminal without cursor movement and colors."""
    return os.environ.get("TERM") == "dumb"


cli.add_command(batch)
cli.add_command(study)
cli.add_command(occupancy)


@cli.command()
def doctor() -> None:
    """Show what was found on this machine, what is missing, and how to get it."""
    from grader import doctor as examination

    report, complete = examination.examine(find_course(), terminal_style())
    sys.stdout.write(report)
    sys.exit(ExitCode.FULL_MARKS if complete else ExitCode.MACHINE)


@cli.command()
def status() -> None:
    """Show where you are in the course."""
    from grader import progress

    sys.stdout.write(progress.overview(find_course(), terminal_style()))


@cli.command()
@click.argument("lab")
@_submission_option
def hint(lab: str, submission: Path | None) -> None:
    """Give the next hint for what fails in LAB: the concept, then the place, then the line."""
    course = find_course()
    folder = course.lab_folder(lab)
    result = grade_one(
        course, folder, submission, grading_options(course, "sim", None, None), one=True
    )
    click.echo(_give_hint(course, folder.name, result, remembers=submission is None))


def _give_hint(course: Course, lab: str, result: Result, *, remembers: bool) -> str:
    import textwrap

    from grader import hints, progress
    from grader.lab import load_lab

    given = hints.next_hint(load_lab(course.labs / lab), result, progress.load(course), remembers)
    if given.state is not None:
        progress.save(course, given.state)
    width = terminal_style().width
    return "\n".join(textwrap.fill(line, width) for line in given.text.splitlines())


@cli.command()
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
    from grader import calibrate as calibration
    from grader import gpu

    course = find_course()
    one = lab != "all"
    folders = [course.lab_folder(lab)] if one else _all_labs(course)
    if slower and not one:
        raise UsageError("--slower belongs to one lab: name it, as in `grader calibrate 05`.")
    options = grading_options(course, "gpu", None, None)
    name = gpu.find_gpu().name
    for folder in folders:
        found = calibration.calibrate(
            course, folder, options, name, repeats, list(slower), lambda t: click.echo(t, err=True)
        )
        _show(calibration.render(found) + "\n")


@cli.command()
@click.argument("lab")
@_backend_option
@_device_option
def watch(lab: str, backend: str, device: str | None) -> None:
    """Grade LAB again whenever you save it; single keys give hints, the next lab, the list."""
    from grader import progress
    from grader.watch import Watch, keyboard

    course = find_course()
    actions = _watch_actions(course, grading_options(course, backend, device, None))
    with keyboard() as key:
        loop = Watch(course.lab_folder(lab).name, actions, _show, key)
        loop.loop()
    _show(progress.overview(course, terminal_style()))


def _watch_actions(course: Course, options: Options):
    """What the loop may ask for; a failure becomes text, so that watching goes on."""
    from grader import progress, submission, writers
    from grader.watch import Actions

    def attempt(lab: str) -> tuple[Result | None, str]:
        try:
            result = grade_one(course, course.labs / lab, None, options, one=True)
        except GraderError as error:
            return None, f"{error}\n"
        return result, writers.render("text", [result], one=True, style=terminal_style())

    def run(lab: str) -> tuple[str, bool]:
        result, text = attempt(lab)
        clear = "\x1b[2J\x1b[H" if sys.stdout.isatty() and not _is_dumb() else ""
        return clear + text, result is not None and result.status == "passed"

    def hint(lab: str) -> str:
        result, text = attempt(lab)
        return text if result is None else _give_hint(course, lab, result, remembers=True)

    def following(lab: str) -> str | None:
        names = course.lab_names()
        return dict(zip(names, names[1:], strict=False)).get(lab)

    return Actions(
        file=lambda lab: course.labs / lab / submission.FILE_NAME,
        run=run,
        hint=hint,
        overview=lambda: progress.overview(course, terminal_style()),
        following=following,
    )


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main() -> NoReturn:
    """The console script: every failure is one sentence and an exit status, never a traceback."""
    code: int = ExitCode.FULL_MARKS
    try:
        code = cli(standalone_mode=False) or 0
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        code = 130
    except GraderError as error:
        click.echo(f"grader: {error}", err=True)
        code = error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the flush at exit says nothing
        code = ExitCode.MACHINE
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except Exception as error:  # a defect of the grader
        if os.environ.get("TILEWISE_DEBUG"):
            raise
        click.echo(
            f"grader: internal error: {type(error).__name__}: {error}."
            " Set TILEWISE_DEBUG=1 to see where, and please report it.",
            err=True,
        )
        code = ExitCode.MACHINE
    sys.exit(code)


if __name__ == "__main__":
    main()
