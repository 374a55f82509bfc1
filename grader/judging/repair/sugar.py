"""What C++ has for convenience, read as what it stands for: loops over an array, switch, bindings."""

from __future__ import annotations

from dataclasses import replace

from grader.judging.repair.expressions import Expressions
from grader.judging.repair.nodes import Node, Type, walk
from grader.judging.repair.reading import GivenUp, Token


class Sugar(Expressions):
    """A part of Parser, which has statement(), assignment() and their like."""

    def fresh(self, token: Token, text: str) -> Token:
        """A token that stands nowhere in the file."""
        self.last_key += 1
        return Token(text, token.line, self.last_key)

    def made(self, token: Token, kind: str, kids: list, text: str = "") -> Node:
        own = self.fresh(token, text or token.text)
        return self.node(kind, own, kids)

    def declared(self, token: Token, kind: Type, name: str, first: Node) -> Node:
        found = self.made(token, "declare", [None, first], name)
        found.type = kind
        return found

    # --- for (float& one : array)

    def is_over_array(self) -> bool:
        """After `for (`: whether a colon comes before the first semicolon."""
        depth, at = 0, self.at
        while at < len(self.tokens) - 1:
            text = self.tokens[at].text
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if text in (";", "?") or depth < 0:
                return False
            if text == ":":
                return True
            at += 1
        return False

    def over_array(self, token: Token) -> Node:
        kind = self.type()
        name = self.name()
        self.take(":")
        array = self.assignment()
        self.take(")")
        body = self.statement()
        count = f"at {name.text}"
        at = lambda: self.made(token, "name", [], count)  # noqa: E731
        element = self.made(token, "index", [array, at()])
        one = self.node("declare", name, [None, element])
        one.type = kind
        first = self.declared(token, Type("int"), count, self.made(token, "number", [], "0"))
        end = self.made(token, "extent", [array])
        condition = self.made(token, "binary", [at(), end], "<")
        step = self.made(token, "do", [self.made(token, "before", [at()], "++")])
        inner = self.made(token, "block", [one, body])
        return self.node("for", token, [first, condition, step, inner])

    # --- switch

    def switch(self, token: Token) -> Node:
        """Cases that end with break or return, as conditions in a loop of one turn."""
        self.take("(")
        value = self.assignment()
        self.take(")")
        self.take("{")
        name = "chosen"
        chosen = self.declared(token, Type("int"), name, value)
        cases: list[Node] = []
        while not self.skip("}"):
            conditions, is_rest = self._labels(token, name)
            body: list[Node] = []
            while self.now not in ("case", "default", "}"):
                body.append(self.statement())
            inside = [one for statement in body for one in walk(statement)]
            if any(one.kind == "continue" for one in inside):
                raise GivenUp("continue in switch")
            last = body[-1] if body else None
            while last is not None and last.kind == "block" and last.kids:
                last = last.kids[-1]
            if self.now != "}" and (last is None or last.kind not in ("break", "return")):
                raise GivenUp("switch")
            block = self.made(token, "block", body)
            if is_rest:
                if self.now != "}":
                    raise GivenUp("switch")
                cases.append(block)
                continue
            condition = conditions[0]
            for other in conditions[1:]:
                condition = self.made(token, "binary", [condition, other], "||")
            cases.append(self.made(token, "if", [condition, block, None]))
        once = self.made(token, "number", [], "0")
        body_of_all = self.made(token, "block", cases)
        loop = self.made(token, "dowhile", [once, body_of_all])
        return self.node("block", token, [chosen, loop])

    def _labels(self, token: Token, name: str) -> tuple[list[Node], bool]:
        conditions, is_rest = [], False
        while self.now in ("case", "default"):
            mark = self.take()
            if mark.text == "default":
                is_rest = True
            else:
                this = self.made(mark, "name", [], name)
                conditions.append(self.made(mark, "binary", [this, self.ternary()], "=="))
            self.take(":")
        if not conditions and not is_rest:
            raise GivenUp("switch")
        return conditions, is_rest

    # --- auto [row, col] = place();

    def bindings(self, kind: Type) -> Node:
        start = self.take("[")
        names = [self.name()]
        while self.skip(","):
            names.append(self.name())
        self.take("]")
        self.take("=")
        whole = f"parts of {names[0].text}"
        found = [self.declared(start, replace(kind, is_reference=False), whole, self.assignment())]
        for at, name in enumerate(names):
            part = self.made(start, "part", [self.made(start, "name", [], whole)], str(at))
            one = self.node("declare", name, [None, part])
            one.type = Type("auto")
            found.append(one)
        return self.node("block", start, found)
