"""From tokens to a tree: the C++ that students write kernels in. What is not known is given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from grader.judging.repair.nodes import File, Function, Node, Type, finish, walk
from grader.judging.repair.plainer import plainer
from grader.judging.repair.reading import BYTES_LATER, GivenUp, Token
from grader.judging.repair.structs import Structs
from grader.judging.repair.unread import Unread


class Parser(Structs, Unread):
    """The whole file."""

    # --- the file

    def parse(self) -> File:
        while self.now:
            self.read_or_pass(self.top)
        return self.file

    def top(self) -> None:
        if self.skip(";"):
            return
        templates, kinds, defaults = self.template_parameters()
        if self.skip("using"):
            self.using(templates)
            return
        if self.skip("namespace"):
            self.namespace()
            return
        if self.skip("typedef"):
            self.typedef()
            return
        if self.now == "enum":
            self.enum()
            return
        if self.now == "extern" and self.ahead().startswith('"') and self.ahead(2) == "{":
            self.at += 3
            while not self.skip("}"):
                self.read_or_pass(self.top)
            return
        if self.made_outside(templates):
            return
        start, numbers = self.at, self.numbers_given
        if self.begins_struct():
            kind = Type(self.structure(templates, defaults=defaults))
        else:
            kind = self.type()
        if self.skip(";"):
            if templates:  # it follows, or is there for some arguments only
                self.file.parameters.setdefault(kind.name, templates)
            return
        while self.now in ("__launch_bounds__", "__align__", "alignas"):
            self.take()
            self.balanced()
        if owner := self.begins_outside():
            self.method_outside(kind, owner, templates)
            return
        is_kernel = any(token.text == "__global__" for token in self.tokens[start : self.at])
        is_special = self.now in self.templates and self.ahead() == "<"
        if self.ahead() != "(" and self.now != "operator" and not is_special:
            self.file.globals.append(self.declaration(kind))
            self.take(";")
            return
        name = self.function_name()
        special = self.template_arguments() if self.now == "<" else None
        if templates:
            self.templates.add(name.text)
        parameters = self.parameters()
        rest, lengths, sizes = self.rest, self.lengths_given, self.sizes_given
        pack = self.pack_given
        kind = self.given_later(kind)
        if self.skip(";"):
            return
        body = self.body()
        function = Function(
            name.text, kind, parameters, body, is_kernel, name.line, templates, kinds, defaults,
            rest, {one: place for one, place in lengths.items() if one in templates}, sizes=sizes,
            pack=pack, special=special, numbers=numbers,
        )  # fmt: skip
        if special is not None:
            function.name += f"<{len(self.file.specials)}>"
            self.file.functions[function.name] = function
            self.file.specials.setdefault(name.text, []).append((special, function))
            return
        self.file.keep(function)

    def template_parameters(self) -> tuple[list[str], frozenset[str], dict[str, Node]]:
        """Names, those of types, and what they are if nothing is given."""
        names: list[str] = []
        kinds: set[str] = set()
        defaults: dict[str, Node] = {}
        self.numbers_given = ""
        if not self.skip("template"):
            return names, frozenset(), defaults
        self.take("<")
        while not self.skip(">"):
            if self.skip("template"):  # template <int> class Layout
                self.take("<")
                self.to_angle()
            is_type = self.now in ("typename", "class")
            if is_type:
                self.take()
            else:
                self.type_of_parameter()
            is_pack = self.skip("...")
            is_function = self.now == "(" and self.ahead() in ("*", "&")
            if is_function:  # float (*f)(float, float)
                self.at += 2
            name = self.name().text if self.now not in (",", ">", "=") else f"<{len(names)}>"
            names.append(name)
            if is_function:
                self.take(")")
                self.balanced()
            if is_pack and not is_type:  # std::size_t... I
                self.numbers_given = name
            if is_type:
                kinds.add(name)
                self.aliases[name] = Type("auto", parameter=name)
            if self.skip("="):
                defaults[name] = self.template_argument()
            self.skip(",")
        return names, frozenset(kinds), defaults

    def type_of_parameter(self) -> None:
        """int, bool, or std::enable_if_t<is_small<T>, int>."""
        at = self.at
        try:
            self.type()
        except GivenUp:
            self.at = at
            self.take()
            if self.skip("<"):
                self.to_angle()

    def using(self, templates: Sequence[str] = ()) -> None:
        if self.now == "namespace":
            while not self.skip(";"):
                self.take()
            return
        name = self.name()
        if self.skip(";"):  # using std::min;
            return
        self.take("=")
        kind = self.type()
        if self.now == "(":  # using Kernel = void (*)(float*, int);
            self.balanced()
            self.balanced()
            kind = Type("auto")
        self.aliased(name.text, kind)
        if templates:
            self.alias_templates[name.text] = list(templates)
        self.take(";")

    def typedef(self) -> None:
        if self.begins_struct():
            self.struct()
            return
        kind = self.type()
        if self.now == "(" and self.ahead() in ("*", "&"):  # typedef void (*Kernel)(float*, int);
            self.at += 2
            name = self.name().text
            self.take(")")
            self.balanced()
            self.aliased(name, Type("auto"))
        else:
            while self.now != ";":
                stars = kind.stars
                while self.skip("*"):
                    stars += 1
                self.aliased(self.name().text, replace(kind, stars=stars))
                self.skip(",")
        self.take(";")

    def aliased(self, name: str, kind: Type) -> None:
        """Another name of a type, or of an array of it: typedef float Tile[16][16];"""
        sizes = []
        while self.skip("["):
            sizes.append(self.ternary())
            self.take("]")
        self.aliases[name] = replace(kind, sizes=(*sizes, *kind.sizes), is_shared=False)
        self.member_aliases[self.inside, name] = self.aliases[name]

    def namespace(self) -> None:
        name = self.take().text if self.now != "{" else ""
        while self.skip("::"):  # namespace lab::detail {
            self.namespaces.add(name)
            name = self.name().text
        if self.skip("="):
            while not self.skip(";"):
                self.take()
            self.namespaces.add(name)
            return
        self.namespaces.add(name)
        self.take("{")
        before = len(self.file.globals)
        while not self.skip("}"):
            self.read_or_pass(self.top)
        if name:
            self.file.parameters.setdefault(name, [])
            self.file.statics.setdefault(name, []).extend(
                node for node in self.file.globals[before:] if node.kids[0].type.is_constant
            )

    def settle(self) -> None:
        """Of a namespace's constants only those are looked for there whose names mean something else, too."""
        file = self.file
        seen = [one.text for node in file.globals for one in node.kids]
        others = {name for name in seen if seen.count(name) > 1} if self.qualified else set()
        for function in (
            [*file.functions.values(), *file.methods.values()] if self.qualified else ()
        ):
            others |= {name for _, name in function.parameters}
            for one in walk(function.body):
                if one.kind == "declare":
                    others.add(one.text)
                elif one.kind == "lambda":
                    others |= {name for _, name in one.given}
        for fields in file.structs.values() if self.qualified else ():
            others |= {name for _, name in fields}
        for node in self.qualified:
            if node.text not in others:
                node.kind, node.macro, node.type = "name", "", None

    def parameters(self) -> list[tuple[Type, str]]:
        """Sets `rest`, `lengths_given`, `sizes_given` and `pack_given`, too."""
        self.rest: list[Node] = []
        self.pack_given = ""
        self.sizes_given: dict[str, list] = {}
        self.lengths_given: dict[str, tuple[str, int]] = {}
        self.take("(")
        found = []
        while not self.skip(")"):
            if self.now == "void" and self.ahead() == ")":
                self.take()
                continue
            kind = self.type()
            name = ""
            is_pack = self.skip("...")
            if self.now == "(":  # float (*a)[N]
                self.take("(")
                if not self.skip("&"):
                    self.take("*")
                while self.now in ("const", "__restrict__"):
                    self.take()
                name = self.name().text if self.now != ")" else f"<{len(found)}>"
                self.take(")")
                if self.now == "(":  # void (*kernel)(float*, int)
                    self.balanced()
                    kind = Type("auto")
                else:
                    kind = Type(kind.name, 1)
            elif kind.sizes:  # Tile &tile
                name = self.take().text
                is_pointer = kind.stars > 0 and not kind.is_reference
                self.sizes_given[name] = [None, *kind.sizes] if is_pointer else list(kind.sizes)
                kind = Type(kind.name, 1)
            elif self.tokens[self.at].is_name():
                name = self.take().text
            at = 0
            while self.now == "[":
                if self.ahead(2) == "]":
                    self.lengths_given.setdefault(self.ahead(), (name, at))
                self.take()
                self.sizes_given.setdefault(name, []).append(
                    None if self.now == "]" else self.ternary()
                )
                self.take("]")
                kind = Type(kind.name, 1)
                at += 1
            if self.skip("="):
                self.rest.append(self.given())
            if is_pack:
                name = name or "<pack>"
                self.pack_given = name
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

    def body(self) -> Node:
        """Of a function; a jump into a block is not read."""
        held = self.labels, self.jumps
        self.labels, self.jumps = set(), set()
        is_tried = self.skip("try")
        found = self.block()
        while is_tried and self.skip("catch"):
            self.balanced()
            self.balanced()
        if self.jumps and not self.jumps <= {one.text for one in self.labels_around(found)}:
            raise GivenUp("goto")
        self.labels, self.jumps = held
        return found

    def statement(self) -> Node:
        token = self.tokens[self.at]
        text = token.text
        if text == "{":
            return self.block()
        if text == ";":
            return self.node("block", self.take())
        if text in ("for", "while", "if", "do", "return", "break", "continue"):
            return getattr(self, "_" + text)(self.take())
        if text == "switch":
            return self.switch(self.take())
        if text in ("asm", "__asm__", "__asm"):
            return self.asm(self.take())
        if text == "goto" or (self.ahead() == ":" and text.isidentifier() and text != "default"):
            return self.jump()
        if text == "try":  # nothing is thrown here
            self.take()
            found = self.block()
            while self.skip("catch"):
                self.balanced()
                self.balanced()
            return found
        if text == "namespace":  # another name of one
            while not self.skip(";"):
                self.take()
            return self.node("block", token)
        if text == "throw":
            while self.now != ";":
                self.take()
            self.take(";")
            return self.node("return", token, [None])
        if self.skip("typedef"):
            self.typedef()
            return self.node("block", token)
        if text == "using":
            self.take()
            self.using()
            return self.node("block", token)
        if self.is_type():
            kind, constants = self.constants_apart(self.type)
            if constants or self.now == ";":  # an enum's, a struct's
                found = self.node("block", token, [one for kid in constants for one in kid.kids])
                if self.now != ";":
                    found.kids += self.declaration(kind).kids
            else:
                found = self.declaration(kind)
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
        if self.now == "[" and kind.name == "auto":
            return self.bindings(kind)
        while True:
            own = replace(kind, is_reference=False) if found else kind
            while self.now in ("*", "const", "__restrict__", "&"):
                if self.now == "&":  # float &a = one, &b = other;
                    own = replace(kind, is_reference=True)
                stars += self.take().text == "*"
            is_row = self.now == "("  # float (*row)[16]: what it points to has its length
            if is_row:
                self.take()
                if self.take().text not in ("*", "&"):
                    raise GivenUp("declarator")
                stars += 1
            name = self.name()
            if is_row:
                self.take(")")
                while self.now in ("[", "("):  # void (*f)(int)
                    self.balanced()
            if not is_row and not self.tokens[self.at - 1].is_name() or name.text == "operator":
                raise GivenUp("declarator")
            sizes = []
            while self.skip("["):
                sizes.append(None if self.now == "]" else self.ternary())
                self.take("]")
            sizes += () if kind.is_to_rows or own.is_reference or stars > kind.stars else kind.sizes
            first = None
            if self.skip("="):
                first = self.initialiser(kind)
                if first.kind == "lambda" and not first.kids[1]:
                    first.text = "["  # what it is given is there as long as it is
                if self.is_kernel(first) and not self.is_assigned(name.text):
                    self.kernels[name.text] = first.kids[0] if first.kind == "address" else first
                    if self.skip(","):
                        continue
                    break
            elif self.now == "{":
                first = self.braces()
            elif self.now == "(":
                first = self.node("make", self.take(), self.list_until(")"), kind.name)
            if kind.is_byte and stars > 1:
                raise GivenUp(BYTES_LATER)
            one = self.node("declare", name, [sizes or None, first])
            one.type = Type(
                kind.name,
                stars,
                kind.is_shared,
                kind.is_extern,
                own.is_reference,
                kind.is_constant,
                kind.args,
                is_byte=kind.is_byte,
                parameter=kind.parameter,
                is_short=kind.is_short,
            )
            found.append(one)
            stars = 0
            if not self.skip(","):
                break
        return self.node("block", start, found)

    def is_assigned(self, name: str) -> bool:
        """Whether it is given another value further on."""
        rest = self.tokens[self.at :]
        return any(a.text == name and b.text == "=" for a, b in pairwise(rest))

    def is_kernel(self, node: Node) -> bool:
        while node.kind in ("address", "template") and node.kids:
            node = node.kids[0]
        known = self.file.functions.get(node.text) if node.kind == "name" else None
        return known is not None and known.is_kernel

    def initialiser(self, kind: Type) -> Node:
        if self.now == "{":
            return self.braces()
        if self.now == "[":
            start = self.tokens[self.at]
            is_copy, captured = self.captures()
            if self.now == "<":
                self.at -= 1
                self.tokens[self.at] = replace(start, text="template")
                self.template_parameters()
            begin = self.at
            while self.now in ("__device__", "__host__"):
                self.take()
            parameters = self.parameters() if self.now == "(" else []
            pack = self.pack_given if parameters else ""
            while self.now in ("mutable", "constexpr"):
                self.take()
            self.given_later(kind)
            found = self.node("lambda", start, [self.block(), captured], "=" if is_copy else "[")
            found.given = tuple(parameters)
            found.pack = pack
            if self.now == "(" and self.at > begin:  # [&] { ... }()
                return self.postfix(found)
            return found
        return self.assignment()

    def captures(self) -> tuple[bool, list[Node]]:
        """Of a lambda: whether it has values of its own, and those that it is given: [at = p + 1]."""
        self.take("[")
        is_copy, found, depth = False, [], 0
        has_all = self.now == "&" and self.ahead() in (",", "]")
        while not self.skip("]"):
            if self.tokens[self.at].is_name() and self.ahead() == "=" and not depth:
                name = self.name()
                self.take()
                one = self.node("declare", name, [None, self.given()])
                one.type = Type("auto")
                found.append(one)
                is_copy = True
                continue
            text = self.take().text
            if text == "&":
                if self.tokens[self.at].is_name():
                    self.take()
                    if self.skip("="):
                        raise GivenUp("capture")
            elif text not in (",", "this", "*", "..."):
                is_copy = True
        return is_copy and not has_all, found

    def braces(self) -> Node:
        start = self.take("{")
        kids = []
        while not self.skip("}"):
            if self.now == "." and self.ahead(2) == "=":  # {.row = 1}
                self.take()
                name = self.name()
                self.take()
                kids.append(self.node("named", name, [self.given()]))
            else:
                kids.append(self.expanded(self.given()))
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
        if self.is_over_array():
            return self.over_array(token)
        first = self.simple(";")
        condition = self.comma() if self.now != ";" else None
        self.take(";")
        step = self.simple(")")
        return self.node("for", token, [first, condition, step, self.statement()])

    def _while(self, token: Token) -> Node:
        self.take("(")
        first = None
        if self.is_type():  # while (int left = n - at)
            first = self.declaration(self.type())
            condition = self.made(token, "name", [], first.kids[0].text)
        else:
            condition = self.comma()
        self.take(")")
        body = self.statement()
        if first is None:
            return self.node("for", token, [None, condition, None, body])
        left = self.made(token, "if", [condition, body, self.made(token, "break", [])])
        body = self.made(token, "block", [first, left])
        return self.node("for", token, [None, None, None, body])

    def _do(self, token: Token) -> Node:
        body = self.statement()
        self.take("while")
        self.take("(")
        condition = self.comma()
        self.take(")")
        self.take(";")
        return self.node("dowhile", token, [condition, body])

    def _if(self, token: Token) -> Node:
        self.skip("constexpr")
        self.take("(")
        first = None
        if self.is_type():  # if (int at = place(); at < n), if (float* to = place())
            first = self.declaration(self.type())
            if self.now == ")":
                condition = self.made(token, "name", [], first.kids[0].text)
            else:
                self.take(";")
                condition = self.comma()
        else:
            condition = self.comma()
        self.take(")")
        body = self.statement()
        other = self.statement() if self.skip("else") else None
        found = self.node("if", token, [condition, body, other])
        return found if first is None else self.made(token, "block", [first, found])

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


def parse(tokens: Sequence[Token]) -> File:
    """Raises GivenUp."""
    parser = Parser(plainer(list(tokens)))
    file = parser.parse()
    parser.settle()
    for function in [*file.functions.values(), *file.methods.values()]:
        finish(function.body)
    for node in file.globals:
        finish(node)
    for nodes in (*file.statics.values(), *file.lengths.values()):
        for node in nodes:
            finish(node)
    return file
