#!/usr/bin/env python3
"""Fits the weights of launch_best's model of time, and says what its choices cost.

    fit.py TUNE.jsonl WEIGHTS.inc [--write]

TUNE.jsonl is what `bench tune` has printed for the shapes of tuning-shapes.txt: the time of every candidate, and how
often it does what takes time (Feature in best.h). A weighted sum of these counts is fitted to the times, relative to the
best time of the shape, with weights that are not negative; candidates far from the best count less. Weights of features
that no line has stay as they are in WEIGHTS.inc.
"""

import json
import pathlib
import re
import sys

import numpy as np

POWER = 2  # how fast candidates count less, the farther they are from the best


def read(path):
    shapes = {}
    for line in pathlib.Path(path).read_text().splitlines():
        entry = json.loads(line) if line.startswith("{") else {}
        if "tune" in entry:
            shapes.setdefault(entry["tune"], []).append(entry)
    return shapes


def not_negative(a, b):
    """Least squares |a x - b| with x >= 0 (Lawson and Hanson's active sets)."""
    count = a.shape[1]
    x, free = np.zeros(count), np.zeros(count, bool)
    for _ in range(10 * count):
        slope = a.T @ (b - a @ x)
        slope[free] = -np.inf
        best = int(np.argmax(slope))
        if slope[best] <= 1e-9 * np.abs(a.T @ b).max():
            break
        free[best] = True
        while True:
            trial = np.zeros(count)
            trial[free] = np.linalg.lstsq(a[:, free], b, rcond=None)[0]
            if (trial[free] > 0).all():
                break
            down = free & (trial <= 0)
            step = np.min(x[down] / np.maximum(x[down] - trial[down], 1e-300))
            x += step * (trial - x)
            free &= x > 1e-12
            x[~free] = 0
        x = trial
    return x


def main():
    shapes = read(sys.argv[1])
    include = pathlib.Path(sys.argv[2])
    old = [
        float(w) for w in re.findall(r"[-+.\deE]+(?=,)", re.sub(r"//.*", "", include.read_text()))
    ]
    rows, times, importance, owners = [], [], [], []
    for name, entries in shapes.items():
        own = [e for e in entries if "counts" in e]
        if not own:
            continue
        best = min(e["us"] for e in own)
        near = sum((best / e["us"]) ** (2 * POWER) for e in own)
        for e in own:
            row = np.zeros(len(old))
            for feature, count in e["counts"].items():
                row[int(feature)] = count
            rows.append(row), times.append(e["us"]), owners.append((name, e))
            # Each shape counts the same, however many candidates it has.
            importance.append((best / e["us"]) ** POWER / best / near**0.5)
    a, b, w = np.array(rows), np.array(times), np.array(importance)
    seen = (a != 0).any(axis=0)
    weights = np.array(old)
    weights[seen] = not_negative(a[:, seen] * w[:, None], b * w)
    predicted = a @ weights
    losses, ratios = [], []
    for name, entries in shapes.items():
        at = [i for i, (n, _) in enumerate(owners) if n == name]
        if not at:
            continue
        chosen, best = min(at, key=lambda i: predicted[i]), min(at, key=lambda i: b[i])
        cublas = min(e["us"] for e in entries if "counts" not in e)
        losses.append(b[chosen] / b[best])
        ratios.append(cublas / b[chosen])
        print(
            f"{name:18} cublas {cublas:8.2f}  chosen {b[chosen]:8.2f} ({cublas / b[chosen]:.3f}) "
            f"best {b[best]:8.2f}  {owners[chosen][1]['choice']} | {owners[best][1]['choice']}"
        )
    print(
        f"loss to the best candidate: mean {np.mean(losses) - 1:.2%}, worst {max(losses) - 1:.1%}"
    )
    print(f"weights: {[round(float(x), 4) for x in weights]}")
    if "--write" in sys.argv:
        text = "".join(f"{x:.5g},\n" for x in weights)
        include.write_text("// In the order of Feature (best.h); written by bench/fit.py.\n" + text)


if __name__ == "__main__":
    main()
