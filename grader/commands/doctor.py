"""`grader doctor`: what grading needs, what was found, and how to get what is missing."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from grader import __version__, sandbox
from grader.commands import terminal
from grader.errors import ExitCode, GraderError
from grader.labs.course import Course, find_course
from grader.machine import gpu
from grader.machine.toolchain import PROGRAMS, Toolchain, capability_text, find_toolchain
from grader.sandbox import bubblewrap
from grader.writers import Style

_PACKAGES = ("numpy", "click", "rich")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for."""

    name: str
    state: str  # found | optional (missing, but grading works without) | missing
    text: str  # what was found, or what is missing
    remedy: str = ""  # how to get it


def examine(course: Course, style: Style) -> tuple[str, bool]:
    """The report, and whether everything that grading on the simulator needs is there."""
    findings = look_around(course)
    complete = all(finding.state != "missing" for finding in findings)
    return render(findings, style), complete


def look_around(course: Course) -> list[Finding]:
    return [
        _python(),
        *_compilers(course),
        *(_program(course.programs / "bin" / name, name) for name in PROGRAMS),
        _runtime(course),
        _gpu(),
        _sandbox(),
    ]


def render(findings: list[Finding], style: Style) -> str:
    marks = {"found": "✓", "optional": "–", "missing": "✗"}
    if not style.unicode:
        marks = {"found": "+", "optional": "-", "missing": "x"}
    colors = {"found": "32", "optional": "33", "missing": "31"}
    width = max(len(finding.name) for finding in findings)
    lines = [f"grader {__version__} on {platform.system()} {platform.machine()}", ""]
    for finding in findings:
        mark = marks[finding.state]
        if style.color:
            mark = f"\x1b[{colors[finding.state]}m{mark}\x1b[0m"
        lines.append(f"  {mark} {finding.name:<{width}}  {finding.text}")
        if finding.remedy:
            lines.append(f"    {'':<{width}}  {finding.remedy}")
    missing = [finding.name for finding in findings if finding.state == "missing"]
    closing = (
        f"Missing: {', '.join(missing)}." if missing else "Everything that grading needs is here."
    )
    return "\n".join([*lines, "", closing]) + "\n"


def _python() -> Finding:
    packages = []
    for name in _PACKAGES:
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            return Finding("Python", "missing", f"the package {name}", "make setup")
    text = f"{platform.python_version()} ({sys.executable}), {', '.join(packages)}"
    return Finding("Python", "found", text)


def _compilers(course: Course) -> list[Finding]:
    try:
        toolchain = find_toolchain(course)
    except GraderError as error:
        return [Finding("nvcc", "missing", str(error))]
    found = [
        Finding(
            "nvcc", "found", f"CUDA {toolchain.version}, {toolchain.nvcc} (from {toolchain.origin})"
        ),
        _ptxas(toolchain),
    ]
    first_line = _first_line([toolchain.cxx, "--version"])
    if first_line:
        found.append(Finding("C++ compiler", "found", f"{first_line} ({toolchain.cxx})"))
    else:
        remedy = "install g++ 11 or later, then: make setup"
        found.append(Finding("C++ compiler", "missing", f"{toolchain.cxx} does not run", remedy))
    return found


def _ptxas(toolchain: Toolchain) -> Finding:
    if toolchain.ptxas.is_file():
        return Finding("ptxas", "found", str(toolchain.ptxas))
    text = f"{toolchain.ptxas} is gone: registers and occupancy stay unknown"
    return Finding("ptxas", "optional", text, "rm build/toolchain.json && make setup")


def _program(path: Path, name: str) -> Finding:
    if not path.is_file():
        return Finding(name, "missing", f"{path} is not built", "make setup")
    return Finding(name, "found", str(path))


def _runtime(course: Course) -> Finding:
    found = sorted(path.name for path in (course.programs / "lib").glob("libcudart.so.[0-9][0-9]"))
    if not found:
        return Finding(
            "runtime", "missing", f"{course.build / 'lib'} has no libcudart.so", "make setup"
        )
    return Finding("runtime", "found", ", ".join(found))


def _gpu() -> Finding:
    device = gpu.find_gpu()
    if device is None:
        return Finding("GPU", "optional", "none usable here: grading runs on the simulator")
    capability = capability_text(device.capability)
    text = f"{device.name}, compute capability {capability}, driver for CUDA {device.driver}"
    return Finding("GPU", "found", text)


def _sandbox() -> Finding:
    if sandbox.available():
        return Finding("sandbox", "found", _first_line(["bwrap", "--version"]) or "bubblewrap")
    text = "none: submissions run with limits only, which is fine for your own work"
    obstacle = bubblewrap.way()
    remedy = obstacle if isinstance(obstacle, str) else f"unset {sandbox.SWITCH}"
    return Finding("sandbox", "optional", text, remedy)


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else ""


@click.command()
def doctor() -> None:
    """Show what was found on this machine, what is missing, and how to get it."""
    report, complete = examine(find_course(), terminal.style())
    sys.stdout.write(report)
    sys.exit(ExitCode.FULL_MARKS if complete else ExitCode.MACHINE)
