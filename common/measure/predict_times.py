#!/usr/bin/env python3
"""Holds predicted times against measured ones.

    predict_times.py record DIR    compile and record all kernels; machine code by ptxas  (nvcc; no GPU)
    predict_times.py predict DIR   predicted times                                        (neither)
    predict_times.py gpu DIR       measured times                                         (a GPU; no nvcc)
    predict_times.py table DIR     print the table, write docs/measurements/predicted-times.{csv,png}

With --device ID for another device file than h200: `record` compiles for its compute capability, `table`
writes predicted-times-ID.{csv,png}, without times where there are none yet.
DIR may be carried to another machine between the steps. Kernels: the labs' solutions, the gallery, and
unseen/ beside this file, written after the model was frozen. Needs the build's programs
(ninja -C build tilewise-record tilewise-measure tilewise-predict cudart13).
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import measure

sys.path.insert(0, str(measure.ROOT))
from grader.running import ptxas  # noqa: E402

SIZES = (1024, 2048, 4096)
REPEATS = 11
HERE = Path(__file__).parent


def kernels() -> list[measure.Kernel]:
    """Solutions, gallery and the kernels that the model had not seen."""
    found = []
    for lab in sorted((measure.ROOT / "labs").glob("[0-9]*/lab.toml")):
        signature = re.search(r'^signature\s*=\s*"([\w-]+)"', lab.read_text(), re.M)[1]
        source = measure.ROOT / "solutions" / lab.parent.name / "matmul.cu"
        if source.exists():
            found.append(measure.Kernel("labs", lab.parent.name, source, signature, SIZES))
    for source in sorted((measure.ROOT / "solutions/gallery").glob("*.cu")):
        found.append(measure.Kernel("gallery", source.stem, source, "square-device", SIZES))
    for source in sorted((HERE / "unseen").glob("*.cu")):
        found.append(measure.Kernel("unseen", source.stem, source, "square-device", SIZES))
    return found


def assemble(folder: Path, assembler: str) -> None:
    """Machine code and resources.json of the recorded modules."""
    resources = {}
    for module in sorted(folder.glob("module*.ptx")):
        cubin = module.with_suffix(".cubin")
        done = subprocess.run(
            [assembler, "-v", "--generate-line-info", f"-arch=sm_{measure.ARCH}", module, "-o", cubin],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        for name, found in ptxas.parse(done.stderr + done.stdout).items():
            resources[name] = found | {"cubin": str(cubin)}
    (folder / "resources.json").write_text(json.dumps(resources))


def record(directory: Path, build: Path, only: str) -> None:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    for kernel in kernels():
        if not re.search(only, kernel.name):
            continue
        folder = directory / kernel.group / kernel.name
        measure.compile_and_record(kernel, folder, build, nvcc)
        assemble(folder, str(Path(nvcc).parent / "ptxas"))


def plans(directory: Path, only: str) -> list[tuple[str, Path]]:
    found = []
    for plan in sorted(directory.glob("*/*/*.plan.json")):
        name = f"{plan.parent.parent.name}/{plan.parent.name}"
        if re.search(only, name):
            found.append((name, plan))
    return found


def predict(directory: Path, build: Path, only: str, device: str) -> None:
    lines = [
        f"{name} {plan} {plan.parent / 'resources.json'}" for name, plan in plans(directory, only)
    ]
    (directory / "predict.txt").write_text("\n".join(lines) + "\n")
    subprocess.run(
        [build / "bin/tilewise-predict", "--list", directory / "predict.txt", "--device", device,
         "--output", directory / "predicted.json"], check=True,
    )  # fmt: skip


def gpu(directory: Path, build: Path, only: str) -> None:
    lines = [f"{name} {plan}" for name, plan in plans(directory, only)]
    (directory / "plans.txt").write_text("\n".join(lines) + "\n")
    subprocess.run(
        [build / "bin/tilewise-measure", "--list", directory / "plans.txt", "--backend", "gpu",
         "--output", directory / "measured.json", "--repeat", str(REPEATS)], check=True,
    )  # fmt: skip


def ranks(values: list[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    rank = [0.0] * len(values)
    for first in range(len(order)):
        equal = [i for i in range(len(order)) if values[order[i]] == values[order[first]]]
        rank[order[first]] = statistics.mean(equal) + 1
    return rank


def spearman(a: list[float], b: list[float]) -> float:
    return statistics.correlation(ranks(a), ranks(b))


def rows(directory: Path) -> list[dict]:
    """One row per kernel and size: both times, the error, what binds.

    Without measured times those and the errors are None.
    """
    measurements = directory / "measured.json"
    measured = json.loads(measurements.read_text()) if measurements.exists() else {"plans": []}
    times = {}
    for entry in measured["plans"]:
        if entry.get("status") == "ok":
            times[entry["name"], entry["j"]] = sum(
                kernel["time_ms"]["median"] for kernel in entry["kernels"]
            )
    found = []
    for entry in json.loads((directory / "predicted.json").read_text()):
        measured_ms = times.get((entry["name"], entry["n"]))
        if times and measured_ms is None or not all(k["predicted_ms"] for k in entry["kernels"]):
            continue
        predicted = sum(kernel["predicted_ms"] for kernel in entry["kernels"])
        main = max(entry["kernels"], key=lambda kernel: kernel["predicted_ms"])
        found.append(
            {"name": entry["name"], "n": entry["n"], "measured_ms": measured_ms,
             "predicted_ms": predicted,
             "error": predicted / measured_ms - 1 if measured_ms else None,
             "bound": main["bound"]}
        )  # fmt: skip
    return found


def summary(found: list[dict]) -> dict[str, float]:
    return {
        "rows": len(found),
        "mean_absolute_error": statistics.mean(abs(row["error"]) for row in found),
        "spearman": spearman([r["measured_ms"] for r in found], [r["predicted_ms"] for r in found]),
    }


def plot(found: list[dict], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 7))
    marks = {"labs": "o", "gallery": "s", "unseen": "^"}
    for group, mark in marks.items():
        part = [row for row in found if row["name"].startswith(group + "/")]
        axes.scatter([r["measured_ms"] for r in part], [r["predicted_ms"] for r in part],
                     marker=mark, label=group, alpha=0.7)  # fmt: skip
    limits = [min(r["measured_ms"] for r in found) / 2, max(r["measured_ms"] for r in found) * 2]
    axes.plot(limits, limits, color="gray")
    for factor in (0.8, 1.2):
        axes.plot(limits, [factor * v for v in limits], color="gray", linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel="measured, ms", ylabel="predicted, ms",
             title="Predicted against measured time; dotted: 20% off")  # fmt: skip
    axes.legend()
    figure.savefig(path, dpi=110, bbox_inches="tight")


def table(found: list[dict], path: Path) -> None:
    """Prints the rows, writes them to path.csv and, once there are measured times, path.png."""
    measured = all(row["measured_ms"] for row in found)
    for row in found:
        times = f"{row['measured_ms']:9.3f} {100 * row['error']:+6.1f}%" if measured else ""
        print(f"{row['name']:32} {row['n']:5} {row['predicted_ms']:9.3f} {row['bound']:8}{times}")
    if measured:
        for group in ("", "labs/", "gallery/", "unseen/"):
            part = [row for row in found if row["name"].startswith(group)]
            print(group or "all", summary(part))
        plot(found, path.with_suffix(".png"))
    with path.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, found[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in found
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["record", "predict", "gpu", "table"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--build", type=Path, default=measure.ROOT / "build")
    parser.add_argument("--only", default="", help="regular expression of names")
    parser.add_argument("--device", default="h200", help="device file (default: h200)")
    arguments = parser.parse_args()
    major, minor = json.loads(
        (measure.ROOT / f"common/devices/{arguments.device}.json").read_text()
    )["compute_capability"]
    measure.ARCH = 10 * major + minor
    if arguments.step == "table":
        suffix = "" if arguments.device == "h200" else f"-{arguments.device}"
        table(
            rows(arguments.directory), measure.ROOT / f"docs/measurements/predicted-times{suffix}"
        )
    elif arguments.step == "predict":
        predict(arguments.directory, arguments.build, arguments.only, arguments.device)
    else:
        step = {"record": record, "gpu": gpu}[arguments.step]
        step(arguments.directory, arguments.build, arguments.only)


if __name__ == "__main__":
    main()
