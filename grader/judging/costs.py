"""What a check counts beyond its limit, as a finding: a grid of far more blocks than P needs, or bank
conflicts: the line that most of them belong to, and why lanes meet.

Only of a submission that has nothing else to mend: a fault costs more than it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.judging.cause_base import Material
from grader.judging.judge import Outcome, is_own_file
from grader.judging.too_many_blocks import TooManyBlocks
from grader.judging.wording import bare, names_in, terms, value
from grader.labs.expression import names_in as counted_in
from grader.labs.lab import Lab
from grader.labs.statements import Listing, Statement, closing, declared, function_name, listing
from grader.labs.submission import FILE_NAME
from grader.labs.sums import counters_in
from grader.results.result import CheckResult, Diagnostic

_BANKS = 32
_MOST_STEPS = 6
_TWICE = 2
_OF_WEIGHT = (
    10  # points of a check that is what a lab is about: elsewhere an odd program may do it so
)
_CONFLICTS = frozenset({"bank_conflicts", "async_conflicts"})
_OF_BANKS = (
    "The bank of a lane's word is its place in the array, counted in words, modulo 32: those that a "
    "warp takes at once should lie in different banks, or be the same word."
)


@dataclass(frozen=True)
class _Row:
    """The length of an array's rows: of words, and where what is added to the tile's side is written."""

    words: int
    line: int


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
        if not counters <= _CONFLICTS:
            continue  # the check itself says what was counted, and where most of it is
        banks = _of_banks(listing(text), outcome, result.line)
        if banks is not None:
            line, cause = banks
            return (_finding(line, f"{cause} {message}", _OF_BANKS, cause, result.line),)
    return ()


def _finding(line: int, message: str, advice: str, cause: str = "", seen: int = 0) -> Diagnostic:
    return Diagnostic(
        "costly", "warning", message, FILE_NAME, line, advice=advice, cause=cause,
        other_line=seen if seen != line else 0,
    )  # fmt: skip


def _of_banks(text: Listing, outcome: Outcome, line: int) -> tuple[int, str] | None:
    """(line, why) of the accesses of a line whose lanes meet in a bank."""
    counts = _counts(outcome, line)
    loads, stores = (counts.get(f"shared_{kind}_requests", 0) for kind in ("load", "store"))
    requests = loads + stores
    taken = sum(counts.get(f"shared_{kind}_wavefronts", 0) for kind in ("load", "store"))
    more = counts.get("bank_conflicts", 0)
    # Few that meet now and then are no reason: each access takes twice as many as it must, or more.
    if not requests or more >= taken or taken < _TWICE * (taken - more):
        return None
    kind = "accesses" if loads and stores else "loads" if loads else "stores"
    arrays = {name: one for name, one in _shared(text).items() if _uses(text, line, name)}
    of, row = "", None
    if len(arrays) == 1:
        ((name, (item, side)),) = arrays.items()
        of = f" {'from' if kind == 'loads' else 'to'} {name}"
        row = _padded(text, item, side)
    cause = (
        f"The {kind}{of} in line {line} take {taken / requests:.3g} wavefronts each, where "
        f"{(taken - more) / requests:.3g} would do: lanes of a warp meet in a bank."
    )
    if row is None:
        return line, cause
    cause += (
        f" A row has {row.words} words, so what lies below an element is {row.words % _BANKS} "
        f"{'bank' if row.words % _BANKS == 1 else 'banks'} further on."
    )
    return row.line, cause


def _counts(outcome: Outcome, line: int) -> dict[str, float]:
    counts: dict[str, float] = {}
    for kernel in outcome.execution.kernels if outcome.execution is not None else ():
        for entry in kernel.lines:
            if entry.line == line and is_own_file(entry.file):
                for name, count in entry.counters.items():
                    counts[name] = counts.get(name, 0) + count
    return counts


def _shared(text: Listing) -> dict[str, tuple[Statement, tuple[str, ...]]]:
    """Arrays of floats in shared memory: where each is declared, and its innermost side."""
    found = {}
    for item in text.statements:
        if "__shared__" not in item.words or "float" not in item.words:
            continue
        at = 0
        while at < len(item.words):
            if item.words[at] == "[" and item.words[at - 1].isidentifier():
                name, side = item.words[at - 1], ()
                while at < len(item.words) and item.words[at] == "[":
                    end = closing(item.words, at)
                    side, at = tuple(item.words[at + 1 : end]), end + 1
                found[name] = item, side
            at += 1
    return found


def _uses(text: Listing, line: int, name: str) -> bool:
    return any(name in item.words for item in text.at(line))


def _padded(text: Listing, item: Statement, side: tuple[str, ...]) -> _Row | None:
    """SIDE + PAD, or a name that stands for it: the length, and where the last part was written."""
    line, words = item.line, bare(side)
    for _ in range(_MOST_STEPS):
        if len(terms(words)) > 1:
            break
        known = _meaning(text, words, item)
        if known is None:
            return None
        line, words = known
    parts = terms(words)
    if len(parts) < 2 or "-" in words:
        return None
    whole = 0
    for number, part in enumerate(parts):
        where, meaning = line, bare(part)
        for _ in range(_MOST_STEPS):
            known = _meaning(text, meaning, item)
            if known is None:
                break
            where, meaning = known
        size = value(meaning, text.constants)
        if size is None:
            return None
        whole += size
        if number == len(parts) - 1:
            line = where
    return _Row(whole, line)


def _meaning(
    text: Listing, words: Sequence[str], near: Statement
) -> tuple[int, tuple[str, ...]] | None:
    """(line, value) of a name, or of a function without parameters."""
    if len(words) == 3 and tuple(words[1:]) == ("(", ")"):
        return _returned(text, words[0])
    if len(words) != 1 or len(names_in(words)) != 1:
        return None
    known = text.declaration(words[0], near)
    if known is not None and known[1]:
        return known[0], bare(known[1])
    found = [
        one
        for item in text.statements
        if item.kind == "simple" and item.parent < 0
        if (one := declared(item, words[0])) is not None and one[1]
    ]
    return (found[0][0], bare(found[0][1])) if len(found) == 1 else None


def _returned(text: Listing, name: str) -> tuple[int, tuple[str, ...]] | None:
    """What a function returns: where its last value was given."""
    functions = [one for one in text.functions() if function_name(one) == name]
    if len(functions) != 1:
        return None
    returns = [one for one in text.inside(functions[0]) if one.words[:1] == ("return",)]
    if len(returns) != 1:
        return None
    words = bare(returns[0].words[1:-1])
    if len(words) != 1 or not words[0].isidentifier():
        return returns[0].line, words
    given = text.assignments(words[0], functions[0])
    if given and given[-1].words[1:2] == ("=",):
        return given[-1].line, bare(given[-1].words[2:-1])
    return text.declaration(words[0], returns[0]) if not given else None
