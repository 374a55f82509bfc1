"""Whether one statement of a function may be carried out after another."""

from __future__ import annotations

from grader.labs.statements import Listing, Statement

_LEAVES = frozenset({"return", "exit", "abort", "throw", "goto", "break", "continue"})


def may_follow(text: Listing, one: int, later: int) -> bool:
    """Of two statements' numbers: not where the first one's block ends by leaving before the other.

    `if (failed) { cudaFree(p); return; } cudaFree(p);`, and what stands behind a function's end.
    """
    first, second = text.statements[one], text.statements[later]
    around = [first, *text.above(first)]
    holding = {item.number for item in (second, *text.above(second))}
    for item in around:
        for other in text.statements[item.number + 1 : later]:
            is_beside = other.parent == item.parent and other.words[:1]
            if is_beside and other.words[0] in _LEAVES:
                return _jumps(text, one, other.number, later)
        if item.parent in holding:
            return not _are_two_ways(text, item, holding)
    return True


def _jumps(text: Listing, one: int, until: int, later: int) -> bool:
    """Whether a goto on the way leads to a label between the end of that way and the other."""
    labels = {
        item.words[0] for item in text.statements[until : later + 1] if item.words[1:2] == (":",)
    }
    gotos = (item.words for item in text.statements[one : until + 1] if item.words[:1] == ("goto",))
    return any(words[1] in labels for words in gotos)


def _are_two_ways(text: Listing, item: Statement, holding: set[int]) -> bool:
    """Whether the other one stands in the else of what holds this one."""
    beside = [one for one in text.statements[item.number + 1 :] if one.parent == item.parent]
    if item.kind not in ("if", "else"):
        return False
    for one in beside:
        if one.kind != "else":
            return False
        if one.number in holding:
            return True
    return False
