"""Questions on lab 03: tiles that hang over the edge."""

from __future__ import annotations

import numpy as np

from grader.quiz.by_hand import ceil_div
from grader.quiz.counted import counted
from grader.quiz.question import SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_W = (17, 20, 24, 30, 33, 40, 50)
_SMALL = {"width": (3, 5, 6, 7, 9), "t": (2, 4)}


def _threads(width: int, t: int):
    """(by, bx, ph, ty, tx) of every thread in every phase."""
    side = range(ceil_div(width, t))
    return (
        (by, bx, ph, ty, tx)
        for by in side
        for bx in side
        for ph in side
        for ty in range(t)
        for tx in range(t)
    )


def _parted(n: int) -> int:
    """Warps that part at the three conditions: two rows of 16 lanes each."""
    side, found = range(ceil_div(n, 16)), 0
    for by in side:
        for bx in side:
            for w in range(8):
                rows = [16 * by + 2 * w, 16 * by + 2 * w + 1]
                for ph in side:
                    found += len({r < n and 16 * ph + x < n for r in rows for x in range(16)}) == 2
                    found += (
                        len(
                            {
                                16 * ph + r % 16 < n and 16 * bx + x < n
                                for r in rows
                                for x in range(16)
                            }
                        )
                        == 2
                    )
                found += len({r < n and 16 * bx + x < n for r in rows for x in range(16)}) == 2
    return found


