"""A wait for a phase whose parity does not go 0, 1, 0, 1 for each barrier: worked out turn by turn."""

from __future__ import annotations

from itertools import pairwise

from grader.judging.host import Said
from grader.judging.wording import names_in, value
from grader.labs.statements import Listing, Statement, arguments, closing, shown

_TURNS = 24  # enough for some phases of each stage
_SHOWN = 4
_MOST_STEPS = 4  # from a name to what the loop counts


def wrong(text: Listing) -> Said | None:
    """The first such wait of a file."""
    for item in text.statements:
        for at, word in enumerate(item.words[:-1]):
            if item.kind != "simple" or "wait" not in word.lower() or item.words[at + 1] != "(":
                continue
            given = arguments(item.words, at + 1)
            if len(given) == 2 and "&" in given[0]:
                said = _told(text, item, given[0], given[1], item.lines[at])
                if said is not None:
                    return said
    return None


def _told(
    text: Listing, item: Statement, barrier: tuple[str, ...], parity: tuple[str, ...], line: int
) -> Said | None:
    begin = barrier.index("[") if "[" in barrier else -1
    stage = barrier[begin + 1 : closing(barrier, begin)] if begin >= 0 else ("0",)
    asked: dict[int, list[int]] = {}
    loop = next(iter(text.loops(item)), None)
    name = _counted(loop) if loop is not None else ""
    for turn in range(_TURNS) if name else ():
        which = _worked_out(text, stage, item, name, turn)
        number = _worked_out(text, parity, item, name, turn)
        if which is None or number is None:
            return None
        asked.setdefault(which, []).append(number & 1)
    if any(one.kind == "if" for one in text.above(item)):
        asked = {
            which: bits[1:] for which, bits in asked.items()
        }  # the first time may be passed by
    asked = {which: bits for which, bits in asked.items() if len(bits) > 1}
    of = f"of {shown(barrier[1:] if barrier[:1] == ('&',) else barrier)}"
    for which, bits in asked.items():
        if any(one == after for one, after in pairwise(bits)):
            first = ", ".join(map(str, bits[:_SHOWN]))
            return Said(
                f"The parity of a phase is 0 or 1, in turn: {shown(parity)} gives {first} from one use of "
                f"stage {which} to the next.",
                line,
                f"Each time that a stage is used again the parity has to change. Count how often the "
                f"barrier {of} has ended a phase; that number % 2 is the parity.",
            )
    begins = {bits[0] for bits in asked.values()}
    if len(begins) > 1:
        first = next(which for which, bits in asked.items() if bits[0] == 1)
        return Said(
            f"The first phase of each barrier has parity 0: {shown(parity)} begins with 1 for the barrier "
            f"of stage {first}.",
            line,
            f"All stages need the same parity in the same turn of the ring. Count how often the barrier "
            f"{of} has ended a phase; that number % 2 is the parity.",
        )
    return None


def _counted(loop: Statement) -> str:
    """What a loop counts from 0 on, by one."""
    if loop.kind != "for" or len(loop.parts) != 3:
        return ""
    head, _, step = loop.parts
    if len(head) < 3 or head[-2:] != ("=", "0") or set(step) != {"++", head[-3]}:
        return ""
    return head[-3]


def _worked_out(
    text: Listing, words: tuple[str, ...], near: Statement, name: str, turn: int
) -> int | None:
    known = {**text.constants, name: str(turn)}
    for _ in range(_MOST_STEPS):
        missing = [one for one in names_in(words) if one not in known]
        if not missing:
            return value(words, known)
        for one in missing:
            found = text.declaration(one, near)
            if found is None or not found[1] or text.assignments(one, text.function_of(near)):
                return None
            inner = [other for other in names_in(found[1]) if other not in known]
            if inner:
                return None
            number = value(found[1], known)
            if number is None:
                return None
            known[one] = str(number)
    return None


def at_each_step(text: Listing) -> Said | None:
    """A parity that changes whenever the stage does, not once in a turn of the ring."""
    waits = [item for item in text.statements if any("wait" in word.lower() for word in item.words)]
    for item in text.statements:
        name = _changed(item)
        if not name or not any(name in one.words for one in waits):
            continue
        before = [
            one
            for one in text.statements[: item.number]
            if one.parent == item.parent and one.number > item.parent
        ][-1:]
        begins = [one for one in before if _goes_round(text, one)]
        if begins:
            return Said(
                f"{shown(item.words[:-1])} is carried out at each step. The parity of a phase changes once "
                "in a turn of the ring, when its first stage comes again.",
                item.line,
                "Each stage's barrier ends one phase in a turn of the ring, so all stages need the same "
                "parity in the same turn. Does what belongs to the new turn stand in braces?",
            )
    return None


def _changed(item: Statement) -> str:
    """The variable of parity ^= 1; parity = !parity; parity = 1 - parity; no element of an array."""
    words = item.words
    if item.kind != "simple" or "]" in words or words[-1:] != (";",):
        return ""
    for sign in ("^=", "="):
        if sign in words:
            at = words.index(sign)
            target, given = words[:at], words[at + 1 : -1]
            same = {("!", *target), ("1", "-", *target), (*target, "^", "1"), ("1", "^", *target)}
            if target and (sign, given) == ("^=", ("1",)) or sign == "=" and given in same:
                return target[-1]
    return ""


def _goes_round(text: Listing, item: Statement) -> bool:
    """if (++stage == STAGES) stage = 0; stage = (stage + 1) % STAGES; stage = stage + 1 == STAGES ? 0 : ..."""
    words = item.words
    if item.kind == "if":
        inside = [one for one in text.statements if one.parent == item.number]
        steps = "++" in words or "+" in words or any("++" in one.words for one in inside)
        return (
            len(inside) == 1
            and bool({"==", ">="} & set(words))
            and (inside[0].words[-3:] == ("=", "0", ";"))
            and (steps or _counts_on(text, item, inside[0].words[:-3]))
        )
    if item.kind != "simple" or "=" not in words:
        return False
    target = words[: words.index("=")]
    given = words[len(target) + 1 :]
    if "+" not in given and "++" not in given:
        return False
    return (
        target[-1:] != ()
        and target[-1] in given
        and ("%" in given or ("?" in given and "0" in given))
    )


def _counts_on(text: Listing, item: Statement, target: tuple[str, ...]) -> bool:
    """++stage; if (stage == STAGES) stage = 0;"""
    before = [one for one in text.statements[: item.number] if one.parent == item.parent][-1:]
    return any("++" in one.words and set(target) <= set(one.words) for one in before)
