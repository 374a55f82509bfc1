"""Watching a process and all that it starts: time, memory, processes, output, files.

The kernel's limits are per process. What a whole tree of processes uses is looked up here, some
twenty times a second, and a tree that uses too much is ended as a whole.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK_SECONDS = 0.05
_FOLDER_LOOK_SECONDS = 0.5
_END_SECONDS = 10
_MOST_ENTRIES = 5000  # of a writable folder; a step leaves about ten
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ended:
    """How a step ended. Output is cut to what the caller wants to keep."""

    returncode: int  # negative: ended by that signal
    stdout: str
    stderr: str
    seconds: float
    # What it used too much of: time, memory, processes, output, files; "stall": it had used little
    # processor time when its time was over, so the machine is to blame.
    exceeded: str = ""
    # Used when it was last looked at: some hundredths of a second before its end. What the system
    # tells of children that have ended lacks all that ran in a process namespace.
    processor_seconds: float = 0.0

    @property
    def too_much(self) -> str:
        """ "too much memory", "too many processes"."""
        many = "many" if self.exceeded in ("processes", "files") else "much"
        return f"too {many} {self.exceeded}"

    @property
    def timed_out(self) -> bool:
        return self.exceeded == "time"


def run(
    words: Sequence[str],
    *,
    seconds: float,
    processor_seconds: float | None,
    memory_bytes: int,
    processes: int,
    output_bytes: int,
    keep_bytes: int,
    folders: Sequence[Path],
    folder_bytes: int,
    cwd: Path | None,
    env: Mapping[str, str],
    pass_fds: Sequence[int],
) -> Ended:
    """Runs the words to their end, or to the first limit they exceed. OSError: not started."""
    start = time.monotonic()
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=dict(env),
        start_new_session=True,  # its own process group, which is killed as a whole
        pass_fds=tuple(pass_fds),
    )
    streams = _Streams(process, keep_bytes)
    exceeded = ""
    used = 0.0
    try:
        next_folder_look = start + _FOLDER_LOOK_SECONDS
        while not exceeded and process.poll() is None:
            now = time.monotonic()
            left = start + seconds - now
            streams.read(max(0.0, min(_LOOK_SECONDS, left)))
            if left <= 0:
                exceeded = "time" if processor_seconds is None else "stall"
            elif streams.total > output_bytes:
                exceeded = "output"
            else:
                exceeded, seen = _too_much(process.pid, memory_bytes, processes, processor_seconds)
                used = max(used, seen)
            if not exceeded and now >= next_folder_look:
                next_folder_look = now + _FOLDER_LOOK_SECONDS
                exceeded = "files" if _is_too_full(folders, folder_bytes) else ""
        if exceeded:
            used = max(used, sum(map(_ticks_of, _tree(process.pid))) / _TICKS_A_SECOND)
    finally:
        _end(process)
        streams.read_rest()
    returncode = process.returncode
    if returncode > 128:  # a shell or bubblewrap reports a child's signal this way
        returncode = 128 - returncode
    seconds = time.monotonic() - start
    return Ended(returncode, streams.text(0), streams.text(1), seconds, exceeded, used)


class _Streams:
    """Standard output and standard error: the first bytes are kept, all are counted."""

    def __init__(self, process: subprocess.Popen, keep_bytes: int) -> None:
        self.total = 0
        self._keep = keep_bytes
        self._kept = (bytearray(), bytearray())
        self._selector = selectors.DefaultSelector()
        for index, stream in enumerate((process.stdout, process.stderr)):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, index)
        self._exit = os.pidfd_open(process.pid)
        self._selector.register(self._exit, selectors.EVENT_READ, None)

    def read(self, seconds: float) -> bool:
        """Waits that long for output or the process's end; whether there was any output."""
        found = False
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                continue
            try:
                block = os.read(key.fileobj.fileno(), 1 << 16)
            except BlockingIOError:
                continue
            if not block:
                self._selector.unregister(key.fileobj)
                key.fileobj.close()
                continue
            found = True
            self.total += len(block)
            kept = self._kept[key.data]
            kept += block[: self._keep - len(kept)]
        return found

    def read_rest(self) -> None:
        """What the pipes still hold. Somebody who got away may hold them open: no waiting."""
        until = time.monotonic() + 2
        while self.read(0) and time.monotonic() < until:
            pass
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                key.fileobj.close()
        os.close(self._exit)
        self._selector.close()

    def text(self, index: int) -> str:
        return self._kept[index].decode("utf-8", errors="replace")


def _too_much(
    root: int, memory_bytes: int, processes: int, processor_seconds: float | None
) -> tuple[str, float]:
    """ "memory", "processes" or "time" if the tree uses too much of it, else ""; and its processor
    seconds."""
    resident = count = 0
    ticks = 0
    for pid in _tree(root):
        try:
            resident += int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
        except (OSError, IndexError, ValueError):
            continue  # it has just ended
        ticks += _ticks_of(pid)
        count += 1
        if count > processes + 8:  # the shell, bubblewrap and what sets the limits are counted too
            return "processes", 0.0
    used = ticks / _TICKS_A_SECOND
    if processor_seconds is not None and used > processor_seconds:
        return "time", used
    return "memory" if resident > memory_bytes else "", used


def _ticks_of(pid: int) -> int:
    """Processor time of a process, and of those below it that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15])


def _tree(root: int) -> Iterator[int]:
    """A process and everything below it."""
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                text = Path(f"/proc/{pid}/task/{thread}/children").read_text()
                waiting += [int(word) for word in text.split()]


def _is_too_full(folders: Sequence[Path], most_bytes: int) -> bool:
    total = entries = 0
    waiting = [str(folder) for folder in folders]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    entries += 1
                    if entries > _MOST_ENTRIES:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return total > most_bytes


def _end(process: subprocess.Popen) -> None:
    """Ends the process and everything below it, and waits until nothing of it is left.

    In the sandbox the first below is bubblewrap's, the first of a process namespace: it is gone
    only when all of the namespace is. The root is stopped before anybody is counted, or it might
    be about to start somebody.
    """
    if process.poll() is None:
        _signal(process.pid, signal.SIGSTOP)
        until = time.monotonic() + _END_SECONDS
        while time.monotonic() < until:
            below = [pid for pid in _tree(process.pid) if pid != process.pid and _is_alive(pid)]
            if not below:
                break
            for pid in below:
                _signal(pid, signal.SIGKILL)
            time.sleep(0.002)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _is_alive(pid: int) -> bool:
    """False for one that has ended and is only still listed."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in ("Z", "X")
