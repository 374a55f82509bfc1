"""The figure of lab 10: which rows of the tile the lanes of a warp name to `ldmatrix`, and what lane 5 gets.

The rows are those of a run of the solution at the size that fits the eye. What a lane gets of them is the
instruction's own rule; a trace does not have it. Written with the other figures, by `python -m grader.show.figures`.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.show import svg
from grader.trace import make, reader

LAB = "10-tensor-cores"
LANE = 5
_CASE = "16x16x32"
_SIDE = 16
_CELL = 19
_LEFT, _TOP = 58, 44


@dataclass(frozen=True)
class Loaded:
    """One of the four matrices that a warp loads."""

    number: int
    rows: tuple[tuple[int, int, int], ...]  # lane, row and first column that it names
    got: tuple[int, int]  # row and column of the first of the two elements that LANE gets


def loads_of(course: Course) -> list[Loaded]:
    """The first ldmatrix of warp 0 of the tile of M."""
    lab = load_lab(course.labs / LAB)
    show = lab.show(_CASE)
    text = (course.root / "solutions" / LAB / "matmul.cu").read_text(encoding="utf-8")
    wanted = make.Wanted(show.case, dict(show.constants))
    made = make.make(course, lab, text, wanted, Options("sim"))
    return matrices(reader.with_columns(made)["launches"][0])


def matrices(launch: dict) -> list[Loaded]:
    events, accesses, arrays = launch["events"], launch["accesses"], launch["arrays"]
    names = [array["name"] for array in arrays]
    row = next(
        row
        for row in range(accesses["count"])
        if names[accesses["array"][row]] == "Mds"
        and "ldmatrix" in launch["instructions"][events["code"][accesses["event"][row]]]["op"]
    )
    first = int(accesses["first"][row])
    pitch = 2 * arrays[accesses["array"][row]]["shape"][-1]  # bytes of a row of bf16
    offsets = [int(one) for one in launch["offsets"][first : first + 32]]
    named = [(lane, one // pitch, one % pitch // 2) for lane, one in enumerate(offsets)]
    found = []
    for number in range(4):
        rows = tuple(named[8 * number : 8 * number + 8])
        _, r, c = rows[LANE // 4]
        found.append(Loaded(number, rows, (r, c + LANE % 4 * 2)))
    return found


def drawn(course: Course) -> dict[str, str]:
    """The files by their names."""
    size = (_LEFT + _SIDE * _CELL + 8, _TOP + _SIDE * _CELL + 4)
    title = f"The rows that the lanes of a warp name to ldmatrix, and what lane {LANE} gets of each matrix"
    pictures = [_frame(one) for one in loads_of(course)]
    return svg.files(title, pictures, size, 2, _legend, "text.n{font-size:9px}")


def _frame(one: Loaded) -> str:
    side = _SIDE * _CELL
    lanes = f"{one.rows[0][0]} to {one.rows[-1][0]}"
    parts = [
        f'<text x="4" y="15" font-size="13" font-weight="bold">Matrix {one.number}: lanes {lanes} name its rows</text>',
        '<path class="c" d="'
        + "".join(f"M{_LEFT} {_TOP + i * _CELL}h{side}" for i in range(_SIDE + 1))
        + "".join(f"M{_LEFT + i * _CELL} {_TOP}v{side}" for i in range(_SIDE + 1))
        + '"/>',
    ]
    for i in range(_SIDE):
        x = _LEFT + i * _CELL + _CELL / 2
        parts.append(
            f'<text class="q n" x="{x:g}" y="{_TOP - 6}" text-anchor="middle">{i}</text>'
            f'<text class="q n" x="{_LEFT - 6}" y="{_TOP + i * _CELL + 13}" text-anchor="end">{i}</text>'
        )
    for lane, row, col in one.rows:
        parts.append(
            f'<rect class="r" x="{_LEFT + col * _CELL + 1}" y="{_TOP + row * _CELL + 1}"'
            f' width="{8 * _CELL - 2}" height="{_CELL - 2}"/>'
            f'<text class="n" x="{_LEFT + col * _CELL + 4}" y="{_TOP + row * _CELL + 13}">lane {lane}</text>'
        )
    row, col = one.got
    x, y = _LEFT + col * _CELL, _TOP + row * _CELL
    parts.append(
        f'<rect class="w" x="{x + 1}" y="{y + 1}" width="{2 * _CELL - 2}" height="{_CELL - 2}"/>'
        f'<text class="n" x="{x + _CELL}" y="{y + 13}" text-anchor="middle">a[{one.number}]</text>'
    )
    return "".join(parts)


def _legend(y: float) -> str:
    looks = (("r", "16 bytes that a lane names"), ("w", f"what lane {LANE} gets"))
    return "".join(
        f'<rect class="{look}" x="{4 + 200 * i}" y="{y:g}" width="11" height="11"/>'
        f'<text class="q" x="{20 + 200 * i}" y="{y + 9.5:g}" font-size="11">{text}</text>'
        for i, (look, text) in enumerate(looks)
    )
