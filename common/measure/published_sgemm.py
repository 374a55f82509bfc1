#!/usr/bin/env python3
"""Holds predictions for compute capability 8.6 and 7.5 against times that others published.

    published_sgemm.py a6000 CHECKOUT DIR      Boehm's kernels, measured by him on an RTX A6000
    published_sgemm.py rtx2080s CHECKOUT DIR   Zhai's kernels, measured by him on an RTX 2080 Super

CHECKOUT: of github.com/siboehm/SGEMM_CUDA or of
github.com/yzhaiustc/Optimizing-SGEMM-on-NVIDIA-Turing-GPUs; their code is read there and not part of
this repository. DIR: for what is compiled. Prints rows for
docs/measurements/predicted-times-published.md. Needs nvcc and the build's programs; no GPU.

The device of the measurement is one of ours with the same kind of multiprocessor, changed in what
the other board has: see `Series.changes`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import measure
import predict_times

WRAPPER = """#include <cuda_runtime.h>
#include "{header}"
void solve(const float* first, const float* second, float* c, int n) {{
  float *a = const_cast<float*>(first), *b = const_cast<float*>(second);
  {kernel}<<<dim3(n / {tile}, n / {tile}), {block}>>>(n, n, n, 0.5f, a, b, {beta}, c);
}}
"""


@dataclass(frozen=True)
class Series:
    """One author's kernels and the GPU they were timed on."""

    base: str  # device file
    changes: dict[str, object]  # of its fields; "timing" is merged
    sizes: tuple[int, ...]
    beta: str
    kernels: dict[int, tuple[str, str, int, str]]  # number: header, kernel, tile, block
    published: Callable[[Path, int, int], float]  # checkout, number, n -> GFLOP/s


def boehm_rate(checkout: Path, number: int, _: int) -> float:
    """Of the table in his README."""
    text = (checkout / "README.md").read_text()
    row = re.search(rf"^\| {number}: .*?\|\s*`([\d.]+)`", text, re.M)
    return float(row[1])


def zhai_rate(checkout: Path, number: int, n: int) -> float:
    text = (checkout / f"data/res_{number}.txt").read_text()
    return float(re.search(rf"M=N=K={n}:\n.*?performance: ([\d.]+) GFLOPS", text)[1])


def wide(number: int, file: str, kernel: str) -> dict[int, tuple[str, str, int, str]]:
    return {number: (f"src/kernels/{number}_kernel_{file}.cuh", kernel, 128, "256")}


SERIES = {
    # 84 multiprocessors at 1800 MHz; 768 GB/s, of which an A40 with the same kind reads 97.5%.
    "a6000": Series(
        "rtx3090",
        {"name": "RTX A6000", "sm_count": 84, "sm_clock_mhz": 1800, "memory_bandwidth_gbs": 768,
         "timing": {"memory_gbs": 750}},
        (4096,),
        "3.0f",
        {1: ("src/kernels/1_naive.cuh", "sgemm_naive", 32, "dim3(32, 32)"),
         2: ("src/kernels/2_kernel_global_mem_coalesce.cuh", "sgemm_global_mem_coalesce<32>", 32,
             "1024"),
         3: ("src/kernels/3_kernel_shared_mem_blocking.cuh", "sgemm_shared_mem_block<32>", 32,
             "1024"),
         4: ("src/kernels/4_kernel_1D_blocktiling.cuh", "sgemm1DBlocktiling<64, 64, 8, 8>", 64,
             "512")}
        | wide(5, "2D_blocktiling", "sgemm2DBlocktiling<128, 128, 8, 8, 8>")
        | wide(6, "vectorize", "sgemmVectorize<128, 128, 8, 8, 8>")
        | wide(7, "resolve_bank_conflicts", "sgemmResolveBankConflicts<128, 128, 8, 8, 8>")
        | wide(8, "bank_extra_col", "sgemmResolveBankExtraCol<128, 128, 8, 8, 8>")
        | wide(9, "autotuned", "sgemmAutotuned<128, 128, 16, 8, 8>")
        | {10: ("src/kernels/10_kernel_warptiling.cuh",
                "sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128>", 128, "128")},
        boehm_rate,
    ),
    # The T4's chip with 48 multiprocessors at 1815 MHz, L2's rate with the clock; 496 GB/s, of
    # which an RTX 2070 with the same kind reads 87.5%.
    "rtx2080s": Series(
        "t4",
        {"name": "RTX 2080 Super", "sm_count": 48, "sm_clock_mhz": 1815,
         "memory_bandwidth_gbs": 496, "timing": {"l2_gbs": 1450, "memory_gbs": 434, "note": ""}},
        (1024, 2048),
        "0.0f",
        {number: (f"include/kernel{number}.cuh", f"mysgemm_v{number}", tile, block)
         for number, tile, block in
         [(1, 32, "dim3(32, 32)"), (2, 32, "dim3(32, 32)"), (3, 32, "1024"), (4, 32, "1024"),
          (5, 32, "256"), (6, 32, "256"), (7, 64, "256"), (8, 128, "256"), (9, 128, "256"),
          (10, 128, "256"), (11, 128, "256")]},
        zhai_rate,
    ),
}  # fmt: skip


