"""How much of a size is left for a tile: a remainder, which is 0 for whole tiles, or an unsigned count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.host import Said
from grader.judging.kernel_text import Kernel
from grader.judging.wording import bare, changes, names_in, value
from grader.labs.statements import Listing, Statement, declared, shown

CODES = frozenset({
    "wrong-result", "out-of-bounds-global", "uninitialised-global", "out-of-bounds-shared", "timeout", "low-precision",
})  # fmt: skip
_WHOLE = frozenset({"int", "unsigned", "size_t", "long", "uint32_t", "int32_t", "auto", "idx"})
_UNSIGNED = frozenset({"unsigned", "uint32_t", "size_t", "uint", "u32", "uint64_t"})


def wrong_rest(kernel: Kernel) -> Said | None:
    for function in kernel.text.functions():
        said = (
            _remainder(kernel, function) or _unsigned(kernel, function) or _kept(kernel, function)
        )
        if said is not None:
            return said
    return None


def _remainder(kernel: Kernel, function: Statement) -> Said | None:
    """for (i = 0; i < n % TILE; ++i) sum += ..., the only loop that adds to the sum."""
    text = kernel.text
    inside = text.inside(function)
    sums = [(one, name) for one in inside for name in _added(one)]
    for item, name in sums:
        if len({next(iter(text.loops(one)), None) for one, other in sums if other == name}) != 1:
            continue  # whole tiles have a loop of their own
        loops = text.loops(item)
        if len(loops) < 2 or loops[0].kind != "for" or len(loops[0].parts) != 3:
            continue
        condition = loops[0].parts[1]
        if "<" not in condition:
            continue
        line, words = loops[0].line, bare(condition[condition.index("<") + 1 :])
        if len(words) == 1 and words[0].isidentifier():
            known = text.declaration(words[0], loops[0])
            if known is None or text.assignments(words[0], function):
                continue
            line, words = known[0], bare(known[1])
        if len(words) != 3 or words[1] not in ("%", "&") or not words[0].isidentifier():
            continue
        if any(one.has(words[0], "/") for one in inside):
            continue  # whole tiles are counted apart
        return Said(
            f"{' '.join(words)} is what is left behind all whole tiles, and 0 where nothing is: a whole "
            f"tile is not counted with it, and {name} lacks its products.",
            line,
            "A tile has as many steps as are left, and no more than a whole one.",
        )
    return None


def _added(item: Statement) -> Iterator[str]:
    if item.kind == "simple" and item.words[1:2] == ("+=",) and "[" in item.words:
        yield item.words[0]


def _kept(kernel: Kernel, function: Statement) -> Said | None:
    """int left = k; for (...) { if (tx < left) ... ; m += TILE; }: what is left stays the same."""
    text = kernel.text
    inside = text.inside(function)
    for item in inside:
        name, first = _begun(item)
        if not name or any(changes(one.words, name) for one in inside if one is not item):
            continue
        uses = [one for one in inside if name in one.words and one is not item]
        loops = [next(iter(text.loops(one)), None) for one in uses]
        loop = loops[0] if loops else None
        if loop is None or any(one is not loop for one in loops) or loop.number < item.number:
            continue
        turned = text.inside(loop)
        moved = [
            one for one in turned if next(iter(text.loops(one)), None) is loop and _goes_on(one)
        ]
        own = {word for one in (loop, *turned) if one is loop or one in moved for word in one.words}
        if not moved or not all(_is_of_thread(text, one, name, own) for one in uses):
            continue
        if value(first, text.constants) is not None or not set(names_in(first)) & _known(
            text, loop
        ):
            continue
        return Said(
            f"{name} is {shown(first)} in each turn of the loop, and what it is compared with does not go "
            f"on either: where less than a whole tile is left, threads load beyond the end.",
            moved[-1].line,
            f"Let {name} become smaller here by as much as the pointers go on.",
        )
    return None


def _begun(item: Statement) -> tuple[str, Sequence[str]]:
    """int left = k; not of a constant."""
    words = item.words
    if item.kind != "simple" or len(words) < 5 or words[0] in ("const", "constexpr"):
        return "", ()
    if words[0] not in _WHOLE or words[2] != "=" or "," in words or words[-1] != ";":
        return "", ()
    return words[1], words[3:-1]


def _goes_on(item: Statement) -> bool:
    """m += TILE;"""
    return item.kind == "simple" and item.words[1:2] == ("+=",) and "[" not in item.words


def _is_of_thread(text: Listing, item: Statement, name: str, own: set[str]) -> bool:
    """Whether it is compared with what stays the same in all turns: tx < left."""
    places = [at for at, word in enumerate(item.words) if word == name]
    for at in places:
        before = item.words[at - 2 : at]
        if len(before) != 2 or before[1] not in ("<", "<=") or not before[0].isidentifier():
            return False
        if item.words[at - 3 : at - 2] not in ((), ("(",), ("&&",), ("||",), ("=",), ("?",)):
            return False
        if before[0] in own or item.words[at + 1 : at + 2] in (("-",), ("+",), ("*",)):
            return False
        known = text.declaration(before[0], item)
        if known is None or not {"threadIdx", "lane", "%", "/", "&"} & set(known[1]):
            return False
        if "blockIdx" in known[1]:
            return False
    return bool(places)


def _known(text: Listing, loop: Statement) -> set[str]:
    """What a loop's head names, and what these are made of."""
    found = set(names_in(loop.words))
    for name in list(found):
        known = text.declaration(name, loop)
        found |= set(names_in(known[1])) if known is not None and known[1] else set()
    return found


def _unsigned(kernel: Kernel, function: Statement) -> Said | None:
    """unsigned left = n; left > 0; left -= TILE: after the last turn it is not below 0, but large."""
    text = kernel.text
    for item in text.inside(function):
        for name, step in _steps(item):
            size = value(step, kernel.known)
            condition = item.parts[1] if item.kind == "for" else ()
            if item.kind == "simple":
                loop = next(iter(text.loops(item)), None)
                condition = loop.words if loop is not None and loop.kind in ("while", "do") else ()
            if not size or size < 2 or condition[-3:] not in ((name, ">", "0"), (name, "!=", "0")):
                continue
            known = next(
                (
                    (one, found)
                    for one in text.inside(function)
                    if (found := declared(one, name)) is not None and found[1]
                ),
                None,
            )
            if known is None or not _UNSIGNED & set(known[0].words[:3]):
                continue
            line, first = known[1]
            count = value(first, kernel.known)
            if count is None or count % size == 0:
                continue
            return Said(
                f"{name} is unsigned: {count} here, it goes down by {shown(step)} and never comes below "
                f"0. Where less than {size} is left it becomes a number of about 4 billion, and the loop "
                "goes on.",
                line,
                f"Let {name} be an int.",
            )
    return None


def _steps(item: Statement) -> Iterator[tuple[str, Sequence[str]]]:
    """What goes down by how much."""
    words = item.parts[2] if item.kind == "for" and len(item.parts) == 3 else ()
    if item.kind == "simple":
        words = item.words[:-1]
    if words[1:2] == ("-=",):
        cast = words[2:3] == ("(",) and words[4:5] == (")",) and len(words) > 5
        yield words[0], words[5 if cast else 2 :]
