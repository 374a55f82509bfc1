"""Steps are limited in time, memory and output, and what they start ends with them."""

import os
import sys
import time
from pathlib import Path

import pytest

from grader import bubblewrap, sandbox
from grader.errors import ToolchainError
from grader.sandbox import Limits, View, run


def test_output_and_status():
    outcome = run(["sh", "-c", "echo out; echo err >&2; exit 7"], limits=Limits())
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (7, "out\n", "err\n")
    assert not outcome.timed_out


def test_time_out_ends_the_whole_group(tmp_path):
    mark = tmp_path / "alive"
    script = f"(sleep 1; touch {mark}) & sleep 60"
    outcome = run(["sh", "-c", script], limits=Limits(seconds=0.2))
    assert outcome.timed_out
    assert outcome.seconds < 5
    time.sleep(1.2)
    assert not mark.exists()


def test_children_do_not_outlive_a_step_that_ended(tmp_path):
    mark = tmp_path / "alive"
    run(["sh", "-c", f"(sleep 0.5; touch {mark}) & exit 0"], limits=Limits())
    time.sleep(0.8)
    assert not mark.exists()


def test_memory_is_limited():
    script = "x = bytearray(1 << 30)"
    outcome = run([sys.executable, "-c", script], limits=Limits(memory_bytes=512 << 20))
    assert outcome.returncode != 0
    assert "MemoryError" in outcome.stderr


def test_floods_are_cut():
    outcome = run(["yes"], limits=Limits(seconds=10, file_bytes=1 << 20))
    assert outcome.returncode != 0
    assert len(outcome.stdout) <= 64 * 1024
    assert outcome.seconds < 5


def test_signals_are_negative():
    assert run(["sh", "-c", "kill -SEGV $$"], limits=Limits()).returncode == -11


def test_environment_does_not_leak(monkeypatch):
    monkeypatch.setenv("TILEWISE_SECRET", "x")
    outcome = run(["env"], limits=Limits(), env={"MINE": "1"})
    assert "TILEWISE_SECRET" not in outcome.stdout
    assert "MINE=1" in outcome.stdout


def test_output_that_is_no_text():
    outcome = run(["printf", r"a\377b"], limits=Limits())
    assert outcome.stdout == "a\ufffdb"


def test_without_bubblewrap_it_says_how_to_get_one(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    bubblewrap.way.cache_clear()
    try:
        assert not sandbox.available()
        with pytest.raises(ToolchainError, match="apt install bubblewrap"):
            sandbox.require()
    finally:
        bubblewrap.way.cache_clear()


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv(sandbox.SWITCH, "")
    sandbox.switch_off()
    assert sandbox.kind() == "none"
    with pytest.raises(ToolchainError, match="switched off"):
        sandbox.require()


@pytest.mark.skipif(sandbox.kind() == "none", reason="bubblewrap does not work here")
class TestBubblewrap:
    """What a sandboxed step sees."""

    def inside(self, script: str, tmp_path: Path) -> sandbox.Outcome:
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        return run(["sh", "-c", script], limits=Limits(), view=View(writable=[work]), cwd=work)

    def test_writes_only_where_it_may(self, tmp_path):
        assert self.inside("echo x > here && cat here", tmp_path).stdout == "x\n"
        assert (tmp_path / "work" / "here").read_text() == "x\n"
        assert self.inside("echo x > /usr/x", tmp_path).returncode != 0
        for place in ("/usr/x", "/etc/x", str(tmp_path / "x")):
            self.inside(f"echo x > {place}", tmp_path)
            assert not Path(place).exists()

    def test_sees_no_home_and_no_secret(self, tmp_path):
        (tmp_path / "secret").write_text("s")
        for place in (tmp_path / "secret", Path.home(), "/var/log", "/etc/passwd"):
            assert self.inside(f"ls {place}", tmp_path).returncode != 0, place

    def test_reads_what_it_is_given(self, tmp_path):
        given = tmp_path / "given"
        given.mkdir()
        (given / "file").write_text("content")
        view = View(readable=[given])
        outcome = run(["cat", given / "file"], limits=Limits(), view=view)
        assert outcome.stdout == "content"
        assert run(["touch", given / "new"], limits=Limits(), view=view).returncode != 0

    def test_has_no_network_and_few_processes_to_see(self, tmp_path):
        assert self.inside("cat /proc/net/route", tmp_path).stdout.count("\n") <= 1
        assert self.inside("ls -d /proc/[0-9]*", tmp_path).stdout.count("\n") <= 4

    def test_time_out_ends_everything_inside(self, tmp_path):
        work = tmp_path / "work"
        work.mkdir()
        view = View(writable=[work])
        script = "(sleep 1; touch alive) & sleep 60"
        outcome = run(["sh", "-c", script], limits=Limits(seconds=0.3), view=view, cwd=work)
        assert outcome.timed_out
        time.sleep(1.2)
        assert os.listdir(work) == []
