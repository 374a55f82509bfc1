"""Reads structs, classes and enums."""

from __future__ import annotations

from grader.judging.repair.nodes import Function, Node, Type
from grader.judging.repair.reading import GivenUp, Token
from grader.judging.repair.sugar import Sugar

_BEFORE_METHODS = frozenset(
    ("explicit", "inline", "constexpr", "__host__", "__device__", "__forceinline__")
)


class Structs(Sugar):
    """A part of Parser, which has block(), parameters() and their like."""

    def enum(self) -> None:
        self.take("enum")
        if self.now in ("class", "struct"):
            self.take()
        if self.now != "{":
            own = self.name().text
            self.aliases[own] = Type("int")
            self.namespaces.add(own)
        if self.skip(":"):
            self.type()
        start = self.take("{")
        last: Node | None = None
        while not self.skip("}"):
            name = self.name()
            if self.skip("="):
                value = self.ternary()
            elif last is None:
                value = self.made(start, "number", [], "0")
            else:
                one = self.made(start, "number", [], "1")
                value = self.made(
                    start, "binary", [self.made(start, "name", [], last.text), one], "+"
                )
            one = self.node("declare", name, [None, value])
            one.type = Type("int", is_constant=True)
            last = one
            self.file.globals.append(self.node("block", name, [one]))
            self.skip(",")
        self.take(";")

    def begins_struct(self) -> bool:
        """struct Tile {, class alignas(16) Tile : and the like, not `struct Tile t;`"""
        if self.now not in ("struct", "class"):
            return False
        at = self.at + 1
        while self.tokens[at].text in ("alignas", "__align__", "(", ")") or (
            self.tokens[at - 1].text == "("
        ):
            at += 1
        return self.tokens[at].text == "{" or self.tokens[at + 1].text in ("{", "final")

    def given_later(self, kind: Type) -> Type:
        """auto f() -> float, and the words behind a method's parameters."""
        while self.now in ("const", "noexcept", "override", "final"):
            self.take()
        if self.now == "->":
            self.take()
            kind = self.type()
        return kind

    def struct(self, templates: list[str] | None = None) -> None:
        self.take()
        while self.now in ("alignas", "__align__"):
            self.take()
            self.balanced()
        name = self.take().text if self.now != "{" else ""
        self.skip("final")
        if name:
            self.file.structs.setdefault(name, [])
            self.file.parameters[name] = templates or []
        firsts: list[Node] = []
        fields: list[tuple[Type, str]] = []
        statics: list[Node] = []
        lengths: dict[str, list[Node]] = {}
        self.take("{")
        while not self.skip("}"):
            if self.now in ("public", "private", "protected"):
                self.take()
                self.take(":")
                continue
            if self.made_or_ended(name):
                continue
            is_static = "static" in (self.now, self.ahead())
            kind = self.type()
            if is_static and self.ahead() != "(":
                statics.append(self.declaration(kind))
                self.take(";")
                continue
            if self.ahead() == "(" or self.now == "operator":
                self.method(kind)
                continue
            while True:
                stars = kind.stars
                while self.skip("*"):
                    stars += 1
                field = self.name().text
                fields.append((Type(kind.name, stars), field))
                while self.skip("["):
                    lengths.setdefault(field, []).append(self.ternary())
                    self.take("]")
                if self.now in ("=", "{"):
                    token = self.tokens[self.at]
                    self.skip("=")
                    first = self.initialiser(kind)
                    if first.kind == "braces":
                        first = first.kids[0] if len(first.kids) == 1 else first
                    if first.kind == "braces":
                        raise GivenUp("fields")
                    left = self.made(token, "name", [], field)
                    given = self.made(token, "assign", [left, first], "=")
                    firsts.append(self.made(token, "do", [given]))
                if not self.skip(","):
                    break
            self.take(";")
        made = self.file.methods.get(name)
        if firsts and made is not None:
            made.body.kids = [*firsts, *made.body.kids]
        elif firsts:
            token = self.tokens[self.at]
            body = self.made(token, "block", firsts)
            self.file.methods[name] = Function(name, Type("void"), [], body, False, token.line)
        alias = self.take().text if self.now != ";" else ""
        self.take(";")
        for one in (name, alias):
            if one:
                self.file.structs[one] = fields
                self.file.statics[one] = statics
                self.file.parameters[one] = templates or []
                for field, sizes in lengths.items():
                    self.file.lengths[one, field] = sizes

    def made_or_ended(self, name: str) -> bool:
        """A constructor of a struct, which is kept, or its destructor: it frees, and is passed over."""
        at = self.at
        while self.now in _BEFORE_METHODS:
            self.take()
        if self.now == "~":
            self.take()
            self.name()
            self.balanced()
            if self.skip("="):
                self.take()
            elif self.now == "{":
                self.balanced()
            self.skip(";")
            return True
        if not name or self.now != name or self.ahead() != "(":
            self.at = at
            return False
        token = self.take()
        parameters = self.parameters()
        self.given_later(Type("void"))
        if self.now == "=":  # = default, = delete
            self.take()
            self.take()
            self.take(";")
            return True
        if name in self.file.methods:
            raise GivenUp("constructors")
        first = []
        if self.skip(":"):
            while self.now != "{":
                field = self.node("name", self.name())
                begin = self.take()
                value = self.assignment()
                self.take(")" if begin.text == "(" else "}")
                given = self.node("assign", begin, [field, value], "=")
                first.append(self.node("do", field_token(field), [given]))
                self.skip(",")
        body = self.block()
        body.kids = [*first, *body.kids]
        self.file.methods[name] = Function(name, Type("void"), parameters, body, False, token.line)
        return True

    def method(self, kind: Type) -> None:
        """A struct's function; operator() and operator[] have no other name."""
        token = self.name()
        if token.text == "operator":
            signs = self.take().text + self.take().text
            if signs not in ("()", "[]"):
                raise GivenUp("operator")
            token = Token("operator" + signs, token.line, token.key)
        parameters = self.parameters()
        rest = self.rest
        kind = self.given_later(kind)
        if token.text in self.file.methods:
            raise GivenUp("methods of one name")
        self.file.methods[token.text] = Function(
            token.text, kind, parameters, self.block(), False, token.line, rest=rest
        )


def field_token(field: Node) -> Token:
    return Token(field.text, field.line, field.key)
