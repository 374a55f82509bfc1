#!/usr/bin/env python3
"""wmma on a GPU and on warpsim: places of elements in fragments, the bits of products, what is counted.

    wmma.py build DIR    programs for both (nvcc)
    wmma.py gpu DIR      on a machine with the GPU (ncu)
    wmma.py sim DIR      anywhere
    wmma.py table DIR    writes docs/measurements/wmma.md and wmma-h200.txt

DIR may be carried from one machine to another between the steps. Program: wmma.cu.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from measure import METRICS as TENSOR_METRICS
from measure import launches, output_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PAGES = ROOT / "docs" / "measurements"
FAMILIES = 8
THOUSANDS = 125  # of each form and family
# Nsight Compute's metric -> warpsim's counter, of a launch of a thousand tiles.
PAIRS = {
    "sm__inst_executed_pipe_tensor.sum": "tensor_instructions",
    "smsp__inst_executed_op_ldsm.sum": "matrix_load_requests",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum": "matrix_load_wavefronts",
}  # fmt: skip
OPERATIONS = [name for name in TENSOR_METRICS if "ops_path" in name]


def build(folder: Path, nvcc: str) -> None:
    for name, options in (("wmma-gpu", []), ("wmma-sim", ["-cudart", "shared"])):
        subprocess.run(
            [nvcc, "-std=c++17", "-O3", "-lineinfo", "-arch=sm_90", *options, HERE / "wmma.cu",
             "-o", folder / name], check=True,
        )  # fmt: skip


def on_gpu(folder: Path, nvcc: str) -> None:
    program = folder / "wmma-gpu"
    (folder / "places-gpu.txt").write_text(output_of(program, "places"))
    (folder / "products-gpu.txt").write_text(output_of(program, "products", THOUSANDS))
    subprocess.run(
        ["ncu", "--clock-control", "none", "--csv", "--log-file", folder / "wmma.csv",
         "--metrics", ",".join([*PAIRS, *OPERATIONS]), program, "products", "1"],
        stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    smi = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    version = re.search(r"V([0-9.]+)", output_of(nvcc, "--version"))[1]
    day = datetime.date.today().isoformat()
    (folder / "machine.txt").write_text(f"{day}, {output_of(*smi).strip()}, CUDA {version}\n")


def on_sim(folder: Path, jobs: int) -> None:
    program, build_folder = folder / "wmma-sim", os.environ.get("TILEWISE_BUILD", ROOT / "build")
    warpsim = [build_folder / Path("bin/warpsim"), "run", "--quiet"]
    unchecked = [*warpsim, "--checks", "none", "--", program, "products"]
    (folder / "places-sim.txt").write_text(output_of(*warpsim, "--", program, "places"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(lambda first: output_of(*unchecked, 1, first), range(THOUSANDS))
        (folder / "products-sim.txt").write_text("".join(parts))
    report = folder / "one.json"
    output_of(*warpsim, "--json", report, "--", program, "products", 1)
    kernels = json.loads(report.read_text())["kernels"]
    report.unlink()
    wanted = [*PAIRS.values(), "tensor_multiply_adds"]
    counts = [{name: kernel["counters"][name] for name in wanted} for kernel in kernels]
    (folder / "counts-sim.json").write_text(json.dumps(counts))


def by_key(path: Path, width: int) -> dict[tuple[str, ...], str]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {tuple(row[:width]): row[width] for row in rows}


def table(folder: Path) -> int:
    gpu, sim = (by_key(folder / f"products-{who}.txt", 3) for who in ("gpu", "sim"))
    places, ours = (by_key(folder / f"places-{who}.txt", 1) for who in ("gpu", "sim"))
    forms = list(dict.fromkeys(form for form, _, _ in gpu))
    counted, counts = (
        launches(folder / "wmma.csv"),
        json.loads((folder / "counts-sim.json").read_text()),
    )
    # The launches of a program that are alike are one entry of the report.
    per_form = len(counts) // len(forms)
    rows, failed = [], 0
    for number, form in enumerate(forms):
        keys = [key for key in sim if key[0] == form]
        bad = sum(gpu[key] != sim[key] for key in keys)
        kept = [key for key in places if key[0].rsplit(".", 2)[0] == form]
        moved = [
            ".".join(key[0].rsplit(".", 2)[1:]) for key in kept if places[key] != ours.get(key)
        ]
        one = counted[number * FAMILIES]
        mine = counts[number * per_form]
        launched = FAMILIES // per_form
        cells = [f"{one[metric]:g} / {mine[name] / launched:g}" for metric, name in PAIRS.items()]
        operations = sum(one[name] for name in OPERATIONS) / 2
        cells.append(f"{operations:g} / {mine['tensor_multiply_adds'] / launched:g}")
        rows.append(
            f"| {form} | {len(kept) - len(moved)} of {len(kept)} | {len(keys) * 1000:,} | {bad} | "
            + " | ".join(cells)
            + " |"
        )
        failed += bad + len(moved)
        print(form, "places that differ:", *moved, "hashes that differ:", bad)
    kept = [f"{' '.join(key)} {value}\n" for key, value in places.items()]
    kept += [f"{' '.join(key)} {value}\n" for key, value in gpu.items() if key[2] == "0"]
    (PAGES / "wmma-h200.txt").write_text("".join(kept))
    page = (HERE / "wmma.md").read_text()
    fields = {"machine": (folder / "machine.txt").read_text().strip(), "rows": "\n".join(rows)}
    for name, value in fields.items():
        page = page.replace("{" + name + "}", value)
    (PAGES / "wmma.md").write_text(page)
    return 1 if failed else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("step", choices=["build", "gpu", "sim", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.step == "build":
        build(given.folder, given.nvcc)
    elif given.step == "gpu":
        on_gpu(given.folder, given.nvcc)
    elif given.step == "sim":
        on_sim(given.folder, given.jobs)
    else:
        sys.exit(table(given.folder))


if __name__ == "__main__":
    main()
