"""What is graded: one file for one lab, under a key of everything that its result depends on.

Students who handed in the same file share a unit. A result stays true as long as its key is the
same: the file, the lab, the grader, its programs, the compiler, the options.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import sandbox
from grader.labs.course import Course
from grader.labs.lab import Lab
from grader.labs.options import Options
from grader.machine.toolchain import PROGRAMS, Toolchain, program


@dataclass(frozen=True)
class Unit:
    """One file to grade for one lab."""

    key: str
    lab: str  # folder name
    content: bytes

    def __lt__(self, other: Unit) -> bool:
        return (self.lab, self.key) < (other.lab, other.key)


@dataclass(frozen=True)
class Fingerprint:
    """What results depend on besides the file, in parts that can be named when they change."""

    parts: dict[str, str]  # what it is, for people -> digest or value
    labs: dict[str, str]  # lab folder name -> digest

    def key(self, lab: str, content: bytes) -> str:
        words = [json.dumps(self.parts, sort_keys=True), lab, self.labs[lab]]
        digest = hashlib.sha256("\0".join(words).encode())
        digest.update(b"\0" + content)
        return digest.hexdigest()[:32]

    def changes(self, before: Fingerprint) -> list[str]:
        """What is different, for people: why units are graded again."""
        changed = [
            f"{name} ({before.parts[name]} before, now {value})" if len(value) < 20 else name
            for name, value in self.parts.items()
            if before.parts.get(name) not in (None, value)
        ]
        return changed + [
            f"lab {name}"
            for name, digest in self.labs.items()
            if before.labs.get(name) not in (None, digest)
        ]


def fingerprint(
    course: Course, toolchain: Toolchain, labs: Sequence[Lab], options: Options
) -> Fingerprint:
    """Of this checkout and these options."""
    device = course.root / "common" / "devices" / f"{options.device}.json"
    libraries = sorted((course.programs / "lib").glob("libcudart.so.*"))
    parts = {
        "the grader": _digest(_grader_sources(), Path(__file__).parents[1]),
        "the recorder and the simulator": _digest(
            [*(program(course, name) for name in PROGRAMS), *libraries], course.programs
        ),
        "common/include": _digest(sorted(course.include.rglob("*")), course.include),
        "the device file": _digest([device], device.parent),
        "the CUDA toolkit": f"{toolchain.version}",
        "the host compiler": toolchain.cxx,
        "the backend": options.backend,
        "the seed": str(options.seed),
        "the sandbox": sandbox.kind(),
    }
    return Fingerprint(parts, {lab.name: _lab_digest(course, lab, options) for lab in labs})


def _grader_sources() -> list[Path]:
    """The modules that a result depends on: not the tests, the commands, the batch itself."""
    package = Path(__file__).parents[1]
    apart = {"tests", "batch", "writers", "commands", "publish"}
    return sorted(
        path
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in apart and path.name != "cli.py"
    )


def _lab_digest(course: Course, lab: Lab, options: Options) -> str:
    files = [course.folder(lab.name) / "lab.toml"]
    for case in lab.cases:
        if case.data.startswith("file:"):
            files += sorted((course.root / "datasets" / case.data.removeprefix("file:")).iterdir())
    if options.backend != "sim":  # times are measured against it
        files += sorted((course.solutions / lab.name).glob("*.cu"))
    return _digest(files, course.root)


def _digest(paths: Iterable[Path], root: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        if path.is_file():
            name = os.path.relpath(path, root)
            digest.update(name.encode() + b"\0" + _content_digest(path, path.stat().st_mtime_ns))
    return digest.hexdigest()[:32]


@functools.cache
def _content_digest(path: Path, _modified: int) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()
