"""Numbers in the course's pages are computed, not believed.

A file in numbers/ goes with one page:

    page = "docs/machine.md"
    given = ["4096"]                      # numbers that may stand anywhere: choices, not results
    claims = ["n^3 = {4096**3:,}, ..."]   # what the page says, each result as an f-string's field

Each claim must stand in the page, as computed. And each number of the page's prose must be a result
of a claim, or given: 0 to 9 always are, and so is what stands in code, in a link's target, in a
heading or in a comment, and in a table of which a comment says that another test computes it.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy

from grader.study import published

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(__file__).parent / "numbers"

_FIELD = re.compile(r"\{([^{}]+)\}")
_NOT_PROSE = re.compile(
    r"^<!-- (?:computed: \w+|[^>]* from a test) -->\n(?:\|[^\n]*\n)+|^```.*?^```$|^ {4,}(?![-*|0-9]).*?$|<!--.*?-->|`[^`\n]+`|\]\([^)\s]*\)|\(\d+,\d+\)|^#+ .*?$|</?[a-z]+>",
    re.MULTILINE | re.DOTALL,
)
_GLOSSARY_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*glossary\.md#[^)\s]*\)")
_NUMBER = re.compile(r"(?<![\w.,/#])\d[\d,]*(?:\.\d+)?(?![\w])")


def ceil_div(whole: int, piece: int) -> int:
    return -(-whole // piece)


def _devices() -> dict[str, SimpleNamespace]:
    found = {}
    for path in (ROOT / "common" / "devices").glob("*.json"):
        about = json.loads(path.read_text(encoding="utf-8"))
        timing = SimpleNamespace(**about.pop("timing", {}))
        device = SimpleNamespace(**about, timing=timing)
        device.peak = (
            about["sm_count"] * about["fp32_lanes_per_sm"] * 2 * about["sm_clock_mhz"] / 1e3
        )
        found[path.stem] = device
    return found


def _toys() -> dict[str, list[list[int]]]:
    """m4, n4, p4 and m3, n3, p3: the matrices of the handouts' examples."""
    found = {}
    for side in (3, 4):
        for path in (ROOT / "datasets" / f"toy-{side}x{side}").glob("*.npy"):
            found[f"{path.stem.lower()}{side}"] = numpy.load(path).astype(int).tolist()
    return found


def _full_blocks(device: SimpleNamespace) -> list[int]:
    """Block sizes with which warps fill a multiprocessor, by places for blocks and warps alone."""
    most = device.max_warps_per_sm
    sizes = (32, 64, 96, 128, 192, 256, 384, 512)
    return [t for t in sizes if min(device.max_blocks_per_sm, most * 32 // t) * t == most * 32]


def _ratio(before: str, after: str, what: str) -> float:
    """Of two rows of the printed table of transactions, for large n."""
    n = 1 << 40
    first, second = (getattr(published.TRAFFIC[row], what)(n) for row in (before, after))
    return float(first / second)


def _less(before: str, after: str, what: str) -> str:
    return f"{1 - 1 / _ratio(before, after, what):.0%}"


def _speed(kernel: str, n: int) -> float:
    """GFLOP/s of the printed seconds."""
    return published.operations(n) / published.KERNELS[kernel].seconds[n] / 1e9


def _timed(lab: str, variant: str = "the solution", n: int = 2048) -> float:
    """Milliseconds on an H200, as docs/measurements/lab-variants.md has them; the first of two turns."""
    text = (ROOT / "docs" / "measurements" / "lab-variants.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {lab}-.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[0]
    for line in section.splitlines():
        cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
        if cells[0] == variant:
            return float(cells[{2048: 1, 2047: 3}[n]].split()[0])
    raise KeyError(f"{lab}: {variant}")


NAMES: dict[str, Any] = {
    **_devices(),
    **_toys(),
    "full_blocks": _full_blocks,
    "ratio": _ratio,
    "less": _less,
    "speed": _speed,
    "timed": _timed,
    "math": math,
    "Fraction": Fraction,
    "ceil_div": ceil_div,
    "ceil": lambda number, unit: ceil_div(number, unit) * unit,
    "kernels": published.KERNELS,
    "traffic": published.TRAFFIC,
    "gpu1_seconds": published.GPU1_SECONDS,
    "cpu_seconds": published.BASELINE_SECONDS,
}


@dataclass(frozen=True)
class Numbers:
    page: str
    claims: tuple[str, ...]
    given: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return (ROOT / self.page).read_text(encoding="utf-8")


def load(path: Path) -> Numbers:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Numbers(table["page"], tuple(table["claims"]), tuple(table.get("given", ())))


def _even(text: str) -> str:
    return " ".join(text.split())


def computed(claim: str) -> list[tuple[str, bool]]:
    """The claim in pieces, each with whether it was computed."""
    pieces, place = [], 0
    for field in _FIELD.finditer(claim):
        pieces.append((claim[place : field.start()], False))
        pieces.append((str(eval(f"f{field[0]!r}", dict(NAMES))), True))
        place = field.end()
    return [*pieces, (claim[place:], False)]


def faults(numbers: Numbers, text: str | None = None) -> list[str]:
    """What the page says otherwise, and which of its numbers nobody computes."""
    text = _GLOSSARY_LINK.sub(r"\1", text or numbers.text)
    page = _even(_NOT_PROSE.sub(lambda part: " " * len(part[0]), text))
    whole = _even(text)
    found, covered = [], set()
    for claim in numbers.claims:
        pieces = computed(_even(claim))
        said = "".join(piece for piece, _ in pieces)
        if said not in whole:
            found.append(f"does not say: {said}")
        covered |= {n for piece, is_result in pieces if is_result for n in _NUMBER.findall(piece)}
        covered |= {f"{piece}" for piece, is_result in pieces if is_result}
    for number in dict.fromkeys(_NUMBER.findall(page)):
        number = number.rstrip(",.")
        if len(number) > 1 and number not in covered and number not in numbers.given:
            found.append(f"nobody computes {number}")
    return found
