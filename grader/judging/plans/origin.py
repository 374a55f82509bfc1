"""Where a number or a pointer that a call is given was written down: up through names, fields and callers."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.plans.objects import Objects
from grader.judging.plans.parameters import members_of
from grader.judging.plans.several import Origin, plain
from grader.judging.wording import calls
from grader.labs.statements import Listing, Statement, closing, function_name, split

_MOST_STEPS = 10


class Origins(Objects):
    """`lines`: of the call, the innermost first, up to solve."""

    def __init__(
        self, text: Listing, solve: Statement | None, lines: Sequence[int], enters: bool = False
    ) -> None:
        """`enters`: also helpers that are given something, where all that call them go wrong."""
        super().__init__(text)
        self.solve, self.lines, self.enters = solve, list(lines), enters

    def of(self, words: Sequence[str], near: Statement, line: int = 0) -> Origin:
        """The last place that is certain: an expression, or one of solve's own parameters."""
        here = Origin(line or near.line, plain(words), near)
        for _ in range(_MOST_STEPS):
            before = self._before(here)
            if before is None or before == here:
                return here
            if _is_field(here.words, "") and _is_field(before.words, here.words[2]):
                return before  # one field is another one: either may be wrong
            here = before
        return here

    def _before(self, here: Origin) -> Origin | None:
        words, near = here.words, here.near
        if len(words) == 1:
            return self._of_name(words[0], here)
        if len(words) == 3 and words[1] in (".", "->"):
            return self._of_field(words[0], words[2], here)
        element = self.of_element(words, near)
        if element is not None:
            return element
        if words[1:2] in ((".",), ("->",)) and words[3:] == ("(", ")"):
            field = self.of_getter(words[0], words[2], near)
            if field is not None:
                return field
            of = self._of_caller_of(words[0], here)
            if of is not None:
                return Origin(of.line, (*of.words, *words[1:]), of.near)
        at = 0 if words[1:2] == ("(",) else 2
        if words[at + 1 : at + 2] == ("(",) and closing(words, at + 1) == len(words) - 1:
            is_helper = at == 0 and (self.enters or words[2:3] == (")",))
            if is_helper or (at and words[1] in (".", "->", "::")):
                return self._of_method(words[at], near)
        return None

    def _of_name(self, name: str, here: Origin) -> Origin | None:
        if not name.isidentifier():
            return None
        function = self.text.function_of(here.near)
        known = self._declaration(name, here.near)
        given = [
            one for one in self.text.assignments(name, function) if one.number < here.near.number
        ]
        if any(one.words[1:2] != ("=",) for one in given):
            return None  # it goes on, step by step
        if known is not None and known[1] and not given:
            near = self._at(known[0], here.near)
            return Origin(known[0], plain(known[1]), near)
        if len(given) == 1 and (known is None or not known[1]):
            words = given[0].words[2:]
            words = words[:-1] if words[-1:] == (";",) else words
            return Origin(given[0].line, plain(words), given[0])
        for scope in (*self._lambdas(here.near), function):
            if known is None and scope is not None and name in self.text.parameters(scope):
                return self._of_caller(scope, name, here)
        if known is None or not known[1]:
            bound = self.of_binding(name, here.near)
            return bound or (self.of_own_field(name, here.near) if known is None else None)
        return None

    def _lambdas(self, near: Statement) -> list[Statement]:
        """Those that a statement stands in."""
        return [one for one in self.text.above(near) if one.kind == "lambda"]

    def _declaration(self, name: str, near: Statement) -> tuple[int, tuple[str, ...]] | None:
        """Of a variable that braces alone give its value, too: dim3 grid{x, y}."""
        known = self.text.declaration(name, near)
        if known is None or known[1]:
            return known
        made = self._at(known[0], near)
        at = next((n for n, w in enumerate(made.words[:-1]) if w == name), -1)
        if at >= 0 and made.words[at + 1] == "{":
            return known[0], made.words[at + 1 : closing(made.words, at + 1) + 1]
        return known

    def _of_caller(self, function: Statement, name: str, here: Origin) -> Origin | None:
        """A helper's parameter: what it was called with."""
        return self._of_argument(function, self.text.parameters(function).index(name), here.line)

    def caller_of(self, function: Statement) -> Origin | None:
        """Where a helper is called, as far as that is certain; not by one that hands its own parameters on."""
        found = self._of_argument(function, 0, 0)
        for _ in range(_MOST_STEPS):
            up = self._of_caller_of(found.words[0], found) if found and found.words else None
            if up is None or len(found.words) > 1:
                return found
            found = up
        return found

    def _of_argument(self, function: Statement, number: int, line: int) -> Origin | None:
        if function is self.solve:
            return None
        own = _called(function)
        for outer in self.lines:
            for item in self.text.at(outer) if outer != line and own else ():
                called = self.object_of(function, item) if own == ")" else own
                for given in _calls(item, called) if called else ():
                    if len(given) > number:
                        return self._given_at(item, called, given[number])
        if not own or any(
            function in (self.text.function_of(item), *self._lambdas(item))
            for outer in self.lines
            for item in self.text.at(outer)
        ):
            return None
        # No call that led here: it has given something back before.
        every = [(item, given) for item in self.text.statements for given in _calls(item, own)]
        every = [(item, given) for item, given in every if item.kind != "function"]
        if len(every) != 1 or len(every[0][1]) <= number:
            return None
        return self._given_at(every[0][0], own, every[0][1][number])

    def _given_at(self, item: Statement, own: str, words: Sequence[str]) -> Origin:
        at = next((n for n, w in zip(item.lines, item.words) if w == own), item.line)
        return Origin(at, plain(words), item)

    def argument(
        self, given: Sequence[Sequence[str]], number: int, near: Statement, line: int
    ) -> Origin | None:
        """Of a launch the argument of that number, also where a pack hands all of them on."""
        pack = next((at for at, part in enumerate(given) if tuple(part[-1:]) == ("...",)), -1)
        if pack < 0 or number < pack:
            return self.of(given[number], near, line) if number < len(given) else None
        for scope in (*self._lambdas(near), self.text.function_of(near)):
            names = self.text.parameters(scope) if scope is not None else []
            if not names or names[-1] not in given[pack]:
                continue
            if scope.kind == "lambda" and "apply" in scope.words:
                return self._of_applied(scope, number - pack)
            up = self._of_argument(scope, len(names) - 1 + number - pack, line)
            return self.of(up.words, up.near, up.line) if up is not None else None
        return None

    def _of_applied(self, scope: Statement, number: int) -> Origin | None:
        """std::apply([&](auto... one) { ... }, given): of the tuple the element of that number."""
        after = [one for one in self.text.statements if one.number > scope.number]
        after = [one for one in after if one.parent == scope.parent and one.words[:1] == (",",)]
        if not after:
            return None
        words = after[0].words[1 : after[0].words.index(")")] if ")" in after[0].words else ()
        tuples = self.of(words, after[0])
        found = self.of_nth(tuples.words, number, tuples.near)
        return self.of(found.words, found.near, found.line) if found is not None else None

    def _fields_given(self, name: str, field: str, scope: Statement | None) -> list[Statement]:
        """grid.x = ... in a function, or in all of a type's."""
        return [
            one
            for one in self.text.inside(scope)
            if one.kind == "simple"
            and one.words[:1] == (name,)
            and one.words[1:2] in ((".",), ("->",))
            and one.words[2:4] == (field, "=")
        ]

    def _of_field(self, name: str, field: str, here: Origin) -> Origin | None:
        function = self.text.function_of(here.near)
        given = self._fields_given(name, field, function)
        of = self.text.statements[function.parent] if function and function.parent >= 0 else None
        if not given and of is not None and of.kind == "type":
            given = self._fields_given(name, field, of)  # by another method of its object
        if len(given) == 1:
            words = given[0].words[4:]
            words = words[:-1] if words[-1:] == (";",) else words
            return Origin(given[0].line, plain(words), given[0])
        if given:
            return None
        made = self.of_object(name, field, here.near)
        if made is not None:
            return made
        known = self._declaration(name, here.near)
        if known is not None and known[1]:
            return self._of_braces(name, field, known, here)
        if function is not None and name in self.text.parameters(function):
            up = self._of_caller(function, name, here)
            if up is not None and len(up.words) == 1:
                return Origin(up.line, (up.words[0], ".", field), up.near)
            if up is not None and field in ("first", "second"):
                return self.of_nth(up.words, field == "second", up.near)
        return None

    def _of_braces(
        self, name: str, field: str, known: tuple[int, tuple[str, ...]], here: Origin
    ) -> Origin | None:
        """Args args = {M, N, P, j, k, l}."""
        line, words = known
        near = self._at(line, here.near)
        if words[:1] != ("{",):
            if len(words) == 1:  # a copy of another one
                return Origin(line, (words[0], ".", field), near)
            called = self.text.named(words[0]) if words[1:2] == ("(",) else None
            return self._of_made(called, field) if called is not None else None
        parts = split(words[1 : closing(words, 0)], ",")
        kinds = [w for w in near.words[: near.words.index(name)] if w.isidentifier()]
        members = members_of(self.text, kinds[-1]) if kinds else []
        if field not in members or members.index(field) >= len(parts):
            return None
        return Origin(line, plain(parts[members.index(field)]), near)

    def _of_made(self, function: Statement, field: str) -> Origin | None:
        """A helper that fills a struct and gives it back."""
        given = [
            one
            for one in self.text.inside(function)
            if one.kind == "simple" and one.words[1:2] == (".",) and one.words[2:4] == (field, "=")
        ]
        if len(given) != 1:
            return None
        words = given[0].words[4:]
        return Origin(given[0].line, plain(words[:-1] if words[-1:] == (";",) else words), given[0])

    def _of_method(self, name: str, near: Statement) -> Origin | None:
        """A method or a helper that gives back one expression, besides 0."""
        function = self.text.named(name)
        inside = self.text.inside(function) if function is not None else []
        inside = [
            one
            for one in inside
            if one.words[:1] == ("return",)
            and one.words[1:2] not in (("0",), ("nullptr",), ("NULL",))
        ]
        if len(inside) != 1:
            return None
        words = inside[0].words[1:]
        words = plain(words[:-1] if words[-1:] == (";",) else words)
        if len(words) == 1 and self.text.declaration(words[0], inside[0]) is None:
            return None  # a field of an object: what matters is which object it is
        return Origin(inside[0].line, words, inside[0])

    def _of_caller_of(self, name: str, here: Origin) -> Origin | None:
        function = self.text.function_of(here.near)
        if function is None or name not in self.text.parameters(function):
            return None
        up = self._of_caller(function, name, here)
        return up if up is not None and len(up.words) == 1 else None

    def _at(self, line: int, near: Statement) -> Statement:
        """The statement of a line, in the function of another one if there are several."""
        function = self.text.function_of(near)
        found = [one for one in self.text.at(line) if self.text.function_of(one) is function]
        return found[0] if found else near

    def sides(self, words: Sequence[str], near: Statement, line: int = 0) -> list[Origin]:
        """What a grid or a block is made of, side by side; [] where it is not to be seen."""
        here = self.of(words, near, line)
        if len(here.words) == 1 and here.words[0].isidentifier():
            fields = [self._of_field(here.words[0], axis, here) for axis in "xy"]
            if fields[0] is not None:
                return [one for one in fields if one is not None]
        nested = self._of_nested(here)
        if nested:
            return nested
        inner = _of_dim3(here.words)
        if inner is None:
            made = self._of_helper(here)
            return made if made else ([here] if here.words else [])
        return [Origin(here.line, plain(one), here.near) for one in inner]

    def _of_nested(self, here: Origin) -> list[Origin]:
        """config.grid, of which a helper has filled the sides: config.grid.x = ..."""
        if not _is_field(here.words, ""):
            return []
        name, field = here.words[0], here.words[2]
        function = self.text.function_of(here.near)
        known = self._declaration(name, here.near)
        if function is not None and name in self.text.parameters(function):
            up = self._of_caller(function, name, here)
            words = up.words if up is not None else ()
            if up is not None and len(words) == 1:
                known = self._declaration(words[0], up.near)
                words = known[1] if known is not None else ()
                function = self.text.function_of(up.near)
        else:
            words = known[1] if known is not None else ()
        while words[1:2] == ("::",):
            words = words[2:]
        if words[1:2] == ("(",):
            function = self.text.named(words[0])
        found = []
        for axis in "xyz":
            for one in self.text.inside(function) if function is not None else ():
                if one.words[1:6] == (".", field, ".", axis, "="):
                    words = one.words[6:-1] if one.words[-1] == ";" else one.words[6:]
                    found.append(Origin(one.line, plain(words), one))
        return found

    def _of_helper(self, here: Origin) -> list[Origin]:
        """grid_of(columns, rows), a method or a lambda that gives a dim3 back."""
        names = [w for at, w in enumerate(here.words[:-1]) if here.words[at + 1] == "("]
        function = self.text.named(names[0]) if names else None
        if function is None:
            return []
        inside = self.text.inside(function)
        back = [one for one in inside if one.words[:1] == ("return",)]
        if len(back) != 1:
            return []
        words = back[0].words[1:]
        words = words[:-1] if words[-1:] == (";",) else words
        inner = _of_dim3(words)
        if inner is not None:
            return [Origin(back[0].line, plain(one), back[0]) for one in inner]
        if len(words) == 1:
            fields = [
                self._of_field(words[0], axis, Origin(back[0].line, words, back[0]))
                for axis in "xy"
            ]
            return [one for one in fields if one is not None]
        return []


