"""How much memory the batch and everything it started hold together, at most."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_EVERY_SECONDS = 0.5
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Peak:
    """The largest sample so far; 0 where the system does not tell."""

    bytes: int = 0


@contextmanager
def watched() -> Iterator[Peak]:
    """Samples the resident memory of this process and its descendants while the block runs.

    Pages that processes share are counted for each of them, so the truth is rather less.
    """
    peak = Peak()
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(_EVERY_SECONDS):
            peak.bytes = max(peak.bytes, resident_bytes(os.getpid()))

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def resident_bytes(root: int) -> int:
    """Of a process and all below it; what ends meanwhile counts as nothing."""
    total = 0
    waiting = [root]
    while waiting:
        process = Path("/proc", str(waiting.pop()))
        try:
            total += int((process / "statm").read_text().split()[1]) * _PAGE_BYTES
            for children in process.glob("task/*/children"):
                waiting += map(int, children.read_text().split())
        except (OSError, ValueError, IndexError):
            continue
    return total
