"""Questions on lab 10: fragments, ldmatrix, rounding to bf16, tiles for tensor cores."""

# ruff: noqa: E741 - l is what the course calls the columns of N

from __future__ import annotations

import struct

from grader.quiz.by_hand import ceil_div
from grader.quiz.question import THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W


def _held_by(lane: int) -> dict[tuple[int, int], int]:
    """Of A: which element lies in which of the lane's registers, matrix by matrix as ldmatrix has it."""
    corners = [(0, 0), (8, 0), (0, 8), (8, 8)]
    return {
        (top + row, left + column): register
        for register, (top, left) in enumerate(corners)
        for row in range(8)
        for column in range(8)
        if 4 * row + column // 2 == lane
    }


def _nearest_bf16(number: float) -> float:
    """The nearest of all bf16 around a positive number, looked for one by one."""
    upper = struct.unpack(">I", struct.pack(">f", number))[0] >> 16
    around = [struct.unpack(">f", struct.pack(">I", n << 16))[0] for n in (upper, upper + 1)]
    return min(around, key=lambda one: abs(one - number))


def _in_steps(value: float, low: float) -> float:
    """To the nearest multiple of a bf16's step between low and 2 * low."""
    return round(value / (low / 128)) * (low / 128)


QUESTIONS = (
    Q(
        "10.fragment-row",
        "lab 10, one instruction",
        THREADS,
        {"lane": tuple(range(1, 32, 2)), "register": (0, 1, 2, 3)},
        "mma.m16n8k16: which (row, first column) of A lies in a[{register}] of lane {lane}?",
        lambda lane, register: min(at for at, r in _held_by(lane).items() if r == register),
        lambda lane, register: (lane // 4 + register % 2 * 8, lane % 4 * 2 + register // 2 * 8),
        "Row lane / 4, 8 further down in a[1] and a[3]; column lane % 4 * 2, 8 further on in a[2] and a[3]: {answer}.",
        (
            W(
                lambda lane, register: (
                    lane // 4 + register // 2 * 8,
                    lane % 4 * 2 + register % 2 * 8,
                ),
                "a[1] lies below a[0], a[2] beside it.",
            ),
            W(lambda lane, register: (lane % 4 * 2, lane // 4), "Row first."),
        ),
    ),
    Q(
        "10.fragment-lane",
        "lab 10, one instruction",
        THREADS,
        {"row": (0, 3, 9, 14), "column": (0, 5, 8, 13)},
        "mma.m16n8k16: which (lane, register) holds A[{row}][{column}]?",
        lambda row, column: next(
            (lane, _held_by(lane)[row, column])
            for lane in range(32)
            if (row, column) in _held_by(lane)
        ),
        lambda row, column: (row % 8 * 4 + column % 8 // 2, row // 8 + column // 8 * 2),
        "Four lanes to a row of a quarter, two elements each; quarters downwards first: {answer}.",
        (
            W(
                lambda row, column: (row % 8 * 4 + column % 8 // 2, row // 8 * 2 + column // 8),
                "The quarter below the first is a[1].",
            ),
        ),
    ),
    Q(
        "10.sum-column",
        "lab 10, one instruction",
        THREADS,
        {"lane": tuple(range(0, 32, 3)), "number": (0, 1, 2, 3)},
        "mma.m16n8k16: which (row, column) of the 16 x 8 sums is sum[{number}] of lane {lane}?",
        lambda lane, number: [
            (row, column)
            for row in range(16)
            for column in range(8)
            if row % 8 * 4 + column // 2 == lane
        ][number],
        lambda lane, number: (lane // 4 + number // 2 * 8, lane % 4 * 2 + number % 2),
        "Two neighbours of row lane / 4, two of the row 8 further down: {answer}.",
        (
            W(
                lambda lane, number: (lane // 4, lane % 4 * 4 + number),
                "A lane has two neighbours in each of two rows.",
            ),
        ),
    ),
    Q(
        "10.row-that-a-lane-names",
        "lab 10, one load",
        THREADS,
        {"lane": (0, 5, 9, 15, 17, 22, 30)},
        "ldmatrix.x4 loads a fragment of A: a[0] the upper left quarter, a[1] the lower left, a[2] the upper right. Which (row, first column) of the 16 x 16 does lane {lane} name?",
        lambda lane: [(top + row, left) for left in (0, 8) for top in (0, 8) for row in range(8)][
            lane
        ],
        lambda lane: (lane % 16, lane // 16 * 8),
        "Lanes 0 to 7 name the rows of the first matrix, 8 to 15 of the second: {answer}.",
        (
            W(
                lambda lane: (lane % 8 + lane // 16 * 8, lane // 8 % 2 * 8),
                "The second matrix lies below the first.",
            ),
            W(
                lambda lane: (lane // 4, lane % 4 * 2),
                "That is what the lane gets, not what it names.",
            ),
        ),
    ),
    Q(
        "10.nearest",
        "lab 10, what is asked for",
        THREADS,
        {"number": (1.003, 1.006, 1.1, 1.45, 1.7, 1.999)},
        "A bf16 has 7 bits of fraction. Which bf16 is nearest to {number}?",
        _nearest_bf16,
        lambda number: _in_steps(number, 1.0),
        "Between 1 and 2 they lie 1/128 apart: {answer}.",
        (
            W(
                lambda number: int(number * 128) / 128
                + (int(number * 128) / 128 == _in_steps(number, 1.0)) / 128,
                "To the nearest, neither cut nor always up.",
            ),
        ),
    ),
    Q(
        "10.bound",
        "lab 10, what rounding does",
        THREADS,
        {"size": (8, 64, 256, 1024)},
        "The sizes of all products of one sum add up to {size}. By how much may rounding both factors to bf16 (u = 1/256) change the sum at most?",
        lambda size: size * ((1 + 1 / 256) * (1 + 1 / 256) - 1),
        lambda size: size * 2 / 256 + size / 65536,
        "(2u + u^2) * {size} = {answer}.",
        (
            W(lambda size: size / 256, "Both factors are rounded."),
            W(lambda size: size * 2 / 65536, "u is 1/256."),
        ),
    ),
    Q(
        "10.loads-of-a-warp",
        "lab 10, wavefronts of a warp",
        THREADS,
        {"wm": (16, 32, 64, 128), "wn": (16, 32, 64)},
        "A warp computes {wm} x {wn} of P. How many ldmatrix.x4 does it need for each 16 of k, if every fragment is loaded once?",
        lambda wm, wn: len(range(0, wm, 16)) + len(range(0, wn, 16)),
        lambda wm, wn: (wm * 16 + wn * 16) // 256,
        "An ldmatrix.x4 fetches 256 elements, 16 x 16: {answer}.",
        (
            W(lambda wm, wn: (wm // 16) * (wn // 16), "Fragments are used several times."),
            W(lambda wm, wn: wm // 16 + wn // 8, "One load serves two pieces of 8 columns."),
        ),
        unit="loads",
    ),
    Q(
        "10.products-of-a-warp",
        "lab 10, one instruction",
        THREADS,
        {"wm": (32, 64), "wn": (32, 64), "bk": (16, 32, 64)},
        "A warp computes {wm} x {wn} of P; a phase has {bk} of k. How many mma.m16n8k16 does the warp start in a phase?",
        lambda wm, wn, bk: len(
            [(r, c, i) for r in range(0, wm, 16) for c in range(0, wn, 8) for i in range(0, bk, 16)]
        ),
        lambda wm, wn, bk: wm * wn * bk // 2048,
        "2,048 multiply-adds each: {answer}.",
        (W(lambda wm, wn, bk: wm * wn * bk // 4096, "16 x 8 x 16 are 2,048."),),
        unit="instructions",
    ),
    Q(
        "10.useful-share",
        "lab 10, question 2",
        THREADS,
        {"k": (1, 3, 16, 20, 40)},
        "k = {k}, and k is walked through in steps of 16. Which percentage of the multiply-adds is of use?",
        lambda k: 100
        * sum(1 for _ in range(k))
        / len([i for s in range(0, k, 16) for i in range(s, s + 16)]),
        lambda k: 100 * k / (ceil_div(k, 16) * 16),
        lambda k, answer: f"{k} of {ceil_div(k, 16) * 16}: {answer}.",
        (W(lambda: 0, "What lies inside is of use."),),
        unit="%",
    ),
    Q(
        "10.conflicts-of-rows",
        "lab 10, padding of 8 elements",
        THREADS,
        {"row": (64, 68, 72, 80, 88, 96, 128, 136)},
        "Rows of a tile have {row} bf16, and ldmatrix reads eight of them, 16 bytes each. Can that be one wavefront (32 banks of 4 bytes, rows at multiples of 16 bytes)?",
        lambda row: YES_NO[
            not (
                row % 8 == 0
                and len({(r * row // 2 + word) % 32 for r in range(8) for word in range(4)}) == 32
            )
        ],
        lambda row: YES_NO[row % 16 != 8],
        lambda row,
        answer: f"Rows begin {row // 2} words apart; eight of four words each fill all banks where that is 4 more than a multiple of 8: {answer}.",
        choices=YES_NO,
    ),
)
