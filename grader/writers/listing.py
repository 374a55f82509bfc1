"""A source file as the HTML report lists it: tokens, findings and counters for each line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.results.result import Diagnostic, Kernel, Result
from grader.writers.plain import plain

MAX_LINES = 2000
MAX_COLUMNS = 400  # of a line; code beyond is cut
_TAB = 4  # columns

# Counters that are shown beside the code, as (title, what is added up, explanation).
COLUMNS = (
    ("instructions", ("instructions",), "instructions of a warp"),
    (
        "global sectors",
        ("global_load_sectors", "global_store_sectors"),
        "32-byte sectors loaded from and stored to global memory",
    ),
    (
        "shared wavefronts",
        (
            "shared_load_wavefronts",
            "shared_store_wavefronts",
            "matrix_load_wavefronts",
            "matrix_store_wavefronts",
        ),
        "cycles of shared memory",
    ),
    ("conflicts", ("bank_conflicts",), "wavefronts above the least possible"),
)


@dataclass(frozen=True)
class Cell:
    """A sum of counters of one line."""

    text: str
    share: int  # percent of the column's largest, at least 1


@dataclass(frozen=True)
class Line:
    """One line of the file."""

    number: int
    tokens: tuple[tuple[str, str], ...]  # (class of CSS or "", text)
    cells: tuple[Cell | None, ...]  # one a column; None: nothing was counted
    all_counters: str  # every counter that is not 0, in words
    findings: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Listing:
    """The whole file."""

    columns: tuple[tuple[str, str], ...]  # (title, explanation)
    lines: tuple[Line, ...]
    left_out: int  # lines beyond MAX_LINES


def listing(result: Result) -> Listing:
    """The file of a result with what was counted and found in it."""
    text = plain(result.source).expandtabs(_TAB)
    texts = text.split("\n")
    if texts and not texts[-1]:
        texts.pop()
    counters = line_counters(result.kernels)
    sums = [_sums(counters, names) for _, names, _ in COLUMNS]
    used = [index for index, sums_of_line in enumerate(sums) if any(sums_of_line.values())]
    tokens = _tokens_by_line(texts[:MAX_LINES])
    lines = tuple(
        Line(
            number,
            tokens[number - 1],
            tuple(_cell(sums[index], number) for index in used),
            _words(counters.get(number, {})),
            tuple(item for item in result.diagnostics if item.line == number),
        )
        for number in range(1, len(tokens) + 1)
    )
    columns = tuple((COLUMNS[index][0], COLUMNS[index][2]) for index in used)
    return Listing(columns, lines, max(0, len(texts) - MAX_LINES))


def line_counters(kernels: Iterable[Kernel]) -> dict[int, dict[str, int]]:
    """Counters of each line over all launches."""
    lines: dict[int, dict[str, int]] = {}
    for kernel in kernels:
        for entry in kernel.lines:
            counts = lines.setdefault(entry.line, {})
            for name, count in entry.counters.items():
                counts[name] = counts.get(name, 0) + count
    return lines


def _sums(counters: Mapping[int, Mapping[str, int]], names: Iterable[str]) -> dict[int, int]:
    return {
        line: sum(counts.get(name, 0) for name in names)
        for line, counts in counters.items()
        if any(name in counts for name in names)
    }


def _cell(sums: Mapping[int, int], line: int) -> Cell | None:
    count = sums.get(line, 0)
    if not count:
        return None
    return Cell(short(count), max(1, round(100 * count / max(sums.values()))))


def short(count: int) -> str:
    """Four digits at most: 9,999 then 10.0k, 524k, 1.05M."""
    if count < 10_000:
        return f"{count:,}"
    value = float(count)
    for unit in ("k", "M", "G", "T"):
        value /= 1000
        if value < 999.5:
            digits = 2 if value < 10 else 1 if value < 100 else 0
            return f"{value:.{digits}f}{unit}"
    return f"{value:.3g}T"


def _words(counters: Mapping[str, int]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {count:,}" for name, count in counters.items() if count
    )


_KEYWORDS = frozenset(
    """alignas auto bool break case char class const constexpr continue default delete do double
    else enum extern false float for goto if inline int long namespace new nullptr operator private
    public register restrict return short signed sizeof static static_assert struct switch template
    this true typedef typename union unsigned using void volatile while size_t uint32_t int32_t
    __global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__
    __syncthreads __syncwarp threadIdx blockIdx blockDim gridDim dim3 float2 float4""".split()
)
# Each alternative reads on without going back, so that no file takes long.
_TOKEN = re.compile(
    r"""(?P<c>//[^\n]* | /\*(?:[^*]|\*(?!/))*(?:\*/)?)
      | (?P<s>"(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.)*'?)
      | (?P<p>^[ ]*\#[^\n/]*)
      | (?P<w>[A-Za-z_]\w*)
      | (?P<n>\d[\w.]*)""",
    re.VERBOSE | re.MULTILINE,
)


def _tokens_by_line(texts: list[str]) -> list[tuple[tuple[str, str], ...]]:
    """The text of each line in pieces with a class: c comment, s string, p preprocessor, ..."""
    whole = "\n".join(
        line if len(line) <= MAX_COLUMNS else line[:MAX_COLUMNS] + " …" for line in texts
    )
    lines: list[list[tuple[str, str]]] = [[]]

    def add(kind: str, text: str) -> None:
        for index, part in enumerate(text.split("\n")):
            if index:
                lines.append([])
            if part:
                lines[-1].append((kind, part))

    end = 0
    for match in _TOKEN.finditer(whole):
        kind = match.lastgroup or ""
        if kind == "w":
            kind = "k" if match[0] in _KEYWORDS else ""
        if kind:
            add("", whole[end : match.start()])
            add(kind, match[0])
            end = match.end()
    add("", whole[end:])
    return [tuple(line) for line in lines] if texts else []
