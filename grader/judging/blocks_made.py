"""Where the size of a block is written down: at a declaration, in a helper, a table or a constant."""

from __future__ import annotations

from grader.judging.constants import definition
from grader.judging.host import Host, Launch, plain_name
from grader.judging.host_launch import block_of
from grader.judging.plans.origin import Origins
from grader.judging.wording import names_in
from grader.labs.statements import Listing


def made(text: Listing, host: Host, launch: Launch) -> tuple[int, tuple[str, ...]]:
    """(line, words) of what would be changed to launch another number of threads."""
    line, words = block_of(text, launch)
    if len(launch.settings) < 2:
        return line, words
    near = text.statements[launch.number]
    sides = Origins(text, host.solve, ()).sides(launch.settings[1], near, launch.line)
    if sides:
        line = sides[0].line
        words = tuple(word for one in sides for word in (*one.words, ","))[:-1]
    known = [definition(text, name) for one in sides for name in names_in(one.words)]
    is_named = all(_is_one_name(one.words) for one in sides)
    names = {name for one in sides for name in names_in(one.words)}
    if known and is_named and all(known) and not any(_is_of_device(text, one) for one in names):
        lines = {one[0] for one in known}
        if len(lines) == 1 and (len(names) == 1 or len(sides) == 1):
            return known[0]
    return line, words


def shaped(text: Listing, origins: Origins, launch: Launch) -> int:
    """The line in which a block of one side lacks another: an integer says nothing of its shape."""
    near = text.statements[launch.number]
    sides = origins.sides(launch.settings[1], near, launch.line) if launch.settings[1:] else []
    name = plain_name(launch.settings[1]) if sides else ""
    known = text.declaration(name, near) if name else None
    made = text.at(known[0]) if known is not None else []
    is_integer = bool(made) and not any({"dim3", "auto"} & {*one.words} for one in made)
    return sides[0].line if sides and not is_integer else launch.line


def lacking_side(text: Listing, host: Host, launch: Launch, axis: str) -> int:
    """The same, where the block has no side along an axis; 0 where it has one."""
    if not launch.settings[1:]:
        return 0
    origins = Origins(text, host.solve, ())
    near = text.statements[launch.number]
    sides = origins.sides(launch.settings[1], near, launch.line)
    lacks = 0 < len(sides) <= "xyz".find(axis)
    return shaped(text, origins, launch) if lacks else 0


def _is_one_name(words: tuple[str, ...]) -> bool:
    """THREADS, or an element of a table: SIDES[1]."""
    return len(names_in(words)) == 1 and (len(words) == 1 or words[1:2] == ("[",))


def _is_of_device(text: Listing, name: str) -> bool:
    """Whether kernels or their helpers use a constant: then it is what they are made for."""
    return any(
        name in item.words
        for function in text.functions()
        if {"__global__", "__device__"} & set(function.words)
        for item in (function, *text.inside(function))
    )
