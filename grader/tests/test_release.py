"""A class repository made, and brought up to date without touching a student's file."""

import os
import subprocess
import sys

import pytest

from grader.errors import UsageError
from grader.labs.term import Term
from grader.packaging import package, release
from grader.tests.conftest import REPOSITORY

FIRST, SECOND = "01-naive-kernel", "02-tiled-kernel"


@pytest.fixture
def repository(course, tmp_path):
    folder = tmp_path / "repository"
    package.class_repository(course, Term(), (FIRST,), folder)
    return folder


def contents(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def test_an_update_adds_labs_and_leaves_students_alone(course, repository):
    kernel = repository / "labs" / FIRST / "matmul.cu"
    kernel.write_text("mine")
    (repository / "Makefile").write_text("all: mine\n")
    (repository / "notes.md").write_text("my notes")
    own = repository / "labs" / SECOND / "matmul.cu"
    own.parent.mkdir()
    own.write_text("begun early")
    (repository / "grader" / "cli.py").unlink()
    done = package.class_repository(course, Term(), (SECOND,), repository)
    assert (repository / "labs" / SECOND / "lab.toml").is_file()
    assert done.kept == ["Makefile"]
    assert "grader/cli.py" in done.added
    for path, text in (
        (kernel, "mine"), (own, "begun early"), (repository / "notes.md", "my notes"),
        (repository / "Makefile", "all: mine\n"),
    ):  # fmt: skip
        assert path.read_text() == text
    assert (repository / "labs" / FIRST / "lab.toml").is_file()
    before = contents(repository)
    again = package.class_repository(course, Term(), (SECOND,), repository)
    assert contents(repository) == before
    assert not (again.added or again.renewed or again.removed)


def test_what_is_ours_is_renewed_and_what_went_is_removed(course, repository, monkeypatch):
    files = package._class_files(course, Term(), (FIRST,))
    changed = dict(files) | {"README.md": release.File(b"new"), "extra.txt": release.File(b"x")}
    gone = "docs/reasoning.md"
    del changed[gone]
    done = release.update(repository, changed, (FIRST,))
    assert (done.renewed, done.added, done.removed) == (["README.md"], ["extra.txt"], [gone])
    assert not (repository / gone).exists()


def test_a_kernel_that_a_student_took_away_stays_away(course, repository):
    kernel = repository / "labs" / FIRST / "matmul.cu"
    kernel.unlink()
    package.class_repository(course, Term(), (SECOND,), repository)
    assert not kernel.exists()


def test_stopped_on_the_way_it_goes_on(course, repository, monkeypatch):
    files = package._class_files(course, Term(), (FIRST, SECOND))
    files["README.md"] = release.File(b"new")
    real, calls = release.write, []

    def write(path, file):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(28, "No space left on device", str(path))
        real(path, file)

    monkeypatch.setattr(release, "write", write)
    with pytest.raises(UsageError, match="No space left"):
        release.update(repository, files, (FIRST, SECOND))
    monkeypatch.setattr(release, "write", real)
    release.update(repository, files, (FIRST, SECOND))
    assert contents(repository).keys() == {*files, release.LIST}
    assert (repository / "README.md").read_bytes() == b"new"


def test_links_lead_nowhere(course, repository, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (repository / "labs" / SECOND).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic link"):
        package.class_repository(course, Term(), (SECOND,), repository)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_folder_of_somebody_else_is_refused(course, tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UsageError, match="no class repository"):
        package.class_repository(course, Term(), (FIRST,), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_every_target_and_heading_is_alive(repository):
    """The pages speak of nothing that students do not get, and make's targets have their files."""
    for name in ("README.md", "docs/README.md"):
        text = (repository / name).read_text()
        assert "solutions" not in text and "nstructor" not in text and "make study" not in text
    makefile = (repository / "Makefile").read_text()
    for script in [word for word in makefile.split() if "common/setup/" in word]:
        assert os.access(repository / script.lstrip("@"), os.X_OK), script
    done = subprocess.run(["make", "help"], cwd=repository, capture_output=True, text=True)
    assert "make grade LAB=02" in done.stdout and "make test" not in done.stdout
    workflows = [path.name for path in (repository / ".github" / "workflows").iterdir()]
    assert workflows == ["grade.yml"]
    assert (repository / ".devcontainer" / "devcontainer.json").is_file()


def test_ci_grades_the_labs_that_the_class_has(repository):
    """What grade.sh asks: not all nine labs of the course."""
    command = [
        sys.executable,
        "-m",
        "grader",
        "course",
        "labs",
        "--submission",
        repository / "labs",
    ]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert done.stdout == "01,\n", done.stderr
