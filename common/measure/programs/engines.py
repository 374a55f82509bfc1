"""Times programs of the lists on both engines of warpsim, all checks on, and writes a line of JSON per program.

    engines.py WORK ... --output FILE      the folders that `programs.py prepare` has made
    engines.py WORK ... --output FILE --before WARPSIM      two builds instead: that of another commit, and this one
    engines.py --table FILE         what was written so, as a table

The two take turns; what counts is processor time of the whole program, with --threads 1 and OMP_NUM_THREADS=1.
"""

import argparse
import concurrent.futures
import json
import shlex
import statistics
import tomllib
from pathlib import Path

import programs

ENGINES = ("interpreter", "auto")
BUILDS = ("before", "after")
LONG = 2  # seconds
REFUSED = 3  # the status of `warpsim run`
ALONE = {"OMP_NUM_THREADS": "1"}


def counted(report: Path) -> str:
    """What a report says beside times, to see that both engines said the same."""
    if not report.exists():
        return ""
    read = json.loads(report.read_text())
    return json.dumps([read["diagnostics"], read.get("kernels")], sort_keys=True)


def ways(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """How a program is run, by name."""
    now = str(arguments.warpsim)
    if arguments.before is None:
        return {engine: [now, "run", "--engine", engine] for engine in ENGINES}
    return dict(zip(BUILDS, ([str(arguments.before), "run"], [now, "run"]), strict=True))


def time_program(runner: programs.Runner, job: dict, arguments: argparse.Namespace) -> dict:
    row = {"suite": job["suite"], "name": job["name"], "arguments": job["arguments"]}
    commands = ways(arguments)
    row |= {way: [] for way in commands} | {"reports": {}}
    words = [f"./{job['program']}", *shlex.split(job["arguments"])]
    logs = job["work"] / "logs" / job["name"]
    for _ in range(arguments.rounds):
        for way, command in commands.items():
            report = logs / f"{way}.json"
            report.unlink(missing_ok=True)
            before = [*command, "--threads", "1", "--json", str(report), "--"]
            done = runner.in_copy(job, f"way-{way}", [*before, *words], arguments.seconds, ALONE)
            row[way].append([done["status"], done.get("cpu"), done.get("memory")])
            row["reports"][way] = counted(report)
        first = row[next(iter(commands))][-1]
        if first[1] is not None and first[1] < arguments.least:
            break
    reports = row.pop("reports")
    if arguments.before is None:  # other commits may count, and say, something else
        row["same_report"] = len(set(reports.values())) == 1
    return row


def least(runs: list[list]) -> float | None:
    """The shortest of the runs, in processor seconds; nothing where one was refused or ended from outside."""
    if any(status is None or status < 0 or status == REFUSED for status, _, _ in runs):
        return None
    return min(seconds for _, seconds, _ in runs)


def table(rows: list[dict], seconds: float) -> str:
    """Of the programs of which the first way took so many seconds."""
    first, second = BUILDS if BUILDS[0] in rows[0] else ENGINES
    timed, ratios, left_out = [], [], []
    for row in rows:
        times = [least(row[way]) for way in (first, second)]
        if None in times or times[0] < seconds:
            said = ["not done" if t is None else f"{t:.2f}" for t in times]
            left_out.append(f"{row['name']} ({', '.join(said)})")
            continue
        memory = [max(run[2] for run in row[way]) for way in (first, second)]
        timed.append((times[0] / times[1], row["name"], times, memory, len(row[first])))
        ratios.append(times[0] / times[1])
    lines = [
        f"| program | {first}, s | {second}, s | times as fast | runs of each | peak memory, MB |",
        "|---|---|---|---|---|---|",
    ]
    for ratio, name, times, memory, runs in sorted(timed, reverse=True):
        lines.append(
            f"| {name} | {times[0]:.2f} | {times[1]:.2f} | {ratio:.2f} | {runs} | {memory[0]}, {memory[1]} |"
        )
    lines.append("")
    if ratios:
        lines.append(f"{len(ratios)} programs, median {statistics.median(ratios):.2f}.")
    if left_out:
        lines.append("Left out: " + ", ".join(left_out) + ".")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", type=Path, nargs="*")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--table", type=Path, help="a file that --output has written")
    parser.add_argument("--warpsim", type=Path, default=programs.WARPSIM)
    parser.add_argument("--before", type=Path, help="warpsim of another build")
    parser.add_argument("--all", action="store_true", help="not only those of engines.toml")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--least", type=float, default=0, help="seconds of the first, to go on")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--builds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--deadline", type=int, default=36000)
    parser.set_defaults(gpu=False, gpu_jobs=1)
    arguments = parser.parse_args()
    if arguments.table:
        rows = [json.loads(line) for line in arguments.table.read_text().splitlines()]
        print(table(rows, LONG) if rows else "nothing was timed")
        return
    if not arguments.work or arguments.output is None:
        parser.error("give WORK and --output, or --table")
    wanted = tomllib.loads((programs.HERE / "engines.toml").read_text())
    known = {(job["suite"], job["name"]): job for job in programs.jobs_of(arguments.work)}
    runner = programs.Runner(arguments)
    names = known if arguments.all else map(tuple, wanted["programs"])
    jobs = [known[name] for name in names if name in known and "without" not in known[name]]
    if arguments.only:
        jobs = [job for job in jobs if job["name"] in arguments.only]
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
