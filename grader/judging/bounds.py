"""Bounds that let too much pass: guards of accesses, and how often a loop turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.judging.host import Said
from grader.judging.kernel_text import TURNED, Kernel, head_names, same
from grader.judging.wording import Index, bare, names_in, value
from grader.labs.statements import Listing, Statement, find, function_name, shown, split

_SMALL = 16


@dataclass(frozen=True)
class Comparison:
    """left < right, as the thread that goes on has it."""

    left: tuple[str, ...]
    sign: str  # < or <=
    right: tuple[str, ...]


@dataclass(frozen=True)
class Guard:
    """What lets a thread reach a statement."""

    line: int
    comparisons: tuple[Comparison, ...]
    joined: str  # "&&" or "||", for the thread that goes on
    words: tuple[str, ...]


_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def _guard(words: Sequence[str], line: int, negated: bool) -> Guard | None:
    words = bare(words)
    both = [mark for mark in ("&&", "||") if len(split(words, mark)) > 1]
    if len(both) > 1:
        return None
    parts = split(words, both[0]) if both else [tuple(words)]
    found = []
    for part in parts:
        part = bare(part)
        signs = [(at, word) for at, word in enumerate(part) if word in TURNED]
        if len(signs) != 1 or "?" in part:
            return None
        at, sign = signs[0]
        left, right = part[:at], part[at + 1 :]
        if negated:
            sign = _NEGATED[sign]
        if sign in (">", ">="):
            left, right, sign = right, left, TURNED[sign]
        found.append(Comparison(bare(left), sign, bare(right)))
    joined = both[0] if both else "&&"
    if negated and both:
        joined = "||" if joined == "&&" else "&&"
    return Guard(line, tuple(found), joined, tuple(words))


def guards(kernel: Kernel, statement: Statement, array: str = "") -> list[Guard]:
    """Those in front of an access: ifs around it, its own ?:, returns before it."""
    text = kernel.text
    found = []
    if "?" in statement.words:
        mark = statement.words.index("?")
        start = max((i for i, w in enumerate(statement.words[:mark]) if w == "="), default=-1)
        place = find(statement.words, (array, "[")) if array else mark + 1
        if start >= 0 and place > mark:
            guard = _guard(statement.words[start + 1 : mark], statement.lines[start + 1], False)
            found += [guard] if guard else []
    for item in text.above(statement):
        if item.kind == "if":
            guard = _guard(item.words, item.line, False)
            found += [guard] if guard else []
    holders = [one.number for one in text.above(statement)]
    for item in kernel.body:
        if item.number >= statement.number:
            break
        if item.kind == "if" and item.parent in holders:
            inside = [s for s in text.inside(item) if len(s.words) > 1 or s.kind != "simple"]
            if len(inside) == 1 and inside[0].words[:1] in (("return",), ("continue",)):
                guard = _guard(item.words, item.line, True)
                found += [guard] if guard else []
    return found


def loop_too_long(kernel: Kernel, statement: Statement, words: Sequence[str]) -> Said | None:
    """A loop whose variable is in an index that leaves its array: <=, or steps of 1 for tiles."""
    used = set(_all_names(kernel, words, statement))
    for loop in kernel.text.loops(statement):
        if loop.kind != "for" or len(loop.parts) != 3:
            continue
        head, condition, step = loop.parts
        if "=" not in head[1:]:
            continue
        name = head[head.index("=") - 1]
        if name not in used or head[head.index("=") + 1 :] != ("0",):
            continue
        bound = shown(condition[2:])
        if condition[:2] == (name, "<="):
            return Said(
                f"The loop of line {loop.line} runs while {shown(condition)}: its last turn, with "
                f"{name} = {bound}, is one too many.",
                loop.line,
                f"From 0 on, {bound} turns end with {name} < {bound}.",
            )
        if condition[:2] == (name, "<") and "++" in step:
            said = _too_many_turns(kernel, loop, name, condition, words)
            if said is not None:
                return said
    return None


def _too_many_turns(
    kernel: Kernel, loop: Statement, name: str, condition: Sequence[str], words: Sequence[str]
) -> Said | None:
    """Phases that are counted in elements, or one phase more than there are."""
    inside = kernel.text.inside(loop)
    if not any("__syncthreads" in item.words for item in inside):
        return None
    bound = value(condition[2:], kernel.known)
    sides = {side for shape in kernel.shapes.values() for side in shape}
    if bound in sides and bound > _SMALL and not _is_multiplied(words, name):
        return Said(
            f"{name} goes on by 1, up to {shown(condition[2:])}: each turn loads a whole tile, so "
            "the next one begins a tile further.",
            loop.line,
            f"Go on by the width of the tile: {name} += ...",
        )
    if condition[-2:] == ("+", "1") and "/" in condition:
        return Said(
            f"The loop of line {loop.line} runs {shown(condition[2:])} times, {bound}: one turn "
            "more than there are tiles.",
            loop.line,
            "Where the tiles fit exactly, there is no turn to add.",
        )
    return None


def _is_multiplied(words: Sequence[str], name: str) -> bool:
    return any(
        word == name and ("*" in (words[at - 1 : at] + words[at + 1 : at + 2]))
        for at, word in enumerate(words)
    )


def _all_names(kernel: Kernel, words: Sequence[str], near: Statement) -> list[str]:
    """The names in words, and those in their definitions, two steps deep."""
    names = names_in(words)
    for _ in range(2):
        for name in list(names):
            if "." in name:
                continue
            known = kernel.text.declaration(name, near)
            if known is not None:
                names += [item for item in names_in(known[1]) if item not in names]
    return names


def guard_lets_pass(
    kernel: Kernel, statement: Statement, array: str, index: Index, shape: tuple[int, int]
) -> Said | None:
    """A guard that is there, and does not keep a thread from leaving the matrix."""
    found = guards(kernel, statement, array)
    parts = (("row", index.row, shape[0]), ("column", index.column, shape[1]))
    seen: dict[str, Comparison] = {}
    for guard in found:
        touching = [
            c
            for c in guard.comparisons
            if any(
                means(kernel, c.left, part, statement) or _is_of(c.left, part)
                for _, part, _ in parts
            )
        ]
        if not touching:
            continue
        if guard.joined == "||" and len(guard.comparisons) > 1:
            return Said(
                f"The guard {shown(guard.words)} lets a thread pass that fulfils only one of its "
                "conditions.",
                guard.line,
                "Both must hold: row and column must lie inside.",
            )
        for what, part, limit in parts:
            for c in guard.comparisons:
                if not means(kernel, c.left, part, statement):
                    continue
                seen[what] = c
                if c.sign == "<=" and _is_size(kernel, c.right, limit):
                    return Said(
                        f"The guard {shown(guard.words)} lets {shown(c.left)} = {shown(c.right)} "
                        f"pass: the last {what} is {shown(c.right)} - 1.",
                        guard.line,
                        "Compare with <, or leave with >=.",
                    )
                bound = value(c.right, kernel.known)
                if bound is not None and bound != limit and len(set(shape)) > 1:
                    return Said(
                        f"The guard {shown(guard.words)} compares {_the(what, c.left)} with "
                        f"{shown(c.right)}, which is {bound} here; {array} has {limit} {what}s.",
                        guard.line,
                        "Each index has the limit of its own dimension.",
                    )
    turning = {name for loop in kernel.text.loops(statement) for name in head_names(loop)}
    for guard in found:
        for what, part, _ in parts:
            if what in seen or len(part) != 1 or not part[0].isidentifier() or part[0] in turning:
                continue
            lefts = [c.left for g in found for c in g.comparisons]
            if any(same(left, part) or part[0] in left for left in lefts):
                continue
            return Said(
                f"The guard {shown(guard.words)} does not look at {part[0]}: the {what} of {array} "
                "may still lie outside.",
                guard.line,
                f"Row and column both need a limit: add one for {part[0]}.",
            )
    used = {*names_in(index.row), *names_in(index.column)}
    compared = [c.left for guard in found for c in guard.comparisons]
    for what, part, _ in parts:
        if what in seen or any(same(left, part) for left in compared) or len(part) < 3:
            continue
        for guard in found:
            for left in (c.left for c in guard.comparisons):
                near = len(left) == len(part) and _differ(left, part) == 1
                if near or (len(left) == 1 and left[0].isidentifier() and left[0] not in used):
                    return Said(
                        f"The guard {shown(guard.words)} looks at {shown(left)}, and the {what} of "
                        f"{array} that is used is {shown(part)}.",
                        guard.line,
                        f"Compare {shown(part)} with the number of {what}s.",
                    )
    for what, part, _ in parts:
        others = [other for other, _, _ in parts if other != what]
        if what in seen or len(part) < 3 or not found or others[0] not in seen:
            continue
        meanings = [kernel.text.declaration(c[0], statement) for c in compared if len(c) == 1]
        if any(same(left, part) for left in compared) or any(
            known is not None and same(known[1], part) for known in meanings
        ):
            continue
        return Said(
            f"The guard {shown(found[0].words)} does not look at {shown(part)}: the {what} of "
            f"{array} may still lie outside.",
            found[0].line,
            f"Row and column both need a limit: add one for {shown(part)}.",
        )
    return None


def unused_limit(text: Listing, statement: Statement) -> Said | None:
    """A function that is given the number of rows, and never looks at it."""
    function = text.function_of(statement)
    if function is None or "__global__" in function.words or function.words[-1:] == ("]",):
        return None
    given = text.parameters(function)
    used = {word for item in text.inside(function) for word in item.words}
    unused = [name for name in given if name not in used]
    name = function_name(function)
    if len(unused) != 1 or not name or _kind(function.words, unused[0]) not in _NUMBERS:
        return None
    return Said(
        f"{name} is given {unused[0]} and does not use it: nothing keeps its accesses inside that "
        "limit.",
        statement.line,
        f"Compare the index that {unused[0]} is the limit of, before the access.",
    )


_NUMBERS = frozenset({"int", "unsigned", "size_t", "uint", "long"})


def _kind(words: Sequence[str], name: str) -> str:
    """The word in front of a parameter's name: its type, if that is one word."""
    places = [at for at, word in enumerate(words) if word == name]
    return words[places[-1] - 1] if places else ""


