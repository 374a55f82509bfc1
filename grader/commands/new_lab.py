"""`grader new-lab`: for instructors who make a lab of their own."""

from __future__ import annotations

import click

from grader.commands import terminal
from grader.labs import new_lab as making
from grader.labs.course import find_checkout
from grader.labs.submission import shorten


@click.command("new-lab")
@click.argument("name")
def new_lab(name: str) -> None:
    """Make exercises/NAME, a lab that grades, to be changed into one of your own."""
    course = find_checkout()
    files = making.make(course, name)
    lines = [shorten(path) for path in files]
    solution = shorten(files[-1])
    lines += ["", f"Grade its solution:  .venv/bin/grader run {name} --submission {solution}"]
    lines += ["docs/writing-a-lab.md says what each line of lab.toml is for."]
    terminal.show("\n".join(lines) + "\n")
