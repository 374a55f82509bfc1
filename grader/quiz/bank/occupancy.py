"""Questions on occupancy: how many blocks fit an SM, and how they are given out."""

from __future__ import annotations

from grader.quiz.by_hand import (
    LIMITS,
    blocks_per_sm,
    ceil_div,
    limits,
    occupancy,
    round_up,
)
from grader.quiz.calculator import device as fields
from grader.quiz.calculator import fits, launches
from grader.quiz.question import DEVICE, OCCUPANCY, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_NAMES = {
    "c1060": "a Tesla C1060 (compute capability 1.3)",
    "c2050": "a Tesla C2050 (2.0)",
    "h200": "an H200 (9.0)",
}
_TWO = ("c1060", "c2050")
_ALL = ("c1060", "c2050", "h200")
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

QUESTIONS = (
    Q(
        "machine.blocks-on-an-sm",
        "research chapter, 1.4: occupancy by hand (20 registers, 3000 bytes, 128 threads)",
        OCCUPANCY,
        {
            "device": _ALL,
            "threads": (64, 96, 128, 192, 256, 320),
            "registers": (10, 16, 20, 24, 30),
            "shared": (44, 900, 1024, 2092, 3000, 4204),
        },
        lambda device,
        threads,
        registers,
        shared: f"{_RULES[device]}\n\nA kernel has blocks of {threads} threads, {registers} registers per thread and {shared} bytes of shared memory. How many blocks run on one SM at a time?",
        lambda device, registers, shared, threads: fits(
            device, registers, shared, threads
        ).blocks_per_sm,
        blocks_per_sm,
        lambda device, registers, shared, threads, answer: "By each limit: "
        + ", ".join(
            f"{name} {blocks}"
            for name, blocks in limits(device, registers, shared, threads).items()
        )
        + f". The least: {answer}.",
        (
            W(
                lambda device, registers, shared, threads: min(
                    LIMITS[device][0],
                    LIMITS[device][1] * 32 // threads,
                    LIMITS[device][2] // (threads * registers),
                    LIMITS[device][5] // shared,
                ),
                "What a block takes is rounded up to whole units before the division.",
            ),
            W(
                lambda device, registers, shared, threads: min(
                    v
                    for k, v in limits(device, registers, shared, threads).items()
                    if k != "shared memory"
                ),
                "Shared memory allows fewer.",
            ),
            W(
                lambda device, registers, shared, threads: min(
                    v
                    for k, v in limits(device, registers, shared, threads).items()
                    if k != "registers"
                ),
                "Registers allow fewer.",
            ),
        ),
        unit="blocks",
    ),
    Q(
        "machine.occupancy",
        "research chapter, 1.4: occupancy by hand",
        OCCUPANCY,
        {
            "device": _ALL,
            "threads": (32, 64, 96, 128, 192, 256, 320),
            "registers": (10, 16, 20, 24, 30, 38),
            "shared": (44, 1000, 2092, 3000, 4204),
        },
        lambda device,
        threads,
        registers,
        shared: f"{_RULES[device]}\n\nBlocks of {threads} threads, {registers} registers per thread, {shared} bytes of shared memory: what is the occupancy (resident warps over possible ones)?",
        lambda device, registers, shared, threads: float(
            fits(device, registers, shared, threads).fraction
        ),
        occupancy,
        lambda device,
        registers,
        shared,
        threads,
        answer: f"{fits(device, registers, shared, threads).blocks_per_sm} blocks of {ceil_div(threads, 32)} warps, out of {LIMITS[device][1]}: {answer}.",
        (
            W(
                lambda device, registers, shared, threads: fits(
                    device, registers, shared, threads
                ).blocks_per_sm
                / LIMITS[device][0],
                "That is over the places for blocks; occupancy counts warps.",
            ),
            W(
                lambda device, threads: min(
                    1.0, LIMITS[device][0] * ceil_div(threads, 32) / LIMITS[device][1]
                ),
                "Registers or shared memory allow fewer blocks.",
            ),
        ),
        lambda device, registers, threads: device != "c1060" or threads * registers <= 8192,
    ),
    Q(
        "machine.which-limit",
        "research chapter, 1.4: which resource runs out",
        OCCUPANCY,
        {
            "device": _TWO,
            "threads": (32, 64, 128, 192, 256),
            "registers": (8, 10, 16, 20, 32, 38),
            "shared": (44, 1000, 3000, 4204, 6000),
        },
        lambda device,
        threads,
        registers,
        shared: f"{_RULES[device]}\n\nBlocks of {threads} threads, {registers} registers per thread, {shared} bytes. Which limit keeps more blocks out?",
        lambda device, registers, shared, threads: _LIMIT[
            fits(device, registers, shared, threads).limiter
        ],
        lambda device, registers, shared, threads: _LIMIT[
            min(limits(device, registers, shared, threads).items(), key=lambda item: item[1])[0]
        ],
        lambda device, registers, shared, threads: "Blocks by each limit alone: "
        + ", ".join(
            f"{_LIMIT[name]} {blocks}"
            for name, blocks in limits(device, registers, shared, threads).items()
        )
        + ".",
        where=lambda device, registers, shared, threads: sorted(
            limits(device, registers, shared, threads).values()
        )[0]
        < sorted(limits(device, registers, shared, threads).values())[1]
        and launches(device, registers, shared, threads),
        choices=("places for blocks", "places for warps", "registers", "shared memory"),
    ),
    Q(
        "machine.registers-of-a-block",
        "research chapter, 1.4: 96 to 128 registers, 768 against 1024",
        DEVICE,
        {"threads": (32, 64, 96, 160, 224), "registers": (10, 11, 16, 21, 35)},
        "On a Tesla C1060 registers are given to a block: its warps are rounded up to an even number, 32 threads each, and the registers of all of them up to a multiple of 512. How many registers does a block of {threads} threads take at {registers} per thread?",
        lambda threads, registers: round_up(
            round_up(ceil_div(threads, 32), fields("c1060")["warp_allocation_unit"])
            * 32
            * registers,
            fields("c1060")["register_unit"],
        ),
        lambda threads, registers: ((threads + 63) // 64 * 64 * registers + 511) // 512 * 512,
        lambda threads,
        registers,
        answer: f"{round_up(ceil_div(threads, 32), 2)} warps x 32 x {registers} = {round_up(ceil_div(threads, 32), 2) * 32 * registers}, rounded up to {answer}.",
        (
            W(lambda threads, registers: threads * registers, "Nothing was rounded."),
            W(
                lambda threads, registers: round_up(ceil_div(threads, 32) * 32 * registers, 512),
                "The warps are rounded up to an even number first.",
            ),
            W(
                lambda threads, registers: round_up(ceil_div(threads, 32), 2)
                * 32
                * registers
                // 512
                * 512,
                "Rounded down: the chapter prints floors, its examples round up.",
            ),
        ),
        unit="registers",
    ),
    Q(
        "machine.warps-rounded-on-the-c1060",
        "research chapter, 1.4: 7 to 8 warps",
        DEVICE,
        {"threads": (32, 80, 96, 150, 200, 224, 256, 280)},
        "On a Tesla C1060 the warps of a block are rounded up to an even number before registers are counted. For how many warps does a block of {threads} threads get registers?",
        lambda threads: round_up(ceil_div(threads, 32), fields("c1060")["warp_allocation_unit"]),
        lambda threads: 2 * ((threads + 63) // 64),
        lambda threads, answer: f"{ceil_div(threads, 32)} warps, rounded up: {answer}.",
        (
            W(lambda threads: ceil_div(threads, 32), "The number must be even."),
            W(lambda threads: threads // 32, "Rounded down."),
        ),
        unit="warps",
    ),
    Q(
        "machine.shared-memory-of-a-block",
        "research chapter, 1.4: 900 to 1024 bytes",
        DEVICE,
        {"device": _TWO, "shared": (44, 900, 1000, 1160, 2092, 2156, 3000, 4204)},
        lambda device,
        shared: f"On {_NAMES[device]} shared memory is given out in units of {fields(device)['shared_unit_bytes']} bytes. How many bytes does a block with {shared} take?",
        lambda device, shared: next(
            taken
            for taken in range(0, 50000, fields(device)["shared_unit_bytes"])
            if taken >= shared
        ),
        lambda device, shared: round_up(shared, {"c1060": 512, "c2050": 128}[device]),
        "{shared} rounded up to whole units: {answer}.",
        (
            W(lambda shared: shared, "Only whole units are given out."),
            W(
                lambda device, shared: shared
                // fields(device)["shared_unit_bytes"]
                * fields(device)["shared_unit_bytes"],
                "Rounded down: then the block would not have what it needs.",
            ),
        ),
        unit="bytes",
    ),
    Q(
        "machine.blocks-by-warps",
        "research chapter, 1.4: 10 warps, 3 or 4 blocks",
        OCCUPANCY,
        {"device": _TWO, "threads": (96, 160, 192, 224, 320, 384)},
        lambda device,
        threads: f"On {_NAMES[device]} an SM has places for {LIMITS[device][1]} warps and {LIMITS[device][0]} blocks. How many blocks of {threads} threads run, if nothing else is short?",
        lambda device, threads: fits(device, 1, 0, threads).blocks_per_sm,
        lambda device, threads: min(8, LIMITS[device][1] // ceil_div(threads, 32)),
        lambda device,
        threads,
        answer: f"{LIMITS[device][1]} / {ceil_div(threads, 32)} warps, rounded down, at most 8: {answer}.",
        (
            W(
                lambda device, threads: ceil_div(LIMITS[device][1], ceil_div(threads, 32)),
                "Rounded up: only whole blocks run.",
            ),
            W(
                lambda device, threads: LIMITS[device][1] // ceil_div(threads, 32),
                "There are places for 8 blocks only.",
            ),
        ),
        unit="blocks",
    ),
    Q(
        "machine.occupancy-of-a-block-shape",
        "research chapter: GPU1 by block shape, 0.25, 0.50, 1.00",
        OCCUPANCY,
        {"x": (1, 8, 16, 32, 64), "y": (1, 4, 8, 16, 32, 64)},
        "GPU1 uses 10 registers and 44 bytes of shared memory. What is its occupancy on a Tesla C1060 (8 blocks, 32 warps, 16,384 registers in units of 512 per block) with blocks of ({x}, {y})?",
        lambda x, y: float(fits("c1060", 10, 44, x * y).fraction),
        lambda x, y: occupancy("c1060", 10, 44, x * y),
        lambda x,
        y,
        answer: f"{x * y} threads are {ceil_div(x * y, 32)} warps; {fits('c1060', 10, 44, x * y).blocks_per_sm} blocks fit: {answer}.",
        (W(lambda: 1.0, "At most 8 blocks run on an SM, however small they are."),),
        lambda x, y: 32 <= x * y <= 512,
    ),
    Q(
        "machine.full-occupancy",
        "textbook exercise: which block sizes reach full occupancy",
        OCCUPANCY,
        {
            "threads": (32, 64, 128, 256, 512, 1024),
            "registers": (29, 30, 32, 34, 40),
            "device": ("h200",),
        },
        "An SM has 2048 places for threads, 32 for blocks, and 65,536 registers (given to warps in units of 256). Can a kernel with {threads} threads per block and {registers} registers per thread fill all places?",
        lambda device, threads, registers: YES_NO[fits(device, registers, 0, threads).fraction < 1],
        lambda threads, registers: YES_NO[
            not (threads * 32 >= 2048 and round_up(registers, 8) <= 32)
        ],
        lambda threads,
        registers: f"By places for blocks {min(32 * threads, 2048)} threads, by registers {65536 // (round_up(registers, 8) * 32) * 32}.",
        choices=YES_NO,
    ),
    Q(
        "machine.largest-block",
        "the device's limits",
        DEVICE,
        {"device": _ALL, "x": (16, 32, 64, 256), "y": (1, 8, 16, 32)},
        lambda device, x, y: f"May a block of ({x}, {y}) threads be launched on {_NAMES[device]}?",
        lambda device, x, y: YES_NO[x * y > fields(device)["max_threads_per_block"]],
        lambda device, x, y: YES_NO[not launches(device, 1, 0, x * y)],
        lambda device, x, y: f"{x * y} threads; at most {fields(device)['max_threads_per_block']}.",
        choices=YES_NO,
    ),
    Q(
        "machine.waves",
        "how blocks are given to SMs",
        THREADS,
        {"sms": (14, 30, 108, 132), "each": (1, 2, 4, 8), "blocks": (64, 256, 1000, 1024, 4096)},
        "{blocks} equally long blocks run on {sms} SMs, {each} at a time on each; an SM that has finished one gets the next. How many rounds (waves) does it take?",
        lambda sms, each, blocks: len(range(0, blocks, sms * each)),
        lambda sms, each, blocks: ceil_div(blocks, sms * each),
        lambda sms,
        each,
        blocks,
        answer: f"{sms * each} run at a time; {blocks} / {sms * each}, rounded up: {answer}.",
        (
            W(
                lambda sms, each, blocks: blocks // (sms * each),
                "The blocks that are left over need a round, too.",
            ),
            W(lambda sms, blocks: ceil_div(blocks, sms), "Each SM runs several at a time."),
        ),
        unit="waves",
    ),
    Q(
        "machine.last-wave",
        "how blocks are given to SMs",
        THREADS,
        {"sms": (30, 108, 132), "each": (1, 2, 4), "blocks": (256, 300, 1000, 1024)},
        "{blocks} equally long blocks run on {sms} SMs, {each} at a time on each. How many blocks run in the last wave?",
        lambda sms, each, blocks: len(
            list(range(blocks))[(blocks - 1) // (sms * each) * sms * each :]
        ),
        lambda sms, each, blocks: (blocks - 1) % (sms * each) + 1,
        lambda sms, each, answer: f"Each full wave has {sms * each}; {answer} are left.",
        (W(lambda sms, each: sms * each, "The last wave is not full."),),
        unit="blocks",
    ),
)
