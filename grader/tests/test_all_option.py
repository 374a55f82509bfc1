"""`pytest --all`: no test is skipped but for want of a GPU. Each rule is held by a planted skip.

And what a module makes once is made once by all workers together.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from grader.tests.conftest import REPOSITORY

PASSES = "def test_that_passes():\n    pass\n"
NO_GPU = "import pytest\n\ndef test_timing():\n    pytest.skip('no GPU here')\n"
FORBIDDEN = "import pytest\n\ndef test_picture():\n    pytest.skip('matplotlib is not installed')\n"
MARKED = "import pytest\n\n@pytest.mark.skip(reason='later')\ndef test_marked():\n    pass\n"
SHARING = """import os
import pytest

@pytest.fixture(scope="module")
def made():
    return os.getpid()

@pytest.mark.parametrize("n", range(8))
def test_uses(made, n):
    with open("made", "a") as file:
        file.write(f"{made}\\n")
"""
MODULE = "import pytest\n\npytest.importorskip('no_such_module')\n"


def run(folder, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """pytest with the grader's hooks on a test that passes and the given ones."""
    (folder / "test_passes.py").write_text(PASSES)
    (folder / "test_planted.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "grader.tests.conftest", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FORBIDDEN, "test_picture: Skipped: matplotlib is not installed"),
        (MARKED, "test_marked: Skipped: later"),
        (MODULE, "could not import 'no_such_module'"),
    ],
    ids=["called", "marked", "module"],
)
def test_a_forbidden_skip_fails(tmp_path, text, reason):
    done = run(tmp_path, text, "--all")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    said = done.stdout.partition("skipped, which --all forbids")[2]
    assert reason in said, done.stdout


@pytest.mark.slow
def test_a_forbidden_skip_of_a_worker_fails(tmp_path):
    done = run(tmp_path, FORBIDDEN, "--all", "-n", "1")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "test_picture" in done.stdout.partition("skipped, which --all forbids")[2]


def test_a_skip_for_want_of_a_gpu_passes(tmp_path):
    done = run(tmp_path, NO_GPU, "--all")
    assert done.returncode == 0, done.stdout
    assert re.search(r"1 passed, 1 skipped", done.stdout)


def test_without_the_option_a_skip_passes(tmp_path):
    assert run(tmp_path, FORBIDDEN).returncode == 0


def test_a_modules_fixture_is_made_once_by_all_workers(tmp_path):
    done = run(tmp_path, SHARING, "-n", "2", "--dist", "loadgroup")
    assert done.returncode == 0, done.stdout
    pids = (tmp_path / "made").read_text().split()
    assert len(pids) == 8 and len(set(pids)) == 1
