"""What the student handed in: one `matmul.cu` per lab, given as a file, a lab folder or a tree."""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from grader.errors import SubmissionError
from grader.labs.course import EXERCISES, Course
from grader.labs.lab import Lab

FILE_NAME = "matmul.cu"
MAX_BYTES = 1 << 20  # a lab's file has about 5 KB


@dataclass(frozen=True)
class Submission:
    """One readable source file."""

    path: Path
    shown: str  # the path as messages and results show it
    text: str  # bytes that are not UTF-8 are replaced
    content: bytes


@dataclass(frozen=True)
class Missing:
    """A tree of labs that has no file for this lab: not started, rather than wrong."""

    path: Path
    shown: str


def find(course: Course, lab: Lab, given: Path | None, *, explicit_lab: bool) -> Path | Missing:
    """The file of one lab. `given` is --submission; None means the working copy under labs/.

    Raises SubmissionError if `given` cannot hold this lab's file. In a tree, a missing file is
    an error when this very lab was asked for, and Missing otherwise.
    """
    place = course.working_copy(lab.name).parent if given is None else given
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        raise SubmissionError(f"There is no {place}: is the path spelled right?") from None
    except OSError as error:
        raise SubmissionError(f"{place} cannot be read: {reason(error)}.") from None
    if not stat.S_ISDIR(mode):
        if not explicit_lab:
            raise SubmissionError(f"{place} is one file: say which lab it is for, as in LAB=02.")
        return place
    own = _own_folder(course, lab, place)
    tree_file = own / FILE_NAME
    if own.is_dir():
        if _exists(tree_file):
            return tree_file
    elif explicit_lab and _exists(place / FILE_NAME):
        return place / FILE_NAME
    elif not explicit_lab and not _looks_like_tree(course, place):
        if _exists(place / FILE_NAME):
            raise SubmissionError(f"{place} is one lab's folder: say which lab, as in LAB=02.")
        raise SubmissionError(
            f"{place} holds neither a {FILE_NAME} nor lab folders such as {lab.name}/."
        )
    if explicit_lab:
        raise SubmissionError(f"{place} holds no {lab.name}/{FILE_NAME} and no {FILE_NAME}.")
    return Missing(tree_file, shorten(tree_file))


def read(path: Path) -> Submission:
    """Reads the file. Raises SubmissionError, one sentence, if it cannot be a source file."""
    shown = shorten(path)
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            raise SubmissionError(f"{shown} is a symbolic link: hand in the file itself.")
        if stat.S_ISDIR(mode):
            raise SubmissionError(f"{shown} is a folder, and a file is expected.")
        if not stat.S_ISREG(mode):
            raise SubmissionError(f"{shown} is not a regular file.")
        if path.stat().st_size > MAX_BYTES:
            raise SubmissionError(
                f"{shown} is larger than {MAX_BYTES >> 20} MiB: not a source file."
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise SubmissionError(f"There is no {shown}.") from None
    except OSError as error:
        raise SubmissionError(f"{shown} cannot be read: {reason(error)}.") from None
    content = _utf8(content)
    if not content.strip():
        raise SubmissionError(f"{shown} is empty: has it been saved?")
    if b"\0" in content or _share_of_control_bytes(content) > 0.05:
        raise SubmissionError(f"{shown} is a binary file, and CUDA source is expected.")
    return Submission(path.resolve(), shown, content.decode("utf-8", errors="replace"), content)


def _utf8(content: bytes) -> bytes:
    """Without a byte-order mark. UTF-16, as some editors on Windows save, becomes what nvcc reads."""
    if content.startswith(codecs.BOM_UTF8):
        return content.removeprefix(codecs.BOM_UTF8)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return content.decode("utf-16").encode()
        except UnicodeDecodeError:
            return content
    return content


def shorten(path: Path) -> str:
    """The path relative to the working folder if it is inside it, else as it is."""
    absolute = Path(os.path.abspath(path))
    try:
        return str(absolute.relative_to(Path.cwd()))
    except ValueError:
        return str(absolute)


def reason(error: OSError) -> str:
    """ "permission denied" rather than "[Errno 13] Permission denied: ..."."""
    return (error.strerror or "an input/output error").lower()


def _own_folder(course: Course, lab: Lab, place: Path) -> Path:
    """A lab's folder in a tree laid out like labs/; an exercise's may lie in exercises/ beside that."""
    own = place / lab.name
    beside = place.parent / EXERCISES / lab.name
    is_exercise = course.folder(lab.name).parent == course.exercises
    if is_exercise and place.name == course.labs.name and not own.is_dir():
        return beside
    return own


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _looks_like_tree(course: Course, place: Path) -> bool:
    return any((place / name).is_dir() for name in course.all_names())


def _share_of_control_bytes(content: bytes) -> float:
    control = sum(content.count(byte) for byte in range(32) if byte not in b"\t\n\v\f\r\x1a")
    return control / len(content)
