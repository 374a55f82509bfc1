"""Types as they stand in a file: templates, aliases, pointers."""

from __future__ import annotations

from dataclasses import replace

from grader.judging.repair.fragments import FRAGMENT
from grader.judging.repair.groups import TYPES as GROUPS
from grader.judging.repair.maps import MAPS
from grader.judging.repair.nodes import Node, Type, substituted
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import CONTAINERS, TEXTS
from grader.judging.repair.values import PAIR

SPECIFIERS = WORDS = {
    "const", "constexpr", "static", "inline", "volatile", "__restrict__", "__forceinline__", "register",
    "__device__", "__host__", "__global__", "__shared__", "extern", "unsigned", "signed", "typename",
    "__restrict", "restrict", "struct", "class", "mutable", "__noinline__", "__constant__", "__managed__",
    "__grid_constant__", "virtual",
}  # fmt: skip
# What says more about a declaration, in parentheses.
_ATTRIBUTES = ("alignas", "__align__", "__launch_bounds__", "__attribute__")
INTEGERS = {
    "int", "unsigned", "long", "short", "char", "size_t", "uint", "int32_t", "uint32_t", "int64_t",
    "uint64_t", "signed", "ptrdiff_t", "uintptr_t", "intptr_t", "uint8_t", "uint16_t", "ssize_t", "int8_t", "int16_t", "ushort", "uchar",
    "ulong", "int_fast32_t", "uint_fast32_t",
}  # fmt: skip
_TRAITS = frozenset(
    f"{word}{end}" for end in ("", "_t") for word in (
        "remove_const", "remove_cv", "remove_reference", "remove_cvref", "decay", "add_const",
        "make_unsigned", "make_signed", "type_identity",
    )
)  # fmt: skip
_BYTES = frozenset(("char", "uint8_t", "int8_t", "uchar", "byte"))
_SHORTS = frozenset(("uint16_t", "ushort"))
FLOATS = {"float", "double"}
HALVES = {"__nv_bfloat16": "bf16"}  # of 2 bytes
VECTORS = {
    f"{kind}{count}": count for kind in ("float", "int", "uint", "double") for count in (2, 3, 4)
} | {PAIR: 2}
SHORT_VECTORS = {f"{kind}{count}": count for kind in ("short", "ushort") for count in (2, 4)}
VECTORS |= SHORT_VECTORS
_SYNCHRONISED = ("pipeline", "pipeline_shared_state", "barrier")
SEQUENCES = frozenset(
    f"{make}{kind}_sequence" for make in ("", "make_") for kind in ("index", "integer")
)
_OF_TEMPLATES = (
    {"pipeline", "pipeline_shared_state", "barrier"}
    | CONTAINERS
    | MAPS
    | GROUPS
    | _TRAITS
    | {FRAGMENT, "function", "pair", "tuple", "optional", "variant"}
    | SEQUENCES
)
OPAQUE = frozenset(("cudaStream_t", "cudaEvent_t", "cudaError_t"))  # numbers of whatever meaning
_OWNING = frozenset(("unique_ptr", "shared_ptr"))  # read as the pointers that they hold
TYPES = (
    INTEGERS
    | FLOATS
    | set(HALVES)
    | {
        "bool",
        "void",
        "auto",
        "dim3",
        *VECTORS,
        "thread_block",
        "cudaError_t",
        "cudaStream_t",
        "cudaEvent_t",
        "cudaMemcpyKind",
        "cudaDeviceProp",
        "CUtensorMap",
        "cudaGraph_t",
        "cudaGraphExec_t",
        "cudaMemPool_t",
        "cudaLaunchConfig_t",
        "cudaLaunchAttribute",
        "unique_ptr",
        "shared_ptr",
        "decltype",
        *TEXTS,
    }
)


