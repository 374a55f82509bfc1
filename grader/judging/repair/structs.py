"""Reads structs, classes and enums."""

from __future__ import annotations

from grader.judging.repair.nodes import Function, Node, Type
from grader.judging.repair.reading import BYTES_LATER, GivenUp, Token
from grader.judging.repair.sugar import Sugar

_BEFORE_METHODS = frozenset(
    ("explicit", "inline", "constexpr", "__host__", "__device__", "__forceinline__")
)


_FIRST = "first ="  # of a constructor, before it is known what is a reference
CONVERSION = "operator type"  # operator float*(), whatever it makes


class Structs(Sugar):
    """A part of Parser, which has block(), parameters() and their like."""

    def enum(self) -> None:
        self.take("enum")
        if self.now in ("class", "struct"):
            self.take()
        if self.now not in ("{", ":"):
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
        if self.now not in ("struct", "class", "union"):
            return False
        at = self.at + 1
        while self.tokens[at].text in ("alignas", "__align__", "(", ")") or (
            self.tokens[at - 1].text == "("
        ):
            at += 1
        return self.tokens[at].text == "{" or self.tokens[at + 1].text in ("{", "final", ":")

    def given_later(self, kind: Type) -> Type:
        """auto f() -> float, and the words behind a method's parameters."""
        while self.now in ("const", "noexcept", "override", "final"):
            self.take()
        if self.now == "->":
            self.take()
            kind = self.type()
        return kind

    def struct(self, templates: list[str] | None = None) -> None:
        is_union = self.take().text == "union"
        while self.now in ("alignas", "__align__"):
            self.take()
            self.balanced()
        name = self.take().text if self.now != "{" else ""
        if is_union:
            self.file.unions.add(name)
        self.skip("final")
        if name:
            self.file.structs.setdefault(name, [])
            self.file.parameters[name] = templates or []
        firsts: list[Node] = []
        fields: list[tuple[Type, str]] = self.derived(name)
        if name:
            self.file.structs[name] = fields
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
            if self.begins_struct():
                self.struct(templates)
                if self.declared_last:
                    fields.append((Type(self.declared_last[0]), self.declared_last[1]))
                continue
            if self.skip("using"):
                self.using()
                continue
            if self.skip("typedef"):
                self.typedef()
                continue
            if self.now == "enum":
                before = len(self.file.globals)
                self.enum()
                statics += self.file.globals[before:]
                del self.file.globals[before:]
                continue
            if self.skip(";"):
                continue
            if self.now == "friend" or self.now == "static_assert":
                self.pass_over()
                continue
            at = self.at
            of_method, kinds, defaults = self.template_parameters()
            is_static = "static" in (self.now, self.ahead(), self.ahead(2), self.ahead(3))
            if self.is_conversion():
                self.read_or_pass(lambda: self.converts(name))
                continue
            kind = self.type()
            if self.ahead() == "(" or self.now == "operator":
                try:
                    self.method(kind, name, is_static, of_method, kinds, defaults)
                except GivenUp as why:
                    self.at = at
                    self.pass_over(str(why))
                continue
            if is_static:
                statics.append(self.declaration(kind))
                self.take(";")
                continue
            while True:
                stars = kind.stars
                while self.skip("*"):
                    stars += 1
                is_reference = kind.is_reference
                while self.skip("&"):
                    is_reference = True
                if kind.is_byte and stars and not kind.is_constant:
                    raise GivenUp(BYTES_LATER)
                field = self.name().text
                args = kind.args if kind.name == "vector" else ()
                own = Type(kind.name, stars, is_reference=is_reference, args=args)
                fields.append((own, field))
                while self.skip("["):
                    lengths.setdefault(field, []).append(self.ternary())
                    self.take("]")
                if self.now in ("=", "{"):
                    token = self.tokens[self.at]
                    self.skip("=")
                    first = self.initialiser(kind)
                    if field in lengths:
                        if first.kind != "braces" or any(one.text != "0" for one in first.kids):
                            raise GivenUp("fields")
                        self.file.zeroed.add((name, field))
                        if self.skip(","):
                            continue
                        break
                    if first.kind == "braces" and not first.kids:
                        first = self.made(token, "number", [], "0")
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
        made = self.file.of_structs.get(name, [])
        references = {field for own, field in fields if own.is_reference}
        for one in made:
            for first in one.body.kids:  # a reference is bound, not assigned to
                given = first.kids[0] if first.kind == "do" else None
                if given is not None and given.kind == "assign" and given.text != "=":
                    is_bound = given.kids[0].text in references
                    given.kind, given.text = ("bind" if is_bound else "assign"), "="
            one.body.kids = [*firsts, *one.body.kids]
        if firsts and not made:
            token = self.tokens[self.at]
            body = self.made(token, "block", firsts)
            self.file.keep(Function(name, Type("void"), [], body, False, token.line, owner=name))
        alias = self.take().text if self.now != ";" else ""
        if is_union and (not name or self.file.of_structs.get(name)):
            if not alias or name:
                raise GivenUp("union")
            self.file.unions.add(alias)
        self.declared_last = (name, alias) if alias and name else ()
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
        rest, sizes = self.rest, self.sizes_given
        first = []
        if self.skip(":"):
            while self.now != "{":
                if self.now == name:
                    raise GivenUp("constructor")  # another one is called
                field = self.node("name", self.name())
                begin = self.take()
                value = self.assignment()
                self.take(")" if begin.text == "(" else "}")
                given = self.node("assign", begin, [field, value], _FIRST)
                first.append(self.node("do", field_token(field), [given]))
                self.skip(",")
        body = self.body()
        body.kids = [*first, *body.kids]
        self.file.keep(
            Function(
                name, Type("void"), parameters, body, False, token.line, rest=rest, owner=name,
                sizes=sizes,
            )
        )  # fmt: skip
        return True

    def is_conversion(self) -> bool:
        """operator float*() const: what a struct is taken for."""
        at = self.at
        while self.tokens[at].text in _BEFORE_METHODS:
            at += 1
        return self.tokens[at].text == "operator" and self.tokens[at + 1].is_name()

    def converts(self, owner: str) -> None:
        while self.now != "operator":
            self.take()
        token = self.take()
        kind = self.type()
        self.take("(")
        self.take(")")
        kind = self.given_later(kind)
        self.file.keep(
            Function(CONVERSION, kind, [], self.body(), False, token.line, owner=owner or "struct")
        )

    def derived(self, name: str) -> list[tuple[Type, str]]:
        """struct View : Base: with what Base has."""
        fields: list[tuple[Type, str]] = []
        if not self.skip(":"):
            return fields
        bases = self.file.bases.setdefault(name, [])
        while self.now != "{":
            if self.now in ("public", "private", "protected", ","):
                self.take()
                continue
            base = self.name().text
            if base not in self.file.structs:
                raise GivenUp("base")
            bases.append(base)
            fields += self.file.structs[base]
            for _, field in self.file.structs[base]:
                if (base, field) in self.file.lengths:
                    self.file.lengths[name, field] = self.file.lengths[base, field]
        return fields

    def method(
        self, kind: Type, owner: str, is_static: bool, templates: list[str], kinds: frozenset[str],
        defaults: dict[str, Node],
    ) -> None:  # fmt: skip
        """A struct's function; operator() and operator[] have no other name."""
        token = self.function_name()
        if templates:
            self.templates.add(token.text)
        parameters = self.parameters()
        rest, sizes, lengths = self.rest, self.sizes_given, self.lengths_given
        kind = self.given_later(kind)
        if self.now == "=":  # = delete, = default
            self.at += 2
            self.take(";")
            return
        self.file.keep(
            Function(
                token.text, kind, parameters, self.body(), False, token.line, templates, kinds,
                defaults, rest, {one: at for one, at in lengths.items() if one in templates},
                owner or "struct", sizes, is_static,
            )
        )  # fmt: skip


def field_token(field: Node) -> Token:
    return Token(field.text, field.line, field.key)
