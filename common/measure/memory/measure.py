#!/usr/bin/env python3
"""Every memory instruction's counters on a GPU and on warpsim, and what faults do on both.

    measure.py gpu DIR       build for the GPU of this machine and run: leaves 4 files (nvcc, ncu, compute-sanitizer)
    measure.py sim DIR       the same programs on warpsim                                 (nvcc; no GPU)
    measure.py table DIR     write docs/measurements/memory-instructions.md from both

DIR may be carried to another machine between the steps. Programs: instructions.cu, faults.cu.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ARCH = 90  # compute capability
# What is looked at of Nsight Compute's metrics: all that count accesses to memory.
METRICS = re.compile(
    r"l1tex__t_(requests|sectors)_pipe_lsu_mem_(global|local)_op_(ld|st|atom|red|ldgsts\w*)$"
    r"|smsp__inst_executed_op_(shared|local|global|generic|ldgsts|ldc|ldsm|ld$|st$|atom|red)\w*$"
    r"|smsp__inst_executed_op_(ld|st)$"
    r"|smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_(ld|st|atom\w*)$"
    r"|l1tex__data_pipe_lsu_wavefronts_mem_shared_op_(ld|st|atom\w*|red)$"
    r"|l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_\w+$"
    r"|idc__requests$"
    r"|lts__t_(requests|sectors)_srcunit_tex_op_(read|write|atom|red)$"
)
SANITIZERS = {
    "memcheck": re.compile(r"const|shared_g|global_|local_|atom_|copy|source"),
    "racecheck": re.compile(r"barrier|volatile|arms|lanes"),
    "synccheck": re.compile(r"barrier|arms|shfl|ballot|syncwarp|masks"),
}
CASE_SECONDS, COUNTING_SECONDS = 10, 110


def build(nvcc: str, folder: Path, *options: str) -> None:
    builds = [
        subprocess.Popen(
            [nvcc, "-std=c++17", "-O3", "-lineinfo", "-w", *options, HERE / f"{name}.cu", "-o", folder / name]
        )
        for name in ("instructions", "faults")
    ]  # fmt: skip
    if any([one.wait() for one in builds]):
        sys.exit("nvcc failed")


def metrics_of(ncu: str) -> list[str]:
    done = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True)
    names = re.findall(r"^(\w+__\w+)", done.stdout, re.M)
    return sorted({f"{name}.sum" for name in names if METRICS.match(name)})


def run_case(command: list) -> str:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    )  # fmt: skip
    try:
        return process.communicate(timeout=CASE_SECONDS)[0].strip()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # a debugged program, too
        process.wait()
        return f"did not end within {CASE_SECONDS} s"


def on_gpu(folder: Path, nvcc: str) -> None:
    programs = Path("/tmp/memory-instructions")
    programs.mkdir(exist_ok=True)
    build(nvcc, programs, "-gencode", f"arch=compute_{ARCH},code=sm_{ARCH}")
    ncu = shutil.which("ncu")
    metrics = metrics_of(ncu)
    (folder / "metrics.txt").write_text("\n".join(metrics) + "\n")
    try:
        subprocess.run(
            [ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
             "--log-file", folder / "ncu.csv", "--metrics", ",".join(metrics), programs / "instructions"],
            timeout=COUNTING_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        print("ncu did not end; what it had written stays", file=sys.stderr)
    names = subprocess.run(
        [programs / "faults"], capture_output=True, text=True, check=True
    ).stdout.split()
    results: dict[str, dict[str, str]] = {
        name: {"run": run_case([programs / "faults", name])} for name in names
    }
    sanitizer = shutil.which("compute-sanitizer")
    jobs = [
        (name, tool)
        for name in names
        for tool, wanted in SANITIZERS.items()
        if sanitizer and wanted.search(name)
    ]
    with ThreadPoolExecutor(6) as pool:
        said = pool.map(
            lambda job: run_case([sanitizer, "--tool", job[1], programs / "faults", job[0]]), jobs
        )
        for (name, tool), text in zip(jobs, said):
            results[name][tool] = text[:3000]
    (folder / "faults.json").write_text(json.dumps(results, indent=1))
    machine = run_case(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    toolkit = run_case([nvcc, "--version"]).splitlines()[-2]
    (folder / "machine.txt").write_text(f"{machine}\n{toolkit}\n")
    for name in names:
        print(results[name]["run"])


def on_sim(folder: Path, nvcc: str) -> None:
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    build(
        nvcc, programs, "-cudart", "shared", "--no-compress",
        "-gencode", f"arch=compute_{ARCH},code=compute_{ARCH}",
    )  # fmt: skip
    warpsim = ROOT / "build/bin/warpsim"
    subprocess.run(
        [
            warpsim,
            "run",
            "--device",
            "h200",
            "--json",
            folder / "sim.json",
            "--",
            programs / "instructions",
        ]
    )
    names = subprocess.run(
        [warpsim, "run", "--", programs / "faults"], capture_output=True, text=True
    ).stdout
    results = {}
    for name in re.findall(r"^[a-z]\w+$", names, re.M):
        report = folder / "fault.json"
        report.unlink(missing_ok=True)
        said = run_case(
            [warpsim, "run", "--device", "h200", "--json", report, "--", programs / "faults", name]
        )
        found = json.loads(report.read_text())["diagnostics"] if report.exists() else []
        found = [d for d in found if d["severity"] != "note"]
        results[name] = {
            "run": next((s for s in said.splitlines() if s.startswith(name)), ""),
            "findings": sorted({f"{d['code']} ({d.get('cause', '')})" if d.get("cause") else d["code"] for d in found}),
        }  # fmt: skip
    (folder / "sim-faults.json").write_text(json.dumps(results, indent=1))


def counts_of_gpu(path: Path) -> dict[str, dict[str, int]]:
    """By kernel and metric; the last launch of a name counts."""
    lines = [line for line in path.read_text().splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        name = re.sub(r"\(.*", "", row.get("Kernel Name", ""))
        if not name:
            continue  # the line of units
        values = {}
        for column, text in row.items():
            if column and "__" in column and re.fullmatch(r"[\d,.]+", text or ""):
                values[column] = int(float(text.replace(",", "")))
        counts[name] = values
    return counts


def counts_of_sim(path: Path) -> dict[str, dict[str, int]]:
    report = json.loads(path.read_text())
    return {entry["name"]: entry["counters"] for entry in report["kernels"]}


def compare(folder: Path, output: Path) -> None:
    counters = json.loads((ROOT / "grader/labs/counters.json").read_text())
    pairs = {
        counter["name"]: counter["nsight"]
        for counter in counters
        if counter["nsight"] and METRICS.match(counter["nsight"].removesuffix(".sum"))
    }
    gpu, sim = counts_of_gpu(folder / "ncu.csv"), counts_of_sim(folder / "sim.json")
    known = {metric for values in gpu.values() for metric in values}
    # Instructions whose predicate holds for some lane: warpsim counts no others.
    for name, metric in pairs.items():
        some = metric.replace(".sum", "_pred_on_any.sum")
        pairs[name] = some if some in known else metric
    lines, equal, total = [], 0, 0
    for name, ours in sim.items():
        if name not in gpu:
            continue
        shown, different = [], []
        for counter, metric in pairs.items():
            if metric not in known:
                continue
            mine, theirs = ours.get(counter, 0), gpu[name].get(metric, 0)
            if mine or theirs:
                shown.append(f"{counter} {mine}")
            if mine != theirs:
                different.append(f"{counter} {mine} / {theirs}")
        total += 1
        equal += not different
        lines.append(
            f"| {name} | {', '.join(shown)} | {'equal' if not different else ', '.join(different)} |"
        )
    faults = json.loads((folder / "faults.json").read_text())
    ours = json.loads((folder / "sim-faults.json").read_text())
    rows = []
    for name, said in faults.items():
        tools = "; ".join(
            f"{tool}: {_verdict(text)}" for tool, text in said.items() if tool != "run"
        )
        run = said["run"].splitlines()[-1].removeprefix(f"{name}: ") if said["run"] else "nothing"
        mine = ", ".join(ours.get(name, {}).get("findings", [])) or "nothing"
        rows.append(f"| {name} | {run} | {tools} | {mine} |")
    machine = (folder / "machine.txt").read_text().splitlines()
    output.write_text(
        (HERE / "page.md").read_text().format(
            gpu=machine[0], toolkit=machine[1], equal=equal, total=total,
            missing=", ".join(sorted(f"`{m}`" for m in pairs.values() if m not in known)) or "none",
            counts="\n".join(lines), faults="\n".join(rows),
        )
    )  # fmt: skip


def _verdict(text: str) -> str:
    found = re.search(r"ERROR SUMMARY: (\d+) error", text)
    hazards = re.search(r"RACECHECK SUMMARY: (\d+) hazard\w* displayed \((\d+) errors?", text)
    if hazards:
        return f"{hazards[1]} hazards ({hazards[2]} errors)"
    if found and found[1] == "0":
        return "clean"
    first = re.search(r"^========= (?!COMPUTE)(\S[^\n]*)", text, re.M)
    if first:
        return re.sub(r" (at|by|of size) .*", "", first[1])
    return text.splitlines()[-1] if text else "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("gpu", "sim", "table"))
    parser.add_argument("directory", type=Path)
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs/measurements/memory-instructions.md"
    )
    arguments = parser.parse_args()
    folder = arguments.directory.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if arguments.step == "gpu":
        on_gpu(folder, nvcc)
    elif arguments.step == "sim":
        on_sim(folder, nvcc)
    else:
        compare(folder, arguments.output)


if __name__ == "__main__":
    main()
