"""Times programs of the lists on both engines of warpsim, all checks on, and writes a line of JSON per program.

    engines.py WORK ... --output FILE      the folders that `programs.py prepare` has made

The engines take turns; what counts is processor time of the whole program, with --threads 1.
"""

import argparse
import concurrent.futures
import json
import shlex
import tomllib
from pathlib import Path

import programs

ENGINES = ("interpreter", "auto")


def counted(report: Path) -> str:
    """What a report says beside times, to see that both engines said the same."""
    if not report.exists():
        return ""
    read = json.loads(report.read_text())
    return json.dumps([read["diagnostics"], read.get("kernels")], sort_keys=True)


def time_program(runner: programs.Runner, job: dict, arguments: argparse.Namespace) -> dict:
    row = {"suite": job["suite"], "name": job["name"], "arguments": job["arguments"]}
    row |= {engine: [] for engine in ENGINES} | {"reports": {}}
    words = [f"./{job['program']}", *shlex.split(job["arguments"])]
    logs = job["work"] / "logs" / job["name"]
    for _ in range(arguments.rounds):
        for engine in ENGINES:
            report = logs / f"{engine}.json"
            before = [str(arguments.warpsim), "run", "--threads", "1", "--engine", engine]
            done = runner.in_copy(
                job, f"engine-{engine}", [*before, "--json", str(report), "--", *words],
                arguments.seconds, None,
            )  # fmt: skip
            row[engine].append([done["status"], done.get("cpu"), done.get("memory")])
            row["reports"][engine] = counted(report)
    row["same_report"] = len(set(row.pop("reports").values())) == 1
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--warpsim", type=Path, default=programs.WARPSIM)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--builds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--deadline", type=int, default=36000)
    parser.set_defaults(gpu=False, gpu_jobs=1)
    arguments = parser.parse_args()
    wanted = tomllib.loads((programs.HERE / "engines.toml").read_text())
    known = {(job["suite"], job["name"]): job for job in programs.jobs_of(arguments.work)}
    runner = programs.Runner(arguments)
    jobs = []
    for suite, name in wanted["programs"]:
        if (suite, name) in known:
            jobs.append(known[suite, name])
    with concurrent.futures.ThreadPoolExecutor(arguments.builds) as pool:
        list(pool.map(runner.build, jobs))
    with (
        open(arguments.output, "w") as file,
        concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        running = [pool.submit(time_program, runner, job, arguments) for job in jobs]
        for done in concurrent.futures.as_completed(running):
            file.write(json.dumps(done.result()) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
