"""`grader exam`: the questions of the quiz on paper."""

from __future__ import annotations

from pathlib import Path

import click

from grader.batch.roster import read_roster
from grader.commands import options
from grader.errors import UsageError
from grader.labs.course import find_course
from grader.machine.toolchain import write_atomically
from grader.quiz import bank
from grader.quiz import exam as exams


@click.command()
@click.option(
    "--students", type=click.Path(path_type=Path), required=True,
    help="The platform's list (CSV), or a .txt file with a name in each line.",
)  # fmt: skip
@options.seed
@click.option("--labs", default="all", show_default=True, help="Such as 01,02,machine.")
@click.option("--questions", "count", type=click.IntRange(1), default=10, show_default=True)
@click.option("--title", default="GPU matrix multiplication", show_default=True)
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder to make.")
def exam(students: Path, seed: int | None, labs: str, count: int, title: str, output: Path) -> None:
    """Make paper exams: for each student the same questions with other numbers, and a key.

    Writes papers.html and key.html, to be printed by a browser, and papers/ and key/ with the same
    as Markdown.
    """
    names = _names(students)
    topics = bank.topics_of(find_course(), labs)
    if output.exists():
        raise UsageError(f"{output} exists already: name a folder that does not.")
    seed = 1 if seed is None else seed
    pool = [question for question in bank.QUESTIONS if question.topic in topics]
    made = exams.papers(exams.choose(pool, count, seed), names, seed)
    files = {
        "papers.html": exams.html(made, title, key=False),
        "key.html": exams.html(made, title, key=True),
    }
    for paper in made:
        files[f"papers/{paper.file}.md"] = exams.markdown(paper, title, key=False)
        files[f"key/{paper.file}.md"] = exams.markdown(paper, title, key=True)
    try:
        for name in ("papers", "key"):
            (output / name).mkdir(parents=True)
        for name, text in files.items():
            write_atomically(output / name, text)
    except OSError as error:
        raise UsageError(f"{output} cannot be made: {error.strerror}.") from None
    click.echo(f"{len(made)} papers of {count} questions, and the key, are in {output}.", err=True)


def _names(path: Path) -> list[str]:
    if path.suffix.lower() != ".txt":
        names = [item.student.name for item in read_roster(path).listed]
    else:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UsageError(
                f"{path} cannot be read: {(error.strerror or 'failure').lower()}."
            ) from None
        except UnicodeDecodeError:
            raise UsageError(f"{path} is not UTF-8 text.") from None
        names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        raise UsageError(f"{path} names no students.")
    return names
