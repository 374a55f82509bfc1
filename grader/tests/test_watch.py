"""Watching: a new grade for new content, an answer to every key, and a terminal left as it was."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

import pytest

from grader.machine.toolchain import find_toolchain
from grader.student.watch import Actions, Watch
from grader.tests.conftest import REPOSITORY


class Desk:
    """A student's desk without a terminal: keys come from a script, what is shown is kept."""

    def __init__(self, tmp_path, script):
        self.file = tmp_path / "matmul.cu"
        self.file.write_text("0")
        self.script, self.shown, self.graded = list(script), [], []
        self.followed = []
        self.passes = True
        actions = Actions(
            file=lambda lab: self.file,
            run=self.run,
            full=lambda lab: f"all of {lab}",
            hint=lambda lab: f"a hint for {lab}",
            overview=lambda: "all labs",
            following={"01": "02"}.get,
            view=lambda lab: f"a page of {lab}",
            follow=self.followed.append,
        )
        self.watch = Watch("01", actions, self.shown.append, self.key)

    def run(self, lab):
        self.graded.append((lab, self.file.read_text() if self.file.exists() else None))
        return "a report", self.passes

    def key(self, seconds):
        if not self.script:
            return None
        step = self.script.pop(0)
        if callable(step):
            step()
            return ""
        return step


def test_grades_at_the_start_and_on_new_content_only(tmp_path):
    desk = Desk(tmp_path, [])
    write = lambda text: lambda: desk.file.write_text(text)  # noqa: E731
    desk.script = ["", write("1"), "", "", write("1"), "", "", write("2"), "", "", "q", "r"]
    desk.watch.loop()
    assert [content for _, content in desk.graded] == ["0", "1", "2"]


def test_a_file_that_is_gone_for_a_moment_is_waited_for(tmp_path):
    desk = Desk(tmp_path, [])
    desk.script = [desk.file.unlink, "", "", lambda: desk.file.write_text("1"), "", "", "q"]
    desk.watch.loop()
    assert [content for _, content in desk.graded] == ["0", "1"]


def test_a_file_that_is_still_being_written_is_waited_for(tmp_path):
    desk = Desk(tmp_path, [])
    write = lambda text: lambda: desk.file.write_text(text)  # noqa: E731
    # Grading waits for a look that finds what the look before it found.
    desk.script = [write("1"), write("12"), "", "", "q"]
    desk.watch.loop()
    assert [content for _, content in desk.graded] == ["0", "12"]


def test_keys(tmp_path):
    desk = Desk(tmp_path, ["h", "l", "v", "x", "r", "n", "n", "f", "q"])
    desk.watch.loop()
    assert desk.graded == [("01", "0"), ("01", "0"), ("02", "0")]
    assert "a hint for 01\n" in desk.shown
    assert "a page of 01\n" in desk.shown
    assert desk.followed == [lab for lab, _ in desk.graded]
    assert "all labs" in desk.shown
    assert desk.shown[-2] == "This is the last lab.\n"
    assert desk.shown[-1].startswith("all of 02\n")
    assert "q quit" in desk.shown[4]


def test_end_of_input_ends_the_watch(tmp_path):
    desk = Desk(tmp_path, ["", ""])
    desk.watch.loop()
    assert len(desk.graded) == 1


