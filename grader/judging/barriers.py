"""Two lines of a block that race: which barrier is missing between them, or stands in the wrong place.

The lines may stand in a helper or a lambda: what counts is where the kernel calls it. And a barrier
may hide in a macro or a helper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, array_shape, call_arguments_of, shared_arrays
from grader.labs.statements import Listing, Statement, find, function_name

_DEEPEST = 4  # helpers that call helpers
_MOST = 6  # calls of one
_HOLDERS = ("function", "lambda")
_JOINED = re.compile(r"\\\n")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w{1,80})[^\n]*__syncthreads", re.MULTILINE)
_SYNC = ("__syncthreads", "(")
_GROUP = (".", "sync", "(")  # of a cooperative group


def fills(kernel: Kernel, array: str) -> list[Statement]:
    """The statements that put something into a shared array."""
    found = []
    for item in kernel.body:
        if item.kind != "simple" or "__shared__" in item.words or array not in item.words:
            continue
        at = item.words.index(array)
        left = item.words.index("=") if "=" in item.words else -1
        is_target = 0 <= at < left and "+=" not in item.words
        is_copied = (
            any(
                array in part and ("&" in part or part[0] == array)
                for part in call_arguments_of(item)[:1]
            )
            and left < 0
        )
        if is_target or is_copied:
            found.append(item)
    return found


def barriers(kernel: Kernel) -> list[Statement]:
    """The statements of a kernel at which its block meets."""
    names = _that_meet(kernel.text)
    return [item for item in kernel.body if item.kind == "simple" and _meets(item, names)]


def _meets(item: Statement, names: frozenset[str]) -> bool:
    if item.has(*_SYNC):
        return True
    if item.has(*_GROUP):
        return not any("tile" in word or "warp" in word for word in item.words[:1])
    return any(word in names for word in item.words)


def _that_meet(text: Listing) -> frozenset[str]:
    """Macros and helpers in which there is a __syncthreads()."""
    names = {found[1] for found in _MACRO.finditer(_JOINED.sub(" ", text.bare))}
    for function in text.functions():
        if "__global__" not in function.words:
            inside = [one for one in text.inside(function) if one.kind == "simple"]
            if any(_meets(one, frozenset(names)) for one in inside):
                names.add(function_name(function))
    return frozenset(names - {""})


def places(kernel: Kernel, line: int) -> list[Statement]:
    """Where the kernel does what stands in a line: there, or where it calls the helper it stands in."""
    text = kernel.text
    waiting, found = text.at(line)[-1:], []
    for _ in range(_DEEPEST):
        following: list[Statement] = []
        for item in waiting:
            holder = next((one for one in text.above(item) if one.kind in _HOLDERS), None)
            if holder is kernel.function:
                found.append(item)
            elif holder is not None:
                following += _calls(text, holder)
        waiting = following[:_MOST]
    return sorted({one.number: one for one in found}.values(), key=lambda one: one.number)


def _calls(text: Listing, holder: Statement) -> Iterator[Statement]:
    name = function_name(holder)
    if holder.kind == "lambda":
        at = holder.words.index("=") if "=" in holder.words else 0
        name = holder.words[at - 1] if at else ""
    if not name:
        return
    for item in text.statements:
        if item.kind not in ("simple", "for", "while", "if") or item is holder:
            continue
        if find(item.words, (name, "(")) >= 0 or find(item.words, (name, "<")) >= 0:
            yield item


def between(kernel: Kernel, reads: int, writes: int) -> Said | None:
    """Which barrier is missing, or stands in the wrong place."""
    stops = barriers(kernel)
    if reads == writes:
        return _within_turns(kernel, stops, reads)
    for write in places(kernel, writes):
        for read in places(kernel, reads):
            said = _between(kernel, stops, read, write)
            if said is not None:
                return said
    return None


def reading(kernel: Kernel, array: str, line: int) -> int:
    """The line of a read, where a finding names one that is not in the kernel: a merged load has none."""
    name = re.split(r"[^\w]", array)[0]
    if places(kernel, line) or not name:
        return line
    filled = fills(kernel, name)
    reads = [
        item
        for item in kernel.body
        if name in item.words and item not in filled and "__shared__" not in item.words
    ]
    return reads[-1].line if reads else line


def _within_turns(kernel: Kernel, stops: list[Statement], line: int) -> Said | None:
    """A line that reads what other threads have written in it one turn before."""
    here = places(kernel, line)
    loop = next(iter(kernel.text.loops(here[0])), None) if len(here) == 1 else None
    if loop is None or any(loop in kernel.text.above(one) for one in stops):
        return None
    return Said(
        f"Each turn of the loop reads what other threads have written in the turn before, and no "
        f"barrier stands in the loop of line {loop.line}.",
        here[0].line,
        "Add a __syncthreads() at the end of the loop's body.",
    )


def _between(
    kernel: Kernel, stops: list[Statement], read: Statement, write: Statement
) -> Said | None:
    if read is write or read in stops or write in stops:
        return None
    loop = next((one for one in kernel.text.loops(read) if one in kernel.text.loops(write)), None)
    inside = [one for one in kernel.body if loop is None or loop in kernel.text.above(one)]
    if any(item.has("asm") for item in inside):
        return None  # it may be a barrier of some threads
    met = [one for one in stops if one in inside and _is_passed(kernel, one, read, write)]
    if met and _has_stages(kernel):
        return None  # one barrier a turn is enough there; the stage may be the wrong one
    first, second = sorted((read.number, write.number))
    middle = [one for one in met if first < one.number < second]
    around = [one for one in met if one.number < first or one.number > second]
    if not middle:
        warps = [
            one for one in inside if first < one.number < second and one.has("__syncwarp", "(")
        ]
        if warps:
            return _of_a_warp(warps[0], read, write)
        return _none_between(read, write, around, first)
    if around or loop is None:
        return None
    if write is not read and write.number < read.number:
        return Said(
            f"Between filling (line {write.line}) and reading (line {read.line}) there is a "
            f"barrier, in line {middle[0].line}. But the next turn of the loop fills again while "
            "others still read.",
            read.line,
            "Add a __syncthreads() at the end of the loop's body.",
        )
    return Said(
        f"Between reading (line {read.line}) and filling (line {write.line}) there is a barrier, in "
        f"line {middle[0].line}. But the next turn of the loop reads while others still fill.",
        write.line,
        "Add a __syncthreads() at the end of the loop's body.",
    )


def _of_a_warp(stop: Statement, read: Statement, write: Statement) -> Said:
    return Said(
        f"Between filling the tile (line {write.line}) and reading it (line {read.line}) only the "
        "threads of one warp wait for each other; the other warps of the block may be later.",
        stop.line,
        "Put a __syncthreads() in its place.",
    )


def _none_between(read: Statement, write: Statement, around: list[Statement], first: int) -> Said:
    early = next((one.line for one in around if one.number < first), 0)
    if write.number < read.number:
        where = (
            f" The one of line {early} comes before the filling: what is filled after it may be "
            "read too early."
            if early
            else ""
        )
        return Said(
            f"No barrier stands between filling the tile (line {write.line}) and reading it (line "
            f"{read.line}).{where}",
            early or read.line,
            f"Put a __syncthreads() after line {write.line}, before the loop that reads.",
        )
    return Said(
        f"No barrier stands between reading the tile (line {read.line}) and filling it again (line "
        f"{write.line}).",
        write.line,
        f"Put a __syncthreads() before line {write.line}, where every thread of the block passes it.",
    )


def _is_passed(kernel: Kernel, stop: Statement, read: Statement, write: Statement) -> bool:
    """Whether all threads come to a barrier: it stands under no condition of its own."""
    around = {one.number for item in (read, write) for one in kernel.text.above(item)}
    return not any(
        one.kind in ("if", "else", "lambda") and one.number not in around
        for one in kernel.text.above(stop)
    )


def _has_stages(kernel: Kernel) -> bool:
    """Whether tiles are filled in turn."""
    for array in shared_arrays(kernel):
        shape = array_shape(kernel, array)
        if shape is not None and len(shape) > 1 and shape[0] in (2, 3, 4):
            return True
    words = [item.words for item in kernel.body]
    return any(
        find(one, pair) >= 0
        for one in words
        for pair in (("^", "1"), ("^=", "1"), ("%", "2"), ("1", "-"))
    )
