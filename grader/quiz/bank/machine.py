"""Questions on the machine: warps, rates, the roofline, divergence."""

from __future__ import annotations

from grader.quiz.by_hand import (
    ceil_div,
)
from grader.quiz.calculator import device as fields
from grader.quiz.counted import counted
from grader.quiz.question import DEVICE, SIMULATOR, THREADS
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W
from grader.study import published

_NAMES = {
    "c1060": "a Tesla C1060 (compute capability 1.3)",
    "c2050": "a Tesla C2050 (2.0)",
    "h200": "an H200 (9.0)",
}
_ALL = ("c1060", "c2050", "h200")
_CPU = {
    "ijk": ("one core with loops in the order ijk", published.BASELINE_SECONDS["ijk"][4096]),
    "ikj": ("one core with loops in the order ikj", published.BASELINE_SECONDS["ikj"][4096]),
    "omp": ("four cores with loops in the order ikj", published.BASELINE_SECONDS["ikj-openmp"][4096]),
}  # fmt: skip


def _seconds(kernel: str, n: int) -> float:
    """As printed in the study."""
    return published.KERNELS[kernel].seconds[n]


QUESTIONS = (
    Q(
        "machine.warps-of-a-block",
        "research chapter, 1.4: warps of a block",
        THREADS,
        {"threads": (40, 48, 90, 100, 150, 200, 250, 300)},
        "How many warps does a block of {threads} threads have?",
        lambda threads: len({thread // 32 for thread in range(threads)}),
        lambda threads: ceil_div(threads, 32),
        lambda threads,
        answer: f"{threads} / 32, rounded up: {answer}. The last warp has {threads % 32 or 32} threads.",
        (
            W(lambda threads: threads // 32, "Rounded down: the last threads need a warp, too."),
            W(
                lambda threads: ceil_div(threads, 16),
                "A warp has 32 threads; half warps of 16 are how old GPUs access memory.",
            ),
        ),
        unit="warps",
    ),
    Q(
        "machine.empty-lanes",
        "research chapter: a multiple of 32",
        THREADS,
        {"threads": (40, 48, 90, 100, 150, 200, 250, 300)},
        "How many lanes of the warps of a block of {threads} threads have no thread?",
        lambda threads: sum(
            1 for lane in range(32 * len({t // 32 for t in range(threads)})) if lane >= threads
        ),
        lambda threads: -threads % 32,
        lambda threads,
        answer: f"{ceil_div(threads, 32)} warps have {32 * ceil_div(threads, 32)} lanes: {answer} too many.",
        (
            W(
                lambda threads: threads % 32,
                "Those are the lanes of the last warp that do have a thread.",
            ),
        ),
        unit="lanes",
    ),
    Q(
        "machine.warp-of-a-thread",
        "research chapter: how a block is divided into warps",
        THREADS,
        {"x": (8, 16, 20, 32), "y": (8, 16), "tx": tuple(range(8)), "ty": tuple(range(8))},
        "A block has {x} x {y} threads (x, y). In which warp of the block, counted from 0, is thread (tx {tx}, ty {ty})?",
        lambda x, y, tx, ty: [(a, b) for b in range(y) for a in range(x)].index((tx, ty)) // 32,
        lambda x, tx, ty: (ty * x + tx) // 32,
        lambda x,
        tx,
        ty,
        answer: f"Threads are numbered along x first: {ty} * {x} + {tx} = {ty * x + tx}; / 32 is {answer}.",
        (
            W(lambda y, tx, ty: (tx * y + ty) // 32, "x runs first, not y."),
            W(lambda ty: ty, "A warp is 32 threads, not a row of the block."),
        ),
    ),
    Q(
        "machine.rounds-of-a-warp",
        "research chapter: 8 SPs take 4 rounds for a warp",
        DEVICE,
        {"device": _ALL, "warps": (1, 2, 8, 24)},
        lambda device,
        warps: f"On {_NAMES[device]} an SM has {fields(device)['fp32_lanes_per_sm']} lanes for float arithmetic."
        f" How many cycles of the whole SM do the multiply-adds of {warps} warps take, one each per thread?",
        lambda device, warps: warps * 32 / fields(device)["fp32_lanes_per_sm"],
        lambda device, warps: warps * {"c1060": 4.0, "c2050": 1.0, "h200": 0.25}[device],
        lambda device,
        warps,
        answer: f"{warps} x 32 threads / {fields(device)['fp32_lanes_per_sm']} lanes = {answer}.",
        (
            W(lambda warps: float(warps), "Only if an SM has 32 lanes."),
            W(
                lambda device, warps: warps / fields(device)["fp32_lanes_per_sm"],
                "A warp has 32 threads.",
            ),
        ),
        unit="cycles",
    ),
    Q(
        "machine.peak-rate",
        "research chapter: 622 GFLOP/s of multiply-adds",
        DEVICE,
        {"device": ("c1060", "c2050", "v100", "a100", "h200", "t4")},
        lambda device: f"A GPU has {fields(device)['sm_count']} SMs with {fields(device)['fp32_lanes_per_sm']} lanes at"
        f" {fields(device)['sm_clock_mhz']} MHz. What is its peak of multiply-adds, in GFLOP/s (two operations each)?",
        lambda device: 2
        * fields(device)["sm_count"]
        * fields(device)["fp32_lanes_per_sm"]
        * fields(device)["sm_clock_mhz"]
        / 1000,
        lambda device: {
            "c1060": 240 * 2.592,
            "c2050": 448 * 2.3,
            "v100": 5120 * 3.06,
            "a100": 6912 * 2.82,
            "h200": 16896 * 3.96,
            "t4": 2560 * 3.18,
        }[device],
        "SMs x lanes x clock x 2: {answer}.",
        (
            W(
                lambda device: fields(device)["sm_count"]
                * fields(device)["fp32_lanes_per_sm"]
                * fields(device)["sm_clock_mhz"]
                / 1000,
                "A multiply-add is two operations.",
            ),
            W(
                lambda device: 3
                * fields(device)["sm_count"]
                * fields(device)["fp32_lanes_per_sm"]
                * fields(device)["sm_clock_mhz"]
                / 1000,
                "Three a cycle counts the special-function unit, which no matrix product uses.",
            ),
        ),
        unit="GFLOP/s",
    ),
    Q(
        "machine.balance",
        "arithmetic intensity; textbook: compute- or memory-bound",
        DEVICE,
        {"gflops": (622, 1030, 14000, 19500, 67000), "gbs": (102, 144, 900, 1555, 4800)},
        "A GPU has {gflops} GFLOP/s and {gbs} GB/s. How many operations must a kernel do for each byte from memory so that arithmetic, not memory, binds?",
        lambda gflops, gbs: gflops / gbs,
        lambda gflops, gbs: 1 / (gbs / gflops),
        "{gflops} / {gbs} = {answer} operations per byte: the ridge of the roofline.",
        (
            W(lambda gflops, gbs: 4 * gflops / gbs, "That is per float of 4 bytes."),
            W(lambda gflops, gbs: gbs / gflops, "That is bytes per operation."),
        ),
    ),
    Q(
        "machine.roofline",
        "the roofline, drawn",
        DEVICE,
        {
            "gflops": (622, 1030, 19500, 67000),
            "gbs": (102, 144, 1555, 4800),
            "t": (1, 4, 16, 64, 128),
        },
        "A GPU has {gflops} GFLOP/s and {gbs} GB/s. A kernel does {t} operations for each float (4 bytes) it reads. Which rate can it reach, in GFLOP/s?",
        lambda gflops, gbs, t: float(min(gflops, gbs * t / 4)),
        lambda gflops, gbs, t: 1 / max(1 / gflops, 4 / (gbs * t)),
        lambda gflops,
        gbs,
        t,
        answer: f"Memory allows {gbs} / 4 * {t} = {gbs * t / 4:g}, arithmetic {gflops}: the smaller one, {answer}.",
        (
            W(lambda gflops, gbs, t: float(gbs * t), "A float has 4 bytes."),
            W(lambda gflops, gbs, t: gbs * t / 4, "More than the arithmetic units can do."),
            W(lambda gflops: float(gflops), "Memory does not feed that many."),
        ),
        unit="GFLOP/s",
    ),
    Q(
        "machine.least-time",
        "research chapter: the least time at 102 GB/s",
        THREADS,
        {"n": (1024, 2048, 4096, 8192), "coefficient": (6, 2.5, 1.5, 0.5), "gbs": (87, 102, 144)},
        "A kernel moves {coefficient} n^3 bytes from and to memory, which delivers {gbs} GB/s. What is the least time for n = {n}, in milliseconds?",
        lambda n, coefficient, gbs: coefficient * n**3 / (gbs * 1e9) * 1e3,
        lambda n, coefficient, gbs: coefficient * n * (n / 1000) * (n / 1000) / gbs,
        "{coefficient} * {n}^3 bytes / {gbs} GB/s = {answer} ms.",
        (
            W(
                lambda n, coefficient, gbs: 4 * coefficient * n**3 / (gbs * 1e6),
                "These are bytes already, not floats.",
            ),
            W(lambda n, coefficient, gbs: coefficient * n**3 / (gbs * 1e9), "That is in seconds."),
        ),
        unit="ms",
    ),
    Q(
        "machine.operations-of-a-product",
        "research chapter: GFLOP/s of 2n^3 - n operations",
        THREADS,
        {"n": (4, 8, 10, 16)},
        "Each element of the product of two {n} x {n} matrices needs {n} multiplications, and as many additions less one. How many operations in all?",
        lambda n: sum(n + (n - 1) for _ in range(n) for _ in range(n)),
        lambda n: 2 * n**3 - n**2,
        lambda n,
        answer: f"{n * n} elements, {2 * n - 1} operations each: {answer}. (With a sum that begins at 0 it is 2 n^3.)",
        (
            W(lambda n: 2 * n**3, "n terms need one addition less than there are terms."),
            W(lambda n: n**3, "Additions count, too."),
        ),
        unit="operations",
    ),
    Q(
        "machine.warps-to-hide",
        "research chapter: latencies of 400 to 600 cycles",
        THREADS,
        {"latency": (400, 440, 500, 600), "between": (10, 20, 25, 40, 50)},
        "A load takes {latency} cycles. Between two loads a warp has work for {between} cycles. How many warps, this one included, keep the SM busy all the time?",
        lambda latency, between: 1 + next(k for k in range(1000) if k * between >= latency),
        lambda latency, between: ceil_div(latency, between) + 1,
        lambda latency,
        between,
        answer: f"While one waits, {ceil_div(latency, between)} others work {between} cycles each: {answer} with itself.",
        (
            W(
                lambda latency, between: latency // between,
                "That leaves a gap, and the waiting warp itself is not counted.",
            ),
            W(
                lambda latency, between: ceil_div(latency, between),
                "The warp that waits comes on top.",
            ),
        ),
        lambda latency, between: latency % between == 0 or latency // between > 1,
        unit="warps",
    ),
    Q(
        "machine.divergent-warps",
        "divergence serialises",
        SIMULATOR,
        {"b": (64, 128, 256), "limit": (5, 16, 32, 40, 64, 100, 120)},
        "A block of {b} threads executes `if (threadIdx.x < {limit}) ...`. In how many of its warps do the lanes part?",
        lambda b, limit: counted("below", b=b, limit=limit).divergent_branches,
        lambda b, limit: int(limit % 32 != 0 and limit < b),
        lambda limit, answer: f"Threads below {limit} fill {limit // 32} warps"
        + (
            f" and {limit % 32} lanes of one more: {answer} diverges."
            if limit % 32
            else ": no warp has both kinds."
        ),
        (
            W(lambda b: b // 32, "Warps whose lanes all agree do not diverge."),
            W(lambda limit: ceil_div(limit, 32), "Those are the warps that take the branch."),
            W(lambda: 1, "The limit lies between two warps."),
        ),
        lambda b, limit: limit < b,
        unit="warps",
    ),
    Q(
        "machine.every-nth-thread",
        "divergence serialises",
        SIMULATOR,
        {"b": (64, 128, 256), "step": (2, 4, 8, 16, 32, 64)},
        "A block of {b} threads executes `if (threadIdx.x % {step} == 0) ...`. In how many of its warps do the lanes part?",
        lambda b, step: counted("every", b=b, step=step).divergent_branches,
        lambda b, step: b // max(step, 32),
        lambda b,
        step,
        answer: f"Warps with a multiple of {step} among their numbers have it as one lane of 32: {answer}.",
        (
            W(lambda b, step: b // step, "Those are the threads that take it."),
            W(lambda b: b // 32, "Warps without such a thread agree: none takes it."),
        ),
        lambda b, step: step <= b,
        unit="warps",
    ),
    Q(
        "machine.both-ways",
        "divergence serialises",
        THREADS,
        {"then": (10, 20, 40), "other": (5, 15, 30), "lanes": (0, 8, 16, 32)},
        "In a warp {lanes} lanes take a branch of {then} instructions, the others one of {other}. How many instructions does the warp execute for the two?",
        lambda then, other, lanes: sum(
            {"then": then, "other": other}[way]
            for way in {"then" if lane < lanes else "other" for lane in range(32)}
        ),
        lambda then, other, lanes: then * (lanes > 0) + other * (lanes < 32),
        lambda lanes, answer: (
            "Some take each way, and the ways are executed one after the other"
            if 0 < lanes < 32
            else "All lanes agree: only one way is executed"
        )
        + f": {answer}.",
        (
            W(
                lambda then, other: max(then, other),
                "The ways are not executed side by side: divergence serialises.",
            ),
            W(lambda then, other: then + other, "All lanes agree: the other way is skipped."),
        ),
        unit="instructions",
    ),
    Q(
        "machine.efficiency",
        "research chapter: GFLOP/s and efficiency, 622 or 933",
        DEVICE,
        {
            "kernel": ("GPU4", "GPU5", "GPU6", "GPU8", "sgemm"),
            "n": (4096, 8192, 16384),
            "peak": (622, 933),
        },
        lambda kernel,
        n,
        peak: f"{kernel} took {_seconds(kernel, n)} s for n = {n} on a GPU of {peak} GFLOP/s. With 2 n^3 operations, what share of the peak is that?",
        lambda kernel, n, peak: 2 * n**3 / _seconds(kernel, n) / (peak * 1e9),
        lambda kernel, n, peak: (n / 1000) ** 3 / (_seconds(kernel, n) * peak / 2),
        "2 n^3 operations / time / peak = {answer}.",
        (
            W(
                lambda kernel, n, peak: n**3 / _seconds(kernel, n) / (peak * 1e9),
                "A multiply-add is two operations.",
            ),
        ),
    ),
    Q(
        "machine.speedup",
        "research chapter: speedups and their baseline",
        DEVICE,
        {"kernel": ("GPU1", "GPU4", "GPU6", "GPU8"), "baseline": ("ijk", "ikj", "omp")},
        lambda kernel,
        baseline: f"For n = 4096 {kernel} took {_seconds(kernel, 4096)} s, {_CPU[baseline][0]} {_CPU[baseline][1]} s. What is the speedup?",
        lambda kernel, baseline: _CPU[baseline][1] / _seconds(kernel, 4096),
        lambda kernel, baseline: 1 / (_seconds(kernel, 4096) / _CPU[baseline][1]),
        "Time of the baseline over time of the kernel: {answer}. Always say which baseline.",
        (
            W(
                lambda kernel, baseline: _seconds(kernel, 4096) / _CPU[baseline][1],
                "The other way round.",
            ),
        ),
    ),
)
