"""The command as a user calls it: exit status, what goes where, one sentence for every mistake."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from grader.tests.command import run_here
from grader.tests.conftest import REPOSITORY
from grader.tests.test_schema import validate


@pytest.fixture
def small(tmp_path):
    """A checkout with the real labs, nothing built, and no progress yet."""
    root = tmp_path / "course"
    for folder in ("labs", "solutions", "datasets", "common/devices", "common/include"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    return root


@pytest.fixture
def grader(small):
    """Runs the command in the small checkout."""
    return lambda *arguments, **more: run_here(*arguments, cwd=small, env=_environment(small, more))


@pytest.fixture
def process(small):
    """Runs the command in a process of its own."""
    return lambda *arguments: subprocess.run(
        [sys.executable, "-m", "grader", *map(str, arguments)],
        capture_output=True, text=True, cwd=small, env=_environment(small), timeout=60,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _environment(small, more=None):
    env = {key: value for key, value in os.environ.items() if not key.startswith("TILEWISE_")}
    return env | {"TILEWISE_ROOT": str(small), "PYTHONPATH": str(REPOSITORY), **(more or {})}


def _is_one_sentence(done, status):
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("grader: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


class TestUntouchedSkeletons:
    def test_one_lab(self, process, small):
        done = process("run", "01")
        assert done.returncode == 1
        line = next(
            number
            for number, text in enumerate(
                (small / "labs/01-naive-kernel/matmul.cu").read_text().splitlines(), 1
            )
            if "// TODO(1)" in text
        )
        words = " ".join(done.stdout.split())
        assert "Not started" in words
        assert f"open labs/01-naive-kernel/matmul.cu and begin with TODO(1) at line {line}" in words
        assert "make hint LAB=01" in words

    def test_all_labs(self, grader, small):
        done = grader("run")
        assert done.returncode == 1
        for name in os.listdir(small / "labs"):
            assert name[:2] in done.stdout
        assert "Next: lab 01" in done.stdout

    def test_json_is_alone_on_standard_output(self, grader):
        one, every = grader("run", "2", "--format", "json"), grader("run", "--format", "json")
        for done in (one, every):
            assert done.returncode == 1
            assert done.stderr == ""
            validate(json.loads(done.stdout))
        assert json.loads(one.stdout)["status"] == "not_started"
        assert json.loads(every.stdout)["schema"] == "tilewise.results/1"

    def test_no_color_without_a_terminal(self, grader):
        assert "\x1b" not in grader("run").stdout

    def test_a_pipe_stays_a_pipe(self, grader, small):
        # A rename onto it would put a plain file in its place: root would lose /dev/null.
        os.mkfifo(small / "pipe")
        reader = os.open(small / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            grader("run", "1", "--format", "json", "--output", "pipe")
            validate(json.loads(os.read(reader, 1 << 16)))
        finally:
            os.close(reader)
        assert (small / "pipe").is_fifo()

    def test_output_goes_into_a_file(self, grader, small):
        done = grader("run", "1", "--format", "json", "--output", "report.json")
        assert (done.returncode, done.stdout) == (1, "")
        assert "report.json" in done.stderr
        validate(json.loads((small / "report.json").read_text()))

    def test_hint_and_status(self, grader):
        hint = grader("hint", "02")
        assert hint.returncode == 0
        assert "TODO(1)" in hint.stdout
        status = grader("status")
        assert status.returncode == 0
        assert "Next: lab 01" in status.stdout


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["run", "42"], "There is no lab '42'"),
            (["run", "tiled-kernel"], "Did you mean 02-tiled-kernel?"),
            (["run", "01", "--submission", "gone.cu"], "There is no gone.cu"),
            (["run", "01", "--device", "h2000"], "There is no device 'h2000'; there are:"),
            (["run", "01", "--output", "no/such/folder.json"], "There is no folder no/such"),
            (["run", "--submission", "solutions/01-naive-kernel/matmul.cu"], "say which lab"),
        ],
    )
    def test_usage(self, grader, arguments, words):
        assert words in _is_one_sentence(grader(*arguments), 2)

    def test_in_a_process_of_its_own(self, process):
        assert "There is no lab '42'" in _is_one_sentence(process("run", "42"), 2)

    def test_unknown_options(self, grader):
        for arguments in (
            ["run", "--backend", "cpu"],
            ["run", "--sumbission", "x"],
            ["rum"],
            ["run", "--seed", "-1"],
        ):
            done = grader(*arguments)
            assert done.returncode == 2
            assert done.stdout == ""
            assert "Error" in done.stderr and "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        ("content", "words"),
        [(b"", "is empty"), (b"\x7fELF\0\0", "is a binary file"), (None, "is a folder")],
    )
    def test_unusable_files(self, grader, small, content, words):
        folder = small / "handed-in" / "01-naive-kernel"
        folder.mkdir(parents=True)
        if content is None:
            (folder / "matmul.cu").mkdir()
        else:
            (folder / "matmul.cu").write_bytes(content)
        for given in ("handed-in", "handed-in/01-naive-kernel"):
            assert words in _is_one_sentence(grader("run", "1", "--submission", given), 2)

    def test_one_bad_file_does_not_stop_the_others(self, grader, small):
        shutil.copytree(small / "labs", small / "handed-in")
        (small / "handed-in/01-naive-kernel/matmul.cu").write_bytes(b"")
        done = grader("run", "--submission", "handed-in", "--format", "json")
        assert done.returncode == 1
        results = json.loads(done.stdout)["results"]
        assert [result["status"] for result in results[:2]] == ["failed", "not_started"]
        assert results[0]["score"] == 0
        assert "is empty" in results[0]["message"]

    def test_no_gpu(self, grader):
        done = grader("run", "01", "--backend", "gpu", LD_LIBRARY_PATH="/nonexistent")
        if done.returncode == 1:
            pytest.skip("there is a GPU here")
        assert "No usable GPU" in _is_one_sentence(done, 3)

    def test_calibrating_needs_a_gpu_and_one_lab_for_slower_kernels(self, grader):
        words = _is_one_sentence(grader("calibrate", "--slower", "slow.cu"), 2)
        assert "name it" in words
        done = grader("calibrate", "05", LD_LIBRARY_PATH="/nonexistent")
        if done.returncode == 0:
            pytest.skip("there is a GPU here")
        assert "No usable GPU" in _is_one_sentence(done, 3)

    def test_nothing_built(self, grader):
        done = grader("run", "02", "--submission", "solutions")
        assert "make setup" in _is_one_sentence(done, 3)

    def test_broken_course(self, grader, small):
        (small / "labs/01-naive-kernel/lab.toml").write_text("id = 1\n")
        assert "lab.toml" in _is_one_sentence(grader("run", "01"), 3)
        words = _is_one_sentence(grader("run", TILEWISE_ROOT="/nonexistent"), 3)
        assert "not a checkout" in words


def test_doctor_says_what_is_missing(grader):
    done = grader("doctor")
    assert done.returncode == 3
    assert "Missing: " in done.stdout
    assert "make setup" in done.stdout


def test_help_is_quick_to_load_and_names_the_exit_status(grader):
    done = grader("run", "--help")
    assert done.returncode == 0
    assert "Exit status: 0 full marks" in " ".join(done.stdout.split())
    code = "import sys, grader.cli; sys.exit('numpy' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY).returncode == 0


def test_a_damaged_progress_file_is_no_obstacle(grader, small):
    (small / ".tilewise").mkdir()
    (small / ".tilewise/progress.json").write_text("{")
    assert grader("status").returncode == 0
    assert grader("run", "01").returncode == 1
    saved = json.loads((small / ".tilewise/progress.json").read_text())
    assert saved["labs"]["01-naive-kernel"]["status"] == "not_started"
