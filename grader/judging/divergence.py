"""What keeps some threads of a block from a barrier: a branch, a return, a continue, a loop's end.

The barrier and what keeps threads away may stand in the kernel or in a helper that it calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging import barriers
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel
from grader.judging.wording import calls
from grader.labs.statements import Listing, Statement, function_name, shown

_DEEPEST = 6  # names that come from each other
_COMPARES = ("<", "<=", ">", ">=", "!=")
_NO_NAMES = frozenset(
    ("const", "int", "unsigned", "auto", "size_t", "float", "bool", "char", "short")
)
_ADVICE = "Let all threads stay for the barriers; guard only loads and stores."


def diverges(kernel: Kernel, lines: Sequence[int], have_left: bool = False) -> Said | None:
    """`lines`: where the threads were seen. `have_left`: whether those that lack have returned."""
    text = kernel.text
    names = barriers.that_meet(text)
    functions = sorted(
        _reached(kernel), key=lambda one: not any(_holds(text, one, line) for line in lines)
    )
    rules = [_in_a_branch, _loop_of_the_thread, _left_early]
    for rule in reversed(rules) if have_left else rules:
        for function in functions:
            stops = [
                item
                for item in text.inside(function)
                if item.kind in ("simple", "macro") and barriers.meets(item, names)
            ]
            found = rule(kernel, function, stops) if stops else None
            if found is not None:
                return found
    return None


def _holds(text: Listing, function: Statement, line: int) -> bool:
    return any(text.function_of(item) is function for item in text.at(line))


def _reached(kernel: Kernel) -> list[Statement]:
    """The kernel, and the file's functions that it calls."""
    found, waiting = [kernel.function], [kernel.function]
    while waiting:
        words = {word for item in kernel.text.inside(waiting.pop()) for word in item.words}
        for function in kernel.text.functions():
            name = function_name(function)
            if name in words and "__global__" not in function.words and function not in found:
                found.append(function)
                waiting.append(function)
    return found


def _left_early(kernel: Kernel, function: Statement, stops: Sequence[Statement]) -> Said | None:
    """A return or a continue under a condition, and a barrier that comes after it."""
    text = kernel.text
    for item in text.inside(function):
        word = item.words[0] if item.words else ""
        if word not in ("return", "continue", "break"):
            continue
        branch = next((one for one in text.above(item) if one.kind in ("if", "else")), None)
        if branch is None or branch.kind == "else" or not _is_of_thread(kernel, branch.words, item):
            continue
        loop = next(iter(text.loops(item)), None)
        if word != "return" and loop is None:
            continue
        later = [
            stop
            for stop in stops
            if (stop.number > item.number or (word != "continue" and _in_loop_of(text, stop, item)))
            and (word == "return" or loop in text.above(stop))
        ]
        if not later:
            continue
        is_helper = function is not kernel.function
        does = {
            "return": f"return from {function_name(function)}()" if is_helper else "return",
            "continue": "go on to the next turn",
            "break": "leave the loop",
        }[word]
        return Said(
            f"Threads with {shown(branch.words)} {does} in line {item.line}, before the "
            f"barrier of line {later[0].line} that the others wait at.",
            branch.line,
            _ADVICE,
        )
    return None


def _in_loop_of(text: Listing, stop: Statement, item: Statement) -> bool:
    return any(loop in text.above(stop) for loop in text.loops(item))


def _loop_of_the_thread(
    kernel: Kernel, function: Statement, stops: Sequence[Statement]
) -> Said | None:
    """A loop with a barrier whose number of turns depends on the thread."""
    text = kernel.text
    for stop in stops:
        for loop in text.loops(stop):
            parts = loop.parts if loop.kind == "for" else [(), loop.words, ()]
            if len(parts) != 3:
                continue
            condition = parts[1]
            sign = next((at for at, word in enumerate(condition) if word in _COMPARES), 0)
            sides = condition[:sign], condition[sign + 1 :]
            # Where both sides are the thread's own, as with pointers that walk, the turns may be
            # the same for all.
            if [_is_of_thread(kernel, side, loop) for side in sides].count(True) == 1:
                return Said(
                    f"How often the loop of line {loop.line} turns depends on the thread: "
                    f"{shown(condition)}. Some threads leave it while others wait at the barrier "
                    f"in line {stop.line}.",
                    loop.line,
                    "Let all threads take the same turns, and guard only loads and stores.",
                )
    return None


def _in_a_branch(kernel: Kernel, function: Statement, stops: Sequence[Statement]) -> Said | None:
    """A barrier under an if, in a helper or by a call of one."""
    text = kernel.text
    for stop in stops:
        for branch in text.above(stop):
            if branch.kind == "if" and _is_of_thread(kernel, branch.words, stop):
                what = "This __syncthreads()" if stop.has("__syncthreads", "(") else "This barrier"
                return Said(
                    f"{what} is inside if ({shown(branch.words)}): threads for "
                    "which that is false never come to it.",
                    stop.line,
                    "Let every thread of the block reach each __syncthreads().",
                )
    return None


def _is_of_thread(kernel: Kernel, words: Sequence[str], near: Statement) -> bool:
    """Whether it names the thread, or what comes from it."""
    text = kernel.text
    function = text.function_of(near)
    parameters = set(text.parameters(function)) if function is not None else set()
    waiting, seen = set(words), set[str]()
    for _ in range(_DEEPEST):
        if "threadIdx" in waiting:
            return True
        following: set[str] = set()
        for name in waiting - seen - _NO_NAMES:
            known = text.declaration(name, near) if name.isidentifier() else None
            if known is not None:
                following |= set(known[1])
            elif name in parameters and function is not kernel.function:
                following |= _given_for(text, function, name)
        seen |= waiting
        waiting = following
    return False


def _given_for(text: Listing, function: Statement, name: str) -> set[str]:
    """The words that calls of a helper give for a parameter."""
    at = text.parameters(function).index(name)
    found: set[str] = set()
    for item, given in _calls(text, function_name(function)):
        if at < len(given):
            found |= set(given[at])
            for word in given[at]:
                known = text.declaration(word, item) if word.isidentifier() else None
                found |= set(known[1]) if known is not None else set()
    return found


def _calls(text: Listing, name: str) -> Iterator[tuple[Statement, list[tuple[str, ...]]]]:
    for item in text.statements:
        if item.kind == "simple":
            for given in calls(item, name):
                yield item, given
