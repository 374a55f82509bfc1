"""The figures of lab 06: which bank each lane of a warp stores to, and in which wavefront it is served.

From runs of the solution with other lengths of a row of Mds, those of the handout, and with rows of 64
and the handout's swizzle; none gives the answer away. Written with the other figures, by `python -m grader.show.figures`.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.show import svg
from grader.trace import make, reader

LAB = "06-bank-conflicts"
STRIDES = (64, 72, 65)  # words of a row: unpadded, a padding that helps little, one that helps more
SWIZZLE = "swizzle-"  # before the names of its files
_CASE = "block"
_STORE = "Mds[i][r"
# What the swizzle makes of the solution's store and read of the tile.
_SWIZZLED = (
    ("Mds[i][r] =", "Mds[i][r ^ 4 * (i % 8)] ="),
    ("Mds[i][ty * TM + r]", "Mds[i][(ty * TM + r) ^ 4 * (i % 8)]"),
)
_BANKS = 32
_CELL = 17
_LEFT, _TOP = 74, 44


@dataclass(frozen=True)
class Store:
    """The first store of a warp to Mds."""

    stride: int
    banks: tuple[int, ...]  # of each lane
    wavefronts: tuple[int, ...]  # in which each lane is served, from 0
    swizzled: bool = False

    @property
    def count(self) -> int:
        return max(self.wavefronts) + 1


def store_of(course: Course, stride: int, swizzled: bool = False) -> Store:
    """From a trace of the solution with rows of so many words, or with its words exchanged within a row."""
    lab = load_lab(course.labs / LAB)
    text = (course.root / "solutions" / LAB / "matmul.cu").read_text(encoding="utf-8")
    for old, new in _SWIZZLED if swizzled else ():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    line = next(n for n, one in enumerate(text.splitlines(), 1) if _STORE in one)
    wanted = make.Wanted(lab.case(_CASE), {"M_STRIDE": stride}, (0,), lines=(line, line))
    made = make.make(course, lab, text, wanted, Options("sim"))
    launch = reader.with_columns(made)["launches"][0]
    accesses, arrays = launch["accesses"], launch["arrays"]
    row = next(
        row
        for row in range(accesses["count"])
        if accesses["kind"][row] == 1 and arrays[accesses["array"][row]]["name"] == "Mds"
    )
    first, lanes = accesses["first"][row], len(reader.lanes(int(accesses["mask"][row])))
    start = arrays[accesses["array"][row]]["address"]
    offsets = launch["offsets"][first : first + lanes]
    return Store(
        stride,
        tuple(int(start + offset) // 4 % _BANKS for offset in offsets),
        tuple(int(one) for one in launch["served"][first : first + lanes]),
        swizzled,
    )


def drawn(course: Course) -> dict[str, str]:
    """The files by their names."""
    plain = [store_of(course, stride) for stride in STRIDES]
    both = [plain[0], store_of(course, STRIDES[0], swizzled=True)]
    swizzle = {SWIZZLE + name: text for name, text in _files(both).items()}
    return {**_files(plain), **swizzle}


def _files(stores: list[Store]) -> dict[str, str]:
    rows = max(store.count for store in stores)
    size = (_LEFT + _BANKS * _CELL + 8, _TOP + rows * _CELL + 4)
    title = "The 32 lanes of a warp, each in the column of the bank that it stores to"
    pictures = [_frame(store, rows) for store in stores]
    return svg.files(title, pictures, size, 1, _legend, "text.n{font-size:9px}")


def _frame(store: Store, rows: int) -> str:
    words = f"Rows of {store.stride} words"
    words += ", element (i, r) at r ^ 4 (i % 8)" if store.swizzled else ""
    served = f"{store.count} wavefronts, where 1 would do" if store.count > 1 else "1 wavefront"
    wide, high = _BANKS * _CELL, rows * _CELL
    parts = [
        f'<text x="4" y="15" font-size="13" font-weight="bold">{words}: {served}</text>',
        f'<text class="q" x="4" y="{_TOP - 6}" font-size="11">bank</text>',
        '<path class="c" d="'
        + "".join(f"M{_LEFT} {_TOP + row * _CELL}h{wide}" for row in range(rows + 1))
        + "".join(f"M{_LEFT + bank * _CELL} {_TOP}v{high}" for bank in range(_BANKS + 1))
        + '"/>',
    ]
    for bank in range(0, _BANKS, 4):
        x = _LEFT + bank * _CELL + _CELL / 2
        parts.append(
            f'<text class="q n" x="{x:g}" y="{_TOP - 6}" text-anchor="middle">{bank}</text>'
        )
    for row in range(store.count):
        y = _TOP + row * _CELL + 12
        parts.append(f'<text class="q n" x="4" y="{y}">wavefront {row + 1}</text>')
    for lane, (bank, row) in enumerate(zip(store.banks, store.wavefronts, strict=True)):
        x, y = _LEFT + bank * _CELL, _TOP + row * _CELL
        look = "r" if row == 0 else "w"
        parts.append(
            f'<rect class="{look}" x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}"/>'
            f'<text class="n" x="{x + _CELL / 2:g}" y="{y + 12}" text-anchor="middle">{lane}</text>'
        )
    return "".join(parts)


def _legend(y: float) -> str:
    looks = (("r", "a lane, served at once"), ("w", "a lane that waits for its bank"))
    return "".join(
        f'<rect class="{look}" x="{4 + 200 * i}" y="{y:g}" width="11" height="11"/>'
        f'<text class="q" x="{20 + 200 * i}" y="{y + 9.5:g}" font-size="11">{text}</text>'
        for i, (look, text) in enumerate(looks)
    )