QUESTIONS = (
    Q(
        "03.phases",
        "lab 03, rounding up",
        THREADS,
        {"width": _W, "t": (4, 8, 16, 32)},
        "Width {width}, tiles of {t}. How many phases are there?",
        lambda width, t: len(range(0, width, t)),
        lambda width, t: (width + t - 1) // t,
        "{width} / {t}, rounded up: {answer}.",
        (
            W(lambda width, t: width // t, "Rounded down: the last columns of M are left out."),
            W(lambda width, t: width // t + 1, "One too many where nothing is left over."),
        ),
    ),
    Q(
        "03.threads-with-an-element",
        "lab 03, question 4",
        SIMULATOR,
        {"n": _W},
        "Width {n}, tiles of 16. What share of the threads owns an element of P?",
        lambda n: n * n / (256 * counted("checked", n=n).blocks),
        lambda n: (n / (16 * ceil_div(n, 16))) ** 2,
        lambda n, answer: f"{n * n} of {256 * ceil_div(n, 16) ** 2}: {answer}.",
        (W(lambda n: n / (16 * ceil_div(n, 16)), "That is along one side; both sides hang over."),),
    ),
    Q(
        "03.real-loads",
        "lab 03, question 4",
        THREADS,
        _SMALL,
        "Width {width}, tiles of {t}. How many loads of M, over all threads and phases, are inside the matrix?",
        lambda width, t: sum(
            1
            for by, _, ph, ty, tx in _threads(width, t)
            if by * t + ty < width and ph * t + tx < width
        ),
        lambda width, t: width * width * ceil_div(width, t),
        lambda width,
        t,
        answer: f"Each block column loads all {width * width} elements once: {answer}.",
        (
            W(lambda width: width * width, "Each element is loaded once by *each* block column."),
            W(
                lambda width, t: ceil_div(width, t) ** 3 * t * t,
                "Those are all that are tried; some lie outside.",
            ),
        ),
    ),
    Q(
        "03.zeros-in-the-tiles",
        "lab 03, worked example 3x3 with tiles of 2",
        THREADS,
        _SMALL,
        "Width {width}, tiles of {t}. How many zeros are put into Mds because its element does not exist, over all blocks and phases?",
        lambda width, t: sum(
            1
            for by, _, ph, ty, tx in _threads(width, t)
            if not (by * t + ty < width and ph * t + tx < width)
        ),
        lambda width, t: ceil_div(width, t) * ((ceil_div(width, t) * t) ** 2 - width**2),
        "Each block column goes through all of M, and what hangs over is filled with 0: {answer}.",
        (
            W(
                lambda width, t: (ceil_div(width, t) * t) ** 2 - width**2,
                "Each block column does that anew.",
            ),
        ),
        unit="zeros",
    ),
    Q(
        "03.owns-but-loads-nothing",
        "lab 03: an owner with nothing to load",
        THREADS,
        _SMALL,
        "Width {width}, tiles of {t}. In the last phase, how many threads of block (0, 0) own an element of P but load 0 for M?",
        lambda width, t: sum(
            1
            for by, bx, ph, ty, tx in _threads(width, t)
            if (by, bx) == (0, 0) and ph == ceil_div(width, t) - 1 and ph * t + tx >= width
        ),
        lambda width, t: t * (-width % t),
        lambda width,
        t,
        answer: f"{-width % t} column(s) of the tile do not exist, {t} threads each: {answer}.",
        (
            W(lambda width, t: t * (width % t), "Those columns do exist."),
            W(lambda width, t: -width % t, "Every row of the block has them."),
        ),
        lambda width, t: width > t,
        unit="threads",
    ),
    Q(
        "03.loads-for-others",
        "lab 03: a thread without an element loads for others",
        THREADS,
        _SMALL,
        "Width {width}, tiles of {t}. In phase 0, how many threads of the last block (lower right) own no element of P but must load an element of M?",
        lambda width, t: sum(
            1
            for by, bx, ph, ty, tx in _threads(width, t)
            if by == bx == ceil_div(width, t) - 1
            and ph == 0
            and by * t + ty < width
            and bx * t + tx >= width
            and tx < width
        ),
        lambda width, t: (width - (ceil_div(width, t) - 1) * t) * (-width % t),
        lambda width,
        t,
        answer: f"Rows that exist, columns of P that don't: {answer}. An early return would leave these out.",
        (
            W(
                lambda: 0,
                "An early return would make it so, and the sums would lack their elements.",
            ),
            W(
                lambda width, t: t * t - (t - -width % t) ** 2,
                "Threads whose row does not exist have nothing to load.",
            ),
        ),
        lambda width, t: width > t,
        unit="threads",
    ),
    Q(
        "03.wrong-neighbour",
        "lab 03: M[0][3] is M[1][0]",
        THREADS,
        {"width": (3, 5, 7, 17), "row": (0, 1), "over": (0, 1)},
        lambda width,
        row,
        over: f"Width {width}. The check on the column is missing, and a thread loads M[{row}][{width + over}]. Which element (row, column) does it get?",
        lambda width, row, over: tuple(
            int(x) for x in np.unravel_index(row * width + width + over, (width, width))
        ),
        lambda row, over: (row + 1, over),
        lambda width,
        row,
        over,
        answer: f"Index {row * width + width + over} is {answer}: no fault, only a wrong sum.",
        (
            W(
                lambda width, row, over: (row, width + over),
                "There is no such element; the index lies in the next row.",
            ),
        ),
    ),
    Q(
        "03.stores",
        "lab 03, storing P",
        SIMULATOR,
        {"n": _W},
        "Width {n}, tiles of 16. How many store requests of a warp (with at least one lane inside) are made?",
        lambda n: counted("checked", n=n).global_store_requests,
        lambda n: ceil_div(n, 16) * ceil_div(n, 2),
        lambda n,
        answer: f"{ceil_div(n, 2)} pairs of rows, {ceil_div(n, 16)} blocks along x: {answer}.",
        (
            W(
                lambda n: ceil_div(n * n, 32),
                "A warp is two rows of 16, not 32 elements in a row of P.",
            ),
            W(lambda n: 8 * ceil_div(n, 16) ** 2, "Warps wholly below the matrix store nothing."),
        ),
        unit="requests",
    ),
    Q(
        "03.load-requests",
        "lab 03, what the report shows",
        SIMULATOR,
        {"n": _W},
        "Width {n}, tiles of 16. How many global load requests of a warp (with at least one lane inside), M and N together?",
        lambda n: counted("checked", n=n).global_load_requests,
        lambda n: 2 * ceil_div(n, 16) ** 2 * ceil_div(n, 2),
        lambda n,
        answer: f"M: {ceil_div(n, 2)} pairs of rows, {ceil_div(n, 16)} phases, {ceil_div(n, 16)} block columns; N as many: {answer}.",
        (
            W(lambda n: 2 * 8 * ceil_div(n, 16) ** 3, "Warps wholly outside load nothing."),
            W(lambda n: ceil_div(n, 16) ** 2 * ceil_div(n, 2), "That is M alone."),
        ),
        unit="requests",
    ),
    Q(
        "03.divergent-branches",
        "lab 03, exercise 1: 350, 350 and 50",
        SIMULATOR,
        {"n": (17, 18, 20, 24, 33, 36, 50)},
        "Width {n}, tiles of 16. At how many branches do lanes of a warp part, at all three conditions together?",
        lambda n: counted("checked", n=n).divergent_branches,
        _parted,
        lambda n, answer: f"The last column of tiles has {n % 16} of 16 columns"
        + (", and the last row divides a warp, too, for the width is odd" if n % 2 else "")
        + f": {answer}.",
        (
            W(lambda n: 3 * 8 * ceil_div(n, 16) ** 2, "Only warps that lie across the edge part."),
            W(lambda n: 2 * ceil_div(n, 16) * ceil_div(n, 2), "The store is a condition, too."),
        ),
    ),
    Q(
        "03.barrier-arrivals",
        "lab 03: all threads reach the barriers",
        SIMULATOR,
        {"n": _W},
        "Width {n}, tiles of 16, two barriers a phase. How often does a warp arrive at a barrier, all warps together?",
        lambda n: counted("checked", n=n).barriers,
        lambda n: 16 * ceil_div(n, 16) ** 3,
        lambda n,
        answer: f"{ceil_div(n, 16) ** 2} blocks of 8 warps, {ceil_div(n, 16)} phases, 2 barriers: {answer}. Those without an element arrive, too.",
        (
            W(lambda n: 8 * ceil_div(n, 16) ** 3, "There are two in a phase."),
            W(lambda n: 16 * (n // 16) ** 3, "The tiles at the edge count."),
        ),
    ),
    Q(
        "03.early-return",
        "lab 03, question 3: who misses the barrier",
        THREADS,
        {"width": _W, "t": (16,)},
        "Someone returns early `if (row >= width || col >= width)`. Width {width}, tiles of {t}: how many blocks have threads that miss the barriers?",
        lambda width, t: len(
            {
                (by, bx)
                for by in range(ceil_div(width, t))
                for bx in range(ceil_div(width, t))
                if (by + 1) * t > width or (bx + 1) * t > width
            }
        ),
        lambda width, t: (2 * ceil_div(width, t) - 1) * (width % t > 0),
        lambda width, answer: f"All blocks of the last row and of the last column: {answer}.",
        (
            W(lambda width, t: 2 * ceil_div(width, t), "The corner was counted twice."),
            W(lambda: 1, "Not only the corner."),
        ),
        unit="blocks",
    ),
    Q(
        "03.cost-of-padding",
        "lab 03: what padding costs",
        THREADS,
        {"width": (17, 50, 100, 1000), "t": (16, 32)},
        "Somebody pads three matrices of width {width} to a multiple of {t} instead. How many bytes more do the three take?",
        lambda width, t: 3
        * 4
        * (next(w for w in range(width, width + t) if w % t == 0) ** 2 - width * width),
        lambda width, t: 12 * (-width % t) * (2 * width + -width % t),
        lambda width,
        t,
        answer: f"{ceil_div(width, t) * t} squared less {width} squared, 3 matrices, 4 bytes: {answer}.",
        (
            W(
                lambda width, t: 3 * ((ceil_div(width, t) * t) ** 2 - width**2),
                "A float has 4 bytes.",
            ),
            W(
                lambda width, t: 4 * ((ceil_div(width, t) * t) ** 2 - width**2),
                "There are three matrices.",
            ),
        ),
        unit="bytes",
    ),
    Q(
        "03.share-of-divergent-loads",
        "lab 03, the arithmetic: 1 of 63",
        THREADS,
        {"width": (100, 200, 500, 1000)},
        "Width {width}, tiles of 16. In which share of the phases does the column of M hang over?",
        lambda width: sum(1 for ph in range(ceil_div(width, 16)) if 16 * ph + 15 >= width)
        / ceil_div(width, 16),
        lambda width: 1 / ceil_div(width, 16),
        "Only in the last one: {answer}.",
        (
            W(lambda width: 1 / (width // 16), "The phases are rounded up."),
            W(
                lambda width: width % 16 / width,
                "A warp's load diverges or it does not, however many lanes.",
            ),
        ),
        lambda width: width % 16 > 0,
    ),
    Q(
        "03.rounding-by-float",
        "lab 03: 24 bits of mantissa",
        THREADS,
        {"width": tuple((1 << 24) + x for x in (1, 3, 5, 7, 9))},
        "A float has 24 bits of mantissa. What does {width} become when it is converted to float (rounded to the nearest, ties to even)?",
        lambda width: int(np.float32(width)),
        lambda width: width - 1 if (width - 1) % 4 == 0 else width + 1,
        "Above 2^24 only even numbers are left; the tie goes to the even mantissa: {answer}.",
        (
            W(lambda width: width, "An odd number above 2^24 has no float."),
            W(
                lambda width: width - 1 if (width - 1) % 4 else width + 1,
                "Ties go to the even mantissa.",
            ),
        ),
    ),
    Q(
        "03.condition-of-a-role",
        "lab 03: three different conditions",
        THREADS,
        {"role": ("loads from M", "loads from N", "stores to P")},
        "Which condition guards a thread that {role} in phase ph?",
        lambda role: _condition(role),
        lambda role: {
            "loads from M": _CHOICES[0],
            "loads from N": _CHOICES[1],
            "stores to P": _CHOICES[2],
        }[role],
        "Ask for the element that is touched: {answer}.",
        choices=(
            "row < width and ph * T + tx < width",
            "ph * T + ty < width and col < width",
            "row < width and col < width",
        ),
    ),
    Q(
        "03.must-zeros-be-written",
        "lab 03, question 2",
        THREADS,
        {"left": (np.inf, np.nan, 5.0)},
        "M's tile has a 0 where it hangs over. In the place beside it in N's tile {left} is left over from before. Does the product add 0?",
        lambda left: YES_NO[not 0.0 * float(left) == 0.0],
        lambda left: YES_NO[not np.isfinite(left)],
        "0 times a number is 0, but 0 times infinity or NaN is NaN.",
        choices=YES_NO,
    ),
    Q(
        "03.guard-round-the-product",
        "slides: guards around the inner product alone",
        THREADS,
        {"width": (3, 5, 7), "t": (2, 4)},
        "The inner product alone (not loads or barriers) is guarded: threads that own no element of P skip it. Width {width}, tiles of {t}. How many threads skip it?",
        lambda width, t: sum(
            1
            for by, bx, ph, ty, tx in _threads(width, t)
            if ph == 0 and (by * t + ty >= width or bx * t + tx >= width)
        ),
        lambda width, t: (ceil_div(width, t) * t) ** 2 - width**2,
        "They own nothing, so that what they would add is never stored: the result is right, too. {answer} threads.",
        (W(lambda width, t: -width % t, "That is along one side."),),
        unit="threads",
    ),
)

_CHOICES = (
    "row < width and ph * T + tx < width",
    "ph * T + ty < width and col < width",
    "row < width and col < width",
)


def _condition(role: str) -> str:
    """The one that is true for exactly the elements that exist, by trying all threads of 3 x 3."""
    width, t, fitting = 3, 2, []
    for choice, test in zip(_CHOICES, (
        lambda row, col, m, n: row < width and m < width,
        lambda row, col, m, n: n < width and col < width,
        lambda row, col, m, n: row < width and col < width,
    ), strict=True):  # fmt: skip
        touched = []
        for by, bx, ph, ty, tx in _threads(width, t):
            row, col, m, n = by * t + ty, bx * t + tx, ph * t + tx, ph * t + ty
            at = {"M": (row, m), "N": (n, col), "P": (row, col)}[role[-1]]
            touched.append(test(row, col, m, n) == (max(at) < width))
        fitting += [choice] * all(touched)
    return fitting[0]
