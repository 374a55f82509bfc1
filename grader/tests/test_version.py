"""`grader --version` says which course a grade came from."""

from __future__ import annotations

import subprocess

import pytest

from grader import __version__
from grader.commands.version import version_text


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small course, not under version control."""
    for name in ("labs", "common"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TILEWISE_ROOT", str(tmp_path))
    return tmp_path


def git(folder, *words):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout.strip()


def test_a_checkout_names_its_commit_and_its_changes(course):
    (course / "labs" / "lab.toml").write_text("points = 1")
    git(course, "init", "-q")
    git(course, "add", ".")
    git(course, "commit", "-q", "-m", "first")
    commit = git(course, "rev-parse", "HEAD")
    assert version_text() == f"grader, version {__version__}, commit {commit[:12]}, a checkout"
    (course / "labs" / "lab.toml").write_text("points = 2")
    assert version_text().endswith(f"{commit[:12]}, with changes, a checkout")


def test_a_copy_names_no_commit_of_what_is_around_it(course, monkeypatch):
    git(course, "init", "-q")
    inner = course / "copy"
    for name in ("labs", "common"):
        (inner / name).mkdir(parents=True)
    monkeypatch.setenv("TILEWISE_ROOT", str(inner))
    assert version_text() == f"grader, version {__version__}, a checkout"
