"""Which of the files that a student handed in is which lab's.

The most certain sign comes first: `02-tiled-kernel/matmul.cu` anywhere in what was handed in, a
folder with the lab's number, a file with the lab's number. Only where one lab is graded does a
lone `matmul.cu`, or the only .cu file there is, count without such a sign.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.batch.names import as_text
from grader.labs.course import EXERCISES
from grader.labs.submission import FILE_NAME
from grader.text import lab_number

_MAX_DEPTH = 6
_MAX_FILES = 2000  # of those that may count
_MAX_OTHERS = 20  # that are only named in a reason
# Not the student's own work, or not work at all; `solutions` comes with a clone of the course.
_SKIPPED = frozenset({"solutions", "build", "node_modules", "__MACOSX", "__pycache__"})
# What mail programs, browsers and platforms make of matmul.cu: matmul.cu.txt, matmul (1).cu,
# matmul-1.cu.
_SOURCE = re.compile(r"^(?P<stem>.+?)(?:-[1-9]\d*| ?\(\d+\))?\.cu(?:\.txt)?$", re.IGNORECASE)
# A lab's number has one digit or two: a name that begins with more, "30271_matmul.cu", begins with
# its student's number or with a date.
_PART = re.compile(r"[a-z0-9]+")
_NUMBERED = re.compile(r"^(?:lab)?[ _-]*0*(?P<number>[0-9]{1,2})(?:[ _-].*)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A file that was handed in."""

    shown: str  # its path as the student would write it: "lab02/matmul.cu"
    path: Path  # where it lies here

    @property
    def parts(self) -> tuple[str, ...]:
        return PurePosixPath(self.shown).parts

    @property
    def rank(self) -> tuple[int, str]:
        """The least deep first, then by name."""
        return len(self.parts), self.shown


def walk(folder: Path) -> list[Candidate]:
    """The files below a folder; links are listed and never followed. Raises OSError."""

    def fail(error: OSError) -> None:
        raise error

    found: list[Candidate] = []
    others: list[Candidate] = []
    for place, folders, files in os.walk(folder, onerror=fail):
        relative = PurePosixPath(Path(place).relative_to(folder).as_posix())
        depth = len(relative.parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < _MAX_DEPTH and name not in _SKIPPED and not name.startswith(".")
        )
        for name in sorted(files):
            if not is_litter(name):
                item = Candidate(as_text(str(relative / name)), Path(place) / name)
                wanted = is_source(name) or name.lower().endswith(".zip")
                (found if wanted else others).append(item)
    return found[:_MAX_FILES] + others[:_MAX_OTHERS]


def is_litter(name: str) -> bool:
    """What operating systems leave in folders and archives."""
    return name.startswith("._") or name in (".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX")


def is_source(name: str) -> bool:
    """Whether a file of this name can be a kernel's source."""
    return _SOURCE.match(name) is not None


def original(name: str) -> str:
    """The name that a source had before a platform, a browser or a mail program changed it."""
    found = _SOURCE.match(name)
    return f"{found['stem']}.cu" if found else name


def for_labs(
    candidates: Sequence[Candidate], labs: Sequence[str]
) -> tuple[dict[str, Candidate], list[str]]:
    """The file of each of these labs (folder names) that has one, and what was decided."""
    sources = [item for item in candidates if is_source(item.parts[-1])]
    chosen: dict[str, Candidate] = {}
    notes: list[str] = []
    for lab in labs:
        found = _signed(sources, lab)
        signed = bool(found)
        if not signed and len(labs) == 1:
            found = _unsigned(sources, lab)
        if not found:
            continue
        chosen[lab] = found[0]
        if len(found) > 1:
            notes.append(f"{found[0].shown} was graded, not {_listed(found[1:])}")
        elif not signed and original(found[0].parts[-1]) != FILE_NAME:
            notes.append(f"{found[0].shown} was taken for {FILE_NAME}")
    return chosen, notes


def _signed(sources: list[Candidate], lab: str) -> list[Candidate]:
    """The files that name this lab, all of the most certain kind."""
    number = _number((lab,))
    named = [item for item in sources if original(item.parts[-1]) == FILE_NAME]
    kinds = (
        [item for item in named if item.parts[-2:-1] == (lab,)],
        [item for item in named if _is_called(lab, number, item.parts[-2:-1])],
        [item for item in sources if _is_called(lab, number, (_stem(item.parts[-1]),))],
    )
    found = next((kind for kind in kinds if kind), [])
    # labs/02-.../matmul.cu is a working copy of the course, whatever else lies beside it.
    return sorted(
        found,
        key=lambda item: (
            not {"labs", EXERCISES} & set(item.parts),
            item.parts[-1] != FILE_NAME,
            *item.rank,
        ),
    )


def _unsigned(sources: list[Candidate], lab: str) -> list[Candidate]:
    """matmul.cu, else the only .cu file; neither if it lies in another lab's folder."""
    free = _free(sources, lab)
    named = [item for item in free if original(item.parts[-1]) == FILE_NAME]
    if named:
        return sorted(named, key=lambda item: (item.parts[-1] != FILE_NAME, *item.rank))
    return free if len(free) == 1 else []


def _free(sources: list[Candidate], lab: str) -> list[Candidate]:
    """Those that do not lie in a folder of another lab and do not bear its number."""
    numbers = (None, _number((lab,)))
    return [
        item
        for item in sources
        if all(_number((_stem(x),)) in numbers for x in item.parts)
        and item.parts[-3:-2] != (EXERCISES,)
    ]


def _is_called(lab: str, number: int | None, names: Sequence[str]) -> bool:
    """Whether a folder or a file bears a lab's number; an exercise without one is known by its name."""
    if number is not None:
        return _number(names) == number
    return bool(names) and _PART.findall(names[0].lower()) == _PART.findall(lab)


def _stem(name: str) -> str:
    return original(name).removesuffix(".cu") if is_source(name) else name


def _number(names: Sequence[str]) -> int | None:
    """The lab's number that a folder's or a file's name begins with: 2 of "lab02", "2", "02-x"."""
    found = _NUMBERED.match(names[0]) if names else None
    return int(found["number"]) if found else None


def why_nothing(candidates: Sequence[Candidate], labs: Sequence[str]) -> str:
    """One sentence: why no lab has a file."""
    if not candidates:
        return "Nothing was handed in: the entry is empty."
    sources = [item for item in candidates if is_source(item.parts[-1])]
    if not sources:
        return f"There is no .cu file, only {_listed(candidates)}."
    if len(labs) > 1:
        return (
            f"{_listed(sources)} cannot be told to belong to a lab: expected {labs[0]}/{FILE_NAME}"
            " and so on, or one lab chosen with --labs."
        )
    if not _free(sources, labs[0]):
        return f"There is nothing for lab {lab_number(labs[0])}, only {_listed(sources)}."
    return f"Of {_listed(sources)}, none is {FILE_NAME}, and there is more than one."


def _listed(items: Sequence[Candidate]) -> str:
    names = [item.shown for item in items[:3]]
    more = f" and {len(items) - 3} more" if len(items) > 3 else ""
    return ", ".join(names) + more
