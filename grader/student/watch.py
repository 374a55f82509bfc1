"""`grader watch`: grade again whenever the file is saved, and answer single keys in between.

The file is looked at a few times a second rather than through the system's file events, which do
not arrive on network drives and in containers. What counts is the content: saving without a
change does nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.3
SETTLE_SECONDS = 0.1  # editors write in pieces: a change counts when it has stayed this long
KEYS = "f full report   r run again   h hint   v see it run   n next lab   l all labs   q quit"


@dataclass
class Actions:
    """What the loop can ask for; each returns text to show."""

    file: Callable[[str], Path]  # of a lab
    run: Callable[[str], tuple[str, bool]]  # in short, and whether the lab has full marks
    full: Callable[[str], str]  # the whole report of the last run
    hint: Callable[[str], str]
    overview: Callable[[], str]
    following: Callable[[str], str | None]  # the lab after this one
    view: Callable[[str], str]  # opens the page in which the kernel runs
    follow: Callable[[str], None]  # shows the newest version there, once it is open


class Watch:
    """The loop. `key` waits up to the given seconds and returns a key, "" for none, None at the end
    of input."""

    def __init__(
        self,
        lab: str,
        actions: Actions,
        show: Callable[[str], None],
        key: Callable[[float], str | None],
    ) -> None:
        self.lab, self.actions, self.show, self.key = lab, actions, show, key
        self.passed = False
        self.seen: str | None = None

    def loop(self) -> None:
        """Until q is pressed or the input ends."""
        self.grade()
        while (key := self.key(POLL_SECONDS)) is not None:
            if key == "q":
                return
            if key:
                self.press(key)
            elif self.changed():
                self.grade()

    def changed(self) -> bool:
        """Whether the file has new content that has settled."""
        now = self.fingerprint()
        if now is None or now == self.seen:
            return False
        self.key(SETTLE_SECONDS)
        return self.fingerprint() == now

    def fingerprint(self) -> str | None:
        """Hash of the file; None while it cannot be read, as between two steps of an editor."""
        try:
            return hashlib.sha256(self.actions.file(self.lab).read_bytes()).hexdigest()
        except OSError:
            return None

    def grade(self) -> None:
        self.seen = self.fingerprint()
        text, self.passed = self.actions.run(self.lab)
        self.show(f"{text}\n{KEYS}\n")
        self.actions.follow(self.lab)

    def press(self, key: str) -> None:
        match key:
            case "r":
                self.grade()
            case "f":
                self.show(f"{self.actions.full(self.lab)}\n{KEYS}\n")
            case "h":
                self.show(f"{self.actions.hint(self.lab)}\n")
            case "v":
                self.show(f"{self.actions.view(self.lab)}\n")
            case "l":
                self.show(self.actions.overview())
            case "n":
                self.next_lab()
            case _:
                self.show(f"{KEYS}\n")

    def next_lab(self) -> None:
        following = self.actions.following(self.lab)
        if following is None:
            self.show("This is the last lab.\n")
            return
        if not self.passed:
            self.show("This lab does not have full marks yet; going on all the same.\n")
        self.lab = following
        self.grade()


@contextlib.contextmanager
def keyboard() -> Iterator[Callable[[float], str | None]]:
    """Single keys from a terminal, without the return key; whole lines where there is none."""
    stream = sys.stdin.fileno()
    restore = None
    if os.isatty(stream):
        import termios
        import tty

        before = termios.tcgetattr(stream)
        restore = lambda: termios.tcsetattr(stream, termios.TCSADRAIN, before)  # noqa: E731
        tty.setcbreak(stream)

    def key(seconds: float) -> str | None:
        ready, _, _ = select.select([stream], [], [], seconds)
        if not ready:
            return ""
        read = os.read(stream, 1).decode(errors="replace")
        if read in ("", "\x04"):
            return None
        return read.strip().lower()

    try:
        yield key
    finally:
        if restore is not None:
            restore()
