"""Whether indices still fit at sizes that nobody could compute here: an int that overflows.

A probe is a case of which few blocks are executed, without data, in memory that is taken only where
it is touched. It says nothing about P; what it finds are accesses outside. Only files that are right
at all other sizes are probed: others have something else to mend first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from grader.errors import StepError
from grader.judging import explain, judge
from grader.labs.lab import Case
from grader.pipeline.carry_out import Session, subfolder
from grader.results.result import Diagnostic
from grader.running import execute
from grader.running.record import Recorded

CODES = frozenset({"out-of-bounds-global", "misaligned-access"})
_ADVICE = (
    "An int ends at 2,147,483,647. Make a product 64 bits wide before it is too late: "
    "size_t(row) * l + col."
)


def look(
    session: Session,
    text: str,
    seen: Iterable[judge.Outcome],
    recorded: Mapping[str, Recorded],
) -> tuple[Diagnostic, ...]:
    """What the lab's probes find in a file that is right everywhere else."""
    seen = tuple(seen)
    if not session.lab.probes or not all(one.is_right for one in seen):
        return ()
    if any(item.severity == "error" for one in seen for item in one.diagnostics):
        return ()
    session.say("looking at indices of sizes beyond an int")
    found: dict[tuple[str, int], Diagnostic] = {}
    for case in session.lab.probes:
        for item in _of(session, case, text, recorded[case.id]):
            found.setdefault((item.code, item.line), item)
    return tuple(found.values())


def _of(session: Session, case: Case, text: str, recorded: Recorded) -> list[Diagnostic]:
    if recorded.plan is None:  # of what keeps a solve from such sizes, memory is the least fault
        return []
    folder = subfolder(session, "probes") / case.id
    folder.mkdir(exist_ok=True)
    job = execute.Job(
        case.id, recorded.plan, {}, folder / "P.npy", folder / "result.json", case.work
    )
    try:
        execution = execute.sampled(
            session.course, job, session.options.device, session.options.limits
        )
    except StepError:  # a kernel that cannot be probed loses nothing
        return []
    if execution.api_errors:  # as where solve wants more memory of its own than there is
        return []
    context = explain.context(text, case, explain.read_plan(recorded.plan))
    found = judge.judged(case, execution, context, lambda: _nothing_to_compare(case)).diagnostics
    return [_told(item, case) for item in found if item.code in CODES]


def _nothing_to_compare(case: Case):
    return judge.case_result(case, "passed", ""), None, None


def _told(item: Diagnostic, case: Case) -> Diagnostic:
    """No case of the report: it says its sizes itself."""
    sizes = f"{case.j:,}x{case.k:,} times {case.k:,}x{case.l:,}"
    message = f"At {sizes}: {item.message}"
    return replace(item, cases=(), message=message, advice=_ADVICE)
