"""Shared by all tests: a small course, canned executions, and what needs the built programs."""

from __future__ import annotations

import gc
import os
import zlib
from pathlib import Path

import pytest

from grader.errors import GraderError
from grader.judging.quietly import LOUD
from grader.labs.course import Course, find_course
from grader.labs.lab import Lab, load_lab
from grader.machine.toolchain import PROGRAMS, find_toolchain, program
from grader.tests.selection import Part

os.environ[LOUD] = "1"  # a rule that fails is a failure of the test that met it
_SKIPPED = pytest.StashKey[list]()
REPOSITORY = Path(__file__).resolve().parents[2]

LAB_TOML = """
id = "02"
title = "Tiled kernel"
order = 2
summary = "Load tiles together."
signature = "square-device"

[[cases]]
id = "w4"
title = "4x4"
width = 4
data = "integers"
role = "toy"

[[cases]]
id = "w8"
title = "8x8"
width = 8
role = "performance"

[[cases]]
id = "secret"
width = 5
hidden = true

[[checks]]
id = "toy"
title = "the toy is right"
group = "correctness"
points = 20
kind = "outputs"
cases = ["w4"]

[[checks]]
id = "sizes"
title = "right at all sizes"
group = "correctness"
points = 30
kind = "outputs"
cases = ["w8", "secret"]
needs = ["toy"]

[[checks]]
id = "clean"
title = "no races"
group = "safety"
points = 25
kind = "clean"
codes = ["race-shared", "out-of-bounds-shared"]
cases = ["w4", "w8", "secret"]

[[checks]]
id = "traffic"
title = "few sectors"
group = "performance"
points = 25
kind = "counter"
backend = "sim"
case = "w8"
value = "global_load_sectors / global_load_requests"
at_most = 4
message = "sectors per request"
needs = ["sizes"]

[[checks]]
id = "time"
title = "fast"
group = "performance"
points = 25
kind = "time"
backend = "gpu"
both = 10
case = "w8"
needs = ["sizes"]

[[hints]]
for = ["race-shared", "clean"]
tiers = ["the concept", "the place", "the line"]
"""


@pytest.fixture
def write_lab(tmp_path):
    """Writes a lab.toml into a folder of its own; returns the folder."""

    def write(text: str = LAB_TOML) -> Path:
        folder = tmp_path / "02-tiled-kernel"
        folder.mkdir(exist_ok=True)
        (folder / "lab.toml").write_text(text)
        return folder

    return write


@pytest.fixture
def lab(write_lab) -> Lab:
    return load_lab(write_lab())


@pytest.fixture(scope="session")
def course() -> Course:
    """This checkout."""
    return find_course(REPOSITORY)


@pytest.fixture(scope="session")
def built(course: Course) -> Course:
    """This checkout with nvcc and the C++ programs; skips, or fails where they must be there."""
    try:
        find_toolchain(course)
        for name in PROGRAMS:
            program(course, name)
    except GraderError as error:
        if os.environ.get("TILEWISE_REQUIRE_TOOLCHAIN") == "1":
            pytest.fail(f"TILEWISE_REQUIRE_TOOLCHAIN=1, and: {error}")
        pytest.skip(str(error))
    return course


def pytest_addoption(parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")
    parser.addoption(
        "--all", action="store_true", help="a test may be skipped for want of a GPU only"
    )
    parser.addoption(
        "--part",
        type=Part.read,
        metavar="N/M",
        help="only so much of the many like cases marked slow",
    )


_LONGEST_ID = 80


def pytest_make_parametrize_id(val, argname) -> str | None:
    """A long text has a short name: xdist sends the name of every test from every worker, and what a
    test starts gets its own in the environment."""
    if isinstance(val, (str, bytes)) and len(val) > _LONGEST_ID:
        data = val if isinstance(val, bytes) else val.encode("utf-8", "surrogatepass")
        return f"{ascii(val[:40])[1:-1]}...{len(val)}-{zlib.crc32(data):08x}"
    return None


@pytest.hookimpl(tryfirst=True)  # before xdist, which reads the groups in this hook, too
def pytest_collection_modifyitems(config, items) -> None:
    """Tests that share a fixture of their module run in one process (`--dist loadgroup`), so that
    it is made once."""
    part = config.getoption("--part")
    if part is not None:
        left_out = [item for item in items if not part.has(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if part.has(item)]
    for item in items:
        info = getattr(item, "_fixtureinfo", None)
        defined = info.name2fixturedefs.values() if info else ()
        if any(found[-1].scope == "module" for found in defined):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


def pytest_collection_finish() -> None:
    """The thousands of tests of a worker live until its end: the garbage collector need not visit them."""
    gc.collect()
    gc.freeze()


def _may_be_skipped(report) -> bool:
    """For want of a GPU (or because there is one), or for another toolkit than a page was made with."""
    return any(word in report.longrepr[2] for word in ("GPU", "recorded with CUDA"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus) -> None:
    """With --all, a skip that is not for want of a GPU is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("--all"):
        return
    skipped = [x for x in reporter.stats.get("skipped", []) if not _may_be_skipped(x)]
    session.config.stash[_SKIPPED] = skipped
    if skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config) -> None:
    skipped = config.stash.get(_SKIPPED, [])
    if skipped:
        terminalreporter.section("skipped, which --all forbids but for want of a GPU", red=True)
        for report in skipped:
            terminalreporter.line(f"{report.nodeid}: {report.longrepr[2]}")


@pytest.fixture
def update_golden(request) -> bool:
    return request.config.getoption("--update-golden")


from grader.tests.stage import stage  # noqa: E402, F401 - a fixture, which needs LAB_TOML
