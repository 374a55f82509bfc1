"""Questions on lab 04: M is j x k, N is k x l, P is j x l."""

# ruff: noqa: E741 - l is what the course calls the columns of N

from __future__ import annotations

import numpy as np

from grader.quiz.by_hand import ceil_div
from grader.quiz.calculator import device
from grader.quiz.counted import counted
from grader.quiz.question import DEVICE, SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_SIZES = {"j": (10, 20, 48), "k": (1, 16, 40), "l": (12, 32, 50)}
_OTHER = {"j": (10, 33, 100, 200), "k": (7, 20, 64, 300), "l": (9, 50, 128, 320)}

QUESTIONS = (
    Q(
        "04.blocks-along-x",
        "lab 04, the table",
        THREADS,
        _OTHER,
        "M is {j} x {k}, N is {k} x {l}; tiles of 16. How many blocks has the grid along x?",
        lambda l: len(range(0, l, 16)),
        lambda l: ceil_div(l, 16),
        "x covers the columns of P, l: {answer}.",
        (
            W(lambda j: ceil_div(j, 16), "x goes with the columns of P, l; j are its rows."),
            W(lambda k: ceil_div(k, 16), "k is not a side of P."),
            W(lambda l: l // 16, "Rounded down."),
        ),
    ),
    Q(
        "04.phases",
        "lab 04, the table",
        THREADS,
        _OTHER,
        "M is {j} x {k}, N is {k} x {l}; tiles of 16. How many phases?",
        lambda k: len(range(0, k, 16)),
        lambda k: ceil_div(k, 16),
        "The tiles advance along k: {answer}.",
        (
            W(lambda j: ceil_div(j, 16), "Phases cover k, the direction in which tiles advance."),
            W(lambda l: ceil_div(l, 16), "Phases cover k, not l."),
            W(lambda k: k // 16, "Rounded down."),
        ),
    ),
    Q(
        "04.blocks",
        "lab 04, what the report shows",
        SIMULATOR,
        _SIZES,
        "M is {j} x {k}, N is {k} x {l}; tiles of 16. How many blocks are launched?",
        lambda j, k, l: counted("rectangular", j=j, k=k, l=l).blocks,
        lambda j, l: ceil_div(j, 16) * ceil_div(l, 16),
        lambda j, l, answer: f"{ceil_div(l, 16)} along x, {ceil_div(j, 16)} along y: {answer}.",
        (
            W(lambda j, k: ceil_div(j, 16) * ceil_div(k, 16), "P is j x l."),
            W(lambda j, l: ceil_div(j * l, 256), "Each side is rounded up by itself."),
        ),
        unit="blocks",
    ),
    Q(
        "04.barrier-arrivals",
        "lab 04, phases",
        SIMULATOR,
        _SIZES,
        "M is {j} x {k}, N is {k} x {l}; tiles of 16, two barriers a phase. How often does a warp arrive at a barrier, all together?",
        lambda j, k, l: counted("rectangular", j=j, k=k, l=l).barriers,
        lambda j, k, l: 2 * 8 * ceil_div(j, 16) * ceil_div(l, 16) * ceil_div(k, 16),
        lambda j,
        k,
        l,
        answer: f"{ceil_div(j, 16) * ceil_div(l, 16)} blocks x 8 warps x {ceil_div(k, 16)} phases x 2 = {answer}.",
        (
            W(
                lambda j, k, l: 8 * ceil_div(j, 16) * ceil_div(l, 16) * ceil_div(k, 16),
                "Two barriers in each phase.",
            ),
            W(
                lambda j, l: 16 * ceil_div(j, 16) * ceil_div(l, 16) * ceil_div(l, 16),
                "Phases cover k.",
            ),
        ),
    ),
    Q(
        "04.load-requests",
        "lab 04, what the report shows: 61,440 requests",
        SIMULATOR,
        _SIZES,
        "M is {j} x {k}, N is {k} x {l}; tiles of 16. How many global load requests with at least one lane inside, M and N together?",
        lambda j, k, l: counted("rectangular", j=j, k=k, l=l).global_load_requests,
        lambda j, k, l: ceil_div(j, 2) * ceil_div(k, 16) * ceil_div(l, 16)
        + ceil_div(k, 2) * ceil_div(l, 16) * ceil_div(j, 16),
        lambda j,
        k,
        l,
        answer: f"M: {ceil_div(j, 2)} pairs of rows x {ceil_div(k, 16)} phases x {ceil_div(l, 16)} block columns; N: {ceil_div(k, 2)} x {ceil_div(l, 16)} x {ceil_div(j, 16)} block rows. {answer}.",
        (
            W(
                lambda j, k, l: 16 * ceil_div(j, 16) * ceil_div(k, 16) * ceil_div(l, 16),
                "Warps wholly outside load nothing.",
            ),
            W(
                lambda j, k, l: ceil_div(j, 2) * ceil_div(k, 16) * ceil_div(l, 16),
                "That is M alone.",
            ),
        ),
        unit="requests",
    ),
    Q(
        "04.store-requests",
        "lab 04, storing P",
        SIMULATOR,
        _SIZES,
        "P is {j} x {l}, k is {k}; tiles of 16. How many store requests of a warp?",
        lambda j, k, l: counted("rectangular", j=j, k=k, l=l).global_store_requests,
        lambda j, l: ceil_div(j, 2) * ceil_div(l, 16),
        lambda j,
        l,
        answer: f"{ceil_div(j, 2)} pairs of rows x {ceil_div(l, 16)} blocks along x: {answer}.",
        (
            W(lambda j, l: ceil_div(j * l, 32), "A warp is two rows of 16 lanes."),
            W(
                lambda j, l: 8 * ceil_div(j, 16) * ceil_div(l, 16),
                "Warps wholly outside store nothing.",
            ),
        ),
        unit="requests",
    ),
    Q(
        "04.index-of-an-element",
        "lab 04: row lengths",
        THREADS,
        {
            "j": (10, 20),
            "k": (7, 15, 30),
            "l": (9, 12, 25),
            "row": (0, 1, 4, 6),
            "col": (0, 2, 5),
            "which": ("M", "N", "P"),
        },
        "M is {j} x {k}, N is {k} x {l}, P is {j} x {l}, all row-major. At which index stands {which}[{row}][{col}]?",
        lambda j, k, l, row, col, which: int(
            np.arange(j * k * l)[: {"M": j * k, "N": k * l, "P": j * l}[which]].reshape(
                {"M": (j, k), "N": (k, l), "P": (j, l)}[which]
            )[row, col]
        ),
        lambda k, l, row, col, which: row * (k if which == "M" else l) + col,
        lambda k, l, which, answer: f"{which} has rows of {k if which == 'M' else l}: {answer}.",
        (
            W(lambda j, row, col: row * j + col, "j is a number of rows, never the length of one."),
            W(
                lambda k, l, row, col, which: row * (l if which == "M" else k) + col,
                "Take the matrix's own row length: its columns.",
            ),
        ),
    ),
    Q(
        "04.overflow",
        "lab 04: indices in 64 bits",
        THREADS,
        {"row": (46341, 50000, 60000, 65536), "k": (50000, 65536, 70000)},
        "`int row = {row}, k = {k};` Which value does the product row * k have in 32 bits (as it wraps around)?",
        lambda row, k: int(np.array([row * k], dtype=np.int64).astype(np.int32)[0]),
        lambda row, k: (row * k + 2**31) % 2**32 - 2**31,
        "{row} * {k} passes 2^31 - 1; modulo 2^32 it is {answer}. size_t(row) * k widens first.",
        (
            W(lambda row, k: row * k, "That does not fit 32 bits."),
            W(lambda row, k: row * k % 2**32, "An int has a sign: from 2^31 on it is negative."),
        ),
        lambda row, k: (row * k) >= 2**31,
    ),
    Q(
        "04.does-int-suffice",
        "lab 04: indices in 64 bits",
        THREADS,
        {"j": (30000, 46340, 46341, 50000), "k": (30000, 46340, 46341, 60000)},
        "M is {j} x {k}. Is an int enough for the index of its last element?",
        lambda j, k: YES_NO[(j - 1) * k + k - 1 > np.iinfo(np.int32).max],
        lambda j, k: YES_NO[j * k > 2**31],
        lambda j, k: f"The last index is {j * k - 1:,}; an int ends at 2,147,483,647.",
        choices=YES_NO,
    ),
    Q(
        "04.times-m-is-loaded",
        "lab 04, the arithmetic",
        THREADS,
        _OTHER,
        "M is {j} x {k}, N is {k} x {l}; tiles of 16. How many times is each element of M loaded from global memory?",
        lambda l: sum(1 for _ in range(0, l, 16)),
        lambda l: -(-l // 16),
        "Once by each block column of P: l / 16, rounded up: {answer}.",
        (
            W(lambda j: ceil_div(j, 16), "That is N: once by each block row."),
            W(lambda k: ceil_div(k, 16), "Those are the phases: each loads other elements."),
        ),
    ),
    Q(
        "04.times-n-is-loaded",
        "lab 04, the arithmetic",
        THREADS,
        _OTHER,
        "M is {j} x {k}, N is {k} x {l}; tiles of 16. How many times is each element of N loaded from global memory?",
        lambda j: sum(1 for _ in range(0, j, 16)),
        lambda j: -(-j // 16),
        "Once by each block row of P: j / 16, rounded up: {answer}.",
        (W(lambda l: ceil_div(l, 16), "That is M: once by each block column."),),
    ),
    Q(
        "04.operations-per-byte-stored",
        "lab 04, k = 1",
        THREADS,
        {"k": (1, 2, 4, 16)},
        "Each element of P is a sum of {k} products (a multiplication and an addition each). How many operations for each byte of P that is stored?",
        lambda k: sum(2 for _ in range(k)) / 4,
        lambda k: k / 2,
        "2 * {k} operations, 4 bytes: {answer}.",
        (
            W(lambda k: k / 4, "A multiply-add is two operations."),
            W(lambda k: 2.0 * k, "An element has 4 bytes."),
        ),
    ),
    Q(
        "04.threads-without-an-element",
        "lab 04: one row",
        SIMULATOR,
        _SIZES,
        "P is {j} x {l}, k is {k}; blocks of 16 x 16. How many threads own no element of P?",
        lambda j, k, l: 256 * counted("rectangular", j=j, k=k, l=l).blocks - j * l,
        lambda j, l: 16 * ceil_div(j, 16) * 16 * ceil_div(l, 16) - j * l,
        "All threads less the elements of P: {answer}.",
        (
            W(
                lambda j, l: (-j % 16) * (-l % 16),
                "A thread is without one if its row *or* its column does not exist.",
            ),
            W(lambda j, k: 256 * ceil_div(j, 16) * ceil_div(k, 16) - j * k, "P is j x l."),
        ),
        unit="threads",
    ),
    Q(
        "04.swapped-grid",
        "lab 04, question 2: the grid is swapped",
        THREADS,
        {"j": (20, 100, 200), "l": (12, 30, 300)},
        "P is {j} x {l}, blocks of 16 x 16, but the grid has ceil(j / 16) blocks along x and ceil(l / 16) along y. How many elements of P are never written?",
        lambda j, l: j * l
        - len(range(min(j, 16 * ceil_div(l, 16)))) * len(range(min(l, 16 * ceil_div(j, 16)))),
        lambda j, l: max(0, j - 16 * ceil_div(l, 16)) * l + max(0, l - 16 * ceil_div(j, 16)) * j,
        lambda j,
        l,
        answer: f"Rows reach {16 * ceil_div(l, 16)}, columns {16 * ceil_div(j, 16)}: {answer} are left.",
        (
            W(
                lambda: 0,
                "x covers the columns of P: with j's blocks there are too few or too many.",
            ),
        ),
        lambda j, l: ceil_div(j, 16) != ceil_div(l, 16),
        unit="elements",
    ),
    Q(
        "04.largest-j",
        "lab 04, question 3: gridDim.y ends",
        DEVICE,
        {"t": (8, 16, 32), "name": ("c1060", "h200")},
        "gridDim.y may be at most 65,535. With rows on y and tiles of {t}, how many rows may P have at most?",
        lambda t, name: device(name)["max_grid"][1] * t,
        lambda t: (2**16 - 1) * t,
        "65,535 * {t} = {answer}.",
        (
            W(lambda: 65535, "Those are blocks; each has several rows."),
            W(lambda t: 65536 * t, "65,535 is the largest that is allowed."),
        ),
        unit="rows",
    ),
    Q(
        "04.leading-dimension",
        "lab 04, leading dimensions",
        THREADS,
        {"ld": (100, 250, 1000), "first": (5, 10), "row": (0, 2, 3), "col": (0, 1, 4)},
        "A matrix with {ld} columns is used in part: rows from {first} on, columns from {first} on. At which index of the whole stands element ({row}, {col}) of the part?",
        lambda ld, first, row, col: int(
            np.arange(ld * 20).reshape(20, ld)[first:, first:][row, col]
        ),
        lambda ld, first, row, col: (first + row) * ld + first + col,
        lambda ld,
        first,
        row,
        col,
        answer: f"({first} + {row}) * {ld} + {first} + {col} = {answer}.",
        (
            W(lambda ld, row, col: row * ld + col, "The part begins further on."),
            W(
                lambda ld, first, row, col: row * (ld - first) + col,
                "A row of memory keeps its length, the leading dimension.",
            ),
        ),
    ),
    Q(
        "04.cublas-sizes",
        "lab 04, cuBLAS is column-major",
        THREADS,
        {"j": (2, 3), "k": (4, 5), "l": (6, 7)},
        "Row-major M ({j} x {k}) and N ({k} x {l}) are multiplied with cublasSgemm without transposing: N comes first. Which three sizes (m, n, k) does it get?",
        lambda j, k, l: (
            np.zeros((j, l)).T.shape[0],
            np.zeros((j, l)).T.shape[1],
            np.zeros((k, l)).T.shape[1],
        ),
        lambda j, k, l: (l, j, k),
        "P^T = N^T M^T is l x j, with k terms: {answer}.",
        (
            W(lambda j, k, l: (j, l, k), "That would be M first, in row-major."),
            W(lambda j, k, l: (j, k, l), "cuBLAS counts m, n of the result, then k."),
        ),
    ),
    Q(
        "04.column-major-index",
        "lab 04, cuBLAS is column-major",
        THREADS,
        {"rows": (5, 8, 20), "cols": (6, 9), "row": (0, 2, 4), "col": (1, 3, 5)},
        "A matrix of {rows} x {cols} lies column by column. At which index stands element ({row}, {col})?",
        lambda rows, cols, row, col: int(
            np.arange(rows * cols).reshape((rows, cols), order="F")[row, col]
        ),
        lambda rows, row, col: col * rows + row,
        "{col} * {rows} + {row} = {answer}.",
        (W(lambda cols, row, col: row * cols + col, "That is row-major."),),
    ),
    Q(
        "04.blocks-for-the-sms",
        "lab 04, tall or wide",
        THREADS,
        {"j": (500, 1000, 2000), "l": (16, 32, 64), "sms": (30, 108, 132)},
        "P is {j} x {l}, tiles of 16; a GPU has {sms} SMs. How many SMs get no block, if each takes one before any takes two?",
        lambda j, l, sms: len(
            set(range(sms)) - {b % sms for b in range(ceil_div(j, 16) * ceil_div(l, 16))}
        ),
        lambda j, l, sms: max(0, sms - ceil_div(j, 16) * ceil_div(l, 16)),
        lambda j,
        l,
        answer: f"{ceil_div(j, 16) * ceil_div(l, 16)} blocks: {answer} SMs are left over.",
        (W(lambda j, l, sms: max(0, sms - ceil_div(j, 16)), "Blocks along x count, too."),),
        unit="SMs",
    ),
)
