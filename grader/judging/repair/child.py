"""The search in a process of its own, with limits: what it reads and carries out is a student's.

    python -m grader.judging.repair.child < request       a Repair as JSON, or null

The limits are beyond what a search takes, which counts its steps: they are for what nobody thought
of, and so that no file makes a report wait longer. A child that meets one has found nothing.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from pathlib import Path

from grader.judging.quietly import is_loud
from grader.judging.repair.bank_search import find_for_banks
from grader.judging.repair.found import Repair
from grader.judging.repair.search import SIGNATURES, find

_ROOT = Path(__file__).parents[3]  # where `grader` is
_SECONDS = 10  # of processor time, in all
_START_SECONDS = 100  # of a busy machine, beside those
_MEMORY_BYTES = 2 << 30
_OF_BANKS = "banks"


# A child that has been started before there was a request for it.
_waiting: ContextVar[subprocess.Popen | None] = ContextVar("_waiting", default=None)


@contextlib.contextmanager
def started_early(is_wanted: bool) -> Iterator[None]:
    """Inside, the first search finds its child started: it was while something else was done."""
    child = None
    if is_wanted:
        with contextlib.suppress(OSError):
            child = _start()
    token = _waiting.set(child)
    try:
        yield
    finally:
        left = _waiting.get()
        _waiting.reset(token)
        if left is not None:
            _end(left)


def _start() -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-E", "-s", "-m", "grader.judging.repair.child"],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if is_loud() else subprocess.DEVNULL,
        # A thread for each processor would take address space, and nothing here is that large.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


def _end(child: subprocess.Popen) -> None:
    child.kill()
    child.communicate()


def find_apart(
    text: str, signature: str, in_tiles: bool, lines: Sequence[int],
    seen: Sequence[int] | None = None, cases: Sequence[Sequence[Mapping | float]] = (),
    is_fine: bool = False, minds_unset: bool = False, minds_races: bool = False,
    mends_races: bool = False,
) -> Repair | None:  # fmt: skip
    """As search.find, by a child."""
    if signature not in SIGNATURES and not cases:
        return None
    request = {"text": text, "signature": signature, "in_tiles": in_tiles, "lines": list(lines)}
    request |= {"seen": seen, "cases": list(cases), "is_fine": is_fine}
    request |= {"minds_unset": minds_unset, "minds_races": minds_races, "mends_races": mends_races}
    return _answered(request)


def find_for_banks_apart(
    text: str, signature: str, lines: Sequence[int], first: Sequence[int] = ()
) -> Repair | None:
    """As bank_search.find_for_banks, by a child."""
    if signature not in SIGNATURES:
        return None
    request = {"text": text, "signature": signature, "lines": list(lines), "first": list(first)}
    return _answered({"of": _OF_BANKS, **request})


def _answered(request: dict) -> Repair | None:
    child = _waiting.get()
    _waiting.set(None)
    try:
        child = child or _start()
        try:
            said, trace = child.communicate(json.dumps(request).encode(), _SECONDS + _START_SECONDS)
        except BaseException:
            _end(child)
            raise
        found = json.loads(said) if child.returncode == 0 else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if trace and b"MemoryError" not in trace:
        raise RuntimeError(f"The search failed: {trace.decode(errors='replace')}")
    if found is None:
        return None
    instead = found.pop("instead")
    return Repair(**found, instead=Repair(**instead) if instead is not None else None)


def main() -> int:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.disable()  # what a search throws away in circles is little, and looking for it takes a tenth of the time
    request = json.load(sys.stdin)
    look = find_for_banks if request.pop("of", "") == _OF_BANKS else find
    found = look(**request)
    json.dump(None if found is None else asdict(found), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
