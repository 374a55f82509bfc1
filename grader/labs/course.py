"""Where things are: the labs, the solutions, the build, the cache, the student's progress."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from grader import INSTALLED
from grader.errors import CourseError, UsageError

EXERCISES = "exercises"
RELEASE = "tilewise-release.json"  # of a class repository: what was handed out


@dataclass(frozen=True)
class Course:
    """A checkout of the course, or what a wheel has of it. All paths are absolute.

    `build` is ours to write to, and may not exist yet.
    """

    root: Path
    build: Path
    given_programs: Path | None = field(default=None, kw_only=True)
    given_work: Path | None = field(default=None, kw_only=True)

    @property
    def labs(self) -> Path:
        return self.root / "labs"

    @property
    def exercises(self) -> Path:
        """Labs beside the ladder: graded by their names alone."""
        return self.root / EXERCISES

    @property
    def programs(self) -> Path:
        """The folder with bin/ and lib/ of our C++ programs."""
        return self.given_programs or self.build

    @property
    def work(self) -> Path:
        """The student's folder: labs/ with working copies, progress, course.toml."""
        return self.given_work or self.root

    @property
    def working_copies(self) -> Path:
        return self.work / "labs"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def include(self) -> Path:
        """What a student's file may include."""
        return self.root / "common" / "include"

    @property
    def cache(self) -> Path:
        """Where compiled files and scratch folders go: in build/, where this user may write there."""
        usual = self.build / "cache"
        writable = usual if usual.exists() else self.build
        if not writable.exists() or os.access(writable, os.W_OK):
            return usual
        return _own_cache(self.build)

    @property
    def progress(self) -> Path:
        return self.work / ".tilewise"

    def lab_names(self) -> list[str]:
        """Folder names of all labs that have a lab.toml, in order."""
        return sorted(path.parent.name for path in self.labs.glob("*/lab.toml"))

    def exercise_names(self) -> list[str]:
        """Folder names of the labs beside the ladder."""
        return sorted(path.parent.name for path in self.exercises.glob("*/lab.toml"))

    def folder(self, name: str) -> Path:
        """Of a lab or an exercise, by the folder's name."""
        is_exercise = (self.exercises / name / "lab.toml").is_file()
        return (self.exercises if is_exercise else self.labs) / name

    def working_copy(self, name: str) -> Path:
        """The folder of a student's file of a lab or an exercise."""
        return self.work / self.folder(name).relative_to(self.root)

    def all_names(self) -> list[str]:
        """Labs by number, then exercises without one."""
        return sorted([*self.lab_names(), *self.exercise_names()])

    def handed_out(self) -> list[str]:
        """What there are working copies of; all labs of the course if there are none."""
        return self.handed_out_in(self.working_copies) or self.lab_names()

    def handed_out_in(self, place: Path) -> list[str]:
        """What a folder laid out like labs/ holds; in a class repository with the exercises beside it,
        which only a class repository has because somebody chose them."""
        names = [name for name in self.lab_names() if (place / name).is_dir()]
        beside = place.parent / EXERCISES
        if (place.parent / RELEASE).is_file():
            names += [name for name in self.exercise_names() if (beside / name).is_dir()]
        return sorted(names)

    def lab_folder(self, lab: str) -> Path:
        """The folder of a lab given by number ("2", "02") or folder name, or of an exercise."""
        names = self.lab_names()
        matches = [name for name in names if _is_called(name, lab)]
        if len(matches) == 1:
            return self.labs / matches[0]
        exercises = self.exercise_names()
        matches = [name for name in exercises if _is_called(name, lab)]
        if len(matches) == 1:
            return self.exercises / matches[0]
        names += exercises
        if not names:
            raise CourseError(f"There are no labs under {self.labs}.")
        close = difflib.get_close_matches(lab, names, n=1, cutoff=0.4)
        hint = f" Did you mean {close[0]}?" if close else f" There are: {', '.join(names)}."
        raise UsageError(f"There is no lab '{lab}'.{hint}")


