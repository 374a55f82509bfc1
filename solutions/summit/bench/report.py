#!/usr/bin/env python3
"""Turns what run.sh has measured into docs: summit-<gpu>.json, .csv, .md and .png.

report.py RAW_DIR BUILD_DIR OUTPUT_DIR COMMAND
"""

import csv
import datetime
import json
import os
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "schedule"))
import bank_model  # noqa: E402

CUBLAS = ("cublas", "cublas_pedantic")


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]


def read_timings(path):
    """(device line, {shape: {'start': time, contestants...}})"""
    device, shapes, shape = {}, {}, None
    for line in read_lines(path):
        if "at" in line:
            shape = line["shape"]
            shapes[shape] = {"started": line["at"], "contestants": {}}
        elif "device" in line:
            device = line
        else:
            shapes[shape]["contestants"][line["time"]] = line
    return device, shapes


def add_clocks(path, shapes):
    """Median SM clock and power, and the highest power, while each shape was timed."""
    samples = []
    for row in csv.reader(path.open()):
        try:
            samples.append((row[0].strip(), float(row[1]), float(row[2])))
        except (ValueError, IndexError):
            continue  # the last line may be cut off
    starts = [(s["started"], s) for s in shapes.values()]
    for (start, shape), (end, _) in zip(starts, starts[1:] + [("9", None)]):
        busy = [x for x in samples if start <= x[0] < end]
        if busy:
            shape["sm_mhz"] = statistics.median(x[1] for x in busy)
            shape["sm_mhz_low"] = min(x[1] for x in busy)
            shape["watts"] = statistics.median(x[2] for x in busy)
            shape["watts_high"] = max(x[2] for x in busy)


def code_facts(build):
    """Registers, spills and main-loop share per rung, from ptxas's logs and the machine code."""
    facts = {}
    for log in sorted(build.glob("*.log")):
        rung = log.name.split(".")[0]
        text = log.read_text()
        registers = [int(r) for r in re.findall(r"Used (\d+) registers", text)]
        if registers:
            facts[rung] = {
                "registers": max(registers),
                "spill_bytes": max(map(int, re.findall(r"(\d+) bytes spill loads", text))),
            }
    for source in sorted(build.glob("*.o")) + sorted(build.glob("*_scheduled.cubin")):
        loops = bank_model.main_loops(source)
        if loops:
            facts.setdefault(source.name.split(".")[0], {})["main_loop"] = loops
    return facts


def markdown(data):
    shapes, names = data["shapes"], data["rungs"]
    lines = [
        f"# The summit on {data['gpu']['name']}",
        "",
        f"{data['date']}, driver {data['gpu']['driver']}, CUDA {data['gpu']['toolkit']}, "
        f"cuBLAS {data['device'].get('cublas')}, power limit {data['gpu']['power_limit']}.",
        f"Command: `{data['command']}`.",
        "",
        f"Peak: {data['peak_tflops']:.1f} TFLOP/s = {data['device'].get('multiprocessors')} "
        f"multiprocessors x 128 lanes x 2 x {data['gpu']['max_clock']}.",
        "Time: median of the rounds. Ratio: median over rounds of (faster cuBLAS mode / rung), "
        "with quartiles.",
        "",
        "## TFLOP/s",
        "",
    ]
    columns = ["shape", *CUBLAS, *names, "SM MHz", "W"]
    lines += ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for shape, s in shapes.items():
        cells = [f"{s['contestants'][n]['tflops']:.1f}" for n in (*CUBLAS, *names)]
        lines.append(
            f"| {shape} | "
            + " | ".join(cells)
            + f" | {s.get('sm_mhz', 0):.0f} | {s.get('watts', 0):.0f} |"
        )
    lines += [
        "",
        "## Ratio to the faster cuBLAS mode: median [quartiles]",
        "",
        "| shape | " + " | ".join(names) + " |",
        "|" + " --- |" * (len(names) + 1),
    ]
    for shape, s in shapes.items():
        cells = []
        for n in names:
            c = s["contestants"][n]
            cells.append(f"{c['ratio']:.3f} [{c['ratio_low']:.3f}, {c['ratio_high']:.3f}]")
        lines.append(f"| {shape} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "## The ladder at n = 4096",
        "",
        "| rung | TFLOP/s | share of cuBLAS | share of peak |",
        "| --- | --- | --- | --- |",
    ]
    for n in (*CUBLAS, *names):
        c = shapes["4096"]["contestants"][n]
        lines.append(
            f"| {n} | {c['tflops']:.2f} | {c['ratio']:.3f} | "
            f"{c['tflops'] / data['peak_tflops']:.1%} |"
        )
    worst = {}
    for c in data["checks"]:
        worst[c["check"]] = max(worst.get(c["check"], 0), c["error_units"])
    lines += [
        "",
        "## Correctness",
        "",
        f"{sum(c['passed'] for c in data['checks'])} of {len(data['checks'])} checks against "
        "float64 passed (shapes and misaligned operands as in bench.cu). Largest |error| in "
        "units of eps sqrt(k) (|M| |N|), limit 4:",
        "",
    ]
    lines += [f"- {n}: {e:.3f}" for n, e in worst.items()]
    return "\n".join(lines) + "\n"


