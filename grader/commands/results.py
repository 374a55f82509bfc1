"""Commands about results that exist already: `grader write` and `grader explain`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from grader.commands import grading, options, terminal
from grader.labs.course import find_course
from grader.labs.weights import parse, weigh
from grader.results import lost_points, stored
from grader.results.hidden import for_students


@click.command()
@click.argument("result", type=click.Path(path_type=Path))
@options.format_of_results("text")
@options.output
@options.weights
def write(result: Path, format_name: str, output: Path | None, weights: str) -> None:
    """Write RESULT, a file of --format json, in another format. Grades nothing."""
    terminal.check_folder_of(output)
    found = stored.load(result)
    points = parse(weights, find_course()) if weights else {}
    results = [weigh(item, points) for item in found.results]
    terminal.report(results, format_name, output, one=found.one)


@click.command()
@click.argument("what", metavar="RESULT|LAB")
@click.option(
    "--submission", type=click.Path(path_type=Path), help="With LAB: what to grade. Default: labs/."
)
@options.device
@options.seed
@options.weights
@click.option("--hidden", is_flag=True, help="Show what is hidden from students, and the seed.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text")
@options.output
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

    terminal.check_folder_of(output)
    course = find_course()
    if Path(what).is_file() or what.endswith(".json"):
        results = stored.load(Path(what)).results
    else:
        how = grading.options_for(course, "sim", device, seed)
        results = [grading.grade_one(course, course.lab_folder(what), submission, how, one=True)]
    points = parse(weights, course)
    results = [weigh(item, points) for item in results]
    shown = results if hidden else [for_students(item) for item in results]
    losses = [lost_points.explain(item, with_seed=hidden) for item in shown]
    if format_name == "json":
        text = json.dumps(lost_points.to_dict(losses), indent=2, ensure_ascii=False) + "\n"
    else:
        text = lost_points.to_text(losses)
    terminal.deliver(text, output)
