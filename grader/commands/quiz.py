"""`grader quiz`: predict first, then see."""

from __future__ import annotations

import getpass
import json
import textwrap
from pathlib import Path

import click

from grader.commands import options, terminal
from grader.errors import ExitCode, UsageError
from grader.labs.course import Course, find_course
from grader.quiz import answers, bank, stats, taken
from grader.quiz.question import WAYS, Asked, pose
from grader.writers import Style


class _Quiz(click.Group):
    """`grader quiz LAB` is `grader quiz take LAB`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["take", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Quiz)
def quiz() -> None:
    """Questions whose answers the simulator computes: `grader quiz 02`.

    Also: grader quiz take --help (all options), grader quiz stats FOLDER (for instructors).
    """


student_option = click.option(
    "--student", help="Whose numbers are drawn. Default: the user's name on this machine."
)


@quiz.command()
@click.argument("lab", required=False)
@student_option
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The class's."
)
@click.option(
    "--count", type=click.IntRange(1), help="Ask so many questions. Default: all that are left."
)
@click.option("--list", "only_list", is_flag=True, help="Show the questions, and ask nothing.")
@click.option(
    "--answers", "file", type=click.Path(path_type=Path),
    help='Take answers from a JSON file, {"02.phases": "8", ...}, and ask nothing.',
)  # fmt: skip
@click.option("--show", is_flag=True, help="Show answers and explanations of what was answered.")
@click.option(
    "--again", is_flag=True, help="Ask those with a wrong answer again, with other numbers."
)
@options.format_of_results("json")
@options.output
def take(
    lab: str | None,
    student: str | None,
    seed: int,
    count: int | None,
    only_list: bool,
    file: Path | None,
    show: bool,
    again: bool,
    format_name: str,
    output: Path | None,
) -> None:
    """Answer the questions of LAB (02, machine); what was answered is kept.

    With --output the result is written as a report of any format. Status 0: all right, 1: less.
    """
    course = find_course()
    terminal.check_folder_of(output)
    if lab is None:
        raise UsageError(
            f"Say which questions: make quiz LAB=02. There are: {', '.join(bank.TOPICS)}."
        )
    topic = bank.topic_of(course, lab)
    questions = bank.of(topic)
    student = student or _user()
    done = taken.load(course, student, seed)
    if only_list:
        listed = taken.asked_of(questions, student, seed, done)
        terminal.deliver(_listed(listed, format_name if output else "text"), output)
        return
    if file is not None:
        given = taken.from_file(_read(file), questions, str(file))
        done = _judged(questions, given, student, seed, file)
    elif not show and output is None or again:
        _ask(course, topic, student, seed, done, count, again)
    asked = taken.asked_of(questions, student, seed, done)
    if show:
        terminal.show(_explained(asked, done, terminal.style()))
    title = f"Questions: {topic}"
    found = taken.result(bank.title_of(course, topic), title, asked, student, seed, done)
    if output is not None:
        terminal.report([found], format_name, output, one=True)
    click.echo(f"{found.message} {found.score:g} of {found.max_score:g} points.", err=True)
    if found.exit_code != ExitCode.FULL_MARKS:
        raise click.exceptions.Exit(found.exit_code)


@quiz.command(name="stats")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--format", "format_name", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True
)  # fmt: skip
@options.output
def statistics(folder: Path, format_name: str, output: Path | None) -> None:
    """Say how a class answered each question, from the result files below FOLDER."""
    terminal.check_folder_of(output)
    lines, results = stats.read(folder)
    text = {
        "text": lambda: stats.as_text(lines, results),
        "csv": lambda: stats.as_csv(lines),
        "json": lambda: json.dumps(stats.as_dict(lines, results), indent=1) + "\n",
    }[format_name]()
    terminal.deliver(text, output)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise UsageError(
            "Nobody is logged in under a name: say who you are, with --student."
        ) from None


def _read(file: Path) -> object:
    try:
        if file.stat().st_size > 1 << 20:
            raise UsageError(f"{file} is larger than 1 MiB: no file of answers.")
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {(error.strerror or 'failure').lower()}."
        ) from None
    except (ValueError, RecursionError):
        raise UsageError(f'{file} is not JSON: expected {{"02.phases": "8", ...}}.') from None


def _judged(questions, given: dict[str, str], student: str, seed: int, file: Path) -> taken.Answers:
    done = {}
    for question in questions:
        if question.id in given:
            try:
                done[question.id] = taken.take(pose(question, seed, student), given[question.id], 0)
            except UsageError as error:
                raise UsageError(f"{file}: {question.id}: {error}") from None
    return done


def _ask(
    course: Course,
    topic: str,
    student: str,
    seed: int,
    done: taken.Answers,
    count: int | None,
    again: bool,
) -> None:
    """Asks what is left, and keeps each answer as soon as it is given."""
    questions = [
        question
        for question in bank.of(topic)
        if question.id not in done or (again and not done[question.id].right)
    ][:count]
    style = terminal.style()
    if not questions:
        click.echo(
            "All are answered. Wrong ones again, with other numbers: --again; see them: --show.",
            err=True,
        )
    for number, question in enumerate(questions, 1):
        attempt = done[question.id].attempt + 1 if question.id in done else 0
        asked = pose(question, seed, student, attempt)
        head = f"{number} of {len(questions)}"
        terminal.show(f"\n{click.style(head, bold=True) if style.color else head}  {question.id}\n")
        terminal.show(_text(asked, style))
        try:
            answer = _prompt(asked, attempt)
        except (EOFError, KeyboardInterrupt, click.Abort):
            click.echo("\nStopped. What you have answered is kept.", err=True)
            return
        if answer is None:
            continue
        done[question.id] = answer
        taken.save(course, student, seed, done)
        terminal.show(_said(asked, answer, style))


def _prompt(asked: Asked, attempt: int) -> taken.Taken | None:
    """The first thing that is an answer; None if the question is passed over."""
    unit = f" ({asked.question.unit})" if asked.question.unit else ""
    while True:
        given = input(f"Your answer{unit}, Enter to pass over: ").strip()
        if not given:
            return None
        try:
            return taken.take(asked, given, attempt)
        except UsageError as error:
            click.echo(str(error), err=True)


def _text(asked: Asked, style: Style) -> str:
    lines = []
    is_code = False
    for line in asked.text.split("\n"):
        if line.startswith("```"):
            is_code = not is_code
        elif is_code or len(line) < style.width - 2:
            lines.append(f"  {line}".rstrip())
        else:
            lines += textwrap.wrap(line, style.width, initial_indent="  ", subsequent_indent="  ")
    lines += [f"    {chr(ord('a') + i)}) {choice}" for i, choice in enumerate(asked.choices)]
    return "\n".join(lines) + "\n"


def _said(asked: Asked, answer: taken.Taken, style: Style) -> str:
    verdict = answers.judge(asked, answer.given)
    if answer.right:
        head = (
            click.style("Right", fg="green") if style.color else "Right"
        ) + f": {answers.expected(asked)}"
    else:
        head = (
            click.style("No", fg="red") if style.color else "No"
        ) + f": {answers.expected(asked)}"
    lines = [f"{head}, {WAYS[asked.question.by]}."]
    if verdict.reason:
        lines.append(f"{answer.given}? {verdict.reason}")
    lines.append(asked.why)
    wrapped = (
        textwrap.fill(line, style.width, initial_indent="  ", subsequent_indent="  ")
        for line in lines
    )
    return "\n".join(wrapped) + "\n"


def _explained(asked: list[Asked], done: taken.Answers, style: Style) -> str:
    parts = []
    for item in asked:
        if item.question.id in done:
            answer = done[item.question.id]
            parts.append(f"{item.question.id}\n{_text(item, style)}  Your answer: {answer.given}\n")
            parts.append(_said(item, answer, style) + "\n")
    return "".join(parts) or "Nothing has been answered yet.\n"


def _listed(asked: list[Asked], format_name: str) -> str:
    """The questions without their answers."""
    if format_name == "json":
        fields = [
            {"question": item.question.id, "text": item.text, "choices": list(item.choices), "unit": item.question.unit}
            for item in asked
        ]  # fmt: skip
        return json.dumps({"schema": "tilewise.quiz-list/1", "questions": fields}, indent=1) + "\n"
    style = terminal.style()
    return "\n".join(f"{item.question.id}\n{_text(item, style)}" for item in asked)
