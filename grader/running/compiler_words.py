"""What the compiler says, for somebody who has not met its messages yet."""

from __future__ import annotations

import re

# No business of a student: the flags are the grader's.
_FLAGS = re.compile(r"\s*The experimental flag '[^']*' can be used to allow this\.*")

_ADVICE = (
    (
        r'__host__ function\("(?:std::)?ceilf?"\)',
        "An integer divided by an integer is rounded down before ceil sees it: round up by "
        "(whole + piece - 1) / piece.",
    ),
    (
        r"calling a .*__host__ function",
        "A kernel may only call functions marked __device__ or __host__ __device__.",
    ),
    (r'^expected a ";"', "Look at the end of the line before, too."),
    (
        r"must be a modifiable lvalue",
        "What is declared const, like the elements of M and N, cannot be written to.",
    ),
    (
        r'"const float \*" cannot be used to initialize .*"float \*"|'
        r'"const float \*" is incompatible with parameter of type "float \*"',
        "Keep the const: const float* points to what is only read.",
    ),
    (
        r'^identifier "[^"]*" is undefined',
        "Is it spelt as where it is declared, and declared before this line, in these braces?",
    ),
)


def plain(message: str) -> str:
    """A compiler's message without what does not concern a student, and without a full stop."""
    return _FLAGS.sub("", message).rstrip(". ")


def advice(message: str) -> str:
    """What to do about it, for the messages that beginners meet most; else ""."""
    return next((text for pattern, text in _ADVICE if re.search(pattern, message)), "")
