"""Which numbers an index takes over all threads of a block and all turns of its loops.

A thread that computes several rows reads them from a tile and stores them into P: both must reach
every row of the block's part. An index that does not is wrong, whatever it was meant to be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.judging.kernel_text import Kernel, counted
from grader.judging.wording import BUILT_IN, names_in, terms, value, without_casts
from grader.labs.statements import Statement

_MOST_VALUES = 1 << 18
_MOST_NAMES = 40
_BINDING = {
    "|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "neg": 7,
}  # fmt: skip


class _UnclearError(Exception):
    pass


def _apply(sign: str, values: list[np.ndarray]) -> None:
    if sign == "neg":
        values.append(-values.pop())
        return
    if len(values) < 2:
        raise _UnclearError
    right, left = values.pop(), values.pop()
    if sign in ("/", "%"):
        if (right == 0).any() or (left < 0).any() or (right < 0).any():
            raise _UnclearError
        values.append(left // right if sign == "/" else left % right)
    elif sign in ("<<", ">>"):
        if (right < 0).any() or (right > 20).any():
            raise _UnclearError
        values.append(left << right if sign == "<<" else left >> right)
    else:
        operations = {
            "+": np.add, "-": np.subtract, "*": np.multiply,
            "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
        }  # fmt: skip
        values.append(operations[sign](left, right))


def _shifts(words: Sequence[str]) -> list[str]:
    """With > > as the one sign that it is outside of templates."""
    found: list[str] = []
    for word in words:
        if word == ">" and found[-1:] == [">"]:
            found[-1] = ">>"
        else:
            found.append(word)
    return found


def _evaluated(words: Sequence[str], known: dict[str, np.ndarray]) -> np.ndarray:
    """Operators wait on a stack until one that binds less comes."""
    values: list[np.ndarray] = []
    waiting: list[str] = []
    at, wants_value = 0, True
    words = _shifts(without_casts(words))
    while at < len(words):
        word = words[at]
        if word == "(":
            waiting.append(word)
        elif word == ")":
            while waiting and waiting[-1] != "(":
                _apply(waiting.pop(), values)
            if not waiting:
                raise _UnclearError
            waiting.pop()
            wants_value = False
        elif wants_value and word == "-":
            waiting.append("neg")
        elif wants_value:
            if word[:1].isdigit():
                number = word.rstrip("uUlL")
                if not number.isdigit():
                    raise _UnclearError
                values.append(np.int64(int(number)))
            elif at + 2 < len(words) and words[at + 1] == ".":
                name = f"{word}.{words[at + 2]}"
                if name not in known:
                    raise _UnclearError
                values.append(known[name])
                at += 2
            elif word in known:
                values.append(known[word])
            else:
                raise _UnclearError
            wants_value = False
        elif word in _BINDING:
            while waiting and waiting[-1] != "(" and _BINDING[waiting[-1]] >= _BINDING[word]:
                _apply(waiting.pop(), values)
            waiting.append(word)
            wants_value = True
        else:
            raise _UnclearError
        at += 1
    while waiting:
        sign = waiting.pop()
        if sign == "(":
            raise _UnclearError
        _apply(sign, values)
    if len(values) != 1:
        raise _UnclearError
    return values[0]


def evaluated(words: Sequence[str], known: dict[str, np.ndarray]) -> np.ndarray | None:
    """The values of an expression of known names; None where it is not clear."""
    try:
        return _evaluated(words, known)
    except _UnclearError:
        return None


def values_of(
    kernel: Kernel,
    words: Sequence[str],
    near: Statement,
    blocks: tuple[int, int] = (0, 0),
    also: dict[str, int] | None = None,
) -> np.ndarray | None:
    """All values of an expression in one block; None where it is not clear."""
    found = table_of(kernel, words, near, blocks, also)
    return None if found is None else np.unique(found)


def table_of(
    kernel: Kernel,
    words: Sequence[str],
    near: Statement,
    blocks: tuple[int, int] = (0, 0),
    also: dict[str, int] | None = None,
) -> np.ndarray | None:
    """The same in the order of the threads: a row for each, a column for each turn of the loops."""
    bx, by, _ = kernel.block
    thread = np.arange(bx * by, dtype=np.int64)
    known: dict[str, np.ndarray] = {
        "threadIdx.x": (thread % bx)[:, None],
        "threadIdx.y": (thread // bx)[:, None],
        "threadIdx.z": np.int64(0),
        "blockIdx.x": np.int64(blocks[0]),
        "blockIdx.y": np.int64(blocks[1]),
    }
    for name, number in (also or {}).items():
        known[name] = np.int64(number)
    width = 1
    shifted: list[tuple[str, tuple[str, ...]]] = []
    for loop in kernel.text.loops(near):
        found = turns(kernel, loop)
        if found is None:
            if _goes_on(kernel, loop) in needed(kernel, words, near) - set(known):
                return None
            continue
        name, numbers, start = found
        if start and name not in known and name in needed(kernel, words, near):
            shifted.append((name, (*start, "+", f"turns of {name}")))
            name = f"turns of {name}"
        elif name in known or name not in needed(kernel, words, near):
            continue
        if width * len(numbers) * len(thread) > _MOST_VALUES:
            return None
        for other, rest in list(known.items()):
            if rest.ndim == 2 and rest.shape[1] > 1:
                known[other] = np.repeat(rest, len(numbers), axis=1)
        known[name] = np.tile(np.asarray(numbers, np.int64), width)[None, :]
        width *= len(numbers)
    table = kernel.known
    waiting = [(name, 0) for name in names_in(words)]
    order = list(shifted)
    seen = {name for name, _ in shifted}
    waiting += [(name, 1) for _, meaning in shifted for name in names_in(meaning[:-2])]
    while waiting:
        name, depth = waiting.pop()
        if name in known or name in seen:
            continue
        seen.add(name)
        if len(seen) > _MOST_NAMES or depth > 8:
            return None
        number = value((name,), table) if "." not in name else None
        number = int(table[name]) if "." in name and name in table else number
        if number is not None:
            known[name] = np.int64(number)
            continue
        found = meaning_of(kernel, name, near)
        if found is None:
            return None
        meaning = found[1]
        order.append((name, meaning))
        waiting += [(other, depth + 1) for other in names_in(meaning)]
    try:
        for _ in range(len(order) + 1):
            for name, meaning in order:
                if name not in known and all(
                    n in known for n in names_in(meaning) if not n.startswith("turns of")
                ):
                    known[name] = _evaluated(meaning, known)
        return _evaluated(words, known)
    except _UnclearError:
        return None


def _goes_on(kernel: Kernel, loop: Statement) -> str:
    """The variable of a loop that counts on from a thread's own number, by a number known here.

    How far it counts is not clear: its first value alone says too little.
    """
    if loop.kind != "for" or len(loop.parts) != 3 or "=" not in loop.parts[0][1:]:
        return ""
    name, step = counted(loop), loop.parts[2]
    start = loop.parts[0][loop.parts[0].index("=") + 1 :]
    is_small = "++" in step or (step[:2] == (name, "+=") and value(step[2:], kernel.known))
    return name if is_small and value(start, kernel.known) is None else ""


def needed(kernel: Kernel, words: Sequence[str], near: Statement) -> set[str]:
    """The names that an expression rests on, in the end."""
    found: set[str] = set()
    waiting = names_in(words)
    while waiting and len(found) < _MOST_NAMES:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        meaning = meaning_of(kernel, name, near)
        waiting += names_in(meaning[1]) if meaning is not None else []
    return found


_FOLLOWED_CALLS = frozenset({"min", "max"})


def is_followed(kernel: Kernel, words: Sequence[str], near: Statement) -> bool:
    """Whether all that an expression rests on can be read here: `needed` lacks nothing then.

    Fields, calls, elements, pointers and variables that are given several values cannot: what they
    have may come from the thread's number.
    """
    waiting, seen = [tuple(words)], set[str]()
    while waiting:
        words = without_casts(waiting.pop())
        if not all(_is_plain(kernel, words, at) for at in range(len(words))):
            return False
        for name in names_in(words):
            if name in seen or "." in name or value((name,), kernel.known) is not None:
                continue
            seen.add(name)
            if len(seen) > _MOST_NAMES:
                return False
            if name in kernel.parameters:
                if kernel.text.assignments(name, kernel.function):
                    return False
                continue
            meaning = meaning_of(kernel, name, near)
            if meaning is None or _is_given_away(kernel, name):
                return False
            waiting.append(meaning[1])
    return True


def _is_given_away(kernel: Kernel, name: str) -> bool:
    """Whether a function that takes a reference or a pointer may give the variable another value."""
    for item in kernel.body:
        for at in range(1, len(item.words) - 1):
            if item.words[at] != name or item.words[at + 1] not in (",", ")"):
                continue
            if item.words[at - 1] == "&":
                return True
            called = [kernel.text.named(word) for word in item.words[:at] if word.isidentifier()]
            if any(one is not None and "&" in one.words for one in called):
                return True
    return False


def _is_plain(kernel: Kernel, words: Sequence[str], at: int) -> bool:
    """Whether a word is a number, a sign of arithmetic, or the name of a plain variable."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word == ".":
        return at > 0 and words[at - 1] in BUILT_IN
    if word in BUILT_IN:
        return after == "."
    if word.isidentifier():
        return after != "(" or word in _FOLLOWED_CALLS
    if word == "*":
        return at > 0 and words[at - 1] not in ("(", ",", "+", "-", "*", "/", "%", "<", ">", "?")
    return word not in ("[", "]", "{", "}", "->", "::", "&&", "||", "=")


