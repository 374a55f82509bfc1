"""`grader course`: the term as a whole."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from grader.commands import options, terminal
from grader.errors import ExitCode, UsageError
from grader.labs import term as terms
from grader.labs.course import find_course
from grader.text import lab_number


@click.group()
def course() -> None:
    """The term: what course.toml says, all labs in one table, the class on one page."""


@course.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@options.course_file
def check(file: Path | None, course_file: Path | None) -> None:
    """Say everything that is wrong with course.toml, or FILE, and what it means."""
    if file and course_file:
        raise UsageError("FILE and --course name the same thing: give one of them.")
    found = find_course()
    path = file or course_file or found.root / terms.FILE_NAME
    term, problems = terms.read(found, path)
    if problems:
        for problem in problems:
            click.echo(f"{path}: {problem}", err=True)
        sys.exit(ExitCode.USAGE)
    lines = [term.name or "A course without a name", ""]
    for plan in sorted(term.labs, key=lambda plan: plan.lab):
        release = f"released {plan.release:%a %d %b %Y %H:%M}" if plan.release else "released"
        due = f"due {plan.due:%a %d %b %Y %H:%M %Z}" if plan.due else "never late"
        lines.append(f"  {plan.lab:<24} {plan.points:>6g} points  {release}, {due}")
    lines += ["", f"  {sum(plan.points for plan in term.labs):g} points in all"]
    if term.late:
        last = term.late.last_day
        end = f", none after {last} days" if last is not None else ""
        lines.append(
            f"  late: {term.late.per_day:g}% a day, at most {term.late.cap:g}%{end};"
            f" {term.late.grace} of grace"
        )
    terminal.show("\n".join(lines) + "\n")


@course.command()
@options.submission
@options.course_file
def labs(submission: Path | None, course_file: Path | None) -> None:
    """Name the labs to grade now: those that course.toml has released, or that have a folder."""
    found = find_course()
    term = terms.find(found, course_file)
    now = datetime.now(UTC)
    if term.labs:
        names = [
            name
            for name in term.names
            if (release := term.plan(name).release) is None or release <= now
        ]
    else:
        place = submission or found.working_copies
        names = found.handed_out_in(place)
    if not names:
        raise UsageError("There is no lab to grade: none is released, and none has a folder.")
    # With a comma even for one: a list, in which a lab that is missing is no mistake of the caller.
    terminal.show(
        ",".join(lab_number(name) for name in names) + ("," if len(names) == 1 else "") + "\n"
    )


@course.command()
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path("lti-key.pem"), show_default=True,
    help="File of the private key; an old one is kept and shown.",
)  # fmt: skip
def key(output: Path) -> None:
    """Make the key that `grader publish` signs with; prints the half that the platform gets."""
    import json
    import os

    from grader.publish import platform

    platform.require()
    if not output.exists():
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        terminal.check_folder_of(output)
        text = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        try:
            handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"{output} cannot be written: {error.strerror}.") from None
    terminal.show(json.dumps({"keys": [platform.public_key(output)]}, indent=2) + "\n")
    click.echo(f"The private key is in {output}: keep it to yourself.", err=True)


_BATCHES = click.argument(
    "graded", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="GRADED..."
)


@course.command()
@_BATCHES
@click.option("--students", type=click.Path(path_type=Path), help="Joins ids of one student.")
@options.course_file
@click.option("--output", type=click.Path(path_type=Path), help="CSV file to write.")
def table(
    graded: tuple[Path, ...], students: Path | None, course_file: Path | None, output: Path | None
) -> None:
    """One table of all labs from folders that `grader batch` filled."""
    from grader.batch import termtable

    terminal.check_folder_of(output)
    term = terms.find(find_course(), course_file)
    entries = termtable.read(graded)
    everyone = termtable.people(entries, students or term.students)
    terminal.deliver(termtable.table(everyone, termtable.labs_of(entries), term), output)


@course.command()
@_BATCHES
@click.option("--students", type=click.Path(path_type=Path), help="Joins ids of one student.")
@click.option("--for-students", is_flag=True, help="Without names and links: to show in class.")
@options.course_file
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Page to write.")
def page(
    graded: tuple[Path, ...],
    students: Path | None,
    for_students: bool,
    course_file: Path | None,
    output: Path,
) -> None:
    """The class on one HTML page, from folders that `grader batch` filled."""
    from grader.batch import classpage, termtable

    terminal.check_folder_of(output)
    found = find_course()
    term = terms.find(found, course_file)
    entries = termtable.read(graded)
    everyone = termtable.people(entries, students or term.students)
    text = classpage.render(
        found, term, everyone, termtable.labs_of(entries), output, names=not for_students
    )
    terminal.deliver(text, output)
