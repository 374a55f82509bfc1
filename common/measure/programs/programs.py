"""Runs the listed programs of benchmark suites on a GPU and under warpsim, and writes a table.

    programs.py prepare LIST.toml SUITE WORK            sizes, input files and build commands, in a copy of SUITE
    programs.py run WORK ... --output FILE [--gpu]          builds, runs, and writes a line of JSON per program

SUITE is a checkout of the suite. `run` needs nvcc, and with --gpu a GPU and compute-sanitizer.
"""

import argparse
import concurrent.futures
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import NoReturn

import data
import differences

HERE = Path(__file__).resolve().parent
WARPSIM = HERE.parents[2] / "build/bin/warpsim"
NVCC_OPTIONS = "-cudart shared -lineinfo -Xcompiler -g1 -Wno-deprecated-gpu-targets"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SHOWN = 4000
LONG = 2  # seconds: worth a run on the interpreter, too


def fail(message: str) -> NoReturn:
    sys.exit(f"programs.py: {message}")


# ---- prepare -----------------------------------------------------------------------------------------------------


def copy_folder(suite: Path, work: Path, name: str) -> Path:
    if not (suite / name).is_dir():
        fail(f"{suite} has no folder {name}")
    if not (work / name).exists():
        shutil.copytree(suite / name, work / name, symlinks=True)
    return work / name


def set_sizes(folder: Path, sizes: list[list[str]], all_needed: bool) -> None:
    for where, pattern, replacement in sizes:
        changed = 0
        for path in folder.glob(where):
            text, count = re.subn(pattern, replacement, path.read_text(errors="surrogateescape"))
            path.write_text(text, errors="surrogateescape")
            changed += count
        if not changed and all_needed:
            fail(f"no {pattern!r} in {folder / where}")


def build_commands(folder: Path, entry: dict) -> str:
    if "build" in entry:
        return entry["build"].replace("{nvcc}", f"nvcc -arch=sm_90 {NVCC_OPTIONS}")
    make = [
        "make",
        "-n",
        "CC=nvcc",
        "ARCH=sm_90",
        f"EXTRA_CFLAGS={NVCC_OPTIONS}",
        *entry.get("make", []),
    ]
    made = subprocess.run(make, cwd=folder, capture_output=True, text=True)
    if made.returncode:
        fail(f"make -n in {folder}: {made.stderr.strip()}")
    return "set -e\n" + made.stdout


def prepare(arguments: argparse.Namespace) -> None:
    listed = tomllib.loads(arguments.list.read_text())
    arguments.work.mkdir(parents=True, exist_ok=True)
    for name in listed.get("beside", []):
        copy_folder(arguments.suite, arguments.work, name)
    jobs = []
    for name, entry in listed["programs"].items():
        job = {"suite": arguments.list.stem, "name": name}
        if "without" in entry:
            jobs.append(job | {"without": entry["without"]})
            continue
        place = entry.get("folder", listed["folder"]).format(name=name)
        folder = copy_folder(arguments.suite, arguments.work, place)
        set_sizes(folder, listed.get("set", []), all_needed=False)
        set_sizes(folder, entry.get("set", []), all_needed=True)
        for file, recipe in entry.get("data", {}).items():
            data.write(folder / file, recipe)
        (folder / f"{name}.build.sh").write_text(build_commands(folder, listed | entry))
        program = entry.get("program", listed["program"]).format(name=name)
        jobs.append(job | {"folder": place, "program": program, "arguments": entry["arguments"]})
    (arguments.work / f"{arguments.list.stem}.jobs.json").write_text(json.dumps(jobs, indent=1))
    print(f"{len(jobs)} programs, {sum('without' in job for job in jobs)} of them left out")


# ---- run ---------------------------------------------------------------------------------------------------------