def write_device(series: Series, name: str, folder: Path) -> None:
    device = json.loads((measure.ROOT / f"common/devices/{series.base}.json").read_text())
    timing = device["timing"] | series.changes["timing"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(device | series.changes | {"timing": timing}))
    measure.ARCH = 10 * device["compute_capability"][0] + device["compute_capability"][1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("series", choices=SERIES)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--build", type=Path, default=measure.ROOT / "build")
    arguments = parser.parse_args()
    series, folder = SERIES[arguments.series], arguments.directory.resolve()
    write_device(series, arguments.series, folder / "devices")
    for number, (header, kernel, tile, block) in series.kernels.items():
        source = folder / f"{number:02}.cu"
        header_path = (arguments.checkout / header).resolve()
        # Boehm's headers include cuBLAS's and use nothing of it.
        bare = folder / f"{number:02}.cuh"
        bare.write_text(re.sub(r"#include <cublas.*\n", "", header_path.read_text()))
        source.write_text(
            WRAPPER.format(header=bare, kernel=kernel, tile=tile, block=block, beta=series.beta)
        )
        wanted = measure.Kernel("k", f"{number:02}", source, "square-device", series.sizes)
        plans = folder / "k" / f"{number:02}"
        measure.compile_and_record(wanted, plans, arguments.build, "/usr/local/cuda/bin/nvcc")
        predict_times.assemble(plans, "/usr/local/cuda/bin/ptxas")
    os.environ["TILEWISE_DEVICES"] = str(folder / "devices")
    predict_times.predict(folder, arguments.build, "", arguments.series)
    rows = []
    for entry in json.loads((folder / "predicted.json").read_text()):
        number, n = int(entry["name"][2:]), entry["n"]
        rate = series.published(arguments.checkout, number, n)
        found = entry["kernels"][0]
        rows.append((number, n, 2 * n**3 / rate / 1e6, found["predicted_ms"], found["bound"]))
    for number, n, published, predicted, bound in rows:
        print(f"| {series.kernels[number][1]} | {n} | {published:.2f} | {predicted:.2f} | "
              f"{100 * (predicted / published - 1):+.0f}% | {bound} |")  # fmt: skip
    errors = [abs(predicted / published - 1) for _, _, published, predicted, _ in rows]
    order = predict_times.spearman([row[2] for row in rows], [row[3] for row in rows])
    print(
        f"mean absolute error {100 * statistics.mean(errors):.1f}%, "
        f"worst {100 * max(errors):.0f}%, rank correlation {order:.3f}"
    )


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"published_sgemm.py: {error}") from None