def _is_called(name: str, lab: str) -> bool:
    if name == lab:
        return True
    number = re.match(r"\d+", name)
    return number is not None and lab.isdigit() and int(number[0]) == int(lab)


def find_course(start: Path | None = None) -> Course:
    """The checkout: $TILEWISE_ROOT, else the one around the working folder, else the grader's own.

    The build folder is $TILEWISE_BUILD or `build` in the checkout. A grader from a wheel has a course
    of its own, and always its own programs; working copies are then those around the working folder.
    """
    here = (start or Path.cwd()).resolve()
    given = os.environ.get("TILEWISE_ROOT")
    own = INSTALLED if INSTALLED.is_dir() else INSTALLED.parents[1]
    candidates = [Path(given)] if given else [here, *here.parents, own]
    for root in candidates:
        if (root / "labs").is_dir() and (root / "common").is_dir():
            return _course(root.resolve(), here)
    raise CourseError(
        f"{candidates[0]} is not a checkout of the course: it has no labs/ and common/."
        " Run the command inside the checkout, or set TILEWISE_ROOT."
    )


def find_checkout() -> Course:
    """Raises UsageError where there is only what a wheel has of the course."""
    course = find_course()
    if course.root == INSTALLED:
        raise UsageError("This is done in a checkout of the course: a wheel has no sources.")
    return course


def _course(root: Path, here: Path) -> Course:
    build = os.environ.get("TILEWISE_BUILD")
    if not INSTALLED.is_dir():
        return Course(root, Path(build or root / "build").resolve())
    programs = installed_programs()
    if root != INSTALLED:
        return Course(root, Path(build or root / "build").resolve(), given_programs=programs)
    around = (folder for folder in (here, *here.parents) if (folder / "labs").is_dir())
    work = next(around, here)
    state = Path(build).resolve() if build else _own_state(work)
    return Course(root, state, given_programs=programs, given_work=work)


def _own_cache(build: Path) -> Path:
    """Of a user of a checkout that another has set up; without a home, in the folder for temporary files."""
    name = hashlib.sha256(os.fsencode(build)).hexdigest()[:12]
    try:
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewise" / name
        place.mkdir(parents=True, exist_ok=True)
        if os.access(place, os.W_OK):
            return place.resolve()
    except (OSError, RuntimeError):  # a user without a home
        pass
    place = Path(tempfile.gettempdir()) / f"tilewise-{os.getuid()}-{name}"
    try:
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
        found = place.lstat()
    except OSError:
        found = None
    # Somebody else may have made it, to put programs there.
    if found is None or not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise CourseError(
            f"Neither {build} nor {place} can be written to: name a folder of yours with XDG_CACHE_HOME."
        )
    return place


def _own_state(work: Path) -> Path:
    """Where a grader without a checkout keeps what it compiled."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewise"
        cache.mkdir(parents=True, exist_ok=True)
        if os.access(cache, os.W_OK):
            return cache.resolve()
    except (OSError, RuntimeError):  # a user without a home
        pass
    return work / ".tilewise" / "build"


def installed_programs(cpu_information: Path = Path("/proc/cpuinfo")) -> Path:
    """The programs of the wheel that this processor runs best: folders are named by what it must have.

    avx512 and avx2 are the levels x86-64-v4 and x86-64-v3; baseline runs everywhere.
    """
    try:
        text = cpu_information.read_text(errors="replace")
    except OSError:
        text = ""
    line = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    has = set(line[1].split()) if line else set()
    places = INSTALLED / "programs"
    for name, needs in _LEVELS.items():
        if needs <= has and (places / name).is_dir():
            return places / name
    return places / "baseline"


_AVX2 = frozenset("avx avx2 bmi1 bmi2 f16c fma abm movbe xsave".split())
_LEVELS = {
    "avx512": _AVX2 | frozenset("avx512f avx512bw avx512cd avx512dq avx512vl".split()),
    "avx2": _AVX2,
}
