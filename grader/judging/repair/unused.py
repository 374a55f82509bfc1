"""Names that are declared and never used: what was forgotten is often one of them."""

from __future__ import annotations

from grader.judging.repair.nodes import File, Function, walk

UNUSED = 0.4  # how much nearer a change is that uses one


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
