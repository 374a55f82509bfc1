"""`grader --version`: which course a grade came from."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import click

from grader import INSTALLED, __version__
from grader.errors import GraderError
from grader.labs.course import find_course

ORIGIN = "origin.json"  # in a wheel: of what it was made


def version_text() -> str:
    """The version, the commit, and whether it is a wheel or a checkout, where files may differ."""
    text = f"grader, version {__version__}"
    try:
        root = find_course().root
    except GraderError:
        root = None
    if INSTALLED.is_dir():
        made = _of_wheel(INSTALLED)
        if root in (None, INSTALLED):
            return f"{text}{made}"
        return f"{text}{made}; labs of the checkout {root}{_commit(root)}"
    return f"{text}{_commit(root)}, a checkout" if root else text


def _of_wheel(folder: Path) -> str:
    try:
        fields = json.loads((folder / ORIGIN).read_text(encoding="utf-8"))
        commit = f", commit {fields['commit']}" if fields["commit"] else ""
        return f"{commit}, a wheel for {fields['platform']}"
    except (OSError, ValueError, KeyError, TypeError):
        return ", a wheel"


def _commit(root: Path) -> str:
    if not (root / ".git").exists():  # git would answer for a repository around it
        return ""
    git = ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(git, text=True, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    commit, dirty, _ = done.stdout.strip().partition("-dirty")
    if done.returncode != 0 or not commit:
        return ""
    return f", commit {commit}" + (", with changes" if dirty else "")


def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(version_text())
        context.exit()
