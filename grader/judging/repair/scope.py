"""What an edit is, and what may be named where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.judging.repair.nodes import File, Function, Node, Type, children, replace, walk

Change = Callable[[Node], Node]
ALWAYS = "always"  # in place of a condition that is left out


@dataclass(frozen=True)
class Edit:
    """`line` is where it is to be done; `cost`: how far-fetched it is."""

    changes: tuple[tuple[tuple[int, str], Change], ...]
    line: int
    cost: float
    function: str
    where: Node  # the smallest thing that it changes
    missing: str = ""  # a statement that it adds, and where; ALWAYS: one that it leaves out
    is_added: bool = False  # a statement is missing, and nothing else is changed
    says: str = ""  # a whole sentence, where "with it P would be right" is not what is to be said
    is_declaring: bool = False  # it declares what others beside it have of their own


@dataclass(frozen=True)
class Scope:
    """What may be named in a function."""

    integers: tuple[str, ...]
    pointers: tuple[str, ...]
    floats: tuple[str, ...]
    constants: tuple[str, ...]
    first: dict[str, int]  # where each is declared
    types: dict[str, Type]
    sizes: frozenset[str]  # integers that are the same for all threads and turns
    structs: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


def scope_of(file: File, function: Function) -> Scope:
    types: dict[str, Type] = {name: kind for kind, name in function.parameters if name}
    first = {name: 0 for name in types}
    arrays = set()
    for node in walk(function.body):
        if node.kind == "declare":
            types.setdefault(node.text, node.type)
            first.setdefault(node.text, node.line)
            if node.kids[0]:
                arrays.add(node.text)
        for kind, name in node.given:
            types.setdefault(name, kind)
            first.setdefault(name, node.line)
    for kind, name in file.structs.get(function.owner, ()):  # fields
        if name not in types:
            types[name], first[name] = kind, 0
            if (function.owner, name) in file.lengths:
                arrays.add(name)
    for name in function.templates:
        if name in function.kinds:
            continue
        types[name] = Type("int", is_constant=True)
        first[name] = 0
    for name in _numbers_of_struct(file, function):
        types.setdefault(name, Type("int", is_constant=True))
        first.setdefault(name, 0)
    for block in file.globals:
        for node in block.kids:
            types.setdefault(node.text, node.type)
            first.setdefault(node.text, 0)
            if node.kids[0]:
                arrays.add(node.text)
    integers = [
        n
        for n, k in types.items()
        if " " not in n and k.name in ("int", "auto") and not k.stars and n not in arrays
    ]
    floats = [n for n, k in types.items() if k.name == "float" and not k.stars and n not in arrays]
    kinds = {"float", "int", *file.structs}
    pointers = [n for n, k in types.items() if (k.stars and k.name in kinds) or n in arrays]
    structs = [n for n, k in types.items() if k.name in file.structs and not k.stars]
    conditions = [
        n for n, k in types.items() if k.name == "bool" and not k.stars and n not in arrays
    ]
    changing: set[str] = set()
    for node in walk(function.body):
        if node.kind == "declare" and not (node.type.is_constant and _is_size(node, changing)):
            changing.add(node.text)
    sizes = frozenset(
        n for n in integers if n not in changing or (types[n].is_constant and first[n] == 0)
    )
    macros = dict.fromkeys(
        node.macro for node in walk(function.body) if node.kind == "number" and node.macro
    )
    return Scope(
        tuple(integers), tuple(pointers), tuple(floats), tuple(macros), first, types,
        sizes, tuple(structs), tuple(conditions),
    )  # fmt: skip


def _is_size(node: Node, changing: set[str]) -> bool:
    """Whether a constant is counted from nothing that differs from thread to thread."""
    names = {one.text for one in walk(node) if one.kind == "name"}
    return names.isdisjoint({*changing, "threadIdx", "blockIdx"})


def _numbers_of_struct(file: File, function: Function) -> list[str]:
    """Parameters of a struct template that lengths or its methods count with: no types."""
    names = file.parameters.get(function.owner) or []
    lengths = [
        one
        for (owner, _), sizes in file.lengths.items()
        if owner == function.owner
        for one in sizes
        if one is not None
    ]
    counted = {n.text for one in lengths for n in walk(one) if n.kind == "name"}
    counted |= {
        kid.text
        for n in walk(function.body)
        if n.kind == "binary"
        for kid in n.kids
        if kid.kind == "name"
    }
    return [name for name in names if name in counted]


def visible_at(body: Node) -> dict[int, frozenset[str]]:
    """For each node, by its id(), the names declared so far in the blocks around it."""
    found: dict[int, frozenset[str]] = {}

    def enter(node: Node, names: frozenset[str]) -> frozenset[str]:
        """The names after it."""
        found[id(node)] = names
        if node.kind == "declare":
            for kid in children(node):
                enter(kid, names)
            return names | {node.text}
        inner = names | {name for _, name in node.given}
        # A declaration of several variables is a block, too.
        is_list = node.kind == "block" and all(kid.kind == "declare" for kid in node.kids)
        for kid in children(node):
            inner = enter(kid, inner)
        return inner if is_list or node.kind == "do" else names

    enter(body, frozenset())
    return found


def number(value: int) -> Node:
    return Node("number", text=str(value))


def named(name: str) -> Node:
    return Node("name", text=name)


def bare(node: Node) -> Node:
    """The node without its place, so that no edit finds it again."""
    ids, origin = node.ids - {node.id}, node.origin or node.id
    return replace(node, key=-1, code=None, is_narrow=None, ids=ids, origin=origin)


def binary(sign: str, left: Node, right: Node) -> Node:
    return Node("binary", [left, right], sign, left.line)
