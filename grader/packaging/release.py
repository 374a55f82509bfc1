"""Handing out week by week: a class repository is made once, and brought up to date later.

What the last release wrote is listed in it, with a checksum a file. An update adds what is new and
renews what is as we left it. A file that somebody changed, or that was there before, is a
student's: it is never touched, and named instead; nor is any kernel of a lab or an exercise, ever.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import UsageError
from grader.labs.course import EXERCISES
from grader.labs.course import RELEASE as LIST
from grader.labs.submission import FILE_NAME

SCHEMA = "tilewise.release/1"
_THEIRS = ("labs/", f"{EXERCISES}/")  # where students work


@dataclass(frozen=True)
class File:
    """One file to hand out."""

    content: bytes
    executable: bool = False


@dataclass
class Done:
    """What an update did, as relative paths."""

    added: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # ours is newer, but somebody changed it


def listed(files: Mapping[str, File], labs: tuple[str, ...]) -> File:
    """The list that goes with the files."""
    sums = {name: _digest(file.content) for name, file in sorted(files.items())}
    fields = {"schema": SCHEMA, "labs": list(labs), "files": sums}
    return File((json.dumps(fields, indent=1) + "\n").encode())


def is_repository(folder: Path) -> bool:
    return (folder / LIST).is_file()


def labs_of(folder: Path) -> tuple[str, ...]:
    """The labs that were handed out before."""
    return tuple(_read(folder)["labs"])


def update(folder: Path, files: Mapping[str, File], labs: tuple[str, ...]) -> Done:
    """Brings a class repository up to date. Raises UsageError if it is none, or cannot be written.

    Stopped on the way and called again, it goes on: the list is written last.
    """
    before: dict[str, str] = _read(folder)["files"]
    done = Done()
    try:
        for name, file in sorted(files.items()):
            _renew(folder, name, file, before.get(name), done)
        for name in sorted(before.keys() - files.keys()):
            path = _place(folder, name)
            ours = path.is_file() and _digest(path.read_bytes()) == before[name]
            if ours and not name.startswith(_THEIRS):
                path.unlink()
                done.removed.append(name)
        write(folder / LIST, listed(files, labs))
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder} cannot be written: {error.strerror}."
        ) from None
    return done


def _renew(folder: Path, name: str, file: File, before: str | None, done: Done) -> None:
    path = _place(folder, name)
    is_kernel = name.startswith(_THEIRS) and name.endswith(f"/{FILE_NAME}")
    if path.is_file():
        now = _digest(path.read_bytes())
        if now == _digest(file.content):
            return
        if is_kernel:
            return
        if now != before:
            done.kept.append(name)
            return
        done.renewed.append(name)
    elif is_kernel and before is not None:  # a student took it away
        return
    else:
        done.added.append(name)
    write(path, file)


def _place(folder: Path, name: str) -> Path:
    """Where a file lies. A link on the way could lead anywhere, and is refused."""
    path = folder
    for part in Path(name).parts:
        path = path / part
        if path.is_symlink():
            raise UsageError(f"{path} is a symbolic link: take it away, then update again.")
    if path.is_dir():
        raise UsageError(f"{path} is a folder, where a file of the course belongs.")
    return path


def write(path: Path, file: File) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(file.content)
        os.chmod(name, 0o755 if file.executable else 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(folder: Path) -> dict:
    try:
        fields = json.loads((folder / LIST).read_text(encoding="utf-8"))
        if fields["schema"] == SCHEMA and isinstance(fields["files"], dict):
            return {"labs": list(fields["labs"]), "files": fields["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise UsageError(
        f"{folder} exists already and is no class repository: it has no {LIST} of ours."
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
