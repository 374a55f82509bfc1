"""Tiles in stages: which one a turn fills and reads, and when a group of copies is closed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.barriers import barriers, places
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel
from grader.labs.statements import Listing, Statement, arguments, closing, find, shown

_HOLDERS = ("function", "lambda")
_ONE, _FOUR = 4, 16  # bytes


def flipped(kernel: Kernel) -> Said | None:
    """stage ^= 1 where filling and reading then choose the same stage in the same turn."""
    for toggle in kernel.body:
        name = _toggled(toggle)
        loop = next(iter(kernel.text.loops(toggle)), None)
        if not name or loop is None or toggle.parent != loop.number:
            continue
        inside = [one for one in kernel.body if loop in kernel.text.above(one)]
        if sum(_toggled(one) == name for one in inside) != 1:
            continue
        stops = [one for one in barriers(kernel) if one in inside]
        uses = [one for one in inside if find(one.words, ("[", name, "]")) >= 0]
        fills = [one for one in uses if _fills(kernel.text, one, name)]
        reads = [one for one in uses if one not in fills]
        if len(stops) != 1 or not fills or not reads:
            continue
        if any(_may_do_both(one) for one in reads):
            continue
        numbers = [one.number for one in (*fills, *reads)]
        if any(min(numbers) < one.number < max(numbers) for one in stops):
            continue  # filled, met and read: stages are not needed for that
        if all(one > toggle.number for one in numbers):
            when = f"Line {toggle.line} changes {name} before line {reads[0].line} chooses what is read"
        elif all(one < toggle.number for one in numbers):
            when = f"Line {toggle.line} changes {name} after both"
        else:
            continue
        return Said(
            f"{when}: in the same turn line {fills[0].line} fills the stage that is read.",
            toggle.line,
            f"Choose what is read first, then change {name}, then fill the other stage.",
        )
    return None


def _toggled(item: Statement) -> str:
    """The name that a statement changes from 0 to 1 and back; "" for any other."""
    words = item.words[:-1] if item.words[-1:] == (";",) else item.words
    if item.kind != "simple" or len(words) < 3 or not words[0].isidentifier():
        return ""
    name, rest = words[0], words[1:]
    of = (
        ("^=", "1"), ("=", "1", "-", name), ("=", "!", name), ("=", name, "^", "1"),
        ("=", "(", name, "+", "1", ")", "%", "2"), ("=", "(", name, "+", "1", ")", "&", "1"),
    )  # fmt: skip
    return name if rest in of else ""


def _fills(text: Listing, item: Statement, name: str) -> bool:
    """fill(tiles[stage], ...), or tiles[stage]... = ..."""
    at = find(item.words, ("[", name, "]"))
    if "=" in item.words:
        return at < item.words.index("=") and item.words[1:2] == ("[",)
    return item.kind == "simple" and item.words[1:2] == ("(",)


def _may_do_both(item: Statement) -> bool:
    """Tile& tile = tiles[stage]: it may be filled by that name."""
    if "=" not in item.words or "const" in item.words:
        return False
    return bool({"&", "*"} & set(item.words[: item.words.index("=")]))


def early(kernel: Kernel, reads: int, writes: int) -> Said | None:
    """The next stage is filled before the barrier of the turn, while others still read it."""
    for write in places(kernel, writes):
        for read in places(kernel, reads):
            loop = next((one for one in kernel.text.loops(write)), None)
            if loop is None or loop not in kernel.text.loops(read):
                continue
            stops = [one for one in barriers(kernel) if loop in kernel.text.above(one)]
            said = _early(stops, read, write)
            if said is not None:
                return said
    return None


def _early(stops: Sequence[Statement], read: Statement, write: Statement) -> Said | None:
    if len(stops) != 1 or not _is_of_next(write):
        return None
    (stop,) = stops
    if not write.number < stop.number < read.number:
        return None
    return Said(
        f"Line {write.line} fills the next stage before the barrier of line {stop.line}: others may "
        f"still read that stage, in line {read.line}, in the turn before.",
        write.line,
        "Fill it after the barrier.",
    )


def _is_of_next(item: Statement) -> bool:
    """tiles[(turn + 1) % 2]"""
    at = 0
    while at < len(item.words):
        if item.words[at] == "[":
            inner = item.words[at + 1 : closing(item.words, at)]
            if any(find(inner, ("+", "1", ")", sign)) >= 0 for sign in ("%", "&")):
                return True
        at += 1
    return False


def closed_early(text: Listing, array: str) -> Said | None:
    """__pipeline_commit() before the copies into an array are started."""
    for item in text.statements:
        if item.kind != "simple" or find(item.words, ("&", array, "[")) < 0 or "=" in item.words:
            continue
        holder = next((one for one in text.above(item) if one.kind in _HOLDERS), None)
        commits = [
            one
            for one in (text.inside(holder) if holder is not None else ())
            if one.kind == "simple" and any("commit" in word for word in one.words)
        ]
        if commits and all(one.number < item.number for one in commits):
            return Said(
                f"{shown(commits[-1].words).rstrip(';')} closes the group before line {item.line} starts "
                f"the copies to {array}: whoever waits for this group does not wait for them.",
                commits[-1].line,
                "Close the group after all copies of a stage have been started.",
            )
    return None


def too_small(text: Listing) -> Said | None:
    """A copy of one float where another branch of the helper copies one float four times."""
    for function in text.functions():
        copies = list(_copies(text, function))
        singles = [one for one, size in copies if size == _ONE and not text.loops(one)]
        several = [one for one, size in copies if size == _ONE and text.loops(one)]
        branches = [
            one for one in singles if any(held.kind in ("if", "else") for held in text.above(one))
        ]
        if len(branches) == 1 and len(singles) == 1 and several:
            if any(size == _FOUR for _, size in copies):
                continue
            return Said(
                f"This copies {_ONE} bytes, one float; line {several[0].line} copies as much in each of "
                "several turns, and here there is only one: the others do not come.",
                branches[0].line,
                f"Four floats are {_FOUR} bytes.",
            )
    return None


def _copies(text: Listing, function: Statement) -> Iterator[tuple[Statement, int]]:
    """The asynchronous copies of a function, and how many bytes each moves."""
    for item in text.inside(function):
        if item.kind != "simple":
            continue
        for at, word in enumerate(item.words):
            if word in ("copy_async", "cp_async") and item.words[at + 1 : at + 2] == ("<",):
                yield item, _bytes(item.words[at + 2 : at + 3])
            if word == "__pipeline_memcpy_async":
                given = arguments(item.words, at + 1)
                yield item, _bytes(given[2]) if len(given) > 2 else 0


def _bytes(words: Sequence[str]) -> int:
    known = {("4",): _ONE, ("16",): _FOUR}
    known |= {("sizeof", "(", "float", ")"): _ONE, ("sizeof", "(", "float4", ")"): _FOUR}
    return known.get(tuple(words), 0)
