"""Steps are limited in time, memory and output, and what they start ends with them."""

import os
import struct
import sys
import time
from pathlib import Path

import pytest

from grader import sandbox
from grader.errors import ToolchainError
from grader.sandbox import Limits, View, bubblewrap, run, seccomp
from grader.tests.conftest import REPOSITORY


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


def test_processor_time_is_limited_and_a_stall_is_none_of_the_step():
    busy = run(
        ["sh", "-c", "while :; do :; done"], limits=Limits(seconds=60, processor_seconds=0.3)
    )
    assert busy.exceeded == "time" and busy.timed_out
    child = run(
        ["sh", "-c", "(while :; do :; done) & wait"],
        limits=Limits(seconds=60, processor_seconds=0.3),
    )
    assert child.exceeded == "time"
    idle = run(["sleep", "60"], limits=Limits(seconds=0.5, processor_seconds=50))
    assert idle.exceeded == "stall" and not idle.timed_out


@pytest.mark.parametrize("view", [None, View()], ids=["limits alone", "sandbox"])
def test_what_a_step_that_ended_by_itself_used_is_told(view):
    """Also where it ran in a process namespace, of which the system tells nothing afterwards."""
    script = "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done"
    busy = run(["sh", "-c", script], limits=Limits(), view=view)
    assert busy.returncode == 0 and busy.processor_seconds > 0.15
    idle = run(["sleep", "0.6"], limits=Limits(), view=view)
    assert idle.processor_seconds < 0.1


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

    def inside(self, script: str, tmp_path: Path) -> sandbox.Ended:
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

    @pytest.mark.parametrize("seconds", [0, 0.005, 0.02, 0.3])
    def test_time_out_ends_everything_inside(self, seconds, tmp_path):
        """Also while bubblewrap is still at work."""
        work = tmp_path / "work"
        work.mkdir()
        view = View(writable=[work])
        script = "(sleep 0.5; touch alive) & sleep 60"
        outcome = run(["sh", "-c", script], limits=Limits(seconds=seconds), view=view, cwd=work)
        assert outcome.timed_out
        time.sleep(0.8)
        assert os.listdir(work) == []

    def test_no_place_but_the_scratch_folder_can_be_written_to(self, tmp_path):
        places = "/x /tmp/x /dev/x /dev/shm/x /proc/sys/kernel/hostname ../x"
        done = self.inside(f"for f in {places}; do echo x > $f && echo $f; done", tmp_path)
        assert done.stdout == ""

    def test_processes_are_limited(self, tmp_path):
        script = "i=0; while [ $i -lt 40 ]; do sleep 9 & i=$((i+1)); done; echo all"
        limits = Limits(seconds=20, processes=12)
        start = time.monotonic()
        outcome = run(["sh", "-c", script], limits=limits, view=View())
        assert "all" not in outcome.stdout
        assert time.monotonic() - start < 8

    def test_memory_of_all_processes_together_is_limited(self, tmp_path):
        script = (
            'for i in 1 2 3 4; do python3 -c "x = bytes([1]) * (150 << 20); input()" & done; wait'
        )
        command = ["sh", "-c", f"mkfifo p; {script.replace('input()', 'open(chr(112))')}"]
        work = tmp_path / "work"
        work.mkdir()
        limits = Limits(seconds=20, memory_bytes=300 << 20)
        outcome = run(command, limits=limits, view=View(writable=[work]), cwd=work)
        assert outcome.exceeded == "memory"

    def test_what_a_folder_may_hold_is_limited(self, tmp_path):
        work = tmp_path / "work"
        work.mkdir()
        script = "i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done"
        limits = Limits(seconds=20, folder_bytes=8 << 20)
        outcome = run(["sh", "-c", script], limits=limits, view=View(writable=[work]), cwd=work)
        assert outcome.exceeded == "files"

    def test_the_scratch_folder_is_ours_again_afterwards(self, tmp_path):
        self.inside("mkdir -p a/b; echo x > a/b/c; ln -s /etc/passwd link", tmp_path)
        owners = {path.lstat().st_uid for path in (tmp_path / "work").rglob("*")}
        assert owners == {os.geteuid()}

    def test_what_umask_077_made_can_be_read_and_run(self, tmp_path):
        closed, work = tmp_path / "closed", tmp_path / "work"
        work.mkdir()
        before = os.umask(0o077)
        try:
            (closed / "bin").mkdir(parents=True)
            program = closed / "bin" / "program"
            program.write_text("#!/bin/sh\ncat $(dirname $0)/data\n")
            program.chmod(0o700)
            (closed / "bin" / "data").write_text("read")
        finally:
            os.umask(before)
        view = View(writable=[work], readable=[closed / "bin"])
        outcome = run([str(program)], limits=Limits(), view=view, cwd=work)
        assert (outcome.stdout, outcome.stderr) == ("read", "")
        assert closed.stat().st_mode & 0o777 == 0o700  # nobody else gets there

    def test_calls_around_the_limits_are_refused(self, tmp_path):
        script = (
            "import ctypes, os\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "print(libc.memfd_create(b'x', 0), libc.unshare(0x10000000),\n"
            "      libc.ptrace(16, 1, 0, 0), libc.socket(1, 1, 0), libc.shmget(0, 4096, 0o1600))\n"
        )
        outcome = run(["/usr/bin/python3", "-c", script], limits=Limits(), view=View())
        if "not found" not in outcome.stderr:
            assert outcome.stdout == "-1 -1 -1 -1 -1\n", outcome.stderr


def test_more_output_than_allowed_ends_a_step():
    outcome = run(["yes"], limits=Limits(seconds=20, output_bytes=1 << 20))
    assert outcome.exceeded == "output"
    assert len(outcome.stdout) == 64 * 1024
    assert outcome.seconds < 10


def test_a_step_within_a_step_keeps_the_outer_limit():
    program = (
        "from grader.sandbox import Limits, run\n"
        "print(run(['sh', '-c', 'ulimit -v'], limits=Limits(memory_bytes=1 << 40)).stdout)"
    )
    command = [sys.executable, "-c", program]
    env = {"PYTHONPATH": str(REPOSITORY)}
    outcome = run(command, limits=Limits(memory_bytes=2 << 30), env=env)
    assert outcome.stdout.strip() == str(2 << 20), outcome.stderr


def test_the_filter_is_made_of_whole_instructions_whose_jumps_stay_inside():
    for machine in ("x86_64", "aarch64"):
        program = seccomp.program(machine)
        steps = list(struct.iter_unpack("=HBBI", program))
        assert len(steps) > 80 and steps[-1] == (6, 0, 0, 0x7FFF0000)
        for index, (code, if_true, if_false, _) in enumerate(steps):
            if code & 7 == 5:  # a jump
                assert index + 1 + max(if_true, if_false) < len(steps)
    assert seccomp.program("pdp11") is None
