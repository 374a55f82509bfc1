"""A grader from a wheel: which programs it takes, where a student's files and its own are."""

from __future__ import annotations

import json

import pytest

from grader import INSTALLED, __version__
from grader.commands import version
from grader.commands.version import version_text
from grader.errors import UsageError
from grader.labs import course as courses
from grader.labs.course import find_checkout, find_course
from grader.packaging import wheels

AVX2 = "fpu avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
AVX512 = f"{AVX2} avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """What a wheel has, without content; the working folder is an empty one beside it."""
    folder = tmp_path / "site" / "grader" / "installed"
    for name in ("labs/01-naive-kernel", "labs/02-tiled-kernel", "common/devices"):
        (folder / name).mkdir(parents=True)
    for lab in ("01-naive-kernel", "02-tiled-kernel"):
        (folder / "labs" / lab / "lab.toml").write_text("")
    for level in ("baseline", "avx2", "avx512"):
        (folder / "programs" / level / "bin").mkdir(parents=True)
    origin = {"version": "1", "commit": "0123abcd", "platform": "manylinux_2_28_x86_64"}
    (folder / "origin.json").write_text(json.dumps(origin))
    for module in (courses, version):
        monkeypatch.setattr(module, "INSTALLED", folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TILEWISE_ROOT", raising=False)
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    return folder


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        (AVX512, "avx512"),
        (AVX2, "avx2"),
        (AVX512.replace("avx512bw", ""), "avx2"),
        (AVX2.replace("fma", ""), "baseline"),
        ("fpu sse2", "baseline"),
        ("", "baseline"),
    ],
)
def test_programs_are_those_that_the_processor_runs(installed, tmp_path, flags, level):
    information = tmp_path / "cpuinfo"
    information.write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t: none\n")
    assert courses.installed_programs(information) == installed / "programs" / level


def test_where_nothing_is_known_of_the_processor_the_programs_run_everywhere(installed, tmp_path):
    information = tmp_path / "cpuinfo"
    assert courses.installed_programs(information).name == "baseline"
    information.write_text("Features : fp asimd\n")
    assert courses.installed_programs(information).name == "baseline"


class TestCourse:
    def test_working_copies_are_those_around_the_working_folder(
        self, installed, tmp_path, monkeypatch
    ):
        inner = tmp_path / "mine" / "labs" / "02-tiled-kernel"
        inner.mkdir(parents=True)
        monkeypatch.chdir(inner)
        found = find_course()
        assert found.root == installed
        assert found.work == tmp_path / "mine"
        assert found.working_copies == tmp_path / "mine" / "labs"
        assert found.progress == tmp_path / "mine" / ".tilewise"
        assert found.handed_out() == ["02-tiled-kernel"]
        assert found.build == tmp_path / "cache" / "tilewise"
        assert found.programs.parent == installed / "programs"

    def test_a_checkout_is_graded_by_its_own_rules_with_the_programs_of_the_wheel(
        self, installed, tmp_path, monkeypatch
    ):
        checkout = tmp_path / "checkout"
        for name in ("labs", "common"):
            (checkout / name).mkdir(parents=True)
        monkeypatch.chdir(checkout)
        found = find_course()
        assert (found.root, found.work, found.build) == (checkout, checkout, checkout / "build")
        assert found.programs.parent == installed / "programs"

    def test_packages_and_labs_are_made_in_a_checkout(self, installed, tmp_path, monkeypatch):
        with pytest.raises(UsageError, match="a checkout of the course"):
            find_checkout()
        for name in ("labs", "common"):
            (tmp_path / "checkout" / name).mkdir(parents=True)
        monkeypatch.chdir(tmp_path / "checkout")
        assert find_checkout().root == tmp_path / "checkout"

    def test_the_working_copy_of_an_exercise_is_beside_those_of_labs(self, installed, tmp_path):
        (installed / "exercises" / "reduction").mkdir(parents=True)
        (installed / "exercises" / "reduction" / "lab.toml").write_text("")
        mine = find_course()
        assert mine.folder("reduction") == installed / "exercises" / "reduction"
        assert mine.working_copy("reduction") == tmp_path / "mine" / "exercises" / "reduction"
        assert mine.working_copy("02-tiled-kernel") == tmp_path / "mine/labs/02-tiled-kernel"

    def test_a_user_whose_home_cannot_be_written_keeps_it_in_the_folder(
        self, installed, tmp_path, monkeypatch
    ):
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        assert find_course().build == tmp_path / "mine" / ".tilewise" / "build"

    def test_a_checkouts_own_grader_has_no_such_folder(self):
        assert not INSTALLED.exists()


def test_the_version_says_that_it_is_a_wheel_and_of_what(installed, tmp_path, monkeypatch):
    assert version_text() == (
        f"grader, version {__version__}, commit 0123abcd, a wheel for manylinux_2_28_x86_64"
    )
    checkout = tmp_path / "checkout"
    for name in ("labs", "common"):
        (checkout / name).mkdir(parents=True)
    monkeypatch.chdir(checkout)
    assert version_text().endswith(f"; labs of the checkout {checkout}")


class TestInPackages:
    NAME = "tilewise-1.0.0-py3-none-manylinux_2_28_x86_64.whl"

    def test_a_file_goes_with_the_package(self, tmp_path):
        (tmp_path / self.NAME).write_bytes(b"PK")
        files = wheels.files(str(tmp_path / self.NAME))
        assert files[f"wheel/{self.NAME}"].content == b"PK"
        assert files["wheel.txt"].content.decode() == f"wheel/{self.NAME}\n"

    def test_an_address_is_named(self):
        address = f"https://example.edu/course/{self.NAME}?download=1"
        files = wheels.files(address)
        assert {name: file.content.decode() for name, file in files.items()} == {
            "wheel.txt": f"{address}\n"
        }

    def test_without_one_nothing_is_added(self):
        assert wheels.files("") == {}

    @pytest.mark.parametrize(
        ("wheel", "words"),
        [
            ("http://example.edu/tilewise-1.0.0-py3-none-manylinux_2_28_x86_64.whl", "https://"),
            ("https://example.edu/course.zip", "is no wheel of this course"),
            ("numpy-2.0.0-cp311-cp311-manylinux_2_17_x86_64.whl", "is no wheel of this course"),
            ("gone/tilewise-1.0.0-py3-none-manylinux_2_28_x86_64.whl", "no such file"),
        ],
    )
    def test_what_is_none_is_refused(self, wheel, words):
        with pytest.raises(UsageError, match=words):
            wheels.files(wheel)
