#!/usr/bin/env python3
"""Holds compiled kernels against the interpreter, launch by launch, bit for bit (--engine compared).

    engines.py record DIR [--only TEXT] [--part I/K]   compile and record submissions   (nvcc; minutes)
    engines.py compare DIR                             carry all plans out on both engines    (neither)

Submissions: the corpus, right and wrong, the solutions, the gallery, kernels/ and unseen/ beside
this file; each in the cases of its lab that are small enough, since every launch runs five times.
DIR may be carried to another machine between the steps; the second needs tilewise-exec only. It
prints what the engines disagree on, then the sums. Status 1 if they disagree on anything.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_WORK = 200**3  # multiply-adds, or operations, of a case
WIDTHS = (64, 100, 128)  # of submissions that belong to no lab
ARCHITECTURE = 90
SECONDS = 300  # of one plan
DISAGREE = "the engines disagree on "


def submissions():
    """(group, name, lab's folder or "", content)."""
    from grader.tests import corpus_files

    for lab in corpus_files.labs():
        for kind in corpus_files.KINDS:
            for entry in corpus_files.entries(kind, lab):
                yield f"corpus, {kind}", f"{kind}-{entry.id}", lab, entry.content
        solution = ROOT / "solutions" / lab / "matmul.cu"
        if solution.is_file():
            yield "solutions", f"solution-{lab}", lab, solution.read_bytes()
    folders = {
        "gallery": ROOT / "solutions/gallery",
        "kernels": ROOT / "common/measure/kernels",
        "unseen": ROOT / "common/measure/unseen",
    }
    for group, folder in folders.items():
        for path in sorted(folder.glob("*.cu")):
            text = path.read_text().replace('#include "unseen.h"', _unseen_header())
            yield group, f"{group}-{path.stem}", "", text.encode()


def _unseen_header() -> str:
    return (ROOT / "common/measure/unseen/unseen.h").read_text().replace("#pragma once", "")


class Recorder:
    """Compiles submissions and records their plans, several at a time."""

    def __init__(self, directory: Path, build: Path) -> None:
        from grader.labs.course import find_course
        from grader.machine.toolchain import find_toolchain

        self.directory = directory
        self.course = dataclasses.replace(find_course(ROOT), given_programs=build)
        self.toolchain = find_toolchain(self.course)

    def lab_and_cases(self, lab_name: str):
        """The lab, and those of its cases that are small enough; of a submission without a lab, squares."""
        from grader.labs.lab import Case, load_lab

        lab = load_lab(self.course.folder(lab_name or "02-tiled-kernel"))
        if lab_name:
            return lab, [case for case in lab.cases if case.work <= MOST_WORK]
        return lab, [Case(f"w{n}", f"{n} x {n}", n, n, n) for n in WIDTHS]

    def make_inputs(self, lab_name: str) -> dict[str, dict[str, str]]:
        """Case -> name -> file, below the directory."""
        from grader.labs.options import Options
        from grader.pipeline.carry_out import Session, make_inputs

        lab, cases = self.lab_and_cases(lab_name)
        session = Session(
            self.course, lab, Options("sim"), print, self.directory / (lab_name or "squares"),
            self.toolchain, ARCHITECTURE,
        )  # fmt: skip
        return {
            case.id: {
                name: str(path.relative_to(self.directory))
                for name, path in make_inputs(session, case).files.items()
            }
            for case in cases
        }

    def record(self, group: str, name: str, lab_name: str, content: bytes):
        """The plans' jobs, without inputs, and why cases have none."""
        from grader.running.compile import CompileError, compile_submission
        from grader.running.record import record as record_plans

        lab, cases = self.lab_and_cases(lab_name)
        print(f"{name}: {len(cases)} cases", file=sys.stderr, flush=True)
        compiled = compile_submission(self.course, self.toolchain, content, ARCHITECTURE)
        if isinstance(compiled, CompileError):
            return [], [f"{name} does not compile"]
        folder = self.directory / "plans" / name
        folder.mkdir(parents=True, exist_ok=True)
        signature = lab.signature if lab_name else "square-device"
        recorded = record_plans(self.course, signature, cases, compiled, "h200", folder)
        jobs, left_out = [], []
        for case in cases:
            plan = recorded[case.id].plan
            if plan is None:
                left_out.append(f"{name} {case.id}: {recorded[case.id].message}")
                continue
            jobs.append(
                {"group": group, "name": name, "case": case.id, "budget": 20 * case.work + 10**6,
                 "plan": str(plan.relative_to(self.directory))}
            )  # fmt: skip
        return jobs, left_out


def record(directory: Path, only: str, part: slice, threads: int, build: Path) -> None:
    chosen = [one for one in submissions() if only in one[1]][part]
    recorder = Recorder(directory, build)
    inputs = {lab: recorder.make_inputs(lab) for lab in sorted({one[2] for one in chosen})}
    jobs, left_out = [], []
    with ThreadPoolExecutor(threads) as pool:
        results = pool.map(lambda one: recorder.record(*one), chosen)
        for (_, _, lab, _), (found, without) in zip(chosen, results, strict=True):
            jobs += [job | {"inputs": inputs[lab][job["case"]]} for job in found]
            left_out += without
    (directory / "jobs.json").write_text(
        json.dumps({"jobs": jobs, "left_out": left_out}, indent=1) + "\n"
    )
    print(f"{len(jobs)} plans; left out, as there is nothing to carry out: {len(left_out)}")


def carry_out(job: dict, directory: Path, program: Path, threads: int) -> dict:
    """The result; "disagreement": "" or what the engines disagree on."""
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch) / "result.json"
        command = [program, "--plan", directory / job["plan"], "--engine", "compared",
                   "--result", result, "--threads", threads, "--budget", job["budget"]]  # fmt: skip
        for name, path in job["inputs"].items():
            command += ["--inputs", f"{name}={directory / path}"]
        devices = {"TILEWISE_DEVICES": str(ROOT / "common/devices")}
        try:
            done = subprocess.run(
                [str(word) for word in command], capture_output=True, text=True,
                timeout=SECONDS, env=os.environ | devices,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return job | {"status": "no end", "disagreement": "", "launches": 0, "findings": 0}
        if done.returncode != 0 or not result.is_file():
            said = (done.stderr.strip().splitlines() or [""])[-1]
            status = f"tilewise-exec ended with {done.returncode}: {said}"
            return job | {"status": status, "disagreement": "", "launches": 0, "findings": 0}
        found = json.loads(result.read_text())
    message = found.get("message") or ""
    disagreement = message.partition(DISAGREE)[2] if DISAGREE in message else ""
    return job | {
        "status": found["status"],
        "disagreement": disagreement,
        "launches": sum(kernel.get("launches", 1) for kernel in found["kernels"]),
        "findings": len(found["diagnostics"]),
    }


def compare(directory: Path, program: Path, jobs: int, threads: int) -> int:
    listed = json.loads((directory / "jobs.json").read_text())["jobs"]
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda job: carry_out(job, directory, program, threads), listed))
    for one in results:
        if one["disagreement"]:
            print(f"{one['name']} {one['case']}: {one['disagreement']}")
        elif re.match("no end|tilewise-exec|unsupported", one["status"]):
            print(f"{one['name']} {one['case']}: not compared: {one['status']}")
    print(table(results))
    (directory / "compared.json").write_text(json.dumps(results, indent=1) + "\n")
    return 1 if any(one["disagreement"] for one in results) else 0


