#!/usr/bin/env python3
"""Tensor-core instructions on a GPU and on warpsim: the bits of products, the wavefronts of ldmatrix.

    measure.py gpu DIR      on a machine with the GPU (nvcc, ncu): tiles, layouts, counts
    measure.py mmasim DIR   there too, if mmasim and torch are: its products of the same tiles
    measure.py sim DIR      the same programs on warpsim, without a GPU (nvcc)
    measure.py table DIR    writes docs/measurements/tensor-cores.md and tensor-cores-h200.txt

DIR may be carried from one machine to another between the steps. Programs: tiles.cu, matrices.cu.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PAGES = ROOT / "docs" / "measurements"
ON_GPU, ON_SIM = 1_000_000, 130_000  # tiles of each instruction and family
FAMILIES = ["any bits", "near 1", "wide exponents", "cancelling pairs", "subnormal", "mostly zero",
            "infinities and NaN", "at the edge of what is kept"]  # fmt: skip
LAYOUTS = 72
LOADS, STORES = ["x1", "x2.trans", "x4", "x4.trans"], ["st.x1", "st.x2.trans", "st.x4"]
WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
METRICS = [
    "smsp__inst_executed_op_ldsm.sum", "smsp__inst_executed_op_shared_stsm.sum",
    WAVEFRONTS.format("ldsm"), WAVEFRONTS.format("stsm"), "sm__inst_executed_pipe_tensor.sum",
    "sm__ops_path_tensor_src_fp16.sum", "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
    "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
]  # fmt: skip
COUNTERS = ["matrix_load_requests", "matrix_store_requests", "matrix_load_wavefronts",
            "matrix_store_wavefronts", "tensor_instructions"]  # fmt: skip
FORMS = {"f16.k16": 16, "f16.k8": 8, "f16.k16.f16": 16, "f16.k8.f16": 8, "bf16.k16": 16,
         "bf16.k8": 8, "tf32.k8": 8, "tf32.k4": 4}  # fmt: skip


def build(nvcc: str, folder: Path, *options: str) -> None:
    for name in ("tiles", "matrices"):
        subprocess.run(
            [nvcc, "-std=c++17", "-O3", "-lineinfo", "-arch=sm_90", *options, HERE / f"{name}.cu",
             "-o", folder / name], check=True,
        )  # fmt: skip


def output_of(*command) -> str:
    return subprocess.run(
        [str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def on_gpu(folder: Path, nvcc: str) -> None:
    programs = Path("/tmp/tensor")
    programs.mkdir(exist_ok=True)
    build(nvcc, programs)
    (folder / "tiles-gpu.txt").write_text(output_of(programs / "tiles", ON_GPU))
    (folder / "matrices-gpu.txt").write_text(output_of(programs / "matrices"))
    for name, arguments in (("matrices", []), ("tiles", [1000])):
        subprocess.run(
            ["ncu", "--clock-control", "none", "--csv", "--log-file", folder / f"{name}.csv",
             "--metrics", ",".join(METRICS), programs / name, *map(str, arguments)],
            stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    smi = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    version = re.search(r"V([0-9.]+)", output_of(nvcc, "--version"))[1]
    (folder / "machine.txt").write_text(f"{output_of(*smi).strip()}, CUDA {version}\n")


def on_mmasim(folder: Path, tiles: int) -> None:
    """How many elements of D mmasim computes as the GPU does, by instruction."""
    import torch
    from mmasim.nv_ptx import MMA

    names = {"f16": "f16", "bf16": "bf16", "tf32": "tf32"}
    kinds = {"f16": torch.float16, "bf16": torch.bfloat16}
    found = {}
    for form, k in FORMS.items():
        factor, sums = form.split(".")[0], "f16" if form.endswith(".f16") else "f32"
        shape = f"m16n8k{k}.{sums}.{names[factor]}.{names[factor]}.{sums}"
        mma, same, total = MMA("Hopper", shape), 0, 0
        for family in range(len(FAMILIES)):
            text = output_of("/tmp/tensor/tiles", "--bits", form, family, 0, tiles)
            for line in text.splitlines():
                bits = torch.tensor([int(word, 16) for word in line.split()], dtype=torch.int64)

                def matrix(at: int, rows: int, columns: int, half: bool, kind):
                    part = bits[at : at + rows * columns].view(rows, columns)
                    width = torch.int16 if half else torch.int32
                    limit = 1 << (15 if half else 31)
                    signed = torch.where(part >= limit, part - 2 * limit, part)
                    return signed.to(width).view(kind)

                kind = kinds.get(factor, torch.float32)
                a = matrix(0, 16, k, factor != "tf32", kind)
                b = matrix(16 * k, k, 8, factor != "tf32", kind)
                sum_kind = torch.float16 if sums == "f16" else torch.float32
                c = matrix(24 * k, 16, 8, sums == "f16", sum_kind)
                d = matrix(24 * k + 128, 16, 8, sums == "f16", sum_kind)
                width = torch.int16 if sums == "f16" else torch.int32
                same += int((mma(a, b, c).view(width) == d.view(width)).sum())
                total += 128
        found[form] = [same, total]
        print(form, same, total, flush=True)
    (folder / "mmasim.json").write_text(json.dumps(found, indent=1))


def on_sim(folder: Path, nvcc: str) -> None:
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    build(nvcc, programs, "-cudart", "shared")
    warpsim = [
        os.environ.get("TILEWISE_BUILD", ROOT / "build") / Path("bin/warpsim"),
        "run",
        "--quiet",
    ]
    (folder / "tiles-sim.txt").write_text(
        output_of(*warpsim, "--checks", "none", "--", programs / "tiles", ON_SIM)
    )
    (folder / "matrices-sim.txt").write_text(output_of(*warpsim, "--", programs / "matrices"))
    counts = []
    for layout in range(LAYOUTS):
        report = folder / "one.json"
        output_of(*warpsim, "--json", report, "--", programs / "matrices", layout)
        kernels = json.loads(report.read_text())["kernels"]
        counts.append([{name: kernel["counters"][name] for name in COUNTERS} for kernel in kernels])
    report = folder / "one.json"
    output_of(*warpsim, "--json", report, "--", programs / "tiles", 1000)
    tiles = [
        {"tensor_instructions": k["counters"]["tensor_instructions"],
         "tensor_multiply_adds": k["counters"]["tensor_multiply_adds"]}
        for k in json.loads(report.read_text())["kernels"]
    ]  # fmt: skip
    report.unlink()
    (folder / "counts-sim.json").write_text(json.dumps({"matrices": counts, "tiles": tiles}))


def launches(path: Path) -> list[dict[str, float]]:
    """The metrics of each launch, in order."""
    lines = [line for line in path.read_text().splitlines() if line.startswith('"')]
    found: dict[str, dict[str, float]] = collections.OrderedDict()
    for row in csv.DictReader(lines):
        text = row["Metric Value"].replace(",", "")
        if re.fullmatch(r"[\d.]+", text):
            found.setdefault(row["ID"], {})[row["Metric Name"]] = float(text)
        else:
            found.setdefault(row["ID"], {})
    return list(found.values())


def hashes(path: Path) -> dict[tuple[str, int, int], str]:
    """By instruction, family and first tile."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {(form, int(family), int(first)): value for form, family, first, value in rows}


