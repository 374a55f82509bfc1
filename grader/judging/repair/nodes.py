"""The tree of a parsed file."""

from __future__ import annotations

from dataclasses import dataclass, field

APART = "/"  # stands in no name
MADE = 1 << 30  # keys above it are of nodes that stand nowhere in the file
GIVEN = ("make", "braces")  # what an object is made of


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
    is_narrow: bool | None = None  # of a loop (narrow.py), once somebody has asked
    origin: tuple[int, str] | None = None  # of an edited node: which one it stands for
    given: tuple = ()  # of a lambda: type and name of each parameter
    pack: str = ""  # of a lambda: the parameter that stands for any number of them

    @property
    def id(self) -> tuple[int, str]:
        return self.key, self.kind

    @property
    def loop(self) -> tuple[int, str]:
        """By which a loop is known; an edited one as what it was made of."""
        return self.origin or self.id


@dataclass(frozen=True)
class Type:
    name: str  # "int", "float", "bool", "void", "auto" or a struct's
    stars: int = 0
    is_shared: bool = False
    is_extern: bool = False
    is_reference: bool = False
    is_constant: bool = False
    args: tuple = ()  # nodes: what a struct's template parameters stand for
    sizes: tuple = ()  # nodes: of typedef float Tile[16][16]
    is_to_rows: bool = False  # a pointer to an array of `sizes`, or another name of one
    is_byte: bool = False  # char and its like: an integer, but a pointer to it counts in bytes
    parameter: str = ""  # the template's parameter that it is
    is_short: bool = False  # 2 bytes without a sign: an integer, as which a bf16 may be seen


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
    owner: str = ""  # the struct whose method it is
    sizes: dict[str, list] = field(default_factory=dict)  # of parameters that are arrays
    is_static: bool = False
    pack: str = ""  # the last parameter, where it stands for any number of them
    numbers: str = ""  # the template parameter that stands for 0, 1, 2 up to what it is given
    special: tuple | None = None  # template <> int f<0>()
    is_implied: bool = False  # a constructor that nobody wrote: it sets what members begin with
    declared: list[Node] | None = None  # declarations in its body, once somebody has asked

    @property
    def called(self) -> str:
        """What the text calls it: `name` tells those of one name apart."""
        return self.name.split(APART)[0]


@dataclass
class File:
    functions: dict[str, Function] = field(default_factory=dict)
    named: dict[str, list[Function]] = field(default_factory=dict)  # by what the text calls them
    structs: dict[str, list[tuple[Type, str]]] = field(default_factory=dict)
    globals: list[Node] = field(default_factory=list)
    methods: dict[str, Function] = field(default_factory=dict)
    of_structs: dict[str, list[Function]] = field(default_factory=dict)  # methods, as `named`
    bases: dict[str, list[str]] = field(default_factory=dict)  # what a struct is derived from
    of_bases: dict[str, list[tuple[str, Node]]] = field(default_factory=dict)  # their parameters
    zeroed: set[tuple[str, str]] = field(
        default_factory=set
    )  # arrays of a struct that begin with 0
    lengths: dict[tuple[str, str], list[Node]] = field(default_factory=dict)  # of a struct's arrays
    statics: dict[str, list[Node]] = field(default_factory=dict)  # constants of a struct
    parameters: dict[str, list[str]] = field(default_factory=dict)  # of a struct template

    # What a struct template's parameters are if nothing is given, and what it is for some numbers.
    defaults: dict[str, dict[str, Node]] = field(default_factory=dict)
    specials: dict[str, list[tuple]] = field(default_factory=dict)
    packs: dict[tuple, object] = field(default_factory=dict)  # functions for so many arguments
    choices: set[str] = field(default_factory=set)  # structs of lambdas, of which one is called
    has_optionals: bool = False  # *x may be what x is
    unions: set[str] = field(default_factory=set)
    minds_unset: bool = (
        False  # a word of a tile that is read and that nobody has written is a fault
    )
    unread: list[str] = field(default_factory=list)  # why something was passed over
    unread_names: set[str] = field(default_factory=set)  # of functions that were

    def keep(self, function: Function) -> None:
        """One more function, with a name of its own. One that differs in `const` alone is none."""
        table = self.methods if function.owner else self.functions
        known = (self.of_structs if function.owner else self.named).setdefault(function.name, [])
        if any(_is_same(one, function) for one in known):
            return
        known.append(function)
        if function.name in table:
            function.name += f"{APART}{len(known)}"
        table[function.name] = function

    def lines_of(self, kind: str) -> list[str]:
        """A struct and what it is derived from."""
        found = [kind]
        for one in found:
            found += [base for base in self.bases.get(one, ()) if base not in found]
        return found


def _is_same(one: Function, two: Function) -> bool:
    if one.owner != two.owner or len(one.parameters) != len(two.parameters):
        return False
    pairs = zip(one.parameters, two.parameters, strict=True)
    if any((a.name, a.stars) != (b.name, b.stars) for (a, _), (b, _) in pairs):
        return False
    pairs = zip(one.parameters, two.parameters, strict=True)
    if any(_texts([*a.args]) != _texts([*b.args]) for (a, _), (b, _) in pairs):
        return False
    return [_texts(s) for s in one.sizes.values()] == [_texts(s) for s in two.sizes.values()]


def _texts(sizes: list) -> list[list[str]]:
    return [[one.text for one in walk(size)] if size is not None else [] for size in sizes]


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


def replace(one, **parts):
    """As dataclasses.replace, of a node or a type: a search makes tens of thousands."""
    found = object.__new__(one.__class__)
    found.__dict__.update(one.__dict__)
    found.__dict__.update(parts)
    return found


def substituted(node: Node, known: dict[str, Node]) -> Node:
    """What a template's argument is where its parameters are known."""
    if node.text in known and node.kind in ("name", "type"):
        return known[node.text]
    if not node.kids:
        return node
    return replace(node, kids=[substituted(kid, known) for kid in node.kids], code=None)


def walk(node: Node):
    """It and all in it, in the order of the text."""
    open_nodes = [node]
    while open_nodes:
        one = open_nodes.pop()
        yield one
        if one.kids:
            open_nodes += reversed(children(one))
