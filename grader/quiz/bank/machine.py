"""Questions on the machine: SMs, warps, occupancy, transactions, the roofline."""

from __future__ import annotations

from grader.quiz.by_hand import (
    LIMITS,
    blocks_per_sm,
    ceil_div,
    half_warp_transactions,
    limits,
    occupancy,
    round_up,
)
from grader.quiz.calculator import device as fields
from grader.quiz.calculator import fits, launches
from grader.quiz.counted import counted
from grader.quiz.question import DEVICE, OCCUPANCY, SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W
from grader.study import published

_NAMES = {
    "c1060": "a Tesla C1060 (compute capability 1.3)",
    "c2050": "a Tesla C2050 (2.0)",
    "h200": "an H200 (9.0)",
}
_TWO = ("c1060", "c2050")
_ALL = ("c1060", "c2050", "h200")
_STEPS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32)


def _steps(stride: int, offset: int, lanes: int = 32) -> list[int]:
    return [4 * (offset + stride * lane) for lane in range(lanes)]


def _transactions(stride: int, offset: int) -> int:
    """Of the load alone: the store's 32 floats are two transactions of 64 bytes."""
    found = counted("global_steps", "c1060", stride=stride, offset=offset)
    return found.transactions_32 + found.transactions_64 + found.transactions_128 - 2


def _volume(stride: int, offset: int) -> int:
    found = counted("global_steps", "c1060", stride=stride, offset=offset)
    return (
        32 * found.transactions_32 + 64 * found.transactions_64 + 128 * found.transactions_128 - 128
    )


