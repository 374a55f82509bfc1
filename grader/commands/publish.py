"""`grader publish`: grades to the platform; without --send it says what it would do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from grader.commands import grading, options
from grader.errors import ExitCode, UsageError
from grader.labs import term as terms
from grader.labs.course import find_course
from grader.text import lab_number

_EPILOG = (
    "Exit status: 0 the platform has every grade (without --send: it could have), 2 usage,"
    " 3 somebody's grade did not get there. A run that was stopped goes on when it is started"
    " again."
)
_SHOWN = 20  # names of a list


@click.command(epilog=_EPILOG)
@click.argument(
    "graded", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="GRADED..."
)
@click.option("--send", is_flag=True, help="Send. Without it: say what would be sent.")
@click.option("--labs", help="Labs to publish: 02, or 01,02. Default: all that were graded.")
@click.option("--only", default="", help="Publish this student's grades alone: the name or an id.")
@click.option(
    "--overwrite", is_flag=True, help="Also where somebody entered something on the platform."
)
@click.option("--students", type=click.Path(path_type=Path), help="Joins ids of one student.")
@options.course_file
@click.option(
    "--journal", type=click.Path(path_type=Path),
    help="What was sent. Default: publish.jsonl beside course.toml.",
)  # fmt: skip
def publish(
    graded: tuple[Path, ...],
    send: bool,
    labs: str | None,
    only: str,
    overwrite: bool,
    students: Path | None,
    course_file: Path | None,
    journal: Path | None,
) -> None:
    """Send grades to the platform (LTI 1.3), from folders that `grader batch` filled."""
    from grader.batch import progress, termtable
    from grader.publish import grades, platform
    from grader.publish import journal as journals
    from grader.publish import send as sending

    platform.require()
    course = find_course()
    term = terms.find(course, course_file)
    if term.lti is None or term.path is None:
        raise UsageError("course.toml has no [lti]: docs/publish.md says what stands there.")
    entries = termtable.read(graded)
    everyone = termtable.people(entries, students or term.students)
    if only:
        everyone = [_one(everyone, only)]
    names = termtable.labs_of(entries)
    if labs is not None:
        wanted = [folder.name for folder in grading.folders_of(course, labs)]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise UsageError(f"Lab {lab_number(missing[0])} was not graded in {graded[0]}.")
        names = wanted
    found, without = grades.of(everyone, names, term)
    if not found:
        raise UsageError("There is no grade to publish.")
    place = journal or term.path.absolute().parent / "publish.jsonl"
    with progress.shown() as bar:
        there = platform.Platform(term.lti, bar.say)
        if not send:
            made = sending.plan(
                there, journals.read(place, term.lti.lineitems), found, term, overwrite
            )
            _say(made, without)
            click.echo("Nothing was sent: add --send.", err=True)
            sys.exit(ExitCode.MACHINE if made.unknown else ExitCode.FULL_MARKS)
        with journals.opened(place, term.lti.lineitems) as kept:
            made = sending.plan(there, kept, found, term, overwrite)
            _say(made, without)
            count = len(made.those("send")) + len(made.those("again"))
            bar.begin(count, "grades to send")
            done = sending.carry_out(there, kept, made, bar.advance)
    _list("The platform refused", done.refused)
    click.echo(f"{done.sent} grades were sent.", err=True)
    sys.exit(ExitCode.MACHINE if made.unknown or done.refused else ExitCode.FULL_MARKS)


def _one(everyone: Sequence, text: str):
    wanted = text.casefold()
    found = [
        person
        for person in everyone
        if wanted
        in {person.name.casefold(), *(alias.partition(" ")[2] for alias in person.aliases)}
        or any(entry.cells["student"].casefold() == wanted for entry in person.entries)
    ]
    if len(found) != 1:
        many = "is more than one" if found else "is nobody in these gradebooks"
        raise UsageError(f"--only '{text}' {many}.")
    return found[0]


def _say(made, without: Sequence[str]) -> None:
    """The plan, for people."""
    from grader.publish.send import NEW

    for lab, item in made.items.items():
        own = [step for step in made.steps if step.grade.lab == lab]
        counts = {what: sum(step.what == what for step in own) for what in
                  ("send", "again", "there", "left")}  # fmt: skip
        where = f"a {NEW}, Lab {lab_number(lab)}" if item == NEW else item
        said = [f"{counts['send']} to send"]
        said += [f"{counts['again']} to send again"] if counts["again"] else []
        said += [f"{counts['there']} there"] if counts["there"] else []
        said += [f"{counts['left']} left as they are on the platform"] if counts["left"] else []
        click.echo(f"{lab} of {made.most[lab]:g} points, {where}: {', '.join(said)}", err=True)
    left = [
        f"{step.grade.name}, lab {lab_number(step.grade.lab)}: {_points(step.shown)} there,"
        f" {step.grade.points:g} here"
        for step in made.those("left")
    ]
    _list("Changed on the platform, and left alone without --overwrite", left)
    _list("Without a grade to send", without)
    _list("Not found on the platform", made.unknown)


def _points(value: float | None) -> str:
    return "something" if value is None else f"{value:g}"


def _list(title: str, lines: Sequence[str]) -> None:
    from grader.writers.plain import plain

    if not lines:
        return
    click.echo(f"{title}:", err=True)
    for line in lines[:_SHOWN]:
        click.echo(f"  {plain(line)}", err=True)
    if len(lines) > _SHOWN:
        click.echo(f"  and {len(lines) - _SHOWN} more", err=True)
