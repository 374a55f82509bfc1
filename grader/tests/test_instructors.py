"""Every command of docs/instructors.md is run, but for those the guide marks with a reason."""

import os
import re
import shlex
import subprocess

import pytest

from grader import sandbox
from grader.tests import corpus_files
from grader.tests.conftest import REPOSITORY

GUIDE = REPOSITORY / "docs" / "instructors.md"
BLOCK = re.compile(
    r"^(<!-- not run: [^\n]+ -->\n)?```console\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
# Set-up is what the tests themselves began with; test_real grades the solutions of all labs.
ELSEWHERE = ("make setup", ".venv/bin/grader run --submission solutions --backend sim")


def commands():
    """Of the guide, in order: (command, whether it is run here)."""
    found = []
    for reason, body in BLOCK.findall(GUIDE.read_text()):
        for line in body.splitlines():
            assert line.startswith("$ "), line
            found.append((line[2:], not reason and line[2:] not in ELSEWHERE))
    return found


@pytest.fixture(scope="module")
def checkout(built, tmp_path_factory):
    """A folder that looks like this checkout, with a small class's export."""
    folder = tmp_path_factory.mktemp("checkout")
    for path in REPOSITORY.iterdir():
        (folder / path.name).symlink_to(path)
    wrong = corpus_files.find("02", "no-second-barrier").content
    right = (REPOSITORY / "solutions/02-tiled-kernel/matmul.cu").read_bytes()
    for student, content in (("jane", wrong), ("joe", right)):
        (folder / "export" / student).mkdir(parents=True)
        (folder / "export" / student / "matmul.cu").write_bytes(content)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_commands(checkout):
    if not sandbox.available():
        pytest.skip("grader batch, which the guide uses, needs a sandbox: apt install bubblewrap")
    said = {}
    for command, is_run in commands():
        if not is_run:
            continue
        done = subprocess.run(
            shlex.split(command), cwd=checkout, capture_output=True, text=True, timeout=110,
            stdin=subprocess.DEVNULL, env=os.environ | {"TILEWISE_ROOT": str(checkout)},
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        said[command] = done.stdout
    explained = next(text for command, text in said.items() if "explain graded" in command)
    assert "race-shared" in explained and "it takes: No race-shared in any case." in explained
    assert "470916" not in explained
    assert (checkout / "jane.html").read_text().startswith("<!DOCTYPE html>")
    weighed = next(
        text for command, text in said.items() if "write result.json --weights" in command
    )
    assert "20 of 20 points, full marks" in weighed


def test_the_guide_names_what_there_is():
    text = GUIDE.read_text()
    for path in re.findall(r"\]\((?!https://)([^)#]+)\)", text):
        assert (GUIDE.parent / path).exists(), path
    assert [reason for reason, _ in BLOCK.findall(text) if reason]
    assert len(commands()) >= 12
