#!/usr/bin/env python3
"""Programs that use CUDA's features widely, under warpsim and on a GPU.

    features.py build FOLDER                           compiles right/ and wrong/, all at once
    features.py simulate FOLDER --output SIM.json      runs them under warpsim, with all checks
    features.py gpu FOLDER --output GPU.json           runs those of right/ on a GPU
    features.py table SIM.json [GPU.json]              what each says of itself, whose bits differ, what was found

A program of right/ prints "NAME: right" or "NAME: WRONG" for what the host can compute as well, and "NAME: bits HASH"; nothing may be
found in it. One of wrong/ has a mistake, in the line that ends in "// FAULT CODE ...": each code must be found there.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NVCC = os.environ.get("NVCC", "nvcc")
OPTIONS = "-arch=sm_90 -cudart shared -lineinfo -Xcompiler -g1 -std=c++17 --extended-lambda -O3"
SECONDS = 600  # of a compilation, too, on a busy machine


def programs(kind: str, only: list[str] | None) -> list[Path]:
    return [p for p in sorted((HERE / kind).glob("*.cu")) if not only or p.stem in only]


def parallel(function, items: list, jobs: int) -> list:
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(function, items))


def build(folder: Path, only: list[str] | None, jobs: int) -> None:
    def one(source: Path) -> str:
        target = folder / source.parent.name / source.stem
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
            return ""
        more = re.findall(r"^// nvcc: (.*)", source.read_text(), re.MULTILINE)
        command = [
            NVCC,
            *OPTIONS.split(),
            *(more[0].split() if more else []),
            str(source),
            "-o",
            str(target),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        return f"{source.name}: {done.stderr}" if done.returncode else ""

    # Those that take longest first.
    sources = programs("right", only) + programs("wrong", only)
    sources.sort(key=lambda p: "<cub" not in p.read_text() and "<thrust" not in p.read_text())
    failed = [text for text in parallel(one, sources, jobs) if text]
    if failed:
        sys.exit("\n".join(failed))


def run(command: list[str]) -> dict:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"status": "timeout", "lines": []}
    return {"status": done.returncode, "lines": done.stdout.splitlines()}


def simulate(folder: Path, only: list[str] | None, jobs: int, warpsim: Path) -> dict:
    def one(source: Path) -> dict:
        built = folder / source.parent.name / source.stem
        report = built.with_suffix(".json")
        report.unlink(missing_ok=True)
        result = run([str(warpsim), "run", "--json", str(report), "--", str(built)])
        if report.exists():
            found = json.loads(report.read_text())
            keys = ("severity", "code", "line", "message")
            result["findings"] = [{key: d.get(key) for key in keys} for d in found["diagnostics"]]
        return result

    everything = {}
    for kind in ("right", "wrong"):
        sources = programs(kind, only)
        everything[kind] = dict(zip((p.stem for p in sources), parallel(one, sources, jobs)))
    return everything


def on_gpu(folder: Path, only: list[str] | None) -> dict:
    return {
        "right": {p.stem: run([str(folder / "right" / p.stem)]) for p in programs("right", only)}
    }


def marks(source: Path) -> list[tuple[int, str]]:
    """The lines that are at fault, with the codes to be found there."""
    found = []
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if "// FAULT " in line:
            found += [(number, code) for code in line.split("// FAULT ")[1].split()]
    return found


def missing(source: Path, findings: list[dict]) -> list[str]:
    there = {(f["line"], f["code"]) for f in findings}
    return [f"{code} at line {line}" for line, code in marks(source) if (line, code) not in there]


def said(lines: list[str]) -> dict[str, str]:
    """Name: what stands behind it; the second of a name is another one."""
    result: dict[str, str] = {}
    for line in lines:
        name, separator, what = line.rpartition(": ")
        if separator and what.startswith(("right", "WRONG", "bits ")):
            while name in result:
                name += "'"
            result[name] = what
    return result


def table(sim: dict, gpu: dict | None) -> None:
    print(
        "| program | own checks | on the GPU | bits | differ | found |\n|---|---|---|---|---|---|"
    )
    for name, one in sim["right"].items():
        here = said(one["lines"])
        checks = [what for what in here.values() if not what.startswith("bits")]
        findings = ", ".join(f"{f['code']} {f['line']}" for f in one.get("findings", [])) or "none"
        row = [name, f"{checks.count('right')} of {len(checks)}", "", "", "", findings]
        if one["status"] != 0:
            row[1] += f", status {one['status']}"
        if gpu and name in gpu["right"]:
            other = gpu["right"][name]
            there = said(other["lines"])
            right = [what for what in there.values() if not what.startswith("bits")]
            row[2] = f"{right.count('right')} of {len(right)}"
            if other["status"] != 0:
                row[2] += f", status {other['status']}"
            names = [n for n, what in here.items() if what.startswith("bits")]
            differ = [n for n in names if there.get(n) != here[n]]
            row[3] = f"{len(names) - len(differ)} of {len(names)}" if names else ""
            row[4] = ", ".join(differ)
        print("| " + " | ".join(row) + " |")
    print("\n| mistake | to be found | missing | found besides |\n|---|---|---|---|")
    for name, one in sim["wrong"].items():
        source = HERE / "wrong" / f"{name}.cu"
        findings = one.get("findings", [])
        known = set(marks(source))
        besides = [
            f"{f['code']} {f['line']}" for f in findings if (f["line"], f["code"]) not in known
        ]
        codes = ", ".join(code for _, code in marks(source))
        print(
            f"| {name} | {codes} | {', '.join(missing(source, findings))} | {', '.join(besides)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("build", "simulate", "gpu"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("--only", nargs="*")
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        if name != "build":
            command.add_argument("--output", type=Path, required=True)
        if name == "simulate":
            command.add_argument("--warpsim", type=Path, default=ROOT / "build/bin/warpsim")
    command = commands.add_parser("table")
    command.add_argument("sim", type=Path)
    command.add_argument("gpu", type=Path, nargs="?")
    arguments = parser.parse_args()
    if arguments.command == "table":
        gpu = json.loads(arguments.gpu.read_text()) if arguments.gpu else None
        table(json.loads(arguments.sim.read_text()), gpu)
        return
    folder = arguments.folder.resolve()
    if arguments.command == "build":
        build(folder, arguments.only, arguments.jobs)
        return
    if arguments.command == "simulate":
        result = simulate(folder, arguments.only, arguments.jobs, arguments.warpsim)
    else:
        result = on_gpu(folder, arguments.only)
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
