"""`grader trace`."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import click

from grader.commands import grading, options, terminal
from grader.errors import GraderError, UsageError
from grader.labs.course import find_course
from grader.labs.lab import Lab, load_lab
from grader.labs.submission import Missing, find, read
from grader.machine.toolchain import write_atomically
from grader.trace import lines, make, perfetto, reader

FORMATS = ("trace", "perfetto", "lines")


@click.command(epilog=options.EPILOG)
@click.argument("what")
@options.submission
@click.option("--case", "case_id", help="One of the lab's cases or show cases; else the first.")
@click.option(
    "--set", "values", multiple=True, metavar="NAME=N", help="A constant's value, as TILE_WIDTH=2."
)
@click.option("--blocks", default="", help="Linear indices: 0,1 (default: all, or the first).")
@click.option("--finding", type=int, help="The blocks of this finding, from 0, instead.")
@click.option("--lines", "span", help="Only these lines: 10-20.")
@click.option("--events", default=0, help="Instructions after which the trace ends.")
@options.device
@click.option("--format", "format_name", type=click.Choice(FORMATS), default="trace")
@options.output
def trace(
    what: str,
    submission: Path | None,
    case_id: str | None,
    values: tuple[str, ...],
    blocks: str,
    finding: int | None,
    span: str | None,
    events: int,
    device: str | None,
    format_name: str,
    output: Path | None,
) -> None:
    """Trace a case of a lab (WHAT is the lab), or convert a trace (WHAT is its file)."""
    path = Path(what)
    terminal.check_folder_of(output)
    if path.is_file():
        made = reader.load(path)
    else:
        course = find_course()
        how = grading.options_for(course, "sim", device, None)
        folders = grading.folders_of(course, what)
        if len(folders) != 1:
            raise UsageError("A trace is of one lab: say which, as in grader trace 02.")
        lab = load_lab(folders[0])
        found = find(course, lab, submission, explicit_lab=True)
        if isinstance(found, Missing):
            raise GraderError(f"There is no {found.shown}.")
        wanted = _wanted(lab, case_id, values, blocks, finding, span, events)
        with terminal.status_line(lab.id) as say:
            made = make.make(course, lab, read(found).text, wanted, how, say)
    if made["is_cut"]:
        click.echo(made["cut"], err=True)
    if format_name == "perfetto":
        made = perfetto.events(reader.with_columns(made))
    elif format_name == "lines":
        made = lines.lines(reader.with_columns(made))
    text = json.dumps(made, separators=(",", ":")) + "\n"
    if output is None:
        terminal.show(text)
        return
    try:
        _write(text, output.absolute())
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.") from None
    click.echo(f"The trace is in {output}.", err=True)


def _write(text: str, path: Path) -> None:
    """In one piece, compressed where the name says so."""
    if path.suffix != ".gz":
        write_atomically(path, text)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
    temporary.replace(path)


def _wanted(
    lab: Lab,
    case_id: str | None,
    values: tuple[str, ...],
    blocks: str,
    finding: int | None,
    span: str | None,
    events: int,
) -> make.Wanted:
    show = lab.show(case_id) if case_id else next(iter(lab.shows), None)
    constants = dict(show.constants) if show else {}
    if show is not None:
        case = show.case
    else:
        case = next((case for case in lab.cases if case_id in (None, case.id)), None)
    if case is None:
        known = [item.case.id for item in lab.shows] + [c.id for c in lab.cases if not c.hidden]
        raise UsageError(f"Lab {lab.id} has no case {case_id}; there are {', '.join(known)}.")
    for one in values:
        name, _, value = one.partition("=")
        if not value.isdigit() or int(value) == 0:
            raise UsageError(f"--set {one}: expected NAME=NUMBER, as TILE_WIDTH=2.")
        constants[name] = int(value)
    return make.Wanted(
        case=case,
        constants=constants,
        blocks=tuple(_numbers(blocks, "--blocks")),
        finding=finding,
        lines=_span(span),
        events=events,
    )


def _numbers(text: str, option: str) -> list[int]:
    parts = [part for part in text.split(",") if part]
    if not all(part.isdigit() for part in parts):
        raise UsageError(f"{option} {text}: expected numbers with commas between.")
    return [int(part) for part in parts]


def _span(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    ends = _numbers(f"{first},{last or first}", "--lines")
    return ends[0], ends[1]
