"""The CUDA compiler and our own C++ programs: where they are, what they can do."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from grader import INSTALLED
from grader.errors import CourseError, ToolchainError, UsageError
from grader.labs.course import Course
from grader.machine import compiler_wheels

PROGRAMS = ("tilewise-record", "tilewise-exec")

# For a checkout, and for a grader that came from a wheel.
_REMEDY = "run `make setup`, which installs one into .venv/ if need be"
if INSTALLED.is_dir():
    _REMEDY = "install CUDA 12 or 13, or the extra: pip install 'tilewise[nvcc] @ FILE-OR-URL-OF-THE-WHEEL'"


@dataclass(frozen=True)
class Toolchain:
    """One CUDA toolkit and the host compiler that goes with it."""

    nvcc: Path
    ptxas: Path
    version: str  # "13.0"
    origin: str  # "PATH", "CUDA_HOME", "/usr/local/cuda", "wheels"
    cxx: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def find_toolchain(course: Course) -> Toolchain:
    """What set-up chose (build/toolchain.json), else the first toolkit found on this machine."""
    chosen = course.build / "toolchain.json"
    if chosen.is_file():
        try:
            fields = json.loads(chosen.read_text())
            toolchain = Toolchain(
                Path(fields["nvcc"]),
                Path(fields["ptxas"]),
                fields["version"],
                fields["origin"],
                fields["cxx"],
            )
        except (ValueError, KeyError):
            raise ToolchainError(f"{chosen} is damaged: delete it and run `make setup`.") from None
        if os.access(toolchain.nvcc, os.X_OK):
            return toolchain
    return _search()


def _search() -> Toolchain:
    on_path = shutil.which("nvcc")
    home = os.environ.get("CUDA_HOME")
    places = [
        ("PATH", Path(on_path) if on_path else None),
        ("CUDA_HOME", Path(home) / "bin/nvcc" if home else None),
        ("/usr/local/cuda", Path("/usr/local/cuda/bin/nvcc")),
        ("wheels", compiler_wheels.find()),
    ]
    cxx = shutil.which(os.environ.get("CXX") or "c++") or shutil.which("g++")
    for origin, nvcc in places:
        if nvcc is None or not os.access(nvcc, os.X_OK):
            continue
        if cxx is None:
            raise ToolchainError("There is no C++ compiler, which nvcc needs: install g++.")
        text = subprocess.run(
            [nvcc, "--version"], capture_output=True, text=True, timeout=60
        ).stdout
        release = re.search(r"release (\d+\.\d+)", text)
        ptxas = nvcc.resolve().parent / "ptxas"
        if release and ptxas.is_file():
            return Toolchain(nvcc, ptxas, release[1], origin, cxx)
    raise ToolchainError(
        f"No CUDA compiler (nvcc) was found on PATH, in CUDA_HOME or in /usr/local/cuda: {_REMEDY}."
    )


def architectures(toolchain: Toolchain, course: Course) -> tuple[int, ...]:
    """Compute capabilities that this nvcc makes PTX for: (75, 80, ..., 121)."""
    stamp = f"{toolchain.nvcc} {toolchain.version} {toolchain.nvcc.stat().st_mtime_ns}"
    note = course.cache / "architectures.json"
    try:
        known = json.loads(note.read_text())
        if known["nvcc"] == stamp:
            return tuple(known["architectures"])
    except (OSError, ValueError, KeyError):
        pass
    command = [toolchain.nvcc, "--list-gpu-arch"]
    text = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    found = tuple(sorted({int(number) for number in re.findall(r"compute_(\d+)\b", text)}))
    if not found:
        raise ToolchainError(f"{toolchain.nvcc} does not say which GPUs it compiles for.")
    write_atomically(note, json.dumps({"nvcc": stamp, "architectures": found}))
    return found


def architecture_for(capability: int, supported: tuple[int, ...]) -> int:
    """The device's own capability if supported, else the lowest supported one above it."""
    above = [arch for arch in supported if arch >= capability]
    return above[0] if above else supported[-1]


def capability_text(capability: int) -> str:
    """As people write it: 9.0 for 90."""
    return f"{capability // 10}.{capability % 10}"


@functools.cache
def capability(course: Course, device: str) -> int:
    """Compute capability of a device file as nvcc writes it: 90 for 9.0.

    Raises UsageError naming the devices there are.
    """
    folder = course.root / "common" / "devices"
    path = folder / f"{device}.json"
    try:
        fields = json.loads(path.read_text())
        major, minor = fields["compute_capability"]
        return int(major) * 10 + int(minor)
    except FileNotFoundError:
        names = ", ".join(sorted(file.stem for file in folder.glob("*.json"))) or "none"
        raise UsageError(f"There is no device '{device}'; there are: {names}.") from None
    except (ValueError, KeyError, TypeError):
        raise CourseError(f"{path} has no compute_capability [major, minor].") from None


def program(course: Course, name: str) -> Path:
    """One of PROGRAMS, in bin/. Raises ToolchainError if it is not built."""
    path = course.programs / "bin" / name
    if not os.access(path, os.X_OK):
        raise ToolchainError(f"{path} is not built: run `make setup`.")
    return path


def write_atomically(path: Path, text: str) -> None:
    """Writes a whole file or none: a reader never sees half of it."""
    if path.exists() and not path.is_file() and not path.is_dir():
        # A device or a pipe, /dev/null and /dev/stdout among them: a file must not take its place.
        path.write_text(text, encoding="utf-8")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Threads of one process may write the same file, too.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
