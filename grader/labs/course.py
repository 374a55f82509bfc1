"""Where things are: the labs, the solutions, the build, the cache, the student's progress."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from grader.errors import CourseError, UsageError


@dataclass(frozen=True)
class Course:
    """A checkout of the course. All paths are absolute; `build` may not exist yet."""

    root: Path
    build: Path

    @property
    def labs(self) -> Path:
        return self.root / "labs"

    @property
    def exercises(self) -> Path:
        """Labs beside the ladder: graded by their names alone."""
        return self.root / "exercises"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def include(self) -> Path:
        """What a student's file may include."""
        return self.root / "common" / "include"

    @property
    def cache(self) -> Path:
        return self.build / "cache"

    @property
    def progress(self) -> Path:
        return self.root / ".tilewise"

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

    The build folder is $TILEWISE_BUILD or `build` in the checkout.
    """
    given = os.environ.get("TILEWISE_ROOT")
    if given:
        candidates = [Path(given)]
    else:
        here = (start or Path.cwd()).resolve()
        candidates = [here, *here.parents, Path(__file__).resolve().parents[2]]
    for root in candidates:
        if (root / "labs").is_dir() and (root / "common").is_dir():
            root = root.resolve()
            build = Path(os.environ.get("TILEWISE_BUILD") or root / "build").resolve()
            return Course(root, build)
    raise CourseError(
        f"{candidates[0]} is not a checkout of the course: it has no labs/ and common/."
        " Run the command inside the checkout, or set TILEWISE_ROOT."
    )
