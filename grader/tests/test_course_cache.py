"""Where the grader writes in a checkout that another user has set up."""

import os
from pathlib import Path

import pytest

from grader.errors import CourseError
from grader.labs import course as courses
from grader.labs.course import Course


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """A checkout whose build/ this user may not write to; everything else is as it is."""
    build = tmp_path / "checkout" / "build"
    build.mkdir(parents=True)
    allowed = os.access
    monkeypatch.setattr(
        courses.os, "access",
        lambda path, mode: not Path(path).is_relative_to(build) and allowed(path, mode),
    )  # fmt: skip
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(courses.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return Course(tmp_path / "checkout", build)


def test_ones_own_checkout_has_its_cache_in_build(tmp_path):
    course = Course(tmp_path, tmp_path / "build")
    assert course.cache == tmp_path / "build" / "cache"
    (tmp_path / "build").mkdir()
    assert course.cache == tmp_path / "build" / "cache"


def test_a_foreign_one_has_it_at_home(foreign, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert foreign.cache.parent == tmp_path / "home" / ".cache" / "tilewise"
    other = Course(foreign.root, tmp_path / "checkout" / "build" / "other")
    other.build.mkdir()
    assert other.cache != foreign.cache


def test_without_a_home_it_is_a_private_folder(foreign, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    place = foreign.cache
    assert place.parent == tmp_path / "tmp" and place.stat().st_mode & 0o777 == 0o700
    assert foreign.cache == place


def test_a_folder_that_another_has_put_there_is_refused(foreign, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    place = foreign.cache
    place.rmdir()
    place.symlink_to(tmp_path)
    with pytest.raises(CourseError, match="XDG_CACHE_HOME"):
        foreign.cache  # noqa: B018
    place.unlink()
    place.mkdir()
    monkeypatch.setattr(courses.os, "getuid", lambda: 0 if place.stat().st_uid else 12345)
    (tmp_path / "tmp" / place.name.replace("-0-", "-12345-")).mkdir(exist_ok=True)
    with pytest.raises(CourseError, match="XDG_CACHE_HOME"):
        foreign.cache  # noqa: B018
