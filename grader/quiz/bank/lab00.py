"""Questions on lab 00 and the reduction: one thread one element, guards, the host's calls, a tree."""

from __future__ import annotations

from grader.quiz.by_hand import ceil_div
from grader.quiz.calculator import device as fields
from grader.quiz.counted import counted
from grader.quiz.question import DEVICE, SIMULATOR, THREADS, YES_NO
from grader.quiz.question import Question as Q
from grader.quiz.question import Wrong as W

_N = (70, 100, 500, 1000, 1500)
_B = (64, 128, 256)

QUESTIONS = (
    Q(
        "00.blocks-for-an-array",
        "lab 00, one thread one element",
        SIMULATOR,
        {"n": _N, "b": _B},
        "{n} elements, one thread each, blocks of {b} threads. How many blocks are launched?",
        lambda n, b: counted("map", n=n, b=b).blocks,
        lambda n, b: ceil_div(n, b),
        "{n} / {b}, rounded up: {answer}.",
        (
            W(lambda n, b: n // b, "Rounded down: the last elements have no thread."),
            W(lambda n: n, "That is the number of threads that have work."),
        ),
        unit="blocks",
    ),
    Q(
        "00.threads-without-an-element",
        "lab 00, the guard",
        SIMULATOR,
        {"n": _N, "b": _B},
        "{n} elements, one thread each, blocks of {b}. How many threads must the guard keep from doing anything?",
        lambda n, b: counted("map", n=n, b=b).blocks * b - n,
        lambda n, b: -n % b,
        lambda n,
        b,
        answer: f"{ceil_div(n, b)} blocks have {ceil_div(n, b) * b} threads: {answer} too many.",
        (
            W(
                lambda n, b: n % b,
                "Those are the threads of the last block that do have an element.",
            ),
            W(lambda: 0, "The grid is rounded up to whole blocks."),
        ),
        unit="threads",
    ),
    Q(
        "00.element-of-a-thread",
        "lab 00, who am I",
        THREADS,
        {"b": (64, 128, 256), "block": (1, 2, 3, 7), "thread": (0, 5, 17, 40)},
        "Blocks have {b} threads. Which element belongs to thread {thread} of block {block}?",
        lambda b, block, thread: [(x, t) for x in range(block + 1) for t in range(b)].index(
            (block, thread)
        ),
        lambda b, block, thread: b * block + thread,
        "{block} * {b} + {thread} = {answer}.",
        (
            W(lambda thread: thread, "threadIdx.x begins again in each block."),
            W(lambda b, block, thread: thread * b + block, "blockIdx and threadIdx are exchanged."),
            W(lambda b, block, thread: (block - 1) * b + thread, "Blocks are counted from 0."),
        ),
    ),
    Q(
        "00.block-of-an-element",
        "lab 00, who am I",
        THREADS,
        {"b": (64, 128, 256), "i": (100, 300, 773, 1000)},
        "Blocks have {b} threads. Which thread has element {i}? Answer (block, thread).",
        lambda b, i: next((x, t) for x in range(i + 1) for t in range(b) if x * b + t == i),
        lambda b, i: divmod(i, b),
        "{i} / {b} is the block, the remainder the thread: {answer}.",
        (
            W(lambda b, i: (i // b + 1, i % b), "Blocks are counted from 0."),
            W(lambda b, i: (i % b, i // b), "The quotient is the block, the remainder the thread."),
        ),
    ),
    Q(
        "00.pixel-of-a-thread",
        "lab 00, rows and columns",
        THREADS,
        {
            "columns": (50, 100, 640),
            "x": (8, 16, 32),
            "y": (4, 8),
            "bx": (0, 1, 2),
            "by": (0, 1, 2),
            "tx": (0, 3, 7),
            "ty": (0, 1, 3),
        },
        "An image has {columns} pixels a row. Blocks have ({x}, {y}) threads, row from y, column from x. At which index stands the pixel of thread (x {tx}, y {ty}) of block (x {bx}, y {by})?",
        lambda columns, x, y, bx, by, tx, ty: len(
            [1 for r in range(by * y + ty) for c in range(columns)]
        )
        + len(range(bx * x + tx)),
        lambda columns, x, y, bx, by, tx, ty: (by * y + ty) * columns + bx * x + tx,
        lambda columns,
        x,
        y,
        bx,
        by,
        tx,
        ty,
        answer: f"Row {by * y + ty}, column {bx * x + tx}: {by * y + ty} * {columns} + {bx * x + tx} = {answer}.",
        (
            W(
                lambda columns, x, y, bx, by, tx, ty: (bx * x + tx) * columns + by * y + ty,
                "Row and column are exchanged: the row comes from y.",
            ),
            W(lambda columns, tx, ty: ty * columns + tx, "The block counts, too."),
        ),
    ),
    Q(
        "00.blocks-for-an-image",
        "lab 00, two guards",
        SIMULATOR,
        {"rows": (40, 60), "columns": (50, 100), "x": (16, 32), "y": (8, 16)},
        "An image of {rows} rows and {columns} columns; blocks of ({x}, {y}) threads. How many blocks are launched?",
        lambda rows, columns, x, y: counted("image", rows=rows, columns=columns, x=x, y=y).blocks,
        lambda rows, columns, x, y: ceil_div(rows, y) * ceil_div(columns, x),
        lambda rows,
        columns,
        x,
        y,
        answer: f"{ceil_div(columns, x)} along x, {ceil_div(rows, y)} along y, both rounded up: {answer}.",
        (
            W(
                lambda rows, columns, x, y: ceil_div(rows * columns, x * y),
                "The blocks cover rows and columns apart: the grid is rounded up in both directions.",
            ),
            W(lambda rows, columns, x, y: (rows // y) * (columns // x), "Rounded down."),
            W(
                lambda rows, columns, x, y: ceil_div(rows, x) * ceil_div(columns, y),
                "x goes with the columns, y with the rows.",
            ),
        ),
        unit="blocks",
    ),
    Q(
        "00.sectors-of-a-map",
        "lab 00, neighbours run together",
        SIMULATOR,
        {"n": (64, 256, 512, 1024), "b": (64, 128)},
        "A kernel loads each of {n} floats once, neighbouring threads neighbouring floats. How many sectors of 32 bytes are loaded?",
        lambda n, b: counted("map", n=n, b=b).global_load_sectors,
        lambda n: 4 * n // 32,
        "{n} floats of 4 bytes, 32 bytes to a sector: {answer}.",
        (
            W(lambda n: n // 32, "That is the number of requests of a warp."),
            W(lambda n: n, "Eight floats share a sector."),
        ),
        unit="sectors",
    ),
    Q(
        "00.sectors-the-other-way-round",
        "lab 00: row from x costs",
        SIMULATOR,
        {"rows": (32, 64), "columns": (64, 96), "x": (16, 32), "y": (8,)},
        "Step 2 with row and column exchanged: row from x, column from y, blocks of ({x}, {y}), an image of {rows} rows and {columns} columns of 4 bytes. How many sectors are loaded?",
        lambda rows, columns, x, y: counted(
            "image_swapped", rows=rows, columns=columns, x=x, y=y
        ).global_load_sectors,
        lambda rows, columns, x: rows * columns // 32 * (x * len({c // 8 for c in range(32 // x)})),
        lambda rows,
        columns,
        x,
        answer: f"{rows * columns // 32} requests, the lanes of each in {x} rows, each row a sector of its own: {answer}.",
        (
            W(
                lambda rows, columns: rows * columns // 8,
                "That is with the column from x: neighbouring lanes share sectors there.",
            ),
            W(lambda rows, columns: rows * columns // 32, "That is the number of requests."),
        ),
        unit="sectors",
    ),
    Q(
        "00.requests-of-a-map",
        "lab 00, warps",
        SIMULATOR,
        {"n": _N, "b": _B},
        "{n} elements, blocks of {b} threads, guard `if (i < n)`. How many load requests (of a warp with at least one lane inside) are made?",
        lambda n, b: counted("map", n=n, b=b).global_load_requests,
        lambda n: ceil_div(n, 32),
        "{n} / 32, rounded up: {answer}. Warps wholly outside load nothing.",
        (
            W(lambda n, b: ceil_div(n, b) * b // 32, "Warps wholly outside skip the load."),
            W(lambda n: n // 32, "The last warp loads with some of its lanes."),
            W(lambda n: n, "A request serves a warp."),
        ),
        unit="requests",
    ),
    Q(
        "00.bytes-to-allocate",
        "lab 00, cudaMalloc",
        THREADS,
        {
            "rows": (10, 37, 100),
            "columns": (20, 64, 101),
            "type": ("float", "double", "char", "int"),
        },
        "Which number of bytes does cudaMalloc get for {rows} x {columns} elements of type {type}?",
        lambda rows, columns, type: sum(_SIZE[type] for _ in range(rows * columns)),
        lambda rows, columns, type: rows * columns * {"c": 1, "d": 8}.get(type[0], 4),
        lambda type, answer: f"Elements times sizeof({type}) = {_SIZE[type]}: {answer}.",
        (
            W(
                lambda rows, columns, type: rows * columns if type != "char" else None,
                "cudaMalloc counts bytes, not elements.",
            ),
            W(
                lambda rows, columns, type: rows * columns * 4
                if type in ("double", "char")
                else None,
                "Only float and int have 4 bytes.",
            ),
        ),
        unit="bytes",
    ),
    Q(
        "00.is-the-launch-refused",
        "lab 00, errors of a launch",
        DEVICE,
        {"threads": (256, 512, 768, 1024, 1025, 2048), "name": ("c1060", "h200")},
        lambda threads,
        name: f"A kernel is launched with blocks of {threads} threads on a GPU whose limit is {fields(name)['max_threads_per_block']}. Does cudaGetLastError() report an error right after it?",
        lambda threads, name: YES_NO[threads <= fields(name)["max_threads_per_block"]],
        lambda threads, name: YES_NO[threads <= {"c1060": 512, "h200": 1024}[name]],
        "A launch that breaks a limit is refused at once.",
        choices=YES_NO,
    ),
    Q(
        "00.grid-stride",
        "lab 01, exercise 3: a grid-stride loop",
        SIMULATOR,
        {"n": (512, 1024, 2048, 4096), "blocks": (1, 2, 4), "b": (64, 128)},
        "A grid-stride loop handles {n} elements with {blocks} blocks of {b} threads. How many elements does each thread get?",
        lambda n, blocks, b: counted("grid_stride", n=n, blocks=blocks, b=b).global_load_requests
        * 32
        // (blocks * b),
        lambda n, blocks, b: n // (blocks * b),
        lambda n, blocks, b, answer: f"{n} / {blocks * b} threads = {answer}.",
        (
            W(lambda n, b: n // b, "All blocks share the elements."),
            W(lambda n, blocks: n // blocks, "All threads of a block share them."),
        ),
    ),
    Q(
        "00.time-to-copy",
        "lab 00, time: kernel and transfer apart",
        THREADS,
        {"mb": (4, 16, 64, 400), "gbs": (8, 12, 25, 50)},
        "A copy of {mb} million bytes goes to a GPU at {gbs} GB/s (of 10^9 bytes). How many milliseconds does it take?",
        lambda mb, gbs: mb * 1e6 / (gbs * 1e9) * 1e3,
        lambda mb, gbs: mb / gbs,
        "{mb} * 10^6 / ({gbs} * 10^9) s = {answer} ms.",
        (
            W(lambda mb, gbs: mb / gbs / 1000, "That is in seconds."),
            W(lambda mb, gbs: gbs / mb, "Bytes over rate, not rate over bytes."),
        ),
        unit="ms",
    ),
    Q(
        "00.transfer-or-kernel",
        "lab 00, time; lab 01: copies of a product",
        THREADS,
        {"n": (256, 512, 1024), "gbs": (10, 25), "gflops": (1000, 20000, 50000)},
        "A product of {n} x {n} matrices: M and N are copied to the GPU, P back, at {gbs} GB/s; the kernel does 2 n^3 operations at {gflops} GFLOP/s. What takes longer?",
        lambda n, gbs, gflops: "the copies"
        if 3 * 4 * n * n / gbs > 2 * n**3 / gflops
        else "the kernel",
        lambda n, gbs, gflops: "the copies" if 6 * gflops > n * gbs else "the kernel",
        lambda n,
        gbs,
        gflops: f"Copies {12 * n * n / gbs / 1e3:.1f} us, kernel {2 * n**3 / gflops / 1e3:.1f} us.",
        where=lambda n, gbs, gflops: 6 * gflops != n * gbs,
        choices=("the copies", "the kernel"),
    ),
    Q(
        "00.levels-of-a-tree",
        "exercise reduction: a tree",
        SIMULATOR,
        {"n": (1024,), "b": (64, 128, 256)},
        "A block of {b} threads adds {b} numbers by a tree. There is a barrier after loading and one after each level. How many barriers does each warp pass?",
        lambda n, b: counted("tree", n=n, b=b).barriers // (n // 32),
        lambda b: b.bit_length(),
        lambda b,
        answer: f"{b.bit_length() - 1} levels halve {b} to 1, and one after loading: {answer}.",
        (
            W(lambda b: b.bit_length() - 1, "The barrier after loading is missing."),
            W(lambda b: b - 1, "A level adds many pairs at once."),
            W(lambda b: b // 2, "Each level halves the numbers."),
        ),
        unit="barriers",
    ),
    Q(
        "00.steps-of-a-tree",
        "exercise reduction: eight levels do the work of 255 steps",
        THREADS,
        {"b": (64, 128, 256, 512)},
        "One thread would need {b} - 1 additions, one after the other. How many levels does a tree need for {b} numbers?",
        lambda b: len([half for half in (2**e for e in range(12)) if half < b]),
        lambda b: b.bit_length() - 1,
        "Each level halves what is left: {answer}.",
        (
            W(lambda b: b // 2, "That is the number of additions of the first level."),
            W(lambda b: b - 1, "That is one thread."),
        ),
    ),
    Q(
        "00.adding-threads",
        "exercise reduction: who adds at a level",
        THREADS,
        {"b": (64, 128, 256), "level": (1, 2, 3, 4)},
        "A block of {b} threads adds {b} numbers by a tree. How many threads add at level {level} (the first is 1)?",
        lambda b, level: [b >> s for s in range(1, 9)][level - 1],
        lambda b, level: b // 2**level,
        "Half as many at each level: {answer}.",
        (W(lambda b, level: b // 2 ** (level - 1), "At level 1 half of the threads add."),),
        unit="threads",
    ),
    Q(
        "00.atomics-of-a-sum",
        "exercise reduction: one atomic for each block",
        SIMULATOR,
        {"n": (512, 1024, 2048), "b": (64, 128, 256)},
        "{n} numbers are added in blocks of {b}; the first thread of each block adds the block's sum with atomicAdd. How many lanes do an atomic?",
        lambda n, b: counted("tree", n=n, b=b).atomic_lanes,
        lambda n, b: n // b,
        "One for each block: {n} / {b} = {answer}.",
        (
            W(lambda n: n, "Only one thread of a block does."),
            W(lambda n: n // 32, "One of each block, not of each warp."),
        ),
        unit="lanes",
    ),
    Q(
        "00.divergence-of-two-trees",
        "exercise reduction: which threads add",
        SIMULATOR,
        {"n": (512,), "b": (64, 128, 256), "kind": ("tree", "tree_strided")},
        lambda n, b, kind: f"A block of {b} threads adds by a tree: at each level "
        + (
            "the lower half of the threads still adding goes on"
            if kind == "tree"
            else "every 2nd, 4th, 8th ... thread adds"
        )
        + ". At how many branches of a block do the lanes of a warp part, the last `if (threadIdx.x == 0)` included?",
        lambda n, b, kind: counted(kind, n=n, b=b).divergent_branches * b // n,
        lambda b, kind: 6
        if kind == "tree"
        else sum(b // max(32, 2 * s) for s in (2**e for e in range(b.bit_length() - 1))) + 1,
        lambda kind, answer: (
            "Only levels with fewer than 32 adding threads divide a warp: 16, 8, 4, 2, 1; and the last if"
            if kind == "tree"
            else "At every level, in every warp that has an adding thread; and the last if"
        )
        + f": {answer}.",
        (
            W(
                lambda b: b.bit_length() - 1,
                "Not every level divides warps, or it divides more than one.",
            ),
            W(lambda kind: 5 if kind == "tree" else None, "The last if divides a warp, too."),
        ),
    ),
)

_SIZE = {"char": 1, "int": 4, "float": 4, "double": 8}
