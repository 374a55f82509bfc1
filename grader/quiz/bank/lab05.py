"""Questions on lab 05: several results per thread, in registers."""

# ruff: noqa: E741 - l is what the course calls the columns of N

from __future__ import annotations

from grader.quiz.by_hand import blocks_per_sm, ceil_div
from grader.quiz.calculator import fits
from grader.quiz.counted import counted
from grader.quiz.question import OCCUPANCY, SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_TILES = {"bm": (32, 64, 128), "bn": (32, 64, 128), "bk": (8, 16)}
_PATCH = {"tm": (1, 2, 4, 8, 16), "tn": (1, 2, 4, 8)}
_SIZES = {"j": (64, 128), "k": (32, 48, 64), "l": (64, 128)}


def _loads(tm: int, tn: int) -> int:
    """Different operands of one step of a thread: by naming them."""
    return len(
        {("M", r) for r in range(tm) for _ in range(tn)}
        | {("N", c) for _ in range(tm) for c in range(tn)}
    )


QUESTIONS = (
    Q(
        "05.loads-per-multiply-add",
        "lab 05, the table; research chapter GPU2 to GPU6",
        THREADS,
        _PATCH,
        "A thread keeps {tm} x {tn} results in registers. In one step it reads the operands from shared memory once each. How many loads per multiply-add?",
        lambda tm, tn: _loads(tm, tn) / (tm * tn),
        lambda tm, tn: 1 / tm + 1 / tn,
        lambda tm, tn, answer: f"({tm} + {tn}) loads for {tm * tn} multiply-adds: {answer}.",
        (
            W(lambda: 2.0, "That is one result per thread."),
            W(lambda tm, tn: 1 / (tm * tn), "A step needs a column and a row of values, not one."),
            W(lambda tm, tn: (tm + tn) / (2 * tm * tn), "A multiply-add counts once here."),
        ),
    ),
    Q(
        "05.loads-per-step",
        "lab 05, the table",
        THREADS,
        _PATCH,
        "A thread keeps {tm} x {tn} results. How many values does it read from shared memory in one step over k?",
        _loads,
        lambda tm, tn: tm + tn,
        "{tm} of a column of M and {tn} of a row of N: {answer}.",
        (
            W(lambda tm, tn: tm * tn, "Those are the multiply-adds."),
            W(lambda tm, tn: 2 * tm * tn, "Each value is read once and used several times."),
        ),
    ),
    Q(
        "05.registers-for-sums",
        "lab 05, the price",
        THREADS,
        _PATCH,
        "How many registers do the sums and the operands of one step take, for {tm} x {tn} results of a thread?",
        lambda tm, tn: _loads(tm, tn) + len([(r, c) for r in range(tm) for c in range(tn)]),
        lambda tm, tn: (tm + 1) * (tn + 1) - 1,
        lambda tm, tn, answer: f"{tm * tn} sums, {tm} + {tn} operands: {answer}.",
        (
            W(lambda tm, tn: tm * tn, "The operands need registers, too."),
            W(
                lambda tm, tn: tm + tn,
                "Those are the operands; the sums stay in registers as well.",
            ),
        ),
        unit="registers",
    ),
    Q(
        "05.threads-of-a-block",
        "lab 05, how it is laid out",
        THREADS,
        {**_TILES, "tm": (2, 4, 8), "tn": (2, 4, 8)},
        "A block computes {bm} x {bn} elements of P, a thread {tm} x {tn}. How many threads has the block?",
        lambda bm, bn, tm, tn: len(range(0, bm, tm)) * len(range(0, bn, tn)),
        lambda bm, bn, tm, tn: bm * bn // (tm * tn),
        lambda bm, bn, tm, tn, answer: f"{bm // tm} x {bn // tn} = {answer}.",
        (W(lambda bm, bn: bm * bn, "A thread computes several elements."),),
        lambda bm, bn, tm, tn: bm * bn // (tm * tn) <= 1024,
        unit="threads",
    ),
    Q(
        "05.does-the-block-fit",
        "lab 05, step 2: TN = 1",
        THREADS,
        {"bm": (64, 128), "bn": (64, 128), "tm": (1, 2, 4, 8), "tn": (1, 2, 4)},
        "A block computes {bm} x {bn}, a thread {tm} x {tn}. Are the threads at most 1024?",
        lambda bm, bn, tm, tn: YES_NO[
            sum(1 for _ in range(0, bm, tm) for _ in range(0, bn, tn)) > 1024
        ],
        lambda bm, bn, tm, tn: YES_NO[bm * bn > 1024 * tm * tn],
        lambda bm, bn, tm, tn: f"{bm // tm} x {bn // tn} = {bm * bn // (tm * tn)} threads.",
        choices=YES_NO,
    ),
    Q(
        "05.elements-each-thread-loads",
        "lab 05: a tile larger than the block",
        THREADS,
        {"bm": (32, 64, 128), "bk": (8, 16, 32), "threads": (64, 128, 256)},
        "A tile of {bm} x {bk} is loaded by {threads} threads, thread t taking elements t, t + {threads}, ... How many does each load?",
        lambda bm, bk, threads: len(range(0, bm * bk, threads)),
        lambda bm, bk, threads: bm * bk // threads,
        "{bm} * {bk} / {threads} = {answer}.",
        (W(lambda: 1, "The tile is larger than the block."),),
        lambda bm, bk, threads: bm * bk > threads,
    ),
    Q(
        "05.place-of-an-element",
        "lab 05, step 1: e / BK and e % BK",
        THREADS,
        {"bk": (8, 16, 32), "threads": (128, 256), "t": (5, 37, 100), "turn": (0, 1, 2)},
        "A tile of M has rows of {bk}. Thread {t} of {threads} loads, in its turn {turn} (the first is 0), element number {t} + {turn} * {threads}. Which (row, column) of the tile is that?",
        lambda bk, threads, t, turn: next(
            (r, c) for r in range(1000) for c in range(bk) if r * bk + c == t + turn * threads
        ),
        lambda bk, threads, t, turn: divmod(t + turn * threads, bk),
        lambda bk,
        threads,
        t,
        turn,
        answer: f"{t + turn * threads} / {bk}, and the remainder: {answer}.",
        (
            W(
                lambda bk, threads, t, turn: (
                    (t + turn * threads) % bk,
                    (t + turn * threads) // bk,
                ),
                "The quotient is the row.",
            ),
        ),
    ),
    Q(
        "05.columns-of-a-thread",
        "lab 05: columns BN / TN apart",
        THREADS,
        {"bn": (64, 128), "tn": (4, 8), "tx": (0, 3, 7), "c": (0, 1, 3)},
        "Columns are BN / TN apart: BN = {bn}, TN = {tn}. Which column of the block's part of P is number {c} (the first is 0) of thread tx = {tx}?",
        lambda bn, tn, tx, c: [x for x in range(bn) if x % (bn // tn) == tx][c],
        lambda bn, tn, tx, c: tx + c * (bn // tn),
        lambda bn, tn, tx, c, answer: f"{tx} + {c} * {bn // tn} = {answer}.",
        (
            W(
                lambda tn, tx, c: tn * tx + c,
                "That would be columns next to each other: lanes would be TN words apart.",
            ),
        ),
    ),
    Q(
        "05.shared-bytes",
        "lab 05, the arithmetic",
        SIMULATOR,
        {**_SIZES},
        "Tiles of 64 x 16 of M and 16 x 64 of N, floats (the product is {j} x {k} times {k} x {l}). How many bytes of shared memory does a block take?",
        lambda j, k, l: counted("register", j=j, k=k, l=l).shared_bytes,
        lambda: 4 * (64 * 16 + 16 * 64),
        "1024 + 1024 floats, 4 bytes each: {answer}. The sizes of the matrices don't matter.",
        (W(lambda: 2048, "Those are elements."), W(lambda: 4096, "That is one tile.")),
        unit="bytes",
    ),
    Q(
        "05.blocks",
        "lab 05, the block computes 64 x 64",
        SIMULATOR,
        {"j": (64, 100, 128), "k": (32,), "l": (64, 128, 200)},
        "A block computes 64 x 64 of P, which is {j} x {l}; k = {k}. How many blocks?",
        lambda j, k, l: counted("register", j=j, k=k, l=l).blocks,
        lambda j, l: ceil_div(j, 64) * ceil_div(l, 64),
        "Both sides rounded up: {answer}.",
        (
            W(
                lambda j, l: ceil_div(j, 16) * ceil_div(l, 16),
                "A block has 16 x 16 threads, but each computes 4 x 4.",
            ),
            W(lambda j, l: (j // 64) * (l // 64), "Rounded down."),
        ),
        unit="blocks",
    ),
    Q(
        "05.barriers",
        "lab 05: barriers become rarer",
        SIMULATOR,
        _SIZES,
        "Blocks of 64 x 64, 256 threads, phases of 16, two barriers each; {j} x {k} times {k} x {l}. How often does a warp arrive at a barrier, all together?",
        lambda j, k, l: counted("register", j=j, k=k, l=l).barriers,
        lambda j, k, l: 16 * (j // 64) * (l // 64) * (k // 16),
        lambda j,
        k,
        l,
        answer: f"{j * l // 4096} block(s) of 8 warps, {k // 16} phases, 2 barriers: {answer}.",
        (
            W(lambda j, k, l: 16 * (j // 16) * (l // 16) * (k // 16), "A block computes 64 x 64."),
            W(lambda j, k, l: 8 * (j // 64) * (l // 64) * (k // 16), "Two in each phase."),
        ),
    ),
    Q(
        "05.global-requests",
        "lab 05, the arithmetic: 2048 loads per phase and block",
        SIMULATOR,
        _SIZES,
        "Blocks of 64 x 64, phases of 16; {j} x {k} times {k} x {l}. How many global load requests of a warp?",
        lambda j, k, l: counted("register", j=j, k=k, l=l).global_load_requests,
        lambda j, k, l: j * k * l * 2 // 64 // 32,
        lambda j,
        k,
        l,
        answer: f"Per block and phase 2048 floats, 64 requests; {j * l // 4096 * k // 16} of these: {answer}.",
        (
            W(
                lambda j, k, l: j * k * l * 2 // 16 // 32,
                "That is with tiles of 16: an element now serves 64 rows or columns.",
            ),
            W(lambda j, k, l: j * k * l // 64 // 32, "That is one matrix."),
        ),
        unit="requests",
    ),
    Q(
        "05.multiply-adds-per-load",
        "lab 05, the arithmetic: 8 and 32",
        SIMULATOR,
        _SIZES,
        "Blocks of 64 x 64, phases of 16 ({j} x {k} times {k} x {l}). How many multiply-adds for each float loaded from global memory?",
        lambda j, k, l: counted("register", j=j, k=k, l=l).fma_lanes
        // (32 * counted("register", j=j, k=k, l=l).global_load_requests),
        lambda: 64 * 64 * 16 // (2 * 64 * 16),
        "65,536 multiply-adds for 2048 loads: {answer}.",
        (W(lambda: 64, "Two tiles are loaded."), W(lambda: 8, "That is lab 04.")),
    ),
    Q(
        "05.reuse-of-a-block-tile",
        "lab 05; research chapter: p x q tiles",
        THREADS,
        _TILES,
        "A block computes {bm} x {bn} of P in phases of {bk}. How many multiply-adds for each float it loads from global memory?",
        lambda bm, bn, bk: sum(bk for _ in range(bm) for _ in range(bn)) / (bm * bk + bk * bn),
        lambda bm, bn: 1 / (1 / bm + 1 / bn),
        lambda bm,
        bn,
        bk,
        answer: f"{bm} x {bn} x {bk} / ({bm} x {bk} + {bk} x {bn}) = {answer}: the depth does not matter.",
        (
            W(lambda bm, bn: float(bm + bn), "Divide the product by the sum."),
            W(lambda bm: float(bm), "Both tiles are loaded."),
        ),
    ),
    Q(
        "05.blocks-by-registers",
        "lab 05, the price: occupancy 0.5",
        OCCUPANCY,
        {"registers": (40, 64, 72, 96, 128, 168), "threads": (128, 256), "device": ("h200",)},
        "An H200: 65,536 registers per SM, given to warps in units of 256. How many blocks of {threads} threads with {registers} registers each run on an SM (2048 threads, 32 blocks; shared memory is no limit)?",
        lambda device, registers, threads: fits(device, registers, 0, threads).blocks_per_sm,
        lambda device, registers, threads: blocks_per_sm(device, registers, 0, threads),
        lambda registers,
        threads,
        answer: f"65,536 / ({registers} * {threads}) = {65536 / (registers * threads):.2f}: {answer} blocks.",
        (
            W(
                lambda registers, threads: ceil_div(65536, registers * threads),
                "Rounded up: only whole blocks run.",
            ),
            W(lambda threads: 2048 // threads, "Registers run out first."),
        ),
        unit="blocks",
    ),
    Q(
        "05.occupancy",
        "lab 05, the price: occupancy 0.5",
        OCCUPANCY,
        {"registers": (40, 64, 96, 128, 168, 255), "threads": (128, 256), "device": ("h200",)},
        "An H200 (65,536 registers, 2048 threads per SM): what is the occupancy of a kernel with {registers} registers and blocks of {threads} threads?",
        lambda device, registers, threads: float(fits(device, registers, 0, threads).fraction),
        lambda device, registers, threads: blocks_per_sm(device, registers, 0, threads)
        * threads
        / 2048,
        lambda device,
        registers,
        threads,
        answer: f"{fits(device, registers, 0, threads).blocks_per_sm} blocks of {threads} of 2048 threads: {answer}.",
        (
            W(lambda registers: min(1.0, 32 / registers), "Only whole blocks run."),
            W(lambda: 1.0, "Registers run out first."),
        ),
    ),
    Q(
        "05.fits-in-registers",
        "lab 05: at most 255 per thread",
        THREADS,
        {"tm": (8, 12, 16), "tn": (8, 12, 16), "extra": (20, 40)},
        "{tm} x {tn} sums, {tm} + {tn} operands and {extra} registers for addresses. Does a thread get that many without spilling?",
        lambda tm, tn, extra: YES_NO[_loads(tm, tn) + tm * tn + extra > 255],
        lambda tm, tn, extra: YES_NO[(tm + 1) * (tn + 1) - 1 + extra > 255],
        lambda tm, tn, extra: f"{tm * tn + tm + tn + extra} registers; a thread has at most 255.",
        choices=YES_NO,
    ),
    Q(
        "05.operations-per-byte",
        "lab 05, question 6: the roofline",
        THREADS,
        {"b": (16, 32, 64, 128, 256)},
        "A block computes {b} x {b} of P. How many operations (two per multiply-add) for each byte it loads from global memory?",
        lambda b: sum(2 for _ in range(b) for _ in range(b)) / (4 * (b + b)),
        lambda b: b / 4,
        "2 b^2 operations per step, 2 b floats of 4 bytes: b / 4 = {answer}.",
        (
            W(lambda b: b / 8, "A multiply-add is two operations."),
            W(lambda b: float(b), "A float has 4 bytes."),
            W(lambda b: b / 2, "Two tiles are loaded."),
        ),
    ),
    Q(
        "05.bytes-from-shared-memory",
        "lab 05, question 6: the next level",
        THREADS,
        _PATCH,
        "A thread computes {tm} x {tn} results. How many operations (two per multiply-add) for each byte that it reads from shared memory?",
        lambda tm, tn: 2 * tm * tn / (4 * _loads(tm, tn)),
        lambda tm, tn: tm * tn / (2 * (tm + tn)),
        lambda tm, tn, answer: f"{2 * tm * tn} operations for {4 * (tm + tn)} bytes: {answer}.",
        (
            W(lambda tm, tn: tm * tn / (4 * (tm + tn)), "A multiply-add is two operations."),
            W(lambda tm, tn: 2 * tm * tn / (tm + tn), "A float has 4 bytes."),
        ),
    ),
    Q(
        "05.gpu6-volume",
        "research chapter: GPU6, 9n^3/32 + 4n^2",
        SIMULATOR,
        {"n": (128,), "y": (4, 8)},
        "GPU6 (16 rows and 16 * {y} columns of P per block) multiplies {n} x {n} at compute capability 1.3. All of its transactions are full. How many bytes does it move?",
        lambda n, y: counted("gpu6", "c1060", n=n, y=y).volume_bytes,
        lambda n, y: 4 * (n**3 // (16 * y) + n**3 // 16) + 4 * n * n,
        lambda n,
        y,
        answer: f"M is read n / {16 * y} times, N n / 16 times, P written once, 4 bytes each: {answer}.",
        (
            W(lambda n, y: 4 * (n**3 // (16 * y) + n**3 // 16), "P is written, too."),
            W(lambda n: n**3 // 2 + 4 * n * n, "That is GPU4, tiles of 16 x 16."),
        ),
        unit="bytes",
    ),
    Q(
        "05.volume-of-gpu2-and-gpu3",
        "research chapter: 2.5 n^3 and 1.5 n^3",
        SIMULATOR,
        {"kernel": ("gpu2", "gpu3"), "n": (64, 128)},
        lambda kernel, n: (
            "GPU2, blocks of (8, 8), 1 x 2 results, M read as float4, N as float2"
            if kernel == "gpu2"
            else "GPU3, blocks of (4, 16), 1 x 4 results, all read as float4"
        )
        + f", multiplies {n} x {n} at compute capability 1.3. How many bytes do all transactions move?",
        lambda kernel, n: counted(
            kernel, "c1060", n=n, x=8 if kernel == "gpu2" else 4, y=8 if kernel == "gpu2" else 16
        ).volume_bytes,
        lambda kernel, n: (5 if kernel == "gpu2" else 3) * n**3 // 2 + 4 * n * n,
        lambda kernel, answer: (
            "Per half warp and four steps 2 transactions of 32 bytes for M, 4 of 64 for N: 2.5 n^3"
            if kernel == "gpu2"
            else "Per half warp and four steps 4 of 32 bytes for M, 4 of 64 for N: 1.5 n^3"
        )
        + f"; and 4 n^2 for P: {answer}.",
        (
            W(lambda n: 6 * n**3 + 4 * n * n, "That is GPU1."),
            W(lambda kernel, n: (5 if kernel == "gpu2" else 3) * n**3 // 2, "P is written, too."),
        ),
        unit="bytes",
    ),
)
