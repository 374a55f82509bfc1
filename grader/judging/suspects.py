"""Which line of a kernel made a finding come about, read from its text.

The simulator says what happened and where; here is why: a loop's bound, a guard, the definition of
a row. A rule is asked only where a finding shows its effect, and says nothing where it is not
certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from grader.judging import digits
from grader.judging.host import Said
from grader.judging.kernel_text import (
    TURNED,
    Kernel,
    array_shape,
    axes_of,
    call_arguments_of,
    declarations,
    head_names,
    shared_arrays,
    stands_alone,
    uses_elsewhere,
)
from grader.judging.wording import bare, factors, names_in, terms, value
from grader.labs.statements import Statement, closing, find, is_declaration, shown, split


def block_too_small(kernel: Kernel) -> tuple[str, int, int] | None:
    """(axis, the block's threads, the tile) where blockIdx.x * S + threadIdx.x has another S."""
    for name, _, words, item in declarations(kernel):
        wide = kernel.expanded(words, item)
        blocks, threads = axes_of(wide, "blockIdx"), axes_of(wide, "threadIdx")
        if len(blocks) != 1 or blocks != threads or not stands_alone(wide):
            continue
        if any(names_in(term) and "Idx" not in "".join(term) for term in terms(wide)):
            continue  # 16 * r: a thread has several rows, or columns
        for term in terms(wide):
            if "blockIdx" not in term:
                continue
            parts = factors(term)
            if any("blockIdx" in part and "threadIdx" in part for part in parts):
                continue  # (block and thread) * r: a thread has several there, too
            sides = [value(part, kernel.known) for part in parts if "blockIdx" not in part]
            axis = blocks[0]
            threads_there = kernel.block["xyz".index(axis)]
            if len(sides) == 1 and sides[0] and sides[0] != threads_there:
                if sides[0] % threads_there == 0 and _stores_several(kernel):
                    continue
                return axis, threads_there, sides[0]
    return None


def _stores_several(kernel: Kernel) -> bool:
    """Whether a thread has several results: it stores in several places, or in a loop."""
    name = kernel.roles.get("P", "")
    if not name:
        return True  # it is not known where it stores
    stores = [s for s in kernel.accesses(name) if s.words[:1] == (name,)]
    return len(stores) > 1 or any(kernel.text.loops(one) for one in stores)


def coordinates(kernel: Kernel) -> Said | None:
    """A row or a column whose definition mixes axes."""
    taken = _taken_twice(kernel)
    if taken is not None:
        return taken
    crossed = _crossed(kernel)
    for name, line, words, item in declarations(kernel):
        wide = kernel.expanded(words, item)
        blocks, threads = axes_of(wide, "blockIdx"), axes_of(wide, "threadIdx")
        # Rows of blocks along x and columns along y are a choice, where both are made so.
        if (name, line) in crossed and len({crossed[one] for one in crossed}) == 1:
            return Said(
                f"{name} = {shown(words)}: the block's place comes from blockIdx.{blocks[0]}, the "
                f"thread's from threadIdx.{threads[0]}.",
                line,
                f"Both belong to one axis: blockIdx.{blocks[0]} with threadIdx.{blocks[0]}, or "
                f"blockIdx.{threads[0]} with threadIdx.{threads[0]}.",
            )
        if blocks and axes_of(wide, "gridDim") and threads:
            at = find(wide, ("gridDim",))
            if "*" in (wide[at - 1], wide[min(at + 3, len(wide) - 1)]):
                return Said(
                    f"{name} = {shown(words)}: gridDim is the number of blocks; a block's first "
                    "element is its number times the threads of a block.",
                    line,
                    "Multiply blockIdx by blockDim (or by the tile).",
                )
    return None


def _crossed(kernel: Kernel) -> dict[tuple[str, int], tuple[str, str]]:
    """Definitions whose block and thread are of two axes, and which: (name, line) of each."""
    found: dict[tuple[str, int], tuple[str, str]] = {}
    if 1 in kernel.block[:2]:
        return found  # threads in one row may stand in a column of blocks
    for name, line, words, item in declarations(kernel):
        wide = kernel.expanded(words, item)
        blocks, threads = axes_of(wide, "blockIdx"), axes_of(wide, "threadIdx")
        if len(blocks) == 1 and len(threads) == 1 and blocks != threads and stands_alone(wide):
            if not _is_numbered(wide):
                found[name, line] = blocks[0], threads[0]
    return found


def _is_numbered(words: Sequence[str]) -> bool:
    """piece / across: one number of a block, or of a piece, stands for its row and its column."""
    return any("blockIdx" in term and {"/", "%"} & set(term) for term in terms(words))


def _is_given(words: Sequence[str]) -> bool:
    """corner_of(blockIdx.x, l): what a helper makes of it is not known."""
    return any(one.isidentifier() and two == "(" for one, two in pairwise(words))


def _taken_twice(kernel: Kernel) -> Said | None:
    """tx = threadIdx.y, and threadIdx.x nowhere."""
    used = {axis for item in kernel.body for axis in axes_of(item.words, "threadIdx")}
    for axis, count in zip("xy", kernel.block, strict=False):
        if count < 2 or axis in used or len(used) != 1:
            continue
        (of,) = used
        for name, line, words, _ in declarations(kernel):
            if words == ("threadIdx", ".", of) and axis in name.lower():
                return Said(
                    f"{name} = {shown(words)}: threadIdx.{axis} is used nowhere, so threads that "
                    "differ in it alone do the same.",
                    line,
                    f"{name} comes from threadIdx.{axis}.",
                )
    return None


_ROWS = ("row", "y", "i", "r")
_COLUMNS = ("col", "x", "j", "c")


def unused_axis(kernel: Kernel, axis: str) -> Said | None:
    """blockIdx.x does not occur in the kernel, though the grid has blocks along x."""
    if any(axis in axes_of(item.words, "blockIdx") for item in kernel.body):
        return None
    if uses_elsewhere(kernel, "blockIdx", axis):
        return None
    if kernel.grid[0] * kernel.grid[1] < 2:
        return None
    has_one = kernel.grid["xy".index(axis)] < 2
    if has_one and kernel.block["xy".index(axis)] < 2:
        return None  # all is numbered along the other axis
    other = "y" if axis == "x" else "x"
    names = _COLUMNS if axis == "x" else _ROWS
    found = []
    for name, line, words, item in declarations(kernel):
        wide = kernel.expanded(words, item)
        blocks, threads = axes_of(wide, "blockIdx"), axes_of(wide, "threadIdx")
        if not blocks and threads == [axis] and len(wide) == 3:
            weight = 1 if any(mark in name.lower() for mark in names[:1]) else 2
            found.append((weight, name, line, words))
        elif blocks == [other]:
            if has_one and (len(wide) == 3 or "/" in wide or "%" in wide or _is_given(wide)):
                return None  # a block has a row of its own, or its number stands for both
            weight = 0 if any(mark in name.lower() for mark in names[:1]) else 3
            found.append((weight, name, line, words))
    if not found:
        return None
    _, name, line, words = min(found, key=lambda one: (one[0], one[2]))
    what = "column" if axis == "x" else "row"
    count = kernel.grid[0 if axis == "x" else 1]
    return Said(
        f"{name} = {shown(words)}: blockIdx.{axis} is used nowhere"
        + (f", so all {count} blocks along {axis} compute the same {what}s." if count > 1 else "."),
        line,
        f"The {what} of a thread: blockIdx.{axis} times the tile, plus its place in the tile.",
    )


def divided(kernel: Kernel, line: int = 0) -> Said | None:
    """e / A beside e % B with other numbers; two names for one value; tx * n + tx."""
    known = declarations(kernel)
    for at, (name, here, words, item) in enumerate(known):
        if len(words) > 3 and len(terms(words)) == 2:
            first, second = (factors(term) for term in terms(words))
            whole = [part for part in (first, second) if len(part) == 1]
            products = [part for part in (first, second) if len(part) == 2]
            if (
                len(whole) == 1
                and len(products) == 1
                and whole[0][0] == products[0][0]
                and len(whole[0][0]) == 1
                and whole[0][0][0].isidentifier()
            ):
                twice = shown(whole[0][0])
                return Said(
                    f"{name} = {shown(words)} uses {twice} twice: threads with the same {twice} "
                    "get the same number.",
                    here,
                    "The number of a thread in its block: its row times the length of a row, plus "
                    "its column.",
                )
        for other, there, theirs, place in known[at + 1 :]:
            if place.parent != item.parent:
                continue
            both = _both(kernel, (name, here, words, item), (other, there, theirs))
            if both is not None:
                return both
            pair = _pair(words, theirs)
            if pair is None:
                continue
            of, mine, its = pair
            left, right = value(mine, kernel.known), value(its, kernel.known)
            if words[1:2] == theirs[1:2] or left is None or right is None or left == right:
                continue
            if _has_partner(kernel, item, words) and _has_partner(kernel, item, theirs):
                continue  # two pairs of them, for two tiles
            if digits.fit(kernel, of, (words[1], left), (theirs[1], right)):
                continue  # q / 8, q / 2 % 4 and q % 2 are three digits of one number
            guilty = _wrong_divisor(kernel, item, words, theirs, left, right)
            blamed = here if guilty == 0 else there
            return Said(
                f"{name} = {shown(words)}, {other} = {shown(theirs)}: quotient and remainder of "
                f"{of} need the same divisor, and {shown(mine)} is {left}, {shown(its)} {right}.",
                blamed,
                "Dividing by the length of a row of the tile gives the row, the remainder the column.",
            )
    return None


def _is_meant(name: str, sign: str) -> bool:
    """Whether its name speaks for the quotient, a row, or for the remainder, a column."""
    last = name.lower()
    is_row = "row" in last or last.endswith("y")
    is_column = "col" in last or last.endswith("x")
    return is_row == is_column or is_row == (sign == "/")


def _division(words: Sequence[str]) -> tuple[str, ...] | None:
    """The only part of a sum that is divided, by one thing, with threadIdx.x as one word."""
    parts = [_joined(bare(term)) for term in terms(words)]
    found = [part for part in parts if len(part) > 2 and part[1] in ("/", "%")]
    if len(found) != 1:
        return None
    part = found[0]
    rest = part[2:]
    return part if len(rest) == 1 or bare(rest) != rest else None


def _joined(words: Sequence[str]) -> tuple[str, ...]:
    if words[:1] == ("threadIdx",) and words[1:2] == (".",):
        return (f"threadIdx.{words[2]}", *words[3:])
    return tuple(words)


def _both(kernel: Kernel, one: tuple, two: tuple) -> Said | None:
    """Two names for one quotient or remainder of a thread's number, and none for the other."""
    (name, here, words, item), (other, there, theirs) = one, two
    mine, its = _division(words), _division(theirs)
    if mine is None or mine != its or value(mine[:1], kernel.known) is not None:
        return None
    sign = "%" if mine[1] == "/" else "/"
    partner = (mine[0], sign, *mine[2:])
    for _, _, meaning, place in declarations(kernel):
        if place.parent == item.parent and _division(meaning) == partner:
            return None
    return Said(
        f"{name} and {other} both have {shown(mine)}.",
        there if _is_meant(name, mine[1]) and not _is_meant(other, its[1]) else here,
        f"One of them is the quotient, the other the remainder of {mine[0]}.",
    )


def _has_partner(kernel: Kernel, item: Statement, words: Sequence[str]) -> bool:
    """Whether a quotient has a remainder by the same number beside it, and a remainder a quotient."""
    partner = (words[0], "%" if words[1] == "/" else "/", *words[2:])
    return any(
        (tuple(meaning) == partner or (*partner, "*") == tuple(meaning[: len(partner) + 1]))
        and place.parent == item.parent
        for _, _, meaning, place in declarations(kernel)
    )  # t % 4 * 4 is the first of four columns


def _pair(one: Sequence[str], two: Sequence[str]) -> tuple[str, tuple, tuple] | None:
    if len(one) < 3 or len(two) < 3 or one[0] != two[0] or not one[0].isidentifier():
        return None
    if one[1] not in ("/", "%") or two[1] not in ("/", "%"):
        return None
    if any("*" in words[3:] and words[2] != "(" for words in (one, two)):
        return None  # e / A * B is a multiple of the quotient
    mine, its = bare(one[2:]), bare(two[2:])
    if any(word in ("+", "-", "/", "%") for word in (*mine, *its)):
        return None
    return one[0], tuple(mine), tuple(its)


def _wrong_divisor(
    kernel: Kernel,
    item: Statement,
    words: Sequence[str],
    theirs: Sequence[str],
    left: int,
    right: int,
) -> int:
    """0: the first; 1: the second. The loop's bound divided by one of them must be a side of a
    tile, and the other is that side's partner."""
    sides = set()
    for statement in kernel.body:
        if "__shared__" in statement.words:
            for at, word in enumerate(statement.words):
                if word == "[":
                    side = value(
                        statement.words[at + 1 : closing(statement.words, at)], kernel.known
                    )
                    if side:
                        sides.add(side)
    total = None
    for loop in kernel.text.loops(item):
        if loop.kind == "for" and len(loop.parts) == 3 and words[0] in loop.parts[1]:
            condition = loop.parts[1]
            at = next((i for i, w in enumerate(condition) if w in TURNED), -1)
            total = value(condition[at + 1 :], kernel.known) if at >= 0 else None
    side = _side_of_remainder(kernel, item, words, theirs)
    if side is not None and (left == side) != (right == side):
        return 1 if left == side else 0
    if total:
        fits = [total % d == 0 and total // d in sides and d in sides for d in (left, right)]
        if fits[0] != fits[1]:
            return 1 if fits[0] else 0
    return 0


def _side_of_remainder(
    kernel: Kernel, item: Statement, words: Sequence[str], theirs: Sequence[str]
) -> int | None:
    """How far the remainder may go: the side of the shared array that it is an index of."""
    names = [
        name
        for name, _, meaning, place in declarations(kernel)
        if place.parent == item.parent and meaning in (words, theirs) and meaning[1] == "%"
    ]
    for statement in kernel.text.inside(kernel.text.statements[item.parent]):
        for array in shared_arrays(kernel):
            at = find(statement.words, (array, "["))
            shape = array_shape(kernel, array)
            if at < 0 or not names or not shape:
                continue
            at, position = at + 1, 0
            while at < len(statement.words) and statement.words[at] == "[":
                end = closing(statement.words, at)
                if statement.words[at + 1 : end] == (names[0],) and position < len(shape):
                    return shape[position]
                at, position = end + 1, position + 1
    return None


def named_definition(
    kernel: Kernel, statement: Statement, words: Sequence[str]
) -> tuple[int, tuple[str, ...]] | None:
    """(line, value) of what a part of an index means, if it is one name."""
    words = bare(words)
    known = kernel.text.declaration(words[0], statement) if len(words) == 1 else None
    return known if known is not None and _is_telling(known[1]) else None


def blamed_definition(
    kernel: Kernel, statement: Statement, words: Sequence[str]
) -> tuple[str, int, tuple[str, ...]] | None:
    """(name, line, value) of the definition behind a wrong part of an index.

    Names that the store of P rests on are right, where P is stored in its place.
    """
    innocent = _of_the_store(kernel)
    for name in names_in(bare(words)):
        if "." in name:
            continue
        known = kernel.text.declaration(name, statement)
        if known is None or (name, known[0]) in innocent or not _is_telling(known[1]):
            continue
        if len(names_in(bare(words))) > 1 and any(
            other != name
            and "." not in other
            and (d := kernel.text.declaration(other, statement)) is not None
            and (other, d[0]) not in innocent
            and _is_telling(d[1])
            for other in names_in(bare(words))
        ):
            return None
        return name, known[0], known[1]
    return None


def _is_telling(words: Sequence[str]) -> bool:
    """Whether a definition may be what is wrong: it is an expression, or another name."""
    return len(words) > 1 or (len(words) == 1 and words[0].isidentifier())


def _of_the_store(kernel: Kernel) -> set[tuple[str, int]]:
    """(name, line) of every definition that an index of a store to P rests on."""
    result = kernel.roles.get("P", "")
    stores = [
        item
        for item in kernel.body
        if result
        and item.kind == "simple"
        and (
            (item.words[:2] == (result, "["))
            or any(part[:1] == (result,) for part in call_arguments_of(item))
        )
    ]
    found: set[tuple[str, int]] = set()
    waiting = [(name, store) for store in stores for name in names_in(store.words)]
    while waiting and len(found) < 200:
        name, near = waiting.pop()
        known = kernel.text.declaration(name, near) if "." not in name else None
        if known is None or (name, known[0]) in found:
            continue
        found.add((name, known[0]))
        waiting += [(other, near) for other in names_in(known[1])]
    return found


def product_without(kernel: Kernel) -> Said | None:
    """sum[r][c] += m[r] * n[0]: an index of the sum that no factor has."""
    for item in kernel.body:
        if item.kind != "simple" or "+=" not in item.words or "*" not in item.words:
            continue
        at = item.words.index("+=")
        target, right = item.words[:at], item.words[at + 1 :]
        if "[" not in target or len(split(right[:-1], "+")) > 1:
            continue
        turning = [name for loop in kernel.text.loops(item) for name in head_names(loop)]
        for name in names_in(target)[1:]:
            if name in turning and name not in names_in(right):
                if _set_within(kernel, item, name, names_in(right)):
                    continue
                return Said(
                    f"{shown(target)} += {shown(right).rstrip(';')}: {name} counts the sums, and no "
                    f"factor depends on it, so all {name} get the same product.",
                    item.line,
                    f"One of the factors has the index {name}.",
                )
        parts = split(right[:-1], "*")
        rows = [name for name in names_in(target)[1:] if name in turning]
        if len(parts) == 2 and len(rows) == 2:
            first, second = (set(names_in(part)[1:]) for part in parts)
            if rows[1] in first and rows[0] in second and not {rows[0]} & first:
                return Said(
                    f"{shown(target)} += {shown(right).rstrip(';')}: the row {rows[0]} of the sum "
                    f"is the index of the second factor, and the column {rows[1]} of the first.",
                    item.line,
                    "The first factor has the row, the second the column.",
                )
            said = _turned(kernel, item, parts)
            if said is not None:
                return said
    return None


def _set_within(kernel: Kernel, item: Statement, name: str, used: Sequence[str]) -> bool:
    """Whether a factor gets its value inside the loop that counts `name`."""
    loops = [loop for loop in kernel.text.loops(item) if name in head_names(loop)]
    return any(
        one.kind == "simple"
        and "=" in one.words
        and set(used) & set(one.words[: one.words.index("=")])
        for loop in loops
        for one in kernel.text.inside(loop)
    )


def _turned(kernel: Kernel, item: Statement, parts: Sequence[tuple[str, ...]]) -> Said | None:
    """m[s][r], where m was filled row by row as m[r]."""
    for part in parts:
        if len(part) != 7 or part[1] != "[" or part[4] != "[":
            continue
        array, first, second = part[0], part[2], part[5]
        for other in kernel.body:
            at = find(other.words, (array, "["))
            if other is item or at < 0 or other.words[at + 3 : at + 5] != ("]", ")"):
                continue
            if other.words[at + 2] == second and first != second:
                heads = [head_names(loop)[:1] for loop in kernel.text.loops(other)]
                if [second] in heads:
                    return Said(
                        f"{array} is filled as {array}[{second}] in line {other.line}, and used as "
                        f"{shown(part)}: its indices are exchanged.",
                        item.line,
                        f"{array}[{second}][{first}].",
                    )
    return None


def short_local(kernel: Kernel) -> Said | None:
    """An array of a thread's own that has fewer elements than its loop has turns."""
    for item in kernel.body:
        if item.kind != "simple" or not is_declaration(item.words) or "__shared__" in item.words:
            continue
        for part in split(item.words[:-1], ","):
            at = next(
                (i for i, w in enumerate(part) if w == "[" and i and part[i - 1].isidentifier()), 0
            )
            if not at or "=" in part[:at]:
                continue
            name = part[at - 1]
            side = value(part[at + 1 : closing(part, at)], kernel.known)
            for use in kernel.body:
                place = find(use.words, (name, "["))
                if use is item or place < 0 or side is None:
                    continue
                index = use.words[place + 2 : closing(use.words, place + 1)]
                for loop in kernel.text.loops(use):
                    if loop.kind != "for" or len(loop.parts) != 3 or len(index) != 1:
                        continue
                    condition = loop.parts[1]
                    if condition[:2] != (index[0], "<") or loop.number < item.parent:
                        continue
                    turns = value(condition[2:], kernel.known)
                    if turns is not None and turns > side:
                        return Said(
                            f"{name} has {side} elements, and line {use.line} uses "
                            f"{name}[{index[0]}] up to {turns - 1}.",
                            item.line,
                            f"{name} needs {turns} elements.",
                        )
    return None


def subtracted(kernel: Kernel) -> Said | None:
    """sum -= a * b."""
    found = [
        item
        for item in kernel.body
        if item.kind == "simple" and "-=" in item.words and "*" in item.words
    ]
    if len(found) != 1:
        return None
    return Said("-= takes the products away instead of adding them.", found[0].line, "Write +=.")
