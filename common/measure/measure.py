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
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from ncu import EXACT, EXTRA, LAUNCH, PIPE, SHARED  # noqa: E402
from table import write_table  # noqa: E402

from grader.tests import corpus_files  # noqa: E402

ARCH = 90  # compute capability the PTX is made for
SIZES = (64, 512, 1024)
ODD_SIZES = (64, 100, 512, 1024)  # 100: no multiple of a warp, a tile or a sector
VECTOR_SIZES = (
    64,
    90,
    100,
    512,
    1024,
)  # labs 07 to 09; 90: rows that begin at no multiple of 16 bytes


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
        sizes = VECTOR_SIZES if name >= "07" else SIZES
        source = ROOT / "solutions" / name / "matmul.cu"
        if source.exists():
            found.append(Kernel("solutions", name, source, signature, sizes))
        for entry in sorted(corpus_files.entries("right", name), key=lambda entry: entry.name):
            source = entry.write(ROOT / "build" / "corpus" / name / "right")
            found.append(Kernel("corpus", entry.id, source, signature, sizes))
    for source in sorted((ROOT / "solutions/gallery").glob("*.cu")):
        found.append(Kernel("gallery", source.stem, source, "square-device", SIZES[1:]))
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
    write_resources(folder, Path(nvcc).with_name("ptxas"))
    for leftover in ("matmul.o", "submission.so"):
        (folder / leftover).unlink()


def write_resources(folder: Path, ptxas: Path) -> None:
    """Registers per kernel, as the machine code for the GPU takes them."""
    registers = {}
    for module in sorted(folder.glob("*.ptx")):
        done = subprocess.run(
            [ptxas, "-v", f"-arch=sm_{ARCH}", module, "-o", os.devnull],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        for part in done.stderr.split("Compiling entry function '")[1:]:
            used = re.search(r"Used (\d+) registers", part)
            registers[part.split("'")[0]] = {
                "registers": int(used[1]), "spill_store_bytes": 0, "spill_load_bytes": 0,
            }  # fmt: skip
    (folder / "resources.json").write_text(json.dumps(registers))


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
            elif (
                '"op":"launch"' in plan.read_text()
            ):  # the gallery launches nothing for other widths
                lines.append(f"{kernel.name} {plan.relative_to(directory)}")
    (directory / "plans.txt").write_text("\n".join(lines) + "\n")
    (directory / "groups.json").write_text(json.dumps(groups))
    release = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    (directory / "toolkit.txt").write_text(re.search(r"release .*", release)[0])


def simulate(directory: Path, build: Path, merge_shared: str) -> None:
    subprocess.run(
        [build / "bin/tilewise-measure", "--list", "plans.txt", "--backend", "sim", "--output", "sim.json",
         "--merge-shared", merge_shared],
        cwd=directory, check=True, env=os.environ | {"TILEWISE_DEVICES": str(ROOT / "common/devices")},
    )  # fmt: skip


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
    wanted = [*EXACT.values(), *SHARED.values(), *PIPE.values(), *EXTRA]
    known = available_metrics(ncu)
    metrics = [m for m in wanted if not known or m.rsplit(".", 1)[0] in known or "__sass_" in m]
    print("metrics left out:", sorted(set(wanted) - set(metrics)), file=sys.stderr)
    subprocess.run(
        [ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
         "--log-file", "ncu.csv", "--metrics", ",".join([*metrics, *LAUNCH]), *measure, "--output", "gpu-ncu.json"],
        cwd=directory, check=True,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("record", "sim", "gpu", "table"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--only", default="", help="kernels whose group/name contains this")
    parser.add_argument(
        "--merge-shared", choices=("on", "off"), default="on", help="see warpsim/ptx/merge.h"
    )
    parser.add_argument("--repeat", type=int, default=5, help="timed repetitions on the GPU")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/measurements/sim-vs-gpu.md")
    arguments = parser.parse_args()
    directory = arguments.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    build = arguments.build.resolve()
    if arguments.step == "record":
        record(directory, build, arguments.only)
    elif arguments.step == "sim":
        simulate(directory, build, arguments.merge_shared)
    elif arguments.step == "gpu":
        gpu(directory, build, arguments.repeat)
    else:
        write_table(directory, arguments.output)


if __name__ == "__main__":
    main()
