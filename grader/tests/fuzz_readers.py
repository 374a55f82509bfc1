"""Holds everything that reads a student's text in Python against hostile texts; finds the slowest.

    python -m grader.tests.fuzz_readers [--seconds 60] [--seed 1] [--kib 256]

Each text is made of pieces that readers look for, repeated, mixed and cut, and each reader gets it in
this process. It fails if a reader raises, or takes a second a MiB or more of processor time; the
slowest of each reader is printed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable

from grader.batch import gradebook, names
from grader.errors import StepError
from grader.labs import source_reader
from grader.labs.arithmetic import integer
from grader.running import compile as compiling
from grader.running import compiler_words, ptxas, record
from grader.text import clean, lines_of, printed_lines
from grader.writers import listing
from grader.writers.plain import plain

_PIECES = (
    "/*", "*/", "//", "\n", "\r\n", '"', "'", "\\", 'R"(', ')"', "(", ")", "[", "]", "{", "}", "<",
    ">", "<<<", ">>>", ";", ",", "=", "+", "-", "*", "1", "9", "0x", "a", "T", " ", "\t", "\x0c", "\x85",
    "\u2028", "\u202e", "\x1b[2J", "\x00", "\udcff", "é", "__shared__ ", "float ", "const ", "constexpr ",
    "static ", "int ", "enum ", "template<", "template <int T>", "__global__ void ", "#define ", "extern ",
    "// TODO(1): a", "// END TODO(1)", "TODO(", "k<<<1, 1>>>", "alignas(", "__align__(16) ",
    "__launch_bounds__(", "matmul.cu(12): error: ", "matmul.cu:12:5: error: ", ": warning #1-D: ",
    "undefined reference to `", "at line 7 of ", "ptxas ", "error   : ", "Compiling entry function '",
    "Used 12 registers", " bytes spill stores, ", "_4711_assignsubmission_file_", "_12_34_",
    '{"a":"', '","b":', "\\u0041", "\\ud800", ";=", "@", "http://",
)  # fmt: skip


def _first_error(text: str) -> None:
    try:
        compiling.first_error(text[: 64 * 1024])  # as much as is kept of a compiler's output
    except StepError:
        pass


READERS: dict[str, Callable[[str], object]] = {
    "source": source_reader.facts,
    "arithmetic": lambda text: integer(text, {"T": text, "a": "T + T"}),
    "compiler's errors": _first_error,
    "compiler's warnings": lambda text: compiling.warnings_in(text[: 64 * 1024]),
    "compiler's words": lambda text: compiler_words.advice(compiler_words.plain(clean(text))),
    "ptxas": lambda text: ptxas.parse(text[: 64 * 1024]),
    "recording": lambda text: record._understood('{"schema":"tilewise.recording/1"}\n' + text),
    "lines": lines_of,
    "printed": printed_lines,
    "cell": gradebook.as_text,
    "names": lambda text: (
        names.moodle(text[:255]),
        names.canvas(text[:255]),
        names.file_key(text),
    ),
    "plain": plain,
    "tokens": lambda text: listing._tokens_by_line(text.split("\n")[: listing.MAX_LINES]),
}


def text_of(chance: random.Random, size: int) -> str:
    """Pieces repeated, alone or some together, now and then with another in between."""
    parts: list[str] = []
    length = 0
    while length < size:
        some = "".join(chance.choices(_PIECES, k=chance.choice((1, 1, 2, 3, 5))))
        part = some * chance.choice((1, 3, 100, 10_000, 1_000_000))
        part = part[: min(size - length, chance.choice((100, size // 8, size)))]
        parts.append(part)
        length += len(part)
    return "".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kib", type=int, default=256, help="length of the texts")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    slowest = dict.fromkeys(READERS, (0.0, ""))
    end = time.monotonic() + given.seconds
    count = 0
    while time.monotonic() < end:
        text = text_of(chance, given.kib << 10)
        count += 1
        for name, reader in READERS.items():
            start = time.process_time()
            reader(text)
            taken = (time.process_time() - start) * 1024 / given.kib
            slowest[name] = max(slowest[name], (taken, text[:60]))
    print(f"{count} texts of {given.kib} KiB; seconds of processor time a MiB, the slowest:")
    for name, (seconds, text) in sorted(slowest.items(), key=lambda item: -item[1][0]):
        print(f"  {seconds:6.3f}  {name:20} {text!r}")
    return int(max(seconds for seconds, _ in slowest.values()) >= 1)


if __name__ == "__main__":
    sys.exit(main())
