"""Attacks with words: what a student writes into texts and names changes no verdict and no score.

Each is graded really, beside the same submission with a plain word in the place: the two results
may differ in that word only. tests/words.py has every word that the grader ever looked for.
"""

from __future__ import annotations

import functools
import json
import re

import pytest

from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import Submission
from grader.pipeline.grade import grade
from grader.results.result import to_dict
from grader.tests.conftest import REPOSITORY
from grader.tests.selection import one_of_each
from grader.tests.words import EVERY_WORD

LAB = "02-tiled-kernel"
PLAIN = "plainword"
LAUNCH = "tiled_kernel<<<grid, block>>>(M, N, P, width);"
FIRST_BARRIER = "__syncthreads();  // separates loading"
STORE = "P[row * width + col] = sum;"
INCLUDE = '#include "check.h"\n'


def _host(code: str, before: str = "") -> tuple:
    """`code` stands in solve, instead of the launch."""
    return (LAUNCH, code), (INCLUDE, f"{INCLUDE}#include <stdexcept>\n#include <cstdio>\n{before}")


def _kernel(code: str) -> tuple:
    """`code` stands in the kernel, before the store."""
    more = "#include <cassert>\n#include <cstdio>\n"
    return (STORE, f"{code}\n  {STORE}"), (INCLUDE, INCLUDE + more)


def _race(name: str) -> tuple:
    """The tile is called `name`, and the barrier before its use is missing."""
    return (FIRST_BARRIER, "// separates loading"), ("Nds", name)


# What @ stands for in the edits; the edits of the solution; the code that leads the report.
NOT_PROVIDED = "cudaMallocManaged is not provided, and solve crashed"
TEXT = {
    "an exception about what is not provided": (NOT_PROVIDED, "throw", "host-crash"),
    "an exception about an input": ("solve wrote to its input M", "throw", "host-crash"),
    "an exception about a device pointer": ("a device pointer", "throw", "host-crash"),
    "an exception about everything": (EVERY_WORD, "throw", "host-crash"),
    "an exception about a library": ("undefined symbol: cublasSgemm_v2", "throw", "host-crash"),
    "printf on the host": (EVERY_WORD, "host-printf", "host-crash"),
    "printf in a kernel": (EVERY_WORD, "printf", ""),
    "an assertion": (EVERY_WORD, "assert", "assert"),
}
NAME = {
    "an exception's class": ("is_not_provided", "class", "host-crash"),
    "a function that is not defined": ("cublas_is_not_provided", "undefined", "does-not-compile"),
    "an array that was freed": ("freed_rows", "race", "race-shared"),
    "an array that is read": ("read_x", "race", "race-shared"),
    "an array with a barrier": ("__syncwarp_tile", "race", "race-shared"),
    "an array that is copied to": ("copies_to_x", "race", "race-shared"),
    "an array for copies": ("asynchronous_copy", "race", "race-shared"),
    "a kernel": ("reads_freed_constant_memory", "kernel", "race-shared"),
}
EDITS = {
    "throw": _host('throw std::runtime_error("@");'),
    "host-printf": _host('std::fprintf(stderr, "@"); *(volatile float*)P = 1;'),
    "printf": _kernel('if (row == 0 && col == 0) printf("@\\n");'),
    "assert": _kernel('assert(width < 0 && "@");'),
    "class": _host("throw @();", "struct @ : std::exception {};\n"),
    "undefined": _host("@();", "void @();\n"),
    "race": _race("@"),
    "kernel": (*_race("Nds"), ("tiled_kernel", "@")),
}


@functools.cache
def _graded(course, kind: str, word: str) -> dict:
    text = (REPOSITORY / "solutions" / LAB / "matmul.cu").read_text()
    for old, new in EDITS[kind]:
        assert old in text, old
        text = text.replace(old, new.replace("@", word))
    file = Submission(REPOSITORY / "matmul.cu", "matmul.cu", text, text.encode())
    return to_dict(grade(course, load_lab(course.labs / LAB), file, Options("sim")))


def _without(result: dict, word: str) -> dict:
    """What must not change, the word replaced by a plain one; times and the source left out."""
    kept = {name: result[name] for name in ("status", "score", "checks", "next_step")}
    # The line itself, which a report shows as it stands, may be cut off.
    kept["diagnostics"] = [item | {"source": ""} for item in result["diagnostics"]]
    # A name of another length has another mangled length before it.
    text = re.sub(rf"(_Z)?\d*{re.escape(json.dumps(word)[1:-1])}", PLAIN, json.dumps(kept))
    return json.loads(text)


@pytest.mark.parametrize("attack", one_of_each(TEXT | NAME, lambda name: [name in TEXT]))
def test_words_change_nothing(built, attack):
    word, kind, code = (TEXT | NAME)[attack]
    result = _graded(built, kind, word)
    plain = _without(_graded(built, kind, PLAIN), PLAIN)
    assert _without(result, word) == plain
    assert result["score"] is not None
    leads = [item["code"] for item in result["diagnostics"] if item["severity"] == "error"][:1]
    assert leads == ([code] if code else [])
    if not code:
        assert (result["status"], result["score"]) == ("passed", 100)
