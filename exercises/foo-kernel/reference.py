"""What b becomes, and what there is to count, from the kernel's description in the handout."""

import numpy as np

BLOCK = 128
FACTORS = (0.5, 1.5, 2.0, 3.0)
SCALE = 1.25


def reference(a, b, n):
    own = sum(factor * part for factor, part in zip(FACTORS, a.reshape(4, n), strict=True))
    blocks = b.reshape(-1, BLOCK)
    mixed = own + SCALE * b + np.roll(blocks, -3, axis=1).reshape(n)
    threads = n
    products = len(FACTORS) + 1  # and as many additions
    words = len(FACTORS) + 2  # of global memory: those of a, and b read and written
    counted = [threads, threads, n // BLOCK, n // BLOCK, 4 * (BLOCK + 1), 2 * products, 4 * words]
    return {"b": mixed, "answers": np.array(counted)}


def bound(a, b, n):
    size = np.abs(a).reshape(4, n).sum(axis=0) * 3 + 3 * np.abs(b).max()
    return {"b": 1e-6 * size + 1e-7, "answers": 0.0}
