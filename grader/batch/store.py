"""The batch's folder: what is already graded, written so that a kill at any moment does no harm.

    OUTPUT/gradebook*.csv summary.md summary.json      for the instructor
    OUTPUT/results/KEY.json        all that is known of one student's work, hidden cases included
    OUTPUT/feedback/KEY.html       the same for the student, without what is hidden
    OUTPUT/feedback/runs/          pages in which kernels run, with --show
    OUTPUT/.batch/lock             held while a batch runs; the system frees it with the process
    OUTPUT/.batch/run.json         what the last batch graded with: its fingerprint
    OUTPUT/.batch/files/KEY.cu     the content of a unit
    OUTPUT/.batch/units/KEY.json   the result of a unit, with a checksum
    OUTPUT/.batch/errors/KEY.json  the same where the grader failed: it is tried again next time
    OUTPUT/.batch/shown/KEY.html   a unit's page of its kernel, with --show
    OUTPUT/.batch/cache/           compiled files and scratch folders of workers
    OUTPUT/.batch/unpacked/        the export's archives, unpacked anew by each batch

Files come into being under another name and are renamed when they are complete; nothing depends
on a process's number, and whatever a killed batch left behind is removed by the next.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.batch.units import Fingerprint, Unit
from grader.errors import GraderError, UsageError
from grader.labs.submission import reason

SCHEMA = "tilewise.batch-unit/1"
_MARK = ".batch"


@dataclass(frozen=True)
class GradedUnit:
    """How grading a unit ended; kept only if it is a statement about the submission."""

    result: dict[str, Any]  # grader.results.result.to_dict
    seconds: float  # wall time of grading
    limit_seconds: float | None = None  # set if the whole grading ran into this limit


@dataclass(frozen=True)
class Store:
    """The folder of one batch."""

    output: Path

    @property
    def state(self) -> Path:
        return self.output / _MARK

    @property
    def forms(self) -> dict[Path, str]:
        """The folders of what is written for each student, and the formats."""
        return {self.output / "results": "json", self.output / "feedback": "html"}

    @property
    def runs(self) -> Path:
        """The pages in which kernels run, for students."""
        return self.output / "feedback" / "runs"

    def shown(self, key: str) -> Path:
        return self.state / "shown" / f"{key}.html"

    @property
    def cache(self) -> Path:
        return self.state / "cache"

    @property
    def unpacked(self) -> Path:
        return self.state / "unpacked"

    def content(self, key: str) -> Path:
        return self.state / "files" / f"{key}.cu"

    def unit(self, key: str, *, error: bool = False) -> Path:
        return self.state / ("errors" if error else "units") / f"{key}.json"

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Makes the folder the batch's own while it runs. Raises UsageError if it cannot be."""
        try:
            self._claim()
            lock = (self.state / "lock").open("w")
        except OSError as error:
            raise UsageError(f"{error.filename} cannot be written: {reason(error)}.") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"Another batch is writing to {self.output}.") from None
            self._tidy()
            yield

    def _claim(self) -> None:
        if self.output.exists():
            if not self.output.is_dir():
                raise UsageError(f"{self.output} is a file: --output needs a folder.")
            if not self.state.is_dir() and any(self.output.iterdir()):
                raise UsageError(
                    f"{self.output} holds something else: --output needs an empty or new folder,"
                    " or one that a batch wrote."
                )
        self.state.mkdir(parents=True, exist_ok=True)
        for name in ("cache", "files", "units", "errors", "shown"):
            (self.state / name).mkdir(exist_ok=True)
        for folder in self.forms:
            folder.mkdir(exist_ok=True)

    def _tidy(self) -> None:
        """Removes what a batch that was killed left: all of it is scratch by its name."""
        for folder in (self.output, *self.forms, self.runs, self.state, *self.state.iterdir()):
            if folder.is_dir():
                for path in folder.glob(".*.tmp"):
                    path.unlink(missing_ok=True)
        for path in (self.state / "errors").iterdir():
            path.unlink()
        for pattern in ("run-*", "compile-*"):
            for path in self.cache.glob(pattern):
                shutil.rmtree(path, ignore_errors=True)

    def put_content(self, unit: Unit) -> None:
        path = self.content(unit.key)
        if not path.is_file() or path.read_bytes() != unit.content:
            write(path, unit.content)

    def load(self, key: str, limit_seconds: float, *, error: bool = False) -> GradedUnit | None:
        """A unit's result, or None: not graded, damaged, or stopped by a lower limit than this."""
        try:
            fields = json.loads(self.unit(key, error=error).read_text(encoding="utf-8"))
            record = GradedUnit(**fields["record"])
            complete = (
                fields["schema"] == SCHEMA
                and fields["key"] == key
                and fields["sha256"] == _checksum(fields["record"])
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
        stopped_early = record.limit_seconds is not None and record.limit_seconds < limit_seconds
        return record if complete and not stopped_early else None

    def save(self, key: str, record: GradedUnit) -> None:
        """Keeps a result; one with the status "error" is kept apart, and not for good."""
        path = self.unit(key, error=record.result["status"] == "error")
        fields = asdict(record)
        text = {"schema": SCHEMA, "key": key, "sha256": _checksum(fields), "record": fields}
        write(path, json.dumps(text).encode())

    def last_fingerprint(self) -> Fingerprint | None:
        """What the batch before graded with; None if there was none."""
        try:
            return Fingerprint(**json.loads((self.state / "run.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def remember(self, fingerprint: Fingerprint) -> None:
        write(self.state / "run.json", json.dumps(asdict(fingerprint), indent=1).encode())

    def remove_results_but(self, keys: set[str]) -> None:
        """Removes what was written for students who are not in the class any more."""
        for folder, form in self.forms.items():
            for path in folder.glob(f"*.{form}"):
                if path.name.removesuffix(f".{form}") not in keys:
                    path.unlink(missing_ok=True)


def write(path: Path, content: bytes) -> None:
    """Writes a whole file or none, and nothing where it is already so."""
    with suppress(OSError):
        if path.read_bytes() == content:
            return
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise GraderError(f"{path} cannot be written: {reason(error)}.") from None


def _checksum(record: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
