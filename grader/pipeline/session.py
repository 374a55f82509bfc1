"""What every step of grading one lab needs, and where it puts what it makes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.labs.course import Course
from grader.labs.lab import Case, Lab
from grader.labs.options import Options
from grader.machine.toolchain import Toolchain

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Place:
    """Where plans are carried out."""

    backend: str  # sim | gpu
    device: str  # device file
    architecture: int  # that the plans' PTX is for
    gpu: str = ""  # its own name


@dataclass(frozen=True)
class Inputs:
    """What solve is given in one case."""

    arrays: dict[str, np.ndarray]
    files: dict[str, Path]

    @property
    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """M and N of a product."""
        return self.arrays["M"], self.arrays["N"]


@dataclass
class Session:
    """Grading one lab: what every step needs, and the folder that it may fill."""

    course: Course
    lab: Lab
    options: Options
    say: Callable[[str], None]  # told what happens now, for people
    folder: Path
    toolchain: Toolchain
    architecture: int
    math_library: str = ""  # that the compiled submission names
    shared_object: Path | None = None  # the compiled submission
    inputs: dict[str, Future] = field(default_factory=dict)  # case id -> Inputs


def subfolder(session: Session, name: str) -> Path:
    folder = session.folder / name
    folder.mkdir(exist_ok=True)
    return folder


def output_of(session: Session, backend: str, case: Case) -> Path:
    """Where P of a case lies, if it was carried out."""
    return session.folder / f"outputs-{backend}" / case.id / "P.npy"
