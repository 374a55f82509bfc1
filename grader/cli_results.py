"""Commands about results that exist already, and about platforms: write, explain, package.

What they share with `grader run` is imported when they run: grader.cli imports this module.
"""

from __future__ import annotations

from pathlib import Path

import click

from grader.errors import GraderError, UsageError

FORMATS = ("text", "json", "junit", "html", "markdown", "gradescope", "classroom", "autolab")

_output_option = click.option(
    "--output", type=click.Path(path_type=Path), help="Write the report to this file."
)
_weights_option = click.option(
    "--weights", default="", help="Points of labs, as 01=10,02=20. Default: 100 each."
)
_device_option = click.option("--device", help="Device file whose limits hold, such as h200.")
_seed_option = click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the input data. Default: 1."
)


@click.command()
@click.argument("result", type=click.Path(path_type=Path))
@click.option("--format", "format_name", type=click.Choice(FORMATS), default="text")
@_output_option
@_weights_option
def write(result: Path, format_name: str, output: Path | None, weights: str) -> None:
    """Write RESULT, a file of --format json, in another format. Grades nothing."""
    from grader import cli, stored
    from grader.course import find_course
    from grader.weights import parse, weigh

    cli.check_folder_of(output)
    found = stored.load(result)
    points = parse(weights, find_course()) if weights else {}
    results = [weigh(item, points) for item in found.results]
    cli.report(results, format_name, output, one=found.one)


@click.command()
@click.argument("what", metavar="RESULT|LAB")
@click.option(
    "--submission", type=click.Path(path_type=Path), help="With LAB: what to grade. Default: labs/."
)
@_device_option
@_seed_option
@_weights_option
@click.option("--hidden", is_flag=True, help="Show what is hidden from students, and the seed.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text")
@_output_option
def explain(
    what: str,
    submission: Path | None,
    device: str | None,
    seed: int | None,
    weights: str,
    hidden: bool,
    format_name: str,
    output: Path | None,
) -> None:
    """Say why each point was lost: in RESULT, a file of --format json, or in LAB, graded now."""
    import json

    from grader import cli, lost_points, stored
    from grader.course import find_course
    from grader.hidden import for_students
    from grader.weights import parse, weigh

    cli.check_folder_of(output)
    course = find_course()
    if Path(what).is_file() or what.endswith(".json"):
        results = stored.load(Path(what)).results
    else:
        options = cli.grading_options(course, "sim", device, seed)
        results = [cli.grade_one(course, course.lab_folder(what), submission, options, one=True)]
    points = parse(weights, course)
    results = [weigh(item, points) for item in results]
    shown = results if hidden else [for_students(item) for item in results]
    losses = [lost_points.explain(item, with_seed=hidden) for item in shown]
    if format_name == "json":
        text = json.dumps(lost_points.to_dict(losses), indent=2, ensure_ascii=False) + "\n"
    else:
        text = lost_points.to_text(losses)
    cli.deliver(text, output)


@click.group()
def package() -> None:
    """Make what another platform needs to grade with this course."""


@package.command("gradescope")
@click.option("--labs", default="all", show_default=True, help="Labs to grade, as 01,02.")
@_weights_option
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=540,
    show_default=True,
    help="Time for all labs of one submission.",
)
@_device_option
@_seed_option
@click.option(
    "--output", type=click.Path(path_type=Path), default="gradescope.zip", show_default=True
)
def package_gradescope(
    labs: str, weights: str, seconds: float, device: str | None, seed: int | None, output: Path
) -> None:
    """Write the zip that Gradescope takes as an autograder. It holds the seed: keep it private."""
    from grader import cli
    from grader import package as packages
    from grader.course import find_course
    from grader.options import DEFAULT_DEVICE, DEFAULT_SEED
    from grader.toolchain import capability
    from grader.weights import parse

    course = find_course()
    cli.check_folder_of(output)
    capability(course, device or DEFAULT_DEVICE)  # refuses a device that there is not
    settings = packages.Settings(
        packages.chosen_labs(course, labs),
        parse(weights, course),
        DEFAULT_SEED if seed is None else seed,
        device or DEFAULT_DEVICE,
        seconds,
    )
    names = packages.gradescope(course, settings, output)
    click.echo(f"{output}: {len(names)} files; labs {', '.join(settings.labs)}.", err=True)


@package.command("class")
@click.option("--labs", default="all", show_default=True, help="Labs to hand out, as 01,02.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder to make.")
def package_class(labs: str, output: Path) -> None:
    """Make a repository for students: skeletons, handouts, the grader, pipelines; no solutions."""
    from grader import cli
    from grader import package as packages
    from grader.course import find_course

    course = find_course()
    cli.check_folder_of(output)
    chosen = packages.chosen_labs(course, labs)
    files = packages.class_repository(course, chosen, output)
    click.echo(f"{output}: {files} files; labs {', '.join(chosen)}.", err=True)


@click.command(hidden=True)
@click.option("--settings", "settings_file", type=click.Path(path_type=Path), required=True)
@click.option("--submission", "place", type=click.Path(path_type=Path), required=True)
@click.option("--format", "format_name", type=click.Choice(FORMATS), default="gradescope")
@click.option("--output", type=click.Path(path_type=Path), required=True)
def autograder(settings_file: Path, place: Path, format_name: str, output: Path) -> None:
    """Grade a submission as a package's settings say (what run_autograder calls)."""
    from grader import autograder as platform
    from grader import cli, grade
    from grader.course import find_course
    from grader.package import load_settings

    if not place.is_dir():
        raise UsageError(f"There is no folder {place} with a submission.")
    platform.use_granted_processors()
    course, settings = find_course(), load_settings(settings_file)
    options = cli.grading_options(course, "sim", settings.device, settings.seed)
    results = platform.grade_all(
        course,
        settings,
        options,
        place,
        lambda lab, handed_in: grade.grade(course, lab, handed_in, options),
        lambda text: click.echo(text, err=True),
    )
    failed = [result for result in results if result.status == "error"]
    if failed:
        raise GraderError(f"Lab {failed[0].lab[:2]}: {failed[0].message}")
    cli.report(results, format_name, output, one=len(results) == 1)


COMMANDS = (write, explain, package, autograder)
