"""Whether kernels do the work at sizes that nobody could compute here, where an int overflows as an
index, or a grid or an array ends that all other cases fit.

A probe is a case of which few blocks are executed, without data, in memory that is taken only where
it is touched. What it finds are accesses outside, and a solve that does not do the work at such a
size: one that throws, launches nothing or leaves out most of the product, since a size that need not
be computed would be a way round the indices. Only files that are right at all other sizes are probed:
others have something else to mend first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.errors import StepError
from grader.judging import explain, judge
from grader.labs.lab import Case
from grader.labs.sums import with_sums
from grader.pipeline.session import Session, subfolder
from grader.results.result import Diagnostic
from grader.running import execute
from grader.running.compile import Compiled
from grader.running.execution import Execution
from grader.running.record import Reason, Recorded, record

CODES = frozenset({"out-of-bounds-global", "misaligned-access"})
_ADVICE = (
    "An int ends at 2,147,483,647. Make a product 64 bits wide before it is too late: "
    "size_t(row) * l + col."
)
_TOO_SHORT_ADVICE = "Grids, arrays and loops have to follow from the sizes that solve is given."
_LARGEST_INT = 2_147_483_647
_REFUSED_ADVICE = "solve is for matrices of every size that the device can hold."
_OTHER_DEVICE_ADVICE = (
    "What a block may have differs from device to device: solve has to ask the one it runs on."
)
# More multiply-adds than any block has an element take part in that it has loaded once.
_MOST_USES = 1024
_LARGEST_GRID_Y = 65_535  # a kernel with few rows a block may need more: its right
# What solve may allocate: the device is the limit, since nothing of it is touched.
_DEVICE_BYTES = 1 << 40
# Of no fault of solve's; what it moves through the host at such a size may be more than can be followed.
_NOT_ITS_FAULT = frozenset({Reason.NO_MEMORY, Reason.DEVICE_CODE, Reason.NO_PLAN, Reason.TOO_MUCH})


def _plans(session: Session, compiled: Compiled) -> dict[str, Recorded]:
    """The plans of the lab's probes."""
    limits = replace(session.options.limits, device_memory_bytes=_DEVICE_BYTES)
    folder = subfolder(session, "probe-plans")
    lab, found = session.lab, {}
    for threads in dict.fromkeys(probe.block_threads for probe in lab.probes):
        probes = [probe for probe in lab.probes if probe.block_threads == threads]
        into = folder / f"of-{threads}"
        into.mkdir(exist_ok=True)
        found |= record(
            session.course, lab.signature, probes, compiled, session.options.device, into, limits,
            devices=_devices(session, threads),
        )  # fmt: skip
    return found


def _devices(session: Session, block_threads: int) -> Path | None:
    """A folder with the device, of which a block may have so many threads; None: the course's."""
    if block_threads == 0:
        return None
    facts = _facts(session) | {"max_threads_per_block": block_threads}
    folder = session.folder / f"devices-{block_threads}"
    folder.mkdir(exist_ok=True)
    name = f"{session.options.device}.json"
    (folder / name).write_text(json.dumps(facts), encoding="utf-8")
    return folder


def look(
    session: Session,
    compiled: Compiled,
    text: str,
    seen: Iterable[judge.Outcome],
    recorded: Mapping[str, Recorded],
) -> tuple[Diagnostic, ...]:
    """What the lab's probes find in a file that is right everywhere else: others are not even recorded."""
    seen = tuple(seen)
    if not session.lab.probes or not all(one.is_right for one in seen):
        return ()
    if any(item.severity == "error" for one in seen for item in one.diagnostics):
        return ()
    session.say("looking at indices of sizes beyond an int")
    found: dict[tuple[str, int], Diagnostic] = {}
    usual = _usual_share(seen)
    together = _waits_together(recorded[one.case.id] for one in seen)
    probed = _plans(session, compiled)

    def of(case: Case) -> list[Diagnostic]:
        return _of(session, case, text, probed[case.id], usual, waits_together=together)

    with ThreadPoolExecutor(max_workers=2) as pool:  # each waits for a process of one thread
        told = list(pool.map(of, session.lab.probes))
    for items in told:
        for item in items:
            found.setdefault((item.code, item.line), item)
    return tuple(found.values())


