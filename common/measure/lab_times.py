#!/usr/bin/env python3
"""Do the labs' time thresholds separate? Times each solution, and the lab before, against the reference.

    lab_times.py record DIR    record the plans                               (nvcc; no GPU)
    lab_times.py gpu DIR       tilewise-exec --compare, several times each    (a GPU; no nvcc)
    lab_times.py table DIR     write docs/measurements/lab-times.md

A solution must get full marks every time, the solution of the lab before must not where the lesson is speed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import measure

ROOT = measure.ROOT


def time_check(lab: Path) -> tuple[dict, dict]:
    """The lab's check of time and the case it names."""
    toml = tomllib.loads((lab / "lab.toml").read_text())
    check = next(check for check in toml["checks"] if check["kind"] == "time")
    return check, next(case for case in toml["cases"] if case["id"] == check["case"])


def shape(case: dict) -> tuple[int, int, int]:
    if "width" in case:
        return (case["width"],) * 3
    return case["j"], case["k"], case["l"]


def record(directory: Path, build: Path) -> None:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    labs = sorted((ROOT / "labs").glob("[0-9]*"))
    jobs = []
    for at, lab in enumerate(labs):
        check, case = time_check(lab)
        j, k, l = shape(case)  # noqa: E741
        for name in {lab.name, labs[max(at - 1, 0)].name, labs[0].name}:
            signature = tomllib.loads((ROOT / "labs" / name / "lab.toml").read_text())["signature"]
            if signature != "rect-device" and not j == k == l:
                continue
            folder = directory / lab.name / name
            source = ROOT / "solutions" / name / "matmul.cu"
            kernel = measure.Kernel("solutions", name, source, signature, (f"{j}x{k}x{l}",))
            measure.compile_and_record(kernel, folder, build, nvcc)
        jobs.append({
            "lab": lab.name, "before": labs[at - 1].name if at else "", "baseline": labs[0].name,
            "plan": f"{j}x{k}x{l}.plan.json", "full": check["full"], "none": check["none"],
        })  # fmt: skip
    (directory / "jobs.json").write_text(json.dumps(jobs, indent=1))


def gpu(directory: Path, build: Path, times: int) -> None:
    for job in json.loads((directory / "jobs.json").read_text()):
        folder = directory / job["lab"]
        reference = folder / job["lab"] / job["plan"]
        baseline = folder / job["baseline"] / job["plan"]
        for name in filter(None, (job["lab"], job["before"])):
            plan = folder / name / job["plan"]
            if not plan.exists():
                continue
            for run in range(times if name == job["lab"] else 2):
                command = [build / "bin/tilewise-exec", "--backend", "gpu", "--plan", plan,
                           "--compare", f"reference={reference}", "--cublas", "--rounds", "15",
                           "--result", directory / f"{job['lab']}+{name}+{run}.json"]  # fmt: skip
                if baseline.exists():
                    command += ["--compare", f"baseline={baseline}"]
                subprocess.run(command, check=True)


def table(directory: Path, output: Path) -> None:
    rows = []
    gpu_facts, clocks = {}, []
    for job in json.loads((directory / "jobs.json").read_text()):
        for name in filter(None, (job["lab"], job["before"])):
            runs = [
                json.loads(path.read_text())
                for path in sorted(directory.glob(f"{job['lab']}+{name}+*.json"))
            ]
            if runs:
                rows.append(row(job, name, runs))
                gpu_facts = runs[0]["gpu"]
                clocks += [run["clocks"] for run in runs]
    mhz = [clock["sm_mhz"] for clock in clocks if clock["sm_mhz"]]
    text = PAGE.format(
        gpu=gpu_facts["name"], driver=gpu_facts["driver"], cuda=gpu_facts["cuda"], rows="\n".join(rows),
        date=datetime.date.fromtimestamp((directory / "jobs.json").stat().st_mtime),
        low=min(m["lowest"] for m in mhz), high=max(m["highest"] for m in mhz),
        watts=max(clock["highest_watts"] for clock in clocks),
    )  # fmt: skip
    output.write_text(text)
    print(output)


def row(job: dict, name: str, runs: list[dict]) -> str:
    mine = runs[0]["contenders"]["submission"]
    wrong = sum(run["contenders"]["submission"]["verified"]["wrong"] for run in runs)
    if mine["status"] != "ok" or wrong:
        verdict = mine["message"] or mine["verified"]["first_wrong"] or "wrong result"
        return f"| {job['lab']} | {name} | | | | | | not timed as right: {verdict} |"
    ratios = [run["ratios"]["reference"] for run in runs]
    full = sum(ratio["high"] <= job["full"] for ratio in ratios)
    lowest, highest = min(r["low"] for r in ratios), max(r["high"] for r in ratios)
    time, reference = mine["time_ms"], runs[0]["contenders"]["reference"]["time_ms"]
    cublas = runs[0]["ratios"].get("cublas")
    over_cublas = f"{cublas['median']:.2f}" if cublas else ""
    return (
        f"| {job['lab']} | {name} | {time['median']:.3f} ({time['low']:.3f} to {time['high']:.3f}) "
        f"| {reference['median']:.3f} | {runs[0]['floor_ms']:.3f} | {over_cublas} "
        f"| {lowest:.3f} to {highest:.3f} | {full} of {len(runs)} within {job['full']} |"
    )


PAGE = """# The labs' times on a GPU

| | |
|---|---|
| GPU | {gpu}, driver {driver} (CUDA {cuda}) |
| clocks seen | {low} to {high} MHz, up to {watts:.0f} W |
| date | {date} |
| commands | `common/measure/lab_times.py record DIR`, then `gpu DIR`, `table DIR` |

Per lab: its reference solution as a submission, ten times, and the solution of the lab before, twice; each time a new process
that runs submission, reference, baseline (lab 01) and cuBLAS in turns for 15 rounds (`tilewise-exec --compare`): new data
each round, the L2 cache swept before each run, outputs of rounds drawn at random verified. Times in milliseconds: median and its
95% confidence interval, of the first process. **Floor**: 2 j k l operations at the GPU's FP32 peak. **Ratio**: submission's
over the reference's time, paired round by round: the lowest and highest bound of the median's interval over all processes.

| lab | submission | time | reference | floor | over cuBLAS | ratio to reference | full marks |
|---|---|---|---|---|---|---|---|
{rows}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("record", "gpu", "table"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--times", type=int, default=10, help="processes per solution")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/measurements/lab-times.md")
    arguments = parser.parse_args()
    directory = arguments.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if arguments.step == "record":
        record(directory, arguments.build.resolve())
    elif arguments.step == "gpu":
        gpu(directory, arguments.build.resolve(), arguments.times)
    else:
        table(directory, arguments.output)


if __name__ == "__main__":
    main()
