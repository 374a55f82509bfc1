"""Barriers with phases (mbarrier), and copies in bulk that nobody has waited for: what was seen, in words."""

from __future__ import annotations

import re
from collections.abc import Callable

from grader.judging import parities
from grader.judging.figures import bytes_text, triple
from grader.judging.host import Said
from grader.labs.statements import Listing, Statement, listing
from grader.results.finding import Access, Cause, Facts, Party, ShareKind

CAUSES = frozenset(
    {
        Cause.NOT_WAITED, Cause.WRONG_PARITY, Cause.ENDS_IN_FLIGHT,
        Cause.ARRIVALS_LACK, Cause.BYTES_LACK, Cause.BYTES_TOO_MANY,
        Cause.NOT_INITIALISED, Cause.INVALIDATED, Cause.OVERWRITTEN,
        Cause.INITIALISED_AGAIN, Cause.INVALIDATED_IN_USE, Cause.BAD_COUNT,
        Cause.TOO_MANY_ARRIVALS, Cause.TOO_MANY_BYTES, Cause.COMPLETES_PHASE,
    }
)  # fmt: skip
# Of these a copy may be missed, and so may its place in a race: the wait is to be mended first.
TOO_EARLY = frozenset({Cause.NOT_WAITED, Cause.WRONG_PARITY})
# What a wait leads to that ends too early, or never.
_OF_PARITY = TOO_EARLY | {Cause.ARRIVALS_LACK, Cause.TOO_MANY_ARRIVALS, Cause.ENDS_IN_FLIGHT}
REFILL = (
    "Before a place is filled again, all who read it must have arrived at a barrier for which the "
    "filling thread waits, and each of them only after its last read. And is it the right place?"
)
_USED = re.compile(r"\bmbarrier|\binit_barrier\b|\bcuda::barrier\b|\bCUtensorMap\b")


_WRONG_WAIT = (
    "Has it the parity of the copy's phase? The first phase of a barrier has parity 0, the next one 1, "
    "then 0 again, and a stage's barrier ends one each time the stage is filled. And does each phase "
    "get its arrivals and its bytes once?"
)
_NOT_ANNOUNCED = (
    "Say with the arrival how many bytes the copies of this phase bring, all of them together."
)
_COUNT = "Who arrives, each thread or one lane of a warp? As many are to be expected."
_WAITS_FOR_WHOM = (
    "The first time that a stage is filled nobody has to be waited for; after that the wait is for the "
    "phase that its readers have ended last: 0, then 1, then 0 again."
)
_TOO_SOON = "Arrive after the last read of the stage, and behind a __syncwarp() if one lane arrives for all."


def cause(code: str, facts: Facts, source: str) -> Said | None:
    """The line to be mended, where the text shows it; the finding's own is where it was seen."""
    other = facts.other or Party()
    if facts.cause in _OF_PARITY:
        text = listing(source)
        said = parities.wrong(text) or parities.at_each_step(text)
        if said is not None:
            return said
    if facts.cause is Cause.ARRIVALS_LACK:
        return _too_few(facts) or _never_filled(facts, listing(source))
    if facts.cause is Cause.TOO_MANY_ARRIVALS:
        return _announced_twice(facts, listing(source))
    if facts.cause is Cause.WRONG_PARITY:
        text = listing(source)
        if "expect" not in text.bare:
            arrivals = _calls(text, other.line, _is_arrival)
            if len(arrivals) == 1:
                said = "No bytes are announced here, so the phase ends before its copies have come."
                return Said(said, arrivals[0].line, _NOT_ANNOUNCED)
        waits = _calls(text, facts.line, _is_wait)
        if len(waits) == 1 and waits[0].line < facts.line:
            return Said("This wait ends before the copy has come.", waits[0].line, _WRONG_WAIT)
    kinds = (facts.access, other.access)
    if code == "race-shared" and are_used(source) and set(kinds) == {Access.COPY, Access.LOAD}:
        read = facts.line if facts.access is Access.LOAD else other.line
        waits = _calls(listing(source), read, _is_wait)
        arrivals = _calls(listing(source), read, _is_arrival)
        if len(waits) == len(arrivals) == 1 and waits[0].line < arrivals[0].line < read:
            return Said(
                "Here the thread says already that it has read the stage, which it reads only in line "
                f"{read}: the stage may be filled again too early.",
                arrivals[0].line,
                _TOO_SOON,
            )
    return None


def _too_few(facts: Facts) -> Said | None:
    """All that come to the barrier have come, and it was initialised for more."""
    made = next((one for one in facts.shares if one.kind is ShareKind.INIT), None)
    came = [one for one in facts.shares if one.kind is ShareKind.ARRIVAL and one.line]
    if made is None or not made.line or not came or {made.file} != {one.file for one in came}:
        return None
    lines = " and ".join(str(line) for line in dict.fromkeys(one.line for one in came))
    count = sum(one.amount for one in came)
    return Said(
        f"The barrier is initialised here for {made.amount} arrivals a phase, and {count} "
        f"{'comes' if count == 1 else 'come'}, from line {lines}: all who have yet to arrive wait for "
        "this barrier themselves, or have ended.",
        made.line,
        _COUNT,
    )


def _never_filled(facts: Facts, text: Listing) -> Said | None:
    """Nothing was asked for yet: who would ask waits for readers, who wait for it."""
    if facts.interval != 0 or facts.amount != facts.limit or not facts.other_line:
        return None
    asking = [
        line
        for line in (facts.line, facts.other_line)
        if any(one.line > line for one in _calls(text, line, lambda name: "expect" in name))
    ]
    if len(asking) != 1:
        return None
    return Said(
        "Here the thread that asks for the copies waits for readers of a stage that has never been "
        "filled, and these wait for the copies.",
        asking[0],
        _WAITS_FOR_WHOM,
    )


