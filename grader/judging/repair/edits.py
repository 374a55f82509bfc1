"""The small changes that are tried: what students get wrong, turned round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from grader.judging.repair.addressed import Addressed, counting_in
from grader.judging.repair.apart import Apart, apart_in, counters_in
from grader.judging.repair.arithmetic import OF_A_LENGTH, Arithmetic
from grader.judging.repair.borrowed import Borrowed, added_fields_in, borrowed_in
from grader.judging.repair.callees import Callees
from grader.judging.repair.configured import Configured, configured_in
from grader.judging.repair.constants import Constants, divisors_of_floats
from grader.judging.repair.counted_up import CountedUp, quotients_in
from grader.judging.repair.each_turn import EachTurn
from grader.judging.repair.elsewhere import Elsewhere, partners_of
from grader.judging.repair.ends import Ends, counts_in_fours
from grader.judging.repair.followed import Followed, across_in, given_once_in
from grader.judging.repair.grouped import Grouped
from grader.judging.repair.guards import (
    Guards,
    compared_in,
    first_limit,
    limits_of,
)
from grader.judging.repair.hiding import Hiding, parts_of_launches_in
from grader.judging.repair.lane_pairs import (
    IN_PAIRS,
    OF_A_RUN,
    PART_OF_PAIRS,
    LanePairs,
    lane_values_of,
    no_pairs_of,
    runs_in,
)
from grader.judging.repair.lengths import AS_COUNTED, Lengths, row_lengths_in
from grader.judging.repair.linear import Linear
from grader.judging.repair.loop_pointers import LoopPointers
from grader.judging.repair.masked import Masked, counts_fours, taken_apart_in
from grader.judging.repair.meetings import Meetings
from grader.judging.repair.missing import Missing
from grader.judging.repair.moved import Moved, root_of
from grader.judging.repair.naming import ODD_ONE, Naming
from grader.judging.repair.next_turn import NextTurn, steps_in
from grader.judging.repair.nodes import MADE, File, Function, Node, children, replace, walk
from grader.judging.repair.oddness import Oddness
from grader.judging.repair.on_host import OnHost, is_of_host
from grader.judging.repair.paired import Paired
from grader.judging.repair.places import places_in, sums_in
from grader.judging.repair.repeated import (
    Repeated,
    divisors_of,
    factors_of,
    of_block_in,
    of_thread_in,
)
from grader.judging.repair.rewritten import (
    all_rounded_up,
    swapped,
)
from grader.judging.repair.rounded import Rounded, pieces_in
from grader.judging.repair.rounded_calls import RoundedCalls, unary_calls_in
from grader.judging.repair.same_array import SameArray, indexed_in
from grader.judging.repair.scope import (
    Change,
    Edit,
    bare,
    binary,
    named,
    number,
    scope_of,
    visible_at,
)
from grader.judging.repair.series import Series
from grader.judging.repair.shapes import Shapes
from grader.judging.repair.shown import text_of
from grader.judging.repair.siblings import odd_leaves, repeated_leaves
from grader.judging.repair.sides import Sides
from grader.judging.repair.stages import Stages
from grader.judging.repair.toggled import Toggled, toggled_in
from grader.judging.repair.turned_over import TurnedOver
from grader.judging.repair.unused import unused_in, used_once_in
from grader.judging.repair.valued import Valued, constants_told, told_of, values_of
from grader.judging.repair.what_is_left import WhatIsLeft, integer_fields_in, rests_in

_CHEAPEST = 0.2
_OF_A_PAIR = 0.7
_MOST_MACROS = 12
_OF_A_STEP = 1.7  # a step by what differs from thread to thread
_TERM_MOVED = 0.8
_SUM = 0.6  # += where a product is put
_OTHER_WAY = {"++": "--", "--": "++"}
_SHIFTS = ("1", "2", "3", "4", "5")
_BUILT_IN = ("threadIdx", "blockIdx", "blockDim", "gridDim")


class Editor(
    Arithmetic, Ends, Linear, Missing, Paired, OnHost, Repeated, Elsewhere, Configured, Oddness, Guards,
    Addressed, Apart, Borrowed, Callees, Constants, CountedUp, EachTurn, Followed, Grouped, LanePairs, Lengths, LoopPointers, Masked, Meetings, Moved, NextTurn, Rounded, RoundedCalls, SameArray, Series, Shapes, Sides, Stages, Toggled, TurnedOver, Valued, WhatIsLeft, Hiding, Naming):  # fmt: skip
    """The edits of one function."""

    def __init__(
        self, file: File, function: Function, macros: dict[str, int],
        products: set[tuple[str, str]] = frozenset(),
    ) -> None:  # fmt: skip
        """`products`: what is multiplied somewhere in the file (products_of)."""
        self.file, self.function, self.macros = file, function, macros
        self.leaves_arrays = False  # an access, in the case that is wrong
        self.leaves_out = False  # elements of P
        scope = scope_of(file, function)
        # A macro that stands for an expression of numbers is one, too.
        more = tuple(name for name in macros if name not in scope.constants)
        self.scope = replace(scope, constants=(*scope.constants, *more[:_MOST_MACROS]))
        self.counted = _used_as_integer(function.body)
        self.has_stages = any(
            node.kind == "declare" and len(node.kids[0] or ()) > 1 and node.type.is_shared
            and node.kids[0][0] is not None and node.kids[0][0].text == "2"
            for node in walk(function.body)
        )  # fmt: skip
        self.written = {
            int(node.text)
            for node in walk(function.body)
            if node.kind == "number" and node.text.isdigit()
        }
        self.products = products
        self.has_two_axes = any(
            node.kind == "member" and node.text == "y" and node.kids[0].text == "threadIdx"
            for one in (*file.functions.values(), *file.methods.values())
            for node in walk(one.body)
        )
        self.values = values_of(file, macros)
        self.told = told_of(file, self.values, macros)
        self.constants_told = constants_told(self.values, macros)
        self.borrowed = borrowed_in(file, function)
        self.added_fields = added_fields_in(function)
        self.masks = {
            (1 << int(node.kids[1].text)) - 1
            for node in walk(function.body)
            if node.kind == "binary" and node.text == ">>" and node.kids[1].text in _SHIFTS
        }
        self.parts = Counter(
            (n.text, *map(text_of, n.kids))
            for n in walk(function.body)
            if n.kind == "binary" and n.text in ("/", "%")
        )
        self.counts_on = any(n.kind in ("before", "after") for n in walk(function.body))
        self.factors, self.divisors = factors_of(function), divisors_of(function)
        self.divided_in = {
            (n.line, int(n.kids[1].text))
            for n in walk(function.body)
            if n.kind == "binary" and n.text in ("/", "%") and n.kids[1].text.isdigit()
        }
        self.unused, self.pieces = unused_in(function), pieces_in(function)
        self.counters, self.steps_of = counters_in(function), steps_in(function)
        self.apart, self.quotients = apart_in(function), quotients_in(function)
        self.toggled = toggled_in(file)
        self.counts_fours = counts_fours(function)
        self.counts_in_fours = counts_in_fours(function)
        self.taken_apart, self.counting = taken_apart_in(function), counting_in(file)
        self.divisors_of_floats = divisors_of_floats(function)
        self.of_block, self.of_thread = of_block_in(function), of_thread_in(function)
        declares = [n for n in walk(function.body) if n.kind == "declare"]
        self.declared = {n.text for n in declares}
        self.declared |= {name for n in walk(function.body) for _, name in n.given}
        self.keeping = {n.text for n in declares if not n.kids[0] and first_limit(n.kids[1])}
        self.used_once = used_once_in(file, function)
        assigned = [n.kids[0] for n in walk(function.body) if n.kind == "assign"]
        self.targets = Counter(n.text for n in assigned if n.kind == "name")
        names = [n for n in walk(function.body) if n.kind == "name"]
        self.used_names = Counter(n.text for n in names)
        self.names_of_lines: dict[int, set[str]] = {}
        for n in names:
            self.names_of_lines.setdefault(n.line, set()).add(n.text)
        self.given = {name for _, name in function.parameters} & self.scope.sizes
        self.visible = visible_at(function.body)
        self.partners, self.limits = partners_of(file), limits_of(file)
        self.compared = compared_in(function.body)
        self.places, self.index_sums = places_in(function.body), sums_in(function.body)
        self.indexed = indexed_in(function)
        self.unary_calls = unary_calls_in(file, function)
        self.lane_values = lane_values_of(file, function, macros)
        self.no_pairs = no_pairs_of(function, self.lane_values)
        self.runs = runs_in(function, self.lane_values) if self.no_pairs else set()
        # Nodes of which another turn may do what is needed.
        self.moving: set[tuple[int, str]] = set(self.no_pairs)
        self.given_once = given_once_in(function)
        self.across = across_in(self.given_once)
        self.odd, self.repeated = odd_leaves(function), repeated_leaves(function)
        self.configured = configured_in(function)
        self.row_lengths = row_lengths_in(file)
        self.parts_of_launches = parts_of_launches_in(function)
        self.rests, self.integer_fields = rests_in(function), integer_fields_in(file)
        self.meeting: dict[int, bool] = {}  # loops: whether threads meet in them
        self.of_dimensions: dict[tuple[str, int], set[str]] = {}
        self.sums = [n for n in walk(function.body) if n.kind == "binary" and n.text in "+-"]
        self.multiplied = Counter(
            frozenset(kid.macro or kid.text for kid in n.kids)
            for n in walk(function.body)
            if n.kind == "binary" and n.text == "*"
        )
        self.summands = {
            kid.text
            for one in self.sums
            for kid in one.kids
            if one.text == "+" and kid.kind == "name" and kid.text not in self.scope.sizes
        }
        self.parents: dict[int, Node] = {}
        for node in walk(function.body):
            for kid in children(node):
                self.parents[id(kid)] = node
        settings = [one.kids[1] for one in walk(function.body) if one.kind == "launch"]
        self.launched_with = {
            one.text for parts in settings for part in parts for one in walk(part)
        }
        self.arrays = {
            node.text: "shared" if node.type.is_shared else "own"
            for node in walk(function.body)
            if node.kind == "declare" and node.kids[0]
        }
        self.lengths = {
            id(one): (node.text, place)
            for node in walk(function.body)
            if node.kind == "declare"
            for place, length in enumerate(node.kids[0] or ())
            if length is not None
            for one in walk(length)
        }
        self.is_host = is_of_host(function)

    def all(
        self, is_dear: Callable[[int, float], bool] = lambda line, cost: False
    ) -> Iterator[Edit | tuple]:
        """In place of what is dear, by its line and its cost, what `made_of` makes it of."""
        for node in walk(self.function.body):
            if self._may_change(node):
                yield from self.made_of((node,), is_dear)
        yield from self._exchanged()
        yield from self._names_exchanged()
        yield from self._values_exchanged()
        yield from self._axes_exchanged()
        yield from self._quotients_exchanged()
        yield from self._divided_by_another()
        yield from self._compared_in_another_way()
        yield from self._lines_exchanged()
        yield from self._in_series()
        yield from self._before_their_loops()
        yield from self._otherwise_zero()
        yield from self._left_standing()
        yield from self._kept_sums()
        yield from self._for_the_block()
        yield from self._exchanged_too()
        yield from self._everywhere()
        yield from self._everywhere_in_line()
        yield from self._other_axis()
        yield from self._statements()
        yield from self._left_out()
        yield from self._by_one_thread()
        yield from self._unguarded()
        yield from self._missing_copies()

    def _may_change(self, node: Node) -> bool:
        """What stands nowhere in the file does not, nor the array of `for (auto one : array)`."""
        above = self._parent(node)
        if node.key > MADE:
            return False
        is_made = above.kind == "extent" or above.key > MADE
        return not (is_made and node.kind == "name" and above.kind in ("extent", "index"))

    def made_of(self, one: tuple, is_dear: Callable[[int, float], bool]) -> Iterator[Edit | tuple]:
        """Of (node,) all its changes, of (node, change, cost) an edit; itself, if it is dear."""
        node, *rest = one
        if node.id not in self.no_pairs and is_dear(node.line, rest[1] if rest else _CHEAPEST):
            yield one
        elif rest:
            yield from self._made(node, *rest)
        else:
            for change, cost in self._changes(node):
                yield from self.made_of((node, change, cost), is_dear)

    def _made(self, node: Node, change: Change, cost: float) -> Iterator[Edit]:
        changed = change(node)
        if self._is_target(node) and not self._may_be_target(changed):
            return
        far = 0.0
        if id(node) in self.lengths:
            array, place = self.lengths[id(node)]
            if self._is_counted_in(changed, array):
                far = -AS_COUNTED
            elif not self._is_plain_length(node, changed, array, place):
                far = OF_A_LENGTH
        far += _OF_A_PAIR * self._is_of_a_pair(node)
        if node.text in ("/", "%"):
            far += 0.4 * self._against_name(node, changed)
        far += (
            self._is_odd(node, changed) + self._hides(node, changed) + self._oddness(node, changed)
        )
        if self._makes_a_pair(node, change):
            cost = IN_PAIRS + PART_OF_PAIRS * cost - OF_A_RUN * (node.id in self.runs)
        else:
            cost = max(_CHEAPEST, cost + far)
        yield Edit(((node.id, change),), node.line, cost, self.function.name, node)

    def _is_of_a_pair(self, node: Node) -> bool:
        """Whether t / D stands beside t % D: by another number, the two would be no place any more."""
        above = self._parent(node)
        if above.kind != "binary" or above.text not in ("/", "%") or above.kids[1] is not node:
            return False
        other = "%" if above.text == "/" else "/"
        return self.parts[other, text_of(above.kids[0]), text_of(node)] > 0

    def _is_target(self, node: Node) -> bool:
        """What is given a value there."""
        above = self._parent(node)
        return above.kind in ("assign", "before", "after") and above.kids[0] is node

    def _may_be_target(self, node: Node) -> bool:
        if node.kind == "name":
            kind = self.scope.types.get(node.text)
            return kind is not None and not kind.is_constant
        if node.kind == "member":
            return node.kids[0].text not in _BUILT_IN
        return node.kind in ("index", "deref", "assign", "call")

    def _parent(self, node: Node) -> Node:
        return self.parents.get(id(node), node)

    def _changes(self, node: Node) -> Iterator[tuple[Change, float]]:
        if node.id in self.repeated:
            yield (lambda n, o=self.repeated[node.id]: replace(bare(n), text=o)), ODD_ONE
        match node.kind:
            case "name":
                yield from self._lengths(node)
                yield from self._names(node)
                yield from self._directions(node)
                yield from self._with_the_turn(node)
                yield from self._fourth(node)
                yield from self._of_the_other_axis(node)
                yield from self._called_with(node)
            case "member":
                if self._is_called(node):
                    return  # a change of what is called is one of the call
                yield from self._members(node)
                if not self.is_host:
                    yield from self._places(node)
            case "number":
                yield from self._lengths(node)
                yield from self._numbers(node)
            case "scoped":
                yield from self._scoped_names(node)
            case "binary":
                yield from self._operators(node)
                yield from self._taken_together(node)
                yield from self._masks(node)
                yield from self._as_counted_by_helper(node)
                yield from self._in_fours(node)
                yield from self._at_most_four(node)
                yield from self._as_indexed_elsewhere(node)
            case "assign":
                yield from self._assignments(node)
                yield from self._part_of_whole(node)
                yield from self._steps_of_quotients(node)
            case "before" | "after":
                yield from self._steps(node)
            case "call":
                yield from self._arguments(node, 1)
                yield from self._terms_of_arguments(node)
                yield from self._rests(node)
                yield from self._calls(node)
                yield from self._of_another(node)
            case "make":
                yield from self._arguments(node, 0)
                yield from self._of_two_sides(node)
                yield all_rounded_up, 0.8
            case "braces" | "built":
                yield from self._arguments(node, 0)
                yield from self._of_two_sides(node)
            case "launch":
                yield from self._launches(node)
            case "index":
                yield from self._indices(node)
            case "declare":
                yield from self._types(node)
                yield from self._firsts(node)
                yield from self._limits(node)
                yield from self._sides_exchanged(node)
                yield from self._kept_guards(node, 1)
            case "return":
                yield from self._kept_guards(node, 0)
            case "if" | "choose":
                yield from self._guards(node)
                yield from self._counted_up(node)
                if node.kind == "choose":
                    yield from self._taken_together(node)
        if node.kind in ("name", "member", "binary", "number"):
            yield from self._factors(node)
            yield from self._like_others(node)
            yield from self._with_block(node)
            yield from self._thread_numbers(node)
            yield from self._as_apart_elsewhere(node)
            yield from self._next_turn(node)
            yield from self._other_of_two(node)
            yield from self._in_order(node)
            yield from self._grid_steps(node)
            yield from self._configured(node)
        if node.kind in ("member", "binary"):
            yield from self._fields_added(node)
        if node.kind in ("name", "number"):
            yield from self._other_values(node)
        if node.kind in ("name", "number", "member"):
            yield from self._as_others_count(node)
        if node.kind in ("name", "member"):
            yield from self._what_is_left(node)

    # --- names and numbers

    def _assignments(self, node: Node) -> Iterator[tuple[Change, float]]:
        if node.text == "=":
            is_product = _adds_up(node) and self.arrays.get(root_of(node.kids[0])) != "shared"
            yield (lambda n: replace(bare(n), text="+=")), _SUM if is_product else 1.0
            yield from self._left_over(node)
        if node.text == "+=":
            yield (lambda n: replace(bare(n), text="=")), 1.5
            target, given = node.kids
            if given.kind != "number":  # a step that has a name is seldom meant to be 1
                cost = 1.0 if given.kind != "name" else 1.6
                yield (lambda n: replace(bare(n), kids=[n.kids[0], number(1)])), cost
            if target.kind == "name" and target.text in (
                *self.scope.pointers,
                *self.scope.integers,
            ):
                is_pointer = target.text in self.scope.pointers
                for name in self._near(self.scope.integers, node):
                    is_length = is_pointer or name in self.scope.sizes
                    yield (
                        (
                            lambda n, o=name: replace(
                                bare(n), kids=[n.kids[0], binary("*", n.kids[1], named(o))]
                            )
                        ),
                        1.0 if is_length else _OF_A_STEP,
                    )
                for macro in self.scope.constants if is_pointer else ():
                    rows = replace(number(self.macros.get(macro, 1)), macro=macro)
                    by = binary("*", rows, given)
                    yield (lambda n, b=by: replace(bare(n), kids=[n.kids[0], b])), 1.0

    def _steps(self, node: Node) -> Iterator[tuple[Change, float]]:
        if self._parent(node).kind == "do":
            for name in self._near(self.scope.integers, node):
                yield (
                    (
                        lambda n, o=name: Node(
                            "assign", [n.kids[0], named(o)], n.text[0] + "=", n.line
                        )
                    ),
                    1.0 if name in self.scope.sizes else _OF_A_STEP,
                )
            for macro in self.scope.constants:
                right = replace(number(self.macros.get(macro, 1)), macro=macro)
                yield (
                    (lambda n, r=right: Node("assign", [n.kids[0], r], n.text[0] + "=", n.line)),
                    1.0,
                )
        else:
            other = "after" if node.kind == "before" else "before"
            yield (lambda n, o=other: replace(bare(n), kind=o)), 1.0
        yield (lambda n: replace(bare(n), text=_OTHER_WAY[n.text])), 1.0

    # --- lists

    def _arguments(self, node: Node, start: int) -> Iterator[tuple[Change, float]]:
        for a in range(start, len(node.kids)):
            for b in range(a + 1, len(node.kids)):
                cost = 0.7 if b == a + 1 else 0.9
                yield (lambda n, a=a, b=b: replace(bare(n), kids=swapped(n.kids, a, b))), cost

    def _terms_of_arguments(self, node: Node) -> Iterator[tuple[Change, float]]:
        """put(row + 8, col) for put(row, col + 8)."""
        for at in range(1, len(node.kids)):
            given = node.kids[at]
            if given.kind != "binary" or given.text != "+" or given.kids[1].kind != "number":
                continue
            for other in (at - 1, at + 1):
                if 0 < other < len(node.kids) and node.kids[other].kind in ("name", "binary"):
                    kids = list(node.kids)
                    kids[at] = given.kids[0]
                    kids[other] = binary("+", node.kids[other], given.kids[1])
                    yield (lambda n, k=tuple(kids): replace(bare(n), kids=list(k))), _TERM_MOVED

    def _indices(self, node: Node) -> Iterator[tuple[Change, float]]:
        inner, index = node.kids
        if inner.kind == "index":
            yield (
                (
                    lambda n: replace(
                        bare(n),
                        kids=[
                            replace(bare(n.kids[0]), kids=[n.kids[0].kids[0], n.kids[1]]),
                            n.kids[0].kids[1],
                        ],
                    )
                ),
                0.7,
            )

    def _types(self, node: Node) -> Iterator[tuple[Change, float]]:
        if node.type.name == "int" and not node.type.stars and not node.type.is_constant:
            # What is counted from other integers is one.
            is_counted = node.text in self.counted or not self._may_be_float(node.kids[1])
            if node.kids[0] or not is_counted:
                yield (lambda n: replace(bare(n), type=replace(n.type, name="float"))), 1.0

    def _may_be_float(self, value: Node | None) -> bool:
        """Whether a number, a float or an element of an array is in it, or nothing."""
        if value is None or value.kind == "number":
            return True
        return any(
            one.kind in ("index", "deref", "call")
            or (one.kind == "name" and one.text in self.scope.floats)
            for one in walk(value)
        )

    def _limits(self, node: Node) -> Iterator[tuple[Change, float]]:
        """The last tile's length, and the place of a block."""
        if node.kids[0] or node.kids[1] is None:
            return
        sizes = [n for n in self.scope.integers if n in self.scope.sizes]
        if node.type.name == "int" and not node.type.stars and not self.is_host:
            for side in sizes:
                for name in self._near(self.scope.integers, node):
                    if name not in self.scope.sizes and name not in self.keeping:
                        rest = binary("-", named(side), named(name))
                        yield (
                            (
                                lambda n, r=rest: replace(
                                    bare(n), kids=[None, Node("call", [named("min"), n.kids[1], r])]
                                )
                            ),
                            2.0,
                        )
        if node.type.stars and not self.is_host:
            for axis in "xy":
                block = Node("member", [named("blockIdx")], axis)
                for macro in self.scope.constants:
                    by = binary("*", block, replace(number(self.macros.get(macro, 1)), macro=macro))
                    for one in [by, *(binary("*", by, named(side)) for side in sizes)]:
                        yield (
                            (
                                lambda n, e=one: replace(
                                    bare(n), kids=[None, binary("+", n.kids[1], e)]
                                )
                            ),
                            1.7,
                        )


def _adds_up(node: Node) -> bool:
    """Whether what is put there is a product: it mostly is to be added."""
    value = node.kids[1]
    return (value.kind == "binary" and value.text == "*") or (
        value.kind == "call" and value.kids[0].text in ("fmaf", "fma", "__fmaf_rn")
    )


def _used_as_integer(body: Node) -> set[str]:
    """Names in an index or a condition."""
    found = set()
    for node in walk(body):
        if node.kind in ("index", "for", "if"):
            for kid in children(node)[: 2 if node.kind != "index" else None]:
                if node.kind == "index" and kid is node.kids[0]:
                    continue
                if node.kind == "if" and kid is not node.kids[0]:
                    continue
                found |= {one.text for one in walk(kid) if one.kind == "name"}
    return found
