"""Reads structs, classes and enums."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.judging.repair.beginnings import EXCEPTIONS, Beginnings, Members
from grader.judging.repair.fragments import FRAGMENT
from grader.judging.repair.nodes import Function, Node, Type
from grader.judging.repair.reading import BYTES_LATER, GivenUp, Token
from grader.judging.repair.type_names import SPECIFIERS

_BEFORE_METHODS = frozenset(
    ("explicit", "inline", "virtual", "constexpr", "__host__", "__device__", "__forceinline__")
)


_ALIGNED = ("alignas", "__align__", "__attribute__")
END = "~"  # what a destructor is called, whoever's
_COPYING = frozenset(("cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpy2D", "memcpy", "copy", "<<<"))
CONVERSION = "operator type"  # operator float*(), whatever it makes


class Structs(Beginnings):
    """A part of Parser, which has block(), parameters() and their like."""

    def enum(self) -> None:
        """enum Way { RIGHT, DOWN } way; of a file."""
        kind = self.type()
        if self.now != ";":
            self.file.globals.append(self.declaration(kind))
        self.take(";")

    def begins_enum(self) -> bool:
        """Not `enum Way way;`"""
        at = self.at + 1
        while self.tokens[at].text not in ("{", ";", ")", "=", "(", ""):
            at += 1
        return self.now == "enum" and self.tokens[at].text == "{"

    def enumerated(self) -> Type:
        """An enum's names, which become constants; up to its }."""
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
        return Type("int")

    def constants_apart(self, read: Callable[[], object]) -> tuple[object, list[Node]]:
        """What it reads, and the enum's constants that this makes, which are not the whole file's."""
        before = len(self.file.globals)
        found = read()
        constants = self.file.globals[before:]
        del self.file.globals[before:]
        return found, constants

    def begins_struct(self) -> bool:
        """struct Tile {, class alignas(16) Tile : and the like, not `struct Tile t;`"""
        if self.now not in ("struct", "class", "union"):
            return False
        at = self.at + 1
        at = self.behind_attributes(at)
        if self.tokens[at + 1].text == "<":  # template <> struct Dot<0> {
            depth = 0
            while self.tokens[at].text and (depth or self.tokens[at].text != "{"):
                text = self.tokens[at].text
                if text in (";", "(", ")", "="):
                    return False
                at += 1
            return self.tokens[at].text == "{"
        return self.tokens[at].text == "{" or self.tokens[at + 1].text in ("{", "final", ":")

    def given_later(self, kind: Type) -> Type:
        """auto f() -> float, and the words behind a method's parameters."""
        while self.now in ("const", "noexcept", "override", "final", "&", "&&"):
            self.take()
        if self.now == "->":
            self.take()
            kind = self.type()
            if self.now == "(" and self.ahead() in ("*", "&"):  # -> const float (&)[4]
                self.balanced()
                while self.now == "[":
                    self.balanced()
                kind = Type("auto")
        return kind

    def struct(self) -> None:
        """typedef struct { int row, col; } Place, *Where;"""
        name = self.structure(later=self.name_behind())
        self.attributes()
        while self.now != ";":
            stars = 0
            while self.skip("*"):
                stars += 1
            alias = self.name().text
            if alias != name:
                self.aliased(alias, Type(name, stars))
            self.skip(",")
        self.take(";")

    def behind_attributes(self, at: int) -> int:
        """alignas(sizeof(T) * N)"""
        while self.tokens[at].text in _ALIGNED:
            depth, at = 0, at + 1
            while self.tokens[at].text:
                depth += (self.tokens[at].text == "(") - (self.tokens[at].text == ")")
                at += 1
                if not depth:
                    break
        return at

    def attributes(self) -> None:
        while self.now in _ALIGNED:
            self.take()
            self.balanced()

    def name_behind(self) -> str:
        """What a typedef calls the struct that begins here."""
        at, depth = self.at, 0
        while at < len(self.tokens) - 2:
            text = self.tokens[at].text
            depth += (text == "{") - (text == "}")
            at += 1
            if text == "}" and not depth:
                break
        at = self.behind_attributes(at)
        return self.tokens[at].text if self.tokens[at].is_name() else ""

    def structure(
        self, templates: Sequence[str] = (), later: str = "", defaults: dict | None = None
    ) -> str:
        """A struct, class or union up to its }; its name."""
        token = self.take()
        self.attributes()
        if self.now not in ("{", ":"):
            name = self.take().text
        else:
            self.last_key += 1
            name = later or f"<{self.last_key}>"
        if self.now == "<" and name in self.file.structs:  # template <> struct Dot<0>
            given = self.template_arguments()
            special = f"{name}<{len(self.file.specials.get(name, ()))}>"
            self.file.specials.setdefault(name, []).append((given, special))
            name = special
        if defaults:
            self.file.defaults[name] = defaults
        if token.text == "union":
            self.file.unions.add(name)
        self.skip("final")
        self.file.structs.setdefault(name, [])
        self.file.parameters[name] = list(templates)
        fields = self.derived(name)
        self.file.structs[name] = fields
        own = Members(name, fields, list(templates))
        self.file.statics[name] = own.statics
        self.take("{")
        outside, self.inside = self.inside, name
        while not self.skip("}"):
            self.member_of(own)
        self.inside = outside
        self.members[name] = own
        self.begins(own)
        for field, sizes in own.lengths.items():
            self.file.lengths[name, field] = sizes
        return name

    def member_of(self, own: Members) -> None:
        """One declaration within a struct."""
        name = own.name
        if self.now in ("public", "private", "protected"):
            self.take()
            self.take(":")
            return
        if self.skip(";") or self.made_or_ended(own):
            return
        if self.now == "using":  # using Base<float>::Base;
            at = self.at
            self.pass_over()
            words = [one.text for one in self.tokens[at + 1 : self.at - 1]]
            if "=" not in words and "::" in words:
                if words[0] == words[-1]:
                    own.inherits.append(words[0])
                return
            self.at = at
        if self.skip("using"):
            self.using()
            return
        if self.skip("typedef"):
            self.typedef()
            return
        if self.now == "static_assert":
            self.pass_over()
            return
        if self.befriends():
            return
        at = self.at
        of_method, kinds, defaults = self.template_parameters()
        if self.skip("using"):  # template <int S> using Rows = Tile<S, N>;
            self.using(of_method)
            return
        is_static = self.begins_static()
        if self.is_conversion():
            self.read_or_pass(lambda: self.converts(name))
            return
        if self.begins_struct():
            kind = Type(self.structure([*own.templates, *of_method], defaults=defaults))
            if self.now == ";" and kind.name[0] == "<":  # its members are this one's
                own.fields.append((kind, kind.name))
        else:
            kind, constants = self.constants_apart(self.type)
            own.statics += constants
        if self.skip(";"):
            return
        if self.ahead() == "(" or self.now == "operator":
            try:
                self.method(kind, name, is_static, of_method, kinds, defaults)
            except GivenUp as why:
                self.at = at
                self.pass_over(str(why))
            return
        if is_static:
            own.statics.append(self.declaration(kind))
            self.take(";")
            return
        while True:
            self.field(own, kind)
            if not self.skip(","):
                break
        self.take(";")

    def befriends(self) -> bool:
        """friend class Pool; or a function that stands here and is the file's."""
        at = self.at
        while self.tokens[at].text in (*SPECIFIERS, *_BEFORE_METHODS):
            at += 1
        if self.tokens[at].text != "friend":
            return False
        if self.tokens[at + 1].text in ("class", "struct"):
            self.pass_over()
            return True
        del self.tokens[at]
        inside, self.inside = self.inside, ""
        self.read_or_pass(self.top)
        self.inside = inside
        return True

    def begins_static(self) -> bool:
        """Whether `static` is among the words before a type."""
        at = self.at
        while self.tokens[at].text in SPECIFIERS and self.tokens[at].text != "static":
            at += 1
        return self.tokens[at].text == "static"

    def field(self, own: Members, kind: Type) -> None:
        stars, is_reference = kind.stars, kind.is_reference
        while self.now in ("*", "&", "const", "__restrict__", "__restrict"):
            sign = self.take().text
            stars += sign == "*"
            is_reference = is_reference or sign == "&"
        if self.now == "(" and self.ahead() in ("*", "&"):  # void (*run)(int), float (*row)[16]
            self.at += 2
            field = self.name().text
            self.take(")")
            if self.now == "(":
                kind, stars = Type("auto"), 0
            while self.now in ("(", "["):
                self.balanced()
            stars += kind.name != "auto"
        else:
            if kind.is_byte and stars > 1:
                raise GivenUp(BYTES_LATER)
            field = self.name().text
        is_of_template = kind.name in ("vector", "map", FRAGMENT) or kind.name in self.file.structs
        args = kind.args if is_of_template else ()
        one = Type(
            kind.name, stars, is_reference=is_reference, args=args, is_byte=kind.is_byte,
            parameter=kind.parameter, is_short=kind.is_short,
        )  # fmt: skip
        own.fields.append((one, field))
        if self.skip(":"):  # unsigned row : 4
            self.ternary()
        sizes = []
        while self.skip("["):
            sizes.append(self.ternary())
            self.take("]")
        sizes += [] if kind.is_to_rows else kind.sizes
        if sizes:
            own.lengths[field] = sizes
        if self.now in ("=", "{"):
            token = self.tokens[self.at]
            self.skip("=")
            first = self.initialiser(kind)
            if first.kind != "braces":
                first = self.node("make", token, [first])
            own.firsts.append(self.node("begin", Token(field, token.line, token.key), [first]))

    def made_or_ended(self, own: Members) -> bool:
        """A constructor of a struct, which is kept, or its destructor: it frees, and is passed over."""
        at, name = self.at, own.name
        if self.now == "template":
            templates, kinds, defaults = self.template_parameters()
        else:
            templates, kinds, defaults = [], frozenset(), {}
        while self.now in _BEFORE_METHODS:
            self.take()
        if self.now == "explicit":
            self.take()
        if self.now == "~":
            self.take()
            token = self.name()
            self.balanced()
            self.given_later(Type("void"))
            if self.skip("="):
                self.take()
            elif self.now == "{":
                self.at_end(own, token)
            self.skip(";")
            return True
        if not name or self.now != name or self.ahead() != "(":
            self.at = at
            return False
        token = self.take()
        self.constructor(own, token, templates, kinds, defaults)
        return True

    def at_end(self, own: Members, token: Token) -> None:
        """A destructor's body, which is kept if more than memory goes: what it copies is of interest."""
        at = self.at
        self.balanced()
        words = {one.text for one in self.tokens[at : self.at]}
        if not words.isdisjoint(_COPYING):
            self.at = at
            body = self.body()
            self.file.keep(Function(END, Type("void"), [], body, False, token.line, owner=own.name))

    def constructor(
        self, own: Members, token: Token, templates: list, kinds: frozenset, defaults: dict
    ) -> None:
        parameters = self.parameters()
        self.given_later(Type("void"))
        if self.now == "=":  # = default, = delete
            self.take()
            own.is_plain |= self.take().text == "default" and not parameters
            self.take(";")
            return
        rest, sizes, lengths = self.rest, self.sizes_given, self.lengths_given
        pack = self.pack_given
        if self.skip(";"):  # it follows
            own.is_made_outside = True
            self.outside[own.name, own.name] = rest, False
            return
        rest = rest or self.outside.get((own.name, own.name), (rest, False))[0]
        first = []
        if self.skip(":"):
            while self.now != "{":
                one = self.begun()
                first += [one] if one.text not in EXCEPTIONS else []
                self.skip(",")
        body = self.body()
        body.kids = [*first, *body.kids]
        name = own.name
        made = Function(
            name, Type("void"), parameters, body, False, token.line, templates, kinds, defaults,
            rest, {one: at for one, at in lengths.items() if one in templates}, name, sizes,
            pack=pack,
        )  # fmt: skip
        self.file.keep(made)

    # --- void Tile::fill(float x) { ... }

    def begins_outside(self) -> str:
        """The struct whose member is defined here, outside of it: Tile:: or Tile<N>::"""
        at = self.at
        while self.tokens[at + 1].text == "::" and self.tokens[at + 2].text in self.members:
            if self.tokens[at + 3].text not in ("::", "<"):
                break
            at += 2
        name = self.tokens[at].text
        name = self.aliases[name].name if name in self.aliases else name
        if name not in self.members:
            return ""
        at += 1
        if self.tokens[at].text == "<":
            depth = 0
            while self.tokens[at].text:
                text = self.tokens[at].text
                depth += (text == "<") - (text == ">") - 2 * (text == ">>")
                at += 1
                if depth <= 0:
                    break
        following = self.tokens[at + 1].text
        is_member = following == "~" or following == "operator" or self.tokens[at + 2].text == "("
        return name if self.tokens[at].text == "::" and is_member else ""

    def to_member(self) -> None:
        while self.now != "::" or self.ahead() in self.members and self.ahead(2) != "(":
            self.take()
        self.take()

    def made_outside(self, templates: Sequence[str]) -> bool:
        """Tile::Tile(int n) : n_(n) {}, Tile::~Tile() {}"""
        at = self.at
        while self.now in _BEFORE_METHODS:
            self.take()
        owner = self.begins_outside()
        if owner:
            self.to_member()
        if not owner or self.now not in ("~", owner):
            self.at = at
            return False
        own = self.members[owner]
        outside, self.inside = self.inside, owner
        self.same_parameters(own, templates)
        if self.skip("~"):
            token = self.name()
            self.balanced()
            self.given_later(Type("void"))
            self.at_end(own, token)
        else:
            before = len(self.file.of_structs.get(owner, ()))
            self.constructor(own, self.take(), [], frozenset(), {})
            self.begin_all(own, self.file.of_structs[owner][before:])
        self.inside = outside
        return True

    def method_outside(self, kind: Type, owner: str, templates: list[str]) -> None:
        """float Tile::at(int r, int c) const {}"""
        self.to_member()
        outside, self.inside = self.inside, owner
        self.same_parameters(self.members[owner], templates)
        self.method(kind, owner, False, [], frozenset(), {})
        self.inside = outside

    @staticmethod
    def same_parameters(own: Members, templates: Sequence[str]) -> None:
        if list(templates) != list(own.templates):
            raise GivenUp("a template's method")

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
            if self.now in ("public", "private", "protected", "virtual", ","):
                self.take()
                continue
            if self.now in EXCEPTIONS:  # nothing is thrown here
                self.take()
                continue
            kind = self.type()
            base = kind.name
            if kind.parameter and self.skip("..."):  # struct Either : Fs...
                self.file.choices.add(name)
                continue
            if base not in self.file.structs or kind.stars:
                raise GivenUp("base")
            bases.append(base)
            parameters = self.file.parameters.get(base) or []
            self.file.of_bases.setdefault(name, []).extend(zip(parameters, kind.args, strict=False))
            self.file.of_bases[name] += self.file.of_bases.get(base, [])
            fields += self.file.structs[base]
            for _, field in self.file.structs[base]:
                if (base, field) in self.file.lengths:
                    self.file.lengths[name, field] = self.file.lengths[base, field]
                if (base, field) in self.file.zeroed:
                    self.file.zeroed.add((name, field))
        return fields

    def method(
        self, kind: Type, owner: str, is_static: bool, templates: list[str], kinds: frozenset[str],
        defaults: dict[str, Node],
    ) -> None:  # fmt: skip
        """A struct's function; operator() and operator[] have no other name."""
        numbers = self.numbers_given if templates else ""
        token = self.function_name()
        if templates:
            self.templates.add(token.text)
        parameters = self.parameters()
        rest, sizes, lengths = self.rest, self.sizes_given, self.lengths_given
        pack = self.pack_given
        kind = self.given_later(kind)
        if self.now == "=":  # = delete, = default
            self.at += 2
            self.take(";")
            return
        if self.skip(";"):  # it follows
            self.outside[owner, token.text] = rest, is_static
            return
        known = self.outside.get((owner, token.text), (rest, is_static))
        rest, is_static = rest or known[0], is_static or known[1]
        self.file.keep(
            Function(
                token.text, kind, parameters, self.body(), False, token.line, templates, kinds,
                defaults, rest, {one: at for one, at in lengths.items() if one in templates},
                owner or "struct", sizes, is_static, pack=pack, numbers=numbers,
            )
        )  # fmt: skip