class TypeNames:
    """A part of Expressions."""

    def is_type(self) -> bool:
        text = self.now
        if text in self.variables and self.tokens[self.at - 1].text != "::":
            return False
        if text in WORDS or text in ("alignas", "__align__", "union", "enum"):
            return True
        if self.ahead() == "::":
            return self.is_nested_type()
        if self.ahead() == "<" and (text in self.file.structs or text in self.alias_templates):
            return self.is_template_type()
        if (text, self.ahead()) in (("array", "<"), ("decltype", "(")):
            return True
        if text in _OF_TEMPLATES and self.ahead() == "<":
            return True
        is_known = text in TYPES or text in self.file.structs or text in self.aliases
        if is_known and self.ahead() == "(" and self.ahead(2) in ("*", "&"):
            return self.ahead(4) == ")" and self.ahead(5) in ("[", "(")  # float (*row)[16]
        known = text in TYPES or text in self.file.structs or text in self.aliases
        return known and self.ahead() not in ("(", "{", "=", "+", ".", ";", ")", ",") or (
            known and text in self.file.structs and self.ahead() not in ("(", ".", "=", "{")
        )  # fmt: skip

    def is_template_type(self) -> bool:
        """Tile<16> tile, not Tile<16>(r, c).load() or Unroll<0, 4>::run(f)."""
        at, depth = self.at + 1, 0
        while self.tokens[at].text not in (";", "{", ""):
            text = self.tokens[at].text
            depth += (text in ("<", "(")) - (text in (">", ")")) - 2 * (text == ">>")
            at += 1
            if depth <= 0:
                break
        while self.tokens[at].text == "::":
            at += 2
        return self.tokens[at].text not in ("(", "{", ".", ",", ")", "=")

    def is_name_space(self, text: str) -> bool:
        return text in self.namespaces and self.ahead() == "::"

    def is_nested_type(self) -> bool:
        """detail::Tile tile, Config::Tile& tile: a type of a namespace or of a struct, before a name."""
        at = self.at
        while self.tokens[at + 1].text == "::":
            at += 2
        known = self.tokens[at].text
        if known not in self.file.structs and known not in self.aliases:
            return False
        following = self.tokens[at + 1]
        return following.is_name() or following.text in ("*", "&", "<")

    def type(self) -> Type:
        shared = extern = constant = False
        name = ""
        stars = 0
        parameter = ""
        args: tuple = ()
        of_outer: tuple = ()
        is_byte = is_short = is_unsigned = False
        sizes: tuple = ()
        while True:
            text = self.now
            if text in _ATTRIBUTES:
                self.take()
                self.balanced()
            elif text == "[" and self.ahead() == "[" and not name:  # [[nodiscard]]
                self.balanced()
            elif not name and self.begins_struct():
                name = self.structure()
            elif not name and text == "enum":
                name = self.enumerated().name if self.begins_enum() else ""
                if not name:
                    self.at += 1 + (self.ahead() in ("class", "struct"))
            elif text in WORDS:
                if text in ("struct", "class") and self.ahead(2) in ("*", ";"):
                    self.file.structs.setdefault(self.ahead(), [])  # it may follow
                shared = shared or text == "__shared__"
                extern = extern or text == "extern"
                constant = constant or text in ("const", "constexpr")
                if text in ("unsigned", "signed"):
                    name = name or "int"
                    is_unsigned = text == "unsigned"
                self.take()
                if text == "extern" and self.now.startswith('"'):
                    self.take()
            elif text in INTEGERS and name in ("", "int"):
                name = "int"
                is_byte = is_byte or text in _BYTES
                is_short = is_short or text in _SHORTS or (text == "short" and is_unsigned)
                self.take()
            elif not name and text == "decltype":
                self.take()
                self.balanced()
                name = "auto"
            elif not name and text not in _OWNING and (text in TYPES or text in self.file.structs):
                name = "float" if text == "double" else HALVES.get(text, text)
                self.take()
                if self.now == "<" and self.file.parameters.get(name):
                    args = self.struct_arguments(name)
                known = self.member_alias(name, args)
                if known is not None:
                    self.at += 2
                    name, args, sizes = known.name, known.args, known.sizes
                    stars, parameter = known.stars, known.parameter
                elif self.skip("::"):  # Outer<16>::Inner has what Outer stands for
                    name, of_outer, args = "", args, ()
            elif not name and text in self.aliases and not self.is_name_space(text):
                alias = self.aliases[text]
                name, args, sizes, stars = alias.name, alias.args, alias.sizes, alias.stars
                parameter, is_short = alias.parameter, alias.is_short
                is_byte = is_byte or alias.is_byte
                self.take()
                if parameter and self.now == "<" and not args:  # a parameter that is a template
                    args = self.template_arguments()
                if text in self.alias_templates and self.now == "<":
                    args = self.of_alias(text, args)
                if self.skip("::"):  # Outer<16>::Inner has what Outer stands for
                    name, of_outer, args = "", args, ()
            elif not name and self.is_name_space(text):
                self.at += 2
            elif not name and text == "array" and self.ahead() == "<":  # std::array<float, 4>
                self.at += 2
                inner = self.type()
                self.take(",")
                name, args, stars = inner.name, inner.args, inner.stars
                sizes = (self.binary(8), *inner.sizes)
                self.close_angle()
            elif not name and text in GROUPS:
                self.take()
                name = "auto"
                if self.now == "<":
                    self.template_arguments()
            elif not name and text == FRAGMENT and self.ahead() == "<":
                self.take()
                name, args = FRAGMENT, self.template_arguments()
            elif not name and text in CONTAINERS and self.ahead() == "<":
                self.take()
                name, args = "vector", self.template_arguments()
            elif not name and text in ("optional", "variant") and self.ahead() == "<":
                self.take()
                self.template_arguments()
                name = "auto"
                self.file.has_optionals |= text == "optional"
            elif not name and text in SEQUENCES and self.ahead() == "<":
                self.take()
                name, args = "sequence", self.template_arguments()[-1:]
            elif not name and text in MAPS and self.ahead() == "<":
                self.take()
                name, args = "map", self.template_arguments()
            elif not name and text in _OWNING:
                self.take()
                self.take("<")
                inner = self.type()
                self.to_angle()
                name, args, stars = inner.name, inner.args, inner.stars + 1
            elif not name and text in _TRAITS and self.ahead() == "<":
                self.take()
                inner = self.template_arguments()[0].type
                if inner is None:
                    raise GivenUp(text)
                name, args, stars, parameter = inner.name, inner.args, inner.stars, inner.parameter
                if self.skip("::"):  # typename std::decay<T>::type
                    self.take()
            elif not name and text in ("pair", "tuple") and self.ahead() == "<":
                self.take()
                self.template_arguments()
                name = "tuple"
            elif not name and text in _SYNCHRONISED and self.ahead() == "<":
                self.take()
                self.template_arguments()
                name = text
            elif not name and text == "function" and self.ahead() == "<":
                self.at += 2
                self.to_angle()
                name = "auto"
            else:
                break
        if not name:
            raise GivenUp(f"a type at line {self.tokens[self.at].line}: {self.now}")
        args = args or (of_outer if self.file.parameters.get(name) else ())
        reference = to_rows = False
        while self.now in ("*", "&", "&&", "const", "__restrict__", "__restrict", "volatile"):
            stars += self.now == "*"
            to_rows = to_rows or bool(sizes) and self.now != "const"
            reference = reference or self.now in ("&", "&&")
            self.take()
        return Type(
            name, stars, shared, extern, reference, constant, args, sizes, to_rows, is_byte,
            parameter, is_short,
        )  # fmt: skip

    def member_alias(self, name: str, args: tuple) -> Type | None:
        """Vector<4>::type, as it is for just this number."""
        if self.now != "::":
            return None
        for given, special in self.file.specials.get(name, ()):
            if [one.text for one in given] == [one.text for one in args]:
                name = special
        return self.member_aliases.get((name, self.ahead()))

    def struct_arguments(self, name: str) -> tuple:
        """What a struct template is given, and what it has where nothing is given."""
        known = dict(zip(self.file.parameters[name], self.template_arguments(), strict=False))
        for one, default in self.file.defaults.get(name, {}).items():
            known.setdefault(one, substituted(default, known))
        return tuple(known.values())

    def of_alias(self, name: str, args: tuple) -> tuple:
        """template <class T> using Rows = Tile<T, 16>; Rows<float> has what Tile is given."""
        given = dict(zip(self.alias_templates[name], self.template_arguments(), strict=False))
        return tuple(substituted(one, given) for one in args)

    def template_argument(self) -> Node:
        token = self.tokens[self.at]
        known = token.text in TYPES | WORDS | set(self.file.structs) | set(self.aliases)
        known = known or (token.text in _OF_TEMPLATES and self.ahead() == "<")
        if not known or self.ahead() == "::":
            return self.binary(7)
        found = self.node("type", token)
        found.type = self.type()
        found.kids = list(found.type.args)
        return found

    def template_arguments(self) -> tuple[Node, ...]:
        self.take("<")
        self.angles += 1
        found = [] if self.now == ">" else [self.template_argument()]
        self.skip("...")
        while self.skip(","):
            found.append(self.template_argument())
            self.skip("...")
        self.angles -= 1
        self.close_angle()
        return tuple(found)

    def to_angle(self) -> None:
        """Over all that is left of template arguments."""
        depth = 0
        while depth or self.now not in (">", ">>"):
            if self.now == "(":  # (sizeof(T) > 2)
                self.balanced()
                continue
            text = self.take().text
            depth += (text == "<") - (text == ">") - 2 * (text == ">>")
            if depth < 0:  # the second half of >> was the last
                return
        self.close_angle()

    def close_angle(self) -> None:
        """Takes >, or the first half of >>."""
        token = self.tokens[self.at]
        if token.text == ">>":
            half = replace(token, text=">")
            self.tokens[self.at : self.at + 1] = [half, half]
        self.take(">")

    def pointed(self, kind: Type) -> Type:
        """float (*)[16]: to rows of 16."""
        if self.now != "(" or self.ahead() not in ("*", "&"):
            return kind
        self.at += 2
        self.take(")")
        sizes = []
        while self.skip("["):
            sizes.append(self.ternary())
            self.take("]")
        return Type(kind.name, 1, sizes=tuple(sizes))


def size_of_type(kind: Type) -> int:
    """In bytes, of what is no struct."""
    if kind.stars:
        return 8
    if kind.name == "bool" or kind.is_byte:
        return 1
    is_half = kind.is_short or kind.name in SHORT_VECTORS or kind.name in HALVES.values()
    return VECTORS.get(kind.name, 1) * (2 if is_half or kind.name == PAIR else 4)
