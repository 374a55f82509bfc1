"""What a check counts beyond its limit, as a finding: a grid of far more blocks than P needs, loads that
several threads make, bank conflicts: the line that most of them belong to, and why lanes meet.

Only of a submission that has nothing else to mend: a fault costs more than it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.judging import banks, row_pitches
from grader.judging.cause_base import Material
from grader.judging.costly_loads import CostlyLoads
from grader.judging.judge import Outcome, is_own_file
from grader.judging.kernel_text import Kernel
from grader.judging.quietly import quietly
from grader.judging.repair.child import find_for_banks_apart
from grader.judging.too_many_blocks import TooManyBlocks
from grader.labs.expression import names_in as counted_in
from grader.labs.lab import Lab
from grader.labs.statements import listing
from grader.labs.submission import FILE_NAME
from grader.labs.sums import counters_in
from grader.results.result import CheckResult, Diagnostic

_TWICE = 2  # few lanes that meet now and then are no reason
_OF_WEIGHT = (
    10  # points of a check that is what a lab is about: elsewhere an odd program may do it so
)
_CONFLICTS = frozenset({"bank_conflicts", "async_conflicts"})
_WAVEFRONTS = frozenset({"shared_load_wavefronts", "tile_load_wavefronts"})
_LOADS = frozenset({"global_load_sectors", "global_load_requests", "shared_store_wavefronts"})
_OF_BANKS = (
    "The bank of a lane's word is its place in the array, counted in words, modulo 32: those that a "
    "warp takes at once should lie in different banks, or be the same word."
)


def of_blocks(
    lab: Lab, results: Sequence[CheckResult], safety: Mapping[str, Outcome], text: str
) -> tuple[Diagnostic, ...]:
    """Most blocks lie outside of P: what these do is counted, too."""
    for result, outcome in _failed(lab, results, safety):
        message = f"{result.title}: {result.message}."
        item = Diagnostic(
            "costly", "warning", message, FILE_NAME, result.line, cases=(outcome.case.id,)
        )
        material = Material(text, lab.signature, (outcome,))
        said = TooManyBlocks(listing(text), material, item).surplus()
        if said is not None:
            message = f"{said.text} {message}"
            return (_finding(said.line, message, said.advice, said.text, result.line),)
    return ()


def _failed(
    lab: Lab, results: Sequence[CheckResult], safety: Mapping[str, Outcome]
) -> list[tuple[CheckResult, Outcome]]:
    """The checks that count too much, each with its case."""
    kinds = {check.id: check.kind for check in lab.checks}
    found = []
    for result in results:
        if kinds.get(result.id) != "counter" or result.status != "failed" or result.hidden:
            continue
        outcome = safety.get(str(result.data.get("case", "")))
        if outcome is not None and not outcome.case.hidden:
            found.append((result, outcome))
    return found


def told(
    lab: Lab, results: Sequence[CheckResult], safety: Mapping[str, Outcome], text: str
) -> tuple[Diagnostic, ...]:
    """Of the first such check; () if there is none, or nothing is known of its line."""
    for result, outcome in _failed(lab, results, safety):
        if result.max_score < _OF_WEIGHT or not result.line:
            continue
        message = f"{result.title}: {result.message}."
        counters = counters_in(counted_in(str(result.data["measure"])))
        if not (counters <= _CONFLICTS or counters & _WAVEFRONTS):
            continue  # the check itself says what was counted, and where most of it is
        found = _of_banks(lab, outcome, text, result.line)
        if found is not None:
            line, cause = found
            return (_finding(line, f"{cause} {message}", _OF_BANKS, cause, result.line),)
    return ()


def of_loads(
    lab: Lab, results: Sequence[CheckResult], safety: Mapping[str, Outcome], text: str
) -> tuple[Diagnostic, ...]:
    """Elements that several threads load, and lanes that load what lies far apart."""
    for result, outcome in _failed(lab, results, safety):
        counters = counters_in(counted_in(str(result.data.get("measure", ""))))
        if not result.line or not counters & _LOADS:
            continue
        message = f"{result.title}: {result.message}."
        item = Diagnostic(
            "costly", "warning", message, FILE_NAME, result.line, cases=(outcome.case.id,)
        )
        rules = CostlyLoads(listing(text), Material(text, lab.signature, (outcome,)), item)
        counts = _counts(outcome, result.line)
        said = rules.overlapping(result.line) or rules.scattered(result.line, counts)
        if said is None and "global_load_requests" in counters and result.max_score >= _OF_WEIGHT:
            said = rules.single(result.line, counts)
        if said is not None:
            told = f"{said.text} {message}"
            return (_finding(said.line, told, said.advice, said.text, result.line),)
    return ()


def _finding(line: int, message: str, advice: str, cause: str = "", seen: int = 0) -> Diagnostic:
    return Diagnostic(
        "costly", "warning", message, FILE_NAME, line, advice=advice, cause=cause,
        other_line=seen if seen != line else 0,
    )  # fmt: skip


def _kernel(lab: Lab, outcome: Outcome, text: str) -> Kernel | None:
    item = Diagnostic("costly", "warning", "", FILE_NAME, 0, cases=(outcome.case.id,))
    with quietly():
        return CostlyLoads(listing(text), Material(text, lab.signature, (outcome,)), item).kernel
    return None


def _of_banks(lab: Lab, outcome: Outcome, text: str, line: int) -> tuple[int, str] | None:
    """(line, why) of accesses that take twice as many as they must, or need not if the file is changed."""
    counts = _counts(outcome, line)
    loads, stores = (counts.get(f"shared_{kind}_requests", 0) for kind in ("load", "store"))
    requests = loads + stores
    taken = sum(counts.get(f"shared_{kind}_wavefronts", 0) for kind in ("load", "store"))
    more = counts.get("bank_conflicts", 0)
    if not requests or not 0 < more < taken:
        return None
    known = listing(text)
    kind = "accesses" if loads and stores else "loads" if loads else "stores"
    arrays = [name for name in banks.shared(known) if banks.uses(known, line, name)]
    of = f" {'from' if kind == 'loads' else 'to'} {arrays[0]}" if len(arrays) == 1 else ""
    cause = (
        f"The {kind}{of} in line {line} take {taken / requests:.3g} wavefronts each, where "
        f"{(taken - more) / requests:.3g} would do: lanes of a warp meet in a bank."
    )
    closer = row_pitches.not_in_index(known)
    if closer is not None and row_pitches.is_of(known, line, closer.line):
        return closer.line, f"{cause} {closer.text}"
    place, is_twice = None, taken >= _TWICE * (taken - more)
    if is_twice:
        place = banks.place(known, line, _kernel(lab, outcome, text))
    found = find_for_banks_apart(
        text, lab.signature, _with_conflicts(outcome, line), [place.line] if place else []
    )
    if found is not None and (place is None or found.line != place.line):
        return (
            found.line,
            f"{cause} {found.before}: with {found.after} in its place they would not.",
        )
    if place is not None:
        return place.line, f"{cause} {place.why}"
    return (line, cause) if is_twice else None


def _with_conflicts(outcome: Outcome, first: int) -> list[int]:
    """Lines whose lanes meet; `first` is the one that costs most."""
    kernels = outcome.execution.kernels if outcome.execution is not None else ()
    entries = [one for kernel in kernels for one in kernel.lines if is_own_file(one.file)]
    lines = [one.line for one in entries if one.counters.get("bank_conflicts", 0)]
    return list(dict.fromkeys((first, *lines)))


def _counts(outcome: Outcome, line: int) -> dict[str, float]:
    counts: dict[str, float] = {}
    for kernel in outcome.execution.kernels if outcome.execution is not None else ():
        for entry in kernel.lines:
            if entry.line == line and is_own_file(entry.file):
                for name, count in entry.counters.items():
                    counts[name] = counts.get(name, 0) + count
    return counts
