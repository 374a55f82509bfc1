"""Questions on lab 02: barriers, shared memory, variables, what fits."""

from __future__ import annotations

from grader.quiz.by_hand import blocks_per_sm
from grader.quiz.calculator import device, fits
from grader.quiz.counted import counted
from grader.quiz.listing import race
from grader.quiz.question import DEVICE, OCCUPANCY, SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_NAMES = {
    "c1060": "a Tesla C1060 (compute capability 1.3)",
    "c2050": "a Tesla C2050 (2.0)",
    "h200": "an H200",
}
_AFTER = ("an element of the next phase", "an element of the phase before, or none at all")
_TRANSPOSE = (
    "always", "only as long as the warp runs in step, which nothing promises",
    "no: one warp may be ahead of another",
)  # fmt: skip
_REACH = {"it is a register": 1, "other threads of the block can read it there": 256}


def _too_early(without: int) -> int:
    """The line of the read if it meets what nobody has written; else that of the store."""
    findings = counted("race", without=without).findings
    early = [line for code, line, _ in findings if code == "uninitialised-shared"]
    races = [line for code, *lines in findings if code == "race-shared" for line in lines]
    return early[0] if early else min(races, default=0)


def _transposed(counts) -> int:
    races = any(code == "race-shared" for code, *_ in counts.findings)
    return 0 if not races else 1 if counts.threads <= 32 else 2


