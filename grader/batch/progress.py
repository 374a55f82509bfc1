"""How far the batch is: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from grader.writers.plain import plain

_EVERY_SECONDS = 30


class _Lines:
    """Without a terminal."""

    def __init__(self) -> None:
        self.total = self.count = 0
        self.start = self.last = time.monotonic()

    def say(self, text: str) -> None:
        print(plain(text), file=sys.stderr, flush=True)

    def begin(self, total: int, what: str = "files to grade") -> None:
        self.total, self.count = total, 0
        self.start = self.last = time.monotonic()
        self.say(f"{total} {what}")

    def advance(self, what: str) -> None:
        self.count += 1
        now = time.monotonic()
        if self.count == self.total or now - self.last >= _EVERY_SECONDS:
            self.last = now
            self.say(f"{self.count} of {self.total} after {now - self.start:.0f} s, last {what}")


class _Bar:
    """On a terminal."""

    def __init__(self, display) -> None:
        self.display = display
        self.task = None

    def say(self, text: str) -> None:
        self.display.console.print(plain(text), highlight=False, markup=False)

    def begin(self, total: int, what: str = "files to grade") -> None:
        if self.task is not None:
            self.display.remove_task(self.task)
        self.task = self.display.add_task(what, total=total, what="")

    def advance(self, what: str) -> None:
        self.display.update(self.task, advance=1, what=what)


@contextmanager
def shown() -> Iterator[_Lines | _Bar]:
    """Progress on standard error."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[what]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as display:
        yield _Bar(display)
