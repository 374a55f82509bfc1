"""The pairs of one lab's files that resemble each other: a process of its own, with limits.

    python -m grader.batch.similar_pairs <request >pairs

The files are students' texts, and a lexer goes over them: one on which it would not end is left
out, and named; when the time for all is over, the pairs that were compared are what there is.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from itertools import combinations

FILE_NAME = "matmul.cu"
TOKENS = 25  # shorter sequences that agree count as chance
LEAST = 0.6  # share of a file that is worth a line
MOST_BYTES = 128 << 10  # of a file that is compared; a skeleton has 3 KB
FILE_SECONDS = 5.0  # for one file or one pair, of processor time
ALL_SECONDS = 600.0  # for all of a lab
MEMORY_BYTES = 6 << 30  # of addresses
CUT_BYTES = 1 << 20  # of a file that is handed over at all


class TooLongError(Exception):
    """A file or a pair takes more time than it may."""


def pairs(skeleton: str, files: list[str], seconds: float = ALL_SECONDS) -> dict:
    """{"pairs": [[first, second, share, share]], "left_out": {index: why}, "stopped": whether}."""
    end = time.monotonic() + seconds
    given = list(_fingerprint(skeleton).hashes)
    prints, left_out, found = {}, {}, []
    stopped = False
    for index, text in enumerate(files):
        if len(text) > MOST_BYTES:
            left_out[index] = f"longer than {MOST_BYTES >> 10} KiB"
        elif time.monotonic() > end:
            left_out[index], stopped = "there was no time left", True
        else:
            try:
                with _limit():
                    prints[index] = _fingerprint(text, given)
            except TooLongError:
                left_out[index] = "its text takes too long to read"
            except (Exception, MemoryError) as error:  # whatever the lexer makes of it
                left_out[index] = f"it cannot be read ({type(error).__name__})"
    for first, second in combinations(prints, 2):
        if time.monotonic() > end:
            stopped = True
            break
        with contextlib.suppress(TooLongError), _limit():
            shares = _shares(prints[first], prints[second])
            if max(shares) >= LEAST:
                found.append([first, second, *shares])
    return {"pairs": found, "left_out": left_out, "stopped": stopped}


@contextlib.contextmanager
def _limit() -> Iterator[None]:
    """Regular expressions look for signals as they go, so this reaches into them."""

    def over(_signal: int, _frame: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, FILE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _fingerprint(text: str, boilerplate: list[int] | None = None):
    """Every sequence is kept (a window of 1), so that shares do not depend on hash values."""
    from copydetect import CodeFingerprint

    return CodeFingerprint(
        FILE_NAME, k=TOKENS, win_size=1, boilerplate=boilerplate or [], fp=io.StringIO(text)
    )


def _shares(first, second) -> tuple[float, float]:
    """Of each file, the share of its tokens that the other has too."""
    from copydetect import compare_files

    _, shares, _ = compare_files(first, second)
    return float(shares[0]), float(shares[1])


def main() -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.environ.setdefault("MPLBACKEND", "agg")  # it loads matplotlib, which must open no window
    request = json.load(sys.stdin)
    json.dump(pairs(request["skeleton"], request["files"]), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
