"""Questions on lab 01: one thread computes one element of the product."""

from __future__ import annotations

import numpy as np

from grader.quiz.by_hand import ceil_div, half_warp_transactions, sectors
from grader.quiz.counted import counted
from grader.quiz.question import SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_W = (17, 20, 33, 40, 50, 60)
_SHAPES = ((16, 16), (32, 8), (8, 32), (64, 1), (1, 64), (8, 8), (32, 1))


def _owner(width: int, t: int, row: int, col: int) -> tuple[int, int, int, int]:
    return next(
        (bx, by, tx, ty) for by in range(ceil_div(width, t)) for bx in range(ceil_div(width, t)) for ty in range(t) for tx in range(t)
        if (by * t + ty, bx * t + tx) == (row, col)
    )  # fmt: skip


def _per_step(x: int, y: int) -> int:
    """Sectors of a warp's two loads in one step, 64 x 64 matrices."""
    lanes = [(t % x, t // x) for t in range(32)]
    return sectors([4 * 64 * ty for _, ty in lanes]) + sectors([4 * tx for tx, _ in lanes])


QUESTIONS = (
    Q(
        "01.blocks",
        "lab 01, the edge",
        SIMULATOR,
        {"n": _W},
        "A product of {n} x {n} with blocks of 16 x 16 threads. How many blocks does the grid have?",
        lambda n: counted("guarded", n=n).blocks,
        lambda n: ceil_div(n, 16) ** 2,
        lambda n, answer: f"{ceil_div(n, 16)} x {ceil_div(n, 16)}, each side rounded up: {answer}.",
        (
            W(lambda n: (n // 16) ** 2, "Rounded down: the last rows and columns have no threads."),
            W(lambda n: ceil_div(n * n, 256), "Each side is rounded up by itself."),
            W(lambda n: ceil_div(n, 16), "That is one side of the grid."),
        ),
        unit="blocks",
    ),
    Q(
        "01.idle-threads",
        "lab 01, question 1",
        SIMULATOR,
        {"n": _W},
        "A product of {n} x {n} with blocks of 16 x 16. How many threads have no element of P?",
        lambda n: counted("guarded", n=n).blocks * 256 - n * n,
        lambda n: (16 * ceil_div(n, 16)) ** 2 - n**2,
        lambda n, answer: f"{ceil_div(n, 16) ** 2 * 256} threads for {n * n} elements: {answer}.",
        (
            W(lambda n: -n % 16, "That is along one side."),
            W(lambda n: (-n % 16) ** 2, "Threads are too many in one direction *or* the other."),
        ),
        unit="threads",
    ),
    Q(
        "01.divergent-warps",
        "lab 01, question 1: how many warps diverge",
        SIMULATOR,
        {"n": (17, 18, 20, 24, 30, 33, 40, 50)},
        "Blocks of 16 x 16, a product of {n} x {n}. In how many warps do lanes part at the guard `if (row >= width || col >= width) return;`?",
        lambda n: counted("guarded", n=n).divergent_branches,
        lambda n: sum(
            len(
                {
                    16 * by + ty < n and 16 * bx + tx < n
                    for ty in (2 * w, 2 * w + 1)
                    for tx in range(16)
                }
            )
            == 2
            for by in range(ceil_div(n, 16))
            for bx in range(ceil_div(n, 16))
            for w in range(8)
        ),
        lambda n,
        answer: f"In the last block column every warp with a row inside has {n % 16} of 16 lanes inside; for an odd width the last row divides warps, too: {answer}.",
        (
            W(
                lambda n: 2 * ceil_div(n, 16) * 8 - 8,
                "Warps that lie wholly inside or outside agree.",
            ),
            W(lambda n: n, "A warp has two rows of 16 lanes."),
        ),
        lambda n: n % 16 > 0,
        unit="warps",
    ),
    Q(
        "01.who-computes",
        "lab 01, worked example",
        THREADS,
        {"width": (8, 12, 20), "t": (2, 4), "row": tuple(range(8)), "col": tuple(range(8))},
        "A product of {width} x {width}, blocks of {t} x {t}. Which block (x, y) computes P[{row}][{col}]?",
        lambda width, t, row, col: _owner(width, t, row, col)[:2],
        lambda t, row, col: (col // t, row // t),
        lambda t, row, col, answer: f"x = {col} / {t}, y = {row} / {t}: {answer}.",
        (
            W(lambda t, row, col: (row // t, col // t), "Row comes from y, column from x."),
            W(lambda t, row, col: (col % t, row % t), "That is the thread within its block."),
        ),
    ),
    Q(
        "01.which-thread",
        "lab 01, worked example",
        THREADS,
        {"width": (8, 12, 20), "t": (2, 4), "row": tuple(range(8)), "col": tuple(range(8))},
        "A product of {width} x {width}, blocks of {t} x {t}. Which thread (x, y) of its block computes P[{row}][{col}]?",
        lambda width, t, row, col: _owner(width, t, row, col)[2:],
        lambda t, row, col: (col % t, row % t),
        lambda t, row, col, answer: f"x = {col} % {t}, y = {row} % {t}: {answer}.",
        (
            W(lambda t, row, col: (row % t, col % t), "Row comes from y, column from x."),
            W(lambda t, row, col: (col // t, row // t), "That is the block."),
        ),
    ),
    Q(
        "01.linear-index",
        "row-major layout as a picture",
        THREADS,
        {"width": (7, 12, 17, 50), "row": (0, 1, 3, 5), "col": (0, 2, 4, 6)},
        "Row-major, {width} x {width}. At which index stands element ({row}, {col})?",
        lambda width, row, col: int(np.arange(width * width).reshape(width, width)[row, col]),
        lambda width, row, col: row * width + col,
        "{row} * {width} + {col} = {answer}.",
        (
            W(lambda width, row, col: col * width + row, "That is column-major."),
            W(lambda width, row, col: 4 * (row * width + col), "That is the byte, not the index."),
        ),
    ),
    Q(
        "01.element-of-an-index",
        "row-major layout as a picture",
        THREADS,
        {"width": (7, 12, 17), "index": (20, 33, 45)},
        "Row-major, {width} x {width}. Which element (row, column) stands at index {index}?",
        lambda width, index: next(
            (r, c) for r in range(width) for c in range(width) if r * width + c == index
        ),
        lambda width, index: divmod(index, width),
        "{index} / {width} is the row, the remainder the column: {answer}.",
        (W(lambda width, index: (index % width, index // width), "The quotient is the row."),),
    ),
    Q(
        "01.beyond-the-row",
        "lab 01: a column beyond the edge is the next row",
        THREADS,
        {"width": (17, 20, 33), "row": (0, 2, 5), "over": (0, 1, 3)},
        lambda width,
        row,
        over: f"The guard is missing. A thread has row {row} and col {width + over} of a {width} x {width} matrix, row-major. Which element (row, column) does it overwrite?",
        lambda width, row, over: next(
            (r, c)
            for r in range(width)
            for c in range(width)
            if r * width + c == row * width + width + over
        ),
        lambda row, over: (row + 1, over),
        lambda width,
        row,
        over,
        answer: f"Index {row} * {width} + {width + over} lies in the next row: {answer}.",
        (W(lambda row, over: (row, over), "It lies a whole row further on."),),
    ),
    Q(
        "01.last-thread-in-bounds",
        "lab 01, question 2: > instead of >=",
        THREADS,
        {"width": (15, 16, 17, 31, 32, 33)},
        "The guard reads `if (row > width || col > width) return;`, blocks are 16 x 16, the product is {width} x {width}. How many threads get past it that own no element?",
        lambda width: sum(
            1
            for r in range(16 * ceil_div(width, 16))
            for c in range(16 * ceil_div(width, 16))
            if not (r > width or c > width) and (r >= width or c >= width)
        ),
        lambda width: 0 if width % 16 == 0 else 2 * width + 1,
        lambda width, answer: (
            "The grid ends with the matrix: none"
            if width % 16 == 0
            else f"Row {width} and column {width}: {width} + {width} + 1"
        )
        + f" ({answer}).",
        (
            W(lambda width: 2 * width, "The corner gets past as well."),
            W(
                lambda width: 2 * width + 1,
                "No thread has that row: the grid ends with the matrix.",
            ),
        ),
        unit="threads",
    ),
    Q(
        "01.bytes-of-copies",
        "lab 01, question 3: sizes are bytes",
        THREADS,
        {"width": (10, 16, 100, 256)},
        "Somebody writes `cudaMemcpy(d_M, M, width * width, cudaMemcpyHostToDevice)` for floats. With width {width}, how many elements of d_M stay as they were?",
        lambda width: sum(1 for i in range(width * width) if 4 * (i + 1) > width * width),
        lambda width: width * width - width * width // 4,
        "A quarter of the bytes is copied; {answer} elements are not.",
        (
            W(lambda width: width * width // 4, "Those are the ones that are copied."),
            W(lambda: 0, "The size is in bytes: a float has 4."),
        ),
        unit="elements",
    ),
    Q(
        "01.requests",
        "lab 01, what the report shows",
        SIMULATOR,
        {"n": (32, 64, 96, 128)},
        "Naive kernel, {n} x {n}, blocks of 32 x 1. How many global load requests of a warp?",
        lambda n: counted("naive", n=n, x=32, y=1).global_load_requests,
        lambda n: 2 * n**3 // 32,
        lambda n, answer: f"{n * n // 32} warps, {n} steps, 2 loads: {answer}.",
        (
            W(lambda n: n**3 // 32, "A step loads from M and from N."),
            W(lambda n: 2 * n**3, "A request serves 32 lanes."),
        ),
    ),
    Q(
        "01.sectors-by-block-shape",
        "lab 01, exercise 1: block shapes",
        SIMULATOR,
        {"shape": _SHAPES, "n": (64,)},
        lambda shape,
        n: f"Naive kernel, {n} x {n}, blocks of {shape}. How many sectors do the two loads of a warp touch in one step?",
        lambda shape, n: counted("naive", n=n, x=shape[0], y=shape[1]).global_load_sectors
        * 32
        // n**3,
        lambda shape: _per_step(*shape),
        lambda shape,
        answer: f"The warp is {max(1, 32 // shape[0])} row(s) of {min(32, shape[0])} lanes: a sector of M for each row, {ceil_div(min(32, shape[0]), 8)} of N. Together {answer}.",
        (
            W(
                lambda shape: 2 * max(1, 32 // shape[0]),
                "All rows of the warp read the same words of N.",
            ),
            W(
                lambda shape: ceil_div(min(32, shape[0]), 8),
                "M's sectors count, too: one for each row.",
            ),
        ),
        unit="sectors",
    ),
    Q(
        "01.sectors-per-request",
        "lab 01, sectors per request",
        SIMULATOR,
        {"shape": _SHAPES, "n": (64,)},
        lambda shape,
        n: f"Naive kernel, blocks of {shape}. How many sectors per load request on average?",
        lambda shape, n: counted("naive", n=n, x=shape[0], y=shape[1]).global_load_sectors
        / counted("naive", n=n, x=shape[0], y=shape[1]).global_load_requests,
        lambda shape: _per_step(*shape) / 2,
        "Half of the sectors of one step, for it has two requests: {answer}.",
        (W(lambda shape: float(_per_step(*shape)), "A step has two requests."),),
    ),
    Q(
        "01.swapped-sectors",
        "lab 01, why neighbours matter: x and y swapped",
        THREADS,
        {"t": (4, 8, 16, 32), "n": (64, 128)},
        "x and y are swapped: row from x, column from y, blocks of {t} x {t}, {n} x {n} matrices. How many sectors do the two loads of a warp touch in one step?",
        lambda t, n: sectors([4 * n * (lane % t) for lane in range(32)])
        + sectors([4 * (lane // t) for lane in range(32)]),
        lambda t: t + 1,
        lambda t,
        answer: f"M: {t} rows, a sector each. N: {32 // t} neighbouring word(s), one sector. {answer} in all.",
        (
            W(lambda t: 32 // t + ceil_div(t, 8), "That is without the swap."),
            W(lambda t: t, "N's sector is missing."),
        ),
        unit="sectors",
    ),
    Q(
        "01.half-warp-transactions",
        "lab 01, the table of rules; research chapter GPU1",
        THREADS,
        {"x": (1, 2, 4, 8, 16), "n": (128, 256)},
        "Compute capability 1.3, naive kernel, blocks {x} wide. How many transactions does a half warp make in one step, M and N together?",
        lambda x, n: len(half_warp_transactions([4 * n * (t // x) for t in range(16)]))
        + len(half_warp_transactions([4 * (t % x) for t in range(16)])),
        lambda x: 16 // x + 1,
        lambda x, answer: f"{16 // x} row(s) of M, far apart, and one segment of N: {answer}.",
        (
            W(lambda: 2, "Only if the 16 lanes lie in one row."),
            W(lambda x: 16 // x, "N's is missing."),
        ),
        unit="transactions",
    ),
    Q(
        "01.bandwidth-bound",
        "lab 01, the arithmetic: 150 GB/s feed 37.5 billion operations",
        THREADS,
        {"gbs": (86, 100, 150, 320, 900, 4800)},
        "Each operation of the naive kernel asks for one float. Global memory delivers {gbs} GB/s. Without caches, how many GFLOP/s at most?",
        lambda gbs: gbs * 1e9 / len(np.float32(0).tobytes()) / 1e9,
        lambda gbs: gbs / 4,
        "{gbs} / 4 bytes = {answer}.",
        (
            W(lambda gbs: float(gbs), "A float has 4 bytes."),
            W(
                lambda gbs: gbs / 2,
                "A multiply-add is two operations, but it also needs two floats.",
            ),
            W(lambda gbs: gbs / 8, "A multiply-add needs 8 bytes, but it is two operations."),
        ),
        unit="GFLOP/s",
    ),
    Q(
        "01.times-each-element",
        "lab 01: each element is asked for width times",
        SIMULATOR,
        {"n": (32, 64, 96, 128)},
        "Naive kernel, {n} x {n}. How many floats do all threads ask for, M and N together?",
        lambda n: 32 * counted("naive", n=n, x=32, y=1).global_load_requests,
        lambda n: 2 * n * n * n,
        lambda n, answer: f"{n * n} threads ask for {2 * n} each: {answer}.",
        (
            W(lambda n: 2 * n * n, "Each element is asked for many times."),
            W(lambda n: n**3, "Two matrices are read."),
        ),
        unit="floats",
    ),
    Q(
        "01.value-of-an-element",
        "lab 01, worked example",
        THREADS,
        {"a": (1, 2, 3), "b": (0, 1, 4), "c": (2, 5), "d": (1, 3)},
        "Row (2, 0, {a}, {b}) of M meets column ({c}, 2, {d}, 3) of N. What is the element of P?",
        lambda a, b, c, d: int(np.dot([2, 0, a, b], [c, 2, d, 3])),
        lambda a, b, c, d: 2 * c + a * d + 3 * b,
        lambda a, b, c, d, answer: f"2*{c} + 0*2 + {a}*{d} + {b}*3 = {answer}.",
        (W(lambda a, b, c, d: 2 + a + b + c + 2 + d + 3, "The pairs are multiplied, then added."),),
    ),
    Q(
        "01.guard-needed",
        "lab 01, the edge",
        THREADS,
        {"width": (16, 30, 48, 64, 100), "t": (8, 16, 32)},
        "A product of {width} x {width}, blocks of {t} x {t}, grid rounded up. Is the result right without a guard?",
        lambda width, t: YES_NO[ceil_div(width, t) * t != width],
        lambda width, t: YES_NO[width % t > 0],
        lambda width, t: f"{width} is " + ("a" if width % t == 0 else "no") + f" multiple of {t}.",
        choices=YES_NO,
    ),
    Q(
        "01.threads-for-a-block-shape",
        "research chapter, 1.7: 15 block shapes",
        THREADS,
        {"x": (1, 8, 16, 32, 64, 128, 256), "y": (1, 8, 16, 32), "n": (256, 512)},
        "GPU1 with blocks of ({x}, {y}) multiplies {n} x {n} matrices. How many blocks has the grid?",
        lambda x, y, n: len(range(0, n, x)) * len(range(0, n, y)),
        lambda x, y, n: n * n // (x * y),
        lambda x, y, n, answer: f"{n // x} along x, {n // y} along y: {answer}.",
        (W(lambda x, n: n // x, "There are several along y, too."),),
        unit="blocks",
    ),
    Q(
        "01.loop-order",
        "research chapter, 1.7: why the GPU code follows ijk; lab 01, question 6",
        THREADS,
        {"order": ("ijk", "ikj", "jki"), "n": (100, 1000)},
        "Row-major, loops in the order {order} (the last letter is the innermost), C[i][j] += A[i][k] * B[k][j]. By how many floats does the address of B move with each innermost step?",
        lambda order, n: _move(order, n),
        lambda order, n: {"k": n, "j": 1, "i": 0}[order[2]],
        lambda order, answer: f"The innermost index is {order[2]}: {answer}.",
        (W(lambda order, n: {"k": 1, "j": n, "i": 1}[order[2]], "B[k][j] stands at k * n + j."),),
    ),
)


def _move(order: str, n: int) -> int:
    at = {"i": 1, "j": 1, "k": 1}
    before = at["k"] * n + at["j"]
    at[order[2]] += 1
    return at["k"] * n + at["j"] - before
