"""Where a wrong sum has all its terms, no change is right that lets the loop of its terms turn more often.

Such changes (a factor more in a loop's bound, another name in its step) are many, and the dearest to
try: each turn more is a phase more.
"""

from __future__ import annotations

from collections.abc import Collection

from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.trial import loops_in


def loops_of_terms(file: File, adding: Collection[int]) -> frozenset[tuple[int, str]]:
    """Of a kernel: those that add products, and are in no other such loop. `adding`: lines that do."""
    functions = [*file.functions.values(), *file.methods.values()]
    calling: set[str] = set()
    while True:
        more = {one.called for one in functions if _adds(one.body, adding, calling)}
        if more <= calling:
            break
        calling |= more
    found: set[tuple[int, str]] = set()
    for function in functions:
        if function.is_kernel:
            loops = [one for one in loops_in(function.body) if _adds(one, adding, calling)]
            inside = {id(other) for one in loops for other in loops_in(one)}
            found |= {one.loop for one in loops if id(one) not in inside}
    return frozenset(found)


def _adds(node: Node, adding: Collection[int], calling: set[str]) -> bool:
    return any(
        one.line in adding or (one.kind == "call" and _called(one) in calling) for one in walk(node)
    )


def _called(node: Node) -> str:
    target = node.kids[0]
    return target.kids[0].text if target.kind == "template" else target.text
