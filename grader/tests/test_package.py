"""`grader package gradescope`, and grading in the layout that the platform makes."""

import json
import math
import os
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

from grader.errors import UsageError
from grader.labs.options import Options
from grader.packaging import autograder, package
from grader.tests import rules, samples
from grader.tests.command import run_here
from grader.tests.conftest import REPOSITORY


def run(*arguments, **environment):
    return run_here(*arguments, cwd=REPOSITORY, env=os.environ | environment)


def make(folder, *arguments):
    path = folder / "autograder.zip"
    done = run("package", "gradescope", "--output", path, *arguments)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    path = make(tmp_path_factory.mktemp("zip"), "--labs", "2,01", "--seed", "99")
    with zipfile.ZipFile(path) as archive:
        return {entry.filename: entry for entry in archive.infolist()}


class TestZip:
    def test_the_two_scripts_are_at_the_top_and_may_run(self, names):
        for name in ("setup.sh", "run_autograder"):
            assert names[name].external_attr >> 16 & 0o111
        assert names["tilewise/common/setup/setup.sh"].external_attr >> 16 & 0o111

    def test_only_what_grading_needs(self, names):
        assert not [name for name in names if "/tests/" in name or "solutions" in name]
        assert not [name for name in names if name.endswith((".pyc", "matmul.cu"))]
        assert not [name for name in names if ".egg" in name]
        labs = [name for name in names if name.startswith("tilewise/labs/")]
        assert sorted(labs) == [
            "tilewise/labs/01-naive-kernel/lab.toml",
            "tilewise/labs/02-tiled-kernel/lab.toml",
        ]
        assert "tilewise/docs/result.schema.json" in names
        assert "tilewise/grader/writers/html.jinja" in names

    def test_equal_packages_are_equal_files(self, tmp_path):
        one = make(tmp_path, "--seed", "5").read_bytes()
        assert make(tmp_path, "--seed", "5").read_bytes() == one

    def test_settings_are_read_back(self, tmp_path):
        settings = package.Settings(("01-naive-kernel",), {"01-naive-kernel": 10}, 7, "h200", 100)
        path = tmp_path / "settings.json"
        path.write_text(json.dumps(package.asdict(settings)))
        assert package.load_settings(path) == settings
        path.write_text("{}")
        with pytest.raises(UsageError, match="is not the settings file"):
            package.load_settings(path)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--labs", "77"], "There is no lab '77'"),
            (["--labs", ","], "No lab was chosen"),
            (["--weights", "01"], "is not LAB=POINTS"),
            (["--device", "abacus"], "There is no device 'abacus'"),
        ],
    )
    def test_mistakes_leave_no_file(self, arguments, words, tmp_path):
        done = run("package", "gradescope", "--output", tmp_path / "x.zip", *arguments)
        assert done.returncode == 2
        assert words in done.stderr and done.stderr.count("\n") == 1
        assert not list(tmp_path.iterdir())


class TestProcessors:
    @pytest.mark.parametrize(
        ("files", "quota"),
        [
            ({"cpu.max": "50000 100000\n"}, 0.5),
            ({"cpu.max": "max 100000\n"}, math.inf),
            ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
            ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
            ({}, math.inf),
        ],
    )
    def test_quota(self, files, quota, tmp_path):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        assert autograder._quota(tmp_path) == quota

    def test_half_a_processor_is_one(self, tmp_path):
        (tmp_path / "cpu.max").write_text("50000 100000")
        code = (
            "import os, pathlib; from grader.packaging import autograder;"
            f"autograder.use_granted_processors(pathlib.Path({str(tmp_path)!r}));"
            "print(len(os.sched_getaffinity(0)))"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
        assert done.stdout == "1\n"


class TestTime:
    def test_labs_after_the_time_is_up_get_the_reason(self, course, tmp_path):
        labs = ("01-naive-kernel", "02-tiled-kernel", "03-boundary-checks")
        for lab in labs:
            (tmp_path / lab).mkdir()
            (tmp_path / lab / "matmul.cu").write_text("// something\n")
        ticks = iter([0, 1, 300, 301, 700, 701, 702, 703])
        said = []
        results = autograder.grade_all(
            course,
            package.Settings(labs, {labs[0]: 10.0}, seconds=540),
            Options("sim"),
            tmp_path,
            lambda lab, handed_in: replace(samples.PASSED, lab=lab.name),
            said.append,
            lambda: next(ticks),
        )
        assert [result.score for result in results] == [10, 100, 0]
        assert "took all of the 540 seconds" in results[2].message
        assert len(said) == 3


@pytest.fixture
def layout(built, tmp_path):
    """The platform's folders, with this checkout in the place of the unpacked and built package."""
    root = tmp_path / "autograder"
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    (root / "source" / "tilewise").symlink_to(built.root)
    script = root / "run_autograder"
    original = built.root / "templates" / "gradescope" / "run_autograder"
    script.write_text(
        original.read_text().replace("$TILEWISE_ROOT/settings.json", "$ROOT/settings.json")
    )

    def run_autograder(settings, **files):
        (root / "settings.json").write_text(json.dumps(package.asdict(settings)))
        for name, content in files.items():
            path = root / "submission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        done = subprocess.run(
            ["bash", script], cwd=root, capture_output=True, text=True, timeout=110,
            env={"PATH": os.environ["PATH"], "AUTOGRADER_ROOT": str(root)},
        )  # fmt: skip
        path = root / "results" / "results.json"
        return done, path.read_text() if path.exists() else None

    return run_autograder


class TestPlatform:
    def test_a_right_lab_and_one_that_is_missing(self, layout):
        labs = ("01-naive-kernel", "02-tiled-kernel")
        right = (REPOSITORY / "solutions" / labs[0] / "matmul.cu").read_bytes()
        settings = package.Settings(labs, {labs[0]: 10.0, labs[1]: 20.0}, seed=3)
        done, text = layout(settings, **{f"repo/labs/{labs[0]}/matmul.cu": right})
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert rules.gradescope(text) == 10
        assert "There is no 02-tiled-kernel/matmul.cu" in text
        assert "passed, 100 of 100 points" in done.stderr

    def test_a_failing_grader_leaves_no_result(self, layout):
        settings = package.Settings(("01-naive-kernel",), device="abacus")
        done, text = layout(settings, **{"matmul.cu": b"int x;\n"})
        assert done.returncode != 0
        assert text is None
