"""Diagnostic codes, and in which order their causes should be looked into."""

from __future__ import annotations

# Most fundamental first: what stands higher usually explains what stands lower, so the report
# opens with it.
ORDER = (
    "does-not-compile",
    "library-call",
    "host-crash",
    "host-computed",
    "no-launch",
    "launch-config",
    "barrier-divergence",
    "wrong-mask",
    "phase",
    "misaligned-access",
    "out-of-bounds-shared",
    "out-of-bounds-global",
    "stack-overflow",
    "timeout",
    "deadlock",
    "async-proxy",
    "race-shared",
    "uninitialised-shared",
    "uninitialised-global",
    "input-modified",
    "race-global",
    "unordered-streams",
    "assert",
    "trap",
    "api-error",
    "unchecked-launch",
    "never-written-copy",
    "unwritten-output",
    "low-precision",
    "wrong-result",
    "too-fast",
    "memory-leak",
    "costly",
    "unsupported",
)
KNOWN = frozenset(ORDER)
# The others are found by the simulator or the executor (common/warpsim/codes.inc).
_OF_THE_GRADER = frozenset(
    (
        "does-not-compile",
        "library-call",
        "api-error",
        "low-precision",
        "wrong-result",
        "too-fast",
        "costly",
    )
)
OF_THE_EXECUTOR = KNOWN - _OF_THE_GRADER


def rank(code: str) -> int:
    """Position in ORDER; codes that are not listed come last."""
    return ORDER.index(code) if code in KNOWN else len(ORDER)
