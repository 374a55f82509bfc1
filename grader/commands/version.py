"""`grader --version`: which course a grade came from."""

from __future__ import annotations

import subprocess

import click

from grader import __version__
from grader.errors import GraderError
from grader.labs.course import find_course


def version_text() -> str:
    """The version, and of a checkout its commit and whether files differ from it."""
    text = f"grader, version {__version__}"
    try:
        root = find_course().root
    except GraderError:
        return text
    if not (root / ".git").exists():  # git would answer for a repository around it
        return text
    git = ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(git, text=True, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return text
    commit, dirty, _ = done.stdout.strip().partition("-dirty")
    if done.returncode != 0 or not commit:
        return text
    return f"{text}, commit {commit}" + (", with changes" if dirty else "")


def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(version_text())
        context.exit()
