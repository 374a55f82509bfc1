"""What an object's field was given: by a constructor, in braces, by a method, in the type itself.

`here` is always what is looked for; nothing is answered that could be another object's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.judging.plans.parameters import members_of
from grader.judging.plans.several import Origin, Several, plain
from grader.labs.statements import (
    Listing,
    Statement,
    arguments,
    closing,
    find,
    function_name,
    head_end,
    split,
)


def value_of(words: Sequence[str]) -> tuple[str, ...]:
    """Without the semicolon."""
    return plain(words[:-1] if tuple(words[-1:]) == (";",) else words)


@dataclass(frozen=True)
class Made:
    """An object that is made: its type, and what its constructor is given."""

    kind: str
    given: tuple[tuple[str, ...], ...]
    near: Statement
    at: int  # where its name, or its type, stands in the statement

    @property
    def line(self) -> int:
        return self.near.lines[self.at]


class Objects(Several):
    """A part of Origins."""

    def __init__(self, text: Listing) -> None:
        self.text = text

    def of_object(self, name: str, field: str, near: Statement) -> Origin | None:
        """a.rows, where a was made by a constructor or in braces."""
        made = self._made(name, near)
        return self._of_made_with(made, field) if made is not None else None

    def of_getter(self, name: str, method: str, near: Statement) -> Origin | None:
        """a.rows(), a method that gives one field back."""
        made = self._made(name, near)
        of = self._type(made.kind) if made is not None else None
        if of is None:
            return None
        function = self._method(of, method)
        back = self._given_back(function)
        if back is None or len(back.words) != 1 or not self._is_field(back.words[0], of):
            return None
        return self._of_made_with(made, back.words[0])

    def object_of(self, function: Statement, item: Statement) -> str:
        """The object that a statement calls as if it were a function: that is its type's operator()."""
        of = self.text.statements[function.parent] if function.parent >= 0 else None
        for at, word in enumerate(item.words[:-1]):
            if of is None or item.words[at + 1] != "(" or not word.isidentifier():
                continue
            made = self._made(word, item)
            kind = made.kind if made is not None else self._kind_of(word, item)
            if kind == _name_of_type(of):
                return word
        return ""

    def _kind_of(self, name: str, near: Statement) -> str:
        """The type of an object that is given nothing: Launcher<16> first, second;"""
        for one in self.text.inside(self.text.function_of(near)):
            if one.kind != "simple" or one.number > near.number or one.words[-1:] != (";",):
                continue
            words = one.words[one.words[0] == "const" :]
            names = [part[-1] for part in split(words[1:-1], ",") if part]
            if name in names and self._type(words[0]) is not None:
                return words[0]
        return ""

    def of_own_field(self, name: str, near: Statement) -> Origin | None:
        """A name in a method that is a field of its object, which one place alone gives a value."""
        function = self.text.function_of(near) if near.kind != "function" else near
        of = self.text.statements[function.parent] if function and function.parent >= 0 else None
        if of is None or of.kind != "type" or not self._is_field(name, of):
            return None
        given = self._assigned(name, of)
        by_fields = any(
            one.words[:2] == (name, ".") and "=" in one.words for one in self.text.inside(of)
        )
        if len(given) > 1 or by_fields:
            return None
        made = self._only_one_made(_name_of_type(of))
        if given:
            return self._through_method(given[0], made)
        return self._of_made_with(made, name) if made is not None else None

    def _assigned(self, name: str, of: Statement) -> list[Origin]:
        """By methods and constructors of its type."""
        found = []
        for one in self.text.inside(of):
            words = one.words[2:] if one.words[:2] == ("this", "->") else one.words
            if one.kind == "simple" and words[:2] == (name, "=") and self.text.function_of(one):
                found.append(Origin(one.line, value_of(words[2:]), one))
        return found

    def _through_method(self, given: Origin, made: Made | None) -> Origin:
        """What a method was called with, where it only hands that on."""
        function = self.text.function_of(given.near)
        names = self.text.parameters(function) if function is not None else []
        if len(given.words) != 1 or given.words[0] not in names:
            return given
        number, own = names.index(given.words[0]), function_name(function)
        if made is not None and own == made.kind:
            return _argument(made, number) or given
        callers = [
            Origin(one.lines[at], plain(parts[number]), one)
            for one in self.text.statements
            if one.kind == "simple"
            for at in _places(one.words, own)
            if len(parts := arguments(one.words, at + 1)) > number
        ]
        return callers[0] if len(callers) == 1 else given

    def _only_one_made(self, kind: str) -> Made | None:
        """Where the text makes one object of a type alone."""
        found = []
        for one in self.text.statements:
            if one.kind != "simple":
                continue
            for at, word in enumerate(one.words):
                made = self._made_at(one, at) if word == kind else None
                if made is not None:
                    found += [made] * len(split(one.words[at:], ","))  # Plan a(j, k), b(k, l);
        return found[0] if len(found) == 1 else None

    def _made_at(self, one: Statement, at: int) -> Made | None:
        """Plan(j, l), Plan{j, l}, Plan p(j, l), Plan p{j, l}; make_unique<Plan>(j, l)."""
        words, kind = one.words, one.words[at]
        begin = at + 1
        if begin < len(words) and words[begin].isidentifier():
            begin += 1
        elif words[begin : begin + 1] == (">",):
            begin += 1
        if words[begin : begin + 1] not in (("(",), ("{",)):
            return None
        return Made(kind, tuple(arguments(words, begin)), one, at)

    def _made(self, name: str, near: Statement) -> Made | None:
        """The declaration of an object in the function of `near`."""
        function = self.text.function_of(near)
        for one in reversed(self.text.inside(function)):
            if one.kind != "simple" or one.number > near.number or one.words[:1] == ("return",):
                continue
            for at, word in enumerate(one.words[:-1]):
                if word != name or at == 0:
                    continue
                before, after = one.words[at - 1], one.words[at + 1]
                kind = one.words[one.words[0] == "const"] if before == "," else before
                if after in ("(", "{") and self._type(kind) is not None:
                    return Made(kind, tuple(arguments(one.words, at + 1)), one, at)
                if after != "=":
                    continue
                for place in range(at + 2, len(one.words) - 1):
                    made = (
                        self._made_at(one, place)
                        if self._type(one.words[place]) is not None
                        else None
                    )
                    if made is not None:
                        return made
                return self._given_back_by(one.words[at + 2 :])
        return None

    def _given_back_by(self, words: Sequence[str]) -> Made | None:
        """plan(j, l), a helper that gives back Plan{...} or {...}."""
        at = next((n for n, word in enumerate(words) if word == "("), 0)
        function = self.text.named(words[at - 1]) if at else None
        back = [
            one
            for one in (self.text.inside(function) if function is not None else ())
            if one.words[:1] == ("return",)
        ]
        if len(back) != 1:
            return None
        kinds = [w for w in function.words if self._type(w) is not None]
        if back[0].words[1:2] == ("{",) and kinds:
            return Made(kinds[0], tuple(arguments(back[0].words, 1)), back[0], 1)
        is_made = self._type(back[0].words[1]) is not None
        return self._made_at(back[0], 1) if is_made else None

    def _type(self, name: str) -> Statement | None:
        found = [
            one
            for one in self.text.statements
            if one.kind == "type" and _name_of_type(one) == name and name
        ]
        return found[0] if len(found) == 1 else None

    def _is_field(self, name: str, of: Statement) -> bool:
        return any(
            name in one.words and one.kind == "simple" and one.parent == of.number
            for one in self.text.inside(of)
        )

    def _method(self, of: Statement, name: str) -> Statement | None:
        found = [
            one
            for one in self.text.inside(of)
            if one.kind == "function" and function_name(one) == name
        ]
        return found[0] if len(found) == 1 else None

    def _given_back(self, function: Statement | None) -> Origin | None:
        """What a function returns, where it does so in one place."""
        if function is None:
            return None
        back = [one for one in self.text.inside(function) if one.words[:1] == ("return",)]
        return (
            Origin(back[0].line, value_of(back[0].words[1:]), back[0]) if len(back) == 1 else None
        )

    def _of_made_with(self, made: Made, field: str) -> Origin | None:
        of = self._type(made.kind)
        if of is None:
            return None
        constructor = self._constructor(of, len(made.given))
        if constructor is None:
            return self._in_braces(made, field) or self._of_type(of, field)
        found = self._of_constructor(constructor, field)
        if found is None:
            return self._of_type(of, field)
        names = self.text.parameters(constructor)
        if len(found.words) == 1 and found.words[0] in names:
            return _argument(made, names.index(found.words[0])) or found
        # Where several objects are made, it is right for others.
        return found if self._only_one_made(made.kind) is not None else None

    def _constructor(self, of: Statement, count: int) -> Statement | None:
        own = [
            one
            for one in self.text.inside(of)
            if one.kind == "function" and function_name(one) == _name_of_type(of)
            and "~" not in one.words
        ]  # fmt: skip
        fits = [one for one in own if len(self.text.parameters(one)) == count]
        return fits[0] if len(fits) == 1 else own[0] if len(own) == 1 else None

    def _of_constructor(self, constructor: Statement, field: str) -> Origin | None:
        """What a constructor gives a field, before its body or in it."""
        words, at = constructor.words, head_end(constructor) + 1
        while at + 1 < len(words):
            end = closing(words, at + 1)
            if words[at] == field:
                return Origin(constructor.lines[at], plain(words[at + 2 : end]), constructor)
            at = end + 2
        for one in self.text.inside(constructor):
            given = one.words[2:] if one.words[:2] == ("this", "->") else one.words
            if one.kind == "simple" and given[:2] == (field, "="):
                return Origin(one.line, value_of(given[2:]), one)
        return None

    def _of_type(self, of: Statement, field: str) -> Origin | None:
        """int tile = 16; in the type itself."""
        for one in self.text.inside(of):
            at = (
                find(one.words, (field,))
                if one.kind == "simple" and one.parent == of.number
                else -1
            )
            after = one.words[at + 1 : at + 2] if at > 0 else ()
            if after == ("=",):
                return Origin(one.lines[at], value_of(split(one.words[at + 2 :], ",")[0]), one)
            if after == ("{",):
                return Origin(
                    one.lines[at], one.words[at + 1 : closing(one.words, at + 1) + 1], one
                )
        return None

    def _in_braces(self, made: Made, field: str) -> Origin | None:
        """Of a plain struct: the fields in their order, or by their names."""
        for number, part in enumerate(made.given):
            if part[:1] == (".",) and part[1:2] == (field,):
                words = part[3:] if part[2:3] == ("=",) else part[2:]
                return Origin(_line_of(made, number), plain(words), made.near)
        members = members_of(self.text, made.kind)
        if field in members and members.index(field) < len(made.given):
            number = members.index(field)
            if made.given[number][:1] != (".",):
                return _argument(made, number)
        return None


def _name_of_type(of: Statement) -> str:
    """struct Plan, class alignas(16) Plan final : Base."""
    head = of.words[: of.words.index(":")] if ":" in of.words else of.words
    names = [word for word in head if word.isidentifier() and word != "final"]
    return names[-1] if len(names) > 1 else ""


def _argument(made: Made, number: int) -> Origin | None:
    if number >= len(made.given):
        return None
    return Origin(_line_of(made, number), plain(made.given[number]), made.near)


def _line_of(made: Made, number: int) -> int:
    """Of the argument of that number: they may stand in several lines."""
    words = made.near.words
    begin = next((at for at in range(made.at, len(words)) if words[at] in ("(", "{")), made.at)
    at = begin + 1 + sum(len(part) + 1 for part in made.given[:number])
    return made.near.lines[min(at, len(words) - 1)]


def _places(words: Sequence[str], name: str) -> list[int]:
    return [at for at, word in enumerate(words[:-1]) if word == name and words[at + 1] == "("]
