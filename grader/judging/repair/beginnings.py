"""What the members of a struct begin with: what stands beside them, and what a constructor says."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.judging.repair.nodes import Function, Node, Type
from grader.judging.repair.reading import GivenUp, Token
from grader.judging.repair.standard import TEXTS
from grader.judging.repair.sugar import Sugar
from grader.judging.repair.type_names import VECTORS

EXCEPTIONS = frozenset(
    ("exception", "runtime_error", "logic_error", "invalid_argument", "bad_alloc", "out_of_range")
)


@dataclass
class Members:
    """A struct that is being read."""

    name: str
    fields: list[tuple[Type, str]]
    templates: list[str]
    firsts: list[Node] = field(default_factory=list)  # int row = 0;
    statics: list[Node] = field(default_factory=list)
    lengths: dict[str, list[Node]] = field(default_factory=dict)
    inherits: list[str] = field(default_factory=list)  # whose constructors it has, too
    is_made_outside: bool = False  # its constructor follows
    is_plain: bool = False  # has a constructor without arguments that is `= default`


class Beginnings(Sugar):
    """A part of Parser."""

    def begun(self) -> Node:
        """rows_(rows), shape{n, m}, Base(data): one thing that a constructor begins with."""
        name = self.name()
        if self.now == "<":
            self.template_arguments()
        start = self.take()
        kind = "make" if start.text == "(" else "braces"
        given = self.list_until(")" if kind == "make" else "}")
        return self.node("begin", name, [self.node(kind, start, given)])

    def begins(self, own: Members) -> None:
        """Puts what members begin with before what the constructors do, in the order of the members."""
        for base in own.inherits:
            for one in self.file.of_structs.get(base, ()):
                self.inherit(own, one)
        made = [one for one in self.file.of_structs.get(own.name, ()) if one.owner == own.name]
        to_begin = self.begin_all(own, made)
        made = made or [None] * own.is_made_outside
        if own.is_plain or (not made and (own.firsts or to_begin)):
            token = self.tokens[self.at - 1]
            kids = self.in_order(own, [], to_begin, set())
            body = self.made(token, "block", kids)
            implied = Function(
                own.name, Type("void"), [], body, False, token.line, owner=own.name,
                is_implied=not made,
            )  # fmt: skip
            self.file.keep(implied)

    def begin_all(self, own: Members, made: list[Function]) -> list[str]:
        """Of constructors; and the bases that begin by themselves."""
        bases = self.file.bases.get(own.name, [])
        to_begin = [one for one in bases if self.begins_alone(one)]
        for one in made:
            first = [kid for kid in one.body.kids if kid.kind == "begin"]
            rest = [kid for kid in one.body.kids if kid.kind != "begin"]
            shadowed = {name for _, name in one.parameters}
            one.body.kids = [*self.in_order(own, first, to_begin, shadowed), *rest]
        return to_begin

    def begins_alone(self, base: str) -> bool:
        known = self.file.of_structs.get(base, ())
        return any(len(one.rest) == len(one.parameters) for one in known)

    def inherit(self, own: Members, one: Function) -> None:
        token = self.tokens[self.at - 1]
        given = [self.made(token, "name", [], name) for _, name in one.parameters]
        start = Token(one.owner, token.line, self.fresh(token, "").key)
        first = self.node("begin", start, [self.made(token, "make", given)])
        body = self.made(token, "block", [first])
        self.file.keep(
            Function(
                own.name, Type("void"), one.parameters, body, False, token.line, rest=one.rest,
                owner=own.name, sizes=one.sizes,
            )
        )  # fmt: skip

    def in_order(
        self, own: Members, first: list[Node], bases: list[str], shadowed: set[str]
    ) -> list[Node]:
        said = {self.base_called(own, one.text): one for one in first}
        for name, one in said.items():
            one.text = name
        if own.name in said:  # another constructor does it all
            return self.beginning(own, said[own.name], shadowed)
        given = {one.text: one for one in own.firsts}
        found = []
        for base in self.file.bases.get(own.name, []):
            if base in said:
                found += self.beginning(own, said.pop(base), shadowed)
            elif base in bases:
                token = self.tokens[self.at - 1]
                found.append(self.made(token, "do", [self.made(token, "delegate", [], base)]))
        for _, name in own.fields:
            if name in said:
                found += self.beginning(own, said.pop(name), shadowed)
            elif name in given:
                found += self.beginning(own, given[name], set())
        if said:
            raise GivenUp("constructor")
        return found

    def base_called(self, own: Members, name: str) -> str:
        """Base, where that is another name of the struct's base."""
        kind = self.aliases.get(name)
        is_base = kind is not None and kind.name in self.file.bases.get(own.name, ())
        return kind.name if is_base and all(name != field for _, field in own.fields) else name

    def beginning(self, own: Members, node: Node, shadowed: set[str]) -> list[Node]:
        """The statements that one of them stands for."""
        name, given = node.text, node.kids[0]
        token = Token(name, node.line, node.key)
        start = Token(given.text, given.line, given.key)
        if name in self.file.bases.get(own.name, ()) and self.is_aggregate(name) and given.kids:
            found = [self.node("do", token, [self.node("delegate", token, [], name)])]
            for (_, field), kid in zip(self.file.structs[name], given.kids, strict=False):
                place = Token(field, node.line, self.fresh(token, "").key)
                first = self.node("begin", place, [self.made(token, "make", [kid])])
                found += self.beginning(own, first, shadowed)
            return found
        if name == own.name or name in self.file.bases.get(own.name, ()):
            return [self.node("do", token, [self.node("delegate", token, given.kids, name)])]
        kind = next(one for one, field in own.fields if field == name)
        if name in own.lengths:
            return self.elements(own, node, given, shadowed)
        value = self.value_of(kind, given, start)
        if value is None:
            return []
        if kind.is_reference:  # is bound, not assigned to
            left = self.node("name", token)
            return [self.node("do", token, [self.node("bind", start, [left, value], "=")])]
        assign = self.node("assign", start, [self.target(token, shadowed), value], "=")
        assign.type = kind
        return [self.node("do", token, [assign])]

    def is_aggregate(self, name: str) -> bool:
        return all(one.is_implied for one in self.file.of_structs.get(name, ()))

    def target(self, token: Token, shadowed: set[str]) -> Node:
        if token.text not in shadowed:
            return self.node("name", token)
        return self.node("member", token, [self.made(token, "name", [], "this")])

    def value_of(self, kind: Type, given: Node, token: Token) -> Node | None:
        """What a member is given by (a, b) or {a, b}; None: nothing."""
        kids = given.kids
        if kind.is_byte and kind.stars and (not kids or kids[0].text == "0"):
            return None  # it is one that counts in bytes
        if kind.stars or kind.is_reference:  # of a unique_ptr, its deleter is of no interest
            return kids[0] if kids else self.made(token, "number", [], "0")
        if kind.name == "dim3" or kind.name in VECTORS:
            is_copy = given.kind == "make" and len(kids) == 1
            return kids[0] if is_copy else self.node("make", token, kids, kind.name)
        if kind.name in TEXTS:
            return None
        is_made = any(not one.is_implied for one in self.file.of_structs.get(kind.name, ()))
        if kind.name == "vector" or kind.name in self.file.structs:
            if len(kids) == 1 and given.kind == "make" and not is_made and kind.name != "vector":
                return self.as_object(kids[0], kind, token)
            return self.object_of(kind, given, token)
        if len(kids) > 1:
            raise GivenUp("constructor")
        if kids and kids[0].kind == "braces":
            return self.value_of(kind, kids[0], token)
        return kids[0] if kids else self.made(token, "number", [], "0")

    def as_object(self, node: Node, kind: Type, token: Token) -> Node:
        return self.object_of(kind, node, token) if node.kind == "braces" else node

    def object_of(self, kind: Type, given: Node, token: Token) -> Node:
        found = self.node("built", token, [given], kind.name)
        found.kind, found.type = "object", kind
        return found

    def elements(self, own: Members, node: Node, given: Node, shadowed: set[str]) -> list[Node]:
        """Of an array; those that are not named are 0."""
        token = Token(node.text, node.line, node.key)
        self.file.zeroed.add((own.name, node.text))
        if given.kind == "make" and len(given.kids) == 1 and given.kids[0].kind == "braces":
            given = given.kids[0]

        def listed(left: Node, kids: list[Node]) -> list[Node]:
            found = []
            for at, kid in enumerate(kids):
                number = self.made(token, "number", [], str(at))
                place = self.made(token, "index", [left, number], "[")
                if kid.kind == "braces":
                    found += listed(place, kid.kids)
                elif kid.text != "0":
                    assign = self.made(token, "assign", [place, kid], "=")
                    found.append(self.made(token, "do", [assign]))
            return found

        return listed(self.target(token, shadowed), given.kids)
