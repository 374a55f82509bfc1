"""Running programs that deal with a submission: limits, a time-out, no network, no home.

Where bubblewrap works the process sees only the system's programs, the folders it is given and
an empty /tmp, and has no network. Elsewhere only the limits hold, and `kind()` says so, which
every result repeats.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import ToolchainError

SWITCH = "TILEWISE_SANDBOX"  # set to "none", it switches the sandbox off

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
_KEPT_OUTPUT_BYTES = 64 * 1024


@dataclass(frozen=True)
class Limits:
    """What a step may use; more than that ends it."""

    seconds: float = 60  # wall-clock time of the step
    memory_bytes: int = 8 << 30  # address space of each process
    file_bytes: int = 256 << 20  # of each file it writes, its output included


@dataclass(frozen=True)
class View:
    """Which folders a sandboxed process sees, under their own names."""

    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()


@dataclass(frozen=True)
class Outcome:
    """How a step ended. Output is cut to its first 64 KiB."""

    returncode: int  # negative: ended by that signal
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = field(default=False)


def run(
    command: Sequence[str | Path],
    *,
    limits: Limits,
    view: View | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Outcome:
    """Runs a command to its end or its time-out; nothing it started outlives it.

    With a view it runs in the sandbox (if there is one), else with the limits only. Never raises
    because of what the command does; OSError if it cannot be started at all.
    """
    wrapped = [str(word) for word in command]
    if view is not None and kind() == "bubblewrap":
        wrapped = _bubblewrap(view, cwd, env or {}) + wrapped
    wrapped = _with_limits(wrapped, limits)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(
            wrapped,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=cwd,
            env=_environment(env),
            start_new_session=True,  # its own process group, which is killed as a whole
        )
        timed_out = False
        try:
            process.wait(limits.seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            _kill_group(process.pid)
            process.wait()
        seconds = time.monotonic() - start
        returncode = process.returncode
        if returncode > 128:  # a shell or bubblewrap reports a child's signal this way
            returncode = 128 - returncode
        return Outcome(returncode, _head(out), _head(err), seconds, timed_out)


def kind() -> str:
    """ "bubblewrap", or "none": missing, not allowed to make namespaces, or switched off."""
    if os.environ.get(SWITCH) == "none":
        return "none"
    return "bubblewrap" if _obstacle() == "" else "none"


def available() -> bool:
    """Whether steps with a view run in a sandbox."""
    return kind() != "none"


def require() -> None:
    """Raises ToolchainError, saying how to get one, unless there is a sandbox."""
    if os.environ.get(SWITCH) == "none":
        raise ToolchainError(f"The sandbox is switched off: unset {SWITCH}.")
    obstacle = _obstacle()
    if obstacle:
        raise ToolchainError(
            f"Other people's code is only run in a sandbox, and there is none: {obstacle}"
        )


def switch_off() -> None:
    """Runs this process's steps, and those of processes it starts, with limits only."""
    os.environ[SWITCH] = "none"


@functools.cache
def _obstacle() -> str:
    """Why bubblewrap cannot be used and what to do about it, in one sentence; "" if it can."""
    path = shutil.which("bwrap")
    if path is None:
        return "install bubblewrap (Debian and Ubuntu: apt install bubblewrap)."
    probe = [path, "--unshare-all", "--ro-bind", "/", "/", "true"]
    try:
        done = subprocess.run(probe, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} cannot be run ({error})."
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().splitlines()
    return (
        f"{path} may not make namespaces here ({said[-1] if said else 'it said nothing'});"
        " allow unprivileged user namespaces, or in a container start it with"
        " --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
        " --cap-add SYS_ADMIN."
    )


def _bubblewrap(view: View, cwd: Path | None, env: Mapping[str, str]) -> list[str]:
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in _environment(env).items():
        words += ["--setenv", name, value]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for folder in _SYSTEM:
        words += ["--ro-bind-try", folder, folder]
    # A link's own path and its target: programs find their neighbours through either.
    for path in dict.fromkeys(name for given in view.readable for name in (given, given.resolve())):
        if not any(path.is_relative_to(folder) for folder in _SYSTEM):
            words += ["--ro-bind", str(path.resolve()), str(path)]
    for path in view.writable:
        words += ["--bind", str(path), str(path)]
    if cwd is not None:
        words += ["--chdir", str(cwd)]
    return [*words, "--"]


def _with_limits(command: list[str], limits: Limits) -> list[str]:
    """Through a shell, since code between fork and exec is not safe in a process with threads."""
    processor_seconds = int(limits.seconds * (os.cpu_count() or 1)) + 1
    set_limits = (
        f"ulimit -c 0; ulimit -t {processor_seconds};"
        f" ulimit -v {limits.memory_bytes // 1024}; ulimit -f {limits.file_bytes // 512};"
    )
    return ["/bin/sh", "-c", set_limits + ' exec "$@"', "sh", *command]


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """Fixed, so that neither the machine's settings nor its secrets reach a submission."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", **(extra or {})}


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _head(file) -> str:
    file.seek(0)
    return file.read(_KEPT_OUTPUT_BYTES).decode("utf-8", errors="replace")