def meaning_of(kernel: Kernel, name: str, near: Statement) -> tuple[int, tuple[str, ...]] | None:
    """(line, value) of a variable that has only one."""
    if "." in name:
        return None
    given = kernel.text.assignments(name, kernel.function)
    if len(given) == 1 and len(given[0].words) > 3 and given[0].words[1] == "=":
        return given[0].line, given[0].words[2:-1]
    known = kernel.text.declaration(name, near)
    return known if known is not None and known[1] and not given else None


def blamed(
    kernel: Kernel, words: Sequence[str], near: Statement, side: int
) -> tuple[int, tuple[str, ...]] | None:
    """(line, value) of the only name in a sum whose values keep it from reaching 0 to side - 1.

    In such a sum one part has 0 to n - 1, the next goes on in steps of n, and so on. None where a
    part may be missing: a loop around the store that no index depends on.
    """
    used = needed(kernel, near.words, near)
    if "=" in near.words:
        used = needed(kernel, near.words[: near.words.index("=")], near)
    if any(turns(kernel, loop) and counted(loop) not in used for loop in kernel.text.loops(near)):
        return None
    parts = []
    for term in terms(words):
        found = values_of(kernel, term, near)
        meaning = meaning_of(kernel, term[0], near) if len(term) == 1 else None
        if found is None or found[0] != 0:
            return None
        if len(found) > 1:
            steps = np.diff(found)
            grows = int(steps[0]) if (steps == steps[0]).all() else 0
            parts.append((grows, len(found), meaning))
    for part in parts:
        others = sorted(other[:2] for other in parts if other is not part)
        count, rest = divmod(side, int(np.prod([other[1] for other in others], dtype=np.int64)))
        if rest or part[2] is None or len(part[2][1]) <= 3:
            continue
        size, is_in = 1, False
        for grows, many in others:
            if grows == size * count and not is_in and grows != size:
                size, is_in = size * count, True
            if grows != size:
                break
            size *= many
        else:
            if size * (1 if is_in else count) == side and part[1] != count:
                return part[2]
    return _wrong_step(parts, side)


