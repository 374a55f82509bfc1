"""Questions on lab 08: copies that travel while the block computes."""

# ruff: noqa: E741 - l is what the course calls the columns of N

from __future__ import annotations

from grader.quiz.by_hand import blocks_per_sm, ceil_div
from grader.quiz.calculator import fits
from grader.quiz.counted import counted
from grader.quiz.question import OCCUPANCY, SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_SIZES = {"j": (64, 128), "k": (32, 48, 64), "l": (64, 128)}

QUESTIONS = (
    Q(
        "08.stage-of-a-phase",
        "lab 08, worked example",
        THREADS,
        {"stages": (2, 3, 4), "ph": (1, 2, 3, 5, 7, 10)},
        "{stages} stages are filled in turn, phase 0 goes to stage 0. Which stage does phase {ph} use?",
        lambda stages, ph: [s for _ in range(20) for s in range(stages)][ph],
        lambda stages, ph: ph % stages,
        "{ph} % {stages} = {answer}.",
        (
            W(lambda stages, ph: (ph + 1) % stages, "That one is being filled."),
            W(lambda stages, ph: ph // stages, "The remainder, not the quotient."),
        ),
    ),
    Q(
        "08.stage-being-filled",
        "lab 08, worked example; exercise 1",
        THREADS,
        {"stages": (2, 3, 4), "ph": (0, 1, 2, 3, 5, 8)},
        "{stages} stages. While phase {ph} is computed, the copies of phase {ph} + {stages} - 1 are started. To which stage do they go?",
        lambda stages, ph: next(
            s for s in range(stages) if all((s - (ph + a)) % stages for a in range(stages - 1))
        ),
        lambda stages, ph: (ph + stages - 1) % stages,
        lambda stages,
        ph,
        answer: f"({ph} + {stages - 1}) % {stages} = {answer}: the stage that phase {ph} - 1 used.",
        (W(lambda stages, ph: ph % stages, "That one is in use."),),
    ),
    Q(
        "08.groups-that-may-travel",
        "lab 08, question 3",
        THREADS,
        {"stages": (2, 3, 4, 5)},
        "{stages} stages, the copies of {stages} - 1 phases are on their way when a phase begins, each a group. Which n in __pipeline_wait_prior(n) waits for this phase's group and no other?",
        lambda stages: len(list(range(stages - 1))[1:]),
        lambda stages: stages - 2,
        "All but the newest {answer} must be there.",
        (
            W(
                lambda stages: stages - 1,
                "Then nothing is waited for: the group that is needed may travel as well.",
            ),
            W(lambda: 0, "That waits for all of them, also those needed later."),
        ),
    ),
    Q(
        "08.shared-bytes",
        "lab 08, the arithmetic; exercise 3",
        THREADS,
        {"stages": (2, 3, 4), "bm": (64, 128), "bk": (8, 16, 32)},
        "{stages} stages of tiles of {bm} x {bk} and {bk} x {bm} floats. How many bytes of shared memory?",
        lambda stages, bm, bk: len([0 for _ in range(stages) for _ in range(2)]) * 4 * bm * bk,
        lambda stages, bm, bk: stages * 8 * bm * bk,
        lambda stages, bm, bk, answer: f"{stages} x 2 x {bm * bk} floats x 4: {answer}.",
        (
            W(lambda bm, bk: 8 * bm * bk, "That is one stage."),
            W(lambda stages, bm, bk: stages * 4 * bm * bk, "Each stage has two tiles."),
            W(lambda stages, bm, bk: stages * 2 * bm * bk, "A float has 4 bytes."),
        ),
        unit="bytes",
    ),
    Q(
        "08.shared-bytes-of-the-kernel",
        "lab 08, the arithmetic: 16 KB",
        SIMULATOR,
        _SIZES,
        "Lab 08's kernel has two stages of tiles of 64 x 16 and 16 x 64 floats ({j} x {k} times {k} x {l}). How many bytes does a block take?",
        lambda j, k, l: counted("async", j=j, k=k, l=l).shared_bytes,
        lambda: 2 * (64 * 16 + 16 * 64) * 4,
        "2 x 2 x 1024 floats of 4 bytes: {answer}.",
        (
            W(lambda: 8192, "There are two stages."),
            W(lambda: 4096, "Two stages of two tiles; and a float has 4 bytes."),
        ),
        unit="bytes",
    ),
    Q(
        "08.barriers",
        "lab 08: one barrier is enough",
        SIMULATOR,
        _SIZES,
        "Lab 08's kernel (blocks of 64 x 64, 8 warps, phases of 16, one barrier each) multiplies {j} x {k} by {k} x {l}. How often does a warp arrive at a barrier, all together?",
        lambda j, k, l: counted("async", j=j, k=k, l=l).barriers,
        lambda j, k, l: 8 * (j // 64) * (l // 64) * (k // 16),
        "Blocks x phases x 8 warps: {answer}.",
        (
            W(
                lambda j, k, l: 16 * (j // 64) * (l // 64) * (k // 16),
                "That is lab 07: here one barrier is enough.",
            ),
        ),
    ),
    Q(
        "08.copies-of-the-kernel",
        "lab 08, per warp and phase: 2 copies",
        SIMULATOR,
        _SIZES,
        "Lab 08's kernel (blocks of 64 x 64, 8 warps, phases of 16) multiplies {j} x {k} by {k} x {l}, 16 bytes a copy. How many cp.async of a warp?",
        lambda j, k, l: counted("async", j=j, k=k, l=l).async_requests,
        lambda j, k, l: 16 * (j // 64) * (l // 64) * (k // 16),
        lambda j,
        k,
        l,
        answer: f"{j * l // 4096} block(s) x {k // 16} phases x 8 warps x 2: {answer}.",
        (
            W(lambda j, k, l: 8 * (j // 64) * (l // 64) * (k // 16), "Two tiles."),
            W(
                lambda j, k, l: 64 * (j // 64) * (l // 64) * (k // 16),
                "That is with 4 bytes a copy.",
            ),
        ),
        unit="requests",
    ),
    Q(
        "08.bytes-of-the-kernel",
        "lab 08: bytes that travel",
        SIMULATOR,
        _SIZES,
        "Lab 08's kernel (blocks of 64 x 64) multiplies {j} x {k} by {k} x {l}. How many bytes does it copy to shared memory in all?",
        lambda j, k, l: counted("async", j=j, k=k, l=l).async_bytes,
        lambda j, k, l: 4 * (j * k * (l // 64) + k * l * (j // 64)),
        lambda j,
        k,
        l,
        answer: f"M {l // 64} time(s), N {j // 64} time(s), 4 bytes an element: {answer}.",
        (
            W(
                lambda j, k, l: 4 * (j * k + k * l),
                "Each block column loads M anew, each block row N.",
            ),
            W(lambda j, k, l: j * k * (l // 64) + k * l * (j // 64), "A float has 4 bytes."),
        ),
        unit="bytes",
    ),
    Q(
        "08.copies-by-size",
        "lab 08, question 6: 4 bytes or 16",
        SIMULATOR,
        {"bytes": (4, 8, 16), "b": (64, 128, 256)},
        "{b} threads each start one copy of {bytes} bytes. How many bytes travel?",
        lambda bytes, b: counted("copies", bytes=bytes, b=b).async_bytes,
        lambda bytes, b: bytes * b,
        "{b} * {bytes} = {answer}.",
        (
            W(lambda bytes, b: bytes * b // 32, "Every thread copies, not every warp."),
            W(lambda b: 16 * b, "The instruction says how many."),
        ),
        unit="bytes",
    ),
    Q(
        "08.requests-by-size",
        "lab 08, question 6: four times as many",
        THREADS,
        {"bytes": (4, 8, 16), "rows": (32, 64), "cols": (16, 32)},
        "A tile of {rows} x {cols} floats is copied {bytes} bytes at a time. How many cp.async of a warp does that take?",
        lambda bytes, rows, cols: len(range(0, 4 * rows * cols, 32 * bytes)),
        lambda bytes, rows, cols: rows * cols * 4 // bytes // 32,
        "{rows} * {cols} * 4 / {bytes} copies, 32 to a warp: {answer}.",
        (
            W(
                lambda bytes, rows, cols: rows * cols * 4 // bytes,
                "32 lanes copy with one instruction.",
            ),
            W(lambda bytes, rows, cols: rows * cols // bytes // 32, "A float has 4 bytes."),
        ),
        unit="requests",
    ),
    Q(
        "08.early-enough",
        "lab 08: b * C > L",
        THREADS,
        {"latency": (500, 600, 900), "cycles": (128, 256, 512), "blocks": (1, 2, 4)},
        "The data need {latency} cycles, a phase of arithmetic {cycles} cycles per block, and {blocks} block(s) share the SM. Is one phase ahead enough?",
        lambda latency, cycles, blocks: YES_NO[sum(cycles for _ in range(blocks)) <= latency],
        lambda latency, cycles, blocks: YES_NO[not blocks * cycles > latency],
        lambda latency,
        cycles,
        blocks: f"{blocks} * {cycles} = {blocks * cycles} against {latency}.",
        choices=YES_NO,
    ),
    Q(
        "08.phases-ahead",
        "lab 08: how early is early enough",
        THREADS,
        {"latency": (500, 600, 900, 1200), "cycles": (100, 128, 200, 256)},
        "The data need {latency} cycles; one block has the SM for itself and computes {cycles} cycles per phase. How many phases ahead must the copies be started?",
        lambda latency, cycles: next(p for p in range(1, 100) if p * cycles >= latency),
        lambda latency, cycles: ceil_div(latency, cycles),
        "{latency} / {cycles}, rounded up: {answer}; one stage more than that.",
        (
            W(lambda latency, cycles: latency // cycles, "Rounded down: then they come too late."),
            W(lambda: 1, "One phase does not last so long."),
        ),
    ),
    Q(
        "08.cycles-of-a-phase",
        "lab 08: 512 cycles",
        THREADS,
        {"warps": (4, 8, 16), "fma": (128, 256, 512)},
        "A phase has {fma} multiply-adds for each of {warps} warps. An SM has four schedulers, each of which starts one a cycle. How many cycles does it take at least?",
        lambda warps, fma: max(sum(fma for w in range(warps) if w % 4 == s) for s in range(4)),
        lambda warps, fma: fma * warps // 4,
        "{fma} * {warps} / 4 = {answer}.",
        (
            W(lambda fma: fma, "The warps share four schedulers."),
            W(lambda warps, fma: warps * fma, "There are four schedulers."),
        ),
        unit="cycles",
    ),
    Q(
        "08.blocks-by-stages",
        "lab 08, exercise 3: how many blocks still fit",
        OCCUPANCY,
        {"stages": (2, 3, 4), "bk": (16, 32), "device": ("h200",)},
        "An H200 has 233,472 bytes of shared memory per SM, of which each block takes 1024 more than it asks for, 65,536 registers and 2048 threads. How many blocks of 256 threads with 64 registers and {stages} stages of tiles of 64 x {bk} and {bk} x 64 floats run on an SM?",
        lambda stages, bk, device: fits(device, 64, stages * 512 * bk, 256).blocks_per_sm,
        lambda stages, bk, device: blocks_per_sm(device, 64, stages * 512 * bk, 256),
        lambda stages,
        bk,
        answer: f"By registers 4, by threads 8, by shared memory {233472 // (stages * 512 * bk + 1024)}: {answer}.",
        (
            W(lambda stages, bk: 233472 // (stages * 512 * bk + 1024), "Registers allow 4."),
            W(lambda: 8, "Registers allow 4."),
        ),
        unit="blocks",
    ),
    Q(
        "08.whose-copies",
        "lab 08: wait, then meet",
        THREADS,
        {"order": ("wait, then barrier", "barrier, then wait")},
        "Each thread does: {order}. May it then read what other threads have copied?",
        lambda order: YES_NO[not _arrived(order)],
        lambda order: YES_NO[order.startswith("barrier")],
        "A thread waits for its own copies only; at the barrier all must have waited already.",
        choices=YES_NO,
    ),
    Q(
        "08.registers-of-a-prefetch",
        "lab 08, exercise 2: prefetch into registers",
        THREADS,
        {"bm": (64, 128), "bk": (8, 16), "threads": (128, 256)},
        "The next tiles, {bm} x {bk} and {bk} x {bm} floats, are held in the registers of {threads} threads while this phase is computed. How many registers per thread?",
        lambda bm, bk, threads: len(range(0, bm * bk, threads)) + len(range(0, bk * bm, threads)),
        lambda bm, bk, threads: 2 * bm * bk // threads,
        "2 * {bm} * {bk} floats / {threads} threads: {answer}.",
        (
            W(lambda bm, bk, threads: bm * bk // threads, "Both tiles."),
            W(lambda bm, bk, threads: 8 * bm * bk // threads, "A register holds a float."),
        ),
        unit="registers",
    ),
)


def _arrived(order: str) -> bool:
    """Whether all copies are there when a thread goes on: threads do the steps one after the other."""
    there = {0: False, 1: False}
    for step in order.split(", then "):
        if step == "wait":
            there[0] = True  # thread 1 is slower: it has not waited yet
        elif there[0]:
            there[1] = True  # it could reach the barrier only after its own wait
    return all(there.values())
