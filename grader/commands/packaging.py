"""Grading on other platforms: `grader package`, and what a package calls."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands import grading, options, terminal
from grader.errors import GraderError, UsageError
from grader.labs import term as terms
from grader.labs.course import find_checkout, find_course
from grader.labs.options import DEFAULT_DEVICE, DEFAULT_SEED
from grader.labs.weights import parse
from grader.machine.toolchain import capability
from grader.packaging import package as packages
from grader.text import lab_number


def _wheel(given: str | None, term: terms.Term) -> str:
    return term.wheel if given is None else given


@click.group()
def package() -> None:
    """Make what another platform needs to grade with this course."""


@package.command("gradescope")
@click.option("--labs", help="Labs to grade, as 01,02. Default: those of course.toml, or all.")
@options.weights
@options.course_file
@options.wheel
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=540,
    show_default=True,
    help="Time for all labs of one submission.",
)
@options.device
@options.seed
@click.option(
    "--output", type=click.Path(path_type=Path), default="gradescope.zip", show_default=True
)
def package_gradescope(
    labs: str | None, weights: str, course_file: Path | None, wheel: str | None, seconds: float, device: str | None,
    seed: int | None, output: Path,
) -> None:  # fmt: skip
    """Write the zip that Gradescope takes as an autograder. It holds the seed: keep it private."""
    course = find_checkout()
    terminal.check_folder_of(output)
    term = terms.find(course, course_file)
    device = device or term.device
    seed = term.seed if seed is None else seed
    capability(course, device or DEFAULT_DEVICE)  # refuses a device that there is not
    settings = packages.Settings(
        packages.chosen_labs(course, labs or ",".join(term.names) or "all"),
        parse(weights, course) if weights else term.weights,
        DEFAULT_SEED if seed is None else seed,
        device or DEFAULT_DEVICE,
        seconds,
    )
    names = packages.gradescope(course, settings, output, _wheel(wheel, term))
    click.echo(f"{output}: {len(names)} files; labs {', '.join(settings.labs)}.", err=True)


@package.command("classroom50")
@click.option("--labs", help="Labs to grade, as 01,02. Default: those of course.toml, or all.")
@options.weights
@options.course_file
@options.wheel
@options.device
@options.seed
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder to make.")
def package_classroom50(
    labs: str | None, weights: str, course_file: Path | None, wheel: str | None, device: str | None,
    seed: int | None, output: Path,
) -> None:  # fmt: skip
    """Make CLASSROOM/autograders/ASSIGNMENT of Classroom 50. Its bundle is public: take no seed."""
    course = find_checkout()
    terminal.check_folder_of(output)
    term = terms.find(course, course_file)
    device = device or term.device or DEFAULT_DEVICE
    capability(course, device)
    settings = packages.Settings(
        packages.chosen_labs(course, labs or ",".join(term.names) or "all"),
        parse(weights, course) if weights else term.weights,
        DEFAULT_SEED if seed is None else seed,
        device,
    )
    files = packages.classroom50(course, settings, output, _wheel(wheel, term))
    click.echo(f"{output}: {files} files; labs {', '.join(settings.labs)}.", err=True)


@package.command("class")
@click.argument("repositories", nargs=-1, type=click.Path(path_type=Path))
@click.option("--labs", help="Labs to hand out, as 01,02. Default: those of course.toml, or all.")
@click.option(
    "--week", type=click.IntRange(min=1), help="Hand out what course.toml releases by then."
)
@options.course_file
@options.wheel
@click.option("--output", type=click.Path(path_type=Path), help="Folder to make or to update.")
def package_class(
    repositories: tuple[Path, ...],
    labs: str | None,
    week: int | None,
    course_file: Path | None,
    wheel: str | None,
    output: Path | None,
) -> None:
    """Make a repository for students: skeletons, handouts, the grader, pipelines; no solutions.

    A folder that was made so, or a clone of it, is brought up to date: labs that are new come in,
    the grader is renewed, and no file that a student changed is touched. REPOSITORIES are several.
    """
    course = find_checkout()
    term = terms.find(course, course_file)
    if labs and week:
        raise UsageError("--labs and --week both say which labs: give one of them.")
    places = [*repositories, *([output] if output else [])]
    if not places:
        raise UsageError("Name the folder to make: --output class-repository.")
    for place in repositories:
        if not place.is_dir():
            raise UsageError(f"There is no folder {place}.")
    terminal.check_folder_of(output)
    if week:
        chosen = tuple(term.released(week))
    else:
        chosen = packages.chosen_labs(course, labs or ",".join(term.names) or "all")
    if not chosen:
        raise UsageError(f"No lab is released by week {week}.")
    for place in places:
        done = packages.class_repository(course, term, chosen, place, _wheel(wheel, term))
        counts = {
            "added": done.added, "renewed": done.renewed, "removed": done.removed
        }  # fmt: skip
        said = ", ".join(f"{len(names)} {word}" for word, names in counts.items() if names)
        click.echo(f"{place}: {said or 'nothing to do'}; labs {', '.join(chosen)}.", err=True)
        for name in done.kept:
            click.echo(f"  {place / name} was changed there, and stays as it is.", err=True)


@click.command(hidden=True)
@click.option("--settings", "settings_file", type=click.Path(path_type=Path), required=True)
@click.option("--submission", "place", type=click.Path(path_type=Path), required=True)
@options.format_of_results("gradescope")
@click.option("--output", type=click.Path(path_type=Path), required=True)
def autograder(settings_file: Path, place: Path, format_name: str, output: Path) -> None:
    """Grade a submission as a package's settings say (what run_autograder calls)."""
    from grader.packaging import autograder as platform
    from grader.pipeline import grade

    if not place.is_dir():
        raise UsageError(f"There is no folder {place} with a submission.")
    platform.use_granted_processors()
    course, settings = find_course(), packages.load_settings(settings_file)
    how = grading.options_for(course, "sim", settings.device, settings.seed)
    results = platform.grade_all(
        course,
        settings,
        how,
        place,
        lambda lab, handed_in: grade.grade(course, lab, handed_in, how),
        lambda text: click.echo(text, err=True),
    )
    failed = [result for result in results if result.status == "error"]
    if failed:
        raise GraderError(f"Lab {lab_number(failed[0].lab)}: {failed[0].message}")
    terminal.report(results, format_name, output, one=len(results) == 1)
