"""The same 16x16 tiled kernel under Numba's CUDA simulator, for `make bench`.

    NUMBA_ENABLE_CUDASIM=1 python numba_tiled.py N

Prints one line of JSON: n, seconds, worst_error.
"""

import json
import sys
import time

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(m, n, p):
    ms = cuda.shared.array((TILE, TILE), float32)
    ns = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    column = cuda.blockIdx.x * TILE + tx
    total = float32(0.0)
    for tile in range(m.shape[0] // TILE):
        ms[ty, tx] = m[row, tile * TILE + tx]
        ns[ty, tx] = n[tile * TILE + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += ms[ty, k] * ns[k, tx]
        cuda.syncthreads()
    p[row, column] = total


def main() -> None:
    width = int(sys.argv[1])
    random = np.random.default_rng(1)
    m, n = random.uniform(-1, 1, (2, width, width)).astype(np.float32)
    p = np.zeros((width, width), np.float32)
    blocks = (width // TILE, width // TILE)
    start = time.perf_counter()
    matmul_tiled[blocks, (TILE, TILE)](m, n, p)
    seconds = time.perf_counter() - start
    worst = float(np.abs(p - m.astype(np.float64) @ n).max())
    print(json.dumps({"n": width, "seconds": [seconds], "worst_error": worst}))


if __name__ == "__main__":
    main()
