"""Two lines of a block that race: which barrier is missing between them, or stands in the wrong place.

The lines may stand in a helper or a lambda: what counts is where the kernel calls it. And a barrier
may hide in a macro or a helper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from grader.judging.host import Said
from grader.judging.kernel_text import (
    Kernel,
    array_shape,
    call_arguments_of,
    head_names,
    shared_arrays,
)
from grader.labs.statements import Listing, Statement, find, function_name, shown

_DEEPEST = 4  # helpers that call helpers
_MOST = 6  # calls of one
_HOLDERS = ("function", "lambda")
_JOINED = re.compile(r"\\\n")
_MACRO = r"^[ \t]*#[ \t]*define[ \t]+(\w{{1,80}})[^\n]*\b{}\b[ \t]*{}"
_SYNC = ("__syncthreads", "(")
_FENCES = ("__threadfence", "__threadfence_block", "__threadfence_system")
_WARP = ("__syncwarp", "(")
_AT_THE_END = "Add a __syncthreads() at the end of the loop's body."
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
    names = that_meet(kernel.text)
    return [item for item in kernel.body if item.kind == "simple" and meets(item, names)]


def meets(item: Statement, names: frozenset[str]) -> bool:
    if item.has(*_SYNC):
        return True
    if item.has(*_GROUP):
        return not any("tile" in word or "warp" in word for word in item.words[:1])
    return any(word in names for word in item.words)


def that_meet(text: Listing) -> frozenset[str]:
    """Macros, helpers and lambdas in which there is a __syncthreads()."""
    return _holders_of(text, _SYNC)


def _macros_with(text: Listing, word: str, after: str = r"\(") -> dict[str, int]:
    """Macro -> the line of its definition."""
    bare = _JOINED.sub(" \0", text.bare)  # a joined line still counts as two
    found = {}
    for match in re.finditer(_MACRO.format(word, after), bare, re.MULTILINE):
        start = bare[: match.start()]
        found[match[1]] = 1 + start.count("\n") + start.count("\0")
    return found


def not_called(text: Listing, item: Statement) -> int:
    """The line of a __syncthreads that lacks its parentheses: in a statement, or in its macro."""
    if "__syncthreads" in item.words:
        return item.line
    macros = _macros_with(text, _SYNC[0], r"(?![ \t]*\()")
    return next((line for name, line in macros.items() if name in item.words), 0)


def _holders_of(text: Listing, sync: tuple[str, str]) -> frozenset[str]:
    names = set(_macros_with(text, sync[0]))
    for holder in text.statements:
        if holder.kind not in _HOLDERS or "__global__" in holder.words:
            continue
        for one in text.inside(holder):
            is_met = one.has(*sync) or any(word in names for word in one.words)
            if one.kind == "simple" and (is_met or (sync is _SYNC and meets(one, frozenset()))):
                names.add(_name_of(holder))
                break
    return frozenset(names - {""})


def _name_of(holder: Statement) -> str:
    """Of a function, or of the variable that a lambda is put into."""
    if holder.kind != "lambda":
        return function_name(holder)
    at = holder.words.index("=") if "=" in holder.words else 0
    return holder.words[at - 1] if at else ""


def _place_of(text: Listing, item: Statement, sync: tuple[str, str]) -> int:
    """The line of a barrier: in the macro, the helper or the lambda that a statement calls."""
    if item.has(*sync):
        return item.line
    for name, line in _macros_with(text, sync[0]).items():
        if name in item.words:
            return line
    for holder in text.statements:
        if holder.kind in _HOLDERS and (name := _name_of(holder)) and name in item.words:
            inside = [one for one in text.inside(holder) if one.has(*sync)]
            if inside:
                return inside[0].line
    return item.line


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


def callers(kernel: Kernel, line: int) -> list[Statement]:
    """A line of the kernel itself, or where the helper is called that it stands in."""
    text = kernel.text
    for item in text.at(line)[-1:]:
        holder = next((one for one in text.above(item) if one.kind in _HOLDERS), None)
        if holder is not None:
            return [item] if holder is kernel.function else list(_calls(text, holder))
    return []


def _calls(text: Listing, holder: Statement) -> Iterator[Statement]:
    name = _name_of(holder)
    if not name:
        return
    for item in text.statements:
        if item.kind not in ("simple", "for", "while", "if") or item is holder:
            continue
        if find(item.words, (name, "(")) >= 0 or find(item.words, (name, "<")) >= 0:
            yield item


def between(kernel: Kernel, reads: int, writes: int, of_warp: bool = False) -> Said | None:
    """Which barrier is missing, or stands in the wrong place. `of_warp`: a __syncwarp() would do."""
    stops = barriers(kernel)
    if of_warp:
        stops += [item for item in kernel.body if item.kind == "simple" and item.has(*_WARP)]
        stops.sort(key=lambda one: one.number)
        pairs = [(r, w) for w in places(kernel, writes) for r in places(kernel, reads)]
        found = (_between(kernel, stops, read, write, of_warp) for read, write in pairs)
        said = next((one for one in found if one is not None), None)
        return None if said is None else replace(said, advice=_for_warps(said.advice))
    if reads == writes:
        return _within_turns(kernel, stops, reads)
    said = _in_a_helper(kernel, reads, writes)
    if said is not None:
        return said
    for write in places(kernel, writes):
        for read in places(kernel, reads):
            said = _between(kernel, stops, read, write)
            if said is not None:
                return _at_the_end(kernel, said, read, write)
    return None


def _for_warps(advice: str) -> str:
    return advice.replace("__syncthreads()", "__syncwarp()").replace(
        "every thread of the block", "every lane of the warp"
    )


def copied(kernel: Kernel, copies: int, reads: int, array: str = "") -> Said | None:
    """Copies into a stage that others still read: started before the barrier, or into the wrong one.

    Of several calls of the helper that copies, those that name the array count.
    """
    stops = barriers(kernel)
    name = re.split(r"[^\w]", array)[0]
    started = places(kernel, copies)
    started = [one for one in started if name in one.words] or started
    for copy in started:
        for read in places(kernel, reads):
            passed_by = _asked_for(kernel, stops, copy, read)
            if passed_by is not None:
                return passed_by
            loop = next(iter(kernel.text.loops(copy)), None)
            if loop is None or loop not in kernel.text.loops(read) or copy is read:
                continue
            met = [
                one.number
                for one in stops
                if loop in kernel.text.above(one) and _is_passed(kernel, one, read, copy)
            ]
            later = [one for one in met if copy.number < one < read.number]
            earlier = [one for one in met if one < copy.number or one > read.number]
            if later and not earlier:
                stop = next(one for one in stops if one.number == later[0])
                return Said(
                    f"These copies are started before the barrier of line {stop.line}: others may "
                    f"still read that stage, in line {read.line}, in the turn before.",
                    copy.line,
                    "Start them after the barrier.",
                )
            if earlier and not later:
                return Said(
                    f"These copies go into the stage that others read in line {read.line} in the "
                    "same turn.",
                    copy.line,
                    "Copy into the other stage.",
                )
    return None


def _at_the_end(kernel: Kernel, said: Said, read: Statement, write: Statement) -> Said:
    """On the last line of the turn, after which the barrier is missing; or where it stands too late."""
    if said.advice != _AT_THE_END:
        return said
    loop = next(one for one in kernel.text.loops(read) if one in kernel.text.loops(write))
    body = [one for one in kernel.text.inside(kernel.function) if loop in kernel.text.above(one)]
    behind = next((one for one in kernel.body if one.number > body[-1].number), None)
    if behind is not None and behind.parent == loop.parent and behind.has(*_SYNC):
        return Said(
            f"{said.text} The barrier of line {behind.line} stands behind the loop, where the "
            "block passes it only once.",
            behind.line,
            "Move it to the end of the loop's body.",
        )
    return replace(said, line=[one for one in body if one.kind == "simple"][-1].line)


def _in_a_helper(kernel: Kernel, reads: int, writes: int) -> Said | None:
    """Where both lines stand in the same helper, what stands between them there."""
    text = kernel.text
    read, write = (next(iter(text.at(line)[-1:]), None) for line in (reads, writes))
    function = text.function_of(read) if read is not None else None
    if function is None or function is kernel.function or write is None:
        return None
    if text.function_of(write) is not function or "__global__" in function.words:
        return None
    inner = replace(kernel, function=function, parameters=text.parameters(function))
    return _between(inner, barriers(inner), read, write)


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
    kernel: Kernel, stops: list[Statement], read: Statement, write: Statement, of_warp: bool = False
) -> Said | None:
    if read is write or read in stops or write in stops:
        return None
    loop = next((one for one in kernel.text.loops(read) if one in kernel.text.loops(write)), None)
    inside = [one for one in kernel.body if loop is None or loop in kernel.text.above(one)]
    if any(item.has("asm") for item in inside):
        return None  # it may be a barrier of some threads
    met = [one for one in stops if one in inside and _is_passed(kernel, one, read, write)]
    passed_by = _passed_by(kernel, stops, met, inside, read, write)
    if passed_by is not None:
        return passed_by
    if met and not of_warp and loop is not None and _has_stages(kernel, loop):
        return None  # one barrier a turn is enough there; the stage may be the wrong one
    first, second = sorted((read.number, write.number))
    middle = [one for one in met if first < one.number < second]
    around = [one for one in met if one.number < first or one.number > second]
    if not middle:
        names = _holders_of(kernel.text, _WARP)
        warps = [
            one
            for one in inside
            if first < one.number < second
            and (one.has(*_WARP) or any(word in names for word in one.words))
        ]
        if warps:
            line = _place_of(kernel.text, warps[0], _WARP)
            return _of_a_warp(line, read, write)
        fence = next(
            (
                one
                for one in inside
                if first < one.number < second and any(word in _FENCES for word in one.words)
            ),
            None,
        )
        if fence is not None:
            return Said(
                f"{shown(fence.words).rstrip(';')} orders what this thread itself does; it waits "
                "for nobody.",
                fence.line,
                "Put a __syncthreads() in its place.",
            )
        around_write = kernel.text.loops(write)
        reading = [one for one in kernel.text.loops(read) if one not in around_write]
        # Where the barrier belongs: before the loops that read.
        begin = min((one.line for one in reading), default=read.line)
        what = "the loop that" if reading else f"line {read.line}"
        return _none_between(read, write, around, first, what, begin)
    if around or loop is None:
        return None
    if write is not read and write.number < read.number:
        return Said(
            f"Between filling (line {write.line}) and reading (line {read.line}) there is a "
            f"barrier, in line {middle[0].line}. But the next turn of the loop fills again while "
            "others still read.",
            read.line,
            _AT_THE_END,
        )
    return Said(
        f"Between reading (line {read.line}) and filling (line {write.line}) there is a barrier, in "
        f"line {middle[0].line}. But the next turn of the loop reads while others still fill.",
        write.line,
        "Add a __syncthreads() at the end of the loop's body.",
    )


def _asked_for(
    kernel: Kernel, stops: list[Statement], copy: Statement, read: Statement
) -> Said | None:
    """The only barrier of a loop that copies and reads, under a condition of the turn."""
    loops = kernel.text.loops(read)
    inside = [one for one in stops if any(loop in kernel.text.above(one) for loop in loops)]
    if len(inside) != 1:
        return None
    branch = next((one for one in kernel.text.above(inside[0]) if one.kind == "if"), None)
    if branch is None or not any(loop in kernel.text.above(branch) for loop in loops):
        return None
    if branch in kernel.text.above(read) or branch in kernel.text.above(copy):
        return None
    return _skipped(inside[0], branch)


def _skipped(stop: Statement, branch: Statement) -> Said:
    return Said(
        f"The barrier in line {stop.line} is inside if ({shown(branch.words)}): where that is false "
        "nobody waits.",
        stop.line,
        "Let the block pass it every time.",
    )


def _passed_by(
    kernel: Kernel, stops: list[Statement], met: list[Statement], inside: list[Statement],
    read: Statement, write: Statement,
) -> Said | None:  # fmt: skip
    """A barrier between the two, or after them, that the block passes by in some turns."""
    first, second = sorted((read.number, write.number))

    def is_between(one: Statement) -> bool:
        return first < one.number < second

    for stop in stops:
        branch = next((one for one in kernel.text.above(stop) if one.kind == "if"), None)
        if stop in met or stop not in inside or branch is None or branch not in inside:
            continue
        if any(is_between(one) == is_between(stop) for one in met):
            continue
        return _skipped(stop, branch)
    return None


def _of_a_warp(line: int, read: Statement, write: Statement) -> Said:
    return Said(
        f"Between filling the tile (line {write.line}) and reading it (line {read.line}) only the "
        "threads of one warp wait for each other; the other warps of the block may be later.",
        line,
        "Put a __syncthreads() in its place.",
    )


def _none_between(
    read: Statement, write: Statement, around: list[Statement], first: int, what: str, begin: int
) -> Said:
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
            early or begin,
            f"Put a __syncthreads() after line {write.line}, before {what} reads.",
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


def _has_stages(kernel: Kernel, loop: Statement | None) -> bool:
    """Whether tiles are filled in turn, by a number that changes with the turns of the loop."""
    for array in shared_arrays(kernel):
        shape = array_shape(kernel, array)
        if shape is not None and len(shape) > 1 and shape[0] in (2, 3, 4):
            return True
    body = [one for one in kernel.body if one is loop or loop in (None, *kernel.text.above(one))]
    others = set(kernel.parameters)
    others |= {name for one in body if one is not loop and loop for name in head_names(one)}
    for item in body:
        for pair in (("^", "1"), ("^=", "1"), ("%", "2"), ("1", "-")):
            at = find(item.words, pair)
            of = item.words[at + 2 : at + 3] if pair[0] == "1" else item.words[max(at - 1, 0) : at]
            if at >= 0 and not others & set(of):
                return True
    return False
