"""Questions on lab 11: boxes, barriers with phases, a ring of stages, swizzle."""

from __future__ import annotations

from grader.quiz.by_hand import ceil_div
from grader.quiz.question import THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W


def _phases_over(ph: int, stages: int) -> int:
    """How often the stage of phase ph was filled before it, counted one by one."""
    return sum(1 for earlier in range(ph) if earlier % stages == ph % stages)


def _permuted(row: int, piece: int) -> int:
    """Where a piece lies: bit by bit, what the piece and the row have in common goes."""
    bits = [(piece >> bit & 1) != (row >> bit & 1) for bit in range(3)]
    return sum(2**bit for bit, differs in enumerate(bits) if differs)


def _next_multiple(number: int, unit: int) -> int:
    while number % unit:
        number += 1
    return number


QUESTIONS = (
    Q(
        "11.parity-of-full",
        "lab 11, the ring",
        THREADS,
        {"stages": (2, 3, 4), "ph": (0, 1, 3, 5, 6, 9, 11)},
        "A ring of {stages} stages. With which parity do the consumers wait for phase {ph} of k?",
        lambda stages, ph: _phases_over(ph, stages) & 1,
        lambda stages, ph: ph // stages % 2,
        "The stage is filled for the {ph} / {stages}-th time, rounded down; the last bit of that is {answer}.",
        (
            W(lambda stages, ph: ph % 2, "The barrier counts the turns of its own stage."),
            W(
                lambda stages, ph: 1 - ph // stages % 2,
                "The first phase of a barrier has parity 0.",
            ),
        ),
    ),
    Q(
        "11.phase-of-empty",
        "lab 11, the ring",
        THREADS,
        {"stages": (2, 3, 4), "ph": (4, 5, 7, 8, 12)},
        "A ring of {stages} stages. The producer is about to ask for phase {ph} of k. The end of which phase of the stage's barrier empty (0 is the first) must it have seen?",
        lambda stages, ph: _phases_over(ph, stages) - 1,
        lambda stages, ph: ph // stages - 1,
        "Turn {ph} / {stages}, rounded down; the turn before it must be read: {answer}.",
        (
            W(lambda stages, ph: ph // stages, "That one ends when this turn has been read."),
            W(lambda stages, ph: ph - 1, "Each stage has a barrier of its own."),
        ),
    ),
    Q(
        "11.bytes-of-a-stage",
        "lab 11, the ring",
        THREADS,
        {"bm": (64, 128), "bn": (64, 128, 256), "bk": (32, 64)},
        "A stage holds {bm} x {bk} elements of M and {bk} x {bn} of N, bf16. How many bytes does its barrier expect?",
        lambda bm, bn, bk: sum(2 for _ in range(bm * bk)) + sum(2 for _ in range(bk * bn)),
        lambda bm, bn, bk: 2 * bk * (bm + bn),
        "Two bytes an element: {answer}.",
        (
            W(lambda bm, bn, bk: 4 * bk * (bm + bn), "A bf16 has two bytes."),
            W(lambda bm, bn, bk: bk * (bm + bn), "Bytes, not elements."),
        ),
        unit="bytes",
    ),
    Q(
        "11.bytes-at-the-edge",
        "lab 11, question 2",
        THREADS,
        {"k": (1, 70, 100, 130), "rows": (64, 128)},
        "Boxes of {rows} x 64 bf16, k = {k}. How many bytes of a barrier does the box of the last phase of k complete?",
        lambda k, rows: sum(2 for _ in range(rows) for _ in range(64)),
        lambda k, rows: rows * 64 * 2,
        "The box is whole; what lies outside the matrix is zeros: {answer}.",
        (
            W(
                lambda k, rows: rows * ((k - 1) % 64 + 1) * 2,
                "Zeros for what lies outside count as well.",
            ),
        ),
        unit="bytes",
    ),
    Q(
        "11.pitch",
        "lab 11, a map and a box",
        THREADS,
        {"cols": (1, 8, 29, 40, 61, 77, 150)},
        "A matrix of bf16 has {cols} columns. How many elements apart must its rows begin, at least, for the copy engine?",
        lambda cols: _next_multiple(2 * cols, 16) // 2,
        lambda cols: ceil_div(cols, 8) * 8,
        "A multiple of 16 bytes is one of 8 elements: {answer}.",
        (
            W(lambda cols: ceil_div(cols, 16) * 16, "16 bytes, not 16 elements."),
            W(lambda cols: cols, "Rows begin at multiples of 16 bytes."),
        ),
        unit="elements",
    ),
    Q(
        "11.swizzled-place",
        "lab 11, swizzle",
        THREADS,
        {"row": (1, 3, 6, 10, 13), "column": (0, 8, 24, 40, 56)},
        "A box has 64 bf16 in a row and was copied with the swizzle of 128 bytes. How many bytes from the beginning of its row lies element [{row}][{column}]?",
        lambda row, column: _permuted(row, column // 8) * 16,
        lambda row, column: 16 * (column // 8 ^ row % 8),
        "Piece column / 8 lies at piece ^ row % 8, 16 bytes each: {answer}.",
        (
            W(lambda row, column: 2 * column, "That is where it would lie without a swizzle."),
            W(lambda row, column: 16 * ((column // 8 + row) % 8), "By exclusive or, not by a sum."),
        ),
        unit="bytes",
    ),
    Q(
        "11.arrivals",
        "lab 11, the ring",
        THREADS,
        {"warps": (4, 8, 12)},
        "{warps} warps multiply; one lane of each arrives at empty when the warp has read the stage. With how many arrivals is empty initialised?",
        lambda warps: len(range(warps)),
        lambda warps: warps,
        "One of each warp: {answer}.",
        (
            W(lambda warps: 32 * warps, "One lane of a warp arrives."),
            W(lambda warps: warps + 1, "The producer only waits there."),
            W(lambda warps: 1, "Each warp arrives by itself."),
        ),
        unit="arrivals",
    ),
    Q(
        "11.boxes-of-a-block",
        "lab 11, steps",
        THREADS,
        {"k": (64, 70, 256, 300), "bn": (64, 128, 256)},
        "Blocks of 128 x {bn}, boxes of 64 columns, phases of 64. How many boxes does a block ask for, if k = {k}?",
        lambda k, bn: len([(i, c) for i in range(0, k, 64) for c in ("M", *range(0, bn, 64))]),
        lambda k, bn: ceil_div(k, 64) * (1 + bn // 64),
        "In each phase one of M and {bn} / 64 of N: {answer}.",
        (
            W(lambda k, bn: ceil_div(k, 64) * 2, "A row of a box has 128 bytes at most."),
            W(lambda k, bn: k // 64 * (1 + bn // 64), "The last phase may hang over."),
        ),
        unit="boxes",
    ),
    Q(
        "11.stages-that-fit",
        "lab 11, the ring",
        THREADS,
        {"bm": (64, 128, 256), "bn": (64, 128)},
        "A block of an H200 may have 232,448 bytes of shared memory. How many stages fit, with {bm} x 64 elements of M and 64 x {bn} of N, bf16 (the barriers need less than what is left)?",
        lambda bm, bn: len(range(2 * 64 * (bm + bn), 232448 + 1, 2 * 64 * (bm + bn))),
        lambda bm, bn: 232448 // (128 * (bm + bn)),
        "232,448 / (128 * ({bm} + {bn})), rounded down: {answer}.",
        (W(lambda bm, bn: 232448 // (256 * (bm + bn)), "A bf16 has two bytes."),),
        unit="stages",
    ),
    Q(
        "11.returns-at-once",
        "lab 11, a barrier with phases",
        THREADS,
        {"complete": (0, 1, 2, 3, 4), "parity": (0, 1)},
        "{complete} phases of a barrier are complete. Does a wait for parity {parity} return at once?",
        lambda complete, parity: YES_NO[(complete - 1) % 2 == parity],
        lambda complete, parity: YES_NO[complete % 2 != parity],
        "The phase that runs has the number {complete}; a wait for the other parity is for the one before, which is over: {answer}.",
        choices=YES_NO,
    ),
)
