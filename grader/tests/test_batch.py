"""`grader batch` as an instructor calls it: everybody is in the gradebook, whatever happens.

One class is graded twice: without a break, and killed with faults planted before it goes on.
"""

import csv
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from grader.machine.toolchain import find_toolchain
from grader.running.compile import compile_submission
from grader.tests import corpus_files
from grader.tests.command import run_here
from grader.tests.conftest import REPOSITORY
from grader.tests.make_class import make
from grader.tests.test_batch_intake import fill, zipped

LAB = "02-tiled-kernel"


def source(path):
    return (REPOSITORY / path).read_bytes()


def make_small_class(folder):
    solution = source(f"solutions/{LAB}/matmul.cu")
    return fill(
        folder,
        {
            "ann/matmul.cu": solution,
            "bo/02-tiled-kernel/matmul.cu": solution,
            "cy.zip": zipped({"work/matmul.cu": corpus_files.find("02", "no-barriers").content}),
            "di.cu": corpus_files.find("02", "no-launch").content,
            "ed/matmul.cu": source(f"labs/{LAB}/matmul.cu"),
            "flo/matmul.cu": b"this is no CUDA",
            "gus/matmul.cu": b"",
            "hal/report.pdf": b"%PDF",
            "ida.zip": b"PK\3\4",
        },
    )


def command(export, output, *more):
    return [
        sys.executable, "-m", "grader", "batch", str(export), "--output", str(output),
        "--labs", "02", "--jobs", "2", *map(str, more),
    ]  # fmt: skip


