"""Results by hand, one for each way a lab can end: what the writers' golden files show."""

from __future__ import annotations

from dataclasses import replace

from grader.results.result import (
    CaseResult,
    Change,
    CheckResult,
    Diagnostic,
    Kernel,
    LineCounters,
    Mismatch,
    Result,
)

_COUNTERS = {
    "global_load_requests": 262144,
    "global_load_sectors": 524288,
    "shared_load_requests": 1048576,
    "shared_load_wavefronts": 1048576,
    "bank_conflicts": 0,
    "instructions": 2031616,
    "fma_lanes": 16777216,
    "barriers": 0,
}

SOURCE = """\
// Lab 02: tiles in shared memory.

#define TILE_WIDTH 16

/* One block computes one tile of P:
   every thread one element. */
__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * TILE_WIDTH + ty;
    const int col = blockIdx.x * TILE_WIDTH + tx;
    float sum = 0.0f;
    for (int ph = 0; ph < width / TILE_WIDTH; ++ph) {
        Mds[ty][tx] = M[row * width + ph * TILE_WIDTH + tx];
        Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * width + col];
        for (int k = 0; k < TILE_WIDTH; ++k) {
            sum += Mds[ty][k] * Nds[k][tx];
        }
    }
    P[row * width + col] = sum;
}
"""

KERNEL = Kernel(
    name="tiled_kernel",
    case="w256",
    grid=(16, 16, 1),
    block=(16, 16, 1),
    shared_bytes=2048,
    registers=32,
    occupancy=1.0,
    counters=_COUNTERS,
    lines=(
        LineCounters(15, _COUNTERS),
        LineCounters(16, {"global_load_sectors": 3, "instructions": 98304}),
        LineCounters(18, {"shared_load_wavefronts": 1048576, "instructions": 3145728}),
        LineCounters(21, {"global_store_requests": 2048, "global_store_sectors": 8192}),
    ),
)


def _check(name, title, group, status, score, points, message="", hidden=False, **data):
    return CheckResult(name, title, group, status, score, points, message, hidden, data)


def _result(**fields):
    base = {
        "lab": "02-tiled-kernel",
        "title": "Tiled kernel",
        "submission": "labs/02-tiled-kernel/matmul.cu",
        "backend": "sim",
        "device": "h200",
        "seed": 1,
        "toolkit": "CUDA 13.0",
        "status": "failed",
        "score": 0.0,
        "max_score": 100.0,
        "sandbox": "bubblewrap",
        "seconds": 2.5,
    }
    return Result(**(base | fields))


PASSED = _result(
    status="passed",
    score=100.0,
    checks=(
        _check("small", "the 32x32 product is right", "correctness", "passed", 45, 45),
        _check("barriers", "no thread overtakes another", "safety", "passed", 25, 25),
        _check("traffic", "global loads cut by the tile width", "performance", "passed", 30, 30, "1 (at most 1.1)", measure="global_load_sectors", case="w256", value=1.0, at_most=1.1, at_least=None),
    ),
    source=SOURCE,
    kernels=(KERNEL,),
    cases=(
        CaseResult("w64", "64x64", "64x64x64", "passed", checked=4096, seconds=0.01),
        CaseResult("w256", "256x256", "256x256x256", "passed", checked=65536, seconds=0.2),
    ),
    per_step={"global_load_sectors": 0.5, "shared_load_wavefronts": 1.25},
    previous_lab="01-naive-kernel",
    changes=(
        Change("global_load_sectors", "sectors loaded from global memory", 4.0, 0.5),
        Change("shared_load_wavefronts", "wavefronts of shared loads", 0.0, 1.25),
    ),
    next_step="lab 03: read labs/03-boundary-checks/README.md",
)  # fmt: skip

