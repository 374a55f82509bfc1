"""Questions on lab 02: tiles, and what they spare."""

from __future__ import annotations

from grader.quiz.counted import counted
from grader.quiz.question import SIMULATOR, THREADS
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_T = (8, 16, 32)
_N = (32, 64, 96, 128)


def _tile_loads(width: int, t: int) -> dict[tuple[int, int], int]:
    """How often each element of M is loaded: by going through blocks, phases and threads."""
    seen: dict[tuple[int, int], int] = {}
    for by in range(width // t):
        for _ in range(width // t):  # blocks along x
            for ph in range(width // t):
                for ty in range(t):
                    for tx in range(t):
                        at = (by * t + ty, ph * t + tx)
                        seen[at] = seen.get(at, 0) + 1
    return seen


def _loader(width: int, t: int, want: tuple[int, int]) -> tuple[int, int]:
    """(tx, ty) of the thread that loads this element of M."""
    for ty in range(t):
        for tx in range(t):
            for ph in range(width // t):
                if (ph * t + tx, want[0] % t) == (want[1], ty):
                    return tx, ty
    raise AssertionError


def _sum(terms: int) -> str:
    return (
        " + ".join(
            f"{c}f * x[{i}]" for i, c in zip(range(terms), "2.5 3.7 6.3 8.5 1.2 4.4".split())
        )
        + " + bias"
    )


# Of the two questions about which thread loads what.
_WHO_LOADS = {
    "t": (2, 4),
    "width": (8, 12),
    "bx": (0, 1),
    "by": (0, 1),
    "ph": (0, 1, 2),
    "tx": (0, 1, 2, 3),
    "ty": (0, 1, 2, 3),
}
_ITS_OWN = W(
    lambda t, bx, by, tx, ty: (by * t + ty, bx * t + tx), "That is the thread's element of P."
)


def _is_a_thread(t: int, width: int, tx: int, ty: int, ph: int) -> bool:
    return tx < t and ty < t and ph < width // t


QUESTIONS = (
    Q(
        "02.loads-per-phase",
        "textbook, tiled multiplication: loads of a block in a phase",
        SIMULATOR,
        {"t": _T, "n": (64, 96)},
        "Tiles of {t} x {t}, one thread for each element. How many floats does a block load from global"
        " memory in one phase?",
        lambda n, t: counted("tiled", n=n, t=t).global_load_requests
        * 32
        * t
        // n
        // counted("tiled", n=n, t=t).blocks,
        lambda t: 2 * t * t,
        "Each of the {t} x {t} threads loads one element of M and one of N: {answer}.",
        (
            W(
                lambda t: t * t,
                "That counts the tile of one matrix: a thread loads an element of M and one of N.",
            ),
            W(lambda t: 8 * t * t, "That is bytes; floats were asked for."),
            W(lambda t: 2 * t, "That is a row and a column; a block loads two whole tiles."),
        ),
    ),
    Q(
        "02.operations-per-phase",
        "textbook, tiled multiplication: operations of a block in a phase",
        SIMULATOR,
        {"t": _T, "n": (64, 96)},
        "Tiles of {t} x {t}. A multiplication and an addition count as one operation each. How many operations"
        " does a block do in one phase?",
        lambda n, t: 2
        * counted("tiled", n=n, t=t).fma_lanes
        * t
        // n
        // counted("tiled", n=n, t=t).blocks,
        lambda t: 2 * t**3,
        lambda t,
        answer: f"{t * t} threads do {t} multiply-adds each, two operations each: {answer}.",
        (
            W(lambda t: t**3, "A multiply-add is two operations."),
            W(
                lambda t: 2 * t * t,
                "That is one step of the inner loop; a phase has as many steps as the tile is wide.",
            ),
        ),
    ),
    Q(
        "02.operations-per-load",
        "textbook: 16 and 32 operations per load",
        SIMULATOR,
        {"t": _T, "n": _N},
        "With tiles of {t} x {t}, how many operations (multiplications and additions) does a block do for each"
        " float that it loads from global memory?",
        lambda n, t: 2
        * counted("tiled", n=n, t=t).fma_lanes
        // (32 * counted("tiled", n=n, t=t).global_load_requests),
        lambda t: 2 * t**3 // (2 * t**2),
        "A phase has 2 T^3 operations and 2 T^2 loads, so T of them for each load: {answer}.",
        (
            W(lambda t: t // 2, "A multiply-add is two operations."),
            W(lambda t: 2 * t, "Two matrices are loaded, not one."),
            W(lambda: 1, "That is the naive kernel."),
        ),
    ),
    Q(
        "02.bandwidth-bound-tiled",
        "textbook: 150 GB/s tiled by 16 allow 600 GFLOP/s",
        THREADS,
        {"t": (8, 16, 32), "gbs": (100, 150, 200, 320, 900)},
        "Global memory delivers {gbs} GB/s. Which rate, in GFLOP/s, does that allow at most if tiles of {t} x {t} are the"
        " only reuse (no caches)?",
        lambda t, gbs: gbs * sum(2 for _ in range(t) for _ in range(t * t)) / (4 * 2 * t * t),
        lambda t, gbs: float(gbs / 4 * t),
        lambda t,
        gbs,
        answer: f"{gbs} / 4 = {gbs / 4:g} billion floats a second, {t} operations for each: {answer}.",
        (
            W(lambda t, gbs: float(gbs * t), "A float has 4 bytes."),
            W(lambda gbs: gbs / 4, "That is without tiles: one operation per float."),
            W(
                lambda t, gbs: gbs / 4 * t * t,
                "An element of a tile is used T times, not T x T times.",
            ),
        ),
        unit="GFLOP/s",
    ),
    Q(
        "02.requests-ratio",
        "textbook: tiling cuts global loads by the tile width",
        SIMULATOR,
        {"t": (8, 16, 32), "n": (64, 128)},
        "A naive and a tiled kernel multiply {n} x {n} matrices, both with blocks of {t} x {t} threads. How many times"
        " fewer load requests of a warp does the tiled one make?",
        lambda n, t: counted("naive", n=n, x=t, y=t).global_load_requests
        // counted("tiled", n=n, t=t).global_load_requests,
        lambda t: t,
        "The naive thread loads 2 n floats, the tiled one 2 n / T: {answer} times fewer.",
        (
            W(lambda t: t * t, "A tile has T x T elements, but each is used only T times."),
            W(lambda t: 2 * t, "Both kernels load two floats at a time: the 2 cancels."),
        ),
    ),
    Q(
        "02.requests",
        "lab 02, what the report shows",
        SIMULATOR,
        {"t": (8, 16, 32), "n": (64, 96, 128)},
        "The tiled kernel multiplies {n} x {n} matrices with tiles of {t} x {t}. How many global load requests (of a"
        " warp) does it make in all?",
        lambda n, t: counted("tiled", n=n, t=t).global_load_requests,
        lambda n, t: 2 * n**3 // (t * 32),
        lambda n,
        t,
        answer: f"{n * n} threads load 2 x {n // t} floats each, 32 threads to a request: {answer}.",
        (
            W(lambda n, t: 2 * n**3 // t, "Those are floats; a request serves a warp of 32."),
            W(lambda n, t: n**3 // (t * 32), "That is one of the two matrices."),
            W(
                lambda n, t: 2 * n**3 // 32,
                "That is the naive kernel: every thread loads only 2 n / T floats here.",
            ),
        ),
    ),
    Q(
        "02.sectors",
        "lab 02, what the report shows",
        SIMULATOR,
        {"t": (4, 8, 16, 32), "n": (64, 96, 128)},
        "{n} x {n} matrices, tiles of {t} x {t}: how many sectors of 32 bytes does the tiled kernel load in all?",
        lambda n, t: counted("tiled", n=n, t=t).global_load_sectors,
        lambda n, t: (2 * n**3 // t) // min(t, 8),
        lambda n,
        t,
        answer: f"{2 * n**3 // t:,} floats are loaded, {min(t, 8)} of them out of each sector: {answer}.",
        (
            W(lambda n, t: 2 * n**3 // t, "That counts floats."),
            W(
                lambda n, t: 2 * n**3 // t // 8 if t < 8 else None,
                "A row of 4 floats fills only half of a sector.",
            ),
            W(lambda n, t: n**3 // t // min(t, 8), "That is one of the two matrices."),
            W(lambda n: n**3 // 8, "That is the naive kernel with blocks of 16 x 16."),
        ),
    ),
    Q(
        "02.barrier-arrivals",
        "lab 02, two barriers; textbook",
        SIMULATOR,
        {"t": (8, 16, 32), "n": (64, 96, 128)},
        "{n} x {n} matrices, tiles of {t} x {t}, two barriers in each phase. The counter `barriers` counts every warp"
        " that arrives at one. What does it show?",
        lambda n, t: counted("tiled", n=n, t=t).barriers,
        lambda n, t: 2 * (n // t) * (n * n // 32),
        lambda n, t, answer: f"{n * n // 32} warps in all, {n // t} phases, 2 barriers: {answer}.",
        (
            W(lambda n, t: (n // t) * (n * n // 32), "There are two barriers in a phase."),
            W(lambda n, t: 2 * (n // t), "That is what one warp passes; all warps count."),
            W(
                lambda n, t: 2 * (n // t) * (n // t) ** 2,
                "That is once per block; every warp of a block arrives.",
            ),
            W(
                lambda n, t: 2 * (n // t) * n * n,
                "Warps arrive, not threads: 32 threads are one arrival.",
            ),
        ),
    ),
    Q(
        "02.times-requested-tiled",
        "textbook exercise: how often each element is requested",
        THREADS,
        {"width": (8, 12, 16, 24), "t": (2, 4, 8)},
        "{width} x {width} matrices, tiles of {t} x {t}. How many times is each element of M loaded from global memory"
        " in the whole product?",
        lambda width, t: _tile_loads(width, t)[0, width - 1],
        lambda width, t: width // t,
        lambda width,
        t,
        answer: f"Once by each block of its row of blocks: {width} / {t} = {answer}. The naive kernel loads it {width} times.",
        (
            W(lambda width: width, "That is the naive kernel: once for each thread of a row."),
            W(lambda t: t, "That is how often a block *uses* it from shared memory."),
            W(lambda width, t: (width // t) ** 2, "Only the blocks of one row of blocks need it."),
        ),
        lambda width, t: width % t == 0,
    ),
    Q(
        "02.times-requested-naive",
        "textbook exercise: the same without tiles",
        SIMULATOR,
        {"n": (32, 64, 96, 128)},
        "{n} x {n} matrices. How many times does the naive kernel ask for each element of M, counted by threads?",
        lambda n: counted("naive", n=n, x=32, y=1).fma_lanes // (n * n),
        lambda n: n,
        "Each of the {n} threads of a row of P walks along the whole row of M: {answer} times.",
        (
            W(lambda n: 2 * n, "N's elements are others."),
            W(lambda: 1, "Every thread loads for itself: nothing is shared."),
        ),
    ),
    Q(
        "02.traffic-of-two-tiles",
        "textbook exercise: 8 x 8 with tiles of 2 and of 4",
        THREADS,
        {"width": (8, 16, 24), "t": (2, 4, 8)},
        "Draw {width} x {width} matrices with tiles of {t} x {t}. How many floats are loaded from global memory, M and N"
        " together?",
        lambda width, t: 2 * sum(_tile_loads(width, t).values()),
        lambda width, t: 2 * width**3 // t,
        lambda width,
        t,
        answer: f"{(width // t) ** 2} blocks, {width // t} phases, 2 x {t * t} floats each: {answer}. Without tiles it would be {2 * width**3:,}.",
        (
            W(lambda width, t: width**3 // t, "That is one of the two matrices."),
            W(lambda width: 2 * width**3, "That is without tiles."),
            W(
                lambda width: 2 * width**2,
                "Every element is loaded more than once: by several blocks.",
            ),
        ),
        lambda width, t: width % t == 0 and t < width,
        unit="floats",
    ),
    Q(
        "02.who-loads-what-of-m",
        "lab 02, worked example; textbook, phases of 4 x 4",
        THREADS,
        _WHO_LOADS,
        "{width} x {width} matrices, tiles of {t} x {t}. Which element of M, as (row, column), does thread (tx {tx}, ty {ty})"
        " of block (x {bx}, y {by}) load in phase {ph}?",
        lambda t, width, by, ph, tx, ty: next(
            (r, c)
            for r in range(width)
            for c in range(width)
            if (r // t, r % t, c // t, c % t) == (by, ty, ph, tx)
        ),
        lambda t, by, ph, tx, ty: (by * t + ty, ph * t + tx),
        lambda t,
        bx,
        by,
        ph,
        tx,
        ty,
        answer: f"Row by * T + ty = {by} * {t} + {ty}; column ph * T + tx = {ph} * {t} + {tx}: {answer}. In M the phase moves right.",
        (
            _ITS_OWN,
            W(
                lambda t, by, ph, tx, ty: (ph * t + ty, by * t + tx),
                "In M the phase moves along the row, not down.",
            ),
            W(
                lambda t, by, ph, tx, ty: (by * t + tx, ph * t + ty),
                "tx and ty are exchanged: the row comes from y.",
            ),
        ),
        _is_a_thread,
    ),
    Q(
        "02.who-loads-what-of-n",
        "lab 02, worked example; textbook, phases of 4 x 4",
        THREADS,
        _WHO_LOADS,
        "{width} x {width} matrices, tiles of {t} x {t}. Which element of N, as (row, column), does thread (tx {tx}, ty {ty})"
        " of block (x {bx}, y {by}) load in phase {ph}?",
        lambda t, width, bx, ph, tx, ty: next(
            (r, c)
            for r in range(width)
            for c in range(width)
            if (r // t, r % t, c // t, c % t) == (ph, ty, bx, tx)
        ),
        lambda t, bx, ph, tx, ty: (ph * t + ty, bx * t + tx),
        lambda t,
        bx,
        by,
        ph,
        tx,
        ty,
        answer: f"Row ph * T + ty = {ph} * {t} + {ty}; column bx * T + tx = {bx} * {t} + {tx}: {answer}. In N the phase moves down.",
        (
            _ITS_OWN,
            W(
                lambda t, bx, ph, tx, ty: (bx * t + ty, ph * t + tx),
                "In N the phase moves down a column, not along a row.",
            ),
            W(
                lambda t, bx, ph, tx, ty: (ph * t + tx, bx * t + ty),
                "tx and ty are exchanged: the row comes from y.",
            ),
        ),
        _is_a_thread,
    ),
    Q(
        "02.who-brought-it",
        "slides: the order of accesses in a 2 x 2 block; carpooling",
        THREADS,
        {"t": (2, 4, 8), "tx": tuple(range(8)), "ty": tuple(range(8)), "k": tuple(range(8))},
        "In a phase, thread (tx {tx}, ty {ty}) of a block of {t} x {t} multiplies Mds[ty][k] by Nds[k][tx]. At k = {k}, which"
        " thread (tx, ty) has loaded the element of M that it uses?",
        lambda t, ty, k: _loader(4 * t, t, (t + ty, 2 * t + k)),
        lambda ty, k: (k, ty),
        "Mds[{ty}][{k}] was loaded by the thread whose ty is {ty} and whose tx is {k}: {answer}.",
        (
            W(lambda ty, k: (ty, k), "Written the other way round: tx comes first here."),
            W(lambda tx, k: (tx, k), "That is the thread that brought the element of N."),
            W(lambda tx, ty: (tx, ty), "Its own element is only one of those it uses."),
        ),
        lambda t, tx, ty, k: tx < t and ty < t and k < t,
    ),
    Q(
        "02.uses-of-an-element",
        "textbook: every element is used exactly twice by a block of 2 x 2",
        THREADS,
        {"t": (2, 4, 8, 16)},
        "Tiles of {t} x {t}. How many threads of the block use one certain element of Mds in a phase?",
        lambda t: sum(
            1 for ty in range(t) for tx in range(t) for k in range(t) if (ty, k) == (0, t - 1)
        ),
        lambda t: t,
        "Mds[ty][k] is used by all threads with that ty, whatever their tx: {answer}.",
        (
            W(lambda t: t * t, "Only one row of threads needs it."),
            W(lambda: 1, "Then nothing would be shared."),
        ),
    ),
    Q(
        "02.phases",
        "lab 02, the idea",
        THREADS,
        {"width": (64, 96, 128, 192, 256), "t": (4, 8, 16, 32)},
        "How many phases does a block go through for matrices of {width} x {width} and tiles of {t} x {t}?",
        lambda width, t: len(range(0, width, t)),
        lambda width, t: width // t,
        "The loop over k is cut into pieces of {t}: {width} / {t} = {answer}.",
        (
            W(lambda width, t: (width // t) ** 2, "That is the number of blocks."),
            W(
                lambda width, t: width // (t * t),
                "A phase advances by T columns of M, not by T x T.",
            ),
        ),
    ),
    Q(
        "02.operations-per-byte-of-a-thread",
        "textbook exercise foo_kernel: 10 operations, 24 bytes",
        THREADS,
        {"terms": (2, 3, 4, 5, 6)},
        lambda terms: f"Each thread computes `out[i] = {_sum(terms)};`, where `x` was loaded from global memory element by"
        " element and `out` is in global memory. How many operations for each byte of global traffic, loads and store?",
        lambda terms: (_sum(terms).count("*") + _sum(terms).count("+"))
        / (4 * (_sum(terms).count("x[") + 1)),
        lambda terms: (terms + terms) / (4 * terms + 4),
        lambda terms,
        answer: f"{terms} multiplications and {terms} additions; {terms} loads and a store of 4 bytes, {4 * terms + 4} bytes: {answer}.",
        (
            W(lambda terms: 2 * terms / (4 * terms), "The store moves 4 bytes, too."),
            W(
                lambda terms: terms / (4 * terms + 4),
                "A multiplication and an addition are two operations.",
            ),
            W(lambda terms: 2 * terms / (terms + 1), "That is per float; a float has 4 bytes."),
        ),
    ),
    Q(
        "02.does-tiling-help-addition",
        "textbook exercise: matrix addition in shared memory",
        SIMULATOR,
        {"n": (32, 64, 96)},
        "C = A + B for {n} x {n} matrices: once directly, once with tiles of A and B in shared memory. How many times fewer"
        " sectors are loaded from global memory with tiles?",
        lambda n: counted("add_plain", n=n).global_load_sectors
        // counted("add_tiled", n=n).global_load_sectors,
        lambda n: (2 * n * n * 4 // 32) // (2 * n * n * 4 // 32),
        "Each element of A and B is needed by one thread only: there is nothing to share, and the counts are the same.",
        (
            W(
                lambda: 16,
                "Nobody else in the tile uses the element: tiling pays only where several threads want the same data.",
            ),
            W(lambda: 2, "A and B are loaded once each, with and without tiles."),
        ),
    ),
    Q(
        "02.blocks-of-a-large-product",
        "slides: 1024 x 1024 give 4096 blocks of 16 x 16",
        THREADS,
        {"n": (512, 1024, 2048, 4096), "t": (8, 16, 32)},
        "How many blocks of {t} x {t} threads does the product of two {n} x {n} matrices start?",
        lambda n, t: len(range(0, n, t)) * len(range(0, n, t)),
        lambda n, t: (n * n) // (t * t),
        lambda n, t, answer: f"{n // t} x {n // t} = {answer}.",
        (
            W(lambda n, t: n // t, "That is one side of the grid."),
            W(lambda n, t: n * n // t, "A block has T x T threads."),
        ),
        unit="blocks",
    ),
)
