#!/usr/bin/env python3
"""Turns raw measurements of launch_best and of the split precision product into docs.

    tables.py RAW_DIR OUTPUT_DIR DATE

RAW_DIR holds gpu.csv (nvidia-smi: name, driver, power limit, highest clock), best.jsonl (bench time --only
08_even_waves,best), accuracy.jsonl, splittime.jsonl and splitcheck.jsonl (split_bench), clocks.csv.
"""

import csv
import json
import pathlib
import statistics
import sys


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]


def head(title, raw, date, commands):
    name, driver, limit, clock = [x.strip() for x in (raw / "gpu.csv").read_text().split(",")]
    clocks = [
        float(r[1]) for r in csv.reader((raw / "clocks.csv").open()) if len(r) > 2 and r[1].strip()
    ]
    busy = [c for c in clocks if c > 1000]
    return [
        f"# {title} on {name}",
        "",
        f"{date}, driver {driver}, CUDA 13.0, power limit {limit}, highest clock {clock}; the clock was read ten "
        f"times a second: median {statistics.median(busy):.0f} MHz, lowest under load {min(busy):.0f} MHz.",
        "Commands: " + ", ".join(f"`{c}`" for c in commands) + ".",
        "",
    ]


def best(raw, date):
    shapes = {}
    for line in read(raw / "best.jsonl"):
        if "time" in line:
            key = f"{line['j']}x{line['k']}x{line['l']}" + ("+1" if line["shift"] else "")
            shapes.setdefault(key, {})[line["time"]] = line
    rows, below, large_below = [], [], []
    for key, s in shapes.items():
        b = s["best"]
        large = min(b["j"], b["k"], b["l"]) >= 1024
        goal = 1.08 if large else 1.00
        if b["ratio"] < goal:
            (large_below if large else below).append(key)
        against = s[b["against"]]["ms"]
        rows.append(
            f"| {key} | {against * 1e3:.1f} | {s['08_even_waves']['ms'] * 1e3:.1f} | {b['ms'] * 1e3:.1f} | "
            f"{b['tflops']:.1f} | {b['ratio']:.3f} [{b['ratio_low']:.3f}, {b['ratio_high']:.3f}] | {goal:.2f} | "
            f"{'yes' if b['ratio'] >= goal else 'no'} |"
        )
    lines = head(
        "launch_best against cuBLAS",
        raw,
        date,
        ["bench time --only 08_even_waves,best SHAPES (bench/shapes.txt)"],
    )
    lines += [
        f"{len(rows) - len(below) - len(large_below)} of {len(rows)} shapes reach their goal: 1.00 of the faster cuBLAS "
        "float32 mode, 1.08 where j, k and l are all at least 1024. The list was fixed before the dispatcher existed.",
        "Below 1.00: "
        + (", ".join(below) or "none")
        + ". Below 1.08 of the large ones: "
        + (", ".join(large_below) or "none")
        + ".",
        "",
        "Times in microseconds, the median of the rounds; ratio: median [quartiles] over the rounds. Uniform data in "
        "[-1, 1), the contestants interleaved, small products up to 50 launches in a row.",
        "",
        "| shape (j x k x l) | cuBLAS | rung 08 | best | TFLOP/s | ratio | goal | reached |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
        "",
    ]
    return "\n".join(lines)


def split(raw, date):
    lines = head(
        "Split precision",
        raw,
        date,
        ["split_bench time 1024 2048 4096 8192 12288", "split_bench accuracy", "split_bench check"],
    )
    lines += [
        "## Time",
        "",
        "Milliseconds; ratio to the faster cuBLAS float32 mode, median [quartiles], splitting included. "
        "The steps are timed alone.",
        "",
        "| n | cuBLAS | split precision | TFLOP/s | ratio | measure | cut | multiply | repair |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    sizes = {}
    for line in read(raw / "splittime.jsonl"):
        sizes.setdefault(line["n"], {})[line["time"]] = line
    for n, s in sizes.items():
        x = s["split"]
        steps = " | ".join(
            f"{s[k]['ms']:.3f}" for k in ("1 measure", "2 cut", "3 multiply", "4 repair")
        )
        lines.append(
            f"| {n} | {s[x['against']]['ms']:.3f} | {x['ms']:.3f} | {x['tflops']:.1f} | {x['ratio']:.3f} "
            f"[{x['ratio_low']:.3f}, {x['ratio_high']:.3f}] | {steps} |"
        )
    lines += [
        "",
        "## Error against float64",
        "",
        "Largest and root mean square of |error| in units of 2^-24 (|M| |N|), element by element, but of at least 2^-149. "
        "cuBLAS: default mode; pedantic gave the same.",
        "",
        "| data | j x k x l | cuBLAS float32 | split precision |",
        "| --- | --- | --- | --- |",
    ]
    families = {}
    for line in read(raw / "accuracy.jsonl"):
        if "who" in line:
            families.setdefault(line["family"], {})[line["who"]] = line
    for name, f in families.items():
        a, b = f["cublas"], f["split"]
        lines.append(
            f"| {name} | {a['j']} x {a['k']} x {a['l']} | {a['largest']:.3g}, {a['rms']:.3g} | "
            f"{b['largest']:.3g}, {b['rms']:.3g} |"
        )
    other = sum(f["split"]["other_class"] for f in families.values())
    checks = [c for c in read(raw / "splitcheck.jsonl") if "check" in c]
    lines += [
        "",
        f"Results that are NaN or infinite where float64's are not, or the other way round: {other}. "
        f"{sum(c['passed'] for c in checks)} of {len(checks)} checks on awkward shapes, misaligned pointers and data "
        "with infinities and NaN passed.",
        "",
    ]
    return "\n".join(lines)


def main():
    raw, output, date = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    (output / "summit-best-h200.md").write_text(best(raw, date))
    (output / "summit-split-h200.md").write_text(split(raw, date))


if __name__ == "__main__":
    main()
