"""Other changes that make a file right as well: which is to be named, or named beside the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.repair.nodes import File, Function, Node, children, replace, walk
from grader.judging.repair.on_host import is_of_host
from grader.judging.repair.scope import Edit, bare, binary
from grader.judging.repair.shown import text_of

_MOST = 4


def definition_of(file: File, edit: Edit) -> Edit | None:
    """For `b += step * n` in place of `b += step`, and <= for <: the same where the value comes from.

    A step that is used once and has a name of its own is wrong where it is computed, and an end from
    which something was taken away is wrong there.
    """
    node = edit.where
    function = file.functions.get(edit.function) or file.methods.get(edit.function)
    if function is None or not is_of_its_place(edit):
        return None
    changed = edit.changes[0][1](node)
    if node.kind == "name" and changed.kind == "binary":
        return _in_its_definition(edit, function, node, changed)
    if node.kind == "binary" and (node.text, changed.text) in (("<", "<="), (">", ">=")):
        given = _given_once(function, node.kids[1])
        value = given.kids[1] if given is not None else None
        if value is None or value.kind != "binary" or value.text not in "+-":
            return None
        return _with_value(edit, given, value.kids[0])
    if node.kind != "assign" or node.text not in ("+=", "-=") or changed.text != node.text:
        return None
    step, term = node.kids[1], changed.kids[1]
    if term.kind != "binary" or term.kids[0] is not step:
        return None
    given = _given_once(function, step)
    if given is None:
        return None
    return _with_value(edit, given, binary(term.text, given.kids[1], term.kids[1]))


def _in_its_definition(edit: Edit, function: Function, name: Node, changed: Node) -> Edit | None:
    """n * n for n, where n is given a value for this alone."""
    given = _given_once(function, name)
    if given is None:
        return None
    value = given.kids[1]
    if not is_of_host(function) and value.kind != "name":
        return None
    parts = [value if kid.text == name.text else kid for kid in changed.kids]
    return _with_value(edit, given, binary(changed.text, *parts))


def without_the_old(edit: Edit) -> Edit | None:
    """r for ph + r in place of ph, if that is right as well."""
    node = edit.where
    if node.kind not in ("name", "member", "number") or not is_of_its_place(edit):
        return None
    changed = edit.changes[0][1](node)
    if changed.kind != "binary" or changed.text not in "+*" or changed.kids[1].kind == "number":
        return None
    if text_of(changed.kids[0]) != text_of(node):
        return None
    return Edit(
        ((node.id, lambda n, o=changed.kids[1]: o),), edit.line, edit.cost, edit.function, node
    )


def is_of_its_place(edit: Edit) -> bool:
    """Whether nothing is changed but what the edit stands for: not so of a statement put into a loop."""
    return len(edit.changes) == 1 and edit.changes[0][0] == edit.where.id


def _given_once(function: Function, name: Node) -> Node | None:
    """Where a variable that is used once has its value from."""
    inside = list(walk(function.body))
    given = [one for one in inside if one.kind == "declare" and one.text == name.text]
    used = [one for one in inside if one.kind == "name" and one.text == name.text]
    if name.kind != "name" or len(given) != 1 or len(used) != 1:
        return None
    return None if given[0].kids[0] or given[0].kids[1] is None else given[0]


def _with_value(edit: Edit, given: Node, value: Node) -> Edit:
    def changed(one: Node) -> Node:
        return replace(bare(one), kids=[None, value])

    return Edit(((given.id, changed),), given.line, edit.cost, edit.function, given)


def calls_of(file: File, edit: Edit) -> Iterator[Edit]:
    """For two parameters of a helper that change places in it: its calls, with the arguments exchanged.

    A helper that is given (row, col) and counts row * width + col does what it says.
    """
    function = file.functions.get(edit.function)
    if function is None or function.is_kernel or function.name == "solve":
        return
    names = [name for _, name in function.parameters]
    exchanged = _exchanged(edit, names)
    if len(exchanged) != 2 or exchanged[0] > exchanged[1]:
        return
    one, two = exchanged
    calls = [
        (other, node)
        for other in [*file.functions.values(), *file.methods.values()]
        for node in walk(other.body)
        if node.kind == "call" and node.kids[0].text == function.called
    ]
    for other, node in calls[:_MOST]:
        if len(node.kids) <= 1 + two:
            continue

        def swapped(n: Node) -> Node:
            kids = list(n.kids)
            kids[1 + one], kids[1 + two] = kids[1 + two], kids[1 + one]
            return replace(bare(n), kids=kids)

        yield Edit(((node.id, swapped),), node.line, edit.cost, other.name, node)


def _exchanged(edit: Edit, names: list[str]) -> list[int]:
    """Which parameters an edit has in each other's place, in the order in which the text names them."""
    changes = dict(edit.changes)
    before = [one.text for one in walk(edit.where) if one.kind == "name" and one.text in names]
    after = [one.text for one in _walk_changed(edit.where, changes) if one.text in names]
    differ = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
    if len(before) != len(after) or len(differ) != 2 or differ[0] != differ[1][::-1]:
        return []
    return [names.index(differ[0][0]), names.index(differ[0][1])]