def plot(data, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    squares = [s for s in data["shapes"] if s.isdigit()]
    figure, axes = plt.subplots(figsize=(9, 5.5))
    for name in ("cublas", *data["rungs"]):
        values = [data["shapes"][s]["contestants"][name]["tflops"] for s in squares]
        style = {"marker": "o", "markersize": 3}
        if name == "cublas":
            style = {"color": "black", "linewidth": 2.5}
        axes.plot([int(s) for s in squares], values, label=name, **style)
    axes.axhline(data["peak_tflops"], linestyle=":", color="grey", label="peak")
    axes.set_xscale("log", base=2)
    axes.set_xticks([int(s) for s in squares], squares, rotation=45)
    axes.set_xlabel("n (square matrices)")
    axes.set_ylabel("TFLOP/s, float32")
    axes.set_ylim(bottom=0)
    axes.set_title(f"The summit's ladder on {data['gpu']['name']}")
    axes.legend(fontsize=8, ncols=2)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def write(path, text):
    temporary = path.with_suffix(path.suffix + ".tmp")
    temporary.write_text(text)
    os.replace(temporary, path)


def main():
    raw, build, output = map(pathlib.Path, sys.argv[1:4])
    name, driver, limit, clock = [x.strip() for x in (raw / "gpu.csv").read_text().split(",")]
    device, shapes = read_timings(raw / "time.jsonl")
    add_clocks(raw / "clocks.csv", shapes)
    runtime = device.get("runtime_cuda", 0)
    data = {
        "date": datetime.date.today().isoformat(),
        "command": sys.argv[4],
        "device": device,
        "gpu": {
            "name": name,
            "driver": driver,
            "power_limit": limit,
            "max_clock": clock,
            "toolkit": f"{runtime // 1000}.{runtime % 1000 // 10}",
        },
        "peak_tflops": device["multiprocessors"] * 256 * float(clock.split()[0]) * 1e-6,
        "shapes": shapes,
        "checks": [c for c in read_lines(raw / "check.jsonl") if "check" in c],
        "code": code_facts(build),
    }
    data["rungs"] = [n for n in next(iter(shapes.values()))["contestants"] if n not in CUBLAS]
    for extra in ("profile.txt", "sanitizer.txt"):
        if (raw / extra).exists():
            data[extra.removesuffix(".txt")] = (raw / extra).read_text().splitlines()
    stem = "summit-" + name.replace("NVIDIA ", "").split()[0].lower()
    write(output / f"{stem}.json", json.dumps(data, indent=1) + "\n")
    rows = ["shape,contestant,ms,tflops,ratio,ratio_low,ratio_high,sm_mhz,watts"]
    for shape, s in shapes.items():
        rows += [
            f"{shape},{n},{c['ms']},{c['tflops']},{c['ratio']},{c['ratio_low']},{c['ratio_high']},"
            f"{s.get('sm_mhz', '')},{s.get('watts', '')}"
            for n, c in s["contestants"].items()
        ]
    write(output / f"{stem}.csv", "\n".join(rows) + "\n")
    write(output / f"{stem}.md", markdown(data))
    try:
        plot(data, output / f"{stem}.png")
    except ImportError:
        print("report: matplotlib is missing, no plot", file=sys.stderr)
    print((output / f"{stem}.md").read_text())


if __name__ == "__main__":
    main()