class Runner:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.end = time.monotonic() + arguments.deadline
        self.gpu = threading.Semaphore(arguments.gpu_jobs)
        self.counter = (arguments.work[0] / "copies.so").resolve()
        subprocess.run(
            [
                "gcc",
                "-O2",
                "-shared",
                "-fPIC",
                str(HERE / "copies.c"),
                "-o",
                str(self.counter),
                "-ldl",
            ],
            check=True,
        )

    def command(
        self,
        words: list[str],
        folder: Path,
        log: Path,
        seconds: float,
        environment: dict | None = None,
    ) -> dict:
        """Runs with a limit on processor time; the result is status, processor seconds and whether a limit ended it."""
        left = self.end - time.monotonic()
        if left < 1:
            return {"status": None, "limit": "no time left"}
        log.parent.mkdir(parents=True, exist_ok=True)

        def limits() -> None:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        started = time.monotonic()
        with open(f"{log}.out", "wb") as out, open(f"{log}.err", "wb") as err:
            process = subprocess.Popen(
                words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limits,
                env=os.environ | (environment or {}),
            )  # fmt: skip
            timer = threading.Timer(
                min(left, seconds * 2 + 30), lambda: os.killpg(process.pid, signal.SIGKILL)
            )
            timer.start()
            _, status, used = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return {
            "status": process.returncode,
            "cpu": round(used.ru_utime + used.ru_stime, 2),
            "wall": round(time.monotonic() - started, 2),
            "memory": used.ru_maxrss // 1024,
            "out": tail(Path(f"{log}.out")),
            "err": tail(Path(f"{log}.err")),
        }

    def one(self, job: dict) -> dict:
        if "without" in job:
            return {key: value for key, value in job.items() if key != "work"}
        arguments = self.arguments
        logs = job["work"] / "logs" / job["name"]
        result = {key: value for key, value in job.items() if key != "work"}
        if built := self.build(job):
            result["build"] = built
            if built["status"]:
                return result
        words = [f"./{job['program']}", *shlex.split(job["arguments"])]

        def run(
            mode: str, before: list[str], seconds: float, environment: dict | None = None
        ) -> dict:
            result[mode] = self.in_copy(job, mode, before + words, seconds, environment)
            return result[mode]

        def copies(mode: str, before: list[str], seconds: float) -> dict:
            file = logs / f"{mode}.copies"
            file.parent.mkdir(parents=True, exist_ok=True)
            done = run(
                mode, before, seconds, {"LD_PRELOAD": str(self.counter), "COPIES": str(file)}
            )
            done["copies"] = file.read_text().splitlines()[:2000] if file.exists() else []
            return done

        if arguments.gpu:
            with self.gpu:
                copies("native", [], 60)
                copies("again", [], 60)
        warpsim = [str(arguments.warpsim), "run", "--threads", "1"]
        report = logs / "checks.json"
        checked = run("checks", [*warpsim, "--json", str(report), "--"], arguments.seconds)
        if report.exists():
            checked |= said(report)
        if checked["status"] is not None and checked["status"] >= 0:
            copies("none", [*warpsim, "--checks", "none", "--"], arguments.seconds)
        if arguments.gpu and (copied := result["native"]["copies"]):
            if result["again"]["copies"] == copied != result.get("none", {}).get("copies"):
                result["difference"] = self.difference(job, warpsim)
        for file in logs.glob("*.bytes"):
            file.unlink()
        if arguments.interpreter and checked.get("cpu", 0) >= LONG and checked["status"] == 0:
            run("interpreter", [*warpsim, "--engine", "interpreter", "--"], arguments.seconds)
        return result

    def build(self, job: dict) -> dict:
        """Empty if the program is there already."""
        source = job["work"] / job["folder"]
        if (source / job["program"]).exists():
            return {}
        log = job["work"] / "logs" / job["name"] / "build"
        return self.command(["bash", f"{job['name']}.build.sh"], source, log, 300)

    def in_copy(
        self, job: dict, mode: str, words: list[str], seconds: float, environment: dict | None
    ) -> dict:
        """Runs in a copy of the program's folder, as it may write there."""
        source = job["work"] / job["folder"]
        folder = source.with_name(f"{source.name}@{job['name']}@{mode}")
        shutil.rmtree(folder, ignore_errors=True)  # of a run that was ended
        shutil.copytree(
            source, folder, symlinks=True, ignore=shutil.ignore_patterns("*.o", "*.cu", "*.git")
        )
        log = job["work"] / "logs" / job["name"] / mode
        done = self.command(words, folder, log, seconds, environment)
        shutil.rmtree(folder)
        return done

    def difference(self, job: dict, warpsim: list[str]) -> dict:
        """What is known of a program whose copies always are the same on the GPU and others under warpsim."""
        logs = job["work"] / "logs" / job["name"]
        source = job["work"] / job["folder"]
        found = differences.of_files(logs / "native.copies", logs / "none.copies")
        found["approximate"] = differences.approximate(source / job["program"])
        # Built so that no product and sum are contracted: the same on both then?
        folder = source.with_name(f"{source.name}@{job['name']}@apart")
        shutil.copytree(source, folder, symlinks=True, ignore=shutil.ignore_patterns("*.o"))
        (folder / job["program"]).unlink()
        apart = {"NVCC_APPEND_FLAGS": "-fmad=false"}
        build = ["bash", f"{job['name']}.build.sh"]
        if not self.command(build, folder, logs / "build.apart", 300, apart)["status"]:
            copied = {}
            words = [f"./{job['program']}", *shlex.split(job["arguments"])]
            for mode, before in (("native", []), ("none", [*warpsim, "--checks", "none", "--"])):
                file = logs / f"{mode}.apart.copies"
                environment = {"LD_PRELOAD": str(self.counter), "COPIES": str(file)}
                self.command(before + words, folder, logs / f"{mode}.apart", 120, environment)
                copied[mode] = file.read_text() if file.exists() else ""
            found["same_apart"] = copied["native"] == copied["none"] != ""
        shutil.rmtree(folder)
        return found

    def sanitize(self, job: dict, row: dict) -> dict:
        done = {"suite": row["suite"], "name": row["name"]}
        words = [f"./{job['program']}", *shlex.split(job["arguments"])]
        for tool in TOOLS:
            before = ["compute-sanitizer", "--tool", tool]
            with self.gpu:
                done[tool] = self.in_copy(job, tool, before + words, 60, None)
        return done