QUESTIONS = (
    Q(
        "02.shared-bytes",
        "textbook: 2 KB and 8 KB of shared memory",
        SIMULATOR,
        {"t": (4, 8, 16, 32), "n": (64,)},
        "The tiled kernel keeps one tile of M and one of N, each {t} x {t} floats. How many bytes of shared memory"
        " does a block take?",
        lambda n, t: counted("tiled", n=n, t=t).shared_bytes,
        lambda t: 2 * 4 * t**2,
        lambda t, answer: f"Two tiles of {t * t} floats of 4 bytes: {answer}.",
        (
            W(lambda t: 2 * t * t, "Those are elements; a float has 4 bytes."),
            W(lambda t: 4 * t * t, "That is one of the two tiles."),
        ),
        unit="bytes",
    ),
    Q(
        "02.blocks-by-shared-memory",
        "textbook: how a store of 16, 48 or 64 KB is split",
        THREADS,
        {"t": (8, 16, 32), "kb": (16, 32, 48, 64, 100)},
        "An SM has {kb} KB of shared memory for its blocks. How many blocks with two tiles of {t} x {t} floats fit,"
        " by shared memory alone?",
        lambda t, kb: len(range(8 * t * t, kb * 1024 + 1, 8 * t * t)),
        lambda t, kb: kb * 128 // (t * t),
        lambda t,
        kb,
        answer: f"A block takes {8 * t * t:,} bytes; {kb * 1024:,} / {8 * t * t:,}, rounded down, is {answer}.",
        (
            W(
                lambda t, kb: kb * 1024 // (4 * t * t),
                "That counts one tile per block; there are two.",
            ),
            W(lambda t, kb: kb * 1024 // (2 * t * t), "That counts elements instead of bytes."),
            W(
                lambda t, kb: -(-kb * 1024 // (8 * t * t)),
                "Rounded up: but a block that fits in part does not run.",
            ),
        ),
        unit="blocks",
    ),
    Q(
        "02.blocks-by-threads",
        "textbook: one block of 1024 threads where 1536 may live",
        THREADS,
        {"t": (8, 16, 24, 32), "threads": (768, 1024, 1536, 2048)},
        "An SM has room for {threads} threads. How many blocks of {t} x {t} threads does that allow?",
        lambda t, threads: sum(1 for block in range(1, threads) if block * t * t <= threads),
        lambda t, threads: threads // (t * t),
        lambda t,
        threads,
        answer: f"{threads} / {t * t} threads, rounded down: {answer}. Blocks run whole or not at all.",
        (
            W(lambda t, threads: -(-threads // (t * t)), "Rounded up: only whole blocks run."),
            W(lambda t, threads: threads // t, "A block has T x T threads, not T."),
        ),
        unit="blocks",
    ),
    Q(
        "02.idle-places",
        "textbook: 32 x 32 blocks leave a third of the places empty",
        THREADS,
        {"t": (16, 20, 24, 32), "threads": (768, 1024, 1536, 2048)},
        "An SM has room for {threads} threads, and blocks have {t} x {t}. With as many blocks as fit, how many places"
        " for threads stay empty?",
        lambda t, threads: next(
            threads - used for used in range(threads, -1, -1) if used % (t * t) == 0
        ),
        lambda t, threads: threads % (t * t),
        lambda t,
        threads,
        answer: f"{threads // (t * t)} blocks of {t * t} threads fit; {answer} places are left.",
        (W(lambda t, threads: threads - t * t, "More than one block may fit."),),
        unit="places",
    ),
    Q(
        "02.pending-loads",
        "slides and lecture: 8 blocks x 512 loads are pending",
        OCCUPANCY,
        {"t": (8, 16, 32), "device": ("c2050", "h200")},
        lambda t,
        device: f"On {_NAMES[device]} a tiled kernel with {t} x {t} threads and as many elements per tile"
        " uses 20 registers per thread. All blocks that fit one SM have begun a phase. How many loads of one float can"
        " be pending there?",
        lambda t, device: fits(device, 20, 8 * t * t, t * t).blocks_per_sm * 2 * t * t,
        lambda t, device: blocks_per_sm(device, 20, 8 * t * t, t * t) * 2 * t * t,
        lambda t,
        device,
        answer: f"{fits(device, 20, 8 * t * t, t * t).blocks_per_sm} blocks fit, and each asks for"
        f" 2 x {t * t} floats: {answer}.",
        (
            W(
                lambda t, device: fits(device, 20, 8 * t * t, t * t).blocks_per_sm * t * t,
                "Every thread has two loads on the way: one of M, one of N.",
            ),
            W(lambda t: 2 * t * t, "That is one block; several share the SM."),
        ),
    ),
    Q(
        "02.line-that-comes-too-early",
        "textbook exercise: what goes wrong without each barrier",
        SIMULATOR,
        {"without": (1, 2)},
        lambda without: "128 threads run this loop in phases. A barrier is missing:\n\n"
        + race(without)
        + "\nWhich line can a fast warp reach too early, so that the simulator reports a race?",
        lambda without: _too_early(without),
        lambda without: 12 if without == 1 else 10,
        lambda without: "Nothing separates filling `part` in line 10 from reading it in line 12 of the same phase: a thread reads"
        " what another has not brought yet."
        if without == 1
        else "Reading in line 12 is separated from filling in its own phase; but a fast warp goes round the loop and fills again in"
        " line 10 while a slow one still reads.",
        (
            W(
                lambda without: 10 if without == 1 else 12,
                "That access is the other half of the race: it is in its place, and late.",
            ),
            W(
                lambda without: 11 if without == 1 else 13,
                "That is where the barrier was; what races are two accesses.",
            ),
        ),
    ),
    Q(
        "02.what-a-missing-barrier-does",
        "textbook exercise: wrong execution without one of the barriers",
        SIMULATOR,
        {"without": (1, 2)},
        lambda without: "The kernel of lab 02 lacks its "
        + (
            "first barrier, between loading the tiles and using them."
            if without == 1
            else "second barrier, between using the tiles and loading the next ones."
        )
        + " What can a thread use?",
        lambda without: _AFTER[_too_early(without) == 12],
        lambda without: _AFTER[without == 1],
        lambda without: "Without the first, a fast warp uses a tile that a slow one has not filled: old or arbitrary values."
        if without == 1
        else "Without the second, a fast warp fills the tile of the next phase while a slow one still uses this one.",
        (
            W(
                lambda without: _AFTER[without != 1],
                "That is what happens without the other barrier.",
            ),
        ),
        choices=("an element of the phase before, or none at all", "an element of the next phase"),
    ),
    Q(
        "02.versions-of-a-variable",
        "textbook exercises: 1000 blocks of 512 threads",
        THREADS,
        {
            "blocks": (200, 500, 1000, 1024),
            "threads": (64, 128, 256, 512),
            "what": (
                "float x;",
                "__shared__ float y;",
                "float buffer[8];",
                "__shared__ float tile[256];",
            ),
        },
        "A kernel declares `{what}` and is launched with {blocks} blocks of {threads} threads. How many versions of it"
        " exist over the whole run?",
        lambda blocks, threads, what: sum(
            1 if "shared" in what else threads for _ in range(blocks)
        ),
        lambda blocks, threads, what: blocks
        * (threads if not what.startswith("__shared__") else 1),
        lambda what, answer: ("One for each block" if "shared" in what else "One for each thread")
        + f": {answer}.",
        (
            W(
                lambda blocks, threads, what: blocks * threads if "shared" in what else blocks,
                "Shared variables exist once per block, automatic ones once per thread.",
            ),
            W(lambda threads: threads, "That is one block."),
            W(lambda: 1, "Only __device__ and __constant__ variables exist once."),
        ),
    ),
    Q(
        "02.shared-bytes-with-one-more",
        "textbook exercise foo_kernel: 516 bytes",
        SIMULATOR,
        {"b": (64, 128, 256), "blocks": (4,)},
        "A kernel for blocks of {b} threads declares `__shared__ float tile[{b} + 1];`. How many bytes of shared memory"
        " does a block use?",
        lambda b, blocks: counted("smooth", b=b, blocks=blocks).shared_bytes,
        lambda b: 4 * b + 4,
        lambda b, answer: f"{b + 1} floats of 4 bytes: {answer}.",
        (
            W(lambda b: 4 * b, "The word at the edge is missing."),
            W(lambda b: b + 1, "Those are elements; a float has 4 bytes."),
        ),
        unit="bytes",
    ),
    Q(
        "02.transpose-without-barrier",
        "textbook exercise: block transpose, right block sizes",
        SIMULATOR,
        {"t": (1, 2, 3, 4, 5, 6, 8, 10), "n": (240,)},
        "Each block of {t} x {t} threads turns its part of a matrix around: `tile[ty][tx] = A[...]; A[...] = tile[tx][ty];`,"
        " with no barrier between. Is it right?",
        lambda t, n: _TRANSPOSE[_transposed(counted("transpose", t=t, n=n))],
        lambda t: _TRANSPOSE[0 if t == 1 else 1 if t * t <= 32 else 2],
        lambda t: "A thread reads its own element: nothing can go wrong."
        if t == 1
        else f"{t * t} threads read what others have written; "
        + (
            "they are one warp."
            if t * t <= 32
            else "they are more than one warp, and one may be ahead."
        )
        + " The simulator reports race-shared.",
        (
            W(
                lambda t: _TRANSPOSE[1] if t * t > 32 else _TRANSPOSE[0],
                "Count the threads of a block: a warp has 32, and others' elements are read.",
            ),
        ),
        choices=(
            "always",
            "only as long as the warp runs in step, which nothing promises",
            "no: one warp may be ahead of another",
        ),
    ),
    Q(
        "02.compute-or-memory-bound",
        "textbook exercise: 36 operations and 7 accesses on two GPUs",
        DEVICE,
        {
            "operations": (24, 36, 48, 60),
            "accesses": (5, 7, 9),
            "gflops": (200, 300, 1000),
            "gbs": (100, 150, 250),
        },
        "Each thread of a kernel does {operations} floating-point operations and {accesses} accesses of 4 bytes to global memory."
        " The GPU has {gflops} GFLOP/s and {gbs} GB/s. What binds?",
        lambda operations, accesses, gflops, gbs: "arithmetic"
        if operations / gflops > 4 * accesses / gbs
        else "memory",
        lambda operations, accesses, gflops, gbs: "arithmetic"
        if operations * gbs > gflops * 4 * accesses
        else "memory",
        lambda operations,
        accesses,
        gflops,
        gbs,
        answer: f"{operations} operations for {4 * accesses} bytes are"
        f" {operations / (4 * accesses):.2f} per byte; the GPU can do {gflops / gbs:.2f} per byte of its bandwidth. It is bound by {answer}.",
        (
            W(
                lambda operations, accesses, gflops, gbs: "arithmetic"
                if operations * gbs > gflops * accesses
                else "memory",
                "An access has 4 bytes.",
            ),
        ),
        lambda operations, accesses, gflops, gbs: operations * gbs != gflops * 4 * accesses,
        ("arithmetic", "memory"),
    ),
    Q(
        "02.largest-tile",
        "lab 02, exercise A: tile size from device properties",
        DEVICE,
        {"kb": (3, 6, 12, 16, 48), "threads": (256, 512, 1024)},
        "A device allows {kb} KB of shared memory and {threads} threads per block. What is the largest power of two T such that"
        " two tiles of T x T floats and a block of T x T threads fit?",
        lambda kb, threads: max(
            2**e for e in range(8) if 8 * 4**e <= kb * 1024 and 4**e <= threads
        ),
        lambda kb, threads: 1 << ((min(kb * 128, threads).bit_length() - 1) // 2),
        lambda kb,
        threads,
        answer: f"T x T may be at most {threads} by threads and {kb * 128} by shared memory: T = {answer}.",
        (
            W(
                lambda kb: 1 << ((kb * 128).bit_length() - 1) // 2,
                "The block must not have more threads than allowed.",
            ),
            W(
                lambda threads: 1 << (threads.bit_length() - 1) // 2,
                "Two tiles must fit in shared memory, too.",
            ),
            W(
                lambda kb, threads: 1 << ((min(kb * 256, threads).bit_length() - 1) // 2),
                "There are two tiles.",
            ),
        ),
    ),
    Q(
        "02.place-in-one-array",
        "lab 02, exercise A: both tiles in one extern array",
        THREADS,
        {"t": (4, 8, 16, 32), "ty": (0, 1, 2, 3), "tx": (0, 1, 2, 3)},
        "Both tiles, {t} x {t} each, lie in one array `extern __shared__ float tiles[];`, Mds first. At which index is"
        " Nds[{ty}][{tx}]?",
        lambda t, ty, tx: [
            *(("M", y, x) for y in range(t) for x in range(t)),
            *(("N", y, x) for y in range(t) for x in range(t)),
        ].index(("N", ty, tx)),
        lambda t, ty, tx: t * t + ty * t + tx,
        lambda t,
        ty,
        tx,
        answer: f"Mds takes {t * t} elements; then {ty} rows of {t}, then {tx}: {answer}.",
        (
            W(lambda t, ty, tx: ty * t + tx, "That is Mds."),
            W(lambda t, ty, tx: t * t + tx * t + ty, "Rows first: ty * T + tx."),
            W(lambda t, ty, tx: 4 * (t * t + ty * t + tx), "An index counts elements, not bytes."),
        ),
    ),
    Q(
        "02.launch-bytes",
        "lab 02, exercise A: the third parameter of a launch",
        DEVICE,
        {"t": (4, 8, 12, 16, 24, 32)},
        "The kernel takes both tiles of {t} x {t} floats out of one extern array. Which number of bytes stands third in"
        " `<<<grid, block, ?>>>`?",
        lambda t: 2 * t * t * 4,
        lambda t: len(bytes(4)) * (t * t + t * t),
        "Two tiles of {t} x {t} floats: {answer} bytes.",
        (
            W(lambda t: 2 * t * t, "In bytes, not elements."),
            W(lambda t: 4 * t * t, "There are two tiles."),
        ),
        unit="bytes",
    ),
    Q(
        "02.tile-stored-by-columns",
        "lab 02, the order of the tile's indices",
        SIMULATOR,
        {"t": (8, 16, 32)},
        "Shared memory has 32 banks. A warp stores to `tile[tx][ty]` instead of `tile[ty][tx]`, in an array of {t} x {t} floats."
        " How many wavefronts does such a store take?",
        lambda t: counted("shared_columns", side=t, row=t).shared_store_wavefronts,
        lambda t: max(
            [
                sum((x * t + y) % 32 == bank for y in range(32 // t) for x in range(t))
                for bank in range(32)
            ]
        ),
        lambda t,
        answer: f"Neighbouring lanes are {t} words apart: {answer} of them meet in the fullest bank.",
        (
            W(lambda: 1, "That is the store to tile[ty][tx]."),
            W(lambda t: t if t < 32 else None, "Steps of {t} words do not all meet in one bank."),
        ),
    ),
    Q(
        "02.registers-for-two-blocks",
        "lab 02: a kernel of 32 x 32 threads and its registers",
        OCCUPANCY,
        {"t": (16, 32), "want": (2, 4), "device": ("h200",)},
        "An H200 has 65,536 registers per SM, given out to warps in units of 256. Blocks have {t} x {t} threads and use"
        " little shared memory. With how many registers per thread, at most, do {want} blocks run on an SM?",
        lambda t, want, device: max(
            r for r in range(16, 256) if fits(device, r, 0, t * t).blocks_per_sm >= want
        ),
        lambda t, want: min(255, 65536 // (want * t * t) // 8 * 8),
        lambda t,
        want,
        answer: f"65,536 / ({want} x {t * t}) = {65536 // (want * t * t)}, in steps of 8 and at most 255: {answer}.",
        (
            W(lambda t: min(255, 65536 // (t * t)), "That is for one block."),
            W(lambda t, want: 65536 // (want * t * t), "No thread has more than 255 registers."),
        ),
        lambda t, want: want * t * t <= 2048,
        unit="registers",
    ),
    Q(
        "02.why-not-registers",
        "textbook exercise: why shared memory where registers would be large enough",
        THREADS,
        {"what": ("a tile of M", "a row of N that 16 threads need")},
        "Suppose registers were large enough for {what}. Why would one still put it into shared memory?",
        lambda: next(
            name for name, others in _REACH.items() if others > 1 and "register" not in name
        ),
        lambda: "other threads of the block can read it there",
        "A register belongs to one thread: each would have to load for itself. Shared memory is visible to the whole block.",
        (
            W(
                lambda: "it is faster than a register",
                "It is slower: an access takes tens of cycles.",
            ),
            W(lambda: "it lives as long as the program", "It lives as long as its block."),
        ),
        choices=(
            "other threads of the block can read it there",
            "it is faster than a register",
            "it lives as long as the program",
        ),
    ),
    Q(
        "02.does-the-block-launch",
        "lab 02: tiles of 32 on a GPU of 2009",
        DEVICE,
        {"t": (8, 16, 20, 24, 32, 40), "name": ("c1060", "c2050", "h200")},
        lambda t, name: f"May a block of {t} x {t} threads be launched on {_NAMES[name]}?",
        lambda t, name: YES_NO[t * t > device(name)["max_threads_per_block"]],
        lambda t, name: YES_NO[t * t > {"c1060": 512, "c2050": 1024, "h200": 1024}[name]],
        lambda t,
        name: f"It has {t * t} threads; {device(name)['max_threads_per_block']} are allowed.",
        choices=YES_NO,
    ),
)
