"""template <class... Args>: a function for as many arguments as a call has, made when it is called."""

from __future__ import annotations

from dataclasses import replace as replaced

from grader.judging.repair.nodes import APART, MADE, File, Function, Node, finish, replace, walk
from grader.judging.repair.reading import GivenUp

_MOST = 32
_EMPTY = {"&&": "1", "||": "0", ",": "0"}  # what a fold of nothing is


def of_pack(file: File, function: Function, count: int) -> Function:
    """The function for `count` arguments in all."""
    if not function.pack:
        return function
    many = count - (len(function.parameters) - 1)
    if not 0 <= many <= _MOST:
        raise GivenUp("arguments")
    key = function.name, many
    if key not in file.packs:
        kind, pack = function.parameters[-1]
        own = [(kind, of_many(pack, at)) for at in range(many)]
        body = expanded(function.body, pack, many)
        finish(body)
        file.packs[key] = replaced(
            function, name=f"{function.name}{APART}{many} of many", body=body, pack="",
            parameters=[*function.parameters[:-1], *own], declared=None,
        )  # fmt: skip
    return file.packs[key]


def of_numbers(file: File, function: Function, many: int) -> Function:
    """The function for 0, 1, 2 up to `many`."""
    if not 0 <= many <= 2 * _MOST:
        raise GivenUp("numbers")
    key = function.name, "numbers", many
    if key not in file.packs:
        body = expanded(function.body, function.numbers, many)
        numbers = {of_many(function.numbers, at): at for at in range(many)}
        for node in walk(body):
            if node.kind == "name" and node.text in numbers:
                node.kind, node.text, node.macro = "number", str(numbers[node.text]), ""
        finish(body)
        file.packs[key] = replaced(
            function, name=f"{function.name}{APART}{many} numbers", body=body, numbers="",
            templates=[one for one in function.templates if one != function.numbers], declared=None,
        )  # fmt: skip
    return file.packs[key]


def of_many(pack: str, at: int) -> str:
    return f"{pack}{APART}{at}"


def expanded(node: Node, pack: str, many: int) -> Node:
    """A tree in which so many arguments stand for the pack."""
    if node.kind == "fold":
        return _folded(node, pack, many)
    if node.kind == "count of pack":
        return replace(node, kind="number", text=str(many), kids=[])

    def listed(kids: list) -> list:
        found: list = []
        for kid in kids:
            if kid.__class__ is list:
                found.append(listed(kid))
            elif kid is None:
                found.append(None)
            elif kid.kind == "expand":
                found += [expanded(_one(kid.kids[0], pack, at), pack, many) for at in range(many)]
            else:
                found.append(expanded(kid, pack, many))
        return found

    return replace(node, kids=listed(node.kids), code=None)


def _one(node: Node, pack: str, at: int) -> Node:
    """What a pattern is for one of them."""
    if node.kind == "name" and node.text == pack:
        return replace(node, text=of_many(pack, at), macro=pack)
    kids = [
        [_one(one, pack, at) for one in kid] if kid.__class__ is list
        else _one(kid, pack, at) if kid is not None else None
        for kid in node.kids
    ]  # fmt: skip
    return replace(node, kids=kids, code=None)


def _folded(node: Node, pack: str, many: int) -> Node:
    first, pattern = node.kids
    if first is not None and any(one.text == pack for one in walk(first)):
        first, pattern = pattern, first  # (args + ... + 0)
    items = [expanded(_one(pattern, pack, at), pack, many) for at in range(many)]
    if first is not None:
        items.insert(0, expanded(first, pack, many))
    if not items:
        return replace(node, kind="number", text=_EMPTY.get(node.text, "0"), kids=[])
    found = items[0]
    for at, item in enumerate(items[1:], 1):
        kind = "comma" if node.text == "," else "binary"
        found = replace(node, kind=kind, kids=[found, item], key=MADE * 2 + node.key * 64 + at)
    return found
