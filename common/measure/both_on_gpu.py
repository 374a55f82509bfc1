#!/usr/bin/env python3
"""The simulator judges and a GPU adds the clock: does anybody get more, and is nobody accused?

    both_on_gpu.py [--seconds 240] [--jobs 12] [--rounds 30] [--labs 02 05 | --exercises] [--names not-tiled]
                   [--kinds right wrong odd attack] [--twice 8] [--gpu-alone 8] [--output docs/measurements/both-on-gpu.md]

Grades every solution, the corpus' right submissions and its wrong ones with `--backend both`, in
that order, the slow ones first among the wrong; with `--kinds odd` the right and odd programs of
attacks/right.toml, which need not have full marks, with `--kinds attack` those of attacks/attacks.toml
whose product is right and which are to lose points. What the simulator alone would give follows from
the same result, since its checks are the same with other points; --twice N grades the first N of
each kind with `--backend sim` as well, to show that it does, and --gpu-alone N with `--backend gpu`.
--exercises takes lab 00 and the small kernels, which have no points of the clock. Held against each
result:

  nobody has more than on the simulator alone,
  what is right loses nothing but points of the clock, what is right and odd no other points than are
    written down beside it, and no result is an error; where a lab has no
    clock, the GPU alone gives what the simulator gives,
  an attack has the points that are written down beside it and no more, and nobody's verdict is an error,
  what is wrong opens with the code that the corpus pins.

What --seconds leaves no time for is listed. Exit status 1 if anything does not hold. Needs the
build and a GPU; run it in the repository's root.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.tests import attack_files, corpus_files  # noqa: E402


@dataclass(frozen=True)
class Job:
    """One file to grade."""

    kind: str  # solution | right | slow | wrong | odd | attack
    lab: str
    name: str
    code: str = ""  # that the report must open with
    twice: bool = False
    gpu_alone: bool = False
    points: float = 100.0  # of one that is right or an attack, on the simulator


@dataclass
class Graded:
    """What came of it."""

    job: Job
    status: str = ""
    score: float = 0.0
    alone: float = 0.0  # what the simulator alone gives
    checked: float | None = None  # the same, graded a second time with --backend sim
    gpu_alone: float | None = None  # with --backend gpu
    has_clock: bool = False
    clock: float = 0.0  # points of the clock that were lost
    ratio: float | None = None
    opens_with: str = ""
    on_gpu: str = ""  # same | differs | failed | not_used
    cases: int = 0
    identical: int = 0
    message: str = ""
    wrong: list[str] = field(default_factory=list)  # what does not hold


def jobs(labs: list[str], names: list[str], twice: int, gpu_alone: int = 0) -> list[Job]:
    """All, the ones whose points a clock could change first."""
    found = [Job("solution", lab, "solution") for lab in labs]
    for kind in ("right", "wrong"):
        for lab in labs:
            for one in corpus_files.entries(kind, lab):
                is_slow = kind == "wrong" and one.check and not one.code
                found.append(Job("slow" if is_slow else kind, lab, one.name, one.code))
    for one in attack_files.RIGHT:
        if one.lab in labs:
            found.append(Job("odd", one.lab, one.name, points=one.exact))
    for one in attack_files.ALL:
        if one.lab in labs and one.exact is not None:
            found.append(Job("attack", one.lab, one.name, points=one.exact))
    order = {"solution": 0, "slow": 1, "right": 2, "odd": 3, "attack": 4, "wrong": 5}
    turn: dict[tuple, int] = {}  # of each kind the labs in turn: time may not suffice for all
    places = {}
    for job in found:
        turn[job.kind, job.lab] = turn.get((job.kind, job.lab), 0) + 1
        places[job] = (order[job.kind], turn[job.kind, job.lab])
    found = sorted(found, key=lambda job: places[job])
    if names:
        found = [job for job in found if job.name in names]
    seen: dict[str, int] = {}
    again = []
    for job in found:
        seen[job.kind] = seen.get(job.kind, 0) + 1
        number = seen[job.kind]
        again.append(replace(job, twice=number <= twice, gpu_alone=number <= gpu_alone))
    return again


def grade(job: Job, rounds: int) -> Graded:
    from grader.labs.course import find_course
    from grader.labs.lab import load_lab
    from grader.labs.options import Options
    from grader.labs.submission import FILE_NAME, Submission
    from grader.pipeline.grade import grade as grade_file
    from grader.running import timing

    timing.ROUNDS = rounds
    course = find_course(ROOT)
    lab = load_lab(course.folder(job.lab))
    path = course.solutions / job.lab / FILE_NAME
    text = path.read_text(encoding="utf-8")
    if job.kind in ("odd", "attack"):
        listed = attack_files.RIGHT if job.kind == "odd" else attack_files.ALL
        text = next(one for one in listed if one.name == job.name).text("", lambda *_: "")
    elif job.kind != "solution":
        text = corpus_files.find(job.lab, job.name).text
    submission = Submission(path, FILE_NAME, text, text.encode())
    result = grade_file(course, lab, submission, Options("both"))
    of_sim = {check.id: check.points for check in lab.checks_for("sim")}
    time_check = next((c for c in result.checks if c.id not in of_sim), None)
    shares = {c.id: c.score / c.max_score for c in result.checks if c.id in of_sim and c.max_score}
    alone = round(sum(of_sim[name] * share for name, share in shares.items()), 6)
    found = Graded(job, result.status, result.score or 0.0, alone)
    found.message = result.message
    if result.diagnostics:
        found.opens_with = result.diagnostics[0].code
    if result.gpu is not None:
        found.on_gpu = result.gpu.status
        found.cases, found.identical = len(result.gpu.cases), result.gpu.identical
    found.has_clock = time_check is not None
    if time_check is not None:
        found.clock = time_check.max_score - time_check.score
        found.ratio = time_check.data.get("ratio")
    if job.twice:
        found.checked = grade_file(course, lab, submission, Options("sim")).score
    if job.gpu_alone:
        found.gpu_alone = grade_file(course, lab, submission, Options("gpu")).score or 0.0
    found.wrong = list(faults(found))
    return found


def faults(one: Graded):
    """What does not hold, one sentence each."""
    if one.status == "error":
        yield f"an error: {one.message}"
        return
    if one.score > one.alone + 1e-6:
        yield f"{one.score:g} points, and {one.alone:g} on the simulator alone"
    if one.checked is not None and one.checked != one.alone:
        yield f"graded with sim it has {one.checked:g} points, not {one.alone:g}"
    is_same = one.gpu_alone is None or one.has_clock or one.gpu_alone == one.alone
    if not is_same and one.job.kind != "wrong":  # a wrong one may take the GPU down
        yield f"graded with gpu it has {one.gpu_alone:g} points, not {one.alone:g}"
    if one.job.kind == "attack" and one.alone != one.job.points:
        yield f"an attack of {one.job.points:g} points has {one.alone:g} on the simulator"
    if one.job.kind in ("solution", "right", "odd"):
        if one.on_gpu != "same":
            yield f"the GPU says {one.on_gpu or 'nothing'}, and it opens with {one.opens_with or 'nothing'}"
        if one.alone != one.job.points or one.score < one.alone - one.clock - 1e-6:
            yield (
                f"right, and has {one.alone:g} points on the simulator, {one.score:g} here; "
                f"{one.job.points:g} are expected"
            )
    if one.job.kind == "solution" and one.score != 100:
        yield f"the solution has {one.score:g} points"
    if one.job.kind == "wrong" and one.job.code and one.opens_with != one.job.code:
        yield f"opens with {one.opens_with or 'nothing'}, not with {one.job.code}"


def number_of(lab: str) -> str:
    """ "02"; an exercise by its name."""
    return lab[:2] if lab[:2].isdigit() else lab


def per_lab(found: list[Graded]) -> list[str]:
    """One row a lab: how many of what is right have all points, on which backend."""
    rows = [
        "| lab | right ones, with the solution | full marks with sim | with both | with gpu alone | slow ones | lose points"
        " with both | wrong ones | open with their code |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for lab in sorted({one.job.lab for one in found}):
        mine = [one for one in found if one.job.lab == lab]
        right = [one for one in mine if one.job.kind in ("solution", "right")]
        alone = [one for one in right if one.gpu_alone is not None]
        slow = [one for one in mine if one.job.kind == "slow"]
        wrong = [one for one in mine if one.job.kind == "wrong"]
        rows.append(
            f"| {number_of(lab)} | {len(right)} | {sum(o.alone == 100 for o in right)}"
            f" | {sum(o.score == 100 for o in right)} | {sum(o.gpu_alone == 100 for o in alone)} of {len(alone)}"
            f" | {len(slow)} | {sum(o.score < 100 for o in slow)}"
            f" | {len(wrong)} | {sum(o.opens_with == o.job.code for o in wrong)} |"
        )
    return rows


def row(one: Graded) -> str:
    ratio = "-" if one.ratio is None else f"{one.ratio:.2f}"
    what = one.opens_with or one.status
    return f"| {number_of(one.job.lab)} | {one.job.name} | {one.alone:g} | {one.score:g} | {ratio} | {what} |"


def report(found: list[Graded], left: list[Job], seconds: float) -> str:
    head = ["| lab | handed in | sim alone | both | time over the reference's | opens with |"]
    head += ["|---|---|---|---|---|---|"]
    kinds = {
        kind: [o for o in found if o.job.kind == kind]
        for kind in ("solution", "right", "odd", "attack", "slow", "wrong")
    }
    bad = [one for one in found if one.wrong]
    compared = sum(one.cases for one in found)
    same = sum(one.identical for one in found)
    clean = [one for one in found if one.checked is not None]
    lines = [
        "# The simulator judges, a GPU adds the clock",
        "",
        f"{datetime.date.today()}, {machine()}. Command: `common/measure/{Path(sys.argv[0]).name}"
        f"{''.join(' ' + word for word in sys.argv[1:])}`, {seconds:.0f} s.",
        "",
        f"{len(found)} submissions graded with `--backend both`: "
        + ", ".join(f"{len(some)} {kind}" for kind, some in kinds.items())
        + f". {len(left)} were not reached in the time given.",
        "",
        f"- P was compared on the GPU in {compared} cases that the simulator calls right; in {same} it has"
        " the simulator's bits, in the others it is right with other bits.",
        f"- Errors of the grader: {sum(one.status == 'error' for one in found)}.",
        f"- More points than on the simulator alone: {sum(one.score > one.alone + 1e-6 for one in found)}.",
        f"- Right ones and solutions with full marks: "
        f"{sum(o.score == 100 for o in kinds['solution'] + kinds['right'])} of "
        f"{len(kinds['solution'] + kinds['right'])}; the others lose points of the clock (below).",
        f"- Graded a second time with `--backend sim`: {len(clean)}, as computed:"
        f" {sum(one.checked == one.alone for one in clean)}.",
        f"- Graded with `--backend gpu` besides: {sum(o.gpu_alone is not None for o in found)}.",
        "",
        *per_lab(found),
        "",
        "What does not hold:",
        "",
        *(
            [
                f"- {number_of(o.job.lab)} {o.job.name} ({o.job.kind}): {'; '.join(o.wrong)}"
                for o in bad
            ]
            or ["- nothing"]
        ),
        "",
        "Slow ones, odd ones, attacks, and right ones that lose points of the clock:",
        "",
        *head,
        *[row(one) for one in kinds["slow"]],
        *[row(one) for one in kinds["solution"] + kinds["right"] if one.score < 100],
        *[row(one) for one in kinds["odd"] + kinds["attack"]],
        "",
        "Wrong ones:",
        "",
        *head,
        *[row(one) for one in kinds["wrong"]],
    ]
    if left:
        lines += [
            "",
            "Not reached: " + ", ".join(f"{number_of(j.lab)} {j.name}" for j in left) + ".",
        ]
    return "\n".join(lines) + "\n"


def machine() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    name, driver = (
        subprocess.run(query, capture_output=True, text=True, check=True)
        .stdout.split("\n", 1)[0]
        .split(", ")
    )
    nvcc = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    return f"{name}, driver {driver}, CUDA {re.search(r'V([0-9.]+)', nvcc)[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=30, help="of timing")
    parser.add_argument("--labs", nargs="+", default=[""], help="how their names begin: 05")
    parser.add_argument("--exercises", action="store_true", help="lab 00 and the small kernels")
    parser.add_argument("--names", nargs="+", default=[], help="only these of the corpus")
    parser.add_argument("--kinds", nargs="+", default=["solution", "slow", "right", "wrong"])
    parser.add_argument("--twice", type=int, default=8, help="graded with sim as well, a kind")
    parser.add_argument("--gpu-alone", type=int, default=0, help="graded with gpu as well, a kind")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs" / "measurements" / "both-on-gpu.md"
    )
    given = parser.parse_args()
    labs = sorted(folder.name for folder in (ROOT / ("exercises" if given.exercises else "labs")).glob("[0-9a-z]*")
                  if folder.name.startswith(tuple(given.labs)))  # fmt: skip
    began = time.monotonic()
    wanted = jobs(labs, given.names, given.twice, given.gpu_alone)
    wanted = [job for job in wanted if job.kind in given.kinds]
    found: list[Graded] = []
    pool = ProcessPoolExecutor(given.jobs)
    waiting = {pool.submit(grade, job, given.rounds): job for job in wanted}
    try:
        for done in as_completed(waiting, timeout=given.seconds):
            try:
                one = done.result()
            except Exception as error:  # one that fails does not end the others
                one = Graded(waiting[done], "error", message=repr(error), wrong=[f"{error!r}"])
            found.append(one)
            said = "; ".join(one.wrong) or "holds"
            print(f"{time.monotonic() - began:6.1f} {one.job.kind:8} {row(one)} {said}", flush=True)
    except TimeoutError:
        print("both_on_gpu: the time is over", file=sys.stderr)
    for one in waiting:
        one.cancel()
    order = {job: number for number, job in enumerate(wanted)}
    found.sort(key=lambda one: order[one.job])
    reached = {one.job for one in found}
    left = [job for job in wanted if job not in reached]
    given.output.write_text(report(found, left, time.monotonic() - began), encoding="utf-8")
    print(given.output.read_text(encoding="utf-8").split("Wrong ones:")[0])
    is_bad = any(one.wrong for one in found)
    sys.stdout.flush()
    workers = list((pool._processes or {}).values())  # shutdown forgets them
    pool.shutdown(wait=False, cancel_futures=True)
    for process in workers:
        process.terminate()
    sys.exit(1 if is_bad else 0)


if __name__ == "__main__":
    main()