def run(export, output, *more, **environment):
    done = subprocess.run(
        command(export, output, *more), capture_output=True, text=True, timeout=110,
        cwd=REPOSITORY, env=os.environ | environment, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done


def contents(output):
    """All files that must be the same however often the batch was stopped."""
    summary = ("summary.md", "summary.json")  # these hold times
    return {
        str(path.relative_to(output)): path.read_bytes()
        for path in sorted(output.rglob("*"))
        if path.is_file() and ".batch" not in path.parts and path.name not in summary
    }


def gradebook(output):
    with (output / "gradebook.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def compiled_before(course, output, *contents):
    """Puts what earlier tests compiled where the batch looks for its own."""
    for content in contents:
        found = compile_submission(course, find_toolchain(course), content, 90)
        place = output / ".batch" / "cache" / "compiled" / found.key
        shutil.copytree(found.folder, place, copy_function=os.link)


@pytest.fixture(scope="module")
def graded(built, tmp_path_factory):
    """The small class and what grading it without a break gives."""
    folder = tmp_path_factory.mktemp("batch")
    export = make_small_class(folder / "class")
    wrong = (corpus_files.find("02", name).content for name in ("no-barriers", "no-launch"))
    compiled_before(built, folder / "out", source(f"solutions/{LAB}/matmul.cu"), *wrong)
    done = run(export, folder / "out")
    assert done.returncode == 0, done.stderr
    return export, folder / "out"


def test_everybody_is_in_the_gradebook(graded):
    rows = gradebook(graded[1])
    found = {name: (row["status"], row["score"]) for name, row in rows.items()}
    assert found == {
        "ann": ("passed", "100"),
        "bo": ("passed", "100"),
        "cy": ("failed", rows["cy"]["score"]),
        "di": ("failed", "0"),
        "ed": ("not_started", "0"),
        "flo": ("failed", "0"),
        "gus": ("failed", "0"),
        "hal": ("failed", "0"),
        "ida": ("failed", "0"),
    }
    assert 0 <= float(rows["cy"]["score"]) < 100
    for name, words in {
        "cy": "race-shared",
        "di": "no-launch",
        "flo": "does-not-compile",
        "gus": "is empty",
        "hal": "There is no .cu file, only report.pdf.",
        "ida": "damaged",
    }.items():
        assert words in rows[name]["remark"]
    for folder, suffix in (("results", "json"), ("feedback", "html")):
        assert {path.name for path in (graded[1] / folder).iterdir()} == {
            f"{name}.{suffix}" for name in rows
        }


@pytest.mark.slow
def test_killed_and_damaged_it_ends_with_the_same_files(graded, tmp_path):
    export, whole = graded
    output = tmp_path / "out"
    units = output / ".batch" / "units"
    started = subprocess.Popen(command(export, output), stderr=subprocess.DEVNULL, cwd=REPOSITORY)
    deadline = time.monotonic() + 60
    while not list(units.glob("*.json")) and started.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert not (output / "gradebook.csv").exists()
    done = sorted(units.glob("*.json"))
    assert 0 < len(done) < 5
    # Planted: a unit's record and a student's result that are half written, and scratch files.
    done[0].write_bytes(done[0].read_bytes()[:-40])
    (output / "results" / "ann.json").write_text('{"schema": "tilewise.result/1", "sco')
    (output / "results" / ".abc.tmp").write_text("x")
    (output / ".batch" / "cache" / "run-killed").mkdir()
    assert run(export, output).returncode == 0
    assert contents(output) == contents(whole)
    assert not (output / ".batch" / "cache" / "run-killed").exists()


def test_interrupted_it_says_how_to_go_on(graded, tmp_path):
    export, _ = graded
    started = subprocess.Popen(
        command(export, tmp_path / "out"), stderr=subprocess.PIPE, text=True, cwd=REPOSITORY,
        # A test run started in the background ignores ^C; what it starts inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while "files to grade" not in started.stderr.readline():
        pass
    time.sleep(0.3)
    started.send_signal(signal.SIGINT)
    said = started.communicate(timeout=20)[1]
    assert started.returncode == 130
    assert "The same command goes on where it was." in said
    assert "Traceback" not in said


def test_only_what_is_new_is_graded(graded, tmp_path):
    output = tmp_path / "out"
    export = tmp_path / "class"
    shutil.copytree(graded[0], export)
    shutil.copytree(graded[1], output)
    assert "0 files to grade" in run(export, output).stderr
    assert contents(output) == contents(graded[1])
    (export / "ann/matmul.cu").write_bytes(b"int broken")
    (export / "bo/02-tiled-kernel/matmul.cu").unlink()
    (export / "hal/report.pdf").unlink()
    (export / "hal").rmdir()
    assert "1 files to grade" in run(export, output).stderr
    rows = gradebook(output)
    assert "does-not-compile: " in rows["ann"]["remark"]
    assert "hal" not in rows
    assert not (output / "results" / "hal.json").exists()
    for name in ("bo", "cy.zip", "di.cu"):
        path = export / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    said = run(export, output, "--seed", "2").stderr
    assert "changed since the last run: the seed (1 before, now 2)" in said


def test_the_roster_tells_who_handed_in_nothing(built, tmp_path):
    export = fill(tmp_path / "hw-submissions", {"hw-ann/matmul.cu": b"x", "hw-bo/notes.md": b"x"})
    (tmp_path / "roster.csv").write_text(
        "identifier,github_username,github_id,name\nann@x,Ann,1,\ncy@x,cy,2,\ndi@x,,,\n"
    )
    done = run(export, tmp_path / "out", "--roster", tmp_path / "roster.csv", "--weights", "02=20")
    assert done.returncode == 0, done.stderr
    rows = gradebook(tmp_path / "out")
    found = {name: (row["status"], row["score"], row["max_score"]) for name, row in rows.items()}
    assert found == {
        "ann": ("failed", "0", "20"),
        "bo": ("failed", "0", "20"),
        "cy": ("not_handed_in", "", "20"),
        "di-x": ("not_handed_in", "", "20"),
    }
    github = (tmp_path / "out" / "gradebook-github.csv").read_text()
    assert "Tilewise 02-tiled-kernel,ann,ann@x,hw-ann,0,20" in github


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["gone", "--output", "out"], "There is no gone"),
            (["class", "--output", "class/out"], "lie in each other"),
            (["class", "--output", "taken"], "holds something else"),
            (["class", "--output", "out", "--labs", "42"], "There is no lab '42'"),
            (["class", "--output", "out", "--roster", "class/x.csv"], "cannot be read"),
            (["class", "--output", "out", "--weights", "02=no"], "LAB=POINTS"),
        ],
    )
    def test_one_sentence(self, built, tmp_path, arguments, words):
        fill(tmp_path, {"class/ann/matmul.cu": b"x", "taken/thesis.tex": b"x"})
        env = os.environ | {"TILEWISE_ROOT": str(REPOSITORY), "PYTHONPATH": str(REPOSITORY)}
        done = run_here("batch", *arguments, cwd=tmp_path, env=env)
        assert done.returncode == 2
        last = done.stderr.splitlines()[-1]
        assert last.startswith("grader: ") and words in last
        assert not (tmp_path / "out" / "gradebook.csv").exists()

    def test_no_sandbox(self, built, tmp_path):
        export = fill(tmp_path / "class", {"ann/matmul.cu": b"x"})
        done = run(export, tmp_path / "out", TILEWISE_SANDBOX="none")
        assert done.returncode == 3
        assert "sandbox" in done.stderr
        assert not (tmp_path / "out").exists()


def test_the_same_seed_makes_the_same_class(tmp_path):
    labs = ("01-naive-kernel", LAB)
    for platform in ("plain", "moodle", "canvas", "github", "gradescope"):
        made = [make(tmp_path / f"{platform}{n}", 40, 5, platform, labs) for n in (1, 2)]
        assert made[0] == made[1]
        assert made[0]["students"] == 40
        first, second = (
            {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
            for root in (tmp_path / f"{platform}1", tmp_path / f"{platform}2")
        )
        assert first == second
