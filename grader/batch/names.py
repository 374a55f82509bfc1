"""Who an entry of an export belongs to, as its name tells.

    Canvas            doejane_LATE_4711_90210_matmul-1.cu    name, late, user id, file id, file
                      anon_x4f2q_90210_matmul.cu             graded anonymously
    Moodle            Jane Doe_4711_assignsubmission_file_/  a folder, or the start of a file's name
    Gradescope        submission_4711/                       and submission_metadata.yml beside it
    GitHub            matmul-janedoe/                        assignment, user name
    plain             anything else: the name is the student's

What follows the platform's part is the student's own name of the file, and may itself look like the
platform's: only the first part that fits counts.

Canvas: lib/content_zipper.rb of canvas-lms (older versions write `late`); Moodle: folder names of
mod/assign; GitHub: `gh classroom clone student-repos` clones into ASSIGNMENT-submissions/.
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass, field

PLATFORMS = ("canvas", "moodle", "gradescope", "github", "plain")

_IDS = ("user", "sid", "email", "username")  # the most certain first
_CANVAS = re.compile(
    r"^(?P<name>.+?)(?:_(?P<late>late|LATE))?_(?P<user>[0-9]+)_(?P<file>[0-9]+)_(?P<rest>.+)$"
)
_CANVAS_ANONYMOUS = re.compile(
    # A student may be called Anon, and be late: late_12_34_ is no id of an anonymous one.
    r"^(?:(?P<late>late|LATE)_)?anon_(?!(?:late|LATE)_[0-9]+_[0-9]+_)(?P<user>[A-Za-z0-9]+)_(?P<file>[0-9]+)_(?P<rest>.+)$"
)
_MOODLE_MARK = r"_(?P<user>[0-9]+)_assignsubmission_(?:file|onlinetext)"
_MOODLE = re.compile(rf"^(?P<name>.+?){_MOODLE_MARK}(?:_(?P<rest>.*))?$", re.DOTALL)
_GRADESCOPE = re.compile(r"^submission_(?P<number>[0-9]+)$")
# What Canvas adds to a file's name when it is handed in again under the same name.
_AGAIN = re.compile(r"^(?P<stem>.+)-(?P<number>[1-9]\d*)(?P<suffix>\.[^.]+)$")


@dataclass(frozen=True)
class Student:
    """Whom a result belongs to."""

    platform: str  # of PLATFORMS
    name: str  # as the platform writes it
    ids: dict[str, str] = field(default_factory=dict)  # "user", "email", "sid", "username", ...

    @property
    def identity(self) -> str:
        """The same for two entries of the same student, and only for those."""
        for kind in (*_IDS, "submission"):
            if self.ids.get(kind):
                return f"{kind} {self.ids[kind].lower()}"
        return f"name {self.name}"

    @property
    def known_as(self) -> set[str]:
        """Whatever tells this student from others; lists may know some of these only."""
        return {self.identity} | {
            f"{kind} {self.ids[kind].lower()}" for kind in _IDS if self.ids.get(kind)
        }


@dataclass(frozen=True)
class Named:
    """What an entry's name says."""

    student: Student
    late: bool = False
    file_name: str = ""  # the student's own name of the file; "" where the entry is a folder
    order: int = 0  # a later entry of the same student has a larger one
    imitates: str = ""  # the student's own name of the file names another student: this id
    submitted: str = ""  # when, as the platform writes it


def canvas(name: str) -> Named | None:
    """Of a file's name in Canvas's download, or None."""
    found = _CANVAS_ANONYMOUS.match(name)
    if found:
        student = Student("canvas", f"anonymous {found['user']}", {"user": found["user"]})
    else:
        found = _CANVAS.match(name)
        if not found:
            return None
        student = Student("canvas", found["name"], {"user": found["user"]})
    return Named(student, found["late"] is not None, found["rest"], int(found["file"]))


def moodle(name: str) -> Named | None:
    """Of a folder's or a file's name in Moodle's download, or None."""
    found = _MOODLE.match(name)
    if not found:
        return None
    student = Student("moodle", found["name"], {"user": found["user"]})
    rest = found["rest"] or ""
    other = re.search(_MOODLE_MARK, f"_{rest}", re.DOTALL)
    return Named(student, file_name=rest, imitates=other["user"] if other else "")


def gradescope_number(name: str) -> int | None:
    """4711 of submission_4711, or None."""
    found = _GRADESCOPE.match(name)
    return int(found["number"]) if found else None


def github(name: str, assignment: str) -> Named | None:
    """Of a repository's name, if it is one of this assignment."""
    user = name.removeprefix(f"{assignment}-")
    if not assignment or user == name or not user:
        return None
    student = Student("github", user, {"username": user, "repository": name})
    return Named(student)


def plain(name: str) -> Named:
    """A name that follows no platform's rule is the student's."""
    stem = re.sub(r"\.(cu(\.txt)?|zip)$", "", name, flags=re.IGNORECASE)
    return Named(Student("plain", stem))


def handed_in_again(file_name: str) -> tuple[str, int]:
    """A file's name without Canvas's mark of a new version, and the version: 0 for the first."""
    found = _AGAIN.match(file_name)
    if not found:
        return file_name, 0
    return found["stem"] + found["suffix"], int(found["number"])


def common_assignment(repositories: list[str]) -> str:
    """The assignment's name that at least three repositories share: "matmul" of matmul-ann, ..."""
    if len(repositories) < 3:
        return ""
    shared = repositories[0]
    for name in repositories[1:]:
        while not name.startswith(shared):
            shared = shared[:-1]
    return shared.rpartition("-")[0]


def file_key(text: str) -> str:
    """The text as a file's name that every system takes: letters, digits, `-`, `_` and `.`."""
    kept = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", text)).strip("-.")[:80]
    return kept.strip("-.") or "unnamed"


def folded(key: str) -> str:
    """The same for two file names that some system takes for one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())


# Letters that are no letter with an accent.
_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i"}
)


def sort_key(text: str) -> tuple[str, str]:
    """Where a name stands in a list for people: accents and capitals count last."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    letters = "".join(mark for mark in plain if not unicodedata.combining(mark))
    return letters, text


def as_text(name: str) -> str:
    """A file's name as the system gives it, without bytes that are no text."""
    return os.fsencode(name).decode("utf-8", errors="replace")