def _walk_changed(node: Node, changes: dict) -> Iterator[Node]:
    """The names in a node, as an edit makes it."""
    change = changes.get(node.id)
    if change is not None:
        node = change(node)
    if node.kind == "name":
        yield node
    for kid in children(node):
        yield from _walk_changed(kid, changes)


def turned_elsewhere(edit: Edit, others: Sequence[Edit]) -> Iterator[Edit]:
    """For two indices exchanged: the same of that array in other lines (stored turned or read turned)."""
    array = turned(edit)
    if not array:
        return
    count = 0
    for other in others:
        if other.line != edit.line and turned(other) == array and count < _MOST:
            count += 1
            yield other


def follows_factors(file: File, edit: Edit) -> bool:
    """Whether the two indices stand as they do in the product: sum[r][c] += m[r] * n[c]."""
    function = file.functions.get(edit.function) or file.methods.get(edit.function)
    for node in walk(function.body) if function is not None else ():
        if node.kind != "assign" or node.kids[0] is not edit.where:
            continue
        if node.kids[1].kind != "binary" or node.kids[1].text != "*":
            continue
        first, second = edit.where.kids[0].kids[1], edit.where.kids[1]
        left, right = ({text_of(one) for one in walk(kid)} for kid in node.kids[1].kids)
        rows, columns = text_of(first), text_of(second)
        return rows in left and columns in right and not (rows in right or columns in left)
    return False


def turned(edit: Edit) -> str:
    """The array whose two indices an edit exchanges."""
    node = edit.where
    if node.kind != "index" or node.kids[0].kind != "index" or not is_of_its_place(edit):
        return ""
    changed = edit.changes[0][1](node)
    if changed.kind != "index" or changed.kids[1] is not node.kids[0].kids[1]:
        return ""
    base = node.kids[0].kids[0]
    return base.text if base.kind in ("name", "member") else ""


def odd_ones(file: File, edit: Edit) -> Iterator[Edit]:
    """For an index that other arrays have in the same place, too: the one index that differs from them.

    Where tiles of two stages are filled and read with [ph % 2] and one with [(ph + 1) % 2], it is that one.
    """
    function = file.functions.get(edit.function) or file.methods.get(edit.function)
    if function is None or len(edit.changes) != 1:
        return
    shared = {
        one.text: len(one.kids[0])
        for one in walk(function.body)
        if one.kind == "declare" and one.type.is_shared and one.kids[0]
    }
    found: dict[tuple[int, int], list[Node]] = {}
    mine = None
    for node in walk(function.body):
        place = _place(node, shared)
        if place is not None:
            found.setdefault(place, []).append(node.kids[1])
            if edit.where is node.kids[1] or edit.where.id in node.kids[1].ids:
                mine = place, node.kids[1]
    if mine is None:
        return
    text = text_of(mine[1])
    others = [one for one in found[mine[0]] if one is not mine[1]]
    odd = [one for one in others if text_of(one) != text]
    if len(odd) != 1 or len(others) - len(odd) < 2 or mine[1].kind in ("name", "number"):
        return
    value = mine[1]
    yield Edit(
        ((odd[0].id, lambda n: replace(bare(n), **_as(value))),), odd[0].line, edit.cost,
        edit.function, odd[0],
    )  # fmt: skip


def as_declared(file: File, edit: Edit) -> Iterator[Edit]:
    """For a pitch put in place of the one that the array is declared with: the other indices of it.

    Where float t[T * PITCH] is filled at r * T + c and read at c * PITCH + r, the first is wrong.
    """
    function = file.functions.get(edit.function) or file.methods.get(edit.function)
    node = edit.where
    if function is None or not is_of_its_place(edit) or node.kind not in ("name", "number"):
        return
    before, after = _called(node), _called(edit.changes[0][1](node))
    inside = list(walk(function.body))
    places = [one for one in inside if one.kind == "index" and one.kids[0].kind == "name"]
    array = next((one.kids[0].text for one in places if node.id in one.kids[1].ids), "")
    pitches = {
        _called(size.kids[1])
        for declared in inside
        if declared.kind == "declare" and declared.text == array
        for size in declared.kids[0] or ()
        if size is not None and size.kind == "binary" and size.text == "*"
    }
    if not after or before == after or pitches != {before}:
        return
    for place in places:
        if place.kids[0].text != array or node.id in place.kids[1].ids:
            continue
        for one in walk(place.kids[1]):
            if one.kind in ("name", "number") and _called(one) == after:
                value = replace(bare(node))
                yield Edit(
                    ((one.id, lambda n, v=value: bare(v)),), one.line, edit.cost, edit.function, one
                )  # fmt: skip


def _called(node: Node) -> str:
    return (node.macro or node.text) if node.kind in ("name", "number") else ""


def _as(value: Node) -> dict:
    return {"kind": value.kind, "text": value.text, "kids": value.kids, "macro": value.macro}


def _place(node: Node, shared: dict[str, int]) -> tuple[int, int] | None:
    """Of an index of a shared array: how many it has, and which one it is."""
    if node.kind != "index":
        return None
    base, at = node.kids[0], 0
    while base.kind == "index":
        base, at = base.kids[0], at + 1
    sides = shared.get(base.text, 0) if base.kind == "name" else 0
    return (sides, at) if sides > 1 else None
