"""Lays out what goes into a wheel, and has setuptools pack it.

    grader/                       the Python package, without its tests
    grader/installed/             the course: labs, device files, headers for submissions, datasets, schemas
    grader/installed/programs/    the C++ programs, a folder for each kind of processor
    grader/installed/origin.json  version, commit, platform

No solutions: students install it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import programs

from grader import __version__

ROOT = programs.ROOT
_COURSE = ("labs", "exercises", "datasets", "common/devices", "common/include")
_PAGES = "docs/*.schema.json"
_LICENCES = ("LICENSE", "LICENSE-texts.md")
# A package with programs in it, for every Python: setuptools by itself knows one or the other.
_SETUP = """\
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class WithPrograms(Distribution):
    def has_ext_modules(self):
        return True


class ForEveryPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "{platform}"


setup(distclass=WithPrograms, cmdclass={{"bdist_wheel": ForEveryPython}})
"""


def tag(platform: str) -> str:
    return f"manylinux_{programs.GLIBC.replace('.', '_')}_{platform}"


def lay_out(place: Path, platform: str, built: Mapping[str, Path]) -> None:
    """Makes the folder anew; `built` has the build folder of each level."""
    shutil.rmtree(place, ignore_errors=True)
    installed = place / "grader" / "installed"
    for name in _tracked("grader"):
        if not name.startswith("grader/tests/"):
            _copy(ROOT / name, place / name)
    for name in _tracked(*_COURSE):
        _copy(ROOT / name, installed / name)
    for path in sorted(ROOT.glob(_PAGES)):
        _copy(path, installed / "docs" / path.name)
    for level, folder in built.items():
        for name in programs.FILES:
            _copy(folder / name, installed / "programs" / level / name)
    origin = {"version": __version__, "commit": _commit(), "platform": tag(platform)}
    (installed / "origin.json").write_text(json.dumps(origin, indent=1) + "\n")
    for name in ("pyproject.toml", "README.md", *_LICENCES):
        _copy(ROOT / name, place / name)
    (place / "setup.py").write_text(_SETUP.format(platform=tag(platform)))


def pack(place: Path, output: Path) -> Path:
    """The wheel, made by pip from the folder."""
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob(f"tilewise-*-{place.name}.whl"):
        old.unlink()
    command = [
        sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps",
        "--no-build-isolation", "--wheel-dir", str(output), str(place),
    ]  # fmt: skip
    # Equal sources make equal files.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1577836800"}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, env=environment, check=False)
    made = sorted(output.glob(f"tilewise-{__version__}-*-{place.name}.whl"))
    if done.returncode or not made:
        raise programs.Failed("pip could not make the wheel; its messages stand above")
    return made[-1]


def _tracked(*folders: str) -> list[str]:
    """Files that git knows, or would if they were added; in a copy without git, all but what is generated."""
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists():
        done = subprocess.run([*git, "--", *folders], capture_output=True, text=True, check=True)
        return [
            name
            for name in sorted(filter(None, done.stdout.split("\0")))
            if (ROOT / name).is_file()
        ]
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")))
    return [
        path.relative_to(ROOT).as_posix()
        for path in found
        if path.is_file() and "__pycache__" not in path.parts
    ]


def _commit() -> str:
    git = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    if not (ROOT / ".git").exists() or done.returncode:
        return ""
    return done.stdout.strip().replace("-dirty", " with changes")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
