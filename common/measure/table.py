"""The table of measure.py: warpsim's counters beside Nsight Compute's."""

from __future__ import annotations

import datetime
import json
import sys
from collections import defaultdict
from pathlib import Path

from ncu import EXACT, LIMITS, PIPE, SHARED, attach_counters, read_ncu

ROOT = Path(__file__).resolve().parents[2]

TOLERANCE = 0.01  # of shared memory wavefronts
SHARED_UNIT_BYTES = 128
RESERVED_BYTES = 1024  # of shared memory, per block
REGISTERS = 65536  # per multiprocessor
FEWEST_REGISTERS = 16  # that the driver gives a thread which needs fewer

Pairs = dict[str, tuple[int, int]]  # counter -> (simulator's, GPU's), summed over a plan's kernels


def read_plans(directory: Path) -> tuple[dict, list[dict], dict]:
    """The simulator's plans by (name, case), the GPU's with ncu's counters attached, and the GPU."""
    sim = json.loads((directory / "sim.json").read_text())["plans"]
    report = json.loads((directory / "gpu.json").read_text())
    counted = json.loads((directory / "gpu-ncu.json").read_text())["plans"]
    attach_counters(counted, read_ncu(directory / "ncu.csv"))
    by_key = {(plan["name"], plan["case"]): plan for plan in counted}
    for plan in report["plans"]:
        plan["kernels"] = by_key[plan["name"], plan["case"]]["kernels"]
    return {(plan["name"], plan["case"]): plan for plan in sim}, report["plans"], report["gpu"]


def totals(ours: dict, plan: dict, metrics: dict[str, str]) -> Pairs:
    result = {}
    for counter, metric in metrics.items():
        counted = [k["ncu"].get(metric) for k in plan["kernels"] if "ncu" in k]
        if counted and None not in counted:
            result[counter] = (sum(k["counters"][counter] for k in ours["kernels"]), sum(counted))
    return result


def agreement(pairs: Pairs, counters: tuple[str, ...]) -> str:
    """`equal`, or how far off, counter by counter: ours / the GPU's."""
    if any(counter not in pairs for counter in counters):
        return "not measured"
    apart = [
        f"{counter.removeprefix('global_').replace('_', ' ')} {ours:,} / {theirs:,}"
        for counter, (ours, theirs) in ((counter, pairs[counter]) for counter in counters)
        if ours != theirs
    ]
    return "; ".join(apart) or "equal"


def deviation(pair: tuple[int, int]) -> float:
    ours, theirs = pair
    return (ours - theirs) / max(theirs, 1)


def compare_rows(ours: dict, theirs: dict) -> str:
    for side, plan in (("sim", ours), ("gpu", theirs)):
        if plan["status"] != "ok":
            return f"{side}: {plan['status']} {plan['message']}"
    apart = sum(a != b for a, b in zip(ours["rows"], theirs["rows"], strict=True))
    return f"{apart} of {len(ours['rows'])} rows differ" if apart else "identical"


