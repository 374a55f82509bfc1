"""What each student of an export handed in: what there is to grade, or why there is nothing.

An entry is a file, a folder or a zip; all entries of one student belong together. Nothing that
stands in the export is dropped: what cannot be graded becomes a submission with a problem.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.batch import choose, names, platforms, unpack
from grader.batch.choose import Candidate
from grader.batch.names import Student
from grader.batch.platforms import Entry
from grader.errors import SubmissionError, UsageError
from grader.labs.submission import FILE_NAME, read, reason, shorten

_OTHER_ARCHIVES = (".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz")
_LAB_FOLDER = re.compile(r"(lab)?[ _-]*\d{1,2}(?!\d)", re.IGNORECASE)  # not a student's number
_NESTED = 2  # zips in a zip: a zip of the platform's, of the student's, of a folder in it
# Of a whole class: 2000 students with 8 MiB each.
_OF_CLASS = unpack.UnpackLimits(
    archive_bytes=16 << 30, directory_bytes=64 << 20, files=60_000, total_bytes=16 << 30, depth=16
)


@dataclass(frozen=True)
class Handed:
    """A lab's file as it was handed in: its content, or why it cannot be graded."""

    shown: str  # "lab02/matmul.cu"
    content: bytes = b""
    problem: str = ""


@dataclass(frozen=True)
class Submission:
    """All that one student handed in."""

    key: str  # file name of the student's result; unique in the class
    student: Student
    source: str  # the entries in the export
    late: bool = False
    submitted: str = ""  # when, as the platform writes it; "" where the export does not say
    files: dict[str, Handed] = field(default_factory=dict)  # by folder name of the lab
    problem: str = ""  # why there is nothing to grade
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassFolder:
    """A whole export."""

    platform: str
    submissions: tuple[Submission, ...]  # in the order of their keys
    ignored: tuple[str, ...]  # what is no student's: .DS_Store, the platform's own files