# Where threads are whose index is worked out, to hold two ways of writing it against each other.
_PLACES = (
    {
        "blockIdx.x": "3",
        "blockIdx.y": "5",
        "blockIdx.z": "2",
        "threadIdx.x": "7",
        "threadIdx.y": "11",
    },
    {
        "blockIdx.x": "4",
        "blockIdx.y": "1",
        "blockIdx.z": "3",
        "threadIdx.x": "2",
        "threadIdx.y": "6",
    },
)


def means(kernel: Kernel, left: Sequence[str], part: Sequence[str], near: Statement) -> bool:
    """Whether a guard that looks at `left` looks at the index `part`: the same words, or a variable
    with the same value, as Row is where the index is blockIdx.y * blockDim.y + threadIdx.y."""
    if same(left, part):
        return True
    meaning: Sequence[str] = left
    if len(left) == 1 and left[0].isidentifier():
        declared = kernel.text.declaration(left[0], near)
        meaning = kernel.expanded(declared[1], near) if declared is not None else ()
    sides = {f"blockDim.{axis}": str(side) for axis, side in zip("xyz", kernel.block, strict=True)}
    values = [
        (value(meaning, known), value(part, known))
        for known in ({**kernel.known, **sides, **place} for place in _PLACES)
    ]
    return all(one is not None and one == other for one, other in values)


def _differ(one: Sequence[str], two: Sequence[str]) -> int:
    return sum(a != b for a, b in zip(one, two, strict=True))


def _the(what: str, words: Sequence[str]) -> str:
    """ "the row my_row"; "row" where the variable is called so."""
    name = shown(words)
    return name if name.lower() in (what, what[:3]) else f"the {what} {name}"


def _is_of(left: Sequence[str], part: Sequence[str]) -> bool:
    return len(left) == 1 and left[0] in part


def _is_size(kernel: Kernel, words: Sequence[str], limit: int) -> bool:
    bound = value(words, kernel.known)
    return bound is None or bound == limit
