"""What was sent: a line before each request, and one when its end is known.

PUBLISH.jsonl is only appended to, and every line is on the disk before the next step. A last line
that a kill has cut is cut off: what it speaks of had not begun, or is in doubt by the line before.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

from grader.errors import GraderError, UsageError

SCHEMA = "tilewise.publish/1"
_SAME = 0.005  # points; platforms round


def same(points: float | None, other: float | None) -> bool:
    return points is not None and other is not None and abs(points - other) <= _SAME


@dataclass(frozen=True)
class Score:
    """One grade of one student, as it is sent."""

    item: str  # the line item's address
    user: str  # the platform's id
    student: str  # for people: the name
    points: float
    most: float
    timestamp: str  # the platform refuses an older one


@dataclass
class Past:
    """What the journal knows of one student and line item."""

    sent: Score | None = None  # the last that the platform has
    doubtful: Score | None = None  # sent perhaps
    last: str = ""  # the latest timestamp that was used


class Journal:
    """The file, held by one process."""

    def __init__(
        self, content: bytes, path: Path, lineitems: str, file: IO[bytes] | None = None
    ) -> None:
        """Of the whole lines of a file. Without `file` nothing can be added."""
        self._file = file
        self._path = path
        self.past: dict[tuple[str, str], Past] = {}
        for number, line in enumerate(content.splitlines(), 1):
            try:
                self._read(json.loads(line), lineitems)
            except (ValueError, KeyError, TypeError):
                raise UsageError(
                    f"{path}, line {number}, is no line of a journal: it is not known what was"
                    " sent. Restore the file, or move it away: then what the platform shows"
                    " already is not sent again, and what differs from it is left alone."
                ) from None
        if file and not content:
            self._append({"what": "journal", "schema": SCHEMA, "lineitems": lineitems})

    def _read(self, fields: dict[str, Any], lineitems: str) -> None:
        what = fields.pop("what")
        if what == "journal":
            if fields["schema"] != SCHEMA or fields["lineitems"] != lineitems:
                raise UsageError(
                    f"{self._path} is the journal of another course, {fields['lineitems']}: name"
                    " another file with --journal."
                )
            return
        if what == "send":
            self._note(what, Score(**fields))
            return
        past = self.past[fields["item"], fields["user"]]
        if what not in ("sent", "refused") or past.doubtful is None:
            raise ValueError
        self._note(what, past.doubtful)

    def _note(self, what: str, score: Score) -> None:
        past = self.past.setdefault((score.item, score.user), Past())
        past.last = score.timestamp
        past.doubtful = score if what == "send" else None
        if what == "sent":
            past.sent = score

    def of(self, item: str, user: str) -> Past:
        return self.past.get((item, user), Past())

    def timestamp(self, item: str, user: str, now: datetime | None = None) -> str:
        """Of a new score: later than any before it, by a second, since some platforms drop the rest."""
        moment = now or datetime.now(UTC)
        last = self.of(item, user).last
        if last:
            moment = max(moment, datetime.fromisoformat(last) + timedelta(seconds=1))
        return moment.isoformat(timespec="milliseconds")

    def send(self, score: Score) -> None:
        """Before the request."""
        self._append({"what": "send", **asdict(score)})
        self._note("send", score)

    def sent(self, score: Score, how: str = "") -> None:
        """The platform has it."""
        self._end("sent", score, how)

    def refused(self, score: Score, why: str) -> None:
        """The platform has said that it will not have it."""
        self._end("refused", score, why)

    def _end(self, what: str, score: Score, how: str) -> None:
        self._append({"what": what, "item": score.item, "user": score.user, "how": how})
        self._note(what, score)

    def _append(self, fields: dict[str, Any]) -> None:
        assert self._file is not None, "a journal that was only read"
        try:
            self._file.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise GraderError(
                f"{self._path} cannot be written: {(error.strerror or 'failure').lower()}."
                " Nothing more was sent."
            ) from None


@contextmanager
def opened(path: Path, lineitems: str) -> Iterator[Journal]:
    """The journal, made if there is none. Raises UsageError if it cannot be had."""
    try:
        file = path.open("a+b")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {(error.strerror or 'failure').lower()}."
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"Another `grader publish` is writing to {path}.") from None
        file.seek(0)
        content = file.read()
        whole = _whole(content)
        if len(whole) < len(content):
            file.truncate(len(whole))
        yield Journal(whole, path, lineitems, file)


def read(path: Path, lineitems: str) -> Journal:
    """The journal as it is, for a dry run: nothing is written."""
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {(error.strerror or 'failure').lower()}."
        ) from None
    return Journal(_whole(content), path, lineitems)


def _whole(content: bytes) -> bytes:
    """Without a last line that a kill has cut."""
    return content[: content.rfind(b"\n") + 1]
