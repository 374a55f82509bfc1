#!/usr/bin/env python3
"""Holds the simulator against a GPU: results bit for bit, memory counters against Nsight Compute's.

    measure.py record DIR      compile and record all kernels                        (nvcc; no GPU)
    measure.py sim DIR         carry the plans out on the simulator                  (neither)
    measure.py gpu DIR         the same on the GPU, then again under Nsight Compute  (a GPU; no nvcc)
    measure.py table DIR       write docs/measurements/sim-vs-gpu.md from both

DIR may be carried to another machine between the steps. Kernels: the labs' solutions, the gallery,
the right submissions of the grader's corpus, and kernels/ beside this file, each of which is odd in one way.
Needs the build's programs (ninja -C build tilewise-record tilewise-measure cudart13).
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ARCH = 90  # compute capability the PTX is made for
SIZES = (64, 256, 1024)
ODD_SIZES = (64, 100, 256, 1024)  # 100: no multiple of a warp, a tile or a sector

# ours -> Nsight Compute's, summed over a launch
EXACT = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
SHARED = {
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "fma_lanes": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
}
WAVEFRONTS = ("shared_load_wavefronts", "shared_store_wavefronts")
# Counted apart by the hardware: what warpsim may have to add or leave out to agree.
EXTRA = (
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    "smsp__inst_executed.sum",
)


@dataclass(frozen=True)
class Kernel:
    """One submission to measure."""

    group: str  # "solutions", "gallery", "corpus", "odd"
    name: str
    source: Path
    signature: str
    sizes: tuple[int | str, ...]  # widths, or shapes "JxKxL"


def kernels() -> list[Kernel]:
    found = []
    signatures = {}
    for lab in sorted((ROOT / "labs").glob("[0-9]*/lab.toml")):
        signature = re.search(r'^signature\s*=\s*"([\w-]+)"', lab.read_text(), re.M)
        signatures[lab.parent.name] = signature[1]
    for name, signature in signatures.items():
        source = ROOT / "solutions" / name / "matmul.cu"
        if source.exists():
            found.append(Kernel("solutions", name, source, signature, (*SIZES, 512)))
        corpus = ROOT / "grader/tests/corpus" / name / "right"
        for source in sorted(corpus.glob("*.cu")):
            found.append(Kernel("corpus", f"{name[:2]}-{source.stem}", source, signature, SIZES))
    for source in sorted((ROOT / "solutions/gallery").glob("*.cu")):
        found.append(Kernel("gallery", source.stem, source, "square-device", (256, 1024)))
    for source in sorted((Path(__file__).parent / "kernels").glob("*.cu")):
        found.append(Kernel("odd", source.stem, source, "square-device", ODD_SIZES))
    return found


def case_argument(size: int | str) -> str:
    """Of a width, or of a shape "JxKxL", which is then also the case's id."""
    return f"{size}:{size}" if isinstance(size, str) else f"{size}:{size}x{size}x{size}"


def compile_and_record(kernel: Kernel, folder: Path, build: Path, nvcc: str) -> None:
    """Leaves the plans and their PTX in the folder. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        nvcc, "-std=c++17", "-O3", "-lineinfo", "--no-compress", "-Xcompiler", "-fPIC",
        "-I", ROOT / "common/include", "-gencode", f"arch=compute_{ARCH},code=compute_{ARCH}",
        "-c", kernel.source, "-o", folder / "matmul.o",
    ]  # fmt: skip
    subprocess.run(command, check=True)
    runtime = max(build.glob("lib/libcudart.so.*"), key=lambda path: int(path.suffix[1:]))
    subprocess.run(
        ["g++", "-shared", folder / "matmul.o", "-o", folder / "submission.so",
         f"-L{build}/lib", f"-l:{runtime.name}"],
        check=True,
    )  # fmt: skip
    cases = [word for size in kernel.sizes for word in ("--case", case_argument(size))]
    subprocess.run(
        [build / "bin/tilewise-record", "--submission", folder / "submission.so",
         "--signature", kernel.signature, "--output", folder, *cases],
        check=True,
    )  # fmt: skip
    for leftover in ("matmul.o", "submission.so"):
        (folder / leftover).unlink()


def record(directory: Path, build: Path, only: str) -> None:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    lines, groups = [], {}
    chosen = [k for k in kernels() if only in f"{k.group}/{k.name}"]
    for at, kernel in enumerate(chosen):
        print(f"{at + 1}/{len(chosen)} {kernel.group}/{kernel.name}", file=sys.stderr)
        folder = directory / "plans" / f"{kernel.group}-{kernel.name}"
        try:
            compile_and_record(kernel, folder, build, nvcc)
        except subprocess.CalledProcessError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        groups[kernel.name] = kernel.group
        for case in json.loads((folder / "record.json").read_text())["cases"]:
            plan = folder / f"{case['id']}.plan.json"
            if case["status"] != "ok":
                print(f"{kernel.name} {case['id']}: {case['status']}: {case['message']}")
            elif '"op":"launch"' in plan.read_text():  # the gallery launches nothing for other widths
                lines.append(f"{kernel.name} {plan.relative_to(directory)}")
    (directory / "plans.txt").write_text("\n".join(lines) + "\n")
    (directory / "groups.json").write_text(json.dumps(groups))
    release = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    (directory / "toolkit.txt").write_text(re.search(r"release .*", release)[0])


def simulate(directory: Path, build: Path) -> None:
    subprocess.run(
        [build / "bin/tilewise-measure", "--list", "plans.txt", "--backend", "sim", "--output", "sim.json"],
        cwd=directory,
        check=True,
        env=os.environ | {"TILEWISE_DEVICES": str(ROOT / "common/devices")},
    )


def available_metrics(ncu: str) -> set[str]:
    """Base names of the GPU's metrics; empty if ncu does not tell."""
    done = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True)
    return set(re.findall(r"^(\w+__\w+)", done.stdout, re.M))


