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
        names = []
        if self.skip("["):  # for (auto [begin, count] : pieces)
            names = self.names_of_bindings()
        name = names[0] if names else self.name()
        self.take(":")
        if names and self.now == "{":
            raise GivenUp("a list")
        if self.skip("{"):
            return self._over_list(token, kind, name)
        array = self.assignment()
        self.take(")")
        body = self.statement()
        count = f"at {name.text}"
        at = lambda: self.made(token, "name", [], count)  # noqa: E731
        whole = f"all of {name.text}"
        begin = self.declared(token, Type("auto"), whole, self.made(token, "range", [array]))
        array = self.made(token, "name", [], whole)
        element = self.made(token, "index", [array, at()])
        if names:
            one = self.bound(token, kind, names, element)
        else:
            one = self.node("declare", name, [None, element])
            one.type = kind
        first = self.declared(token, Type("int"), count, self.made(token, "number", [], "0"))
        end = self.made(token, "extent", [array])
        condition = self.made(token, "binary", [at(), end], "<")
        step = self.made(token, "do", [self.made(token, "before", [at()], "++")])
        inner = self.made(token, "block", [one, body])
        loop = self.node("for", token, [first, condition, step, inner])
        return self.made(token, "block", [begin, loop])

    def _over_list(self, token: Token, kind: Type, name: Token) -> Node:
        """for (float* one : {a, b, c}): the body for each of them."""
        items = [self.assignment()]
        while self.skip(","):
            items.append(self.assignment())
        self.take("}")
        self.take(")")
        body = self.statement()
        if any(one.kind in ("break", "continue") for one in walk(body)):
            raise GivenUp("a list")
        turns = []
        for item in items:
            one = self.node("declare", name, [None, item])
            one.type = kind
            turns.append(self.made(token, "block", [one, body]))
        return self.node("block", token, turns)

    # --- switch

    def switch(self, token: Token) -> Node:
        """Cases as conditions in a loop of one turn, which break leaves.

        A case that goes on into the next one lets it be carried out, too.
        """
        self.take("(")
        first = []
        if self.is_type():  # switch (int way = f(); way)
            first.append(self.declaration(self.type()))
            self.take(";")
        value = self.assignment()
        self.take(")")
        self.take("{")
        name, fallen, again = "chosen", "fallen", "goes on"
        first += [self.declared(token, Type("int"), name, value)]
        parts: list[tuple[list[Node], bool, list[Node]]] = []
        is_plain, goes_on = True, False
        while not self.skip("}"):
            conditions, is_rest = self._labels(token, name)
            body: list[Node] = []
            while self.now not in ("case", "default", "}"):
                body.append(self.statement())
            found = [self.without_continue(one, again) for one in body]
            goes_on = goes_on or any(a is not b for a, b in zip(found, body, strict=True))
            body = found
            last = body[-1] if body else None
            while last is not None and last.kind == "block" and last.kids:
                last = last.kids[-1]
            is_last = self.now == "}"
            is_plain &= is_last or (last is not None and last.kind in ("break", "return"))
            is_plain &= is_last or not is_rest
            parts.append((conditions, is_rest, body))
        if not is_plain:
            zero = self.made(token, "number", [], "0")
            first.append(self.declared(token, Type("int"), fallen, zero))
        cases: list[Node] = []
        for conditions, is_rest, body in parts:
            block = self.made(token, "block", body)
            if is_plain and is_rest:
                cases.append(block)
                continue
            if is_plain:
                condition = self._either(token, conditions)
            else:
                mine = conditions
                if is_rest:  # none of all
                    every = self._either(
                        token, [self._again(one, name) for other in parts for one in other[0]]
                    )
                    mine = [*conditions, self.made(token, "unary", [every], "!")]
                here = self.made(token, "name", [], fallen)
                condition = self._either(token, [here, *mine])
                there = self.made(token, "name", [], fallen)
                one = self.made(token, "number", [], "1")
                mark = self.made(token, "do", [self.made(token, "assign", [there, one], "=")])
                block = self.made(token, "block", [mark, *body])
            cases.append(self.made(token, "if", [condition, block, None]))
        once = self.made(token, "number", [], "0")
        body_of_all = self.made(token, "block", cases)
        loop = self.made(token, "dowhile", [once, body_of_all])
        if not goes_on:
            return self.node("block", token, [*first, loop])
        zero = self.made(token, "number", [], "0")
        first.append(self.declared(token, Type("int"), again, zero))
        after = [self.made(token, "name", [], again), self.made(token, "continue", []), None]
        return self.node("block", token, [*first, loop, self.made(token, "if", after)])

    def without_continue(self, node: Node, again: str) -> Node:
        """What goes on with the loop that the switch is in leaves the switch, and says so."""
        if node.kind == "continue":
            token = Token(node.text, node.line, node.key)
            left, one = self.made(token, "name", [], again), self.made(token, "number", [], "1")
            mark = self.made(token, "do", [self.made(token, "assign", [left, one], "=")])
            return self.made(token, "block", [mark, self.made(token, "break", [])])
        if node.kind not in ("block", "if"):
            return node
        kids = [
            self.without_continue(kid, again) if kid.__class__ is Node else kid for kid in node.kids
        ]
        if all(one is other for one, other in zip(kids, node.kids, strict=True)):
            return node
        node.kids = kids
        return self.node(node.kind, Token(node.text, node.line, node.key), kids)

    def _either(self, token: Token, conditions: list[Node]) -> Node:
        if not conditions:
            return self.made(token, "number", [], "0")
        condition = conditions[0]
        for other in conditions[1:]:
            condition = self.made(token, "binary", [condition, other], "||")
        return condition

    def _again(self, condition: Node, name: str) -> Node:
        """A label's condition, for a second place."""
        token = self.tokens[self.at - 1]
        this = self.made(token, "name", [], name)
        return self.made(token, "binary", [this, condition.kids[1]], "==")

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

    # --- asm volatile("add.s32 %0, %1, 4;" : "=r"(a) : "r"(b) : "memory");

    def asm(self, token: Token) -> Node:
        """Its text behind the number of what it changes; then that, and what it is given."""
        while self.now in ("volatile", "__volatile__", "goto"):
            self.take()
        self.take("(")
        text = ""
        while self.now.startswith('"'):
            text += self.take().text[1:-1]
        parts: list[list[Node]] = [[], []]
        part = -1
        while not self.skip(")"):
            if self.now in (":", "::"):
                part += len(self.take().text)
            elif part in (0, 1) and self.now.startswith('"'):
                is_both = self.take().text.startswith('"+')
                self.take("(")
                parts[part].append(self.assignment())
                self.take(")")
                if is_both and part:
                    raise GivenUp("asm")
            elif part > 1 or self.now == ",":
                self.take()
            else:
                raise GivenUp("asm")
        self.take(";")
        return self.made(token, "asm", [*parts[0], *parts[1]], f"{len(parts[0])} {text}")

    # --- goto done; ... done: cudaFree(a); again: ... goto again;

    def jump(self) -> Node:
        """To a label in a block that the jump is in."""
        token = self.take()
        if token.text == "goto":
            label = self.take()
            self.take(";")
            self.jumps.add(label.text)
            return self.node("goto", token, [], label.text)
        self.take(":")
        self.labels.add(token.text)
        return self.node("label", token)

    def labels_around(self, body: Node) -> list[Node]:
        """Labels that every jump to them finds in a block that it stands in."""
        found = []
        for block in walk(body):
            if block.kind != "block":
                continue
            for label in block.kids:
                if label.kind != "label":
                    continue
                inside = sum(one.kind == "goto" and one.text == label.text for one in walk(block))
                of_all = sum(one.kind == "goto" and one.text == label.text for one in walk(body))
                if inside == of_all:
                    found.append(label)
        return found

    # --- auto [row, col] = place();

    def bindings(self, kind: Type) -> Node:
        start = self.take("[")
        names = self.names_of_bindings()
        if self.skip("="):
            value = self.assignment()
        else:
            value = self.braces().kids[0]
        return self.bound(start, kind, names, value)

    def names_of_bindings(self) -> list[Token]:
        names = [self.name()]
        while self.skip(","):
            names.append(self.name())
        self.take("]")
        return names

    def bound(self, start: Token, kind: Type, names: list[Token], value: Node) -> Node:
        whole = f"parts of {names[0].text}"
        found = [self.declared(start, replace(kind, is_reference=False), whole, value)]
        for at, name in enumerate(names):
            part = self.made(start, "part", [self.made(start, "name", [], whole)], str(at))
            one = self.node("declare", name, [None, part])
            one.type = Type("auto")
            found.append(one)
        return self.node("block", start, found)
