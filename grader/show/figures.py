"""Figures of the handouts that are made from a run of the solution, and move.

    python -m grader.show.figures            writes labs/NN/steps.svg and labs/NN/moving.svg
    python -m grader.show.figures --check    exits with 1 if one of them is not what a run gives

steps.svg has all frames beside each other, for print; moving.svg shows them in turn, and the last one
alone to readers who want no movement. They show data, not source: the handout comes before the lab.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from grader.labs.course import Course, find_course
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.show import banks, fragments, svg
from grader.show.frames import Cell, Frame, Story
from grader.trace import make, reader

GAP = 26
_ROOMY = 14  # a cell in which its value can be read

_MARKS = (
    ("r", "read"), ("w", "written"), ("g", "sum grows"), ("o", "on its way"),
    ("x", "two threads, in any order"),
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """What is drawn for a lab, and how large."""

    lab: str
    case: str
    title: str
    frames: Callable[[Story], list[Frame]]
    cell: float
    columns: int  # frames in a row of the one for print
    data: str = ""  # in place of the case's own
    block: int = 0
    without: str = ""  # lines of the solution that are left out: those with these words
    prefix: str = ""  # of the files' names


def _phases(count: int) -> list[str]:
    both = [(f"phase {ph}: load", f"phase {ph}: add") for ph in range(count)]
    return [one for pair in both for one in pair] + ["store"]


FIGURES = (
    Figure(
        "02-tiled-kernel", "4x4", "Block (0,0) from barrier to barrier",
        lambda story: story.between_barriers(_phases(2)), 20, 3, "file:toy-4x4",
    ),
    Figure(
        "02-tiled-kernel", "4x4", "Block (0,0) without the first barrier",
        lambda story: story.between_barriers(
            ["phase 0: load and add", "phase 1: load and add", "store"]
        ), 20, 3, "file:toy-4x4", 0, "// separates loading the tiles", "no-first-barrier-",
    ),
    Figure(
        "02-tiled-kernel", "4x4", "Block (0,0) without the second barrier",
        lambda story: story.between_barriers(
            ["phase 0: load", "add 0 and load phase 1", "add 1 and store"]
        ), 20, 3, "file:toy-4x4", 0, "// separates using the tiles", "no-second-barrier-",
    ),
    Figure(
        "03-boundary-checks", "3x3", "Block (1,0) of 3x3 with tiles of 2x2, from barrier to barrier",
        lambda story: story.between_barriers(_phases(2)), 20, 3, "file:toy-3x3", 1,
    ),
    Figure(
        "05-register-tiling", "16x8x16", "Block (0,0) from barrier to barrier: each tile of M lies transposed",
        lambda story: story.between_barriers(_phases(2)), 9, 3,
    ),
    Figure(
        "08-async-copies", "16x12x16", "Block (0,0) from barrier to barrier: two stages in turn",
        lambda story: story.between_barriers(
            ["start phase 0", "add 0, start 1", "add 1, start 2", "add 2, store"]
        ), 9, 2,
    ),
    Figure(
        "09-warp-tiles", "16x8x32", "What a lane of warp 0 computes, and of what",
        lambda story: story.of_lanes([0, 1, 2, 3, 8, 31]), 7, 2,
    ),
)  # fmt: skip


def story_of(course: Course, figure: Figure) -> Story:
    lab = load_lab(course.labs / figure.lab)
    show = lab.show(figure.case)
    case = replace(show.case, data=figure.data) if figure.data else show.case
    text = (course.root / "solutions" / figure.lab / "matmul.cu").read_text(encoding="utf-8")
    if figure.without:
        kept = [line for line in text.splitlines() if figure.without not in line]
        assert len(kept) == len(text.splitlines()) - 1, figure.without
        text = "\n".join(kept) + "\n"
    wanted = make.Wanted(case, dict(show.constants))
    made = make.make(course, lab, text, wanted, Options("sim"))
    return Story(reader.with_columns(made)["launches"][0], figure.block)


class _Scene:
    """Where the arrays of all frames lie: N above P, M beside it, tiles in the corner."""

    def __init__(self, figure: Figure, story: Story, frames: Sequence[Frame]) -> None:
        self.figure, self.cell = figure, figure.cell
        self.races = {frame.title: frame.races for frame in frames}
        used = {name for frame in frames for name, _ in [*frame.reads, *frame.writes, *frame.comes]}
        self.grids: dict[str, tuple[list[int], float, float]] = {}  # shape, x, y
        shapes = {name: list(shape) for name, shape in story.shapes.items()}
        m, n, p = shapes["M"], shapes["N"], shapes["P"]
        tiles = [name for name in shapes if name not in "MNP" and name in used]
        high = [self._rows(shapes[name]) * self.cell + GAP for name in tiles]
        wide = [self._cols(shapes[name]) * self.cell for name in tiles]
        left = max([m[1] * self.cell, *wide])
        top = max(n[0] * self.cell + GAP, sum(high))
        y = 20.0 + GAP
        for name, height in zip(tiles, high, strict=True):
            self.grids[name] = (shapes[name], 4, y)
            y += height
        x = 4 + left + GAP
        self.grids["N"] = (n, x, 20 + top - n[0] * self.cell)
        self.grids["M"] = (m, 4 + left - m[1] * self.cell, 20 + top + GAP)
        self.grids["P"] = (p, x, 20 + top + GAP)
        self.width = x + p[1] * self.cell + 10
        self.height = 20 + top + GAP + p[0] * self.cell + 8

    @staticmethod
    def _panels(shape: list[int]) -> tuple[int, int, int, bool]:
        """Panels, their rows and columns, and whether they stand side by side."""
        if len(shape) < 3:
            return 1, shape[0] if len(shape) > 1 else 1, shape[-1], False
        return shape[0], shape[1], shape[2], shape[1] > shape[2]

    def _rows(self, shape: list[int]) -> float:
        count, rows, _, across = self._panels(shape)
        return rows if across else count * rows + (count - 1) * 0.6

    def _cols(self, shape: list[int]) -> float:
        count, _, cols, across = self._panels(shape)
        return count * cols + (count - 1) * 0.6 if across else cols

    def place(self, name: str, number: int) -> tuple[float, float]:
        shape, x, y = self.grids[name]
        _, rows, cols, across = self._panels(shape)
        panel, rest = divmod(number, rows * cols)
        row, col = divmod(rest, cols)
        if across:
            col += panel * (cols + 0.6)
        else:
            row += panel * (rows + 0.6)
        return round(x + col * self.cell, 1), round(y + row * self.cell, 1)

    def frame(self, frame: Frame) -> str:
        parts = [
            f'<text x="4" y="15" font-size="13" font-weight="bold">{escape(frame.title)}</text>'
        ]
        for name, (shape, x, y) in self.grids.items():
            parts.append(f'<text class="q" x="{x:g}" y="{y - 5:g}" font-size="11">{name}</text>')
            parts.append(self._lines(name, shape))
            parts += [self._cell(frame, (name, number)) for number in range(math.prod(shape))]
        return "".join(parts)

    def _lines(self, name: str, shape: list[int]) -> str:
        count, rows, cols, _ = self._panels(shape)
        drawn = ""
        for panel in range(count):
            x, y = self.place(name, panel * rows * cols)
            wide, high = cols * self.cell, rows * self.cell
            drawn += "".join(f"M{x:g} {y + row * self.cell:g}h{wide:g}" for row in range(rows + 1))
            drawn += "".join(f"M{x + col * self.cell:g} {y:g}v{high:g}" for col in range(cols + 1))
        return f'<path class="c" d="{drawn}"/>'

    def _cell(self, frame: Frame, cell: Cell) -> str:
        x, y = self.place(*cell)
        side, drawn = self.cell, ""
        looks = [
            look
            for look, cells in zip(
                "xwro", (self.races[frame.title], frame.writes, frame.reads, frame.comes), strict=True
            )
            if cell in cells
        ][:1] + ["g"] * (cell in frame.grows)  # fmt: skip
        if looks:
            drawn = (
                f'<rect class="{" ".join(looks)}" x="{x + 0.9:g}" y="{y + 0.9:g}"'
                f' width="{side - 1.8:g}" height="{side - 1.8:g}"/>'
            )
        if cell in frame.writes and side >= _ROOMY:
            drawn += f'<path class="k" d="M{x + side - 7:g} {y + 1:g}h6v6z"/>'
        value = frame.values.get(cell)
        if value is not None and value == value and side >= _ROOMY:
            drawn += (
                f'<text x="{x + side / 2:g}" y="{y + side * 0.7:g}" font-size="{side * 0.5:g}"'
                f' text-anchor="middle">{value:g}</text>'
            )
        return drawn


def _legend(frames: Sequence[Frame], y: float) -> str:
    used = [any(one) for one in zip(
        *((frame.reads, frame.writes, frame.grows, frame.comes, frame.races) for frame in frames),
        strict=True,
    )]  # fmt: skip
    parts, x = [], 4
    for (look, text), is_used in zip(_MARKS, used, strict=True):
        if not is_used:
            continue
        parts.append(
            f'<rect class="{look}" x="{x}" y="{y:g}" width="11" height="11"/>'
            f'<text class="q" x="{x + 16}" y="{y + 9.5:g}" font-size="11">{text}</text>'
        )
        x += 100
    return "".join(parts)


def drawn(figure: Figure, story: Story) -> dict[str, str]:
    """The files by their names."""
    frames = figure.frames(story)
    scene = _Scene(figure, story, frames)
    thin = ".r,.w,.w.g,.g{stroke-width:1}" if figure.cell < _ROOMY else ""
    pictures = [scene.frame(frame) for frame in frames]
    size = (scene.width, scene.height)
    made = svg.files(
        figure.title, pictures, size, figure.columns, lambda y: _legend(frames, y), thin
    )
    return {figure.prefix + name: text for name, text in made.items()}


def outdated(course: Course, figures: Sequence[Figure] = FIGURES) -> dict[Path, str]:
    """Files that are not what a run gives, with what they should be."""
    found = {}
    for figure in figures:
        found |= svg.not_current(course, figure.lab, drawn(figure, story_of(course, figure)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m grader.show.figures")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    course = find_course(Path.cwd())
    of_banks = svg.not_current(course, banks.LAB, banks.drawn(course))
    of_lanes = svg.not_current(course, fragments.LAB, fragments.drawn(course))
    found = {**outdated(course), **of_banks, **of_lanes}
    for path, text in found.items():
        print(f"{path.relative_to(course.root)} {'is not current' if given.check else 'written'}")
        if not given.check:
            path.write_text(text, encoding="utf-8")
    return int(given.check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