def gpu(directory: Path, build: Path, repeat: int) -> None:
    measure = [build / "bin/tilewise-measure", "--list", "plans.txt", "--backend", "gpu"]
    subprocess.run(
        [*measure, "--output", "gpu.json", "--repeat", str(repeat)], cwd=directory, check=True
    )
    ncu = shutil.which("ncu")
    if not ncu:
        print("no ncu: counters are not compared", file=sys.stderr)
        return
    wanted = [*EXACT.values(), *SHARED.values(), *EXTRA]
    known = available_metrics(ncu)
    metrics = [m for m in wanted if not known or m.rsplit(".", 1)[0] in known]
    print("metrics left out:", sorted(set(wanted) - set(metrics)), file=sys.stderr)
    subprocess.run(
        [ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
         "--log-file", "ncu.csv", "--metrics", ",".join(metrics), *measure, "--output", "gpu-ncu.json"],
        cwd=directory, check=True,
    )  # fmt: skip


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
            for metric in (*EXACT.values(), *SHARED.values(), *EXTRA):
                if metric in row:
                    sums[metric] = sums.get(metric, 0) + number(row[metric])
    if next(rows, None) is not None:
        raise SystemExit("ncu saw more launches than the plans have")


def totals(plan: dict, ours: dict) -> dict[str, tuple[int, int]]:
    """counter -> (simulator's, GPU's), summed over a plan's kernels."""
    result = {}
    for counter, metric in {**EXACT, **SHARED}.items():
        counted = [k["ncu"].get(metric) for k in plan["kernels"] if "ncu" in k]
        if counted and None not in counted:
            result[counter] = (sum(k["counters"][counter] for k in ours["kernels"]), sum(counted))
    return result


def agreement(pairs: dict[str, tuple[int, int]], counters: tuple[str, ...]) -> str:
    """`equal`, or how far off, counter by counter: ours / the GPU's."""
    if any(counter not in pairs for counter in counters):
        return "not measured"
    apart = [
        f"{counter.removeprefix('shared_').removeprefix('global_').replace('_', ' ')} {ours:,} / {theirs:,}"
        for counter, (ours, theirs) in ((counter, pairs[counter]) for counter in counters)
        if ours != theirs
    ]
    return "; ".join(apart) or "equal"


def read_plans(directory: Path) -> tuple[dict, list[dict], dict]:
    """The simulator's plans by (name, case), the GPU's with ncu's counters attached, and the GPU."""
    sim = json.loads((directory / "sim.json").read_text())["plans"]
    report = json.loads((directory / "gpu.json").read_text())
    if (directory / "ncu.csv").exists():
        counted = json.loads((directory / "gpu-ncu.json").read_text())["plans"]
        attach_counters(counted, read_ncu(directory / "ncu.csv"))
        by_key = {(plan["name"], plan["case"]): plan for plan in counted}
        for plan in report["plans"]:
            plan["kernels"] = by_key[plan["name"], plan["case"]]["kernels"]
    return {(plan["name"], plan["case"]): plan for plan in sim}, report["plans"], report["gpu"]


def row(group: str, name: str, cases: list[tuple[dict, dict]]) -> str:
    """One kernel's line of the table; counts are those of its largest case."""
    cases = sorted(cases, key=lambda pair: pair[1]["j"])
    bits = {case: compare_rows(ours, theirs) for case, (ours, theirs) in enumerate(cases)}
    bad = [f"n = {cases[case][1]['j']}: {text}" for case, text in bits.items() if text != "identical"]
    pairs = [totals(theirs, ours) for ours, theirs in cases]
    worst = next((found for found in reversed(pairs) if agreement(found, tuple(EXACT)) != "equal"), pairs[-1])
    first, last = pairs[0], pairs[-1]
    counts = [f"{last[c][1]:,}" if c in last else "" for c in ("global_load_sectors", "global_store_sectors")]
    sizes = ", ".join(str(theirs["j"]) for _, theirs in cases)
    return (
        f"| {group} | {name} | {sizes} | {'; '.join(bad) or 'identical'} | {agreement(worst, tuple(EXACT))} "
        f"| {counts[0]} | {counts[1]} | {agreement(first, WAVEFRONTS)} |"
    )


