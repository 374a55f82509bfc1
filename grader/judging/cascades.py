"""switch: a break in the middle of a cascade, and a case that lacks its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.judging.host import Said
from grader.labs.statements import Listing, Statement, shown

CODES = frozenset({
    "wrong-result", "unwritten-output", "uninitialised-shared", "uninitialised-global",
    "out-of-bounds-global", "out-of-bounds-shared", "low-precision",
})  # fmt: skip
_PARTS = {"x": 0, "y": 1, "z": 2, "w": 3}
_ENDS = frozenset({"break", "return", "continue", "goto"})
_FEWEST = 3


@dataclass
class _Case:
    """What follows a label: its statements, and the one that leaves the switch."""

    label: str
    items: list[Statement] = field(default_factory=list)
    end: Statement | None = None


def broken(text: Listing) -> Said | None:
    """A cascade fills one part after another; a break, or one that is missing, spoils it."""
    for item in text.statements:
        if item.kind != "switch":
            continue
        cases = [one for one in _cases(text, item) if one.items]
        if len(cases) < _FEWEST:
            continue
        said = _in_a_cascade(cases) or _without_break(cases)
        if said is not None:
            return said
    return None


def _cases(text: Listing, switch: Statement) -> list[_Case]:
    found: list[_Case] = []
    for item in text.statements:
        if item.parent != switch.number or not item.words:
            continue
        words = item.words
        while words[:1] in (("case",), ("default",)) and ":" in words:
            at = words.index(":")
            found.append(_Case(shown(words[:at])))
            words = words[at + 1 :]
        if not found or not words:
            continue
        if words[0] in _ENDS:
            found[-1].end = item
        elif words != (";",):
            found[-1].items.append(item)
    return found


def _in_a_cascade(cases: list[_Case]) -> Said | None:
    """case 3: v.z = t[2]; break; case 2: v.y = t[1]; case 1: v.x = t[0];"""
    moving = [[item for item in one.items if not _is_guard(item)] for one in cases]
    parts = [_part(one[0]) if len(one) == 1 else None for one in moving]
    if None in parts or parts != sorted(parts, reverse=True) or parts[-1] != 0:
        return None
    if parts != list(range(parts[0], -1, -1)):
        return None
    for case, part, after in zip(cases, parts, cases[1:], strict=False):
        if case.end is not None:
            return Said(
                f"Where {case.label} is taken, part {part} is moved and then {shown(case.end.words[:1])} "
                f"leaves the switch: parts 0 to {part - 1} are not moved, though they are there, too."
                if part > 1
                else f"Where {case.label} is taken, part {part} is moved and then "
                f"{shown(case.end.words[:1])} leaves the switch: part 0 is not moved, though it is "
                "there, too.",
                case.end.line,
                f"Let it fall through to {after.label}.",
            )
    return None


def _is_guard(item: Statement) -> bool:
    """if (left < 1) break; before what a case does."""
    words = item.words
    while words[:1] in (("case",), ("default",)) and ":" in words:
        words = words[words.index(":") + 1 :]
    if item.kind == "if":
        return "=" not in words
    leaves = item.kind == "macro" or bool(_ENDS & set(words))
    return words[:1] == ("if",) and leaves and "=" not in words


def _part(item: Statement) -> int | None:
    """Which part of four is given a value: v.z = ..., or out[2] = ..."""
    words = item.words
    while words[:1] in (("case",), ("default",)) and ":" in words:
        words = words[words.index(":") + 1 :]
    if "=" not in words:
        return None
    left = words[: words.index("=")]
    if left[-2:-1] == (".",):
        return _PARTS.get(left[-1])
    if left[-1:] == ("]",) and left[-3:-2] == ("[",) and left[-2].isdigit():
        return int(left[-2])
    return None


def _without_break(cases: list[_Case]) -> Said | None:
    """The only case that does not leave, and gives the same variables values as the next one."""
    going = [
        (case, after) for case, after in zip(cases, cases[1:], strict=False) if case.end is None
    ]
    if len(going) != 1 or len(cases) < _FEWEST:
        return None
    case, after = going[0]
    if not _targets(case) or not _targets(case) <= _targets(after):
        return None
    return Said(
        f"{case.label} has no break: it goes on with {after.label}, which gives "
        f"{', '.join(sorted(_targets(case)))} other values.",
        case.items[-1].line,
        "End each case with a break.",
    )


def _targets(case: _Case) -> set[str]:
    found = set()
    for item in case.items:
        words = item.words
        while words[:1] in (("case",), ("default",)) and ":" in words:
            words = words[words.index(":") + 1 :]
        if "=" in words:
            found.add(shown(words[: words.index("=")]))
    return found
