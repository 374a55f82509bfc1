"""What is wrong with a tile in shared memory: who fills it, which stage is missing.

As in `suspects`, a rule is asked where a finding shows its effect, and says nothing where it is not
certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.barriers import barriers, fills
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, array_shape, call_arguments_of, shared_arrays
from grader.judging.wording import factors, names_in, value
from grader.labs.statements import (
    Listing,
    Statement,
    closing,
    find,
    function_name,
    shown,
    split,
)


def never_filled(kernel: Kernel, array: str, reader: int) -> Said | None:
    """Why words of a shared array are read that nobody has written."""
    statements = fills(kernel, array)
    arrays = shared_arrays(kernel)
    if not statements:
        others = [
            item
            for name in arrays
            if name != array and len(fills(kernel, name)) > 1
            for item in fills(kernel, name)[1:]
        ]
        if len(others) == 1:
            return Said(
                f"Nothing is ever put into {array}; this line fills {others[0].words[0]}, which "
                "another line has filled before.",
                others[0].line,
                f"Is {array} meant here?",
            )
        return None
    if len(statements) != 1:
        return None
    (item,) = statements
    at = item.words.index(array) + 1
    indices = []
    while at < len(item.words) and item.words[at] == "[":
        end = closing(item.words, at)
        indices.append(item.words[at + 1 : end])
        at = end + 1
    if len(indices) > 1 and len(set(indices)) < len(indices) and len(indices[0]) < 4:
        return Said(
            f"{array}[{shown(indices[0])}][{shown(indices[1])}] has the same index twice: only "
            "the diagonal of the tile is filled.",
            item.line,
            "Row and column of the tile come from different indices of the thread.",
        )
    for loop in kernel.text.loops(item):
        if loop.kind == "for" and len(loop.parts) == 3 and "+=" in loop.parts[2]:
            head, step = loop.parts[0], loop.parts[2]
            name = head[head.index("=") - 1] if "=" in head else ""
            moved = value(step[2:], kernel.known)
            threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
            start = kernel.text.declaration(name, item)
            by = 1
            if start is not None and "*" in start[1]:
                numbers = [value(part, kernel.known) for part in factors(start[1])]
                by = next((n for n in numbers if n), 1)
            alike = [
                one
                for one in kernel.body
                if one.kind == "for" and len(one.parts) == 3 and one.parts[2] == loop.parts[2]
            ]
            if len(alike) > 1:
                continue  # the launch has fewer threads than the kernel counts on
            if name and moved and moved > threads * by:
                return Said(
                    f"The loop of line {loop.line} goes on by {moved}, and the block has {threads} "
                    f"threads{f' with {by} elements each' if by > 1 else ''}: it leaves elements "
                    f"of {array} out.",
                    loop.line,
                    "Go on by what all threads of the block fill together.",
                )
    return None


def filled_inside_only(kernel: Kernel, array: str) -> Said | None:
    """A tile that is filled under a guard, and gets nothing where the guard is false."""
    text, branches = kernel.text, []
    filled = fills(kernel, array)
    helper = _only_helper(kernel, filled)
    if helper is not None:
        return _filled_inside_by(text, helper)
    for item in filled:
        branch = next((one for one in text.above(item) if one.kind in ("if", "else")), None)
        if branch is None or branch.kind == "else" or "?" in item.words:
            return None
        branches.append(branch)
    sizes = {name for name in names_in([w for one in branches for w in one.words])}
    if len(branches) != 1 or not sizes & set(kernel.sizes):
        return None  # without a size of the matrices it chooses threads, not elements
    (branch,) = branches
    return Said(
        f"Where {shown(branch.words)} is false nothing is put into {array}: there it has what was "
        "left from before.",
        branch.line,
        f"Put 0 into {array} where the matrix has no element.",
    )


def _only_helper(kernel: Kernel, filled: Sequence[Statement]) -> Statement | None:
    """The helper that fills a tile, where all that the kernel does for it is to call that."""
    text = kernel.text
    called = {
        name
        for item in filled or kernel.body
        for at, name in enumerate(item.words[:-1])
        if item.words[at + 1] in ("(", "<") and text.named(name) is not None
    }
    helpers = [text.named(name) for name in called]
    helpers = [one for one in helpers if any(_stores(text, one))]
    return helpers[0] if len(helpers) == 1 and helpers[0] is not kernel.function else None


def _stores(text: Listing, helper: Statement) -> Iterator[Statement]:
    """Where it stores through a pointer that it is given, or starts a copy there."""
    given = set(text.parameters(helper))
    for item in text.inside(helper):
        if item.kind != "simple":
            continue
        left = split(item.words, "=")
        is_store = len(left) == 2 and left[0][:1] != () and "[" in left[0] and left[0][0] in given
        is_copy = any("async" in word for word in item.words)
        if is_store or (is_copy and given & {*item.words}):
            yield item


def _filled_inside_by(text: Listing, helper: Statement) -> Said | None:
    """if (inside) to[r][c] = from[...] without an else."""
    asked = []
    for store in _stores(text, helper):
        branch = next((one for one in text.above(store) if one.kind in ("if", "else")), None)
        if branch is None or branch.kind == "else" or "?" in store.words:
            continue
        after = [one for one in text.statements[branch.number + 1 :] if one.parent == branch.parent]
        if not after or after[0].kind != "else":
            asked.append(branch)
    if len(asked) != 1:
        return None
    return Said(
        f"Where {shown(asked[0].words)} is false {function_name(helper)}() puts nothing into the "
        "tile: there it has what was left from before.",
        asked[0].line,
        "Put 0 into the tile where the matrix has no element.",
    )


def stages(kernel: Kernel) -> Said | None:
    """A tile of several stages that is filled in one that does not change, and read in turn."""
    for array in shared_arrays(kernel):
        shape = array_shape(kernel, array)
        if not shape or len(shape) < 3:
            continue
        filled = fills(kernel, array)
        reads = [
            item
            for item in kernel.body
            if item not in filled
            and item.kind == "simple"
            and "__shared__" not in item.words
            and find(item.words, (array, "[")) >= 0
        ]
        for some, others, verb in ((filled, reads, "filled"), (reads, filled, "read")):
            first, second = _stage(some, array), _stage(others, array)
            if first is not None and second is not None and first[1:] == () and "%" in second:
                if first[0].isdigit():
                    return Said(
                        f"{array} is always {verb} in stage {first[0]}, and the other side goes "
                        f"from stage to stage, [{shown(second)}].",
                        some[0].line,
                        f"Both sides use [{shown(second)}].",
                    )
    return None


def _stage(items: Sequence[Statement], array: str) -> tuple[str, ...] | None:
    """The first index of an array, where all have the same."""
    found = set()
    for item in items:
        at = find(item.words, (array, "[")) + 1
        found.add(item.words[at + 1 : closing(item.words, at)])
    return found.pop() if len(found) == 1 else None


def met_before_wait(kernel: Kernel, reader: int) -> Said | None:
    """__syncthreads() and then the wait: what others have copied may be under way still."""
    waits = [
        item
        for item in kernel.body
        if item.has("__pipeline_wait_prior", "(") and item.line < reader
    ]
    if not waits:
        return None
    wait = waits[-1]
    meets = [one for one in barriers(kernel) if one.parent == wait.parent]
    after = [one for one in meets if one.number > wait.number and one.line < reader]
    before = [one for one in meets if one.number < wait.number]
    if after or not before:
        return None
    return Said(
        f"The block meets in line {before[-1].line}, before each thread waits for its own copies in "
        f"line {wait.line}: those of the other threads may be under way still.",
        before[-1].line,
        "Wait first, then let the block meet.",
    )


def next_phase(kernel: Kernel) -> Said | None:
    """if (ph + 1 < n) start(ph): the guard speaks of the next phase, the call of this one."""
    for item in kernel.body:
        holder = next(kernel.text.above(item), None)
        if item.kind != "simple" or holder is None or holder.kind != "if":
            continue
        given = call_arguments_of(item)
        if len(given) == 1 and len(given[0]) == 1 and item.words[-2:] == (")", ";"):
            name = given[0][0]
            if find(holder.words, (name, "+", "1")) >= 0:
                return Said(
                    f"{shown(item.words)} The condition asks whether there is a phase "
                    f"{name} + 1, and the call starts {name} again.",
                    item.line,
                    f"Start {name} + 1.",
                )
    return None