def table(directory: Path, output: Path) -> None:
    sim, plans, gpu_facts = read_plans(directory)
    groups = json.loads((directory / "groups.json").read_text())
    by_kernel: dict[str, list[tuple[dict, dict]]] = {}
    same = equal = fma = 0
    for plan in plans:
        ours = sim[plan["name"], plan["case"]]
        by_kernel.setdefault(plan["name"], []).append((ours, plan))
        same += compare_rows(ours, plan) == "identical"
        equal += agreement(totals(plan, ours), tuple(EXACT)) == "equal"
        fma += agreement(totals(plan, ours), ("fma_lanes",)) == "equal"
    text = PAGE.format(
        gpu=gpu_facts["name"], driver=gpu_facts["driver"], cuda=gpu_facts["cuda"],
        date=datetime.date.fromtimestamp((directory / "gpu.json").stat().st_mtime),
        toolkit=(directory / "toolkit.txt").read_text().strip(), kernels=len(by_kernel), plans=len(plans),
        same=same, equal=equal, fma=fma,
        rows="\n".join(row(groups[name], name, cases) for name, cases in by_kernel.items()),
    )  # fmt: skip
    output.write_text(text)
    print(f"{same} of {len(plans)} bit-identical, {equal} with equal global counters -> {output}")


def compare_rows(ours: dict, theirs: dict) -> str:
    for side, plan in (("sim", ours), ("gpu", theirs)):
        if plan["status"] != "ok":
            return f"{side}: {plan['status']} {plan['message']}"
    apart = sum(a != b for a, b in zip(ours["rows"], theirs["rows"], strict=True))
    return f"{apart} of {len(ours['rows'])} rows differ" if apart else "identical"


PAGE = """# The simulator against a GPU

| | |
|---|---|
| GPU | {gpu} |
| driver | {driver} (CUDA {cuda}) |
| compiler | nvcc {toolkit}: PTX for compute_90, compiled for the GPU by the driver |
| date | {date} |
| commands | `common/harness/measure/measure.py record DIR`, then `sim DIR`, `gpu DIR`, `table DIR` |

{kernels} kernels: the labs' solutions, the gallery, the right submissions of the grader's corpus, and odd ones
(`common/harness/measure/kernels/`). Each is carried out on both backends with the same data, uniform in [-1, 1),
for several widths n: {plans} plans.

- **P**: are all bytes of the output the same? In {same} of {plans} plans.
- **Global memory**: are requests and sectors, of loads and of stores, equal to Nsight Compute's
  (`l1tex__t_{{requests,sectors}}_pipe_lsu_mem_global_op_{{ld,st}}.sum`, `--clock-control none`)? In {equal} of {plans}
  plans. The two columns after it are the GPU's sectors at the largest n.
- **Shared memory**: wavefronts (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{{ld,st}}.sum`) at the smallest n.
  At n = 1024 the GPU counts up to a seventh more stores in some kernels, and not the same number each time: blocks
  that share a multiprocessor get in each other's way.
- Lanes that did a multiply-add (`smsp__sass_thread_inst_executed_op_ffma_pred_on.sum`) are equal in {fma} of
  {plans} plans.

Where counts differ they stand as the simulator's / the GPU's, and this is why:

- The simulator executes PTX, the GPU what ptxas made of it. ptxas merges neighbouring scalar loads from
  shared memory into wider ones, which need fewer wavefronts for the same bytes; `masks` loads an element twice in PTX
  and once in machine code.
- `exponentials` uses the approximate units, whose last bits NVIDIA does not publish. Of its sixteen functions expf,
  exp2f, tanhf, rsqrtf and the intrinsics __expf, __logf, __sinf, __cosf and __fdividef differ, the first four by
  one or two units in the last place; logf, log2f, sinf, cosf, powf, erff and __frsqrt_rn agree bit for bit. No lab uses them.
- Division, square root and double precision expand into multiply-adds in machine code (`division`, `doubles`), which
  PTX does not show.

| group | kernel | n | P | global memory | load sectors | store sectors | shared wavefronts |
|---|---|---|---|---|---|---|---|
{rows}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("record", "sim", "gpu", "table"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--only", default="", help="kernels whose group/name contains this")
    parser.add_argument("--repeat", type=int, default=5, help="timed repetitions on the GPU")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/measurements/sim-vs-gpu.md")
    arguments = parser.parse_args()
    directory = arguments.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    build = arguments.build.resolve()
    if arguments.step == "record":
        record(directory, build, arguments.only)
    elif arguments.step == "sim":
        simulate(directory, build)
    elif arguments.step == "gpu":
        gpu(directory, build, arguments.repeat)
    else:
        table(directory, arguments.output)


if __name__ == "__main__":
    main()
