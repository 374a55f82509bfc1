"""A study for a terminal."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from grader.study.result import Study
from grader.study.seen import sentences
from grader.study.table import Table
from grader.study.tables import tables
from grader.writers import Style


def render(study: Study, style: Style) -> str:
    file = io.StringIO()
    console = Console(
        file=file,
        width=style.width,
        force_terminal=style.color,
        color_system="standard" if style.color else None,
        no_color=not style.color,
        highlight=False,
    )
    seen = sentences(study)
    if seen:
        console.print("What one sees", style="bold", markup=False)
        for sentence in seen:
            console.print(f"- {sentence}", markup=False)
        console.print()
    for table in tables(study):
        _show(console, table, style)
    for note in study.notes:
        console.print(note, markup=False)
    return file.getvalue()


def _show(console: Console, table: Table, style: Style) -> None:
    console.print(table.title, style="bold", markup=False)
    console.print(table.introduction, markup=False)
    drawn = RichTable(
        box=box.SIMPLE if style.unicode else box.ASCII, pad_edge=False, collapse_padding=True
    )
    for number, name in enumerate(table.columns):
        drawn.add_column(name, justify="left" if number < table.left else "right")
    for row in table.rows:
        drawn.add_row(*row)
    console.print(drawn)
    for note in table.notes:
        console.print(f"- {note}", markup=False)
    console.print()
