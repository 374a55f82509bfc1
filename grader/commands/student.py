"""What only students call: `grader status`, `hint` and `watch`."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import click

from grader import writers
from grader.commands import grading, options, terminal
from grader.commands.screen import Screen
from grader.errors import GraderError, UsageError
from grader.labs import submission as submissions
from grader.labs import term as terms
from grader.labs.course import Course, find_course
from grader.labs.lab import Lab, load_lab
from grader.labs.options import Options
from grader.quiz import taken
from grader.quiz.bank import QUESTIONS
from grader.results.result import Result
from grader.student import hints, last, progress, summary
from grader.student.watch import Actions, Watch, keyboard


@click.command()
@options.output
def status(output: Path | None) -> None:
    """Show where you are in the course; with --output, a summary to keep."""
    course = find_course()
    terminal.check_folder_of(output)
    if output is not None:
        terminal.deliver(summary.page(course), output)
        return
    sys.stdout.write(progress.overview(course, terminal.style()))
    sys.stdout.write(taken.overview(course, QUESTIONS))


@click.command()
@click.argument("lab", required=False)
@options.submission
def hint(lab: str | None, submission: Path | None) -> None:
    """Give the next hint for what fails in LAB: the concept, then the place, then the line.

    Without LAB it is the lab that was graded last. A file that has not changed since is not graded
    again.
    """
    course = find_course()
    folder = course.lab_folder(lab) if lab else _recent(course, "hint")
    result = grading.last_of(course, folder) if submission is None else None
    if result is None:
        result = grading.grade_one(
            course, folder, submission, grading.options_for(course, "sim", None, None), one=True
        )
    click.echo(_give_hint(course, folder.name, result, remembers=submission is None))


def _recent(course: Course, command: str) -> Path:
    name = last.recent(course)
    if name is None:
        raise UsageError(f"No lab has been graded yet: say which one, as in make {command} LAB=02.")
    return course.folder(name)


def _limited(course: Course, lab: Lab) -> Lab:
    """With as many tiers of hints as course.toml gives in graded work."""
    term = terms.find(course)
    if term.hints is None or lab.name not in term.names:
        return lab
    kept = [replace(hint, tiers=hint.tiers[: term.hints]) for hint in lab.hints if term.hints]
    return replace(lab, hints=tuple(kept))


def _give_hint(course: Course, lab: str, result: Result, *, remembers: bool) -> str:
    graded = _limited(course, load_lab(course.folder(lab)))
    given = hints.next_hint(graded, result, progress.load(course), remembers)
    if given.state is not None:
        progress.save(course, given.state)
    width = terminal.style().width
    return "\n".join(textwrap.fill(line, width) for line in given.text.splitlines())


@click.command()
@click.argument("lab", required=False)
@options.backend
@options.device
def watch(lab: str | None, backend: str, device: str | None) -> None:
    """Grade LAB again whenever you save it; single keys give hints, the next lab, the list.

    Without LAB it is the lab that was graded last.
    """
    course = find_course()
    folder = course.lab_folder(lab) if lab else _recent(course, "watch")
    screen = Screen(course, device)
    actions = _watch_actions(course, grading.options_for(course, backend, device, None), screen)
    try:
        with keyboard() as key:
            loop = Watch(folder.name, actions, terminal.show, key)
            loop.loop()
    finally:
        screen.close()
    terminal.show(progress.overview(course, terminal.style()))


def _watch_actions(course: Course, how: Options, screen: Screen):
    """What the loop may ask for; a failure becomes text, so that watching goes on."""

    def attempt(lab: str) -> tuple[Result | None, str]:
        try:
            result = grading.grade_one(course, course.folder(lab), None, how, one=True)
        except GraderError as error:
            return None, f"{error}\n"
        return result, ""

    before: dict[str, Result] = {}

    def run(lab: str) -> tuple[str, bool]:
        from grader.writers import brief

        result, text = attempt(lab)
        if result is not None:
            text = brief.render(result, before.get(lab), terminal.style(), terminal.rows())
            before[lab] = result
        screen.result = result
        clear = "\x1b[2J\x1b[H" if sys.stdout.isatty() and not terminal.is_dumb() else ""
        return clear + text, result is not None and result.status == "passed"

    def full(lab: str) -> str:
        if lab not in before:
            return "There is no report yet.\n"
        return writers.render("text", [before[lab]], one=True, style=terminal.style())

    def hint(lab: str) -> str:
        result, text = grading.last_of(course, course.folder(lab)), ""
        if result is None:
            result, text = attempt(lab)
        return text if result is None else _give_hint(course, lab, result, remembers=True)

    def following(lab: str) -> str | None:
        names = course.lab_names()
        return dict(zip(names, names[1:], strict=False)).get(lab)

    return Actions(
        file=lambda lab: course.working_copy(lab) / submissions.FILE_NAME,
        run=run,
        full=full,
        hint=hint,
        overview=lambda: progress.overview(course, terminal.style()),
        following=following,
        view=screen.open,
        follow=screen.follow,
    )
