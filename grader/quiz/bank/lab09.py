"""Questions on lab 09: who computes what within a warp."""

# ruff: noqa: E741 - l is what the course calls the columns of N

from __future__ import annotations

from grader.quiz.by_hand import ceil_div, sectors
from grader.quiz.calculator import fits
from grader.quiz.counted import counted
from grader.quiz.question import OCCUPANCY, SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_SHAPES = {"rows": (1, 2, 4, 8, 16), "tm": (4, 8), "tn": (4, 8)}


def _paired(lane: int) -> tuple[int, int]:
    """(y, x): bits 4, 3 and 1 of the lane are y, bits 2 and 0 are x."""
    return lane // 2 % 2 + lane // 8 * 2, lane % 2 + lane // 4 % 2 * 2


def _words(rows: int, tm: int, tn: int) -> int:
    """Different words of one step of a warp whose lanes lie in so many rows."""
    lanes = [(t // (32 // rows), t % (32 // rows)) for t in range(32)]
    return len(
        {("M", y * tm + r) for y, _ in lanes for r in range(tm)}
        | {("N", x * tn + c) for _, x in lanes for c in range(tn)}
    )


QUESTIONS = (
    Q(
        "09.words-per-step",
        "lab 09, strip or square",
        THREADS,
        _SHAPES,
        "The lanes of a warp lie in {rows} row(s); each computes {tm} x {tn} results. How many different words does the warp need in one step over k?",
        _words,
        lambda rows, tm, tn: rows * tm + 32 // rows * tn,
        lambda rows, tm, tn, answer: f"{rows} * {tm} of M and {32 // rows} * {tn} of N: {answer}.",
        (
            W(
                lambda tm, tn: 32 * (tm + tn),
                "Lanes of a row share M's words, lanes of a column N's.",
            ),
            W(lambda rows, tm, tn: rows * tm * (32 // rows) * tn, "Those are the products."),
        ),
        unit="words",
    ),
    Q(
        "09.products-per-word",
        "lab 09, the table: 14 and 21",
        THREADS,
        _SHAPES,
        "The lanes of a warp lie in {rows} row(s); each computes {tm} x {tn} results. How many products for each word that the warp reads?",
        lambda rows, tm, tn: 32 * tm * tn / _words(rows, tm, tn),
        lambda rows, tm, tn: 1 / (1 / (rows * tm) + 1 / (32 // rows * tn)),
        lambda rows,
        tm,
        tn,
        answer: f"{32 * tm * tn} products, {rows * tm + 32 // rows * tn} words: {answer}.",
        (W(lambda tm, tn: tm * tn / (tm + tn), "That is one thread; lanes share words."),),
    ),
    Q(
        "09.warp-tile",
        "lab 09, the levels",
        THREADS,
        _SHAPES,
        "The lanes of a warp lie in {rows} row(s); each computes {tm} x {tn} results. Which (rows, columns) of P does the warp compute?",
        lambda rows, tm, tn: (
            len({(t // (32 // rows), r) for t in range(32) for r in range(tm)}),
            len({(t % (32 // rows), c) for t in range(32) for c in range(tn)}),
        ),
        lambda rows, tm, tn: (rows * tm, 32 * tn // rows),
        lambda rows, tm, tn, answer: f"{rows} * {tm} rows, {32 // rows} * {tn} columns: {answer}.",
        (W(lambda rows, tm, tn: (32 * tn // rows, rows * tm), "Rows first."),),
    ),
    Q(
        "09.paired-lane",
        "lab 09, worked example: eight lanes",
        THREADS,
        {"lane": tuple(range(32))},
        "Bits 4, 3 and 1 of a lane are its y, bits 2 and 0 its x. Which (y, x) has lane {lane}?",
        lambda lane: _paired(lane),
        lambda lane: (
            int(f"{lane:05b}"[0] + f"{lane:05b}"[1] + f"{lane:05b}"[3], 2),
            int(f"{lane:05b}"[2] + f"{lane:05b}"[4], 2),
        ),
        lambda lane, answer: f"{lane} is {lane:05b} in binary: {answer}.",
        (
            W(lambda lane: (lane // 4, lane % 4), "That is row by row."),
            W(lambda lane: _paired(lane)[::-1], "y first."),
        ),
    ),
    Q(
        "09.lane-of-a-place",
        "lab 09, where a lane sits",
        THREADS,
        {"y": tuple(range(8)), "x": tuple(range(4))},
        "Bits 4, 3 and 1 of a lane are its y, bits 2 and 0 its x. Which lane sits at y = {y}, x = {x}?",
        lambda y, x: next(t for t in range(32) if _paired(t) == (y, x)),
        lambda y, x: y // 2 * 8 + y % 2 * 2 + x // 2 * 4 + x % 2,
        "Put the bits back to their places: {answer}.",
        (
            W(lambda y, x: 4 * y + x, "That is row by row."),
            W(lambda y, x: y + 8 * x, "That is column by column."),
        ),
    ),
    Q(
        "09.do-they-share",
        "lab 09: lane ^ 1 and lane ^ 2",
        THREADS,
        {"lane": (0, 3, 9, 18, 30), "other": (1, 2, 4, 8), "what": ("M", "N")},
        "With bits 4, 3, 1 as y and 2, 0 as x: do lane {lane} and lane {lane} ^ {other} read the same words of {what}?",
        lambda lane, other, what: YES_NO[
            _paired(lane)[what == "N"] != _paired(lane ^ other)[what == "N"]
        ],
        lambda other, what: YES_NO[(other in (1, 4)) == (what == "N")],
        "Words of M go with y, words of N with x; bits 0 and 2 are x, 1 and 3 are y.",
        choices=YES_NO,
    ),
    Q(
        "09.warps-of-a-block",
        "lab 09, the levels",
        THREADS,
        {"bm": (64, 128, 256), "bn": (64, 128), "wm": (32, 64), "wn": (32, 64)},
        "A block computes {bm} x {bn} of P, a warp {wm} x {wn}. How many warps has the block?",
        lambda bm, bn, wm, wn: len(range(0, bm, wm)) * len(range(0, bn, wn)),
        lambda bm, bn, wm, wn: bm * bn // (wm * wn),
        "{answer} warp tiles make the block's.",
        (W(lambda bm, wm: bm // wm, "There are several side by side, too."),),
        unit="warps",
    ),
    Q(
        "09.corner-of-a-warp",
        "lab 09, the skeleton: warp_row and warp_col",
        THREADS,
        {"bn": (128, 256), "wm": (32, 64), "wn": (32, 64), "warp": (1, 2, 3, 5, 6)},
        "A block's part of P has {bn} columns; warps take tiles of {wm} x {wn} of it, row by row. At which (row, column) of the block's part does warp {warp} begin?",
        lambda bn, wm, wn, warp: [(r, c) for r in range(0, 8 * wm, wm) for c in range(0, bn, wn)][
            warp
        ],
        lambda bn, wm, wn, warp: (warp // (bn // wn) * wm, warp % (bn // wn) * wn),
        lambda bn, wn, answer: f"{bn // wn} warps side by side: {answer}.",
        (
            W(
                lambda bn, wm, wn, warp: (warp % (bn // wn) * wm, warp // (bn // wn) * wn),
                "Row by row: columns change first.",
            ),
        ),
    ),
    Q(
        "09.registers-promised",
        "lab 09: __launch_bounds__",
        THREADS,
        {"threads": (128, 256, 512), "blocks": (1, 2, 3, 4)},
        "`__launch_bounds__({threads}, {blocks})` on a GPU with 65,536 registers per SM, at most 255 per thread, given out in steps of 8 per thread. How many registers may a thread use?",
        lambda threads, blocks: max(
            [r for r in range(8, 256, 8) if r * threads * blocks <= 65536]
            + [255] * (255 * threads * blocks <= 65536)
        ),
        lambda threads, blocks: min(255, 65536 // (threads * blocks) // 8 * 8),
        lambda threads,
        blocks,
        answer: f"65,536 / {threads * blocks} = {65536 / (threads * blocks):.1f}: {answer}.",
        (
            W(
                lambda threads: min(255, 65536 // threads // 8 * 8),
                "Several blocks share the registers.",
            ),
            W(lambda threads, blocks: 65536 // (threads * blocks), "At most 255, in steps of 8."),
        ),
        unit="registers",
    ),
    Q(
        "09.blocks-with-registers",
        "lab 09: 128 or 168 registers",
        OCCUPANCY,
        {"registers": (96, 112, 128, 136, 168, 200), "device": ("h200",)},
        "An H200, blocks of 256 threads, 49,152 bytes of shared memory (of 233,472 per SM, and 1024 more for each block), {registers} registers per thread of 65,536. How many blocks run on an SM?",
        lambda registers, device: fits(device, registers, 49152, 256).blocks_per_sm,
        lambda registers: min(65536 // (registers * 256), 233472 // (49152 + 1024)),
        lambda registers,
        answer: f"By registers {65536 // (registers * 256)}, by shared memory {233472 // 50176}: {answer}.",
        (
            W(
                lambda registers: ceil_div(65536, registers * 256),
                "Rounded down: blocks run whole.",
            ),
            W(lambda: 4, "Registers allow fewer."),
        ),
        unit="blocks",
    ),
    Q(
        "09.blocks-of-a-product",
        "lab 09, question 5",
        SIMULATOR,
        {"j": (128, 256), "k": (32,), "l": (128, 200, 256)},
        "Blocks of 128 x 128 compute P, {j} x {l} (k = {k}). How many?",
        lambda j, k, l: counted("warps", j=j, k=k, l=l).blocks,
        lambda j, l: ceil_div(j, 128) * ceil_div(l, 128),
        "Both sides rounded up: {answer}.",
        (
            W(lambda j, l: ceil_div(j, 64) * ceil_div(l, 64), "That is lab 08's block."),
            W(lambda j, l: (j // 128) * (l // 128), "Rounded down."),
        ),
        unit="blocks",
    ),
    Q(
        "09.idle-sms",
        "lab 09, question 5: more than half have nothing to do",
        THREADS,
        {"n": (512, 1024, 1280), "sms": (108, 132)},
        "Blocks of 128 x 128 compute a product of {n} x {n} on {sms} SMs. How many SMs get no block?",
        lambda n, sms: len(set(range(sms)) - set(range(len(range(0, n, 128)) ** 2))),
        lambda n, sms: max(0, sms - (n // 128) ** 2),
        lambda n, answer: f"{(n // 128) ** 2} blocks: {answer} SMs stand still.",
        (
            W(lambda n, sms: max(0, sms - n // 128), "The grid has two sides."),
            W(lambda: 0, "There are fewer blocks than SMs."),
        ),
        unit="SMs",
    ),
    Q(
        "09.shared-bytes",
        "lab 09, 20 KB + 16 KB + 12 KB",
        SIMULATOR,
        {"j": (128,), "k": (32,), "l": (128, 256)},
        "Two stages of Mds[128][20] and Nds[16][128], and out[8][8][48], all floats (P is {j} x {l}, k = {k}). How many bytes?",
        lambda j, k, l: counted("warps", j=j, k=k, l=l).shared_bytes,
        lambda: 4 * (2 * 128 * 20 + 2 * 16 * 128 + 8 * 8 * 48),
        "20,480 + 16,384 + 12,288 = {answer}.",
        (
            W(lambda: 4 * (128 * 20 + 16 * 128 + 8 * 8 * 48), "Two stages of both tiles."),
            W(lambda: 12288, "A float has 4 bytes."),
            W(
                lambda: 4 * (2 * 128 * 16 + 2 * 16 * 128 + 8 * 8 * 32),
                "The padding takes room, too.",
            ),
        ),
        unit="bytes",
    ),
    Q(
        "09.barriers",
        "lab 09: one barrier a phase",
        SIMULATOR,
        {"j": (128, 256), "k": (32, 64), "l": (128, 256)},
        "Lab 09's kernel (128 x 128 per block, 8 warps, phases of 16, one __syncthreads() each) multiplies {j} x {k} by {k} x {l}. How often does a warp arrive at one, all together?",
        lambda j, k, l: counted("warps", j=j, k=k, l=l).barriers,
        lambda j, k, l: 8 * (j // 128) * (l // 128) * (k // 16),
        "Blocks x phases x 8 warps: {answer}.",
        (
            W(
                lambda j, k, l: 16 * (j // 128) * (l // 128) * (k // 16),
                "One barrier is enough with two stages.",
            ),
            W(lambda j, k, l: 8 * (j // 64) * (l // 64) * (k // 16), "A block computes 128 x 128."),
        ),
    ),
    Q(
        "09.store-requests",
        "lab 09, the way out",
        SIMULATOR,
        {"j": (128, 256), "k": (32,), "l": (128, 256)},
        "Lab 09's kernel stores P, {j} x {l}, row by row, lane by lane (k = {k}). How many store requests of a warp?",
        lambda j, k, l: counted("warps", j=j, k=k, l=l).global_store_requests,
        lambda j, l: j * l // 32,
        "32 neighbouring floats at a time: {answer}.",
        (W(lambda j, l: j * l // 128, "One float per lane, not a float4."),),
        unit="requests",
    ),
    Q(
        "09.sectors-of-a-direct-store",
        "lab 09: stored straight from registers",
        THREADS,
        {"apart": (1, 2, 4, 8), "l": (256, 512)},
        "Where rows are not aligned each float is stored alone. {l} columns; 4 lanes of a row of lanes store floats {apart} apart, and the 8 rows of lanes lie in 8 rows of P. How many sectors does such a store touch?",
        lambda apart, l: sectors([4 * (l * (t // 4) + apart * (t % 4)) for t in range(32)]),
        lambda apart: 8 * ceil_div(3 * apart + 1, 8),
        lambda apart,
        answer: f"Each row of P: {3 * apart + 1} floats from first to last, {answer} sectors in all 8 rows.",
        (
            W(lambda: 4, "That is 32 neighbouring floats."),
            W(lambda apart: 32 if apart < 8 else None, "Lanes of a row share sectors."),
        ),
        unit="sectors",
    ),
    Q(
        "09.wavefronts-per-multiply-add",
        "lab 09, the table: 0.375, 0.188, 0.125",
        THREADS,
        {"tm": (4, 8), "tn": (4, 8), "m": (2, 4), "n": (2, 4)},
        "In four steps a warp loads {tm} float4 of Mds, {m} wavefronts each, and {tn} float4 of Nds, {n} each, for 4 x {tm} x {tn} multiply-adds. How many wavefronts per multiply-add?",
        lambda tm, tn, m, n: sum([m] * tm + [n] * tn)
        / sum(1 for _ in range(4) for _ in range(tm) for _ in range(tn)),
        lambda tm, tn, m, n: m / (4 * tn) + n / (4 * tm),
        lambda tm,
        tn,
        m,
        n,
        answer: f"{tm * m + tn * n} / {4 * tm * tn} = {answer}. Beyond 0.25 shared memory binds.",
        (
            W(
                lambda tm, tn, m, n: (tm * m + tn * n) / (tm * tn),
                "Four steps are computed with them.",
            ),
            W(lambda tm, tn: (tm + tn) / (4 * tm * tn), "A load takes more than one wavefront."),
        ),
    ),
)
