"""Whether products are made of what tiles hold: a look of its own at the cases whose counts ask for it.

Loads from shared memory can be counted, but not what becomes of what they bring: a kernel may fill
tiles and read them, and multiply what it has from elsewhere. So a few blocks are followed, register
by register. Which ones, the submission cannot know. Of what is not known, nothing is held against it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from grader.errors import StepError
from grader.judging import judge
from grader.labs.expression import names_in
from grader.labs.lab import Case
from grader.pipeline.carry_out import job_of
from grader.pipeline.session import Session, subfolder
from grader.running import execute
from grader.running.record import Recorded

FACT = "tile_share"
_BLOCKS = 2


def wanted(session: Session) -> tuple[Case, ...]:
    """The cases of which a check asks it."""
    lab = session.lab
    names = {
        one.cases[0]
        for check in lab.checks_for(session.options.backend)
        if check.kind == "counter"
        for one in (check, *check.also)
        if FACT in names_in(one.value)
    }
    return tuple(case for case in lab.cases if case.id in names)


def looked_at(
    session: Session, seen: Mapping[str, judge.Outcome], recorded: Mapping[str, Recorded]
) -> dict[str, judge.Outcome]:
    """`seen`, with the shares of those that are right."""
    found = dict(seen)
    for case in wanted(session):
        outcome, plan = seen[case.id], recorded[case.id].plan
        if plan is None or outcome.execution is None or not outcome.is_right:
            continue
        share = _share(session, case, recorded[case.id])
        execution = replace(outcome.execution, tile_share=share)
        found[case.id] = replace(outcome, execution=execution)
    return found


def _share(session: Session, case: Case, recorded: Recorded) -> float | None:
    folder = subfolder(session, "ways") / case.id
    folder.mkdir(exist_ok=True)
    given = job_of(session, case, recorded.plan, "sim")
    job = replace(given, output=folder / "P.npy", result=folder / "result.json")
    try:
        done = execute.ways_counted(
            session.course, job, _places(session, case), session.options.device,
            session.options.limits,
        )  # fmt: skip
    except StepError:  # ours, and not the kernel's
        return None
    return done.tile_share if done.status == "ok" else None


def _places(session: Session, case: Case) -> list[tuple[int, int]]:
    """Anywhere in P, by the seed that no submission is told: the same each time."""
    drawn = random.Random(f"ways {session.options.seed} {session.lab.id} {case.id}")
    return [(drawn.randrange(case.j), drawn.randrange(case.l)) for _ in range(_BLOCKS)]
