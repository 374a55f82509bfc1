"""Nsight Compute's counters: their names beside warpsim's, and reading what ncu wrote."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

# Ours -> Nsight Compute's, summed over a launch: as common/warpsim/counters.inc names them.
ROOT = Path(__file__).resolve().parents[2]
NSIGHT = {
    counter["name"]: counter["nsight"]
    for counter in json.loads((ROOT / "grader/labs/counters.json").read_text(encoding="utf-8"))
    if counter["nsight"]
}
EXACT = {name: metric for name, metric in NSIGHT.items() if name.startswith("global_")}
SHARED = {name: metric for name, metric in NSIGHT.items() if name.startswith("shared_")} | {
    "fma_lanes": NSIGHT["fma_lanes"]
}
# The wavefronts at the pipe: with those that were lost when others got in the way.
PIPE = {
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
# Blocks per multiprocessor, had it only this one limit; the same for all launches of a kernel.
LIMITS = {
    name: f"launch__occupancy_limit_{name}"
    for name in ("warps", "blocks", "registers", "shared_mem")
}
LAUNCH = (
    *LIMITS.values(),
    "launch__registers_per_thread",
    "launch__shared_mem_config_size",
    "sm__maximum_warps_avg_per_active_cycle",
)
# Counted apart by the hardware: what warpsim may have to add or leave out to agree.
EXTRA = (
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    NSIGHT["instructions"],
)


def read_ncu(path: Path) -> list[dict[str, str]]:
    """One dictionary per launch, in order; ncu's own remarks and the row of units left out."""
    lines = [line for line in path.read_text(errors="replace").splitlines() if line.startswith('"')]
    return [row for row in csv.DictReader(lines) if row["ID"].strip().isdigit()]


def number(text: str) -> int:
    return round(float(text.replace(",", ""))) if text else 0


def base_name(kernel: str) -> str:
    return re.split(r"[<(]", kernel.replace("void ", ""))[0].strip()


def attach_counters(plans: list[dict], launches: list[dict[str, str]]) -> None:
    """Adds to each kernel of each plan the sums of ncu's metrics over its launches."""
    rows = iter(launches)
    for plan in plans:
        for index in plan.get("order", []):
            kernel = plan["kernels"][index]
            row = next(rows)
            if base_name(row["Kernel Name"]) != base_name(kernel["name"]):
                raise SystemExit(
                    f"launches out of step: {row['Kernel Name']} is not {kernel['name']}"
                )
            sums = kernel.setdefault("ncu", {})
            for metric in (*EXACT.values(), *SHARED.values(), *PIPE.values(), *EXTRA):
                if row.get(metric):
                    sums[metric] = sums.get(metric, 0) + number(row[metric])
            sums |= {metric: number(row[metric]) for metric in LAUNCH if row.get(metric)}
    if next(rows, None) is not None:
        raise SystemExit("ncu saw more launches than the plans have")