def _of(
    session: Session,
    case: Case,
    text: str,
    recorded: Recorded,
    usual: float,
    *,
    waits_together: bool,
) -> list[Diagnostic]:
    # For copies that solve makes.
    roomy = _facts(session)["global_bytes"] >= 4 * _bytes_of(case)
    if recorded.plan is None:
        if not roomy or recorded.reason in _NOT_ITS_FAULT:
            return []
        failure = judge.recording_failure(recorded)
        is_its = failure.code != "unsupported"
        return [_told(failure, case, _advice_of_refusal(case))] if is_its else []
    folder = subfolder(session, "probes") / case.id
    folder.mkdir(exist_ok=True)
    job = execute.Job(
        case.id, recorded.plan, {}, folder / "P.npy", folder / "result.json", case.work
    )
    try:
        execution = execute.sampled(
            session.course, job, session.options.device, session.options.limits,
            devices=_devices(session, case.block_threads),
        )  # fmt: skip
    except StepError:  # ours, and not the kernel's
        return []
    context = explain.context(text, case, explain.read_plan(recorded.plan))
    found = judge.judged(case, execution, context, lambda: _nothing_to_compare(case)).diagnostics
    advice = _ADVICE if _most_elements(case) > _LARGEST_INT else _TOO_SHORT_ADVICE
    indices = [_told(item, case, advice) for item in found if item.code in CODES]
    if indices or (execution.api_errors and not roomy):
        return indices
    return [
        _told(item, case, _advice_of_refusal(case))
        for item in _left_out(case, execution, found, usual, waits_together=waits_together)
    ]


def _left_out(
    case: Case,
    execution: Execution,
    found: Iterable[Diagnostic],
    usual: float,
    *,
    waits_together: bool,
) -> list[Diagnostic]:
    """What a solve that does not compute this size says of itself."""
    if execution.status == "launch-config" and max(case.j, case.l) > _LARGEST_GRID_Y:
        return []
    if waits_together and any(
        error.get("code_name") == "cudaErrorCooperativeLaunchTooLarge"
        for error in execution.api_errors
    ):
        return []  # blocks that wait for each other have to fit the device: its limit, no fault
    if execution.launches == 0 or execution.status == "launch-config":
        return [
            item
            for item in found
            if item.code in ("no-launch", "launch-config", "api-error", "host-computed")
        ]
    done = _share(case, execution)
    if execution.status == "ok" and usual > 0 and done < usual / 2:
        message = f"The kernels do {100 * done / usual:.0f}% of the multiply-adds that P needs."
        return [Diagnostic("wrong-result", "error", message)]
    loaded = 8 * with_sums(execution.counters)["loaded_sectors"]
    if execution.status == "ok" and usual > 0 and loaded * _MOST_USES < case.work * usual:
        message = "The kernels load too little of M and N for the product."
        return [Diagnostic("wrong-result", "error", message)]
    return []


def _waits_together(recorded: Iterable[Recorded]) -> bool:
    """Whether all launches are of grids that are resident as a whole."""
    plans = [explain.read_plan(one.plan) for one in recorded if one.plan is not None]
    launches = [op for plan in plans for op in plan["ops"] if op["op"] == "launch"]
    return bool(launches) and all(op.get("cooperative") for op in launches)


def _share(case: Case, execution: Execution) -> float:
    counted = execution.counters.get("fma_lanes", 0)
    return (counted + execution.counters.get("tensor_multiply_adds", 0)) / case.work


def _usual_share(seen: Iterable[judge.Outcome]) -> float:
    """Multiply-adds that are counted for each that P needs, in the largest case; 0: others do it."""
    done = [one for one in seen if one.execution is not None]
    largest = max(done, key=lambda one: one.case.work, default=None)
    return 0 if largest is None else min(1, _share(largest.case, largest.execution))


def _facts(session: Session) -> dict[str, Any]:
    file = session.course.root / "common" / "devices" / f"{session.options.device}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def _advice_of_refusal(case: Case) -> str:
    return _OTHER_DEVICE_ADVICE if case.block_threads else _REFUSED_ADVICE


def _most_elements(case: Case) -> int:
    return max(case.j * case.k, case.k * case.l, case.j * case.l)


def _bytes_of(case: Case) -> int:
    return 4 * (case.j * case.k + case.k * case.l + case.j * case.l)


def _nothing_to_compare(case: Case):
    return judge.case_result(case, "passed", ""), None, None


def _told(item: Diagnostic, case: Case, advice: str) -> Diagnostic:
    """No case of the report: it says its sizes itself."""
    sizes = f"{case.j:,}x{case.k:,} times {case.k:,}x{case.l:,}"
    of = f"On a GPU of {case.block_threads} threads a block, at" if case.block_threads else "At"
    message = f"{of} {sizes}: {item.message}"
    return replace(item, cases=(), message=message, advice=advice)
