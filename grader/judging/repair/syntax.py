"""From tokens to a tree: the C++ that students write kernels in. What is not known is given up."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.repair.expressions import Expressions
from grader.judging.repair.nodes import File, Function, Node, Type, finish
from grader.judging.repair.reading import GivenUp, Token


class Parser(Expressions):
    """The whole file."""

    # --- the file

    def parse(self) -> File:
        while self.now:
            self.top()
        return self.file

    def top(self) -> None:
        if self.skip(";"):
            return
        templates, kinds, defaults = self.template_parameters()
        if self.skip("using"):
            self.using()
            return
        if self.skip("namespace"):
            self.namespace()
            return
        if self.skip("typedef"):
            if self.now == "struct":
                self.struct()
            else:
                kind = self.type()
                if self.now != ";":
                    self.aliases[self.name().text] = kind
                self.take(";")
            return
        if self.now == "enum":
            self.enum()
            return
        if self.now == "struct" and self.ahead(2) == "{":
            self.struct(templates)
            return
        is_kernel = any(
            self.tokens[i].text == "__global__" for i in range(self.at, min(self.at + 6, len(self.tokens)))
        )  # fmt: skip
        kind = self.type()
        while self.now in ("__launch_bounds__", "__align__", "alignas"):
            self.take()
            self.balanced()
        if self.tokens[self.at + 1].text != "(":
            self.file.globals.append(self.declaration(kind))
            self.take(";")
            return
        name = self.name()
        if templates:
            self.templates.add(name.text)
        parameters = self.parameters()
        if self.skip(";"):
            return
        body = self.block()
        if name.text in self.file.functions:
            if len(self.file.functions[name.text].parameters) == len(parameters):
                return  # the same with const
            raise GivenUp("overloads")
        self.file.functions[name.text] = Function(
            name.text, kind, parameters, body, is_kernel, name.line, templates, kinds, defaults
        )

    def template_parameters(self) -> tuple[list[str], frozenset[str], dict[str, Node]]:
        """Names, those of types, and what they are if nothing is given."""
        names: list[str] = []
        kinds: set[str] = set()
        defaults: dict[str, Node] = {}
        if not self.skip("template"):
            return names, frozenset(), defaults
        self.take("<")
        while not self.skip(">"):
            is_type = self.now in ("typename", "class")
            if is_type:
                self.take()
            else:
                self.type()
            name = self.name().text
            names.append(name)
            if is_type:
                kinds.add(name)
                self.aliases[name] = Type("auto")
            if self.skip("="):
                defaults[name] = self.template_argument()
            self.skip(",")
        return names, frozenset(kinds), defaults

    def using(self) -> None:
        if self.now == "namespace":
            while not self.skip(";"):
                self.take()
            return
        name = self.name()
        self.take("=")
        self.aliases[name.text] = self.type()
        self.take(";")

    def namespace(self) -> None:
        name = self.take().text if self.now != "{" else ""
        if self.skip("="):
            while not self.skip(";"):
                self.take()
            self.namespaces.add(name)
            return
        self.namespaces.add(name)
        self.take("{")
        while not self.skip("}"):
            self.top()

    def enum(self) -> None:
        self.take("enum")
        if self.now != "{":
            self.name()
        self.take("{")
        while not self.skip("}"):
            name = self.name()
            self.take("=")
            value = self.ternary()
            one = self.node("declare", name, [None, value])
            one.type = Type("int", is_constant=True)
            self.file.globals.append(self.node("block", name, [one]))
            self.skip(",")
        self.take(";")

    def struct(self, templates: list[str] | None = None) -> None:
        self.take("struct")
        name = self.take().text if self.now != "{" else ""
        fields: list[tuple[Type, str]] = []
        statics: list[Node] = []
        lengths: dict[str, list[Node]] = {}
        self.take("{")
        while not self.skip("}"):
            if self.now in ("public", "private"):
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
            if self.ahead() == "(":
                method = self.name()
                parameters = self.parameters()
                self.skip("const")
                self.file.methods[method.text] = Function(
                    method.text, kind, parameters, self.block(), False, method.line
                )
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
                if not self.skip(","):
                    break
            self.take(";")
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
        while self.now in ("explicit", "inline", "__host__"):
            self.take()
        if self.now == "~":
            self.take()
            self.name()
            self.balanced()
            self.balanced()
            self.skip(";")
            return True
        if not name or self.now != name or self.ahead() != "(":
            self.at = at
            return False
        token = self.take()
        if name in self.file.methods:
            raise GivenUp("constructors")
        self.file.structs.setdefault(name, [])
        parameters = self.parameters()
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

    def parameters(self) -> list[tuple[Type, str]]:
        self.take("(")
        found = []
        while not self.skip(")"):
            if self.skip("void") and self.now == ")":
                continue
            kind = self.type()
            name = ""
            if self.now == "(":  # float (*a)[N]
                self.take("(")
                if not self.skip("&"):
                    self.take("*")
                name = self.name().text
                self.take(")")
                kind = Type(kind.name, 1)
            elif self.tokens[self.at].is_name():
                name = self.take().text
            while self.now == "[":
                self.balanced()
                kind = Type(kind.name, 1)
            if self.now == "=":
                raise GivenUp("defaults")
            found.append((kind, name))
            self.skip(",")
        return found

    # --- statements

    def block(self) -> Node:
        start = self.take("{")
        kids = []
        while not self.skip("}"):
            kids.append(self.statement())
        return self.node("block", start, kids)

    def statement(self) -> Node:
        token = self.tokens[self.at]
        text = token.text
        if text == "{":
            return self.block()
        if text == ";":
            return self.node("block", self.take())
        if text in ("for", "while", "if", "do", "return", "break", "continue"):
            return getattr(self, "_" + text)(self.take())
        if text in ("switch", "goto", "asm", "try"):
            raise GivenUp(text)
        if self.is_type():
            found = self.declaration(self.type())
        else:
            found = self.expression_statement()
        self.take(";")
        return found

    def expression_statement(self) -> Node:
        start = self.tokens[self.at]
        kids = [self.node("do", start, [self.assignment()])]
        while self.skip(","):
            kids.append(self.node("do", self.tokens[self.at], [self.assignment()]))
        return kids[0] if len(kids) == 1 else self.node("block", start, kids)

    def declaration(self, kind: Type) -> Node:
        start = self.tokens[self.at]
        found = []
        stars = kind.stars
        while True:
            while self.now in ("*", "const", "__restrict__", "&"):
                if self.now == "&":
                    raise GivenUp("references")
                stars += self.take().text == "*"
            if self.now == "(":
                raise GivenUp("declarator")
            name = self.name()
            if not self.tokens[self.at - 1].is_name() or name.text == "operator":
                raise GivenUp("declarator")
            sizes = []
            while self.skip("["):
                sizes.append(None if self.now == "]" else self.ternary())
                self.take("]")
            first = None
            if self.skip("="):
                first = self.initialiser(kind)
            elif self.now == "{":
                first = self.braces()
            elif self.now == "(":
                first = self.node("make", self.take(), self.list_until(")"), kind.name)
            one = self.node("declare", name, [sizes or None, first])
            one.type = Type(
                kind.name,
                stars,
                kind.is_shared,
                kind.is_extern,
                kind.is_reference,
                kind.is_constant,
            )
            found.append(one)
            stars = 0
            if not self.skip(","):
                break
        return self.node("block", start, found)

    def initialiser(self, kind: Type) -> Node:
        if self.now == "{":
            return self.braces()
        if self.now == "[":
            start = self.tokens[self.at]
            self.balanced()
            parameters = self.parameters() if self.now == "(" else []
            found = self.node("lambda", start, [self.block()])
            found.text = ",".join(name for _, name in parameters)
            return found
        return self.assignment()

    def braces(self) -> Node:
        start = self.take("{")
        kids = []
        while not self.skip("}"):
            kids.append(self.braces() if self.now == "{" else self.assignment())
            self.skip(",")
        return self.node("braces", start, kids)

    def simple(self, until: str) -> Node:
        start = self.tokens[self.at]
        if self.skip(until):
            return self.node("block", start)
        found = self.declaration(self.type()) if self.is_type() else self.expression_statement()
        self.take(until)
        return found

    def _for(self, token: Token) -> Node:
        self.take("(")
        first = self.simple(";")
        condition = self.ternary() if self.now != ";" else None
        self.take(";")
        step = self.simple(")")
        return self.node("for", token, [first, condition, step, self.statement()])

    def _while(self, token: Token) -> Node:
        self.take("(")
        condition = self.assignment()
        self.take(")")
        return self.node("for", token, [None, condition, None, self.statement()])

    def _do(self, token: Token) -> Node:
        body = self.statement()
        self.take("while")
        self.take("(")
        condition = self.assignment()
        self.take(")")
        self.take(";")
        return self.node("dowhile", token, [condition, body])

    def _if(self, token: Token) -> Node:
        self.skip("constexpr")
        self.take("(")
        condition = self.assignment()
        self.take(")")
        body = self.statement()
        other = self.statement() if self.skip("else") else None
        return self.node("if", token, [condition, body, other])

    def _return(self, token: Token) -> Node:
        value = None
        if self.now == "{":
            value = self.braces()
        elif self.now != ";":
            value = self.assignment()
        self.take(";")
        return self.node("return", token, [value])

    def _break(self, token: Token) -> Node:
        self.take(";")
        return self.node("break", token)

    def _continue(self, token: Token) -> Node:
        self.take(";")
        return self.node("continue", token)


def field_token(field: Node) -> Token:
    return Token(field.text, field.line, field.key)


def parse(tokens: Sequence[Token]) -> File:
    """Raises GivenUp."""
    file = Parser(tokens).parse()
    for function in [*file.functions.values(), *file.methods.values()]:
        finish(function.body)
    for node in file.globals:
        finish(node)
    for nodes in (*file.statics.values(), *file.lengths.values()):
        for node in nodes:
            finish(node)
    return file
