"""What a wheel may not have in it is found: a fault of each kind is planted."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import check
import programs

NAME = "tilewise-1.0.0-py3-none-manylinux_2_28_x86_64.whl"
PROGRAMS = "grader/installed/programs"
GOOD = {
    "--version-info": "  0x0010: Name: GLIBC_2.28  Flags: none\n  0x0020: Name: GLIBC_2.2.5\n",
    "--dynamic": (
        " 0x01 (NEEDED) Shared library: [libc.so.6]\n 0x01 (NEEDED) Shared library: [libm.so.6]\n"
    ),
}


@pytest.fixture
def said(monkeypatch):
    """What readelf says of every program; a test plants its fault here."""
    said = dict(GOOD)
    monkeypatch.setattr(check, "_readelf", lambda option, file: said[option])
    return said


def wheel(folder, **more):
    """One that is as it should be, but for `more`: contents by the name."""
    content = {
        f"{PROGRAMS}/{level}/{file}": b"\x7fELF and so on"
        for level in programs.LEVELS["x86_64"]
        for file in programs.FILES
    }
    content |= {"grader/cli.py": b"print(1)"} | more
    path = folder / NAME
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            if text is not None:
                archive.writestr(name, text)
    return path


def found(path, places=("/build/here",)):
    return list(check.breaches(path, places))


def test_nothing_is_found_in_a_good_one(tmp_path, said):
    assert found(wheel(tmp_path)) == []


def test_a_path_of_the_machine_that_made_it(tmp_path, said):
    planted = b"\x7fELF\0\0/build/here/common/cudart/crash.cpp\0"
    name = f"{PROGRAMS}/baseline/lib/libcudart.so.13"
    assert found(wheel(tmp_path, **{name: planted})) == [
        f"{name} names /build/here, a folder of the machine that made it."
    ]


def test_the_places_of_this_machine_have_the_checkout_among_them():
    places = check.places_of_this_machine()
    assert str(programs.ROOT) in places and sys.prefix in places
    assert all(len(Path(place).parts) > 2 for place in places)


def test_a_newer_c_library(tmp_path, said):
    said["--version-info"] += "  0x0030: Name: GLIBC_2.34  Flags: none\n"
    assert all("asks for glibc 2.34, and 2.28 is promised" in one for one in found(wheel(tmp_path)))
    assert found(wheel(tmp_path))


@pytest.mark.parametrize("library", ["libstdc++.so.6", "libfmt.so.9", "libcuda.so.1"])
def test_a_library_that_a_machine_may_not_have(tmp_path, said, library):
    said["--dynamic"] += f" 0x01 (NEEDED) Shared library: [{library}]\n"
    assert f"asks for {library}" in found(wheel(tmp_path))[0]


def test_a_search_path_in_a_program(tmp_path, said):
    said["--dynamic"] += " 0x1d (RUNPATH) Library runpath: [$ORIGIN/../lib]\n"
    assert "search path" in found(wheel(tmp_path))[0]


@pytest.mark.parametrize(
    "name", ["grader/tests/test_cli.py", "grader/installed/solutions/01-naive-kernel/matmul.cu"]
)
def test_what_students_are_not_to_have(tmp_path, said, name):
    assert found(wheel(tmp_path, **{name: b""})) == [f"{name} does not belong into a wheel."]


def test_a_program_that_is_missing(tmp_path, said):
    name = f"{PROGRAMS}/baseline/bin/tilewise-exec"
    assert found(wheel(tmp_path, **{name: None})) == [f"{name} is missing."]
