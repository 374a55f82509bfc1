"""Carries changed launch plans out, for a cause that is looked for among what solve asked for.

Only after grading has found something wrong. Each try is a small case on the simulator.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from grader.errors import GraderError
from grader.judging import host
from grader.judging.judge import Outcome
from grader.judging.plans.seen import Plans, Seen
from grader.labs.lab import Case
from grader.labs.statements import listing
from grader.pipeline.carry_out import job_of, judge_one
from grader.pipeline.session import Session, subfolder
from grader.running import execute, host_calls
from grader.running.compile import Compiled
from grader.running.record import record

_LARGEST = 1 << 19  # multiply-adds of a case: each is carried out many times
_MOST_CASES = 4
_SECONDS = 10
_ALL_SECONDS = 30  # of processor time, together: each try takes some hundredths
_STALLED_SECONDS = 180  # on the clock, for a machine in trouble


def plans(session: Session, text: str, outcomes: Mapping[str, Outcome]) -> Plans | None:
    """The plans of the smallest cases that are wrong, recorded once more; None where there is none."""
    with contextlib.suppress(GraderError, OSError):  # a machine in trouble costs nobody a cause
        return _plans(session, text, outcomes)
    return None


def _plans(session: Session, text: str, outcomes: Mapping[str, Outcome]) -> Plans | None:
    chosen = _cases(outcomes)
    if session.shared_object is None or not chosen:
        return None
    folder = subfolder(session, "tried")
    library = session.shared_object
    found = record(
        session.course, session.lab.signature, [case for case in chosen],
        Compiled(library.parent, library, ""), session.options.device, folder,
        session.options.limits, tells_calls=True,
    )  # fmt: skip
    seen = []
    for case in chosen:
        plan = found[case.id].plan
        names = _names(text, case)
        if plan is not None and names:
            seen.append(Seen(case, json.loads(plan.read_text()), names))
    if not seen:
        return None
    calls = {op.get("call", 0) for one in seen for op in one.ops} - {0}
    lines = host_calls.lines_of(library, sorted(calls))
    tries = _Tries(session, text, folder, {case.id: found[case.id].plan for case in chosen})
    return Plans(tuple(seen), lines, tries.are_right)


def _cases(outcomes: Mapping[str, Outcome]) -> list[Case]:
    """Wrong ones, those first whose sides differ: in them a number tells what it is."""
    wrong = [
        one.case
        for one in outcomes.values()
        if one.diagnostics and not one.case.hidden and one.case.work <= _LARGEST
    ]

    def key(case: Case) -> tuple:
        sides = list(case.numbers.values())
        return min(sides, default=0) < 2, -len(set(sides)), case.work, case.id

    return sorted(wrong, key=key)[:_MOST_CASES]


def _names(text: str, case: Case) -> dict[str, int]:
    """solve's integers by its own names."""
    read = host.read(listing(text))
    if read is None:
        return {}
    problem = case.problem
    if problem.is_product:
        names = read.parameters[3:]
        values = [case.j] if len(names) == 1 else [case.j, case.k, case.l]
    else:
        own = dict(zip(problem.parameters, read.parameters, strict=False))
        found = [
            (own[name], int(one)) for name, one in case.given if name in own and one == int(one)
        ]
        names, values = [name for name, _ in found], [one for _, one in found]
    return dict(zip(names, values, strict=True)) if len(names) == len(values) else {}


class _Tries:
    def __init__(
        self, session: Session, text: str, folder: Path, plans: Mapping[str, Path | None]
    ) -> None:
        self.session, self.text, self.folder, self.plans = session, text, folder, plans
        self.numbers = itertools.count()
        self.end = time.monotonic() + _STALLED_SECONDS
        self.spent = execute.Spent(_ALL_SECONDS)

    def are_right(self, tries: Sequence[tuple[Case, Mapping]]) -> list[bool]:
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(lambda one: self._is_right(*one), tries))

    def _is_right(self, case: Case, fields: Mapping) -> bool:
        if self.spent.is_too_much() or time.monotonic() > self.end:
            return False
        number = next(self.numbers)
        plan = self.plans[case.id].with_name(f"tried-{case.id}-{number}.json")
        plan.write_text(json.dumps(fields))
        output = self.folder / f"tried-{number}"
        output.mkdir()
        job = job_of(self.session, case, plan, "sim")
        job = replace(job, output=output / "P.npy", result=output / "result.json")
        if job.outputs:
            job = replace(job, output=output)
        limits = replace(self.session.options.limits, execute_seconds=_SECONDS)
        with contextlib.suppress(GraderError, OSError, ValueError, LookupError):
            done = execute.execute(
                self.session.course, job, backend="sim", device=self.session.options.device,
                resources=None, threads=1, limits=limits,
            )  # fmt: skip
            self.spent.add(done.processor_seconds)
            judged = judge_one(self.session, case, job, done, self.text)
            return judged.ran and not any(one.severity == "error" for one in judged.diagnostics)
        return False