FAILED = _result(
    score=45.0,
    next_step="mend what stands first, then grade again.",
    checks=(
        _check("small", "the 32x32 product is right", "correctness", "passed", 20, 20),
        _check(
            "sizes", "right at other sizes", "correctness", "failed", 0, 25,
            "64x64: P[0][0]: got 1.25, expected -0.5; stale tile (2 of 3 cases fail)",
            failed_cases=["w64", "secret"],
        ),
        _check("barriers", ("no thread overtakes another: tiles are complete when used, used when " "overwritten"), "safety", "failed", 0, 15, "race-shared at line 18", codes=["race-shared"], places=1),
        _check("memory", "no access outside the matrices", "safety", "passed", 25, 25),
        _check("traffic", "global loads cut by the tile width", "performance", "skipped", 0, 15, 'Not looked at until "right at other sizes" is passed.', blocked_by="sizes"),
    ),
    diagnostics=(
        Diagnostic(
            "race-shared", "error",
            "block (0,0,0) thread (0,4,0) reads Nds[0][4], which thread (4,0,0) writes at line 16"
            " with no __syncthreads() between.",
            line=18, kernel="tiled_kernel", block=(0, 0, 0), thread=(0, 4, 0), count=3840,
            source="sum += Mds[ty][k] * Nds[k][tx];",
            advice="Put a __syncthreads() between the two lines, where every thread passes it.",
            cases=("w32", "w64", "secret"),
        ),
        Diagnostic(
            "wrong-result", "error",
            "4032 of 4096 elements of P are wrong, the first is P[0][0]: got 1.25, expected -0.5.",
            line=21, kernel="tiled_kernel", count=4032,
            advice="Each phase uses the tiles (of 16) of the phase before.",
            cases=("w64", "secret"),
        ),
        Diagnostic("api-error", "error", "cudaMemcpy returned cudaErrorInvalidValue: invalid argument.", cases=("w64",)),
        Diagnostic("input-modified", "error", "M[0][1] changed.", cases=("w64",)),
    ),
    source=SOURCE,
    kernels=(KERNEL,),
    cases=(
        CaseResult("w32", "32x32, two phases", "32x32x32", "passed", checked=1024),
        CaseResult(
            "w64", "64x64", "64x64x64", "failed", wrong=4032, checked=4096, pattern="stale tile",
            message="4032 of 4096 elements of P are wrong.",
            mismatches=(
                Mismatch(0, 0, 1.25, -0.5), Mismatch(0, 1, "nan", 2.0), Mismatch(0, 2, 3.0, 0.1),
            ),
        ),
        CaseResult("secret", "a size you don't see", "", "failed", hidden=True, wrong=5, checked=9),
    ),
)  # fmt: skip

DOES_NOT_COMPILE = _result(
    message="It does not compile.",
    next_step="mend what stands first, then grade again.",
    checks=(
        _check("small", "the 32x32 product is right", "correctness", "skipped", 0, 100, "The file does not compile."),
    ),
    diagnostics=(Diagnostic("does-not-compile", "error", 'identifier "Mds" is undefined (2 more follow from it or after it).', line=30),),
)  # fmt: skip

NOT_STARTED = _result(
    message="Not started: every TODO is still empty.",
    status="not_started",
    next_step=(
        "open labs/02-tiled-kernel/matmul.cu and begin with TODO(1) at line 16: declare the tiles."
    ),
)

ERROR = _result(
    status="error", score=None, message="The executor failed on case w64: no space left on device"
)

UNREADABLE = _result(message="handed-in/02-tiled-kernel/matmul.cu is empty: has it been saved?")

# A hidden check and a hidden case fail, and nothing else shows the faults.
HIDDEN = _result(
    seed=31337,
    score=60.0,
    checks=(
        _check("small", "the 32x32 product is right", "correctness", "passed", 60, 60),
        _check("odd", "right at odd sizes", "correctness", "failed", 0, 30, "417x419 is wrong", hidden=True, failed_cases=["w417"], value=417),
        _check("memory", "no access outside", "safety", "failed", 0, 10, "out-of-bounds-global at line 15", codes=["out-of-bounds-global"], places=1),
    ),
    diagnostics=(
        Diagnostic(
            "out-of-bounds-global", "error",
            "block (26,0,0) thread (1,0,0) reads 4 bytes at M[416][417]: the array ends at M[416][416].",
            line=15, kernel="tiled_kernel", block=(26, 0, 0), thread=(1, 0, 0), count=417,
            advice="Guard the loads.", cases=("w417",),
        ),
    ),
    kernels=(replace(KERNEL, case="w417", grid=(27, 27, 1)),),
    per_step={"global_load_sectors": 417.0},
    source=SOURCE,
    cases=(
        CaseResult("w32", "32x32", "32x32x32", "passed", checked=1024),
        CaseResult("w417", "417x417", "417x417x417", "failed", hidden=True, wrong=417, checked=417 * 417, message="out-of-bounds-global."),
    ),
)  # fmt: skip

# Whatever a file may hold that could mean something to a reader of its report.
ATTACK = (
    "</code></td><script>alert(1)</script><img src=x onerror=alert(2)> ```` `|` | @everyone"
    " [x](javascript:alert(3)) https://example.org \x1b[31m \x00 ]]> &amp; \u202e {{7*7}} ${8*8}"
)
HOSTILE = replace(
    FAILED,
    submission="<script>alert(4)</script>.cu",
    source=f'// {ATTACK}\nconst char* s = "{ATTACK}";\n/* {ATTACK}\n' + ATTACK,
    message=ATTACK,
    next_step=ATTACK,
    checks=tuple(replace(check, message=ATTACK) for check in FAILED.checks),
    diagnostics=tuple(
        replace(item, message=ATTACK, source=ATTACK, line=2) for item in FAILED.diagnostics
    ),
    kernels=(replace(KERNEL, name=ATTACK),),
)

ALL = {
    "passed": PASSED,
    "failed": FAILED,
    "does-not-compile": DOES_NOT_COMPILE,
    "not-started": NOT_STARTED,
    "error": ERROR,
    "unreadable": UNREADABLE,
}
