"""Unpacking a zip that somebody else made, without trusting a word of it.

Nothing is written outside the target folder, no links or devices are made, and what comes out is
bounded whatever the archive's headers claim: sizes are counted while the data is read. A zip that
breaks a rule is refused as a whole, with one sentence for the student.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.errors import SubmissionError

_CHUNK_BYTES = 64 * 1024
_MOST_NAME_BYTES = 200  # of one part of a path; file systems stop at 255
# Deflate cannot do better than 1032; a text as repetitive as source gets may reach 30.
_RATIO_FROM_BYTES = 1 << 20  # small files may well be empty lines


@dataclass(frozen=True)
class UnpackLimits:
    """What an archive may hold; the defaults are for one student's zip."""

    archive_bytes: int = 32 << 20
    directory_bytes: int = 1 << 20  # of the archive's own table of contents
    files: int = 2000  # entries, folders included
    total_bytes: int = 64 << 20  # unpacked
    ratio: float = 200  # of unpacked to packed size, for more than 1 MiB
    depth: int = 12  # parts of a path


def is_zip(path: Path) -> bool:
    """Whether a regular file begins as a zip does; its name does not matter."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(4) in (b"PK\3\4", b"PK\5\6")
    except OSError:
        return False


def unpack(archive: Path, folder: Path, limits: UnpackLimits | None = None) -> list[Path]:
    """Unpacks into `folder`, which must not exist yet; returns the files, relative to it, sorted.

    Leaves the whole folder or nothing. What systems add by themselves (`__MACOSX`, `.git`, `._x`)
    is left out. Raises SubmissionError if the zip breaks a rule or is damaged.
    """
    limits = limits or UnpackLimits()
    shown = os.fsencode(archive.name).decode("utf-8", errors="replace")
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".unpack-", dir=folder.parent))
    try:
        _check_outside(archive, limits)
        with zipfile.ZipFile(archive) as opened:
            files = _planned(opened.infolist(), limits)
            _extract(opened, files, scratch, limits)
        scratch.chmod(0o755)
        scratch.rename(folder)
    except _RefusedError as refused:
        raise SubmissionError(f"{shown} cannot be unpacked: {refused}.") from None
    except (
        zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError, ValueError,
        OverflowError, RuntimeError, MemoryError, LookupError, TypeError, AttributeError,
    ):  # fmt: skip
        raise SubmissionError(f"{shown} is damaged, or no zip at all: pack it again.") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return sorted(Path(name) for name in files)


class _RefusedError(Exception):
    """Why, as the end of a sentence."""


def _check_outside(archive: Path, limits: UnpackLimits) -> None:
    """Before the table of contents is read: it alone could fill the memory."""
    state = archive.lstat()
    if not stat.S_ISREG(state.st_mode):
        raise _RefusedError("it is a link or another special file")
    if state.st_size > limits.archive_bytes:
        raise _RefusedError(f"it is larger than {_mebibytes(limits.archive_bytes)}")
    with archive.open("rb") as file:
        file.seek(max(0, state.st_size - _END_BYTES - _MOST_COMMENT_BYTES - _ZIP64_BYTES))
        tail = file.read()
    # Readers differ in where they look for the end record; every place that one may take must do.
    places = {tail.rfind(_END), len(tail) - _END_BYTES}
    ends = [at for at in places if at >= 0 and tail.startswith(_END, at)]
    if not ends or any(len(tail) < at + _END_BYTES for at in ends):
        raise zipfile.BadZipFile
    for at in ends:
        for entries, directory_bytes in _claims(tail, at):
            if directory_bytes > limits.directory_bytes:
                raise _RefusedError("its table of contents is too large")
            if entries > limits.files:
                raise _RefusedError(f"it holds more than {limits.files} files")


_END, _ZIP64_LOCATOR, _ZIP64_END = b"PK\5\6", b"PK\6\7", b"PK\6\6"
_END_BYTES, _LOCATOR_BYTES, _ZIP64_END_BYTES = 22, 20, 56
_ZIP64_BYTES = _LOCATOR_BYTES + _ZIP64_END_BYTES
_MOST_COMMENT_BYTES = 1 << 16


def _claims(tail: bytes, end: int) -> Iterator[tuple[int, int]]:
    """Entries and bytes of the table of contents, as the end record at `end` has them, and as the
    zip64 record before it does, which counts instead wherever there is one."""
    here, entries, directory_bytes = struct.unpack_from("<HHL", tail, end + 8)
    if directory_bytes == 0xFFFFFFFF or entries == 0xFFFF:
        raise _RefusedError("it is of the kind for very large archives (zip64)")
    yield max(here, entries), directory_bytes
    locator = end - _LOCATOR_BYTES
    if locator < 0 or not tail.startswith(_ZIP64_LOCATOR, locator):
        return
    record = locator - _ZIP64_END_BYTES
    if record < 0 or not tail.startswith(_ZIP64_END, record):
        raise zipfile.BadZipFile
    here, entries, directory_bytes = struct.unpack_from("<QQQ", tail, record + 24)
    yield max(here, entries), directory_bytes


def _planned(entries: list[zipfile.ZipInfo], limits: UnpackLimits) -> dict[str, zipfile.ZipInfo]:
    """The files to write by their cleaned names; every entry is held to the rules."""
    if len(entries) > limits.files:
        raise _RefusedError(f"it holds more than {limits.files} files")
    files: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        parts = _parts(entry.filename)
        _check_entry(entry, len(parts), limits)
        if not parts or entry.is_dir() or entry.filename.endswith("\\") or _is_added(parts):
            continue
        name = "/".join(parts)
        if name in files:
            raise _RefusedError(f"it holds {_show(name)} twice")
        files[name] = entry
    for name in files:
        above = name.rsplit("/", 1)[0]
        while above != name:
            if above in files:
                raise _RefusedError(f"{_show(above)} is both a file and a folder in it")
            name, above = above, above.rsplit("/", 1)[0]
    return files


def _parts(name: str) -> list[str]:
    """A path's parts. Windows' separators count as such: some platforms write them."""
    if re.match(r"[/\\]|[A-Za-z]:", name):
        raise _RefusedError(f"it holds the absolute path {_show(name)}")
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".")]
    for part in parts:
        if part == "..":
            raise _RefusedError(f"it holds the path {_show(name)}, which leads out of it")
        if len(part.encode(errors="replace")) > _MOST_NAME_BYTES:
            raise _RefusedError("it holds a file whose name is too long")
        if not part.isprintable():
            raise _RefusedError(f"it holds the name {_show(part)} with unprintable characters")
    return parts


def _check_entry(entry: zipfile.ZipInfo, depth: int, limits: UnpackLimits) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise _RefusedError(f"{_show(entry.filename)} is a link in it")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _RefusedError(f"{_show(entry.filename)} is no ordinary file")
    if entry.flag_bits & 1:
        raise _RefusedError("it has a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _RefusedError("it is packed by an unusual method")
    if depth > limits.depth:
        raise _RefusedError(f"its folders lie deeper than {limits.depth} levels")


def _is_added(parts: list[str]) -> bool:
    """What operating systems and git add, and nobody hands in."""
    return (
        parts[0] == "__MACOSX"
        or ".git" in parts
        or parts[-1].startswith("._")
        or parts[-1] in (".DS_Store", "Thumbs.db", "desktop.ini")
    )


def _extract(
    opened: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo], folder: Path, limits: UnpackLimits
) -> None:
    total = 0
    for name, entry in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with opened.open(entry) as packed, os.fdopen(os.open(target, flags, 0o644), "wb") as out:
            written = 0
            while chunk := packed.read(_CHUNK_BYTES):
                written += len(chunk)
                total += len(chunk)
                if total > limits.total_bytes:
                    allowed = _mebibytes(limits.total_bytes)
                    raise _RefusedError(f"more than {allowed} come out of it")
                packed_bytes = max(1, entry.compress_size)
                if written > _RATIO_FROM_BYTES and written > limits.ratio * packed_bytes:
                    raise _RefusedError(f"{_show(name)} grows more than {limits.ratio:g} times")
                out.write(chunk)


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):g} MiB"


def _show(name: str) -> str:
    text = ascii(name)[1:-1]
    return f"'{text if len(text) <= 60 else text[:57] + '...'}'"
