"""The tree of a parsed file."""

from __future__ import annotations

from dataclasses import dataclass, field

MADE = 1 << 30  # keys above it are of nodes that stand nowhere in the file


@dataclass(eq=False)
class Node:
    """An expression or a statement. `key`: the token that an edit replaces it by."""

    kind: str
    kids: list = field(default_factory=list)
    text: str = ""
    line: int = 0
    key: int = 0
    type: Type | None = None
    ids: frozenset[tuple[int, str]] = frozenset()  # of all that it consists of
    macro: str = ""  # the name that a number was written as
    code: object = None  # compiled, without any edit

    @property
    def id(self) -> tuple[int, str]:
        return self.key, self.kind


@dataclass(frozen=True)
class Type:
    name: str  # "int", "float", "bool", "void", "auto" or a struct's
    stars: int = 0
    is_shared: bool = False
    is_extern: bool = False
    is_reference: bool = False
    is_constant: bool = False
    args: tuple = ()  # nodes: what a struct's template parameters stand for


@dataclass(eq=False)
class Function:
    name: str
    type: Type
    parameters: list[tuple[Type, str]]
    body: Node
    is_kernel: bool
    line: int
    templates: list[str] = field(default_factory=list)
    kinds: frozenset[str] = frozenset()  # template parameters that are types
    defaults: dict[str, Node] = field(default_factory=dict)  # of template parameters
    rest: list[Node] = field(default_factory=list)  # the last parameters, where none are given
    # Template parameters that are the length of an array: (the array, which of its dimensions).
    lengths: dict[str, tuple[str, int]] = field(default_factory=dict)


@dataclass
class File:
    functions: dict[str, Function] = field(default_factory=dict)
    structs: dict[str, list[tuple[Type, str]]] = field(default_factory=dict)
    globals: list[Node] = field(default_factory=list)
    methods: dict[str, Function] = field(default_factory=dict)
    lengths: dict[tuple[str, str], list[Node]] = field(default_factory=dict)  # of a struct's arrays
    statics: dict[str, list[Node]] = field(default_factory=dict)  # constants of a struct
    parameters: dict[str, list[str]] = field(default_factory=dict)  # of a struct template


def finish(node: Node) -> frozenset[tuple[int, str]]:
    """Fills in `ids`, which say what edits a subtree is touched by."""
    ids = {node.id}
    for kid in children(node):
        ids |= finish(kid)
    node.ids = frozenset(ids)
    return node.ids


def children(node: Node) -> list[Node]:
    found = []
    for kid in node.kids:
        if kid.__class__ is list:
            found += [one for one in kid if one is not None]
        elif kid is not None:
            found.append(kid)
    return found


def walk(node: Node):
    """It and all in it, in the order of the text."""
    open_nodes = [node]
    while open_nodes:
        one = open_nodes.pop()
        yield one
        if one.kids:
            open_nodes += reversed(children(one))