def read_class(
    export: Path,
    labs: Sequence[str],
    scratch: Path,
    usernames: Sequence[str] = (),
    nobody: Collection[str] = (),
) -> ClassFolder:
    """Reads an export: a folder, or a zip of one. `scratch` is emptied and used for unpacking.

    `usernames` are known GitHub accounts, which tell the assignment's name from the student's;
    `nobody` are identities of the platform's test student, whose entries are ignored.
    Raises UsageError if the export as a whole cannot be used.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    folder = _opened(export, scratch / "class")
    items = sorted(os.listdir(folder))
    ignored = [name for name in items if choose.is_litter(name) or name.startswith(".")]
    shown: dict[str, Path] = {}
    for name in items:
        if name not in ignored:
            shown[_another(names.as_text(name), shown)] = folder / name
    found = platforms.recognise(folder, shown, usernames)
    if not found.entries:
        raise UsageError(f"{export} holds no submission: expected a file, folder or zip a student.")
    groups: dict[str, list[Entry]] = {}
    for entry in found.entries:
        if entry.named.student.identity in nobody:
            ignored.append(f"{entry.source} (the platform's test student)")
            continue
        groups.setdefault(entry.named.student.identity, []).append(entry)
    everyone = [_any_submission(group, labs, scratch) for group in groups.values()]
    keys = file_keys([one.student for one in everyone])
    keyed = [replace(one, key=key) for one, key in zip(everyone, keys, strict=True)]
    keyed.sort(key=lambda one: one.key.casefold())
    return ClassFolder(
        found.platform, tuple(keyed), tuple(sorted([*map(names.as_text, ignored), *found.own]))
    )


def _another(text: str, taken: Mapping[str, object]) -> str:
    """The text, or one that is not taken yet."""
    number = 1
    found = text
    while found in taken:
        number += 1
        found = f"{text}~{number}"
    return found


def _opened(export: Path, scratch: Path) -> Path:
    """The folder whose items are the entries."""
    if not export.exists():
        raise UsageError(f"There is no {export}: is the path spelled right?")
    folder = export
    for depth in range(4):  # a zip in a folder, a folder in a zip, as downloads come
        if folder.is_file():
            target = scratch / str(depth)
            try:
                unpack.unpack(folder, target, _OF_CLASS)
            except SubmissionError as error:
                raise UsageError(f"{export} cannot be unpacked: {error}") from None
            folder = target
        items = [name for name in os.listdir(folder) if not choose.is_litter(name)]
        if len(items) != 1 or not _is_wrapper(folder / items[0]):
            return folder
        folder = folder / items[0]
    return folder


def _is_wrapper(path: Path) -> bool:
    """Whether a lone item is the class in one more shell, rather than a class of one student."""
    if path.is_symlink() or names.moodle(path.name) or names.canvas(path.name):
        return False
    if path.is_file():
        return path.suffix.lower() == ".zip"
    inside = [name for name in os.listdir(path) if not choose.is_litter(name)]
    if any(platforms.is_metadata(name) for name in inside):
        return True
    if any(name in ("labs", ".git", FILE_NAME) or _LAB_FOLDER.match(name) for name in inside):
        return False
    students = [
        name
        for name in inside
        if (path / name).is_dir() or name.endswith(".zip") or names.canvas(name)
    ]
    return len(students) > 1


def _any_submission(entries: Sequence[Entry], labs: Sequence[str], scratch: Path) -> Submission:
    """Of one student, whatever stands there: what nobody has thought of costs this student alone."""
    try:
        return _submission(entries, labs, scratch)
    except Exception as error:
        problem = f"What was handed in cannot be read ({type(error).__name__}): hand it in again."
        source = ", ".join(entry.source for entry in entries)
        return Submission("", entries[0].named.student, source, problem=problem)


def _submission(entries: Sequence[Entry], labs: Sequence[str], scratch: Path) -> Submission:
    """Of one student; the key is not yet known."""
    notes = [entry.note for entry in entries if entry.note]
    entries, set_aside = _own(entries)
    notes += set_aside
    entries, superseded = _latest(entries)
    notes += [f"{name} is superseded" for name in superseded]
    candidates: list[Candidate] = []
    problems: list[str] = []
    for entry in entries:
        try:
            candidates += _candidates(entry, scratch)
        except SubmissionError as error:
            problems.append(str(error))
    chosen, decided = choose.for_labs(candidates, labs)
    problem = ""
    if not chosen:
        problem = " ".join(problems) or choose.why_nothing(candidates, labs)
    elif problems:
        notes += problems
    return Submission(
        key="",
        student=entries[0].named.student,
        source=", ".join(entry.source for entry in entries),
        late=any(entry.named.late for entry in entries),
        submitted=max((entry.named.submitted for entry in entries), default=""),
        files={lab: _read(candidate) for lab, candidate in chosen.items()},
        problem=problem,
        notes=tuple(notes + decided),
    )


def _own(entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """The entries that are certainly this student's, and what is to be told of the others.

    A file's name that goes on like another student's could come from either: the platform's part
    makes it this one's, but it replaces nothing that is certain.
    """
    certain = [entry for entry in entries if not entry.named.imitates]
    told = [
        f"{entry.source} is named like a file of {entry.named.imitates} and "
        + (
            "is not graded"
            if certain
            else f"counts for {entry.named.student.ids.get('user')} alone"
        )
        for entry in entries
        if entry.named.imitates
    ]
    return certain or list(entries), told


def _latest(entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """The entries that count, and the names of those that a later one replaces."""
    if entries[0].named.student.platform == "gradescope":  # each entry is a whole submission
        ordered = sorted(entries, key=lambda entry: (entry.named.order, entry.source))
        return ordered[-1:], [entry.source for entry in ordered[:-1]]
    if entries[0].named.student.platform != "canvas":
        return list(entries), []
    newest: dict[str, Entry] = {}
    superseded = []
    for entry in sorted(entries, key=_version):
        stem = names.handed_in_again(entry.named.file_name)[0].lower()
        if stem in newest:
            superseded.append(newest[stem].named.file_name)
        newest[stem] = entry
    return sorted(newest.values(), key=lambda entry: entry.source), superseded


def _version(entry: Entry) -> tuple[int, int]:
    return names.handed_in_again(entry.named.file_name)[1], entry.named.order


def _candidates(entry: Entry, scratch: Path) -> list[Candidate]:
    """The files of one entry, those inside of archives included. Raises SubmissionError."""
    path = entry.path
    try:
        mode = path.lstat().st_mode
    except OSError:
        raise SubmissionError(f"{entry.source} is not in the export.") from None
    if stat.S_ISLNK(mode):
        raise SubmissionError(f"{entry.source} is a symbolic link: hand in the file itself.")
    if stat.S_ISDIR(mode):
        try:
            return _opened_archives(choose.walk(path), entry, scratch)
        except OSError as error:
            raise SubmissionError(f"{entry.source} cannot be read: {reason(error)}.") from None
    shown = entry.named.file_name or entry.source
    if entry.named.student.platform == "canvas":
        shown = names.handed_in_again(shown)[0]
    if entry.named.student.platform == "plain" and choose.is_source(shown):
        shown = FILE_NAME  # the file's name is the student's
    return _opened_archives([Candidate(shown, path)], entry, scratch)


def _opened_archives(
    found: list[Candidate], entry: Entry, scratch: Path, depth: int = 0
) -> list[Candidate]:
    """With the content of zips, where there is no .cu file beside them; of zips in them too."""
    if any(choose.is_source(item.parts[-1]) for item in found):
        return found
    opened: list[Candidate] = []
    for item in found:
        suffix = Path(item.parts[-1]).suffix.lower()
        if suffix in _OTHER_ARCHIVES:
            raise SubmissionError(f"{item.shown} is a {suffix} archive: hand in a zip.")
        if suffix != ".zip" and not unpack.is_zip(item.path):
            opened.append(item)
            continue
        name = hashlib.sha256(f"{entry.source}/{item.shown}".encode()).hexdigest()[:16]
        try:
            unpack.unpack(item.path, scratch / name)
        except SubmissionError as error:
            raise SubmissionError(f"{item.shown}: {names.as_text(str(error))}") from None
        inside = choose.walk(scratch / name)
        if depth < _NESTED:
            place = replace(entry, source=f"{entry.source}/{item.shown}")
            inside = _opened_archives(inside, place, scratch, depth + 1)
        opened += inside
    return opened


def _read(candidate: Candidate) -> Handed:
    try:
        return Handed(candidate.shown, read(candidate.path).content)
    except SubmissionError as error:
        problem = str(error).replace(shorten(candidate.path), candidate.shown)
        return Handed(candidate.shown, problem=names.as_text(problem))
    except Exception as error:
        problem = f"{candidate.shown} cannot be read ({type(error).__name__}): hand it in again."
        return Handed(candidate.shown, problem=problem)


def file_keys(students: Sequence[Student], taken: Collection[str] = ()) -> list[str]:
    """One file name each, different even where case does not count, and from those `taken`.

    Where two are the same, each gets a suffix of its own; a name that somebody has made up to look
    like such a suffix is one more of those that are the same, in the next round.
    """
    keys = [_key(student) for student in students]
    first = list(keys)
    others = {names.folded(key) for key in taken}
    for attempt in range(len(keys) + len(others) + 1):
        counts = Counter(names.folded(key) for key in keys)
        same = [counts[names.folded(key)] > 1 or names.folded(key) in others for key in keys]
        if not any(same):
            break
        for index, student in enumerate(students):
            if same[index]:
                # The place tells two entries of one identity apart, as a roster may have them.
                place = sum(one.identity == student.identity for one in students[:index])
                text = f"{student.identity}\0{attempt}\0{place}" if attempt or place else ""
                digest = hashlib.sha256((text or student.identity).encode("utf-8", "replace"))
                keys[index] = f"{first[index]}-{digest.hexdigest()[: 6 + attempt]}"
    return keys


def _key(student: Student) -> str:
    number = student.ids.get("user") or student.ids.get("sid") or ""
    if student.platform == "github":
        return names.file_key(student.ids.get("username") or student.name)
    return names.file_key(f"{student.name}-{number}" if number else student.name)
