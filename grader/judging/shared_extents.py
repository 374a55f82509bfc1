"""Arrays in shared memory that are smaller than what the kernel uses of them."""

from __future__ import annotations

from grader.judging import constants, host, spread
from grader.judging.barriers import fills
from grader.judging.host import Host, Launch, Said
from grader.judging.kernel_text import Kernel, array_shape
from grader.judging.plans.origin import Origins
from grader.judging.wording import value
from grader.labs import layout
from grader.labs.statements import (
    Listing,
    Statement,
    closing,
    find,
    function_name,
    shown,
    split,
)
from grader.results.finding import Cause, Facts

_FLOAT = 4
_BARRIER = 8


def dynamic(kernel: Kernel, solve: Host | None, array: str, there: int) -> Said | None:
    """A launch that gives an array of dynamic shared memory nothing, or too little.

    there: bytes of it that the launch asked for. Only what is certain.
    """
    known = next((s for s in kernel.body if _is_dynamic(s, array)), None)
    if known is None or solve is None:
        return None
    launches = [one for one in solve.all_launches if one.kernel == function_name(kernel.function)]
    if len(launches) != 1:
        return None
    launch = launches[0]
    if len(launch.settings) < 3 or not there:
        return Said(
            f"The size of {array}[] is set by the launch, and this launch gives it no bytes.",
            launch.line,
            "The third number of a launch is the bytes of dynamic shared memory: "
            "<<<grid, block, bytes>>>.",
        )
    near = kernel.text.statements[launch.number]
    line, words = host.definition(kernel.text, launch.settings[2], near)
    line = line or launch.line
    if "::" in words and all(word == "::" or word.isidentifier() for word in words):
        named = constants.definition(kernel.text, words[-1])  # of a namespace or a struct
        if named is None:
            return None
        line, words = named
    if "(" in words:  # a helper or a method says how many
        found = Origins(kernel.text, solve.solve, ()).of(words, near, line)
        line, words = found.line, found.words
        called = [one for word in words if (one := kernel.text.named(word)) is not None]
        inside = [word for one in called for item in kernel.text.inside(one) for word in item.words]
        if any(word in (".", "->", "::") for word in words) or "sizeof" in inside:
            return None
    if "sizeof" not in words and not any(word.rstrip("uUlL") == "4" for word in words):
        return Said(
            f"{shown(words)} is given as the size of {array}[]: it is taken as {there} bytes, and "
            "counts elements.",
            line,
            "Times sizeof(float): the third number of a launch is in bytes.",
        )
    parts = _parts(kernel, array)
    beyond = [(name, at) for name, at in parts if at * _FLOAT >= there]
    if beyond:
        name, at = beyond[0]
        return Said(
            f"The launch asks for {there} bytes of dynamic shared memory, {shown(words)}, and "
            f"{name} begins {at * _FLOAT} bytes behind {array}: there is no room for it.",
            line,
            "Count all parts: their elements together, times sizeof(float).",
        )
    return None


def too_few_bytes(
    text: Listing, source: str, launch: Launch | None, solve: Host, facts: Facts
) -> Said | None:
    """A launch whose dynamic shared memory ends within a struct that the kernel lays over it.

    Of a struct that cannot be read only that it ends before an mbarrier that the kernel uses.
    """
    there, at = facts.array_bytes, facts.offset_bytes
    whole = layout.bytes_over(source, facts.array)
    if launch is None or not any(_is_dynamic(item, facts.array) for item in text.statements):
        return None
    if there <= at < whole:
        needs = f"what the kernel lays over {facts.array}[] has {whole}"
    elif facts.cause is Cause.NOT_INITIALISED and there < at + _BARRIER and not whole:
        needs = f"an mbarrier begins {at} bytes behind the beginning of {facts.array}[]"
    else:
        return None
    if len(launch.settings) < 3:
        return None
    near = text.statements[launch.number]
    found = Origins(text, solve.solve, ()).of(launch.settings[2], near, launch.line)
    return Said(
        f"The launch asks for {there} bytes of dynamic shared memory, {shown(found.words)}, and "
        f"{needs}: there is no room for all of it.",
        found.line,
        "Count all that the kernel puts there: the stages and the barriers behind them.",
    )