def _wrong_step(parts: list[tuple], side: int) -> tuple[int, tuple[str, ...]] | None:
    """The only part with enough values that do not go on by what all the others reach."""
    found = []
    for part in parts:
        size = 1
        for grows, many in sorted(other[:2] for other in parts if other is not part):
            if grows != size:
                break
            size *= many
        else:
            if size > 1 and size * part[1] == side and part[0] != size and part[2] is not None:
                found.append(part[2])
    return found[0] if len(found) == 1 else None


def turns(kernel: Kernel, loop: Statement) -> tuple[str, list[int], tuple[str, ...]] | None:
    """(variable, its values, what they are counted from) of a loop with few turns."""
    if loop.kind != "for" or len(loop.parts) != 3:
        return None
    head, condition, step = loop.parts
    if "=" not in head[1:] or len(condition) < 3 or condition[1] != "<":
        return None
    name = head[head.index("=") - 1]
    start = value(head[head.index("=") + 1 :], kernel.known)
    end = value(condition[2:], kernel.known)
    by = 1 if "++" in step else None
    if by is None and step[:2] == (name, "+="):
        by = value(step[2:], kernel.known)
    if condition[0] != name or end is None or not by or by < 1:
        return None
    given = tuple(head[head.index("=") + 1 :]) if start is None else ()
    numbers = list(range(start or 0, end, by))
    return (name, numbers, given) if 0 < len(numbers) <= 64 else None


def step(kernel: Kernel, words: Sequence[str], near: Statement, axis: str) -> int | None:
    """By how much an index grows from one block to the next along an axis."""
    here = values_of(kernel, words, near)
    there = values_of(kernel, words, near, (1, 0) if axis == "x" else (0, 1))
    if here is None or there is None or not len(here) or not len(there):
        return None
    return int(there.min() - here.min())


def phase(
    kernel: Kernel, words: Sequence[str], near: Statement
) -> tuple[Statement, int, int] | None:
    """(loop, growth of an index from one phase to the next, values that it takes in one)."""
    for loop in kernel.text.loops(near):
        if loop.kind != "for" or len(loop.parts) != 3 or turns(kernel, loop) is not None:
            continue
        head, _, step_words = loop.parts
        if "=" not in head[1:] or head[head.index("=") + 1 :] != ("0",):
            return None
        name = head[head.index("=") - 1]
        by = 1 if "++" in step_words else None
        if by is None and step_words[:2] == (name, "+="):
            by = value(step_words[2:], kernel.known)
        if not by:
            return None
        here = values_of(kernel, words, near, also={name: 0})
        there = values_of(kernel, words, near, also={name: by})
        if here is None or there is None:
            return None
        return loop, int(there[0] - here[0]), len(here)
    return None


def is_whole(values: np.ndarray, count: int) -> bool:
    """Whether these are 0 to count - 1."""
    return len(values) == count and values[0] == 0 and values[-1] == count - 1
