"""Names that are declared and never used: what was forgotten is often one of them.

And names that are used once: a change that leaves one without a use is seldom meant.
"""

from __future__ import annotations

from collections import Counter

from grader.judging.repair.nodes import File, Function, Node, walk

UNUSED = 0.4  # how much nearer a change is that uses one
_NAMES = ("name", "number")
LEFT_UNUSED = 0.8  # how much farther one is that leaves one


def unused_in(function: Function) -> frozenset[str]:
    """Its parameters and variables."""
    own = {name for _, name in function.parameters if name}
    own |= {one.text for one in walk(function.body) if one.kind == "declare"}
    return frozenset(own - _used_in(function))


def unused_of(file: File) -> frozenset[str]:
    """Constants and variables of the file that no function uses."""
    used: set[str] = set()
    for function in (*file.functions.values(), *file.methods.values()):
        used |= _used_in(function)
    return frozenset({node.text for block in file.globals for node in block.kids} - used)


def _used_in(function: Function) -> set[str]:
    return {one.text for one in walk(function.body) if one.kind == "name"}


def used_once_in(file: File, function: Function) -> set[str]:
    """Variables of the function, parameters of a helper, constants and macros of the file."""
    here = _uses(function.body)
    own = {one.text for one in walk(function.body) if one.kind == "declare"}
    if not function.is_kernel and function.name != "solve":
        own |= {name for _, name in function.parameters}
    bodies = [one.body for one in (*file.functions.values(), *file.methods.values())]
    anywhere = sum((_uses(body) for body in (*bodies, *file.globals)), Counter())
    of_file = {node.text for block in file.globals for node in block.kids}
    of_file |= {one.macro for one in walk(function.body) if one.macro}
    of_file |= set(file.parameters.get(function.owner) or ())
    return {name for name in own if here[name] == 1} | {
        name for name in of_file - own if here[name] == 1 and anywhere[name] == 1
    }


def _uses(body: Node) -> Counter[str]:
    """How often each is read."""
    written = {id(one.kids[0]) for one in walk(body) if one.kind == "assign"}
    names = (one for one in walk(body) if one.kind in _NAMES and id(one) not in written)
    return Counter(one.macro or one.text for one in names)
