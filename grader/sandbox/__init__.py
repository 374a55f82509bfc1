"""Running programs that deal with a submission: limits, a time-out, no network, no home.

Where bubblewrap works (bubblewrap.py) the process sees only the system's programs and the folders
it is given, has no network, and may write nowhere but into the folders named writable. Elsewhere
only the limits hold, and `kind()` says so, which every result repeats.

A step is watched while it runs (supervise.py): more time, memory, processes or output than it may
use ends all of it.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.errors import ToolchainError
from grader.sandbox import bubblewrap, supervise
from grader.sandbox.bubblewrap import View, Way
from grader.sandbox.supervise import Ended

__all__ = ["Limits", "Ended", "View", "available", "kind", "require", "run", "switch_off"]

SWITCH = "TILEWISE_SANDBOX"  # set to "none", it switches the sandbox off


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a step may use; more than that ends it."""

    seconds: float = 60  # wall-clock time of the step
    # Processor time of all its processes together. Where it is given, a step that has used less of it
    # when its wall-clock time is over is no slow step: the machine has stalled.
    processor_seconds: float | None = None
    memory_bytes: int = 8 << 30  # of all its processes together
    address_bytes: int | None = None  # address space of each; None: as much as memory_bytes
    file_bytes: int = 256 << 20  # of each file it writes
    folder_bytes: int = 1 << 30  # of everything in the folders it may write to
    processes: int = 128  # at a time, threads included; enforced in the sandbox only
    output_bytes: int = 16 << 20  # standard output and standard error together


def run(
    command: Sequence[str | Path],
    *,
    limits: Limits,
    view: View | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    keep_bytes: int = 64 * 1024,
) -> Ended:
    """Runs a command to its end or its time-out; nothing it started outlives it.

    With a view it runs in the sandbox (if there is one), else with the limits only. Of each of
    its streams the first `keep_bytes` are kept. Never raises because of what the command does;
    OSError if it cannot be started at all.
    """
    program = [str(word) for word in command]
    environment = _environment(env)
    with _wrapped(program, view, cwd, environment, limits) as (words, kept):
        return supervise.run(
            words,
            seconds=limits.seconds,
            processor_seconds=limits.processor_seconds,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            output_bytes=limits.output_bytes,
            keep_bytes=keep_bytes,
            folders=view.writable if view else (),
            folder_bytes=limits.folder_bytes,
            cwd=cwd,
            env=environment,
            pass_fds=kept,
        )


@contextmanager
def _wrapped(
    program: list[str],
    view: View | None,
    cwd: Path | None,
    environment: Mapping[str, str],
    limits: Limits,
) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The program behind what sets its limits, and the descriptors that are passed on."""
    processor_seconds = int(limits.seconds * (os.cpu_count() or 1)) + 1
    setter = [
        "prlimit",
        "--core=0",
        _option("cpu", resource.RLIMIT_CPU, processor_seconds),
        _option("as", resource.RLIMIT_AS, limits.address_bytes or limits.memory_bytes),
        _option("fsize", resource.RLIMIT_FSIZE, limits.file_bytes),
        _option("nofile", resource.RLIMIT_NOFILE, 1024),
    ]
    # If memory runs out all the same, the kernel is to end this and not its neighbours.
    volunteer = 'echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@"'
    first = ["/bin/sh", "-c", volunteer, "sh"]
    chosen = bubblewrap.way() if view is not None and kind() == "bubblewrap" else None
    if view is None or not isinstance(chosen, Way):
        yield [*first, *setter, "--", *program], ()
        return
    if chosen.limits_processes:
        setter.append(f"--nproc={limits.processes}")
    with bubblewrap.command(program, view, cwd, environment, setter, chosen) as (words, kept):
        yield [*first, *words], kept


def _option(name: str, limit: int, wanted: int) -> str:
    """For prlimit. A step inside a step cannot have more than the outer one has."""
    _, hard = resource.getrlimit(limit)
    return f"--{name}={wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)}"


def kind() -> str:
    """ "bubblewrap", or "none": missing, not allowed to make namespaces, or switched off."""
    if os.environ.get(SWITCH) == "none":
        return "none"
    return "bubblewrap" if isinstance(bubblewrap.way(), Way) else "none"


def available() -> bool:
    """Whether steps with a view run in a sandbox."""
    return kind() != "none"


def require() -> None:
    """Raises ToolchainError, saying how to get one, unless there is a sandbox."""
    if os.environ.get(SWITCH) == "none":
        raise ToolchainError(f"The sandbox is switched off: unset {SWITCH}.")
    obstacle = bubblewrap.way()
    if isinstance(obstacle, str):
        raise ToolchainError(
            f"Other people's code is only run in a sandbox, and there is none: {obstacle}"
        )


def switch_off() -> None:
    """Runs this process's steps, and those of processes it starts, with limits only."""
    os.environ[SWITCH] = "none"


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """Fixed, so that neither the machine's settings nor its secrets reach a submission."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", **(extra or {})}