def _is_field(words: tuple[str, ...], other: str) -> bool:
    return len(words) == 3 and words[1] in (".", "->") and words[2] != other


def _of_dim3(words: Sequence[str]) -> list[tuple[str, ...]] | None:
    words = tuple(words)
    if words[:1] == ("dim3",) and words[1:2] in (("(",), ("{",)):
        return split(words[2 : closing(words, 1)], ",")
    if words[:1] == ("{",) and closing(words, 0) == len(words) - 1:
        return split(words[1:-1], ",")
    parts = split(words, ",")
    return parts if len(parts) > 1 else None


def _called(function: Statement) -> str:
    """The name of a function, or of a variable that is a lambda."""
    if function.kind != "lambda":
        return function_name(function)
    at = function.words.index("=") if "=" in function.words else 0
    return function.words[at - 1] if at else ""


def _calls(item: Statement, name: str) -> list[list[tuple[str, ...]]]:
    """Of a template, too: launch<32, 4>(m, n)."""
    found = calls(item, name)
    for at, word in enumerate(item.words[:-1]):
        if word == name and item.words[at + 1] == "<":
            depth = 0
            for end in range(at + 1, len(item.words)):
                depth += (item.words[end] == "<") - (item.words[end] == ">")
                if depth == 0:
                    break
            if item.words[end + 1 : end + 2] == ("(",):
                inner = item.words[end + 2 : closing(item.words, end + 1)]
                found.append(split(inner, ",") if inner else [])
    return found