def said(report: Path) -> dict:
    """What warpsim's report says beside counters."""
    read = json.loads(report.read_text())
    return {
        "findings": read["diagnostics"][:40],
        "unsupported": read["unsupported"][:10],
        "launches": read["launches"],
    }


def tail(path: Path) -> str:
    text = path.read_text(errors="replace")
    return text if len(text) <= SHOWN else text[: SHOWN // 2] + "\n[...]\n" + text[-SHOWN // 2 :]


def jobs_of(works: list[Path]) -> list[dict]:
    jobs = []
    for work in works:
        lists = sorted(work.glob("*.jobs.json")) or fail(f"{work} was not prepared")
        jobs += [
            job | {"work": work.resolve()} for path in lists for job in json.loads(path.read_text())
        ]
    return jobs


def run(arguments: argparse.Namespace) -> None:
    jobs = jobs_of(arguments.work)
    if arguments.only:
        jobs = [job for job in jobs if job["name"] in arguments.only]
    jobs.sort(key=lambda job: job["name"] not in arguments.first)
    runner = Runner(arguments)
    verdicts = tomllib.loads((HERE / "verdicts.toml").read_text())
    with (
        open(arguments.output, "w") as file,
        concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool,
    ):

        def write(row: dict) -> None:
            file.write(json.dumps(row) + "\n")
            file.flush()

        doubtful = []
        running = {pool.submit(runner.one, job): job for job in jobs}
        for done in concurrent.futures.as_completed(running):
            row = done.result()
            write(row)
            found = row.get("checks", {}).get("findings", [])
            if arguments.gpu and any(one["severity"] != "note" for one in found):
                doubtful.append((running[done], row))
        # What nobody has examined yet first.
        doubtful.sort(key=lambda one: one[1]["name"] in verdicts.get(one[1]["suite"], {}))
        if shutil.which("compute-sanitizer") is None:
            doubtful = []
        running = [pool.submit(runner.sanitize, job, row) for job, row in doubtful]
        for done in concurrent.futures.as_completed(running):
            write(done.result())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("prepare")
    command.add_argument("list", type=Path)
    command.add_argument("suite", type=Path)
    command.add_argument("work", type=Path)
    command.set_defaults(do=prepare)
    command = commands.add_parser("run")
    command.add_argument("work", type=Path, nargs="+")
    command.add_argument("--output", type=Path, required=True)
    command.add_argument("--warpsim", type=Path, default=WARPSIM)
    command.add_argument("--gpu", action="store_true")
    command.add_argument("--gpu-jobs", type=int, default=4)
    command.add_argument("--jobs", type=int, default=os.cpu_count())
    command.add_argument("--seconds", type=int, default=120)
    command.add_argument("--deadline", type=int, default=36000)
    command.add_argument("--interpreter", action="store_true")
    command.add_argument("--first", nargs="*", default=[])
    command.add_argument("--only", nargs="*")
    command.set_defaults(do=run)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
