"""Numbers, operators and factors: one for another, one too many, one that lacks."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.repair.guards import ORDERS
from grader.judging.repair.nodes import Node, replace, walk
from grader.judging.repair.on_host import call_of
from grader.judging.repair.repeated import lacks_factor
from grader.judging.repair.rewritten import (
    crossed,
    exchanged,
    is_rounded_up,
    rounded_down,
    rounded_up,
    terms_of,
)
from grader.judging.repair.scope import Change, bare, binary, named, number
from grader.judging.repair.shown import text_of

_PARTS = ("/", "%")
_SHIFTS = (1, 2, 3, 4, 5, 6, 7)
_OF_THE_BLOCK = 1.6
_OF_A_BLOCK, _FIRST_OF_A_BLOCK = {"blockIdx", "blockDim"}, 0.5  # blockIdx.x * blockDim.x
_TIMES_A_NAME = 1.4  # 4 * thread
_LESS_FOR_COUNTERS = 0.6
_USUAL, _FIRST_OF_A_TILE, _OF_A_ROW, _OF_A_SIDE = 0.9, 1.3, 1.3, 1.2
_LEFT_OVER, _CROSSED = 1.0, 0.9
_SUMMAND = 1.2  # what is added to other things, too
_AT_MOST, _REST_FROM = 1.1, 1.3
_BLOCKS = 1.0  # as many as across times down
_COMPARING = (*ORDERS, "==", "!=", "&&", "||")
_ROUNDED = 0.2  # what a helper of the host divides is a number of pieces
_ODD = ("*%", "*/", "+*", "%*", "/*")  # seldom what was meant
OF_A_LENGTH = 1.2  # a longer array hides an index that goes too far
MOST_WRITTEN = 6  # numbers that the function has elsewhere
_OTHER = {
    "<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",),
    "&&": ("||",), "||": ("&&",), "+": ("*", "-"), "-": ("+",), "*": ("+", "/", "%"), "/": ("%", "*"),
    "%": ("/", "*"), "<<": (">>",), ">>": ("<<",), "&": ("%",),
}  # fmt: skip


class Arithmetic:
    """A part of Editor."""

    def _numbers(self, node: Node) -> Iterator[tuple[Change, float]]:
        if not node.text.isdigit():
            return
        value = int(node.text)
        if node.macro:
            for macro in self.scope.constants:
                other = self.macros.get(macro)
                if other is not None and macro != node.macro:
                    yield (lambda n, v=other, t=macro: replace(number(v), macro=t)), 1.0
        elif value:
            for macro in self.scope.constants:
                other = self.macros.get(macro)
                if other is not None and other != value:
                    yield (lambda n, v=other, t=macro: replace(number(v), macro=t)), 1.4
        for name in self.function.templates if value and self.is_host else ():
            if name not in self.function.kinds:  # a number that the launch is told as well
                yield (lambda n, o=name: named(o)), 1.0
        is_factor = value in self.factors and self._parent(node).text == "*"
        others = (value - 1, value + 1, 0, value * 2, value // 2)
        above = self._parent(node)
        if not value and not self.is_host:
            yield from self._phase_for_0(node)
        # 8 for 4 and 7 for 3, where lanes and pieces are counted.
        is_place = value and above.kind == "binary" and above.text in ("*", "/", "%", "&", "+", "^")
        if is_place and value & (value + 1) == 0:
            others = (*others, 2 * value + 1)
        is_place = is_place and (value & (value - 1) == 0 or value & (value + 1) == 0)
        is_step = above.kind == "assign" and above.text in ("+=", "-=")
        # x % 4 == 1: what is asked is whether anything is left.
        is_left_over = above.text in ("==", "!=") and above.kids[0].text in ("%", "&")
        is_mask = above.text == "&" and not value & (value + 1)
        if is_mask:
            others += (2 * value + 1, value // 2, *self.masks)
        if above.text in (">>", "<<") and above.kids[-1] is node:
            others += _SHIFTS
        written = sorted(self.written)[:MOST_WRITTEN] if not self.is_host else []
        for other in dict.fromkeys((*others, *sorted(self.factors if is_factor else ()), *written)):
            if other >= 0 and other != value:
                cost = 1.0 if abs(other - value) == 1 else 1.5
                if is_place and other in (2 * value, value // 2, 2 * value + 1) and other:
                    cost = 1.0
                if is_step and other in (2 * value, value // 2) and other:
                    cost = 1.0
                if other in self.masks and above.text == "&":
                    cost = 0.7  # what a shift elsewhere leaves over
                if above.text in (">>", "<<") and abs(other - value) == 1 and other:
                    cost = 0.8  # twice as many, or half
                if is_factor and other in self.factors:
                    cost = 0.9  # what something else is multiplied by
                if other == 2 * value and self._parent(node).text == "%":
                    cost = 0.7  # half of what has to lie together
                if above.text in _PARTS and (above.line, other) in self.divided_in:
                    cost = 0.6  # t / 16 beside t % 16
                yield (lambda n, v=other: number(v)), cost + _LEFT_OVER * is_left_over
        # A block's length is seldom a matrix's.
        if self._is_setting(node, 2):
            return
        far = 1.0 if self._is_setting(node) or self._parent(node).kind == "launch" else 0.0
        for name in self._near(self.scope.integers, node):
            yield (lambda n, o=name: named(o)), 1.8 + far

    # --- operators

    def _is_half_of_a_place(self, node: Node, other: str) -> bool:
        """Whether a / b stands there twice and a % b nowhere, or the other way round."""
        parts = tuple(map(text_of, node.kids))
        return self.parts[node.text, *parts] > 1 and not self.parts[other, *parts]

    def _operators(self, node: Node) -> Iterator[tuple[Change, float]]:
        sign = node.text
        loop = self._parent(node)
        while loop.kind == "binary" and loop.text in ("&&", "||"):
            loop = self._parent(loop)
        is_loop = loop.kind == "for"
        is_counted = is_loop and loop.kids[2] is not None
        for other in _OTHER.get(sign, ()):
            cost = 0.5 if sign in _COMPARING else 1.5 + 0.7 * (sign + other in _ODD)
            if sign == "&":
                right = node.kids[1]
                if right.kind == "number" and not right.macro and not _is_power(right.text):
                    continue  # & 15 is a remainder by 16 already
                cost = 0.9 if right.kind == "number" else 1.5
            if sign in ORDERS and other in ORDERS and sign[0] != other[0]:
                cost = 0.8 + 1.2 * (is_loop and self.is_host)  # the other way round
                if is_counted:
                    continue  # a loop that never turns is no cause
            if sign + other in ("/%", "%/") and self._is_half_of_a_place(node, other):
                cost = 0.6
            if sign + other in ("+*", "*+"):
                cost = self._as_usual(node, other, cost)
            if sign + other == "+*" and _builtins(node) >= _OF_A_BLOCK:
                cost = _FIRST_OF_A_BLOCK
            is_of_blocks = self.is_host and all(kid.kind == "name" for kid in node.kids)
            if sign + other == "+*" and is_of_blocks:
                cost = _BLOCKS
            yield (lambda n, s=other: replace(bare(n), text=s)), cost
        if sign in ("+", "-", "*", "/", "%", "&&", "||", "<<", ">>"):
            less = 0.8 if sign == "*" and self._is_step(node) else 1.3
            is_plain = node.kids[0].kind == "number" and not node.kids[0].macro
            yield (lambda n: bare(n).kids[0]), less if not is_plain else 1.3
            if sign not in ("/", "%", "<<", ">>"):
                yield (lambda n: n.kids[1]), less
        if sign == "/":
            if is_rounded_up(node):
                yield rounded_down, 0.9
            else:
                # Who counts on by one rounds up in another way.
                is_plain = self.function.is_kernel or self.is_host or self.counts_on
                is_plain = is_plain or bool(self.parts["%", *map(text_of, node.kids)])
                yield rounded_up, 0.8 if is_plain else _ROUNDED
        if sign == "+" and node.kids[0].text == "/" and node.kids[1].text == "1":
            yield (lambda n: rounded_up(n.kids[0])), 0.9  # whole / piece + 1
        if sign == "+":  # a * w + b for b * w + a
            for side in (0, 1):
                if node.kids[side].kind == "binary" and node.kids[side].text == "*":
                    for inner in (0, 1):
                        yield (lambda n, s=side, i=inner: crossed(n, s, i)), 0.9
            yield from self._crossed_terms(node)
        if sign == "-":
            yield (lambda n: replace(bare(n), kids=n.kids[::-1])), 2.0
        if sign in ("%", "&"):
            yield from self._at_most(node)
        if sign == "*" and "blockIdx" in _builtins(node) and "threadIdx" not in self._whole(node):
            thread = Node("member", [named("threadIdx")], _axis(node), node.line)
            is_usual = _builtins(node) >= _OF_A_BLOCK  # of a tile the first is meant as often
            cost = _FIRST_OF_A_BLOCK if is_usual else _FIRST_OF_A_TILE
            yield (lambda n, t=thread: binary("+", bare(n), t)), cost
        if sign == "*" and not self.is_host:
            yield from self._rows_of_places(node)
        yield from self._other_parts(node)

    def _crossed_terms(self, node: Node) -> Iterator[tuple[Change, float]]:
        """top + r * STEP + s for top + r + s * STEP: in a sum of more than two terms."""
        terms = terms_of(node)
        if self._parent(node).text == "+" or len(terms) < 3:
            return
        names = [one for one in terms if one.kind in ("name", "member")]
        for term in terms:
            if term.kind != "binary" or term.text != "*":
                continue
            for part in term.kids:
                for one in names if part.kind in ("name", "member") and not part.macro else ():
                    yield (lambda n, a=part, b=one: exchanged(n, a, b)), _CROSSED

    def _rows_of_places(self, node: Node) -> Iterator[tuple[Change, float]]:
        """row * width + col for row * col, blockIdx.x * blockDim.x + threadIdx.x for their product."""
        left, right = node.kids
        if _builtins(node) == {"gridDim", "blockDim"}:  # all threads, where a side is meant
            for name in self.given:
                yield (lambda n, o=name: named(o)), _OF_A_SIDE
        if _builtins(node) == {"blockIdx", "threadIdx"}:
            length = Node("member", [named("blockDim")], _axis(node), node.line)
            yield (lambda n, w=length: binary("+", binary("*", n.kids[0], w), n.kids[1])), _USUAL
        elif {left.kind, right.kind} == {"name"} and {left.text, right.text} <= self.declared:
            for name in self.given:
                yield (
                    (lambda n, w=name: binary("+", binary("*", n.kids[0], named(w)), n.kids[1])),
                    _OF_A_ROW,
                )

    def _at_most(self, node: Node) -> Iterator[tuple[Change, float]]:
        """Of what is left as many as a tile has, for the remainder: min(left, 16) for left & 15, w - x for w % 4."""
        side = node.kids[1]
        if node.text == "%" and node.kids[0].kind in ("name", "member") and not self.is_host:
            for name in self._near(self.scope.integers, node):  # what is left from there on
                if name != node.kids[0].text:
                    yield (lambda n, o=name: binary("-", n.kids[0], named(o))), _REST_FROM
        value = self.values.get(side.macro or side.text)
        if side.kind == "number" and side.text.isdigit():
            value = int(side.text)
        most = value + (node.text == "&") if value is not None else 0
        if not most or most & (most - 1):
            return
        same = bare(side) if node.text == "%" else number(most)
        yield (lambda n, m=same: Node("call", [named("min"), n.kids[0], m], "", n.line)), _AT_MOST

    def _as_usual(self, node: Node, other: str, cost: float) -> float:
        """Less where the two are added, or multiplied, elsewhere, and nowhere as they are here."""
        left, right = (kid.macro or kid.text for kid in node.kids)
        if other == "*" and (left, right) in self.products:
            return _USUAL
        is_product = self.multiplied[frozenset((left, right))] > 1
        if other == "+" and {left, right} & self.summands and not is_product:
            return _USUAL
        return cost

    def _is_step(self, node: Node) -> bool:
        """Whether a loop goes on by it: then a factor too many leaves a part out."""
        given = self._parent(node)
        step = self._parent(given)
        loop = self._parent(step)
        return given.kind == "assign" and loop.kind == "for" and loop.kids[2] is step

    def _factors(self, node: Node) -> Iterator[tuple[Change, float]]:
        """What a term lacks."""
        parent = self._parent(node)
        if node.kind == "number" and not node.macro:
            is_alone = parent.kind == "declare" or parent.text == "+"
            if is_alone and int_of(node.text) > 1 and not self.is_host:
                for name in self._near(self.scope.integers, node):
                    if name in self.declared:
                        far = _LESS_FOR_COUNTERS * (name == self._counter_around(node))
                        yield (
                            (lambda n, o=name: binary("*", bare(n), named(o))),
                            _TIMES_A_NAME - far,
                        )
            return
        if parent.kind == "member" or parent.kind in ("template", "after", "before"):
            return
        if parent.kind == "assign" and parent.kids[0] is node:
            return
        if parent.kind == "binary" and parent.text in (
            "<",
            "<=",
            ">",
            ">=",
            "==",
            "!=",
            "&&",
            "||",
            "/",
            "%",
        ):
            is_number = node.kind == "number" and not node.macro
            if not (parent.text in "<<=>>=" and not is_number):
                return
        if parent.kind == "index" and parent.kids[0] is node:
            return
        if parent.kind == "call" and parent.kids[0] is node:
            return
        if node.kind == "name" and node.text not in self.scope.integers:
            return
        if node.kind == "binary" and (
            node.text not in ("*", "%", "&", "/", "+", "-", "<<", ">>")
            or (parent.kind == "binary" and not self._is_term(node, parent))
        ):
            return
        root = parent.kind != "binary"
        # What is counted is seldom meant times something where it is compared.
        odd = 0.8 if parent.kind == "binary" and parent.text in "<<=>>=" else 0.0
        # A buffer that is larger hides an index that goes too far, and a block the blocks that lack.
        hides = call_of(parent) == "cudaMalloc"
        is_shared = self._is_setting(node, 2)
        if hides or self._is_setting(node):
            odd = OF_A_LENGTH
        whole = self._whole(node)
        for name in self._near(self.scope.integers, node):
            is_size = name in self.scope.sizes
            is_block = self._is_setting(node, 1) and not is_shared
            if name == node.text and node.kind == "name" and is_block:
                yield (lambda n, o=name: binary("*", bare(n), named(o))), 1.3  # of a flat block
            if name == node.text and is_size and not hides and not is_shared:
                if parent.kind != "binary" or parent.text in "+-":
                    yield (lambda n, o=name: binary("*", bare(n), named(o))), 1.5 + odd  # T * T
            if name == node.text or is_shared:
                continue
            cost = 1.2 if is_size else 2.3
            if is_size and not self.is_host and lacks_factor(node, name, self.products):
                cost = 0.7
            yield (lambda n, o=name: binary("*", bare(n), named(o))), cost + odd
            is_usual = name in self.summands and name not in whole
            far = _SUMMAND if is_usual else 1.9
            yield (lambda n, o=name: binary("+", bare(n), named(o))), 2.6 if is_size else far
        if not (hides or is_shared or self.is_host or parent.text in ("*", "/", "%", "-")):
            yield from self._phase_added(node)
        for macro in () if hides or is_shared else self.scope.constants:
            value = self.macros.get(macro)
            if value is not None:
                right = replace(number(value), macro=macro)
                far = 0.5 * (not self.is_host and lacks_factor(node, macro, self.products))
                yield (lambda n, r=right: binary("*", bare(n), r)), 1.2 - far + odd
        if self.function.is_kernel and (node.macro or node.text in self.values):
            for axis in "xy":  # what is as long as a block, times the block's number
                block = Node("member", [named("blockIdx")], axis, node.line)
                yield (lambda n, b=block: binary("*", bare(n), b)), _OF_THE_BLOCK
        for value in (4, 2, 8, *sorted(self.factors - {2, 4, 8})):
            cost = (1.4 if root else 1.9) if value in self.written else 2.4
            if value in self.factors and not node.macro:
                cost = 1.0  # what something else is multiplied by
            if is_shared and value != 2:  # room for two tiles in place of one is all it may lack
                continue
            cost += 0.0 if is_shared else odd
            yield (lambda n, v=value: binary("*", bare(n), number(v))), cost
        for sign in "-+":
            yield (lambda n, s=sign: binary(s, bare(n), number(1))), 1.7

    def _counter_around(self, node: Node) -> str:
        """What the innermost loop counts with."""
        while (above := self._parent(node)) is not node:
            node = above
            if node.kind == "for" and node.kids[0] is not None:
                declared = next((one for one in walk(node.kids[0]) if one.kind == "declare"), None)
                return declared.text if declared is not None else ""
        return ""

    def _is_term(self, node: Node, parent: Node) -> bool:
        """A quotient or a remainder in a sum."""
        return parent.text in ("+", "^", "|") and node.text in ("/", "%", "&", ">>")


def int_of(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _builtins(node: Node) -> set[str]:
    """Which of threadIdx, blockIdx and so on the two sides of an operator are."""
    sides = (kid.kids[0] for kid in node.kids if kid.kind == "member")
    return {one.text for one in sides if one.kind == "name"}


def _axis(node: Node) -> str:
    return next(kid.text for kid in node.kids if kid.kind == "member")


def _is_power(text: str) -> bool:
    """2, 4, 8: of which & and % are mixed up."""
    value = int(text) if text.isdigit() else 0
    return value > 1 and not value & (value - 1)
