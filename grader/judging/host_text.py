"""Slips of solve and its helpers that their text alone shows: where a finding says that something is wrong."""

from __future__ import annotations

from grader.judging.host import Said, launches_of, plain_name
from grader.judging.host_launch import is_rounded_up
from grader.judging.wording import calls, names_in, value
from grader.labs.statements import Listing, Statement, function_name, shown

_COMPARES = ("<", "<=", ">", ">=", "!=")


def field_of_another(text: Listing) -> Said | None:
    """host.right = left in a helper that is given right, too, and never uses it."""
    for function in text.functions():
        if {"__global__", "__device__"} & set(function.words) or function_name(function) == "solve":
            continue
        names = text.parameters(function)
        inside = text.inside(function)
        unused = [
            name
            for name in names
            if name
            and function.words.count(name) == 1
            and not any(_uses(item, name) for item in inside)
        ]
        for name in unused:
            for item in inside:
                at = item.words.index("=") if "=" in item.words else 0
                of = item.words[at - 1] if at > 1 else ""
                given = item.words[at + 1 : -1]
                if of.strip("_") != name or len(given) != 1 or given[0] not in names:
                    continue
                return Said(
                    f"{shown(item.words[:at])} gets {given[0]}; {name}, which "
                    f"{function_name(function)}() is given as well, is never used.",
                    item.line,
                    f"Give it {name}.",
                )
    return None


def unused_input(text: Listing, body: list[Statement], inputs: list[str]) -> Said | None:
    """An input that solve never names, while it names another one twice."""
    absent = [name for name in inputs if not any(name in item.words for item in body)]
    if len(absent) != 1 or len(inputs) < 2:
        return None
    for name in inputs:
        places = [
            item.lines[at] for item in body for at, word in enumerate(item.words) if word == name
        ]
        calls_with = [item for item in body if name in item.words and "(" in item.words]
        if name == absent[0] or len(places) < 2 or len(calls_with) < min(2, len(set(places))):
            continue
        return Said(
            f"solve never uses {absent[0]}; {name} is used a second time here.",
            places[-1],
            f"Is {absent[0]} meant?",
        )
    return None


def _uses(item: Statement, name: str) -> bool:
    """Whether a statement has a name that is no field's."""
    return any(
        word == name and item.words[at - 1 : at] not in ((".",), ("->",))
        for at, word in enumerate(item.words)
    )


def set_after_symbol(text: Listing) -> Said | None:
    """A field that gets its value only after the struct has been copied to the device."""
    for item in text.statements:
        for given in calls(item, "cudaMemcpyToSymbol"):
            name = plain_name(given[1]) if len(given) > 1 else ""
            function = text.function_of(item)
            if not name or function is None or text.loops(item):
                continue
            for later in text.inside(function):
                if later.number > item.number and later.words[:2] == (name, "."):
                    if later.words[3:4] != ("=",):
                        continue
                    return Said(
                        f"{name}.{later.words[2]} gets its value in line {later.line}, after "
                        f"{name} has been copied to the device here: the kernel finds the old one.",
                        item.line,
                        "Copy it when all its fields are set.",
                    )
    return None


def copied_after_launch(text: Listing) -> Said | None:
    """A symbol that gets its values only when the kernel that reads it has been launched."""
    for function in text.functions():
        items = text.inside(function)
        launches = [item for item in items if launches_of(text, item)]
        copies: dict[str, Statement] = {}
        for item in items:
            for given in calls(item, "cudaMemcpyToSymbol"):
                copies.setdefault(plain_name(given[0]) if given else "", item)
        for name, item in copies.items():
            if not name or not launches or text.loops(item):
                continue
            if all(launch.number < item.number for launch in launches):
                return Said(
                    f"{name} is copied to the device here, after the launch in line "
                    f"{launches[-1].line}: the kernel finds what was there before.",
                    item.line,
                    "Copy it before the launch.",
                )
    return None


def never_launched(text: Listing, body: list[Statement], sizes: dict[str, str]) -> Said | None:
    """A loop that launches, and has no turn: its pieces are rounded down, or its condition fails."""
    launching = {
        function_name(function)
        for function in text.functions()
        if any(launches_of(text, item) for item in text.inside(function))
    }
    for item in body:
        if not (launches_of(text, item) or launching & set(item.words)):
            continue
        for loop in text.loops(item):
            condition = loop.parts[1] if loop.kind == "for" and len(loop.parts) == 3 else ()
            for name in names_in(condition):
                line, words = text.declaration(name, loop) or (0, ())
                if "/" in words and not is_rounded_up(words):
                    return Said(
                        f"{name} = {shown(words)} is rounded down, to 0 where there is less "
                        f"than one piece: then the loop of line {loop.line}, which launches, "
                        "has no turn.",
                        line,
                        "Round up: (whole + piece - 1) / piece.",
                    )
            said = _no_turn(loop, {**text.constants, **sizes})
            if said is not None:
                return said
    return None


def rounded_with_another(text: Listing, known: dict[str, str]) -> Said | None:
    """(w + block.y - 1) / rows: rounded up with one number, and divided by another one."""
    found = []
    for item in text.statements:
        if item.kind != "simple":
            continue
        for at, word in enumerate(item.words[:-1]):
            if word != "/" or at < 5 or item.words[at - 3 : at] != ("-", "1", ")"):
                continue
            plus = max((i for i in range(at) if item.words[i] == "+"), default=-1)
            added, by = item.words[plus + 1 : at - 3], _divisor(item.words, at + 1)
            if plus < 1 or not added or not by or added == by:
                continue
            numbers = (value(added, known), value(by, known))
            if None not in numbers and numbers[0] >= numbers[1]:
                continue
            if any(word in ("(", ")") for word in added):
                continue
            found.append((item, added, by))
    if len(found) != 1:
        return None
    item, added, by = found[0]
    return Said(
        f"This is rounded up with {shown(added)} - 1, and divided by {shown(by)}: where the two "
        "differ, a rest is left out.",
        item.line,
        f"Write + {shown(by)} - 1.",
    )


def _divisor(words: tuple[str, ...], at: int) -> tuple[str, ...]:
    """rows, or block.y."""
    end = at + 1
    while end + 1 < len(words) and words[end] in (".", "->", "::"):
        end += 2
    return words[at:end] if words[at].isidentifier() or words[at].isdigit() else ()


def _no_turn(loop: Statement, known: dict[str, str]) -> Said | None:
    """A for loop whose condition is false from the start."""
    if loop.kind != "for" or len(loop.parts) != 3 or "=" not in loop.parts[0][1:]:
        return None
    head, condition, _ = loop.parts
    name, start = head[head.index("=") - 1], value(head[head.index("=") + 1 :], known)
    signs = [at for at, word in enumerate(condition) if word in _COMPARES]
    if start is None or len(signs) != 1:
        return None
    known = {**known, name: str(start)}
    left, right = value(condition[: signs[0]], known), value(condition[signs[0] + 1 :], known)
    if left is None or right is None:
        return None
    holds = {
        "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right,
        "!=": left != right,
    }[condition[signs[0]]]  # fmt: skip
    if holds:
        return None
    return Said(
        f"The loop that launches has no turn here: with {name} = {start}, {shown(condition)} is "
        f"{left} {condition[signs[0]]} {right}, which is false.",
        loop.line,
        "The last piece may be smaller than the others.",
    )
