"""The command line that runs a program under bubblewrap, and whether that works here.

Two ways, the first that works is taken:

  as root   bubblewrap makes the namespaces with root's powers; inside, setpriv gives them all up
            and takes a user id that nothing else has.
  as user   namespaces of an unprivileged user: on a laptop, and in containers that allow it.

Either way the limit on processes (RLIMIT_NPROC) counts this sandbox only: by its own user id, or by
its own user namespace (Linux 5.14; before, it would count all of the user's processes, the probe
fails, and the supervisor's count has to do).
"""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import seccomp

# What a process may need of the system: programs and libraries, no /home, no /root, no /var.
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
)
# User ids that systemd sets aside for passing users; within what containers map.
_FIRST_UID, _UIDS = 61184, 4000
_PROBE_PROCESSES = 8


@dataclass(frozen=True)
class View:
    """Which folders a sandboxed process sees, under their own names."""

    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()


@dataclass(frozen=True)
class Way:
    """How bubblewrap works on this machine."""

    as_root: bool
    limits_processes: bool  # by the kernel


@functools.cache
def way() -> Way | str:
    """The way that works here, or one clause on why none does and what to do about it."""
    path = shutil.which("bwrap")
    if path is None:
        return "install bubblewrap (Debian and Ubuntu: apt install bubblewrap)."
    said = ""
    for as_root in (True, False) if os.geteuid() == 0 else (False,):
        for limited in (True, False):
            said = _probe(Way(as_root, limited))
            if not said:
                return Way(as_root, limited)
    return (
        f"{path} may not make namespaces here ({said});"
        " allow unprivileged user namespaces, or in a container start it with"
        " --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
        " --cap-add SYS_ADMIN."
    )


def _probe(candidate: Way) -> str:
    """What went wrong, "" if nothing did."""
    script = ["sh", "-c", "true & wait && exit 0"]
    limits = [f"--nproc={_PROBE_PROCESSES}"] if candidate.limits_processes else []
    with command(script, View(), None, {}, ["prlimit", *limits], candidate) as (words, kept):
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=10, pass_fds=kept, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"it ended with status {done.returncode}"


@contextmanager
def command(
    program: Sequence[str],
    view: View,
    cwd: Path | None,
    env: Mapping[str, str],
    limits: Sequence[str],  # "prlimit" and its options
    chosen: Way,
) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The words to run, and the file descriptors they need, while the context lasts."""
    words = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    if not chosen.as_root:
        words.append("--unshare-user")
    for name, value in env.items():
        words += ["--setenv", name, value]
    words += ["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp"]
    words += _mounts(view)
    # Both are file systems in memory, which could be filled.
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    if cwd is not None:
        words += ["--chdir", str(cwd)]
    with _filter() as kept, _own_user(view, chosen) as user:
        words += [word for number in kept for word in ("--seccomp", str(number))]
        yield [*words, "--", *user, *limits, "--", *program], kept


def _mounts(view: View) -> list[str]:
    # A link's own path and its target: programs find their neighbours through either.
    readable = dict.fromkeys(name for path in view.readable for name in (path, path.resolve()))
    for folder in _SYSTEM:
        readable = {path: None for path in readable if not path.is_relative_to(folder)}
    # Left to bubblewrap, the folders above would be closed to all but root.
    shown = [*map(Path, _SYSTEM), *readable, *view.writable]
    above = {parent for path in shown for parent in path.parents if parent != Path("/")}
    words = [word for path in sorted(above) for word in ("--dir", str(path))]
    for folder in _SYSTEM:
        words += ["--ro-bind-try", folder, folder]
    for path in readable:
        words += ["--ro-bind", str(path.resolve()), str(path)]
    for path in view.writable:
        words += ["--bind", str(path), str(path)]
    return words


@contextmanager
def _filter() -> Iterator[tuple[int, ...]]:
    """The system call filter as an open file."""
    program = seccomp.program()
    if program is None:
        yield ()
        return
    number = os.memfd_create("seccomp")
    try:
        os.write(number, program)
        os.lseek(number, 0, os.SEEK_SET)
        yield (number,)
    finally:
        os.close(number)


@contextmanager
def _own_user(view: View, chosen: Way) -> Iterator[list[str]]:
    """As root: the words that become a user of this sandbox's own, who owns what it may write."""
    if not chosen.as_root:
        yield []
        return
    lock, uid = _free_uid()
    try:
        for folder in view.readable:
            _open(folder)
        for folder in view.writable:
            _give(folder, uid)
        yield [
            "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all", "--",
        ]  # fmt: skip
        for folder in view.writable:
            _give(folder, os.geteuid())
    finally:
        lock.close()


def _give(folder: Path, uid: int) -> None:
    """Changes the owner of a folder and what lies in it; links are not followed."""
    for place, _, files in os.walk(folder):
        os.chown(place, uid, -1, follow_symlinks=False)
        for name in files:
            os.chown(os.path.join(place, name), uid, -1, follow_symlinks=False)


def _open(path: Path) -> None:
    """Lets others read what the view shows: with umask 077 it would be closed to the sandbox's user.

    The folders above stay as they are, so that nobody else on the machine gets there.
    """
    if path.is_relative_to("/usr"):
        return  # the system's, and read as such by everybody
    inside = (
        os.path.join(place, name)
        for place, folders, files in os.walk(path)
        for name in (*folders, *files)
    )
    for name in itertools.chain([path.resolve()], inside):
        status = os.lstat(name)
        if stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid():
            continue
        readable = stat.S_IROTH | (stat.S_IXOTH if status.st_mode & stat.S_IXUSR else 0)
        if readable & ~status.st_mode:
            os.chmod(name, stat.S_IMODE(status.st_mode | readable))


_next_uid = itertools.count(os.getpid() * 61)


def _free_uid() -> tuple[socket.socket, int]:
    """A user id that no other sandbox on this machine has, and what keeps it so while open."""
    while True:
        uid = _FIRST_UID + next(_next_uid) % _UIDS
        lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            lock.bind(f"\0tilewise-sandbox-{uid}")
            return lock, uid
        except OSError:
            lock.close()