def _announced_twice(facts: Facts, text: Listing) -> Said | None:
    """A thread that has announced bytes does so again, and the wait before it has not held it up."""
    other = facts.other
    if other is None or facts.limit or other.line != facts.line or other.thread != facts.thread:
        return None
    waits = [one for one in _calls(text, facts.line, _is_wait) if one.line < facts.line]
    if len(waits) != 1:
        return None
    return Said(
        "This wait lets the thread go on too early: the stage that it fills next is not empty yet, and "
        "what it asked for last has not arrived.",
        waits[0].line,
        _WAITS_FOR_WHOM,
    )


def _is_wait(name: str) -> bool:
    return "wait" in name


def _is_arrival(name: str) -> bool:
    return "arrive" in name and not any(word in name for word in ("expect", "wait", "init"))


def _calls(text: Listing, line: int, named: Callable[[str], bool]) -> list[Statement]:
    """Calls of such functions in a loop that holds the line as well, each turn; of one lane alone, too."""
    here = next(iter(text.at(line)), None)
    if here is None:
        return []
    around = {item.number for item in text.above(here)}
    loops = {item.number for item in text.above(here) if item.kind in ("for", "while", "do")}
    found = []
    for item in text.statements:
        if item.kind != "simple" or not any(
            named(word.lower()) and after == "("
            for word, after in zip(item.words, item.words[1:], strict=False)
        ):
            continue
        above = [one for one in text.above(item)]
        if loops & {one.number for one in above} and all(
            one.number in around or one.kind == "if" for one in above
        ):
            found.append(item)
    return found


def are_used(source: str) -> bool:
    """Whether a text orders its copies by barriers with phases."""
    return _USED.search(source) is not None


def sentence(facts: Facts, element: str) -> str:
    """What the thread does that must not be; `element`: the barrier, or what a copy brings."""
    other, phase = facts.other or Party(), facts.interval or 0
    barrier = f"the mbarrier {element}"
    match facts.cause:
        case Cause.NOT_WAITED | Cause.WRONG_PARITY:
            return _too_early(facts, element)
        case Cause.ENDS_IN_FLIGHT:
            which = "" if facts.interval is None else f" for phase {phase}"
            return (
                f"asks for a copy to {element}, and the block ends without a wait{which}: the copy may "
                "arrive when another block has this shared memory"
            )
        case Cause.ARRIVALS_LACK:
            are = "is" if facts.amount == 1 else "are"
            ended = f", of which {phase} phases have ended" if phase > 1 else ""
            text = (
                f"waits for ever for the end of phase {phase} of {barrier}{ended}: {facts.amount} of "
                f"{facts.limit} arrivals {are} missing, and all threads that still run wait"
            )
            if other.line:
                text += f"; thread {triple(other.thread)} waits at line {other.line}"
            return text
        case Cause.BYTES_LACK | Cause.BYTES_TOO_MANY:
            is_short = facts.cause is Cause.BYTES_LACK
            come = facts.limit - facts.amount if is_short else facts.limit + facts.amount
            where = f" at line {other.line}" if other.line else ""
            announced = f"{bytes_text(facts.limit)} {_were(facts.limit)} announced{where}"
            if not facts.limit:
                announced = "no bytes were announced"
            return (
                f"waits for ever for the end of phase {phase} of {barrier}: {announced}, and "
                f"{come} {'has' if come == 1 else 'have'} arrived"
            )
        case Cause.NOT_INITIALISED:
            return f"uses {barrier}, which has not been initialised"
        case Cause.INVALIDATED:
            return f"uses {barrier}, which has been invalidated and not initialised again"
        case Cause.OVERWRITTEN:
            return f"uses {barrier}, and something else has been written over it"
        case Cause.INITIALISED_AGAIN | Cause.INVALIDATED_IN_USE:
            does = "initialises" if facts.cause is Cause.INITIALISED_AGAIN else "invalidates"
            return (
                f"{does} {barrier} while it is in use: {facts.amount} of {facts.limit} arrivals of "
                f"phase {phase} have come"
            )
        case Cause.BAD_COUNT:
            return (
                f"gives {barrier} {facts.amount} arrivals: it must be at least 1 and at most "
                f"{facts.limit}"
            )
        case Cause.TOO_MANY_ARRIVALS:
            times = "once" if facts.amount == 1 else f"{facts.amount} times"
            more = f"only {facts.limit} more" if facts.limit else "no arrival any more"
            return f"arrives {times} at {barrier}, whose phase {phase} expects {more}"
        case Cause.TOO_MANY_BYTES:
            return (
                f"announces {facts.amount} bytes in all for phase {phase} of {barrier}: at most "
                f"{facts.limit}"
            )
    return f"arrives with .noComplete as the last of phase {phase} of {barrier}"


def _too_early(facts: Facts, element: str) -> str:
    does = "reads" if facts.access in (Access.NONE, Access.LOAD) else "writes"
    line = facts.other_line
    copy = f"the copy asked for at line {line}" if line else "a copy in bulk"
    text = f"{does} {element}, and {copy} may not have arrived yet: "
    if facts.interval is None:
        return text + "nobody has waited for it"
    phase = facts.interval
    if facts.cause is Cause.NOT_WAITED:
        return text + f"it belongs to phase {phase} of its barrier, for which nobody has waited"
    return text + (
        f"it belongs to phase {phase} of its barrier, whose parity is {phase % 2}, and the wait before "
        f"was for parity {1 - phase % 2}, which was over already"
    )


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
