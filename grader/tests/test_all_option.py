"""`pytest --all`: no test is skipped but for want of a GPU. Each rule is held by a planted skip.

And what a module makes once is made once by all workers together.
"""

from __future__ import annotations

import os
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


def run(folder, text: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """pytest with the grader's hooks on a test that passes and the given ones."""
    planted = {"passes": PASSES, "planted": text, **more}
    for name, content in planted.items():
        (folder / f"test_{name}.py").write_text(content)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "grader.tests.conftest", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"} | kept(),
        capture_output=True,
        text=True,
    )


def kept() -> dict[str, str]:
    """Where compiled modules are, so that they need not be compiled again."""
    return {name: os.environ[name] for name in ("PYTHONPYCACHEPREFIX",) if name in os.environ}


def forbidden(done: subprocess.CompletedProcess[str]) -> str:
    """What is said about forbidden skips, which must be there."""
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    return done.stdout.partition("skipped, which --all forbids")[2]


def test_every_kind_of_forbidden_skip_is_told(tmp_path):
    said = forbidden(run(tmp_path, FORBIDDEN, "--all", marked=MARKED, module=MODULE, gpu=NO_GPU))
    assert "test_picture: Skipped: matplotlib is not installed" in said
    assert "test_marked: Skipped: later" in said
    assert "could not import 'no_such_module'" in said
    assert "no GPU here" not in said


@pytest.mark.slow
@pytest.mark.parametrize("text", [FORBIDDEN, MARKED, MODULE], ids=["called", "marked", "module"])
def test_a_forbidden_skip_alone_fails(tmp_path, text):
    assert "test_planted" in forbidden(run(tmp_path, text, "--all"))


@pytest.mark.slow
def test_a_forbidden_skip_of_a_worker_fails(tmp_path):
    assert "test_picture" in forbidden(run(tmp_path, FORBIDDEN, "--all", "-n", "1"))


def test_a_skip_for_want_of_a_gpu_passes(tmp_path):
    done = run(tmp_path, NO_GPU, "--all")
    assert done.returncode == 0, done.stdout
    assert re.search(r"1 passed, 1 skipped", done.stdout)


def test_without_the_option_a_skip_passes(tmp_path):
    assert run(tmp_path, FORBIDDEN).returncode == 0


@pytest.mark.slow
def test_a_modules_fixture_is_made_once_by_all_workers(tmp_path):
    done = run(tmp_path, SHARING, "-n", "2", "--dist", "loadgroup")
    assert done.returncode == 0, done.stdout
    pids = (tmp_path / "made").read_text().split()
    assert len(pids) == 8 and len(set(pids)) == 1


MANY = """import pytest
from grader.tests.selection import first_of

@pytest.mark.parametrize("number", first_of(range(40), 2))
def test_of_many(number):
    pass

@pytest.mark.slow
def test_that_is_slow_by_itself():
    pass
"""


def test_every_case_is_in_one_part_and_what_is_no_case_of_many_in_each(tmp_path):
    parts = []
    for part in ("1/2", "2/2"):
        done = run(tmp_path, MANY, "--part", part, "--collect-only", "-q")
        parts.append({line for line in done.stdout.splitlines() if "::" in line})
    both = parts[0] & parts[1]
    assert {name.partition("::test_")[2] for name in both} == {
        "that_passes", "that_is_slow_by_itself", "of_many[0]", "of_many[1]",
    }  # fmt: skip
    assert len(parts[0] | parts[1]) == 42
    assert min(len(part - both) for part in parts) > 9


@pytest.mark.parametrize("words", ["3/2", "0/2", "half", "1"])
def test_a_part_that_there_is_not_is_refused(tmp_path, words):
    done = run(tmp_path, PASSES, "--part", words)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"{words} is no part" in done.stderr


LONG = """import pytest

@pytest.mark.parametrize("text", ["x" * 5_000_000, "x" * 5_000_001, "short"])
def test_of_a_text(text):
    pass
"""


def test_a_long_parameter_has_a_short_name(tmp_path):
    done = run(tmp_path, LONG, "--collect-only", "-q")
    names = [line for line in done.stdout.splitlines() if "test_of_a_text" in line]
    assert len(set(names)) == 3 and max(map(len, names)) < 120, done.stdout[:1000]
    assert "test_planted.py::test_of_a_text[short]" in names
