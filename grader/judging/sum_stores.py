"""Which of a thread's sums a store takes: always the same one, or one whose row and column are exchanged."""

from __future__ import annotations

from grader.judging import spread
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, counted
from grader.judging.wording import changes, names_in
from grader.labs.statements import Statement, closing, declared, find, shown


def wrong_sum(kernel: Kernel, may_guess: bool = False) -> Said | None:
    """may_guess: also where the line that adds may be what has to be mended."""
    name = kernel.roles.get("P", "")
    stores = [
        one
        for one in kernel.body
        if one.kind == "simple" and name and one.words[:2] == (name, "[") and "=" in one.words
    ]
    for item in stores:
        said = _same(kernel, item) or (_turned(kernel, item) if may_guess else None)
        if said is not None:
            return said
    return None


def _same(kernel: Kernel, item: Statement) -> Said | None:
    """P[... r ...] = out[y][lane]: whichever r it is, the same is stored."""
    at = closing(item.words, 1)
    if item.words[at + 1 : at + 2] != ("=",):
        return None
    index, value = item.words[2:at], item.words[at + 2 : -1]
    if "[" not in value or "(" in value or "?" in value:
        return None
    for loop in kernel.text.loops(item):
        name = counted(loop)
        if not name or name not in spread.needed(kernel, index, item):
            continue
        used = spread.needed(kernel, value, item)
        if name in used or _changes(kernel, loop, item, set(names_in(value)) | used):
            continue
        return Said(
            f"In every turn of the loop over {name} (line {loop.line}) the same {shown(value)} is "
            f"stored, each time into another element of {item.words[0]}: {name} is not in its index.",
            item.line,
            f"Each turn stores a value of its own: which part of {value[0]} belongs to turn {name}?",
        )
    return None


def _changes(kernel: Kernel, loop: Statement, item: Statement, names: set[str]) -> bool:
    """Whether something in a loop may give the value that is stored another one."""
    for one in kernel.body:
        if one is item or loop not in kernel.text.above(one):
            continue
        for name in names:
            if name not in one.words:
                continue
            if changes(one.words, name) or declared(one, name) is not None:
                return True
            if one.words[:1] == (name,) or find(one.words, ("(", name)) >= 0:
                return True
            if "&" in one.words or "++" in one.words or "--" in one.words:
                return True
    return any(word in names for part in loop.parts[2:] for word in part)


def _turned(kernel: Kernel, item: Statement) -> Said | None:
    """sum[r * N + c] += ..., and P[...] = sum[c * N + r]."""
    at = closing(item.words, 1)
    value = item.words[at + 2 : -1]
    if len(value) < 4 or value[1] != "[" or item.words[at + 1 : at + 2] != ("=",):
        return None
    index = tuple(value[1:])
    for other in kernel.body:
        start = find(other.words, (value[0], "["))  # a macro may stand before it: FOR(c, COLUMNS)
        if other.kind != "simple" or start < 0 or "+=" not in other.words[start:]:
            continue
        kept = tuple(other.words[start + 1 : other.words.index("+=")])
        own = _counters(other, kernel) & set(kept)
        names = sorted(own & _counters(item, kernel) & set(index))
        if len(names) != 2 or kept == index:
            continue
        swapped = dict(zip(names, reversed(names), strict=True))
        if tuple(swapped.get(word, word) for word in kept) == index:
            return Said(
                f"{shown(value)} is stored, and line {other.line} adds to "
                f"{shown(other.words[start : other.words.index('+=')])}: {names[0]} and {names[1]} are "
                "exchanged.",
                item.line,
                "Take the sums in the order in which they are kept.",
            )
    return None


def _counters(item: Statement, kernel: Kernel) -> set[str]:
    """What the loops around a statement count, those of macros, too: FOR(r, ROWS)."""
    loops = kernel.text.loops(item)
    found = {counted(loop) for loop in loops}
    for loop in (item, *loops):
        if loop.words[:1] and loop.words[0].isupper():
            found |= {
                loop.words[at + 2]
                for at, word in enumerate(loop.words[:-2])
                if word == loop.words[0] and loop.words[at + 1] == "("
            }
    return found
