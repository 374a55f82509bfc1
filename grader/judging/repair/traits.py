"""What can be said of a change before it is tried: of what kind it is, of what, and where it stands.

How much each of these is worth was measured (likelihood.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.alike import alike
from grader.judging.repair.edits import Editor
from grader.judging.repair.nodes import Node
from grader.judging.repair.scope import Change, Edit

_STATEMENTS = (
    "declare",
    "assign",
    "if",
    "for",
    "dowhile",
    "launch",
    "return",
    "call",
    "make",
    "braces",
)
_STEP = 0.1
_BINS, _WIDTH = 12, 0.25


def of_cost(cost: float) -> str:
    return f"{round(cost / _STEP) * _STEP:.1f}"


def offered_by(change: Change) -> str:
    """The function of this package that offers such changes."""
    code = getattr(change, "__code__", None)
    if code is None:
        return getattr(change, "__name__", "")
    return code.co_qualname.split(".<locals>")[0].split(".")[-1]


def traits(edit: Edit, editor: Editor, distance: float, why: str) -> Iterator[str]:
    """`distance` of its line (nearness.py); `why`: the fault that ended the run, if one did."""
    node, change = edit.where, edit.changes[0][1]
    kind = offered_by(change)
    if len(edit.changes) > 1:
        kind += " twice"
    near = min(round(distance / _WIDTH), _BINS)
    yield kind
    yield f"{kind} {of_cost(edit.cost)}"
    yield f"near {near}"
    yield f"{why or 'wrong'}: {kind}"
    yield f"{why or 'wrong'}: near {near}"
    above, below = editor._parent(node), node
    yield f"{node.kind} in {above.kind} {above.text if above.kind in ('binary', 'assign') else ''}"
    while above is not below and above.kind not in _STATEMENTS:
        above, below = editor._parent(above), above
    yield f"{kind} in {above.kind} {_place(above, below)}"
    if editor.is_host:
        yield f"host: {kind}"
        yield "host"
    elif not editor.function.is_kernel:
        yield "helper"
    if node.kind == "name" and len(edit.changes) == 1:
        yield from _of_names(node, change(node), editor)
    elif node.kind == "number" and len(edit.changes) == 1:
        yield from _of_numbers(node, change(node))


def _place(above: Node, below: Node) -> str:
    """Which part of a loop, an assignment or a declaration."""
    if above.kind in ("for", "assign", "declare", "if", "launch"):
        for at, kid in enumerate(above.kids):
            if kid is below or (kid.__class__ is list and any(one is below for one in kid)):
                return str(at)
    return ""


def _of_names(node: Node, other: Node, editor: Editor) -> Iterator[str]:
    if other.kind != "name":
        yield f"name to {other.kind}"
        return
    one, two, scope = node.text, other.text, editor.scope
    yield "alike" if alike(one, two) else "not alike"
    yield f"lengths {min(len(one), 4) == min(len(two), 4)}"
    if one[:1] == two[:1] and len(one) > 1:
        yield "begin alike"
    elif one[-1:] == two[-1:] and len(one) > 1:
        yield "end alike"
    lines = scope.first.get(one), scope.first.get(two)
    if None not in lines:
        apart = abs(lines[0] - lines[1])
        yield f"declared {apart if apart < 3 else 'far'} {'given' if not max(lines) else ''}"
    yield f"{_group(one, editor)} to {_group(two, editor)}"
    used = editor.used_names
    yield f"used {min(used[two], 4)}"
    line = editor.names_of_lines.get(node.line, ())
    yield f"there {two in line}"


def _group(name: str, editor: Editor) -> str:
    if name in editor.scope.constants:
        return "constant"
    if name in editor.given:
        return "given"
    kind = "size" if name in editor.scope.sizes else ""
    return kind + ("integer" if name in editor.scope.integers else "other")


def _of_numbers(node: Node, other: Node) -> Iterator[str]:
    if other.kind != "number" or not other.text.isdigit() or not node.text.isdigit():
        yield f"number to {other.kind}"
        return
    one, two = int(node.text), int(other.text)
    by = two - one
    if abs(by) == 1:
        said = f"by {by}"
    elif one and two == 2 * one:
        said = "twice"
    elif two and one == 2 * two:
        said = "half"
    elif not two:
        said = "to 0"
    elif not one:
        said = "from 0"
    else:
        said = "other"
    yield f"number {said}"
    yield f"number {said} {'macro' if other.macro else ''} {'of macro' if node.macro else ''}"
    yield f"number {one if one < 5 else 'more'}"
