"""A load through a pointer that walks: where it begins, or how it goes on, is what is wrong.

The line of such a load, tile[t] = *from, has nothing that could be mended.
"""

from __future__ import annotations

from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, shared_arrays
from grader.judging.wording import changes
from grader.labs.statements import Statement, is_declaration, shown
from grader.results.explanation import Explanation


def origin(kernel: Kernel, found: Explanation) -> Said | None:
    """The line that a wrong operand's pointer comes from; None where the load is more than that."""
    if found.operand not in ("M", "N") or found.needed is None:
        return None
    if found.got == found.needed[::-1] and found.phase is None:
        return None  # of a tile that is turned where it is filled
    loads = [
        (item, name)
        for item in kernel.text.at(found.line)
        if item.kind == "simple" and (name := _walking(kernel, item))
    ]
    if len(loads) != 1:
        return None
    load, name = loads[0]
    along_k = found.needed[1] if found.operand == "M" else found.needed[0]
    of = "{}[{}][{}]".format(found.operand, *found.got)
    needed = "{}[{}][{}]".format(found.operand, *found.needed)
    if found.phase if found.phase is not None else along_k:
        steps = [item for item in kernel.body if _steps(item, name)]
        # In one of several places it may be right.
        if len(steps) != 1 or not any(loop in steps[0:1] or loop in kernel.text.loops(steps[0])
                                      for loop in kernel.text.loops(load)):  # fmt: skip
            return None
        step = steps[0].parts[2] if steps[0].kind == "for" else steps[0].words
        return Said(
            f"{name} is right at first and goes on by {shown(step).rstrip(';')}: then line "
            f"{load.line} loads {of} through it, where {needed} is needed.",
            steps[0].line,
            f"{name} has to go on by what lies between two tiles in memory.",
        )
    known = kernel.text.declaration(name, load)
    if known is None or not known[1]:
        return None
    return Said(
        f"{name} begins at {shown(known[1]).rstrip(';')}: there line {load.line} loads {of} "
        f"through it, where {needed} is needed.",
        known[0],
        "Which row and which column does this thread begin with?",
    )


def _walking(kernel: Kernel, item: Statement) -> str:
    """The only pointer that is read as *from, *from++ or from[0], and is changed somewhere."""
    words = item.words
    names = set()
    tiles = shared_arrays(kernel)
    first = words.index("=") + 1 if "=" in words else 0
    for at in range(first, len(words)):
        name = words[at]
        if not name.isidentifier() or name in tiles:
            continue
        before = words[at - 1] if at else ""
        two_before = words[at - 2] if at > 1 else "="
        is_operand = two_before in ("=", "(", ",", "*", "+", "?", ":", "return", "+=")
        is_read = before == "*" and is_operand or words[at + 1 : at + 4] == ("[", "0", "]")
        if is_read and any(_steps(one, name) for one in kernel.body):
            names.add(name)
    return names.pop() if len(names) == 1 else ""


def _steps(item: Statement, name: str) -> bool:
    if item.kind == "for" and len(item.parts) == 3:
        return changes(item.parts[2], name)
    if item.kind != "simple" or name not in item.words:
        return False
    # A declaration's own value is no step.
    return changes(item.words, name) and not is_declaration(item.words)
