"""Reads tokens: types and expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from grader.judging.repair.nodes import MADE, File, Node, Type
from grader.judging.repair.reading import GivenUp, Token
from grader.judging.repair.standard import CONTAINERS
from grader.judging.repair.type_names import (
    FLOATS,
    INTEGERS,
    OPAQUE,
    SEQUENCES,
    TYPES,
    VECTORS,
    WORDS,
    TypeNames,
    size_of_type,
)

_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"),
    ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_ASSIGNS = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=")
_MAKING = frozenset(("make_unique", "make_shared"))
_ITSELF = frozenset(("move", "forward", "as_const", "ref", "cref"))
TRAITS = {
    "is_same": lambda one, other: one == other, "is_floating_point": lambda one: one == "float",
    "is_integral": lambda one: one in ("int", "bool"),
}  # fmt: skip
_CLOCKS = frozenset(("high_resolution_clock", "steady_clock", "system_clock"))
_TEMPLATES = frozenset(
    (
        "copy_async",
        "get",
        "aligned_size_t",
        "pipeline_consumer_wait_prior",
        "wait_prior",
        "tiled_partition",
        "plus",
        *_ITSELF,
    )
)  # functions that nobody writes


class Expressions(TypeNames):
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = [*tokens, Token("", 0, 0)]
        # What is called as a template of the library is.
        self.variables = {
            one.text
            for one, two in pairwise(self.tokens)
            if one.text in ("pair", "tuple") and two.text in ("=", ";", ",", ")")
        }
        self.at = 0
        self.file = File()
        self.aliases: dict[str, Type] = {}
        self.inside = ""  # the struct that is being read
        self.member_aliases: dict[tuple[str, str], Type] = {}
        self.alias_templates: dict[str, list[str]] = {}
        self.templates: set[str] = set()  # names of functions with template parameters
        self.namespaces: set[str] = {"std"}
        self.qualified: list[Node] = []  # names of constants behind those of namespaces
        self.labels: set[str] = set()  # of a function
        self.jumps: set[str] = set()  # labels that it jumps to
        self.kernels: dict[str, Node] = {}  # auto kernel = product<16>;
        self.outside: dict[tuple[str, str], tuple] = {}  # methods that follow outside of structs
        self.members: dict[str, object] = {}  # structs that have been read
        self.last_key = MADE  # of nodes that stand nowhere in the file
        self.angles = 0  # lists of template arguments that are open: >> closes two of them

    # --- tokens

    @property
    def now(self) -> str:
        return self.tokens[self.at].text

    def ahead(self, by: int = 1) -> str:
        return self.tokens[min(self.at + by, len(self.tokens) - 1)].text

    def take(self, expected: str | None = None) -> Token:
        token = self.tokens[self.at]
        if (expected is not None and token.text != expected) or not token.text:
            raise GivenUp(f"{expected} at line {token.line}: {token.text}")
        self.at += 1
        return token

    def skip(self, text: str) -> bool:
        if self.now == text:
            self.at += 1
            return True
        return False

    def name(self) -> Token:
        if not self.tokens[self.at].is_name():
            raise GivenUp(f"a name at line {self.tokens[self.at].line}")
        return self.take()

    def function_name(self) -> Token:
        """`operator+` is a name, too."""
        token = self.name()
        if token.text != "operator":
            return token
        signs = ""
        while self.now != "(" or not signs:
            signs += self.take().text
            if signs == "(":
                signs += self.take(")").text
        return Token("operator" + signs, token.line, token.key)

    def balanced(self) -> None:
        depth = 0
        while True:
            text = self.take().text
            depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
            if not depth:
                return

    def node(self, kind: str, token: Token, kids: Sequence = (), text: str = "") -> Node:
        found = Node(kind, list(kids), text or token.text, token.line, token.key)
        found.macro = token.macro
        return found

    # --- types

    # --- expressions

    def list_until(self, end: str) -> list[Node]:
        found = []
        while not self.skip(end):
            found.append(self.expanded(self.given()))
            if self.now != end:
                self.take(",")
        return found

    def expanded(self, node: Node) -> Node:
        """f(args)...: of each of them."""
        if self.now != "...":
            return node
        return self.node("expand", self.take(), [node])

    def count_of_pack(self, token: Token) -> Node:
        """sizeof...(args)"""
        self.balanced()
        return self.node("count of pack", token)

    def given(self) -> Node:
        """An argument: {row, col} where a struct is meant."""
        if self.now == "{":
            return self.braces()
        if self.now == "[":  # a lambda
            return self.initialiser(Type("auto"))
        return self.assignment()

    def assignment(self) -> Node:
        left = self.ternary()
        if self.now in _ASSIGNS:
            sign = self.take()
            right = self.braces() if self.now == "{" else self.assignment()
            return self.node("assign", sign, [left, right])
        return left

    def comma(self) -> Node:
        """a, b: the first for what it does, the last for its value."""
        found = self.assignment()
        while self.now == ",":
            sign = self.take()
            if self.skip("..."):
                return self.node("fold", sign, [None, found])
            found = self.node("comma", sign, [found, self.assignment()])
        return found

    def ternary(self) -> Node:
        condition = self.binary(0)
        if self.now != "?":
            return condition
        mark = self.take()
        yes = self.assignment()
        self.take(":")
        return self.node("choose", mark, [condition, yes, self.assignment()])

    def binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.now in _LEVELS[level] and not (self.angles and self.now == ">>"):
            sign = self.take()
            if self.skip("..."):  # (args + ...), (0 + ... + args)
                is_first = self.skip(sign.text)
                last = self.binary(level + 1) if is_first else left
                return self.node("fold", sign, [left if is_first else None, last])
            left = self.node("binary", sign, [left, self.binary(level + 1)])
        return left

    def unary(self) -> Node:
        token = self.tokens[self.at]
        if token.text in ("!", "-", "~", "+", "*", "&"):
            self.take()
            kind = {"*": "deref", "&": "address"}.get(token.text, "unary")
            return self.node(kind, token, [self.unary()])
        if token.text in ("++", "--"):
            self.take()
            return self.node("before", token, [self.unary()])
        if token.text == "sizeof":
            return self.sizeof()
        if token.text == "new":
            return self.new()
        if token.text == "[":  # a lambda
            return self.postfix(self.initialiser(Type("auto")))
        if token.text == "delete" and (self.ahead() == "[" or self.ahead().isidentifier()):
            self.take()
            if self.skip("["):
                self.take("]")
            return self.node("delete", token, [self.unary()])
        if token.text == "(" and self._is_cast():
            self.take()
            kind = self.pointed(self.type())
            self.take(")")
            if self.now == "{":
                return self.literal(token, kind)
            return self.cast(token, kind, self.unary())
        return self.postfix(self.primary())

    def literal(self, token: Token, kind: Type) -> Node:
        """(Place){r, c}"""
        self.take()
        given = self.list_until("}")
        if kind.name == "dim3" or kind.name in VECTORS:
            return self.node("make", token, given, kind.name)
        found = self.node("built", token, given, kind.name)
        found.type = kind
        return found

    def cast(self, token: Token, kind: Type, inner: Node) -> Node:
        if kind.is_reference and not kind.sizes:
            if token.text != "reinterpret_cast":  # static_cast<Derived&>(*this)
                return inner
            kind = replace(kind, is_reference=False, stars=kind.stars + 1)
            place = self.made(token, "address", [inner], "&")
            found = self.node("cast", token, [place])
            found.type = kind
            return self.made(token, "deref", [found], "*")
        found = self.node("cast", token, [inner])
        found.type = kind
        return found

    def new(self) -> Node:
        """new float[n], new Buffer(n)"""
        token = self.take()
        if self.now == "(":  # where it is to lie
            raise GivenUp("new")
        kind, sizes, given = self.type(), [], None
        while self.skip("["):
            sizes.append(self.assignment())
            self.take("]")
        if self.now in ("(", "{"):
            start = self.take()
            is_call = start.text == "("
            given = self.node(
                "make" if is_call else "braces", start, self.list_until(")" if is_call else "}")
            )
        found = self.node("new", token, [sizes, given])
        found.type = kind
        return found

    def _is_cast(self) -> bool:
        self.at += 1
        text = self.now
        is_known = (
            text in TYPES or text in WORDS or text in self.file.structs or text in self.aliases
        ) and self.ahead() not in ("::", "{", ".")
        if self.ahead() == "(":  # (dim3(n, n)) is none, (float (*)[16]) is one
            is_known = is_known and self.ahead(2) in ("*", "&")
        self.at -= 1
        return is_known

    def sizeof(self) -> Node:
        token = self.take()
        if self.skip("..."):
            return self.count_of_pack(token)
        if self.now != "(":  # sizeof *P
            return self.node("sizeof", token, [self.unary()])
        self.take("(")
        if self.now in {*TYPES, *WORDS, *self.file.structs, *self.aliases}:
            kind = self.type()
            self.take(")")
            if kind.name in self.file.structs and not kind.stars:
                found = self.node("sizeof", token)
                found.type = kind
                return found
            found = self.node("number", token, text=str(size_of_type(kind)))
            for size in () if kind.is_to_rows else kind.sizes:
                found = self.made(token, "binary", [size, found], "*")
            return found
        found = self.node("sizeof", token, [self.assignment()])
        self.take(")")
        return found

    def primary(self) -> Node:
        self.skip("::")
        space = ""
        while self.ahead() == "::" and self.now in self.namespaces:
            space = self.now
            self.at += 2
        token = self.take()
        text = token.text
        if space in self.file.statics and token.is_name() and self.now not in ("(", "<", "::"):
            known = self.file.statics[space]
            if any(one.text == text for node in known for one in node.kids):
                found = self.node("scoped", token)
                found.type, found.macro = Type(space), f"{space}::{text}"
                self.qualified.append(found)
                return found
        if text in _CLOCKS and self.now == "::":  # steady_clock::now()
            self.at += 2
            self.balanced()
            return self.node("number", token, text="0")
        if self.now == "::" or (self.now == "<" and self.is_struct_template(text)):
            return self.scoped(token)
        if text == "(":
            angles, self.angles = self.angles, 0
            if self.skip("..."):  # (... + args)
                sign = self.take()
                found = self.node("fold", sign, [None, self.unary()])
            else:
                found = self.comma()
            self.angles = angles
            self.take(")")
            return found
        if text[0].isdigit() or text[0] == ".":
            return self.node("number", token)
        if text[0] == '"':
            return self.node("string", token)
        if text[0] == "'":
            return self.node("number", token, text=str(ord(text[1]) if len(text) == 3 else 0))
        if text in ("true", "false"):
            return self.node("number", token, text=str(int(text == "true")))
        if text in ("NULL", "nullptr", "__FILE__", "__LINE__"):
            return self.node("number", token, text="0")
        if text == "__builtin_bit_cast" or (text == "bit_cast" and self.now == "<"):
            return self.bits(token)
        if text in ("reinterpret_cast", "static_cast", "const_cast"):
            self.take("<")
            kind = self.pointed(self.type())
            self.take(">")
            self.take("(")
            found = self.cast(token, kind, self.assignment())
            self.take(")")
            return found
        if not token.is_name():
            raise GivenUp(f"{text} at line {token.line}")
        if text in self.kernels and self.now != "<<<":
            return self.kernels[text]
        if text in INTEGERS | FLOATS | {"bool"}:
            close = ")" if self.take().text == "(" else "}"
            found = self.node("cast", token, [self.assignment()])
            found.type = Type("int" if text in INTEGERS else "float" if text in FLOATS else "bool")
            self.take(close)
            return found
        kind = text.removeprefix("make_")
        if (kind == "dim3" or kind in VECTORS) and self.now in ("(", "{"):
            close = ")" if self.take().text == "(" else "}"
            return self.node("make", token, self.list_until(close), kind)
        if text == "decltype":  # decltype(n){0}
            self.balanced()
            close = {"(": ")", "{": "}"}[self.take().text]
            given = self.list_until(close)
            return given[0] if given else self.node("number", token, text="0")
        if text in OPAQUE and self.now in ("(", "{"):  # cudaStream_t{}
            self.balanced()
            return self.node("number", token, text="0")
        if text in SEQUENCES and self.now == "<":  # std::make_index_sequence<4>{}
            found = self.node("sequence", token, self.template_arguments()[-1:])
            self.balanced()
            return found
        if text.removesuffix("_v") in TRAITS and self.now == "<":
            found = self.node("trait", token, self.template_arguments(), text.removesuffix("_v"))
            if self.skip("::"):
                self.take("value")
            elif self.now == "{":
                self.balanced()
            return found
        if text in ("duration", "duration_cast") and self.now == "<":
            self.take()
            self.to_angle()
            self.balanced()
            if self.now == "." and self.ahead() == "count":
                self.at += 2
                self.balanced()
            return self.node("number", token, text="0")
        if text == "numeric_limits" and self.now == "<":
            return self.limit(token)
        if text in _MAKING and self.now == "<":
            return self.making(token)
        is_container = text in CONTAINERS | {"pair", "tuple"} and text not in self.variables
        if is_container and self.now == "<":
            return self.container(token)
        if text in self.aliases and self.now in ("(", "{"):
            return self.converted(token)
        if text in self.alias_templates and self.now == "<":
            return self.container(token)
        if text in self.file.structs and self.now == "{":
            self.take()
            return self.node("built", token, self.list_until("}"))
        if text in self.file.structs and self.now == "(":
            self.take()
            return self.node("built", token, self.list_until(")"))
        return self.node("name", token)

    def bits(self, token: Token) -> Node:
        """std::bit_cast<uint32_t>(pair), __builtin_bit_cast(uint32_t, pair)"""
        is_template = self.take().text == "<"
        kind = self.type()
        self.take(">" if is_template else ",")
        if is_template:
            self.take("(")
        found = self.node("bits", token, [self.assignment()])
        found.type = kind
        self.take(")")
        return found

    def making(self, token: Token) -> Node:
        """std::make_unique<float[]>(n), std::make_unique<Buffer>(n)"""
        self.take("<")
        kind = self.type()
        is_array = self.skip("[")
        if is_array:
            self.take("]")
        self.close_angle()
        start = self.take("(")
        given = self.node("make", start, self.list_until(")"))
        sizes = given.kids if is_array else []
        found = self.node("new", token, [sizes, given if not is_array else None])
        found.type = kind
        found.macro = "zeros" if is_array else ""
        return found

    def container(self, token: Token) -> Node:
        """std::vector<float>(n), std::pair<int, int>(a, b)"""
        self.at -= 1
        kind = self.type()
        start = self.take()
        is_call = start.text == "("
        given = self.list_until(")" if is_call else "}")
        found = self.node(
            "object", token, [self.node("make" if is_call else "braces", start, given)]
        )
        found.type = kind
        return found

    def limit(self, token: Token) -> Node:
        """std::numeric_limits<int>::max()"""
        self.take("<")
        kind = self.type()
        self.take(">")
        self.take("::")
        name = self.name().text
        self.balanced()
        if kind.name != "int" or name not in ("max", "min"):
            raise GivenUp("limits")
        return self.node("number", token, text=str((1 << 31) - 1 if name == "max" else 0))

    def converted(self, token: Token) -> Node:
        """real(0), where real is float; Pair{a, b}, where it is a struct."""
        kind = self.aliases[token.text]
        if kind.parameter and kind.name == "auto" and self.now in ("(", "{"):
            return self.of_parameter_type(token, kind)
        close = ")" if self.take().text == "(" else "}"
        given = self.list_until(close)
        if kind.name in self.file.structs and not kind.stars:
            found = self.node("built", token, given, kind.name)
        elif (kind.name == "dim3" or kind.name in VECTORS) and not kind.stars:
            return self.node("make", token, given, kind.name)
        elif len(given) > 1 and not kind.stars:  # of a shared_ptr the second one frees
            raise GivenUp("conversion")
        else:
            found = self.node("cast", token, given[:1] or [self.node("number", token, text="0")])
        found.type = kind
        return found

    def of_parameter_type(self, token: Token, kind: Type) -> Node:
        """T{a, b}, T(x), where T is a template's parameter."""
        start = self.take()
        is_call = start.text == "("
        given = self.list_until(")" if is_call else "}")
        made = self.node("make" if is_call else "braces", start, given)
        found = self.node("of parameter", token, [made])
        found.type = kind
        return found

    def is_struct_template(self, name: str) -> bool:
        return bool(self.file.parameters.get(name)) and name in self.file.structs

    def scoped(self, token: Token) -> Node:
        """A struct's constant or function: Cfg::BM. Or Tile<16>{}."""
        known = self.aliases.get(token.text, Type(token.text))
        if known.name == "auto":  # a template parameter
            known = Type(known.parameter or token.text, args=known.args)
        if self.now == "<":
            known = Type(token.text, args=self.struct_arguments(token.text))
            if self.now in ("(", "{"):
                close = ")" if self.take().text == "(" else "}"
                found = self.node("built", token, self.list_until(close))
                found.type = known
                return found
        self.take("::")
        name = self.name()
        found = self.node("scoped", name, list(known.args))
        found.type, found.macro = known, f"{token.text}::{name.text}"
        return found

    def postfix(self, found: Node) -> Node:
        while True:
            token = self.tokens[self.at]
            text = token.text
            if text == "[":
                self.take()
                found = self.node("index", token, [found, self.assignment()])
                self.take("]")
            elif text == "(":
                self.take()
                given = self.list_until(")")
                if self.is_itself(found, given):
                    found = given[0]
                else:
                    found = self.node("call", token, [found, *given])
            elif text in (".", "->"):
                self.take()
                self.skip("template")
                name = self.name()
                found = self.node("member", name, [found])
            elif text in ("++", "--"):
                self.take()
                found = self.node("after", token, [found])
            elif (
                text == "<"
                and found.kind in ("name", "member", "scoped")
                and found.text in self.templates | _TEMPLATES
            ):
                found = self.node("template", token, [found, *self.template_arguments()])
            elif (
                text == "<"
                and found.kind == "name"
                and found.text in ("min", "max")
                and self.ahead() in TYPES | WORDS
            ):
                found = self.node("template", token, [found, *self.template_arguments()])
            elif text == "<<<":
                self.take()
                if found.kind == "name":
                    found = self.kernels.get(found.text, found)
                settings = [self.given()]
                while self.skip(","):
                    settings.append(self.given())
                self.take(">>>")
                self.take("(")
                found = self.node("launch", token, [found, settings, self.list_until(")")])
            else:
                return found

    def is_itself(self, called: Node, given: list[Node]) -> bool:
        """std::move(x) and its like are x."""
        if called.kind == "template":
            called = called.kids[0]
        return (
            called.kind == "name"
            and called.text in _ITSELF
            and len(given) == 1
            and called.text not in self.file.named
        )
