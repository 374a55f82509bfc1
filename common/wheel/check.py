"""Holds a wheel against what is promised of it; prints each breach, and ends with status 1 if there is one.

    check.py WHEEL

- no file in it names a place of the machine that made it: the checkout, the home folder, the compiler's;
- its programs ask for nothing that glibc 2.28 has not, and for no other library than that C library;
- it has no tests, no solutions, and one set of programs for each kind of processor.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import programs

_OF_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")
_LIBRARIES = re.compile(
    r"^(lib(c|m|dl|pthread|rt|util)\.so\.\d+|ld-linux-(x86-64|aarch64)\.so\.\d)$"
)
_NOT_TO_BE = re.compile(r"(^|/)(tests|solutions|__pycache__|\.git)/")


def places_of_this_machine() -> list[str]:
    """Folders whose names must not be found."""
    found = {str(programs.ROOT), os.path.realpath(programs.ROOT), sys.prefix}
    home = str(Path.home())
    if len(Path(home).parts) > 2:  # "/root" stands in many a program
        found.add(home)
    return sorted(found)


def breaches(wheel: Path, places: Sequence[str]) -> Iterator[str]:
    """One sentence for each."""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = archive.namelist()
        for name in names:
            content = archive.read(name)
            for place in places:
                if place.encode() in content:
                    yield f"{name} names {place}, a folder of the machine that made it."
            if _NOT_TO_BE.search(name):
                yield f"{name} does not belong into a wheel."
            if content.startswith(b"\x7fELF"):
                file = Path(folder) / "file"
                file.write_bytes(content)
                yield from (f"{name} {what}" for what in _of_program(file))
        platform = wheel.stem.split("_2_28_")[-1]
        for level in programs.LEVELS.get(platform, {}):
            for file in programs.FILES:
                if f"grader/installed/programs/{level}/{file}" not in names:
                    yield f"grader/installed/programs/{level}/{file} is missing."


def _of_program(file: Path) -> Iterator[str]:
    most = tuple(int(part) for part in programs.GLIBC.split("."))
    versions = _readelf("--version-info", file)
    asked = {(int(major), int(minor)) for major, minor in _OF_GLIBC.findall(versions)}
    for version in sorted(one for one in asked if one > most):
        yield f"asks for glibc {'.'.join(map(str, version))}, and {programs.GLIBC} is promised."
    dynamic = _readelf("--dynamic", file)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not _LIBRARIES.match(name):
            yield f"asks for {name}, which a machine may not have."
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        yield "has a search path for libraries in it."


def _readelf(option: str, file: Path) -> str:
    command = ["readelf", "--wide", option, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(words: list[str]) -> int:
    found = list(breaches(Path(words[0]), places_of_this_machine()))
    for sentence in found:
        print(f"{Path(words[0]).name}: {sentence}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