def table(results: list[dict]) -> str:
    """A row per group."""
    lines = [
        "| | submissions | plans | launches | plans with findings | they disagree |",
        "|---|---|---|---|---|---|",
    ]
    groups = collections.defaultdict(list)
    for one in results:
        groups[one["group"]].append(one)
    for name, group in [*groups.items(), ("together", results)]:
        counts = (
            len({one["name"] for one in group}),
            len(group),
            sum(one["launches"] for one in group),
            sum(one["findings"] > 0 for one in group),
            sum(bool(one["disagreement"]) for one in group),
        )
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def every_kth(text: str) -> slice:
    first, _, step = text.partition("/")
    if not (first.isdecimal() and step.isdecimal() and 1 <= int(first) <= int(step)):
        raise argparse.ArgumentTypeError(
            f"{text} is no part: 2/8 is every eighth from the second on"
        )
    return slice(int(first) - 1, None, int(step))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("step", choices=("record", "compare"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="", help="submissions whose name contains this")
    parser.add_argument(
        "--part",
        type=every_kth,
        default="1/1",
        metavar="I/K",
        help="every Kth of them, from the Ith on",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at a time")
    parser.add_argument("--threads", type=int, default=2, help="of the simulator, in each job")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="with bin/ and lib/")
    given = parser.parse_args()
    directory = given.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if given.step == "compare":
        program = given.build.resolve() / "bin/tilewise-exec"
        return compare(directory, program, given.jobs, given.threads)
    sys.path.insert(0, str(ROOT))
    record(directory, given.only, given.part, given.jobs, given.build.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
