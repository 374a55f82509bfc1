"""Blocks that compute one part of P after another: sums that go on, and a step that is no block's.

Only where there are more parts than blocks a second one comes to any block, so small cases are right.
"""

from __future__ import annotations

from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, counted
from grader.judging.wording import names_in
from grader.labs.statements import Statement, declared, find, shown

_RESULTS = frozenset({"wrong-result", "low-precision"})
CODES = _RESULTS | {"unwritten-output", "costly", "timeout", "race-global", "out-of-bounds-global"}


def between_jobs(kernel: Kernel, code: str) -> Said | None:
    said = _kept(kernel) if code in _RESULTS else None
    return said or _of_threads(kernel)


def _kept(kernel: Kernel) -> Said | None:
    """A sum that is stored in each turn of a loop and set to 0 only before the first."""
    text = kernel.text
    for item in kernel.body:
        name = item.words[0] if item.kind == "simple" and "+=" in item.words else ""
        if not name.isidentifier() or item.words.index("+=") > 1 and item.words[1] != "[":
            continue
        loops = text.loops(item)
        for inner, outer in zip(loops, loops[1:], strict=False):
            inside = [one for one in kernel.body if outer in text.above(one)]
            stores = [one for one in inside if one.kind == "simple" and _stores(one, name)
                      and inner not in text.above(one)]  # fmt: skip
            begins = [one for one in inside if _begins(one, name)]
            if not stores or begins or _begins(outer, name):
                continue
            if any(one.number < item.number for one in stores):
                continue
            where = next((one for one in kernel.body if _begins(one, name)), None)
            if where is None or where.number > outer.number or _is_walked(kernel, outer, item):
                continue
            return Said(
                f"{name} begins in line {where.line}, before the loop of line {outer.line}: from its "
                f"second turn on, what line {stores[0].line} stores goes on from the sum of the turn "
                "before.",
                where.line,
                f"Let {name} begin with 0 in each turn of the loop of line {outer.line}.",
            )
    return None


def _stores(item: Statement, name: str) -> bool:
    """out[...] = name, not added to what is there."""
    if "=" not in item.words[1:]:
        return False
    at = item.words.index("=")
    return "[" in item.words[:at] and name in item.words[at:] and item.words[0] != name


def _begins(item: Statement, name: str) -> bool:
    """Whether a statement declares a variable, or gives it a first value."""
    if item.kind not in ("simple", "for"):
        return False
    if declared(item, name) is not None:
        return True
    if name in item.words and item.words[0] in ("float", "double"):
        return True  # float sum[4][4];
    if item.words[:1] != (name,) or "=" not in item.words:
        return find(item.words, ("memset",)) >= 0 and name in item.words
    return name not in item.words[item.words.index("=") :]


def _is_walked(kernel: Kernel, outer: Statement, item: Statement) -> bool:
    """Whether the sum's own index changes with the outer loop: each turn has a sum of its own."""
    name = counted(outer)
    at = item.words.index("+=")
    return bool(name) and name in item.words[:at]


def _of_threads(kernel: Kernel) -> Said | None:
    """for (job = blockIdx.x; ...; job += blockDim.x): a block's number goes on by the blocks."""
    for loop in kernel.body:
        if loop.kind != "for" or len(loop.parts) != 3:
            continue
        head, _, step = loop.parts
        name = counted(loop)
        if step[:2] != (name, "+=") or "=" not in head[1:]:
            continue
        start = head[head.index("=") + 1 :]
        known = names_in(start)
        if known and all(one.startswith("blockIdx.") for one in known) and len(start) == 3:
            used = names_in(step[2:])
            if used and all(one.startswith("blockDim.") for one in used):
                axis = known[0][-1]
                return Said(
                    f"{name} begins with the block's number and goes on by {shown(step[2:])}, the "
                    f"number of threads; there are gridDim.{axis} blocks.",
                    loop.line,
                    f"The block's next one is as many further on as there are blocks: {name} += "
                    f"gridDim.{axis}.",
                )
    return None
