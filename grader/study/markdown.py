"""A study as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from grader.study.result import Study
from grader.study.seen import sentences
from grader.study.table import Table
from grader.study.tables import tables


def render(study: Study, pictures: Iterable[str] = ()) -> str:
    """The whole study; `pictures` are file names beside the text."""
    where = f"{study.device_name}, counted by the rule {study.counting_rule}"
    parts = [
        f"# A classic study on {where}",
        f"PTX for compute_{study.architecture}, {study.toolkit}.",
        *_seen(study),
        *(_table(table) for table in tables(study)),
    ]
    parts += [f"![{name}]({name})" for name in pictures]
    if study.notes:
        parts.append("\n".join(f"- {note}" for note in study.notes))
    return "\n\n".join(parts) + "\n"


def _seen(study: Study) -> list[str]:
    lines = [f"- {sentence}" for sentence in sentences(study)]
    return ["## What one sees", "\n".join(lines)] if lines else []


def _table(table: Table) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    marks = ["---" if i < table.left else "---:" for i in range(len(table.columns))]
    lines = [f"## {table.title}", "", table.introduction, "", line(table.columns), line(marks)]
    lines += [line(row) for row in table.rows]
    if table.notes:
        lines += ["", *(f"- {note}" for note in table.notes)]
    return "\n".join(lines)
