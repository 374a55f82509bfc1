#!/usr/bin/env python3
"""Writes a data set: M.npy, N.npy and their product P.npy, float32, C order, into a folder.

    .venv/bin/python datasets/generate.py uniform 64 64 64 --seed 7 --output my-data
    .venv/bin/python datasets/generate.py --committed        the small sets beside this file, again

M is j x k, N is k x l, P is j x l, computed in float64 and rounded once. The same kind, shape and
seed give the same bytes on every machine; the kinds are those of lab.toml (grader/labs/data.py).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from grader.labs import data  # noqa: E402 - the package lies beside this folder

# The worked examples of the handouts: M and N written out. Neither is symmetric, nor any tile of N
# beyond the first two columns: one that is used transposed shows.
WORKED = {
    "toy-3x3": (
        [[1, 2, 3], [0, 1, 2], [2, 0, 1]],
        [[1, 0, 2], [2, 1, 0], [0, 1, 1]],
    ),
    "toy-4x4": (
        [[1, 2, 0, 1], [0, 1, 3, 2], [2, 0, 1, 1], [1, 1, 2, 0]],
        [[1, 0, 2, 3], [0, 1, 1, 2], [2, 1, 0, 1], [1, 2, 4, 0]],
    ),
}
# One small set of each kind, to look at: folder -> (kind, (j, k, l), seed).
SAMPLES = {
    "uniform-4x6x5": ("uniform", (4, 6, 5), 1),
    "integers-4x6x5": ("integers", (4, 6, 5), 1),
    "ill-conditioned-4x6x5": ("ill-conditioned", (4, 6, 5), 1),
    "special-4x6x5": ("special", (4, 6, 5), 1),
}


def committed() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """M and N of every committed set, by folder name."""
    sets = {name: (np.float32(m), np.float32(n)) for name, (m, n) in WORKED.items()}
    for name, (kind, shape, seed) in SAMPLES.items():
        sets[name] = data.make_inputs(kind, shape, seed)
    return sets


def write(folder: Path, m: np.ndarray, n: np.ndarray) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    product = (m.astype(np.float64) @ n.astype(np.float64)).astype(np.float32)
    for name, matrix in (("M", m), ("N", n), ("P", product)):
        np.save(folder / f"{name}.npy", matrix)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", nargs="?", choices=sorted(data.KINDS))
    parser.add_argument(
        "shape", nargs="*", type=int, metavar="J K L", help="rows of M, its columns, columns of N"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="folder to write to")
    parser.add_argument("--committed", action="store_true", help="write the sets beside this file")
    options = parser.parse_args()
    if options.committed:
        for name, (m, n) in committed().items():
            write(HERE / name, m, n)
        return 0
    if (
        options.kind is None
        or len(options.shape) != 3
        or min(options.shape) < 1
        or options.output is None
    ):
        parser.error("give a kind, three sizes of at least 1 and --output, or --committed")
    write(options.output, *data.make_inputs(options.kind, tuple(options.shape), options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
