"""Questions on memory: sectors, transactions, volumes; where variables live."""

from __future__ import annotations

from grader.quiz.by_hand import (
    half_warp_transactions,
)
from grader.quiz.counted import counted
from grader.quiz.question import SIMULATOR, THREADS
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

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


QUESTIONS = (
    Q(
        "machine.sectors-by-stride",
        "coalescing today: compute capability 5.0 and later",
        SIMULATOR,
        {"stride": _STEPS, "offset": (0,)},
        "Lane t of a warp loads float number {stride} * t, from an address that is a multiple of 128. How many sectors of 32 bytes does the request touch?",
        lambda stride, offset: counted(
            "global_steps", stride=stride, offset=offset
        ).global_load_sectors,
        lambda stride: min(32, 4 * stride),
        lambda stride, answer: f"The lanes span {32 * stride} floats of 4 bytes; "
        + (
            "each sector among them is touched"
            if stride <= 8
            else "each lane has a sector of its own"
        )
        + f": {answer}.",
        (
            W(lambda: 4, "That holds for neighbouring floats only."),
            W(lambda stride: 4 * stride, "A lane touches one sector: never more than 32 in all."),
        ),
        unit="sectors",
    ),
    Q(
        "machine.sectors-by-offset",
        "coalescing today: an address that is not aligned",
        SIMULATOR,
        {"stride": (1, 2), "offset": (0, 1, 3, 4, 8, 12, 31)},
        "Lane t of a warp loads float number {offset} + {stride} * t of an array that begins at a multiple of 128 bytes. How many sectors of 32 bytes are touched?",
        lambda stride, offset: counted(
            "global_steps", stride=stride, offset=offset
        ).global_load_sectors,
        lambda stride, offset: (offset + 31 * stride) // 8 - offset // 8 + 1,
        lambda stride,
        offset,
        answer: f"Floats {offset} to {offset + 31 * stride}, 8 to a sector: {answer}.",
        (
            W(
                lambda stride: 4 * stride,
                "The first float does not stand at the beginning of a sector: one more is touched.",
            ),
        ),
        unit="sectors",
    ),
    Q(
        "machine.transactions-by-stride",
        "compute capability 1.3; research chapter, derivations",
        SIMULATOR,
        {"stride": _STEPS, "offset": (0,)},
        "Compute capability 1.3: half warps, segments of 128 bytes shrunk to 64 or 32 where only a part is used. Lane t of a warp loads float number {stride} * t. How many transactions do both half warps make?",
        _transactions,
        lambda stride: len(half_warp_transactions(_steps(stride, 0))),
        lambda stride, answer: f"Half a warp spans {64 * stride} bytes: {answer} in all.",
        (
            W(lambda: 1, "A half warp is served at a time."),
            W(lambda stride: min(32, 4 * stride), "Those are sectors of today's GPUs."),
        ),
        unit="transactions",
    ),
    Q(
        "machine.volume-by-stride",
        "compute capability 1.3; research chapter, volumes",
        SIMULATOR,
        {"stride": _STEPS, "offset": (0, 1)},
        "Compute capability 1.3. Lane t of a warp loads float number {offset} + {stride} * t. How many bytes do its transactions move?",
        _volume,
        lambda stride, offset: sum(half_warp_transactions(_steps(stride, offset))),
        lambda stride, offset, answer: "Transactions of "
        + ", ".join(str(x) for x in half_warp_transactions(_steps(stride, offset))[:4])
        + (" ..." if len(half_warp_transactions(_steps(stride, offset))) > 4 else "")
        + f" bytes: {answer}.",
        (
            W(lambda: 128, "Those are the bytes that are used."),
            W(
                lambda stride, offset: 128 * len(half_warp_transactions(_steps(stride, offset))),
                "A transaction shrinks to 64 or 32 bytes where only a part is wanted.",
            ),
        ),
        unit="bytes",
    ),
    Q(
        "machine.lines-by-stride",
        "compute capability 2.0: distinct lines of 128 bytes",
        SIMULATOR,
        {"stride": _STEPS, "offset": (0, 1)},
        "Compute capability 2.0: one transaction for each distinct line of 128 bytes of a warp. Lane t loads float number {offset} + {stride} * t. How many?",
        lambda stride, offset: counted(
            "global_steps", "c2050", stride=stride, offset=offset
        ).transactions_128
        - 1,
        lambda stride, offset: (4 * (offset + 31 * stride)) // 128 - 4 * offset // 128 + 1
        if stride <= 32
        else 32,
        lambda stride,
        offset,
        answer: f"Bytes {4 * offset} to {4 * (offset + 31 * stride) + 3} lie in {answer} lines.",
        (
            W(
                lambda stride: stride,
                "The first float does not stand at the beginning of a line: one more.",
            ),
            W(lambda: 32, "Neighbouring lanes share lines."),
        ),
        unit="transactions",
    ),
    Q(
        "machine.least-utilisation",
        "research chapter: the least utilisation of a transaction",
        THREADS,
        {"segment": (32, 64, 128), "size": (2, 4, 8)},
        "A transaction moves {segment} bytes, of which one lane uses {size}. What share of the bytes is useful?",
        lambda segment, size: sum(1 for byte in range(segment) if byte < size) / segment,
        lambda segment, size: 1 / (segment // size),
        "{size} / {segment} = {answer}.",
        (
            W(
                lambda segment, size: size * 16 / segment if size * 16 < segment else None,
                "One lane uses it, not sixteen.",
            ),
            W(lambda segment, size: 1 - size / segment, "That share is wasted."),
        ),
    ),
    Q(
        "machine.volume-of-a-kernel",
        "research chapter: volumes of GPU1 to GPU4",
        SIMULATOR,
        {"kernel": ("naive", "tiled"), "n": (64, 128)},
        lambda kernel,
        n: f"Compute capability 1.3. The {kernel} kernel with blocks of 16 x 16 multiplies {n} x {n} matrices. How many bytes do all transactions move, P included?",
        lambda kernel, n: counted("naive", "c1060", n=n, x=16, y=16).volume_bytes
        if kernel == "naive"
        else counted("tiled", "c1060", n=n, t=16).volume_bytes,
        lambda kernel, n: (6 * n**3 if kernel == "naive" else n**3 // 2) + 4 * n**2,
        lambda kernel, n, answer: (
            "Per step and half warp 32 bytes of M (one word is used) and 64 of N: 6 n^3"
            if kernel == "naive"
            else "Each tile of 1024 bytes comes whole: 0.5 n^3"
        )
        + f"; and 4 n^2 for P: {answer}.",
        (
            W(
                lambda kernel, n: 6 * n**3 if kernel == "naive" else n**3 // 2,
                "P is written, too: 4 n^2 bytes.",
            ),
            W(
                lambda kernel, n: (n**3 // 4 * 17 if kernel == "naive" else n**3 // 4) + 4 * n**2,
                "A word of M costs a transaction of at least 32 bytes.",
            ),
        ),
        unit="bytes",
    ),
    Q(
        "machine.volume-by-block-shape",
        "research chapter: GPU1 by block shape",
        SIMULATOR,
        {"n": (64,), "x": (1, 8, 16, 32, 64), "y": (1, 8, 32, 64)},
        "Compute capability 1.3. GPU1 (naive) with blocks of ({x}, {y}) multiplies {n} x {n} matrices. How many transactions does it make in all?",
        lambda n, x, y: counted("naive", "c1060", n=n, x=x, y=y).transactions_32
        + counted("naive", "c1060", n=n, x=x, y=y).transactions_64,
        lambda n, x: {1: 17 * n**3 // 16 + n**2, 8: 3 * n**3 // 16 + n**2 // 8}.get(
            x, n**3 // 8 + n**2 // 16
        ),
        lambda x,
        answer: f"A half warp is {16 // min(x, 16)} row(s) of {min(x, 16)} lanes: as many transactions for M and for P, and for N "
        + ("one of the same word" if x == 1 else "one")
        + f". In all {answer}.",
        (
            W(lambda n: n**3 // 8 + n**2 // 16, "That holds for rows of at least 16 lanes."),
            W(lambda n, x: n**3 // 8 if x >= 16 else None, "P is written, too."),
        ),
        lambda x, y: 32 <= x * y <= 512 and (x > 1 or y >= 32),
        unit="transactions",
    ),
    Q(
        "machine.average-utilisation",
        "research chapter: GPU2 and GPU3, average bandwidth utilisation",
        SIMULATOR,
        {"kernel": ("naive", "gpu2", "gpu3", "tiled"), "n": (64,)},
        lambda kernel,
        n: f"Compute capability 1.3. {_ABU[kernel]} What is the mean, over all transactions of loads, of the share of bytes that are used?",
        lambda kernel, n: float(counted(kernel, "c1060", n=n, **_SHAPE[kernel]).abu),
        lambda kernel: {
            "naive": (1 / 8 + 1) / 2,
            "gpu2": (0.5 * 2 + 1 * 4) / 6,
            "gpu3": (0.5 * 4 + 1 * 4) / 8,
            "tiled": 1.0,
        }[kernel],
        lambda kernel, answer: {
            "naive": "A transaction of 32 bytes for M uses 4, one of 64 for N all.",
            "gpu2": "Two rows of M cost 32 bytes each of which 16 are used; four rows of N 64 bytes each, all used.",
            "gpu3": "Four rows of M cost 32 bytes each of which 16 are used; four rows of N 64 bytes each, all used.",
            "tiled": "Sixteen lanes read sixteen neighbouring words of M, and of N.",
        }[kernel]
        + f" The mean: {answer}.",
        (
            W(
                lambda kernel: {
                    "naive": 36 * 2 / 192,
                    "gpu2": (32 + 256) / 320,
                    "gpu3": (64 + 256) / 384,
                }.get(kernel),
                "That is useful bytes over all bytes; the study takes the mean over transactions.",
            ),
        ),
        unit="",
    ),
    Q(
        "machine.where-it-lives",
        "textbook: declarations, memories, scope, lifetime",
        THREADS,
        {
            "what": (
                "float sum;",
                "float part[4]; part[i] = 1;",
                "__shared__ float tile[64];",
                "__device__ float table[64];",
                "__constant__ float table[64];",
            )
        },
        "`{what}` (i is known only at run time). In which memory does it live?",
        lambda what: _memory(what)[0],
        lambda what: dict(
            zip(_DECLARED, ("register", "local", "shared", "global", "constant"), strict=True)
        )[what],
        lambda what, answer: f"{answer} memory; visible to {_memory(what)[1]}.".replace(
            "register memory", "a register"
        ).capitalize(),
        (
            W(
                lambda what: "register"
                if "part" in what
                else "shared"
                if "sum" in what
                else "global",
                "The qualifier says it; an array with an index that varies cannot be in registers.",
            ),
        ),
        choices=("register", "local", "shared", "global", "constant"),
    ),
    Q(
        "machine.who-sees-it",
        "textbook: declarations, memories, scope, lifetime",
        THREADS,
        {
            "what": (
                "float sum;",
                "float part[4]; part[i] = 1;",
                "__shared__ float tile[64];",
                "__device__ float table[64];",
                "__constant__ float table[64];",
            )
        },
        "Who can see `{what}`?",
        lambda what: _memory(what)[1],
        lambda what: dict(
            zip(
                _DECLARED,
                (
                    "one thread",
                    "one thread",
                    "the threads of one block",
                    "all threads of all kernels",
                    "all threads of all kernels",
                ),
                strict=True,
            )
        )[what],
        lambda what: f"It lives in {_memory(what)[0]} memory.".replace(
            "register memory", "a register"
        ),
        (
            W(
                lambda what: "the threads of one block" if "shared" not in what else "one thread",
                "Only __shared__ belongs to the block.",
            ),
        ),
        choices=("one thread", "the threads of one block", "all threads of all kernels"),
    ),
    Q(
        "machine.constant-words",
        "constant memory: a broadcast or one word after the other",
        SIMULATOR,
        {"words": (1, 2, 4, 8, 16, 32)},
        "Constant memory serves one word at a time, to as many lanes as want it. Lane t reads `table[t % {words}]`. How many words does the request take?",
        lambda words: counted("constants", words=words).constant_load_words,
        lambda words: len({t % words for t in range(32)}),
        "{words} different words are wanted: {answer}.",
        (
            W(lambda words: 32 // words, "Count different words, not lanes per word."),
            W(lambda: 1, "Only if all lanes want the same one."),
        ),
        unit="words",
    ),
    Q(
        "machine.atomics-that-meet",
        "reduction exercise: atomics",
        SIMULATOR,
        {"bins": (1, 2, 4, 8, 16, 32), "b": (32, 64, 128)},
        "{b} threads add to counter number threadIdx.x % {bins} with atomicAdd. How many different addresses does one request of a warp touch?",
        lambda bins, b: counted("histogram", bins=bins, b=b).atomic_addresses * 32 // b,
        lambda bins: bins,
        lambda bins,
        answer: f"The 32 lanes meet at {answer} addresses, {32 // bins} at each, and wait for each other there.",
        (
            W(lambda bins: 32 // bins, "That many lanes meet at each."),
            W(lambda: 32, "Lanes with the same remainder share an address."),
        ),
    ),
)
