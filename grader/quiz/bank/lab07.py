"""Questions on lab 07: four floats with one instruction."""

# ruff: noqa: E741 - l is what the course calls the columns of N

from __future__ import annotations

from grader.quiz.by_hand import ceil_div, sectors
from grader.quiz.counted import counted
from grader.quiz.question import SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_SIZES = {"j": (64, 128), "k": (32, 64), "l": (64, 128)}

QUESTIONS = (
    Q(
        "07.requests-of-a-copy",
        "lab 07, the idea",
        SIMULATOR,
        {"n": (1024, 2048), "b": (64, 128), "words": (1, 2, 4)},
        "{n} floats are copied, each thread loading {words} float(s) with one instruction, blocks of {b}. How many load requests of a warp?",
        lambda n, b, words: counted(f"copy{words}", n=n, b=b).global_load_requests,
        lambda n, words: n // (32 * words),
        "{n} / (32 * {words}) = {answer}.",
        (
            W(lambda n: n // 32, "A lane takes several floats."),
            W(lambda n, words: n // words, "A request serves a warp."),
        ),
        unit="requests",
    ),
    Q(
        "07.sectors-of-a-copy",
        "lab 07: the sectors are the same",
        SIMULATOR,
        {"n": (1024, 2048), "b": (64, 128), "words": (1, 2, 4)},
        "{n} floats are loaded, each thread loading {words} float(s) with one instruction. How many sectors of 32 bytes are loaded?",
        lambda n, b, words: counted(f"copy{words}", n=n, b=b).global_load_sectors,
        lambda n: n * 4 // 32,
        "The bytes are the same, whatever the width: {answer}.",
        (
            W(
                lambda n, words: n * 4 // 32 // words if words > 1 else None,
                "Fewer instructions, the same sectors.",
            ),
            W(lambda n: n // 32, "A sector has 8 floats."),
        ),
        unit="sectors",
    ),
    Q(
        "07.bytes-of-a-request",
        "lab 07, the idea: 128 and 512",
        THREADS,
        {"words": (1, 2, 4), "lanes": (16, 32)},
        "{lanes} lanes load {words} float(s) each with one instruction. How many bytes?",
        lambda words, lanes: len(
            {(lane, byte) for lane in range(lanes) for byte in range(4 * words)}
        ),
        lambda words, lanes: 4 * words * lanes,
        "{lanes} * {words} * 4 = {answer}.",
        (W(lambda words, lanes: words * lanes, "A float has 4 bytes."),),
        unit="bytes",
    ),
    Q(
        "07.sectors-per-request",
        "lab 07: 16 per request instead of 4",
        THREADS,
        {"words": (1, 2, 4), "offset": (0, 4, 8)},
        "The lanes of a warp load {words} float(s) each, side by side, from byte {offset} * {words} * 4 on. How many sectors does the request touch?",
        lambda words, offset: sectors([4 * words * (offset + t) for t in range(32)], 4 * words),
        lambda words, offset: (4 * words * (offset + 32) - 1) // 32 - 4 * words * offset // 32 + 1,
        lambda words, answer: f"{128 * words} bytes, 32 to a sector: {answer}.",
        (
            W(lambda words: 4 if words > 1 else None, "Each lane takes more than 4 bytes."),
            W(lambda words: 4 * words, "It does not begin at a sector's edge."),
        ),
        unit="sectors",
    ),
    Q(
        "07.aligned-in-every-row",
        "lab 07, question 1 and 2",
        THREADS,
        {"cols": (40, 50, 51, 52, 64, 66, 70), "words": (2, 4)},
        "A row-major matrix has {cols} columns. Can every row be read with loads of {words} floats, from column 0 on?",
        lambda cols, words: YES_NO[any(4 * row * cols % (4 * words) for row in range(8))],
        lambda cols, words: YES_NO[cols % words != 0],
        lambda cols,
        words: f"Row 1 begins at byte {4 * cols}; a multiple of {4 * words} is needed.",
        choices=YES_NO,
    ),
    Q(
        "07.first-aligned-column",
        "lab 07, worked example: 4 x 7",
        THREADS,
        {"cols": (5, 6, 7, 9, 10, 13), "row": (1, 2, 3)},
        "A row-major matrix of floats has {cols} columns and begins at a multiple of 16 bytes. Which is the first column of row {row} whose address is a multiple of 16?",
        lambda cols, row: next(c for c in range(cols) if 4 * (row * cols + c) % 16 == 0),
        lambda cols, row: -(row * cols) % 4,
        lambda cols,
        row,
        answer: f"Row {row} begins at element {row * cols}; the next multiple of 4 is {answer} further.",
        (
            W(lambda: 0, "The row does not begin at a multiple of 16 bytes."),
            W(
                lambda cols, row: row * cols % 4,
                "That is how far it is past one; go on to the next.",
            ),
        ),
    ),
    Q(
        "07.byte-of-a-row",
        "lab 07, worked example",
        THREADS,
        {"cols": (5, 7, 8, 12, 50), "row": (1, 2, 3, 5)},
        "A row-major matrix of floats has {cols} columns. At which byte does row {row} begin?",
        lambda cols, row: len(bytearray(4)) * len([0 for _ in range(row) for _ in range(cols)]),
        lambda cols, row: 4 * cols * row,
        "{row} * {cols} floats of 4 bytes: {answer}.",
        (
            W(lambda cols, row: cols * row, "That is the index; a float has 4 bytes."),
            W(
                lambda cols, row: 16 * ceil_div(cols, 4) * row,
                "Rows follow each other without a gap.",
            ),
        ),
        unit="bytes",
    ),
    Q(
        "07.loads-of-the-kernel",
        "lab 07, what the report shows: 4,096 loads",
        SIMULATOR,
        _SIZES,
        "Lab 07's kernel (blocks of 64 x 64, phases of 16) multiplies {j} x {k} by {k} x {l}; both row lengths are multiples of 4. How many global load requests of a warp?",
        lambda j, k, l: counted("vector", j=j, k=k, l=l).global_load_requests,
        lambda j, k, l: (j // 64) * (l // 64) * (k // 16) * 8 * 2,
        lambda j,
        k,
        l,
        answer: f"{j * l // 4096} block(s) x {k // 16} phases x 8 warps x 2 float4: {answer}.",
        (
            W(
                lambda j, k, l: (j // 64) * (l // 64) * (k // 16) * 64,
                "That is with single floats.",
            ),
            W(
                lambda j, k, l: (j // 64) * (l // 64) * (k // 16) * 8,
                "One float4 of each of the two tiles.",
            ),
        ),
        unit="requests",
    ),
    Q(
        "07.stores-of-the-kernel",
        "lab 07, what the report shows: 512 stores",
        SIMULATOR,
        _SIZES,
        "Lab 07's kernel stores P, {j} x {l}, with float4 (k = {k}). How many store requests of a warp?",
        lambda j, k, l: counted("vector", j=j, k=k, l=l).global_store_requests,
        lambda j, l: j * l // 128,
        "32 lanes store 128 floats at once: {answer}.",
        (
            W(lambda j, l: j * l // 32, "That is with single floats."),
            W(lambda j, l: j * l // 4, "A request serves a warp."),
        ),
        unit="requests",
    ),
    Q(
        "07.barriers-of-the-kernel",
        "lab 07, the arithmetic",
        SIMULATOR,
        _SIZES,
        "Lab 07's kernel (blocks of 64 x 64, 8 warps, phases of 16, two barriers each) multiplies {j} x {k} by {k} x {l}. How often does a warp arrive at a barrier, all together?",
        lambda j, k, l: counted("vector", j=j, k=k, l=l).barriers,
        lambda j, k, l: 16 * (j // 64) * (l // 64) * (k // 16),
        "Blocks x phases x 8 warps x 2: {answer}.",
        (W(lambda j, k, l: 8 * (j // 64) * (l // 64) * (k // 16), "Two in each phase."),),
    ),
    Q(
        "07.wavefronts-of-float4",
        "lab 07: shared memory with 16-byte accesses",
        SIMULATOR,
        {"words": (1, 2, 4)},
        "The 32 lanes of a warp read {words} float(s) each from shared memory, side by side, with one instruction. How many wavefronts?",
        lambda words: counted("shared_steps", stride=1).shared_load_wavefronts
        if words == 1
        else counted(f"shared_float{words}", stride=1).shared_load_wavefronts,
        lambda words: 32 * 4 * words // 128,
        "{words} * 128 bytes, 128 to a wavefront: {answer}.",
        (
            W(lambda words: 1 if words > 1 else None, "A wavefront is 128 bytes."),
            W(lambda words: 32, "Nothing collides."),
        ),
        unit="wavefronts",
    ),
    Q(
        "07.groups-of-a-tile",
        "lab 07: 256 float4, one per thread",
        THREADS,
        {"rows": (32, 64, 128), "cols": (8, 16, 32), "threads": (64, 128, 256)},
        "A tile of {rows} x {cols} floats is loaded with float4 by {threads} threads. How many float4 does each load?",
        lambda rows, cols, threads: len(range(0, rows * cols, 4 * threads)),
        lambda rows, cols, threads: rows * cols // 4 // threads,
        "{rows} * {cols} / 4 / {threads} = {answer}.",
        (W(lambda rows, cols, threads: rows * cols // threads, "A float4 is four floats."),),
        lambda rows, cols, threads: rows * cols >= 4 * threads,
    ),
    Q(
        "07.inner-share",
        "lab 07, the arithmetic: 70% and 88%",
        THREADS,
        {"tm": (4, 8), "tn": (4, 8), "width": (1, 4)},
        "In four steps of the inner loop a thread with {tm} x {tn} results reads 4 x {tm} values of M and 4 x {tn} of N, {width} float(s) to an instruction. What share of these instructions and the multiply-adds are multiply-adds?",
        lambda tm, tn, width: sum(1 for _ in range(4) for _ in range(tm) for _ in range(tn))
        / (4 * tm * tn + len(range(0, 4 * (tm + tn), width))),
        lambda tm, tn, width: 1 / (1 + (tm + tn) / (width * tm * tn)),
        lambda tm,
        tn,
        width,
        answer: f"{4 * tm * tn} multiply-adds, {4 * (tm + tn) // width} loads: {answer}.",
        (
            W(
                lambda tm, tn, width: 1 - (tm + tn) / (width * tm * tn),
                "Divide by all instructions, loads included.",
            ),
            W(lambda tm, tn: 1 / (1 + (tm + tn) / (tm * tn)), "One load brings four floats."),
        ),
    ),
    Q(
        "07.half-a-group",
        "lab 07: the last group is half outside",
        THREADS,
        {"cols": (5, 7, 10, 13, 50, 51)},
        "A row has {cols} columns. How many floats of its last group of four (which begins at a multiple of 4) lie outside the row?",
        lambda cols: sum(1 for c in range(cols // 4 * 4, cols // 4 * 4 + 4) if c >= cols),
        lambda cols: -cols % 4,
        "{answer}: what lies there is the next row's beginning.",
        (W(lambda cols: cols % 4, "Those lie inside."),),
        lambda cols: cols % 4 > 0,
    ),
)
