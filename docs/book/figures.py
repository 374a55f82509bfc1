"""Draws the book's still pictures: `.venv/bin/python docs/book/figures.py`, into docs/figures.

What is a number in them comes from common/devices or is computed here; a test holds that the files
are what this program draws.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import published_figures
from drawing import BLUE, GREEN, PALE, RED, YELLOW, Drawing

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "figures"


def device(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "common" / "devices" / f"{name}.json").read_text(encoding="utf-8"))


def peak_gflops(name: str) -> float:
    """Of multiply-adds in FP32, two operations each."""
    about = device(name)
    return about["sm_count"] * about["fp32_lanes_per_sm"] * 2 * about["sm_clock_mhz"] / 1000


def card() -> Drawing:
    sms, about = device("h200")["sm_count"], device("c1060")
    d = Drawing(
        640, 300, "A host with its memory, a bus, and the card: a chip with many multiprocessors and"
        " a second-level cache, and the card's own memory beside it",
    )  # fmt: skip
    d.box(14, 40, 130, 220, PALE)
    d.text(79, 30, "host", anchor="middle", bold=True)
    d.box(34, 60, 90, 60, "white", "CPU")
    d.box(34, 170, 90, 70, YELLOW, "its memory")
    d.line(79, 122, 79, 167, arrow=True)
    d.line(146, 150, 196, 150, arrow=True)
    d.text(171, 140, "bus", anchor="middle")
    d.box(200, 40, 426, 220, PALE)
    d.text(413, 30, "card (the device)", anchor="middle", bold=True)
    d.box(216, 56, 270, 190, "white")
    for row in range(3):
        for column in range(6):
            d.box(226 + 42 * column, 66 + 36 * row, 36, 28, BLUE, "SM", size=11)
    d.text(351, 190, f"{about['sm_count']} on a C1060, {sms} on an H200", anchor="middle")
    d.box(226, 202, 250, 32, GREEN, "L2 cache (none on a C1060)")
    d.box(524, 56, 88, 190, YELLOW)
    d.text(568, 140, "DRAM:", anchor="middle")
    d.text(568, 158, "global", anchor="middle")
    d.text(568, 174, "memory", anchor="middle")
    d.line(488, 218, 521, 218, arrow=True)
    d.text(351, 282, "the chip: multiprocessors (SM) of one kind, many times", anchor="middle")
    return d


def multiprocessor() -> Drawing:
    d = Drawing(
        640, 330, "Inside one multiprocessor: four schedulers with 32 lanes each, one register file,"
        " and shared memory with the first-level cache; every thread has its own registers, a block"
        " has one part of shared memory",
    )  # fmt: skip
    d.box(14, 30, 612, 250, PALE)
    d.text(320, 20, "one multiprocessor of an H200", anchor="middle", bold=True)
    for unit in range(4):
        x = 26 + 149 * unit
        d.box(x, 42, 141, 128, "white")
        d.box(x + 8, 50, 125, 26, GREEN, "scheduler", size=11)
        for lane in range(32):
            d.box(x + 8 + 7.8 * (lane % 16), 84 + 14 * (lane // 16), 7, 12, BLUE)
        d.text(x + 70, 126, "32 lanes", size=11, anchor="middle")
        d.box(x + 8, 134, 125, 30, YELLOW, "registers: by thread", size=11)
    d.box(26, 184, 588, 36, YELLOW, "shared memory: a part for each block, 32 banks")
    d.box(26, 228, 588, 36, YELLOW, "L1 cache, in the same array")
    d.text(
        320, 300, "near: registers (at once), then shared memory and L1 (tens of cycles)",
        anchor="middle",
    )  # fmt: skip
    d.text(320, 318, "far: L2, then DRAM (hundreds of cycles)", anchor="middle")
    return d


def instructions() -> Drawing:
    d = Drawing(
        600, 190, "With both operands in registers an addition is one instruction; with one of them"
        " in memory a load comes before it",
    )  # fmt: skip
    for x, title in ((14, "operands in registers"), (310, "an operand in memory")):
        d.box(x, 30, 276, 146, PALE)
        d.text(x + 138, 20, title, anchor="middle", bold=True)
    d.box(34, 50, 110, 40, YELLOW, "r1, r2, r3")
    d.box(164, 50, 106, 40, BLUE, "adder")
    d.line(146, 70, 161, 70, arrow=True)
    d.text(34, 128, "add  r3, r1, r2", size=13)
    d.text(34, 160, "1 instruction, no waiting")
    d.box(324, 50, 76, 40, YELLOW, "memory")
    d.box(416, 50, 70, 40, YELLOW, "r1, r2, r3", size=11)
    d.box(502, 50, 70, 40, BLUE, "adder")
    d.line(402, 70, 413, 70, arrow=True)
    d.line(488, 70, 499, 70, arrow=True)
    d.text(330, 118, "load r2, [address]", size=13)
    d.text(330, 138, "add  r3, r1, r2", size=13)
    d.text(330, 160, "2 instructions, and a wait between")
    return d


def latency() -> Drawing:
    d = Drawing(
        640, 260, "Above, one warp computes, then waits long for memory, with the lanes idle. Below,"
        " while one warp waits three others compute, and the lanes are never idle",
    )  # fmt: skip

    def lane(y: float, start: float, label: str) -> None:
        d.text(14, y + 14, label)
        x = 80 + start
        while x < 620:
            compute = min(60, 620 - x)
            d.box(x, y, compute, 18, BLUE)
            if x + 60 < 620:
                d.box(x + 60, y, min(180, 620 - x - 60), 18, "white")
            x += 240

    d.text(14, 18, "one warp: it computes a quarter of the time", bold=True)
    lane(28, 0, "warp 0")
    d.text(14, 92, "four warps: each waits as long, and somebody always computes", bold=True)
    for warp in range(4):
        lane(102 + 24 * warp, 60 * warp, f"warp {warp}")
    d.text(14, 222, "scheduler")
    d.box(80, 208, 540, 18, BLUE)
    d.box(80, 236, 24, 14, BLUE)
    d.text(110, 248, "computes")
    d.box(200, 236, 24, 14, "white")
    d.text(230, 248, "waits for memory")
    return d


def divergence() -> Drawing:
    d = Drawing(
        640, 250, "Eight lanes of a warp that disagree at an if: first the lanes of one side run and"
        " the others wait, then the other way round; lanes that agree take one side only",
    )  # fmt: skip

    def rows(x: float, title: str, sides: list[str]) -> None:
        d.text(x, 20, title, bold=True)
        names = ["condition"]
        if "A" in sides:
            names.append("A")
        if "B" in sides:
            names.append("B")
        for r, name in enumerate([*names, "after"]):
            y = 36 + 44 * r
            d.text(x, y + 19, {"A": "side A", "B": "side B"}.get(name, name))
            for lane, side in enumerate(sides):
                on = name in ("condition", "after") or side == name
                fill = {"A": BLUE, "B": GREEN}.get(name, YELLOW) if on else "white"
                d.box(x + 74 + 24 * lane, y, 22, 28, fill, str(lane) if on else "", size=11)

    rows(14, "lanes disagree: 4 steps", list("ABABABAB"))
    rows(330, "lanes agree: 3 steps", list("AAAAAAAA"))
    d.text(14, 232, "An empty box is a lane that waits while its warp runs the other side.")
    return d


def carpool() -> Drawing:
    d = Drawing(
        640, 240, "Two workers with similar days can share a car; two whose days don't overlap can't",
    )  # fmt: skip
    good = [("Ann", 60, 150, 330), ("Ben", 60, 160, 340)]
    bad = [("Ann", 60, 150, 330), ("Cem", 300, 390, 570)]
    for y, title, people in (
        (16, "similar schedules: one car does", good),
        (126, "schedules apart: each needs a car", bad),
    ):
        d.text(14, y + 4, title, bold=True)
        for who, (name, sleep, drive, work) in enumerate(people):
            top = y + 16 + 36 * who
            d.text(14, top + 18, name)
            d.box(sleep, top, drive - sleep, 26, PALE, "sleep", size=11)
            d.box(drive, top, 50, 26, RED, "drive", size=11)
            d.box(drive + 50, top, work - drive - 50, 26, BLUE, "work", size=11)
    return d


def row_major() -> Drawing:
    d = Drawing(
        620, 190, "A matrix of 3 rows and 4 columns, and the line of 12 elements in memory that it"
        " is: row after row; element (1, 2) stands at 1 * 4 + 2 = 6",
    )  # fmt: skip
    rows = (BLUE, YELLOW, GREEN)
    for r in range(3):
        for c in range(4):
            label = f"{r},{c}"
            d.box(20 + 44 * c, 30 + 30 * r, 44, 30, rows[r], label)
            i = r * 4 + c
            d.box(20 + 48 * i, 140, 48, 30, rows[r], label)
            d.text(44 + 48 * i, 186, str(i), size=11, anchor="middle")
    d.text(20, 20, "as we draw it: row, column", bold=True)
    d.text(230, 62, "(r, c) of a matrix of width w stands at r * w + c")
    d.text(230, 84, "(1, 2): 1 * 4 + 2 = 6")
    d.text(20, 134, "as it lies in memory", bold=True)
    return d


def coalescing() -> Drawing:
    d = Drawing(
        700, 300, "Sixteen lanes that differ in the column want 64 bytes in a row, two sectors;"
        " sixteen lanes that differ in the row want a word of each of sixteen rows, sixteen sectors",
    )  # fmt: skip
    d.text(20, 18, "16 lanes along a row: 2 sectors of 32 bytes", bold=True)
    d.text(370, 18, "16 lanes down a column: 16 sectors", bold=True)
    for row in range(16):
        for column in range(16):
            x, y = 20 + 19 * column, 28 + 15 * row
            d.box(x, y, 19, 15, BLUE if row == 7 else "white")
            fill = BLUE if column == 3 else YELLOW if column < 8 else "white"
            d.box(x + 350, y, 19, 15, fill)
    d.line(172, 28 + 15 * 7 - 3, 172, 28 + 15 * 8 + 3, width=2.5)
    d.text(20, 288, "blue: the words wanted; yellow: what comes along, unused")
    return d


def element_to_thread() -> Drawing:
    d = Drawing(
        680, 250, "Lab 05's tile of M, 64 rows of 16: thread t loads element t, so that threads 0 to"
        " 15 load row 0; the same elements go down a column of the transposed tile in shared memory",
    )  # fmt: skip
    d.text(20, 18, "tile of M, row-major: which thread loads what", bold=True)
    for r in range(4):
        for i in range(16):
            fill = BLUE if r == 0 else YELLOW if r == 1 else "white"
            d.box(20 + 24 * i, 28 + 24 * r, 24, 24, fill, str(16 * r + i), size=10)
    d.text(20, 142, "... rows 4 to 15: threads 64 to 255;")
    d.text(20, 160, "then rows 16 to 31: threads 0 to 255 again")
    d.text(470, 18, "Mds[i][r], transposed", bold=True)
    for i in range(8):
        for r in range(6):
            fill = BLUE if r == 0 else YELLOW if r == 1 else "white"
            d.box(
                470 + 30 * r, 28 + 24 * i, 30, 24, fill, str(16 * r + i) if r < 4 else "", size=10
            )
    d.text(470, 238, "... 16 rows of 64")
    d.text(20, 200, "blue: threads 0 to 15, a row of M, a column of Mds")
    return d


def six_frames() -> Drawing:
    d = Drawing(
        660, 330, "Block (0,0) of a 4 x 4 product with tiles of 2: load a tile of each, use their"
        " first column and row, use their second, load the next tiles, use, use",
    )  # fmt: skip
    m = [[1, 2, 0, 1], [0, 1, 3, 2]]
    n = [[1, 0], [0, 1], [2, 1], [1, 2]]
    sums = [[0, 0], [0, 0]]
    cell = 20
    for frame in range(6):
        phase, step = divmod(frame, 3)
        x, y = 14 + 218 * step, 22 + 150 * phase
        d.text(x, y - 6, f"phase {phase}: " + ("load" if step == 0 else "use"), bold=True)
        k = 2 * phase + step - 1
        if step:
            for r in range(2):
                for c in range(2):
                    sums[r][c] += m[r][k] * n[k][c]
        for i in range(4):
            for r in range(2):
                loaded = i // 2 == phase
                fill = YELLOW if loaded and step == 0 else BLUE if step and i == k else "white"
                d.box(x + cell * i, y + 84 + cell * r, cell, cell, fill, str(m[r][i]), size=11)
                d.box(x + 88 + cell * r, y + cell * i, cell, cell, fill, str(n[i][r]), size=11)
        for r in range(2):
            for c in range(2):
                d.box(x + 88 + 30 * c, y + 84 + cell * r, 30, cell, GREEN, str(sums[r][c]), size=11)
    d.text(14, 320, "yellow: loaded into shared memory; blue: used; green: the sums so far")
    return d


def banks16() -> Drawing:
    d = Drawing(
        660, 380, "Banks of the elements of float[16][16] and float[16][17] on a GPU with 16 banks:"
        " a column of the first lies in one bank, of the second in sixteen",
    )  # fmt: skip
    for x, width in ((20, 16), (340, 17)):
        d.text(x, 18, f"float[16][{width}] on 16 banks", bold=True)
        for r in range(16):
            for c in range(width):
                bank = (r * width + c) % 16
                fill = RED if c == 0 else PALE if c == 16 else "white"
                d.box(x + 17.5 * c, 28 + 20 * r, 17.5, 20, fill, str(bank), size=9)
    d.text(20, 368, "first column: bank 0, sixteen times")
    d.text(340, 368, "first column: every bank once")
    return d


def gpu2() -> Drawing:
    d = Drawing(
        640, 220, "A thread of GPU2 computes two neighbours of C: it reads four values of a row of A"
        " as one float4 and, for each of the four rows of B, two neighbours as one float2",
    )  # fmt: skip
    for i in range(8):
        d.box(20 + 24 * i, 140, 24, 24, BLUE if i < 4 else "white")
    d.text(20, 184, "a row of A: one float4, four steps")
    for r in range(4):
        for c in range(8):
            d.box(300 + 24 * c, 20 + 24 * r, 24, 24, YELLOW if c in (2, 3) else "white")
    d.text(506, 72, "four rows of B:")
    d.text(506, 90, "a float2 of each")
    for c in range(8):
        d.box(300 + 24 * c, 140, 24, 24, GREEN if c in (2, 3) else "white")
    d.text(300, 184, "a row of C: this thread's two elements")
    d.text(20, 208, "12 words are read for 8 multiply-adds: 4 of A and 8 of B")
    return d


KERNELS = (  # of the roofline: name, floats loaded from global memory per multiply-add
    ("naive", 2.0),
    ("tiles of 16", 2 / 16),
    ("tiles of 32", 2 / 32),
    ("64 x 64 a block", 2 / 64),
    ("128 x 128 a block", 2 / 128),
)


def intensity(words: float) -> float:
    """Operations per byte of a kernel that loads so many floats for a multiply-add."""
    return 2 / (4 * words)


def roofline() -> Drawing:
    d = Drawing(
        660, 400, "Roofline of a C1060 and an H200: the speed a kernel can reach rises with its"
        " operations per byte until the peak; marks show the kernels of the course",
    )  # fmt: skip
    left, right, top, bottom = 70, 640, 30, 340
    low, high, least, most = -3, 7, 3, 17  # powers of two: operations per byte, GFLOP/s

    def x(value: float) -> float:
        return left + (math.log2(value) - low) / (high - low) * (right - left)

    def y(value: float) -> float:
        return bottom - (math.log2(value) - least) / (most - least) * (bottom - top)

    for power in range(low, high + 1):
        d.line(x(2.0**power), top, x(2.0**power), bottom, stroke="#dddddd")
        label = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        d.text(x(2.0**power), bottom + 16, label, size=11, anchor="middle")
    for power in range(4, most + 1, 2):
        d.line(left, y(2.0**power), right, y(2.0**power), stroke="#dddddd")
        label = f"{2**power}" if power < 10 else f"{2 ** (power - 10)} Ki"
        d.text(left - 6, y(2.0**power) + 4, label, size=11, anchor="end")
    for name, color in (("c1060", "#b5651d"), ("h200", "#1d5fb5")):
        about, peak = device(name), peak_gflops(name)
        bandwidth = about["memory_bandwidth_gbs"]
        ridge = peak / bandwidth
        start = 2.0**low
        d.line(x(start), y(start * bandwidth), x(ridge), y(peak), width=2.5, stroke=color)
        d.line(x(ridge), y(peak), right, y(peak), width=2.5, stroke=color)
        words = f"{about['name']}: {peak:,.0f} GFLOP/s; ridge at {ridge:.1f}"
        d.text(right - 4, y(peak) - 6, words, anchor="end", fill=color)
        for _, loads in KERNELS:
            at = intensity(loads)
            d.dot(x(at), y(min(peak, at * bandwidth)), color)
    for i, (name, loads) in enumerate(KERNELS):
        at = x(intensity(loads))
        d.line(at, bottom - 84 + 16 * i, at, bottom, dash="3 3")
        d.text(at + 4, bottom - 78 + 16 * i, name, size=11)
    d.text(
        (left + right) / 2,
        376,
        "operations per byte from global memory, no caches",
        anchor="middle",
    )
    d.text(14, 18, "GFLOP/s, of multiply-adds in FP32")
    return d


FIGURES = {
    "published-bars": published_figures.published_bars,
    "published-scatter": published_figures.published_scatter,
    "card": card, "multiprocessor": multiprocessor, "instructions": instructions,
    "coalescing": coalescing, "element-to-thread": element_to_thread, "latency": latency, "divergence": divergence, "carpool": carpool, "row-major": row_major,
    "six-frames": six_frames, "banks16": banks16, "gpu2": gpu2, "roofline": roofline,
}  # fmt: skip


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
