"""What wrong elements of P are made of: followed once, for the smallest case that shows them.

Only after grading has found P wrong. It costs a second run of a small case, and whatever goes wrong
with it leaves the result as it was.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from grader.errors import GraderError
from grader.judging import opening, patterns, provenance, remedies
from grader.judging.judge import Outcome
from grader.judging.quietly import quietly
from grader.judging.repair import child
from grader.labs import data
from grader.pipeline import tried_plans
from grader.pipeline.carry_out import job_of
from grader.pipeline.session import Session, subfolder
from grader.results.explanation import Explanation
from grader.results.provenance import Provenance
from grader.results.result import Diagnostic, Result
from grader.running import execute, host_calls
from grader.running.compile import Compiled
from grader.running.host_calls import HostCalls
from grader.running.record import Recorded, record

# Multiply-adds of the largest case that is run again: a fraction of a second.
LARGEST = 1 << 24
_LARGE_TILE = 16  # a case with longer sides has more than one tile of it each way
SECONDS = 60  # a bound for a machine in trouble: the work is bounded by LARGEST
# A case that cannot be run once more says nothing.
_EXPECTED = (GraderError, OSError)
OF_P = frozenset({"wrong-result", "unwritten-output", "low-precision"})


@dataclass(frozen=True)
class Followed:
    """A case, and where its wrong elements come from."""

    outcome: Outcome
    provenance: Provenance
    explanation: Explanation | None
    p: np.ndarray

    @property
    def is_telling(self) -> bool:
        """Whether a larger case could hardly say more."""
        return self.explanation is not None and self.explanation.is_telling


def candidates(outcomes: Mapping[str, Outcome]) -> list[Outcome]:
    """Cases that are not hidden, ran to their end, and have a wrong P: the smallest first.

    Where a side is 1 little can be told apart: such a case comes after the others.
    """
    wrong = [
        outcome
        for outcome in outcomes.values()
        if outcome.ran
        and not outcome.case.hidden
        and any(item.code in OF_P for item in outcome.diagnostics)
        and outcome.case.work <= LARGEST
    ]

    def key(outcome: Outcome) -> tuple:
        case = outcome.case
        return min(case.j, case.k, case.l) == 1, case.work, case.id

    ordered = sorted(wrong, key=key)
    large = [item for item in ordered if min(item.case.j, item.case.k, item.case.l) > _LARGE_TILE]
    chosen = [*ordered[:1], *large[:1], *ordered[-1:]]
    return [item for index, item in enumerate(chosen) if item not in chosen[:index]]


def told(
    session: Session,
    text: str,
    result: Result,
    outcomes: Mapping[str, Outcome],
    recorded: Mapping[str, Recorded],
) -> Result:
    """The result with its causes. outcomes: on the simulator."""
    is_product = session.lab.problem.is_product
    is_tried = opening.may_be_tried(result.diagnostics, session.lab.problem)
    with child.started_early(is_tried):
        followed = None
        if is_product:
            with quietly(*_EXPECTED):
                followed = _followed(session, text, outcomes, recorded)
                result = replace(result, diagnostics=opened(result.diagnostics, followed))
        with quietly(*_EXPECTED):
            material = opening.Material(
                text, session.lab.signature, tuple(outcomes.values()), result.warnings
            )
            with quietly(*_EXPECTED):
                material = replace(material, calls=_calls(session, text, result, outcomes))
            again = functools.cache(lambda: tried_plans.plans(session, text, outcomes))
            material = replace(material, plans=again)
            if not is_product:
                material = replace(material, reference=session.lab.reference, lab=session.lab.cases)
            if followed is not None:
                material = replace(
                    material,
                    explanation=followed.explanation,
                    provenance=followed.provenance,
                    explained=followed.outcome.case.id,
                    p=followed.p,
                )
            result = replace(result, diagnostics=opening.with_cause(result.diagnostics, material))
    return result


def _calls(
    session: Session, text: str, result: Result, outcomes: Mapping[str, Outcome]
) -> HostCalls | None:
    """What solve asked for in the first case that shows the first finding, recorded once more."""
    if session.shared_object is None or not opening.asks_for_calls(
        result.diagnostics, session.lab.problem, text
    ):
        return None
    named = [name for item in result.diagnostics for name in item.cases]
    shown = [outcomes[name].case for name in dict.fromkeys(named) if name in outcomes]
    # Where solve crashed there are no calls to be told.
    left = [one for one in shown if not one.hidden and outcomes[one.id].execution is not None]
    case = next(iter(left), None)
    if case is None:
        return None
    session.say("looking at the calls of solve")
    found = record(
        session.course, session.lab.signature, [case],
        Compiled(session.shared_object.parent, session.shared_object, ""), session.options.device,
        subfolder(session, "calls"), session.options.limits, tells_calls=True,
    )[case.id]  # fmt: skip
    if found.plan is None:
        return None
    return host_calls.read(found.plan, session.shared_object, case.shapes)


def _followed(
    session: Session,
    text: str,
    outcomes: Mapping[str, Outcome],
    recorded: Mapping[str, Recorded],
) -> Followed | None:
    """Where wrong elements come from, in the smallest case that tells it."""
    found = None
    for outcome in candidates(outcomes):
        again = _follow(session, text, outcome, recorded[outcome.case.id].plan)
        if again is not None and (found is None or again.is_telling):
            found = again
        if found is not None and found.is_telling:
            break
    return found


def _follow(session: Session, text: str, outcome: Outcome, plan: Path | None) -> Followed | None:
    case = outcome.case
    if plan is None:
        return None
    job = job_of(session, case, plan, "sim")
    m, n = data.multiplied(case.problem, *session.inputs[case.id].result().factors)
    p = execute.load_output(job.output, (case.j, case.l))
    chosen = provenance.choose(p, m, n)
    if not chosen:
        return None
    session.say("following the wrong elements of P")
    folder = job.output.parent
    job = replace(
        job,
        output=folder / "followed.npy",
        result=folder / "followed.json",
        explain=tuple(chosen),
    )
    found = execute.execute(
        session.course, job, backend="sim", device=session.options.device, resources=None,
        threads=1, limits=replace(session.options.limits, execute_seconds=SECONDS),
    ).provenance  # fmt: skip
    if found is None:
        return None
    kernel = outcome.execution.kernels[-1].name if outcome.execution.kernels else ""
    shape = provenance.Shape(case.j, case.k, case.l, case.problem.factors)
    return Followed(outcome, found, provenance.explain(found, shape, text, kernel), p)


def opened(
    diagnostics: tuple[Diagnostic, ...], followed: Followed | None
) -> tuple[Diagnostic, ...]:
    """The findings, where those about P say what it was made of."""
    if followed is None or followed.explanation is None:
        return diagnostics
    outcome, found = followed.outcome, followed.explanation
    about = [item for item in diagnostics if item.code in OF_P]
    if not about:
        return diagnostics
    # One mistake may show at several lines that store, in one case here and in another there.
    first = about[0]
    if first.code == "unwritten-output" and found.kind not in _OF_STORES:
        return diagnostics  # it is about an element that was stored, and may lie in the wrong place
    # Of a product in pieces a wrong P and one that is too inexact are the same mistake.
    in_pieces = outcome.case.problem.factors == "split"
    codes = ("wrong-result", "low-precision") if in_pieces else (first.code,)
    same = [item for item in about if item.code in (first.code, *codes)]
    cases = tuple(dict.fromkeys(name for item in same for name in item.cases))
    told = _told(replace(first, cases=cases), outcome, found)
    kept = [item for item in diagnostics if item is first or item not in same]
    return tuple(told if item is first else item for item in kept)


_OF_STORES = frozenset({"not-stored", "misplaced", "stored-twice"})
_COVERED = (
    "One thread has to come to each element: which rows and columns do the grid, the block and the "
    "index of the store give, and which does a guard leave out?"
)


def _told(item: Diagnostic, outcome: Outcome, found: Explanation) -> Diagnostic:
    message = f"In {outcome.result.size}: {found.sentence}"
    line = found.line or item.line
    pattern = outcome.pattern
    advice = found.common
    if not advice and found.kind == "not-stored":
        advice = _COVERED  # a pattern of the values tells nothing of what has none
    if not advice and pattern is not None and pattern.is_mistake:
        advice = pattern.sentence
    advice = advice or item.advice
    if found.line:
        advice = patterns.without_guess(advice)
        if item.code == "low-precision" and advice == remedies.for_code(item.code, "split"):
            advice = ""  # it asks for what is told
    return replace(
        item,
        message=message,
        line=line,
        advice=advice,
        other_line=found.other_line,
        cause=found.common or found.sentence,
        explanation=found,
    )
