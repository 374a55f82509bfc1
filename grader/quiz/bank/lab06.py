"""Questions on lab 06: banks, padding, swizzles."""

# ruff: noqa: E741 - l is what the course calls the columns of N

from __future__ import annotations

from math import gcd

from grader.quiz.by_hand import fullest_bank, wavefronts_of_stride
from grader.quiz.counted import counted
from grader.quiz.question import SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_STRIDES = (64, 65, 66, 67, 68, 70, 72)


def _column_words(stride: int) -> list[int]:
    """What a warp writes when 16 neighbouring lanes go down a column, and the next 16 down the next."""
    return [stride * (lane % 16) + lane // 16 for lane in range(32)]


def _swizzled(f: int) -> list[int]:
    return [64 * i + (r ^ (f * (i % 8))) for r in (0, 1) for i in range(16)]


QUESTIONS = (
    Q(
        "06.bank-of-a-word",
        "lab 06, banks",
        THREADS,
        {
            "row": (1, 2, 3, 5),
            "col": (0, 3, 7, 20),
            "stride": (32, 33, 40, 64, 65, 72),
            "banks": (16, 32),
        },
        "Shared memory has {banks} banks of 4 bytes. An array of floats has rows of {stride} words. In which bank lies element [{row}][{col}]?",
        lambda row, col, stride, banks: [bank for _ in range(200) for bank in range(banks)][
            row * stride + col
        ],
        lambda row, col, stride, banks: (row * stride + col) % banks,
        "({row} * {stride} + {col}) % {banks} = {answer}.",
        (
            W(lambda row, col, banks: (row + col) % banks, "Multiply the row by its length."),
            W(
                lambda row, col, stride, banks: (4 * (row * stride + col)) % banks,
                "Banks count words, not bytes.",
            ),
            W(
                lambda row, col, stride, banks: (row * stride + col) % (48 - banks),
                "The number of banks is another one.",
            ),
        ),
    ),
    Q(
        "06.wavefronts-by-stride",
        "lab 06, the idea",
        SIMULATOR,
        {"stride": (1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 24, 32, 33)},
        "32 banks. Lane t of a warp reads word {stride} * t of shared memory. How many wavefronts does the request take?",
        lambda stride: counted("shared_steps", stride=stride).shared_load_wavefronts,
        lambda stride: wavefronts_of_stride(stride),
        lambda stride,
        answer: f"{stride} and 32 have the common divisor {gcd(stride, 32)}: so many lanes meet in each bank that is used. {answer}.",
        (
            W(
                lambda stride: min(stride, 32),
                "Only the factor of 2 that the step shares with 32 counts: odd steps reach all banks.",
            ),
            W(lambda: 32, "Only steps that are a multiple of 32 do that."),
        ),
        unit="wavefronts",
    ),
    Q(
        "06.old-banks",
        "lab 06; research chapter, maps of 16 banks",
        THREADS,
        {"stride": (1, 2, 3, 4, 6, 8, 12, 15, 16, 17)},
        "Compute capability 1.3: 16 banks, a half warp at a time. Lane t of a half warp reads word {stride} * t. How many of the 16 lanes meet in the fullest bank?",
        lambda stride: fullest_bank([stride * t for t in range(16)], 16),
        lambda stride: gcd(stride, 16),
        lambda stride, answer: f"Common divisor with 16: {answer}.",
        (
            W(lambda stride: gcd(stride, 32) if stride % 32 else None, "There are 16 banks."),
            W(lambda stride: min(stride, 16), "Odd steps reach all banks."),
        ),
    ),
    Q(
        "06.broadcast",
        "lab 06, a broadcast",
        SIMULATOR,
        {"stride": (0, 32)},
        lambda stride: "All 32 lanes of a warp read "
        + ("the same word" if stride == 0 else "different words of the same bank")
        + " of shared memory. How many wavefronts?",
        lambda stride: counted("shared_steps", stride=stride).shared_load_wavefronts,
        lambda stride: fullest_bank([stride * t for t in range(32)]),
        lambda stride: "The same word is delivered to as many lanes as want it: a broadcast."
        if stride == 0
        else "A bank delivers one word at a time: they queue.",
        (
            W(
                lambda stride: 32 if stride == 0 else 1,
                "The same word is a broadcast; different words of one bank queue.",
            ),
        ),
        unit="wavefronts",
    ),
    Q(
        "06.column-of-a-tile",
        "lab 06, worked example: float[16][16] and [16][17]",
        SIMULATOR,
        {"side": (16, 32), "pad": (0, 1, 2, 3, 4, 8)},
        "A tile float[{side}][{side} + {pad}]. Each {side} neighbouring lanes of a warp write down a column (the next ones down the next column). How many wavefronts does the store take?",
        lambda side, pad: counted(
            "shared_columns", side=side, row=side + pad
        ).shared_store_wavefronts,
        lambda side, pad: fullest_bank([(side + pad) * (t % side) + t // side for t in range(32)]),
        lambda side,
        pad,
        answer: f"Lanes are {side + pad} words apart: {answer} of them in the fullest bank.",
        (
            W(lambda: 1, "Draw the banks of both columns before you believe it."),
            W(lambda side: side, "Only rows of a multiple of 32 words do that."),
            W(
                lambda side, pad: fullest_bank([(side + pad) * t for t in range(16)])
                if side == 16
                else None,
                "A warp writes two columns at a time.",
            ),
        ),
        unit="wavefronts",
    ),
    Q(
        "06.column-on-the-c1060",
        "research chapter, GPU5: sixteen times over",
        THREADS,
        {"row": (16, 17, 18, 20, 24)},
        "Compute capability 1.3 (16 banks). The 16 lanes of a half warp read down a column of a tile with rows of {row} words. How many of them meet in one bank?",
        lambda row: fullest_bank([row * t for t in range(16)], 16),
        lambda row: gcd(row, 16),
        "Rows of {row} words: {answer}.",
        (
            W(lambda: 8, "With 16 banks, not 32."),
            W(
                lambda row: 1 if row % 2 == 0 else None,
                "Even rows come back to the same banks sooner.",
            ),
        ),
    ),
    Q(
        "06.store-wavefronts-by-padding",
        "lab 06, the bad line",
        THREADS,
        {"stride": _STRIDES},
        "Lab 06: 16 neighbouring lanes write Mds[i][r] with i = 0 to 15, the other 16 the same with r + 1. Rows of Mds have {stride} words, 32 banks. How many wavefronts does a store take?",
        lambda stride: fullest_bank(_column_words(stride)),
        lambda stride: _by_columns(stride),
        lambda stride,
        answer: f"The banks are ({stride % 32} i + r) % 32: the fullest has {answer} words.",
        (
            W(lambda: 1, "Try i = 1, r = 0 against i = 0, r = 1."),
            W(
                lambda stride: fullest_bank([stride * i for i in range(16)]),
                "A warp writes two columns at a time.",
            ),
        ),
        unit="wavefronts",
    ),
    Q(
        "06.conflicts-of-a-run",
        "lab 06, what the report shows: 122,880",
        SIMULATOR,
        {"stride": (64, 65, 66, 68, 72), "j": (64, 128), "k": (64,), "l": (64, 128)},
        "Lab 06's kernel (blocks of 64 x 64, phases of 16, 8 warps with 4 stores to Mds each per phase) multiplies {j} x {k} by {k} x {l}. Rows of Mds have {stride} words. How many wavefronts are spent on bank conflicts?",
        lambda stride, j, k, l: counted("padded", stride=stride, j=j, k=k, l=l).bank_conflicts,
        lambda stride, j, k, l: (j // 64)
        * (l // 64)
        * (k // 16)
        * 8
        * 4
        * (_by_columns(stride) - 1),
        lambda stride,
        j,
        k,
        l,
        answer: f"{j * l // 4096} block(s), {k // 16} phases, 32 stores, {_by_columns(stride) - 1} wavefronts too many each: {answer}.",
        (
            W(
                lambda stride, j, k, l: (j // 64)
                * (l // 64)
                * (k // 16)
                * 32
                * _by_columns(stride),
                "One wavefront of each store is no conflict.",
            ),
            W(
                lambda stride, j, k, l: (j // 64)
                * (l // 64)
                * (k // 16)
                * 4
                * (_by_columns(stride) - 1),
                "All 8 warps store.",
            ),
        ),
        unit="wavefronts",
    ),
    Q(
        "06.does-a-padding-work",
        "lab 06, question 1: which paddings work",
        THREADS,
        {"pad": tuple(range(9))},
        "Lab 06: rows of 64 + {pad} words. Is the store down the columns (i = 0 to 15, r and r + 1) free of conflicts?",
        lambda pad: YES_NO[len({w % 32 for w in _column_words(64 + pad)}) < 32],
        lambda pad: YES_NO[pad not in (2, 6)],
        "Step times i must leave 32 different banks for r = 0 and 1: 2 and 6 do, up to 8.",
        choices=YES_NO,
    ),
    Q(
        "06.smallest-padding",
        "lab 06, question 1 and 4",
        THREADS,
        {"columns": (1, 2, 4), "row": (32, 64)},
        "A warp writes {columns} column(s) at a time, 32 / {columns} rows of each; the rows have {row} words and some padding. What is the smallest padding without conflicts (32 banks)?",
        lambda columns, row: next(
            p
            for p in range(64)
            if fullest_bank(
                [(row + p) * (t % (32 // columns)) + t // (32 // columns) for t in range(32)]
            )
            == 1
        ),
        lambda columns: columns,
        "The step must leave room for the columns beside each other: {answer}.",
        (
            W(
                lambda columns: 1 if columns > 1 else None,
                "One word is right only if a warp writes one column.",
            ),
            W(lambda: 0, "Rows of a multiple of 32 words put a column into one bank."),
        ),
        unit="words",
    ),
    Q(
        "06.bytes-of-padding",
        "lab 06, padding costs",
        THREADS,
        {"rows": (16, 32, 64), "pad": (1, 2, 4, 8)},
        "A tile has {rows} rows, each padded by {pad} words. How many bytes does the padding take?",
        lambda rows, pad: sum(4 * pad for _ in range(rows)),
        lambda rows, pad: 4 * rows * pad,
        "{rows} * {pad} words of 4 bytes: {answer}.",
        (
            W(lambda rows, pad: rows * pad, "A word has 4 bytes."),
            W(lambda pad: 4 * pad, "Every row has it."),
        ),
        unit="bytes",
    ),
    Q(
        "06.vector-loads-after-padding",
        "lab 06, what padding can spoil",
        THREADS,
        {"row": (64, 65, 66, 68, 70, 72), "words": (2, 4)},
        "Rows have {row} words. Does every row begin at an address that a load of {words} floats at once allows?",
        lambda row, words: YES_NO[any(4 * r * row % (4 * words) for r in range(16))],
        lambda row, words: YES_NO[row % words != 0],
        lambda row, words: f"{4 * row} bytes a row; {4 * words} are needed.",
        choices=YES_NO,
    ),
    Q(
        "06.swizzle",
        "lab 06, a swizzle",
        THREADS,
        {"i": (1, 2, 5, 7), "r": (0, 1, 6, 13), "f": (4, 8)},
        "Swizzle: element (i, r) of a tile with rows of 64 words goes to word 64 i + (r ^ ({f} (i % 8))). To which word goes ({i}, {r})?",
        lambda i, r, f: 64 * i
        + sum(1 << b for b in range(6) if (r >> b & 1) != ((f * (i % 8)) >> b & 1)),
        lambda i, r, f: 64 * i + (r ^ f * (i % 8)),
        lambda i, r, f, answer: f"{r} ^ {f * (i % 8)} = {r ^ f * (i % 8)}; {answer}.",
        (
            W(lambda i, r, f: 64 * i + r + f * (i % 8), "^ is exclusive or, not a sum."),
            W(lambda i, r: 64 * i + r, "That is without the swizzle."),
        ),
    ),
    Q(
        "06.wavefronts-of-a-swizzle",
        "lab 06: f(i) = 4 (i % 8) takes 2 wavefronts",
        THREADS,
        {"f": (0, 1, 2, 4)},
        "Lab 06's store (i = 0 to 15, r = 0 and 1) with element (i, r) at word 64 i + (r ^ ({f} (i % 8))), 32 banks. How many wavefronts?",
        lambda f: fullest_bank(_swizzled(f)),
        lambda f: {0: 16, 1: 4, 2: 2, 4: 2}[f],
        lambda answer: f"{answer} words in the fullest bank.",
        (
            W(lambda: 1, "Only 8 values of i differ."),
            W(lambda f: 16 if f else None, "The exclusive or moves them to other banks."),
        ),
        unit="wavefronts",
    ),
    Q(
        "06.sum-of-rows",
        "lab 06, exercise 4",
        THREADS,
        {"own": (8, 16, 31, 32, 33)},
        "32 threads; thread t sums a[{own} t], a[{own} t + 1], ... of shared memory. How many wavefronts does each read take?",
        lambda own: fullest_bank([own * t for t in range(32)]),
        lambda own: gcd(own, 32),
        "The lanes step by {own} words: {answer}.",
        (
            W(
                lambda own: 1 if gcd(own, 32) > 1 else None,
                "Neighbouring *threads* are that many words apart.",
            ),
            W(lambda: 32, "Only for a multiple of 32."),
        ),
        unit="wavefronts",
    ),
    Q(
        "06.gpu5-conflicts",
        "lab 06, exercise 3; research chapter GPU5",
        SIMULATOR,
        {"n": (32, 64), "t": (16, 32)},
        "GPU5 keeps the tile of N transposed in [{t}][{t} + 1] and multiplies {n} x {n}. How many wavefronts are spent on bank conflicts (32 banks)?",
        lambda n, t: counted("gpu5", n=n, t=t).bank_conflicts,
        lambda n, t: _gpu5(n, t),
        lambda t, answer: f"A warp stores {32 // t} column(s) at a time"
        + (": word 255 + 1 meets word 0, one conflict per store" if t == 16 else ": no conflict")
        + f". {answer}.",
        (
            W(lambda t: 0 if t == 16 else None, "Two columns at a time: one word meets another."),
            W(lambda n, t: n**3 // t // 32, "One word of padding removes them."),
        ),
        unit="wavefronts",
    ),
)


def _by_columns(stride: int) -> int:
    """By counting for each bank the pairs (i, r) that lead there."""
    return max(
        sum((stride * i + r - bank) % 32 == 0 for i in range(16) for r in (0, 1))
        for bank in range(32)
    )


def _gpu5(n: int, t: int) -> int:
    """Stores of the transposed tile: one for each warp and phase."""
    return (
        n * n // 32 * (n // t) * (fullest_bank([(t + 1) * (x % t) + x // t for x in range(32)]) - 1)
    )
