"""The terminal and the report: how text looks there, and where it goes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from grader import writers
from grader.errors import UsageError
from grader.machine.toolchain import write_atomically
from grader.results.result import Result
from grader.writers import Style


def style() -> Style:
    """How standard output may look: color on a terminal only, and not with NO_COLOR."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((88, 24)).columns if is_terminal else 88
    color = is_terminal and not os.environ.get("NO_COLOR") and not is_dumb()
    return Style(width=max(50, min(width, 100)), color=color, unicode=encoding.startswith("utf"))


def rows() -> int:
    """Lines of the terminal; 24 where there is none."""
    return shutil.get_terminal_size((88, 24)).lines if sys.stdout.isatty() else 24


def is_dumb() -> bool:
    """A terminal without cursor movement and colors."""
    return os.environ.get("TERM") == "dumb"


def show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def check_folder_of(output: Path | None) -> None:
    """Refuses, before anything is graded, a file that could not be written afterwards."""
    if output is not None and not output.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {output.parent} to write {output.name} into.")


def report(
    results: Sequence[Result],
    format_name: str,
    output: Path | None,
    *,
    one: bool,
    runs: Mapping[str, str] | None = None,
) -> None:
    """Results in a format, to standard output or into a file; `runs` as in Style."""
    looks = style() if output is None else Style(runs=runs or {})
    deliver(writers.render(format_name, results, one=one, style=looks), output)


def deliver(text: str, output: Path | None) -> None:
    """A report to standard output, or whole into a file."""
    if output is None:
        show(text)
        return
    write(text, output)
    click.echo(f"The report is in {output}.", err=True)


def write(text: str, output: Path) -> None:
    """A whole file, or one sentence. Raises UsageError."""
    try:
        write_atomically(output.absolute(), text)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.") from None


@contextmanager
def status_line(lab: str) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is done for a lab, where that is a terminal."""
    if not sys.stderr.isatty() or is_dumb():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"Lab {lab}: starting ...") as status:
        yield lambda text: status.update(f"Lab {lab}: {text} ...")