def limits(ours: dict, plan: dict) -> list[str]:
    """What differs in the blocks per multiprocessor, limit by limit and altogether."""
    apart = []
    for mine, kernel in zip(ours["kernels"], plan["kernels"], strict=True):
        seen = kernel.get("ncu", {})
        if "launch__registers_per_thread" not in seen:
            continue
        registers = max(mine["registers"], FEWEST_REGISTERS)
        if registers != seen["launch__registers_per_thread"]:
            apart.append(f"registers {registers} / {seen['launch__registers_per_thread']}")
        expected = dict(mine["limits"])
        if registers != mine["registers"]:  # the limit is not that of what ptxas said
            warps = -(-mine["block"][0] * mine["block"][1] * mine["block"][2] // 32)
            expected["registers"] = REGISTERS // (32 * FEWEST_REGISTERS) // warps
        # ncu's limit is that of the carve-out which the driver chose for this launch.
        block = -(-(mine["shared_bytes"] + RESERVED_BYTES) // SHARED_UNIT_BYTES) * SHARED_UNIT_BYTES
        carved = seen["launch__shared_mem_config_size"] // block
        expected["shared_mem"] = min(expected["shared_mem"], carved)
        for name, metric in LIMITS.items():
            if expected[name] != seen[metric]:
                apart.append(f"{name} {expected[name]} / {seen[metric]}")
        x, y, z = mine["block"]
        warps = mine["blocks_per_sm"] * -(-x * y * z // 32)
        if warps != seen["sm__maximum_warps_avg_per_active_cycle"]:
            apart.append(f"warps {warps} / {seen['sm__maximum_warps_avg_per_active_cycle']}")
    return apart


def shared_cells(cases: list[tuple[dict, dict]], kind: str) -> list[str]:
    """The GPU's wavefronts at the largest n and the worst deviation: by instruction, at the pipe."""
    counter = f"shared_{kind}_wavefronts"
    by_instruction = [totals(*case, SHARED)[counter] for case in cases]
    at_pipe = [totals(*case, PIPE)[counter] for case in cases]
    if not any(theirs or ours for ours, theirs in by_instruction):
        return ["0", "", ""]
    worst = max(by_instruction, key=lambda pair: abs(deviation(pair)))
    pipe = max(map(deviation, at_pipe), key=abs)
    return [
        f"{by_instruction[-1][1]:,}",
        "equal"
        if worst[0] == worst[1]
        else f"{deviation(worst):+.2%} ({worst[0]:,} / {worst[1]:,})",
        f"{pipe:+.2%}",
    ]


def row(group: str, name: str, cases: list[tuple[dict, dict]]) -> str:
    """One kernel's line of the table; counts are those of its largest case."""
    cases = sorted(cases, key=lambda case: case[1]["j"])
    bits = {theirs["j"]: compare_rows(ours, theirs) for ours, theirs in cases}
    bad = [f"n = {n}: {text}" for n, text in bits.items() if text != "identical"]
    exact = [totals(*case, EXACT) for case in cases]
    worst = next((p for p in reversed(exact) if agreement(p, tuple(EXACT)) != "equal"), exact[-1])
    blocks = sorted({text for case in cases for text in limits(*case)})
    cells = [
        group, name, ", ".join(str(theirs["j"]) for _, theirs in cases), "; ".join(bad) or "identical",
        agreement(worst, tuple(EXACT)),
        f"{exact[-1]['global_load_sectors'][1]:,}", f"{exact[-1]['global_store_sectors'][1]:,}",
        *shared_cells(cases, "load"), *shared_cells(cases, "store"),
        "; ".join(blocks) or "equal: " + "/".join(str(k["blocks_per_sm"]) for k in cases[-1][0]["kernels"]),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def write_table(directory: Path, output: Path) -> None:
    sim, plans, gpu = read_plans(directory)
    groups = json.loads((directory / "groups.json").read_text())
    by_kernel: dict[str, list[tuple[dict, dict]]] = defaultdict(list)
    count: dict[str, int] = defaultdict(int)
    pipe = {"load": 0.0, "store": 0.0}
    for plan in plans:
        ours = sim[plan["name"], plan["case"]]
        by_kernel[plan["name"]].append((ours, plan))
        shared = totals(ours, plan, SHARED)
        count["same"] += compare_rows(ours, plan) == "identical"
        count["equal"] += agreement(totals(ours, plan, EXACT), tuple(EXACT)) == "equal"
        count["fma"] += agreement(shared, ("fma_lanes",)) == "equal"
        count["limits"] += not limits(ours, plan)
        for kind in ("load", "store"):
            counters = f"shared_{kind}_wavefronts", f"shared_{kind}_requests"
            count[f"{kind}s_equal"] += agreement(shared, counters[:1]) == "equal"
            count[f"{kind}s_close"] += abs(deviation(shared[counters[0]])) <= TOLERANCE
            count[f"{kind}_requests"] += agreement(shared, counters[1:]) == "equal"
            seen = deviation(totals(ours, plan, PIPE)[counters[0]])
            pipe[kind] = max(pipe[kind], seen, key=abs)
    page = (Path(__file__).with_name("table.md")).read_text()
    output.write_text(
        page.format(
            gpu=gpu["name"],
            driver=gpu["driver"],
            cuda=gpu["cuda"],
            date=datetime.date.fromtimestamp((directory / "gpu.json").stat().st_mtime),
            toolkit=(directory / "toolkit.txt").read_text().strip(),
            kernels=len(by_kernel),
            plans=len(plans),
            pipe_loads=f"{pipe['load']:+.1%}",
            pipe_stores=f"{pipe['store']:+.1%}",
            rows="\n".join(row(groups[name], name, cases) for name, cases in by_kernel.items()),
            **count,
        )  # fmt: skip
    )
    print(f"{dict(count)} of {len(plans)} plans; {pipe} -> {output}", file=sys.stderr)


if __name__ == "__main__":
    write_table(Path(sys.argv[1]), ROOT / "docs/measurements/sim-vs-gpu.md")