def _is_dynamic(statement: Statement, array: str) -> bool:
    return (
        "extern" in statement.words
        and "__shared__" in statement.words
        and statement.has(array, "[", "]")
    )


def _parts(kernel: Kernel, array: str) -> list[tuple[str, int]]:
    """(name, first element) of float* tileB = smem + TILE * TILE."""
    found = []
    for item in kernel.body:
        if item.kind != "simple" or "*" not in item.words or "=" not in item.words:
            continue
        for part in split(item.words[:-1], ","):
            left = split(part, "=")
            if len(left) != 2 or not left[0] or left[1][:1] not in ((array,), ("&",)):
                continue
            words = left[1]
            if words[:2] == (array, "+"):
                offset = value(words[2:], kernel.known)
            elif words[:3] == ("&", array, "["):
                offset = value(words[3 : closing(words, 2)], kernel.known)
            else:
                continue
            if offset is not None:
                found.append((left[0][-1], offset))
    return found


def rows_out_of_line(
    kernel: Kernel, array: str, element: tuple[int, ...], together: int
) -> Said | None:
    """A declaration whose rows do not all begin where an access of several elements may.

    together: elements of that access, which began at `element`.
    """
    shape = array_shape(kernel, array)
    if len(shape or ()) < 2 or len(element) != len(shape) or together < 2:
        return None
    declaration = next(
        (s for s in kernel.body if "__shared__" in s.words and s.has(array, "[")), None
    )
    if declaration is None or shape[-1] % together == 0 or element[-1] % together:
        return None
    return Said(
        f"A row of {array}{shown(_sides(declaration, array))} has {shape[-1]} elements, so not "
        f"every row begins at a multiple of {together * _FLOAT} bytes.",
        declaration.line,
        f"Where {together} elements are moved at once, the length of a row is a multiple of "
        f"{together}: padding, too.",
    )


def declared_short(kernel: Kernel, array: str) -> Said | None:
    """A side of an array that all its uses pass: both those that fill it and those that read it."""
    shape = array_shape(kernel, array)
    if not shape:
        return None
    declaration = next(
        (s for s in kernel.body if "__shared__" in s.words and s.has(array, "[")), None
    )
    filled = fills(kernel, array)
    read = [
        item
        for item in kernel.body
        if item.kind == "simple"
        and "__shared__" not in item.words
        and item not in filled
        and find(item.words, (array, "[")) >= 0
    ]
    if declaration is None or not filled or not read:
        return None
    for position, side in enumerate(shape):
        most = [_most(kernel, item, array, position) for item in (*filled, *read)]
        if None in most or len(set(most)) != 1 or most[0] < side:
            continue
        sides = shown(_sides(declaration, array))
        return Said(
            f"{array}{sides} is too small: the threads of the block fill and read it up to index "
            f"{most[0]}, and the last one there is {side - 1}.",
            declaration.line,
            f"It needs {most[0] + 1} there.",
        )
    return None


def _sides(declaration: Statement, array: str) -> tuple[str, ...]:
    at = find(declaration.words, (array, "[")) + 1
    end = at
    while end < len(declaration.words) and declaration.words[end] == "[":
        end = closing(declaration.words, end) + 1
    return declaration.words[at:end]


def _most(kernel: Kernel, item: Statement, array: str, position: int) -> int | None:
    """The largest index that a statement uses there, over all threads and turns."""
    at = find(item.words, (array, "[")) + 1
    for _ in range(position):
        at = closing(item.words, at) + 1
        if at >= len(item.words) or item.words[at] != "[":
            return None
    found = spread.values_of(kernel, item.words[at + 1 : closing(item.words, at)], item)
    return int(found.max()) if found is not None and len(found) else None