QUESTIONS = (
    Q(
        "machine.warps-of-a-block", "research chapter, 1.4: warps of a block", THREADS, {"threads": (40, 48, 90, 100, 150, 200, 250, 300)},
        "How many warps does a block of {threads} threads have?",
        lambda threads: len({thread // 32 for thread in range(threads)}), lambda threads: ceil_div(threads, 32),
        lambda threads, answer: f"{threads} / 32, rounded up: {answer}. The last warp has {threads % 32 or 32} threads.",
        (W(lambda threads: threads // 32, "Rounded down: the last threads need a warp, too."),
         W(lambda threads: ceil_div(threads, 16), "A warp has 32 threads; half warps of 16 are how old GPUs access memory.")), unit="warps"),
    Q(
        "machine.empty-lanes", "research chapter: a multiple of 32", THREADS, {"threads": (40, 48, 90, 100, 150, 200, 250, 300)},
        "How many lanes of the warps of a block of {threads} threads have no thread?",
        lambda threads: sum(1 for lane in range(32 * len({t // 32 for t in range(threads)})) if lane >= threads),
        lambda threads: -threads % 32, lambda threads, answer: f"{ceil_div(threads, 32)} warps have {32 * ceil_div(threads, 32)} lanes: {answer} too many.",
        (W(lambda threads: threads % 32, "Those are the lanes of the last warp that do have a thread."),), unit="lanes"),
    Q(
        "machine.warp-of-a-thread", "research chapter: how a block is divided into warps", THREADS,
        {"x": (8, 16, 20, 32), "y": (8, 16), "tx": tuple(range(8)), "ty": tuple(range(8))},
        "A block has {x} x {y} threads (x, y). In which warp of the block, counted from 0, is thread (tx {tx}, ty {ty})?",
        lambda x, y, tx, ty: [(a, b) for b in range(y) for a in range(x)].index((tx, ty)) // 32,
        lambda x, tx, ty: (ty * x + tx) // 32,
        lambda x, tx, ty, answer: f"Threads are numbered along x first: {ty} * {x} + {tx} = {ty * x + tx}; / 32 is {answer}.",
        (W(lambda y, tx, ty: (tx * y + ty) // 32, "x runs first, not y."), W(lambda ty: ty, "A warp is 32 threads, not a row of the block."))),
    Q(
        "machine.rounds-of-a-warp", "research chapter: 8 SPs take 4 rounds for a warp", DEVICE, {"device": _ALL, "warps": (1, 2, 8, 24)},
        lambda device, warps: f"On {_NAMES[device]} an SM has {fields(device)['fp32_lanes_per_sm']} lanes for float arithmetic."
        f" How many cycles of the whole SM do the multiply-adds of {warps} warps take, one each per thread?",
        lambda device, warps: warps * 32 / fields(device)["fp32_lanes_per_sm"],
        lambda device, warps: warps * {"c1060": 4.0, "c2050": 1.0, "h200": 0.25}[device],
        lambda device, warps, answer: f"{warps} x 32 threads / {fields(device)['fp32_lanes_per_sm']} lanes = {answer}.",
        (W(lambda warps: float(warps), "Only if an SM has 32 lanes."), W(lambda device, warps: warps / fields(device)["fp32_lanes_per_sm"], "A warp has 32 threads.")),
        unit="cycles"),
    Q(
        "machine.peak-rate", "research chapter: 622 GFLOP/s of multiply-adds", DEVICE, {"device": ("c1060", "c2050", "v100", "a100", "h200", "t4")},
        lambda device: f"A GPU has {fields(device)['sm_count']} SMs with {fields(device)['fp32_lanes_per_sm']} lanes at"
        f" {fields(device)['sm_clock_mhz']} MHz. What is its peak of multiply-adds, in GFLOP/s (two operations each)?",
        lambda device: 2 * fields(device)["sm_count"] * fields(device)["fp32_lanes_per_sm"] * fields(device)["sm_clock_mhz"] / 1000,
        lambda device: {"c1060": 240 * 2.592, "c2050": 448 * 2.3, "v100": 5120 * 3.06, "a100": 6912 * 2.82, "h200": 16896 * 3.96, "t4": 2560 * 3.18}[device],
        "SMs x lanes x clock x 2: {answer}.",
        (W(lambda device: fields(device)["sm_count"] * fields(device)["fp32_lanes_per_sm"] * fields(device)["sm_clock_mhz"] / 1000, "A multiply-add is two operations."),
         W(lambda device: 3 * fields(device)["sm_count"] * fields(device)["fp32_lanes_per_sm"] * fields(device)["sm_clock_mhz"] / 1000, "Three a cycle counts the special-function unit, which no matrix product uses.")),
        unit="GFLOP/s"),
    Q(
        "machine.balance", "arithmetic intensity; textbook: compute- or memory-bound", DEVICE,
        {"gflops": (622, 1030, 14000, 19500, 67000), "gbs": (102, 144, 900, 1555, 4800)},
        "A GPU has {gflops} GFLOP/s and {gbs} GB/s. How many operations must a kernel do for each byte from memory so that arithmetic, not memory, binds?",
        lambda gflops, gbs: gflops / gbs, lambda gflops, gbs: 1 / (gbs / gflops), "{gflops} / {gbs} = {answer} operations per byte: the ridge of the roofline.",
        (W(lambda gflops, gbs: 4 * gflops / gbs, "That is per float of 4 bytes."), W(lambda gflops, gbs: gbs / gflops, "That is bytes per operation."))),
    Q(
        "machine.roofline", "the roofline, drawn", DEVICE, {"gflops": (622, 1030, 19500, 67000), "gbs": (102, 144, 1555, 4800), "t": (1, 4, 16, 64, 128)},
        "A GPU has {gflops} GFLOP/s and {gbs} GB/s. A kernel does {t} operations for each float (4 bytes) it reads. Which rate can it reach, in GFLOP/s?",
        lambda gflops, gbs, t: float(min(gflops, gbs * t / 4)), lambda gflops, gbs, t: 1 / max(1 / gflops, 4 / (gbs * t)),
        lambda gflops, gbs, t, answer: f"Memory allows {gbs} / 4 * {t} = {gbs * t / 4:g}, arithmetic {gflops}: the smaller one, {answer}.",
        (W(lambda gflops, gbs, t: float(gbs * t), "A float has 4 bytes."), W(lambda gflops, gbs, t: gbs * t / 4, "More than the arithmetic units can do."),
         W(lambda gflops: float(gflops), "Memory does not feed that many.")), unit="GFLOP/s"),
    Q(
        "machine.least-time", "research chapter: the least time at 102 GB/s", THREADS, {"n": (1024, 2048, 4096, 8192), "coefficient": (6, 2.5, 1.5, 0.5), "gbs": (87, 102, 144)},
        "A kernel moves {coefficient} n^3 bytes from and to memory, which delivers {gbs} GB/s. What is the least time for n = {n}, in milliseconds?",
        lambda n, coefficient, gbs: coefficient * n**3 / (gbs * 1e9) * 1e3, lambda n, coefficient, gbs: coefficient * n * (n / 1000) * (n / 1000) / gbs,
        "{coefficient} * {n}^3 bytes / {gbs} GB/s = {answer} ms.",
        (W(lambda n, coefficient, gbs: 4 * coefficient * n**3 / (gbs * 1e6), "These are bytes already, not floats."),
         W(lambda n, coefficient, gbs: coefficient * n**3 / (gbs * 1e9), "That is in seconds.")), unit="ms"),
    Q(
        "machine.operations-of-a-product", "research chapter: GFLOP/s of 2n^3 - n operations", THREADS, {"n": (4, 8, 10, 16)},
        "Each element of the product of two {n} x {n} matrices needs {n} multiplications, and as many additions less one. How many operations in all?",
        lambda n: sum(n + (n - 1) for _ in range(n) for _ in range(n)), lambda n: 2 * n**3 - n**2,
        lambda n, answer: f"{n * n} elements, {2 * n - 1} operations each: {answer}. (With a sum that begins at 0 it is 2 n^3.)",
        (W(lambda n: 2 * n**3, "n terms need one addition less than there are terms."), W(lambda n: n**3, "Additions count, too.")), unit="operations"),
    Q(
        "machine.blocks-on-an-sm", "research chapter, 1.4: occupancy by hand (20 registers, 3000 bytes, 128 threads)", OCCUPANCY,
        {"device": _ALL, "threads": (64, 96, 128, 192, 256, 320), "registers": (10, 16, 20, 24, 30), "shared": (44, 900, 1024, 2092, 3000, 4204)},
        lambda device, threads, registers, shared: f"{_RULES[device]}\n\nA kernel has blocks of {threads} threads, {registers} registers per thread and {shared} bytes of shared memory. How many blocks run on one SM at a time?",
        lambda device, registers, shared, threads: fits(device, registers, shared, threads).blocks_per_sm, blocks_per_sm,
        lambda device, registers, shared, threads, answer: "By each limit: " + ", ".join(f"{name} {blocks}" for name, blocks in limits(device, registers, shared, threads).items()) + f". The least: {answer}.",
        (W(lambda device, registers, shared, threads: min(LIMITS[device][0], LIMITS[device][1] * 32 // threads, LIMITS[device][2] // (threads * registers), LIMITS[device][5] // shared), "What a block takes is rounded up to whole units before the division."),
         W(lambda device, registers, shared, threads: min(v for k, v in limits(device, registers, shared, threads).items() if k != "shared memory"), "Shared memory allows fewer."),
         W(lambda device, registers, shared, threads: min(v for k, v in limits(device, registers, shared, threads).items() if k != "registers"), "Registers allow fewer.")),
        unit="blocks"),
    Q(
        "machine.occupancy", "research chapter, 1.4: occupancy by hand", OCCUPANCY,
        {"device": _ALL, "threads": (32, 64, 96, 128, 192, 256, 320), "registers": (10, 16, 20, 24, 30, 38), "shared": (44, 1000, 2092, 3000, 4204)},
        lambda device, threads, registers, shared: f"{_RULES[device]}\n\nBlocks of {threads} threads, {registers} registers per thread, {shared} bytes of shared memory: what is the occupancy (resident warps over possible ones)?",
        lambda device, registers, shared, threads: float(fits(device, registers, shared, threads).fraction), occupancy,
        lambda device, registers, shared, threads, answer: f"{fits(device, registers, shared, threads).blocks_per_sm} blocks of {ceil_div(threads, 32)} warps, out of {LIMITS[device][1]}: {answer}.",
        (W(lambda device, registers, shared, threads: fits(device, registers, shared, threads).blocks_per_sm / LIMITS[device][0], "That is over the places for blocks; occupancy counts warps."),
         W(lambda device, threads: min(1.0, LIMITS[device][0] * ceil_div(threads, 32) / LIMITS[device][1]), "Registers or shared memory allow fewer blocks.")),
        lambda device, registers, threads: device != "c1060" or threads * registers <= 8192),
    Q(
        "machine.which-limit", "research chapter, 1.4: which resource runs out", OCCUPANCY,
        {"device": _TWO, "threads": (32, 64, 128, 192, 256), "registers": (8, 10, 16, 20, 32, 38), "shared": (44, 1000, 3000, 4204, 6000)},
        lambda device, threads, registers, shared: f"{_RULES[device]}\n\nBlocks of {threads} threads, {registers} registers per thread, {shared} bytes. Which limit keeps more blocks out?",
        lambda device, registers, shared, threads: _LIMIT[fits(device, registers, shared, threads).limiter],
        lambda device, registers, shared, threads: _LIMIT[min(limits(device, registers, shared, threads).items(), key=lambda item: item[1])[0]],
        lambda device, registers, shared, threads: "Blocks by each limit alone: " + ", ".join(f"{_LIMIT[name]} {blocks}" for name, blocks in limits(device, registers, shared, threads).items()) + ".",
        where=lambda device, registers, shared, threads: sorted(limits(device, registers, shared, threads).values())[0] < sorted(limits(device, registers, shared, threads).values())[1] and launches(device, registers, shared, threads),
        choices=("places for blocks", "places for warps", "registers", "shared memory")),
    Q(
        "machine.registers-of-a-block", "research chapter, 1.4: 96 to 128 registers, 768 against 1024", DEVICE,
        {"threads": (32, 64, 96, 160, 224), "registers": (10, 11, 16, 21, 35)},
        "On a Tesla C1060 registers are given to a block: its warps are rounded up to an even number, 32 threads each, and the registers of all of them up to a multiple of 512. How many registers does a block of {threads} threads take at {registers} per thread?",
        lambda threads, registers: round_up(round_up(ceil_div(threads, 32), fields("c1060")["warp_allocation_unit"]) * 32 * registers, fields("c1060")["register_unit"]),
        lambda threads, registers: ((threads + 63) // 64 * 64 * registers + 511) // 512 * 512,
        lambda threads, registers, answer: f"{round_up(ceil_div(threads, 32), 2)} warps x 32 x {registers} = {round_up(ceil_div(threads, 32), 2) * 32 * registers}, rounded up to {answer}.",
        (W(lambda threads, registers: threads * registers, "Nothing was rounded."), W(lambda threads, registers: round_up(ceil_div(threads, 32) * 32 * registers, 512), "The warps are rounded up to an even number first."),
         W(lambda threads, registers: round_up(ceil_div(threads, 32), 2) * 32 * registers // 512 * 512, "Rounded down: the chapter prints floors, its examples round up.")), unit="registers"),
    Q(
        "machine.warps-rounded-on-the-c1060", "research chapter, 1.4: 7 to 8 warps", DEVICE, {"threads": (32, 80, 96, 150, 200, 224, 256, 280)},
        "On a Tesla C1060 the warps of a block are rounded up to an even number before registers are counted. For how many warps does a block of {threads} threads get registers?",
        lambda threads: round_up(ceil_div(threads, 32), fields("c1060")["warp_allocation_unit"]), lambda threads: 2 * ((threads + 63) // 64),
        lambda threads, answer: f"{ceil_div(threads, 32)} warps, rounded up: {answer}.", (W(lambda threads: ceil_div(threads, 32), "The number must be even."), W(lambda threads: threads // 32, "Rounded down."),), unit="warps"),
    Q(
        "machine.shared-memory-of-a-block", "research chapter, 1.4: 900 to 1024 bytes", DEVICE, {"device": _TWO, "shared": (44, 900, 1000, 1160, 2092, 2156, 3000, 4204)},
        lambda device, shared: f"On {_NAMES[device]} shared memory is given out in units of {fields(device)['shared_unit_bytes']} bytes. How many bytes does a block with {shared} take?",
        lambda device, shared: next(taken for taken in range(0, 50000, fields(device)["shared_unit_bytes"]) if taken >= shared),
        lambda device, shared: round_up(shared, {"c1060": 512, "c2050": 128}[device]), "{shared} rounded up to whole units: {answer}.",
        (W(lambda shared: shared, "Only whole units are given out."), W(lambda device, shared: shared // fields(device)["shared_unit_bytes"] * fields(device)["shared_unit_bytes"], "Rounded down: then the block would not have what it needs.")), unit="bytes"),
    Q(
        "machine.blocks-by-warps", "research chapter, 1.4: 10 warps, 3 or 4 blocks", OCCUPANCY, {"device": _TWO, "threads": (96, 160, 192, 224, 320, 384)},
        lambda device, threads: f"On {_NAMES[device]} an SM has places for {LIMITS[device][1]} warps and {LIMITS[device][0]} blocks. How many blocks of {threads} threads run, if nothing else is short?",
        lambda device, threads: fits(device, 1, 0, threads).blocks_per_sm, lambda device, threads: min(8, LIMITS[device][1] // ceil_div(threads, 32)),
        lambda device, threads, answer: f"{LIMITS[device][1]} / {ceil_div(threads, 32)} warps, rounded down, at most 8: {answer}.",
        (W(lambda device, threads: ceil_div(LIMITS[device][1], ceil_div(threads, 32)), "Rounded up: only whole blocks run."), W(lambda device, threads: LIMITS[device][1] // ceil_div(threads, 32), "There are places for 8 blocks only.")), unit="blocks"),
    Q(
        "machine.occupancy-of-a-block-shape", "research chapter: GPU1 by block shape, 0.25, 0.50, 1.00", OCCUPANCY, {"x": (1, 8, 16, 32, 64), "y": (1, 4, 8, 16, 32, 64)},
        "GPU1 uses 10 registers and 44 bytes of shared memory. What is its occupancy on a Tesla C1060 (8 blocks, 32 warps, 16,384 registers in units of 512 per block) with blocks of ({x}, {y})?",
        lambda x, y: float(fits("c1060", 10, 44, x * y).fraction), lambda x, y: occupancy("c1060", 10, 44, x * y),
        lambda x, y, answer: f"{x * y} threads are {ceil_div(x * y, 32)} warps; {fits('c1060', 10, 44, x * y).blocks_per_sm} blocks fit: {answer}.",
        (W(lambda: 1.0, "At most 8 blocks run on an SM, however small they are."),), lambda x, y: 32 <= x * y <= 512),
    Q(
        "machine.full-occupancy", "textbook exercise: which block sizes reach full occupancy", OCCUPANCY,
        {"threads": (32, 64, 128, 256, 512, 1024), "registers": (29, 30, 32, 34, 40), "device": ("h200",)},
        "An SM has 2048 places for threads, 32 for blocks, and 65,536 registers (given to warps in units of 256). Can a kernel with {threads} threads per block and {registers} registers per thread fill all places?",
        lambda device, threads, registers: YES_NO[fits(device, registers, 0, threads).fraction < 1], lambda threads, registers: YES_NO[not (threads * 32 >= 2048 and round_up(registers, 8) <= 32)],
        lambda threads, registers: f"By places for blocks {min(32 * threads, 2048)} threads, by registers {65536 // (round_up(registers, 8) * 32) * 32}.", choices=YES_NO),
    Q(
        "machine.largest-block", "the device's limits", DEVICE, {"device": _ALL, "x": (16, 32, 64, 256), "y": (1, 8, 16, 32)},
        lambda device, x, y: f"May a block of ({x}, {y}) threads be launched on {_NAMES[device]}?", lambda device, x, y: YES_NO[x * y > fields(device)["max_threads_per_block"]],
        lambda device, x, y: YES_NO[not launches(device, 1, 0, x * y)], lambda device, x, y: f"{x * y} threads; at most {fields(device)['max_threads_per_block']}.", choices=YES_NO),
    Q(
        "machine.waves", "how blocks are given to SMs", THREADS, {"sms": (14, 30, 108, 132), "each": (1, 2, 4, 8), "blocks": (64, 256, 1000, 1024, 4096)},
        "{blocks} equally long blocks run on {sms} SMs, {each} at a time on each; an SM that has finished one gets the next. How many rounds (waves) does it take?",
        lambda sms, each, blocks: len(range(0, blocks, sms * each)), lambda sms, each, blocks: ceil_div(blocks, sms * each),
        lambda sms, each, blocks, answer: f"{sms * each} run at a time; {blocks} / {sms * each}, rounded up: {answer}.",
        (W(lambda sms, each, blocks: blocks // (sms * each), "The blocks that are left over need a round, too."), W(lambda sms, blocks: ceil_div(blocks, sms), "Each SM runs several at a time.")), unit="waves"),
    Q(
        "machine.last-wave", "how blocks are given to SMs", THREADS, {"sms": (30, 108, 132), "each": (1, 2, 4), "blocks": (256, 300, 1000, 1024)},
        "{blocks} equally long blocks run on {sms} SMs, {each} at a time on each. How many blocks run in the last wave?",
        lambda sms, each, blocks: len(list(range(blocks))[(blocks - 1) // (sms * each) * sms * each :]), lambda sms, each, blocks: (blocks - 1) % (sms * each) + 1,
        lambda sms, each, answer: f"Each full wave has {sms * each}; {answer} are left.", (W(lambda sms, each: sms * each, "The last wave is not full."),), unit="blocks"),
    Q(
        "machine.warps-to-hide", "research chapter: latencies of 400 to 600 cycles", THREADS, {"latency": (400, 440, 500, 600), "between": (10, 20, 25, 40, 50)},
        "A load takes {latency} cycles. Between two loads a warp has work for {between} cycles. How many warps, this one included, keep the SM busy all the time?",
        lambda latency, between: 1 + next(k for k in range(1000) if k * between >= latency), lambda latency, between: ceil_div(latency, between) + 1,
        lambda latency, between, answer: f"While one waits, {ceil_div(latency, between)} others work {between} cycles each: {answer} with itself.",
        (W(lambda latency, between: latency // between, "That leaves a gap, and the waiting warp itself is not counted."), W(lambda latency, between: ceil_div(latency, between), "The warp that waits comes on top.")),
        lambda latency, between: latency % between == 0 or latency // between > 1, unit="warps"),
    Q(
        "machine.divergent-warps", "divergence serialises", SIMULATOR, {"b": (64, 128, 256), "limit": (5, 16, 32, 40, 64, 100, 120)},
        "A block of {b} threads executes `if (threadIdx.x < {limit}) ...`. In how many of its warps do the lanes part?",
        lambda b, limit: counted("below", b=b, limit=limit).divergent_branches, lambda b, limit: int(limit % 32 != 0 and limit < b),
        lambda limit, answer: f"Threads below {limit} fill {limit // 32} warps" + (f" and {limit % 32} lanes of one more: {answer} diverges." if limit % 32 else ": no warp has both kinds."),
        (W(lambda b: b // 32, "Warps whose lanes all agree do not diverge."), W(lambda limit: ceil_div(limit, 32), "Those are the warps that take the branch."), W(lambda: 1, "The limit lies between two warps.")), lambda b, limit: limit < b, unit="warps"),
    Q(
        "machine.every-nth-thread", "divergence serialises", SIMULATOR, {"b": (64, 128, 256), "step": (2, 4, 8, 16, 32, 64)},
        "A block of {b} threads executes `if (threadIdx.x % {step} == 0) ...`. In how many of its warps do the lanes part?",
        lambda b, step: counted("every", b=b, step=step).divergent_branches, lambda b, step: b // max(step, 32),
        lambda b, step, answer: f"Warps with a multiple of {step} among their numbers have it as one lane of 32: {answer}.",
        (W(lambda b, step: b // step, "Those are the threads that take it."), W(lambda b: b // 32, "Warps without such a thread agree: none takes it.")), lambda b, step: step <= b, unit="warps"),
    Q(
        "machine.both-ways", "divergence serialises", THREADS, {"then": (10, 20, 40), "other": (5, 15, 30), "lanes": (0, 8, 16, 32)},
        "In a warp {lanes} lanes take a branch of {then} instructions, the others one of {other}. How many instructions does the warp execute for the two?",
        lambda then, other, lanes: sum({"then": then, "other": other}[way] for way in {"then" if lane < lanes else "other" for lane in range(32)}),
        lambda then, other, lanes: then * (lanes > 0) + other * (lanes < 32), lambda lanes, answer: ("Some take each way, and the ways are executed one after the other" if 0 < lanes < 32 else "All lanes agree: only one way is executed") + f": {answer}.",
        (W(lambda then, other: max(then, other), "The ways are not executed side by side: divergence serialises."), W(lambda then, other: then + other, "All lanes agree: the other way is skipped.")), unit="instructions"),
    Q(
        "machine.sectors-by-stride", "coalescing today: compute capability 5.0 and later", SIMULATOR, {"stride": _STEPS, "offset": (0,)},
        "Lane t of a warp loads float number {stride} * t, from an address that is a multiple of 128. How many sectors of 32 bytes does the request touch?",
        lambda stride, offset: counted("global_steps", stride=stride, offset=offset).global_load_sectors, lambda stride: min(32, 4 * stride),
        lambda stride, answer: f"The lanes span {32 * stride} floats of 4 bytes; " + ("each sector among them is touched" if stride <= 8 else "each lane has a sector of its own") + f": {answer}.",
        (W(lambda: 4, "That holds for neighbouring floats only."), W(lambda stride: 4 * stride, "A lane touches one sector: never more than 32 in all.")), unit="sectors"),
    Q(
        "machine.sectors-by-offset", "coalescing today: an address that is not aligned", SIMULATOR, {"stride": (1, 2), "offset": (0, 1, 3, 4, 8, 12, 31)},
        "Lane t of a warp loads float number {offset} + {stride} * t of an array that begins at a multiple of 128 bytes. How many sectors of 32 bytes are touched?",
        lambda stride, offset: counted("global_steps", stride=stride, offset=offset).global_load_sectors, lambda stride, offset: (offset + 31 * stride) // 8 - offset // 8 + 1,
        lambda stride, offset, answer: f"Floats {offset} to {offset + 31 * stride}, 8 to a sector: {answer}.", (W(lambda stride: 4 * stride, "The first float does not stand at the beginning of a sector: one more is touched."),), unit="sectors"),
    Q(
        "machine.transactions-by-stride", "compute capability 1.3; research chapter, derivations", SIMULATOR, {"stride": _STEPS, "offset": (0,)},
        "Compute capability 1.3: half warps, segments of 128 bytes shrunk to 64 or 32 where only a part is used. Lane t of a warp loads float number {stride} * t. How many transactions do both half warps make?",
        _transactions, lambda stride: len(half_warp_transactions(_steps(stride, 0))),
        lambda stride, answer: f"Half a warp spans {64 * stride} bytes: {answer} in all.", (W(lambda: 1, "A half warp is served at a time."), W(lambda stride: min(32, 4 * stride), "Those are sectors of today's GPUs.")), unit="transactions"),
    Q(
        "machine.volume-by-stride", "compute capability 1.3; research chapter, volumes", SIMULATOR, {"stride": _STEPS, "offset": (0, 1)},
        "Compute capability 1.3. Lane t of a warp loads float number {offset} + {stride} * t. How many bytes do its transactions move?",
        _volume, lambda stride, offset: sum(half_warp_transactions(_steps(stride, offset))),
        lambda stride, offset, answer: "Transactions of " + ", ".join(str(x) for x in half_warp_transactions(_steps(stride, offset))[:4]) + (" ..." if len(half_warp_transactions(_steps(stride, offset))) > 4 else "") + f" bytes: {answer}.",
        (W(lambda: 128, "Those are the bytes that are used."), W(lambda stride, offset: 128 * len(half_warp_transactions(_steps(stride, offset))), "A transaction shrinks to 64 or 32 bytes where only a part is wanted.")), unit="bytes"),
    Q(
        "machine.lines-by-stride", "compute capability 2.0: distinct lines of 128 bytes", SIMULATOR, {"stride": _STEPS, "offset": (0, 1)},
        "Compute capability 2.0: one transaction for each distinct line of 128 bytes of a warp. Lane t loads float number {offset} + {stride} * t. How many?",
        lambda stride, offset: counted("global_steps", "c2050", stride=stride, offset=offset).transactions_128 - 1, lambda stride, offset: (4 * (offset + 31 * stride)) // 128 - 4 * offset // 128 + 1 if stride <= 32 else 32,
        lambda stride, offset, answer: f"Bytes {4 * offset} to {4 * (offset + 31 * stride) + 3} lie in {answer} lines.", (W(lambda stride: stride, "The first float does not stand at the beginning of a line: one more."), W(lambda: 32, "Neighbouring lanes share lines.")), unit="transactions"),
    Q(
        "machine.least-utilisation", "research chapter: the least utilisation of a transaction", THREADS, {"segment": (32, 64, 128), "size": (2, 4, 8)},
        "A transaction moves {segment} bytes, of which one lane uses {size}. What share of the bytes is useful?",
        lambda segment, size: sum(1 for byte in range(segment) if byte < size) / segment, lambda segment, size: 1 / (segment // size), "{size} / {segment} = {answer}.",
        (W(lambda segment, size: size * 16 / segment if size * 16 < segment else None, "One lane uses it, not sixteen."), W(lambda segment, size: 1 - size / segment, "That share is wasted."))),
    Q(
        "machine.volume-of-a-kernel", "research chapter: volumes of GPU1 to GPU4", SIMULATOR, {"kernel": ("naive", "tiled"), "n": (64, 128)},
        lambda kernel, n: f"Compute capability 1.3. The {kernel} kernel with blocks of 16 x 16 multiplies {n} x {n} matrices. How many bytes do all transactions move, P included?",
        lambda kernel, n: counted("naive", "c1060", n=n, x=16, y=16).volume_bytes if kernel == "naive" else counted("tiled", "c1060", n=n, t=16).volume_bytes,
        lambda kernel, n: (6 * n**3 if kernel == "naive" else n**3 // 2) + 4 * n**2,
        lambda kernel, n, answer: ("Per step and half warp 32 bytes of M (one word is used) and 64 of N: 6 n^3" if kernel == "naive" else "Each tile of 1024 bytes comes whole: 0.5 n^3") + f"; and 4 n^2 for P: {answer}.",
        (W(lambda kernel, n: 6 * n**3 if kernel == "naive" else n**3 // 2, "P is written, too: 4 n^2 bytes."), W(lambda kernel, n: (n**3 // 4 * 17 if kernel == "naive" else n**3 // 4) + 4 * n**2, "A word of M costs a transaction of at least 32 bytes.")), unit="bytes"),
    Q(
        "machine.volume-by-block-shape", "research chapter: GPU1 by block shape", SIMULATOR, {"n": (64,), "x": (1, 8, 16, 32, 64), "y": (1, 8, 32, 64)},
        "Compute capability 1.3. GPU1 (naive) with blocks of ({x}, {y}) multiplies {n} x {n} matrices. How many transactions does it make in all?",
        lambda n, x, y: counted("naive", "c1060", n=n, x=x, y=y).transactions_32 + counted("naive", "c1060", n=n, x=x, y=y).transactions_64,
        lambda n, x: {1: 17 * n**3 // 16 + n**2, 8: 3 * n**3 // 16 + n**2 // 8}.get(x, n**3 // 8 + n**2 // 16),
        lambda x, answer: f"A half warp is {16 // min(x, 16)} row(s) of {min(x, 16)} lanes: as many transactions for M and for P, and for N " + ("one of the same word" if x == 1 else "one") + f". In all {answer}.",
        (W(lambda n: n**3 // 8 + n**2 // 16, "That holds for rows of at least 16 lanes."), W(lambda n, x: n**3 // 8 if x >= 16 else None, "P is written, too.")), lambda x, y: 32 <= x * y <= 512 and (x > 1 or y >= 32), unit="transactions"),
    Q(
        "machine.average-utilisation", "research chapter: GPU2 and GPU3, average bandwidth utilisation", SIMULATOR, {"kernel": ("naive", "gpu2", "gpu3", "tiled"), "n": (64,)},
        lambda kernel, n: f"Compute capability 1.3. {_ABU[kernel]} What is the mean, over all transactions of loads, of the share of bytes that are used?",
        lambda kernel, n: float(counted(kernel, "c1060", n=n, **_SHAPE[kernel]).abu), lambda kernel: {"naive": (1 / 8 + 1) / 2, "gpu2": (0.5 * 2 + 1 * 4) / 6, "gpu3": (0.5 * 4 + 1 * 4) / 8, "tiled": 1.0}[kernel],
        lambda kernel, answer: {"naive": "A transaction of 32 bytes for M uses 4, one of 64 for N all.", "gpu2": "Two rows of M cost 32 bytes each of which 16 are used; four rows of N 64 bytes each, all used.",
        "gpu3": "Four rows of M cost 32 bytes each of which 16 are used; four rows of N 64 bytes each, all used.", "tiled": "Sixteen lanes read sixteen neighbouring words of M, and of N."}[kernel] + f" The mean: {answer}.",
        (W(lambda kernel: {"naive": 36 * 2 / 192, "gpu2": (32 + 256) / 320, "gpu3": (64 + 256) / 384}.get(kernel), "That is useful bytes over all bytes; the study takes the mean over transactions."),), unit=""),
    Q(
        "machine.efficiency", "research chapter: GFLOP/s and efficiency, 622 or 933", DEVICE, {"kernel": ("GPU4", "GPU5", "GPU6", "GPU8", "sgemm"), "n": (4096, 8192, 16384), "peak": (622, 933)},
        lambda kernel, n, peak: f"{kernel} took {_seconds(kernel, n)} s for n = {n} on a GPU of {peak} GFLOP/s. With 2 n^3 operations, what share of the peak is that?",
        lambda kernel, n, peak: 2 * n**3 / _seconds(kernel, n) / (peak * 1e9), lambda kernel, n, peak: (n / 1000) ** 3 / (_seconds(kernel, n) * peak / 2), "2 n^3 operations / time / peak = {answer}.",
        (W(lambda kernel, n, peak: n**3 / _seconds(kernel, n) / (peak * 1e9), "A multiply-add is two operations."),)),
    Q(
        "machine.speedup", "research chapter: speedups and their baseline", DEVICE, {"kernel": ("GPU1", "GPU4", "GPU6", "GPU8"), "baseline": ("ijk", "ikj", "omp")},
        lambda kernel, baseline: f"For n = 4096 {kernel} took {_seconds(kernel, 4096)} s, {_CPU[baseline][0]} {_CPU[baseline][1]} s. What is the speedup?",
        lambda kernel, baseline: _CPU[baseline][1] / _seconds(kernel, 4096), lambda kernel, baseline: 1 / (_seconds(kernel, 4096) / _CPU[baseline][1]), "Time of the baseline over time of the kernel: {answer}. Always say which baseline.",
        (W(lambda kernel, baseline: _seconds(kernel, 4096) / _CPU[baseline][1], "The other way round."),)),
    Q(
        "machine.where-it-lives", "textbook: declarations, memories, scope, lifetime", THREADS, {"what": ("float sum;", "float part[4]; part[i] = 1;", "__shared__ float tile[64];", "__device__ float table[64];", "__constant__ float table[64];")},
        "`{what}` (i is known only at run time). In which memory does it live?", lambda what: _memory(what)[0], lambda what: dict(zip(_DECLARED, ("register", "local", "shared", "global", "constant"), strict=True))[what],
        lambda what, answer: f"{answer} memory; visible to {_memory(what)[1]}.".replace("register memory", "a register").capitalize(),
        (W(lambda what: "register" if "part" in what else "shared" if "sum" in what else "global", "The qualifier says it; an array with an index that varies cannot be in registers."),), choices=("register", "local", "shared", "global", "constant")),
    Q(
        "machine.who-sees-it", "textbook: declarations, memories, scope, lifetime", THREADS, {"what": ("float sum;", "float part[4]; part[i] = 1;", "__shared__ float tile[64];", "__device__ float table[64];", "__constant__ float table[64];")},
        "Who can see `{what}`?", lambda what: _memory(what)[1], lambda what: dict(zip(_DECLARED, ("one thread", "one thread", "the threads of one block", "all threads of all kernels", "all threads of all kernels"), strict=True))[what],
        lambda what: f"It lives in {_memory(what)[0]} memory.".replace("register memory", "a register"),
        (W(lambda what: "the threads of one block" if "shared" not in what else "one thread", "Only __shared__ belongs to the block."),), choices=("one thread", "the threads of one block", "all threads of all kernels")),
    Q(
        "machine.constant-words", "constant memory: a broadcast or one word after the other", SIMULATOR, {"words": (1, 2, 4, 8, 16, 32)},
        "Constant memory serves one word at a time, to as many lanes as want it. Lane t reads `table[t % {words}]`. How many words does the request take?",
        lambda words: counted("constants", words=words).constant_load_words, lambda words: len({t % words for t in range(32)}), "{words} different words are wanted: {answer}.", (W(lambda words: 32 // words, "Count different words, not lanes per word."), W(lambda: 1 , "Only if all lanes want the same one."),), unit="words"),
    Q(
        "machine.atomics-that-meet", "reduction exercise: atomics", SIMULATOR, {"bins": (1, 2, 4, 8, 16, 32), "b": (32, 64, 128)},
        "{b} threads add to counter number threadIdx.x % {bins} with atomicAdd. How many different addresses does one request of a warp touch?",
        lambda bins, b: counted("histogram", bins=bins, b=b).atomic_addresses * 32 // b, lambda bins: bins, lambda bins, answer: f"The 32 lanes meet at {answer} addresses, {32 // bins} at each, and wait for each other there.", (W(lambda bins: 32 // bins, "That many lanes meet at each."), W(lambda: 32, "Lanes with the same remainder share an address."))),
)  # fmt: skip

_RULES = {
    "c1060": "Compute capability 1.3: per SM 8 blocks, 32 warps, 16,384 registers (per block, in units of 512; its warps rounded up to an even number), 16,384 bytes of shared memory (in units of 512).",
    "c2050": "Compute capability 2.0: per SM 8 blocks, 48 warps, 32,768 registers (per warp, in units of 64), 49,152 bytes of shared memory (in units of 128).",
    "h200": "An H200: per SM 32 blocks, 64 warps, 65,536 registers (per warp, in units of 256; warps in fours), 233,472 bytes of shared memory (in units of 128; every block takes 1024 more than it asks for).",
}
_LIMIT = {
    "blocks": "places for blocks",
    "threads": "places for warps",
    "registers": "registers",
    "shared memory": "shared memory",
}
_CPU = {
    "ijk": ("one core with loops in the order ijk", published.BASELINE_SECONDS["ijk"][4096]),
    "ikj": ("one core with loops in the order ikj", published.BASELINE_SECONDS["ikj"][4096]),
    "omp": ("four cores with loops in the order ikj", published.BASELINE_SECONDS["ikj-openmp"][4096]),
}  # fmt: skip
_ABU = {
    "naive": "The naive kernel has blocks of (16, 16).", "gpu2": "GPU2, blocks of (8, 8): a thread reads M as float4 and N as float2, two columns.",
    "gpu3": "GPU3, blocks of (4, 16): a thread reads M and N as float4, four columns.", "tiled": "A tiled kernel has blocks of (16, 16).",
}  # fmt: skip
_SHAPE = {
    "naive": {"x": 16, "y": 16},
    "gpu2": {"x": 8, "y": 8},
    "gpu3": {"x": 4, "y": 16},
    "tiled": {"t": 16},
}
_DECLARED = (
    "float sum;",
    "float part[4]; part[i] = 1;",
    "__shared__ float tile[64];",
    "__device__ float table[64];",
    "__constant__ float table[64];",
)


def _seconds(kernel: str, n: int) -> float:
    """As printed in the study."""
    return published.KERNELS[kernel].seconds[n]


def _memory(declaration: str) -> tuple[str, str]:
    """Where a declaration lives and who sees it, by its qualifier."""
    for word, place in {
        "__shared__": ("shared", "the threads of one block"),
        "__device__": ("global", "all threads of all kernels"),
        "__constant__": ("constant", "all threads of all kernels"),
    }.items():
        if declaration.startswith(word):
            return place
    return "local" if "[i]" in declaration else "register", "one thread"