class Terminal:
    """A real pseudo-terminal with `grader watch` in it."""

    def __init__(self, course, *arguments, **environment):
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, 88))
        foreign = ("TILEWISE_", "COLUMNS", "LINES")  # test runners set sizes of their own
        env = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        env |= {
            "TILEWISE_ROOT": str(course),
            "PYTHONPATH": str(REPOSITORY),
            "TERM": "xterm",
        } | environment
        self.transcript = self.unread = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grader", "watch", *arguments],
            stdin=slave, stdout=slave, stderr=slave, env=env, cwd=course, start_new_session=True,
            # A test run started in the background ignores ^C; what it starts inherits that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        os.close(slave)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def wait_for(self, words, seconds=20):
        """What was shown up to and including the words; what follows them is left for the next call."""
        shown = re.compile(r"(?:\x1b\[[0-9;?]*[A-Za-z])*".join(map(re.escape, words)))
        end = time.monotonic() + seconds
        while not (found := shown.search(self.unread)):
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            assert ready, f"waited for {words!r}, got {self.unread!r}"
            try:
                read = os.read(self.master, 65536).decode(errors="replace")
            except OSError:
                pytest.fail(f"ended before {words!r}: {self.unread!r}")
            self.unread += read
            self.transcript += read
        text, self.unread = self.unread[: found.end()], self.unread[found.end() :]
        return text

    def close(self):
        os.close(self.master)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def terminal(tmp_path):
    root = tmp_path / "course"
    for folder in ("labs", "solutions", "datasets", "common/devices", "common/include"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    terminal = Terminal(root, "02", "--backend", "sim")
    terminal.file = root / "labs/02-tiled-kernel/matmul.cu"
    yield terminal
    terminal.close()


def test_in_a_real_terminal(terminal):
    first = terminal.wait_for("q quit")
    assert "Not started" in first
    assert "\x1b[" in first  # a terminal gets color
    terminal.type("h")
    assert "TODO(1)" in terminal.wait_for("shared memory.")
    terminal.type("l")
    terminal.wait_for("Your way through the labs")
    terminal.file.write_text("")
    terminal.wait_for("is empty: has it been saved?")
    terminal.file.write_text("__global__ void k() {}\n")
    terminal.wait_for("make setup")  # nothing is built in this checkout
    terminal.wait_for("q quit")
    terminal.type("n")
    assert "Boundary" in terminal.wait_for("q quit")
    terminal.type("q")
    terminal.wait_for("Your way through the labs")
    assert terminal.process.wait(10) == 0


def test_interrupting_is_no_failure_of_the_grader(terminal):
    terminal.wait_for("q quit")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.process.wait(10) == 130
    assert "Traceback" not in terminal.wait_for("Stopped.")


DOCS_PAGE = REPOSITORY / "docs" / "watch-session.md"
OPENING = """# A watch session

What `make watch LAB=02` shows while a student works on lab 02: the untouched skeleton, a first try
without barriers, the key `h` twice, the solution, the key `l`, the key `q`. Recorded by the
grader's tests from a real terminal; `>>` marks what the student did.

```text
"""


@pytest.mark.slow
def test_the_session_in_the_docs(built, tmp_path, update_golden):
    """Drives a whole session; the page in docs/ must show just that."""
    if find_toolchain(built).version != "13.0":
        pytest.skip("the page was recorded with CUDA 13.0, whose name and registers it shows")
    root = tmp_path / "course"
    for folder in ("labs", "solutions", "datasets", "common/devices", "common/include"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    file = root / "labs/02-tiled-kernel/matmul.cu"
    solution = (root / "solutions/02-tiled-kernel/matmul.cu").read_text()
    desk = Terminal(root, "02", "--backend", "sim", TERM="dumb", TILEWISE_BUILD=str(built.build))

    def does(what):
        desk.transcript += f">> {what}\n"

    try:
        desk.wait_for("q quit")
        does("writes a first version, without barriers, and saves")
        file.write_text(re.sub(r"\n *__syncthreads\(\);[^\n]*", "", solution))
        desk.wait_for("q quit", 100)
        for _ in range(2):
            does("h")
            desk.type("h")
            desk.wait_for("(ask again for more)")
        does("puts the barriers in and saves")
        file.write_text(solution)
        desk.wait_for("q quit", 100)
        does("l")
        desk.type("l")
        desk.wait_for("then: make grade")
        does("q")
        desk.type("q")
        desk.wait_for("then: make grade")
    finally:
        desk.close()
    shown = desk.transcript.replace("\r", "")
    page = OPENING + "\n".join(line.rstrip() for line in shown.splitlines()) + "\n```\n"
    if update_golden:
        DOCS_PAGE.write_text(page)
    assert "race-shared" in page and "full marks" in page
    assert DOCS_PAGE.read_text() == page