def table(folder: Path) -> int:
    gpu, sim = hashes(folder / "tiles-gpu.txt"), hashes(folder / "tiles-sim.txt")
    different = [key for key in sim if gpu[key] != sim[key]]
    kept = sorted(key for key in gpu if key[2] == 0)
    (PAGES / "tensor-cores-h200.txt").write_text(
        "".join(
            f"{form} {family} {first} {gpu[form, family, first]}\n" for form, family, first in kept
        )
    )
    matrices = [(folder / f"matrices-{who}.txt").read_text() for who in ("gpu", "sim")]
    counted, counts = (
        launches(folder / "matrices.csv"),
        json.loads((folder / "counts-sim.json").read_text()),
    )
    wrong, compared = [], 0
    for layout, kernels in enumerate(counts["matrices"]):
        for place, (name, ours) in enumerate(zip(LOADS + STORES, kernels, strict=True)):
            at = len(LOADS) * layout + place
            if place >= len(LOADS):
                at = len(LOADS) * LAYOUTS + len(STORES) * layout + place - len(LOADS)
            pairs = zip(METRICS[:4], COUNTERS[:4], strict=True)
            compared += 1
            if any(counted[at].get(metric, 0) != ours[counter] for metric, counter in pairs):
                wrong.append(f"{name} of layout {layout}")
    mmas = launches(folder / "tiles.csv")[:: len(FAMILIES)]
    rows = []
    mmasim = json.loads(path.read_text()) if (path := folder / "mmasim.json").exists() else {}
    for form, one, ours in zip(FORMS, mmas, counts["tiles"], strict=True):
        per_launch = {name: value / len(FAMILIES) for name, value in ours.items()}
        operations = sum(value for name, value in one.items() if "ops_path" in name)
        beside = mmasim.get(form)
        bad = sum(128 for key in different if key[0] == form)
        rows.append(
            f"| {form} | {ON_SIM * len(FAMILIES):,} | {'0' if not bad else 'some'} | "
            f"{one['sm__inst_executed_pipe_tensor.sum']:g} / {per_launch['tensor_instructions']:g} | "
            f"{operations / 2:g} / {per_launch['tensor_multiply_adds']:g} | "
            + (f"{beside[1] - beside[0]:,} of {beside[1]:,} |" if beside else "not run |")
        )
    page = (HERE / "page.md").read_text()
    fields = {
        "machine": (folder / "machine.txt").read_text().strip(),
        "rows": "\n".join(rows),
        "layouts": f"{compared - len(wrong)} of {compared}",
        "contents": "all" if matrices[0] == matrices[1] else "not all",
        "wrong": "; ".join(wrong) or "none",
        "families": ", ".join(FAMILIES),
        "on_gpu": f"{ON_GPU * len(FAMILIES) * len(FORMS):,}",
    }
    for name, value in fields.items():
        page = page.replace("{" + name + "}", value)
    (PAGES / "tensor-cores.md").write_text(page)
    print(f"{len(different)} of {len(sim)} hashes differ; layouts {fields['layouts']}")
    return 1 if different or wrong or matrices[0] != matrices[1] else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("step", choices=["gpu", "mmasim", "sim", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--tiles", type=int, default=250, help="of each family, for mmasim")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.step == "gpu":
        on_gpu(given.folder, given.nvcc)
    elif given.step == "mmasim":
        on_mmasim(given.folder, given.tiles)
    elif given.step == "sim":
        on_sim(given.folder, given.nvcc)
    else:
        sys.exit(table(given.folder))


if __name__ == "__main__":
    main()
