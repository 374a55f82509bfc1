"""Why elements of P are wrong, from what they are made of.

The list of products that the simulator followed is held against the list that should be there. The
first thing that differs is named exactly; then what the wrong elements have in common. Nothing is
guessed from values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.labs.source import shared_array
from grader.labs.statements import Statement, function_name, listing
from grader.results.explanation import Explanation
from grader.results.provenance import ElementHistory, Factor, Provenance, SharedWord, Term

_ROUNDED = {
    "int": "cut to an int",
    "half": "rounded to half",
    "bfloat16": "rounded to bfloat16",
    "tf32": "rounded to TF32",
}


@dataclass(frozen=True)
class Shape:
    """M is j x k, N is k x l."""

    j: int
    k: int
    l: int  # noqa: E741


@dataclass(frozen=True)
class _Product:
    """One multiplication of an element's sum, and the term number t that it should be."""

    term: Term
    m: Factor
    n: Factor
    position: int  # in the order of addition
    phase: int
    needed: int | None = None  # t of M[i][t] * N[t][j]


@dataclass(frozen=True)
class _Sum:
    """An element's terms, sorted out."""

    history: ElementHistory
    products: tuple[_Product, ...]
    others: tuple[Term, ...]  # that are no product of an element of M with one of N
    padding: tuple[tuple[int, Term], ...]  # products with 0, by their position
    phases: int
    per_phase: int  # products of a full phase

    @property
    def place(self) -> tuple[int, int]:
        return self.history.row, self.history.column


_FROM_ALL_OVER = 20  # wrong elements that are looked at, besides the first ones
_FIRST = 4
_WRITTEN = 8  # elements that somebody stored: they show where a sum went


def choose(p: np.ndarray, m: np.ndarray, n: np.ndarray) -> list[tuple[int, int]]:
    """The elements to look at: wrong ones from all over P, and some that were stored."""
    expected = m.astype(np.float64) @ n.astype(np.float64)
    bound = 1e-4 * (np.abs(m).astype(np.float64) @ np.abs(n).astype(np.float64)) + 1e-30
    wrong = np.flatnonzero(~(np.abs(p - expected) <= bound))
    if not wrong.size:  # only slightly wrong
        wrong = np.flatnonzero(p.astype(np.float64) != expected)
    written = np.flatnonzero(~np.isnan(p))
    chosen = [*wrong[:_FIRST], *_spread(wrong, _FROM_ALL_OVER), *_spread(written, _WRITTEN)]
    return [divmod(int(index), p.shape[1]) for index in dict.fromkeys(chosen)]


def _spread(indices: np.ndarray, count: int) -> list[int]:
    # Not in equal steps, which would stay in one column.
    if len(indices) <= count:
        return list(indices)
    steps = (np.arange(count) * (len(indices) - 1) / (count - 1)).astype(int)
    return list(indices[np.minimum(steps + np.arange(count) * 7 % 5, len(indices) - 1)])


def explain(found: Provenance, shape: Shape, source: str, kernel: str = "") -> Explanation | None:
    """The cause of the wrong elements that were looked at; None where it does not show."""
    if not found.is_complete:
        return None
    writer = _Writer(found, shape, source, kernel)
    whole = [element for element in found.elements if element.is_whole]
    if not found.all_blocks:
        whole = [element for element in whole if element.stored]
    sums = [_sorted_out(element) for element in whole]
    for look in (
        writer.never_stored,
        writer.unset,
        writer.added,
        writer.one_matrix,
        writer.converted,
        writer.misplaced,
        writer.zeroed,
        writer.beyond,
        writer.wrong_factor,
        writer.foreign,
        writer.missing_or_doubled,
        writer.starts,
        writer.stored_twice,
    ):
        explanation = look(sums)
        if explanation is not None:
            return explanation
    return None


def _sorted_out(element: ElementHistory) -> _Sum:
    intervals = sorted({term.interval for term in element.terms if len(term.factors) == 2})
    rank = {interval: phase for phase, interval in enumerate(intervals)}
    products, others, padding = [], [], []
    for position, term in enumerate(element.terms):
        names = [factor.matrix for factor in term.factors]
        phase = rank.get(term.interval, 0)
        if sorted(names) == ["M", "N"]:
            m, n = term.factors if names[0] == "M" else reversed(term.factors)
            products.append(_Product(term, m, n, position, phase))
        elif _is_padding(term):
            padding.append((position, term))
        else:
            others.append(term)
    counts = Counter(rank[term.interval] for term in element.terms if len(term.factors) == 2)
    often = Counter(counts.values())
    per_phase = max(often, key=lambda count: (often[count], count), default=0)
    return _Sum(element, tuple(products), tuple(others), tuple(padding), len(intervals), per_phase)


def _is_padding(term: Term) -> bool:
    """A product with 0: what lies outside a matrix."""
    return any(factor.kind == "number" and factor.value == 0 for factor in term.factors)


class _Writer:
    """Looks for one cause after the other."""

    def __init__(self, found: Provenance, shape: Shape, source: str, kernel: str) -> None:
        self.found = found
        self.shape = shape
        self.source = source
        self.kernel = kernel
        storing = Counter((s.block, s.thread) for e in found.elements for s in e.stores)
        self.stores_several = any(count > 1 for count in storing.values())
        self.tiles: dict[tuple, list] = {}
        for word in found.tiles:
            key = (word.block, word.array, word.matrix, word.row, word.column)
            self.tiles.setdefault(key, []).append(word)

    # --- what one element's list says

    def needs(self, one: _Sum) -> list[tuple[int, int]]:
        return [(t, one.history.column) for t in range(self.shape.k)]

    def is_exact(self, one: _Sum, product: _Product) -> bool:
        i, j = one.place
        m, n = product.m, product.n
        return m.row == i and n.column == j and m.column == n.row

    def is_right(self, one: _Sum) -> bool:
        counts = Counter(p.m.column for p in one.products if self.is_exact(one, p))
        return (
            not one.others
            and len(one.products) == self.shape.k == len(counts)
            and not one.history.conversions
        )

    def holds(self, one: _Sum) -> tuple[int, int] | None:
        """The element of P whose complete sum this is, if it is one's."""
        if len(one.products) != self.shape.k or one.others:
            return None
        rows = {p.m.row for p in one.products}
        columns = {p.n.column for p in one.products}
        terms = {p.m.column for p in one.products if p.m.column == p.n.row}
        if len(rows) != 1 or len(columns) != 1 or len(terms) != self.shape.k:
            return None
        return rows.pop(), columns.pop()

    # --- causes

    def never_stored(self, sums: Sequence[_Sum]) -> Explanation | None:
        missing = [one for one in sums if not one.history.stored]
        if not missing or not self.found.all_blocks:
            return None
        first = missing[0]
        name = _p(first.place)
        for one in sums:
            if one.history.stored and self.holds(one) == first.place:
                line = one.history.stores[0].line
                text = f"{name} is never stored: its sum goes to {_p(one.place)}{_in(line)}."
                return self._explained("misplaced", text, first, "P", line, self._moved(sums))
        return self._explained("not-stored", f"No thread stores {name}.", first, "P")

    def unset(self, sums: Sequence[_Sum]) -> Explanation | None:
        for one in sums:
            for term in one.history.terms if one.history.stored else ():
                unset = next((f for f in term.factors if f.kind == "unset"), None)
                if unset is None:
                    continue
                if len(term.factors) == 1:
                    text = f"The sum of {_p(one.place)} starts with a value that was never set."
                    line = term.line or one.history.stores[0].line
                    return self._explained("unset", text, one, line=line)
                else:
                    text = (
                        f"{_p(one.place)}: line {term.line} multiplies a value that nobody has set."
                    )
                return self._explained("unset", text, one, line=term.line)
        return None

    def added(self, sums: Sequence[_Sum]) -> Explanation | None:
        """Elements of M and N that are in the sum without having been multiplied."""
        for one in sums:
            bare = [t for t in one.others if len(t.factors) == 1 and t.factors[0].is_element]
            if not bare:
                continue
            names = [term.factors[0] for term in bare]
            line = next((f.load.line for f in names if f.load), 0)
            if {"M", "N"} <= {f.matrix for f in names}:
                m = next(f for f in names if f.matrix == "M")
                n = next(f for f in names if f.matrix == "N")
                text = f"{_p(one.place)}: adds {m.name} + {n.name}; their product is needed."
                return self._explained("added", text, one, line=line)
            matrix = names[0].matrix
            if matrix == "P":
                text = f"{_p(one.place)}: the sum starts with {names[0].name}, what P held before."
                return self._explained("reads-p", text, one, "P", line)
            other = "N" if matrix == "M" else "M"
            text = (
                f"{_p(one.place)}: adds {names[0].name} by itself; it has to be multiplied "
                f"with an element of {other}."
            )
            return self._explained("added", text, one, matrix, line)
        return None

    def one_matrix(self, sums: Sequence[_Sum]) -> Explanation | None:
        for one in sums:
            for term in one.others:
                names = {f.matrix for f in term.factors if f.is_element}
                if (
                    len(term.factors) == 2
                    and len(names) == 1
                    and all(f.is_element for f in term.factors)
                ):
                    a, b = term.factors
                    text = f"{_p(one.place)}: multiplied {a.name} with {b.name}"
                    absent = ({"M", "N"} - names).pop() if names <= {"M", "N"} else "M"
                    text += f"; {absent} is not in the product."
                    line = self._load_line(b)
                    if a.shared and b.shared and a.shared.array == b.shared.array:
                        line = b.read.line if b.read and b.read.line else term.line
                    return self._explained("one-matrix", text, one, absent, line)
        return None

    def converted(self, sums: Sequence[_Sum]) -> Explanation | None:
        for one in sums:
            for to, line, times in one.history.conversions:
                how = _ROUNDED.get(to, f"converted to {to}")
                often = f", {times} times" if times > 1 else ""
                text = f"{_p(one.place)}: the sum is {how}{_in(line)}{often}."
                return self._explained("converted", text, one, line=line)
            for product in one.products:
                for factor in (product.m, product.n):
                    for to, line in factor.converted:
                        how = _ROUNDED.get(to, f"converted to {to}")
                        text = f"{_p(one.place)}: {factor.name} is {how}{_in(line)}."
                        return self._explained("converted", text, one, factor.matrix, line)
        return None

    def misplaced(self, sums: Sequence[_Sum]) -> Explanation | None:
        for one in sums:
            if not one.history.stored:
                continue
            belongs = self.holds(one)
            if belongs is None or belongs == one.place or not self._is_moved(one, belongs, sums):
                continue
            line = one.history.stores[0].line
            text = f"{_p(one.place)} holds the whole sum of {_p(belongs)}"
            text += f" (stored in line {line})." if line else "."
            return self._explained("misplaced", text, one, "P", line, self._moved(sums))
        return None

    def _is_moved(self, one: _Sum, belongs: tuple[int, int], sums: Sequence[_Sum]) -> bool:
        """Whether the store is wrong, rather than a load in the same way for all products."""
        if any(item.place == belongs and self.is_right(item) for item in sums):
            return False  # the sum is where it belongs, and was formed a second time
        natural = self._natural(one)
        if natural is not None:
            return natural != one.place
        if any(item.history.stored and self.holds(item) is None for item in sums):
            return False
        both = belongs[0] != one.place[0] and belongs[1] != one.place[1]
        return both or any(not item.history.stored for item in sums)

    def _natural(self, one: _Sum) -> tuple[int, int] | None:
        """The element that is the storing thread's by its place in the grid, if it has one."""
        if self.stores_several:
            return None
        across, down = (self.found.grid[axis] * self.found.block[axis] for axis in (0, 1))
        spare_x, spare_y = across - self.shape.l, down - self.shape.j
        if not (0 <= spare_x < self.found.block[0] and 0 <= spare_y < self.found.block[1]):
            return None
        who = one.history.stores[0]
        x, y = (who.block[axis] * self.found.block[axis] + who.thread[axis] for axis in (0, 1))
        return y, x

    def _moved(self, sums: Sequence[_Sum]) -> str:
        pairs = [(self.holds(one), one.place) for one in sums if one.history.stored]
        moved = [(right, got) for right, got in pairs if right is not None]
        if len(moved) < 2 or all(right == got for right, got in moved):
            return ""
        if all(right == got[::-1] for right, got in moved):
            return "Row and column are exchanged: either in the store or in both loads."
        steps = {(got[0] - right[0], got[1] - right[1]) for right, got in moved}
        if len(steps) == 1:
            down, across = steps.pop()
            return (
                "Every sum is stored "
                + " and ".join(
                    f"{abs(step)} {what}{'s' if abs(step) > 1 else ''} too far {way}"
                    for step, what, way in (
                        (down, "row", "down" if down > 0 else "up"),
                        (across, "column", "right" if across > 0 else "left"),
                    )
                    if step
                )
                + "."
            )
        return ""

    def zeroed(self, sums: Sequence[_Sum]) -> Explanation | None:
        """A 0 where an element is needed: whoever filled the tile was kept from loading it."""
        for one in sums:
            if not one.history.stored or self._counts(one) < self.shape.k:
                continue
            exact = {p.m.column for p in one.products if self.is_exact(one, p)}
            for position, term in one.padding:
                found = self._zero_of(one, term, position)
                if found is None or found[1] in exact:
                    continue
                matrix, t, zero = found
                needed = (one.place[0], t) if matrix == "M" else (t, one.place[1])
                if self._is_somewhere(one, matrix, needed):
                    continue  # it is there: it was looked for in the wrong place
                name = f"{matrix}[{needed[0]}][{needed[1]}]"
                line = self._load_line(zero) if zero.shared else term.line
                text = f"{_p(one.place)}: needs {name}, but was given 0 instead"
                if zero.shared is not None:
                    who = "({},{},{})".format(*zero.shared.who.thread)
                    text += f" (line {line} put it into {self._word(zero.shared)}, in thread {who})"
                common = (
                    f"Inside {matrix} nothing may be replaced by 0: the condition keeps threads "
                    "from loading that have to load."
                )
                return self._explained("zeroed", text + ".", one, matrix, line, common)
        return None

    def _is_somewhere(self, one: _Sum, matrix: str, needed: tuple[int, int]) -> bool:
        """Whether an element of a matrix was in shared memory, of the block that stored."""
        block = self._linear(one.history.stores[0].block)
        return any(
            (word.block, word.matrix, word.row, word.column) == (block, matrix, *needed)
            for word in self.found.tiles
        )

    def _zero_of(self, one: _Sum, term: Term, position: int) -> tuple[str, int, Factor] | None:
        """("M", t, the factor) if a product with 0 stands for M[i][t] times an element of N."""
        if len(term.factors) != 2 or position >= self.shape.k:
            return None
        zeros = [f for f in term.factors if f.kind == "number" and f.value == 0]
        others = [f for f in term.factors if f.is_element]
        if len(zeros) == 1 and len(others) == 1:
            (other,) = others
            if other.matrix == "N" and other.column == one.place[1] and other.row == position:
                return "M", position, zeros[0]
            if other.matrix == "M" and other.row == one.place[0] and other.column == position:
                return "N", position, zeros[0]
        if len(zeros) == 2 and zeros[0].shared is not None:
            return "M", position, zeros[0]
        return None

    def beyond(self, sums: Sequence[_Sum]) -> Explanation | None:
        """Products behind the last: a tile that hangs over the edge and is not 0 there."""
        k = self.shape.k
        for one in sums:
            if one.per_phase < 2 or k % one.per_phase == 0 or one.others:
                continue
            exact = Counter(p.m.column for p in one.products if self.is_exact(one, p))
            if len(exact) != k or self._counts(one) > -(-k // one.per_phase) * one.per_phase:
                continue
            late = [p for p in one.products if p.position >= k]
            in_order = all(
                p.m.column == p.position and self.is_exact(one, p)
                for p in one.products
                if p.position < k
            )
            if not late or not in_order:
                continue
            product = late[0]
            factor = product.n if product.n.row != product.position else product.m
            older = max((product.m, product.n), key=lambda f: f.row if f.matrix == "N" else 0)
            stale = [
                f
                for f in (product.m, product.n)
                if f.shared is not None
                and f.shared.interval
                < max(g.shared.interval for g in (product.m, product.n) if g.shared)
            ]
            factor = stale[0] if stale else (product.m if product.m.shared else older)
            line = self._load_line(factor)
            word = f" in {self._word(factor.shared)}" if factor.shared is not None else ""
            text = (
                f"{_p(one.place)}: k ends at {k - 1}, and the last phase goes on: it adds "
                f"{product.m.name} * {product.n.name}, too."
            )
            if stale:
                text += f" {factor.name} is still{word} from the phase before."
            elif word:
                text += f" Line {line} put {factor.name}{word}."
            common = "What a tile has beyond the edge of the matrix must be 0."
            return self._explained("beyond", text, one, factor.matrix, line, common)
        return None

    def starts(self, sums: Sequence[_Sum]) -> Explanation | None:
        """A number that is in the sum besides the products."""
        for one in sums:
            for term in one.others:
                numbers = [f for f in term.factors if f.kind == "number"]
                if len(numbers) != len(term.factors) or not numbers:
                    continue
                if len(numbers) == 1:
                    text = f"{_p(one.place)}: the sum starts at {numbers[0].value:g}, not at 0."
                    line = self._start_line(one)
                    return self._explained("starts", text, one, line=line)
                shared = next((f.shared for f in numbers if f.shared), None)
                values = " * ".join(f"{f.value:g}" for f in numbers)
                line = shared.who.line if shared else term.line
                where = f" (line {line} put it into {self._word(shared)})" if shared else ""
                text = f"{_p(one.place)}: adds {values}, which is no product of M and N{where}."
                common = "What a tile has beyond the edge of the matrix must be 0."
                return self._explained("beyond", text, one, line=line, common=common)
        return None

    def _start_line(self, one: _Sum) -> int:
        """Where the sum is declared, or set before its loop."""
        if not one.history.terms:
            return 0
        line = next((t.line for t in one.history.terms if len(t.factors) == 2), 0)
        text = listing(self.source)
        adding = text.simple_at(line)
        if adding is None:
            return line
        known = text.declaration(adding.words[0], adding)
        return known[0] if known is not None else line

    def wrong_factor(self, sums: Sequence[_Sum]) -> Explanation | None:
        wrong: list[tuple[_Sum, _Product]] = []
        for one in sums:
            wrong += [(one, p) for p in self._placed(one) if self.is_wrong(one, p)]
        if not wrong or self._is_foreign(wrong):
            return None
        known = [(one, p) for one, p in wrong if p.needed is not None]
        if not known:
            one, product = wrong[0]
            text = (
                f"{_p(one.place)}{self._phase(one, product)}: multiplied {product.m.name} with "
                f"{product.n.name}, which do not belong together."
            )
            return self._explained("mispaired", text, one, line=product.term.line)
        one, product = min(known, key=lambda known: (known[0].place, known[1].position))
        bad_m = (product.m.row, product.m.column) != (one.place[0], product.needed)
        bad_n = (product.n.row, product.n.column) != (product.needed, one.place[1])
        needs = []
        if bad_m:
            needs.append(f"M[{one.place[0]}][{product.needed}]")
        if bad_n:
            needs.append(f"N[{product.needed}][{one.place[1]}]")
        text = (
            f"{_p(one.place)}{self._phase(one, product)}: multiplied {product.m.name} with "
            f"{product.n.name}; needs {' and '.join(needs)}."
        )
        operand = "M" if bad_m else "N"
        factor = product.m if bad_m else product.n
        needed = (
            (one.place[0], product.needed) if operand == "M" else (product.needed, one.place[1])
        )
        way, line, other_line = self._way(one, product, factor, needed)
        is_load = line != (factor.read.line if factor.read else 0) or factor.shared is None
        every = [(one, p) for one in sums for p in self._placed(one) if p.needed is not None]
        common = self._common(every, operand, is_load)
        if bad_m and bad_n:
            both = (common, self._common(every, "N", is_load))
            common = " ".join(part for part in both if part)
        return Explanation(
            "wrong-factor",
            f"{text} {way}".strip(),
            common,
            "MN" if bad_m and bad_n else operand,
            line,
            other_line,
            one.place,
            product.phase if one.phases > 1 else None,
            (factor.row, factor.column),
            needed,
        )

    def _is_foreign(self, wrong: list[tuple[_Sum, _Product]]) -> bool:
        """Whether all that is wrong are whole products of other elements, besides the own ones."""
        one = wrong[0][0]
        own = {p.m.column for p in one.products if self.is_exact(one, p)}
        others = [p for o, p in wrong if o is one]
        return len(own) == self.shape.k and all(p.m.column == p.n.row for p in others)

    def foreign(self, sums: Sequence[_Sum]) -> Explanation | None:
        for one in sums:
            for product in one.products:
                if self.is_exact(one, product) or product.m.column != product.n.row:
                    continue
                whose = (product.m.row, product.n.column)
                text = (
                    f"The sum of {_p(one.place)} still holds products of {_p(whose)}, such as "
                    f"{product.m.name} with {product.n.name}: it is not set to 0 before."
                )
                return self._explained("foreign", text, one, line=product.term.line)
        return None

    def missing_or_doubled(self, sums: Sequence[_Sum]) -> Explanation | None:
        for one in sums:
            if not one.history.stored:
                continue
            counts = Counter(p.m.column for p in one.products if self.is_exact(one, p))
            missing = [t for t in range(self.shape.k) if not counts[t]]
            doubled = [t for t in range(self.shape.k) if counts[t] > 1]
            if not missing and not doubled:
                continue
            i, j = one.place
            line = one.products[0].term.line if one.products else one.history.stores[0].line
            if missing and not one.products:
                text = f"{_p(one.place)}: nothing was multiplied for it; it needs {_count(self.shape.k, 'product')}."
                found = self._explained("missing", text, one, line=line)
                return replace(found, is_telling=False)
            if missing:
                t = missing[0]
                common = self._common_missing(one, missing)
                line, reset = self._loop_line(one, missing, line)
                if reset:
                    common = "The sum is set to 0 again there: only what comes after is left."
                elif missing[0] == 0 and missing[-1] < self.shape.k - 1:
                    common = "A loop starts too late."
                text = (
                    f"{_p(one.place)}: {_count(len(missing), 'product')} of {self.shape.k} missing, "
                    f"those for k = {_ranges(missing)}; the first is M[{i}][{t}] with N[{t}][{j}]."
                )
                misread = any(
                    found is not None
                    and self._is_somewhere(
                        one,
                        found[0],
                        (i, found[1]) if found[0] == "M" else (found[1], j),
                    )
                    for found in (self._zero_of(one, term, at) for at, term in one.padding)
                )
                found = self._explained("missing", text, one, line=line, common=common)
                return replace(found, is_telling=not misread)
            t = doubled[0]
            text = (
                f"{_p(one.place)}: M[{i}][{t}] with N[{t}][{j}] was added {counts[t]} times; "
                f"so were those for k = {_ranges(doubled)}."
            )
            return self._explained("doubled", text, one, line=line)
        return None

    def _loop_line(self, one: _Sum, missing: list[int], line: int) -> tuple[int, bool]:
        """The line that leaves products out, and whether it sets the sum to 0 again."""
        text = listing(self.source)
        adding = text.simple_at(line)
        if adding is None:
            return line, False
        loops = text.loops(adding)
        k = self.shape.k
        if missing == list(range(missing[-1] + 1)) and one.phases <= 1 < k:
            name = adding.words[0]
            known = text.declaration(name, adding)
            resets = [
                item
                for item in text.assignments(name, text.function_of(adding))
                if len(item.words) > 2
                and item.words[-2] in ("0", "0.0f", "0.f", "0.0")
                and any(one in text.above(item) for one in loops)
            ]
            if len(resets) == 1:
                return resets[0].line, True
            if known is not None and loops and known[0] > loops[-1].line:
                return known[0], True
        target = adding.words[: adding.words.index("+=")] if "+=" in adding.words else ()
        loops = [loop for loop in loops if not _counted(loop) or _counted(loop) not in target]
        if not loops:
            return line, False
        runs = sum(b - a != 1 for a, b in zip(missing, missing[1:], strict=False)) + 1
        tile = one.per_phase
        if one.phases > 1:
            is_outer = len(missing) >= tile
        else:
            is_outer = missing[0] % max(tile, 1) == 0 and tile % 4 == 0
        if is_outer and runs == 1:
            return self._bound_line(loops[-1]), False
        is_inner = len(loops) < 3 or runs > max(one.phases, 1)
        return self._bound_line(loops[0 if is_inner else 1]), False

    def _bound_line(self, loop: Statement) -> int:
        """The line that decides how often a loop runs: its own, or that of its bound."""
        text = listing(self.source)
        if loop.kind != "for" or len(loop.parts) != 3:
            return loop.line
        condition = loop.parts[1]
        names = [word for word in condition if word.isidentifier()]
        if len(names) != 2 or len(condition) != 3:
            return loop.line
        name = names[1] if condition[0] == names[0] else names[0]
        given = text.assignments(name, text.function_of(loop))
        if len(given) == 1:
            return given[0].line
        known = text.declaration(name, loop)
        if known is None or given or len(known[1]) < 2:
            return loop.line
        return known[0]

    def stored_twice(self, sums: Sequence[_Sum]) -> Explanation | None:
        for one in sums:
            threads = {(who.block, who.thread) for who in one.history.stores}
            if len(threads) < 2 or self.is_right(one):
                continue
            text = f"{_p(one.place)} is stored by {len(threads)} threads; the last one counts."
            return self._explained("stored-twice", text, one, "P", one.history.stores[0].line)
        return None

    # --- helpers

    def _explained(
        self,
        kind: str,
        text: str,
        one: _Sum,
        operand: str = "",
        line: int = 0,
        common: str = "",
    ) -> Explanation:
        return Explanation(kind, text, common, operand, line, element=one.place)

    def _placed(self, one: _Sum) -> list[_Product]:
        """The products with the number t that each should have."""
        i, j = one.place
        by_m = sum(p.m.row == i and p.m.column == p.position for p in one.products)
        by_n = sum(p.n.column == j and p.n.row == p.position for p in one.products)
        exact = Counter(p.m.column for p in one.products if self.is_exact(one, p))
        elsewhere = any(
            self.is_exact(one, p) and exact[p.m.column] == 1 and p.m.column != p.position
            for p in one.products
        )
        in_order = max(by_m, by_n) * 2 >= len(one.products) or (
            self._counts(one) == self.shape.k and not elsewhere
        )
        as_many = self._counts(one) < self.shape.k + max(one.per_phase, 1)
        whole_m = by_m == len(one.products)
        whole_n = by_n == len(one.products)
        placed = []
        for p in one.products:
            t: int | None = None
            again = exact[p.m.column] > 1 and p.position != p.m.column and in_order and as_many
            if self.is_exact(one, p) and not again:
                t = p.m.column
            elif in_order and p.position < self.shape.k:
                t = p.position
            elif p.n.column == j and p.m.row != i and not whole_m:
                t = p.n.row
            elif p.m.row == i and p.n.column != j and not whole_n:
                t = p.m.column
            placed.append(replace(p, needed=t))
        return placed

    def is_wrong(self, one: _Sum, product: _Product) -> bool:
        """Of a placed product: whether a factor is not the one that is needed."""
        if not self.is_exact(one, product):
            return True
        return product.needed is not None and product.needed != product.m.column

    def _counts(self, one: _Sum) -> int:
        return sum(len(term.factors) == 2 for term in one.history.terms)

    def _phase(self, one: _Sum, product: _Product) -> str:
        return f", phase {product.phase}" if one.phases > 1 else ""

    def _load_line(self, factor: Factor) -> int:
        if factor.shared is not None:
            return self._called(factor.shared.who.line, factor.shared.array)
        return self._loading(factor.load.line, factor.matrix) if factor.load else 0

    def _loading(self, line: int, matrix: str) -> int:
        """The line that loads from a matrix: what does not change in a loop, the compiler may load
        at the line of an index."""
        text = listing(self.source)
        function = text.named(self.kernel)
        names = text.parameters(function)[:2] if function is not None else []
        if len(names) != 2 or matrix not in ("M", "N"):
            return line
        name = names[0] if matrix == "M" else names[1]
        reads = [item for item in text.inside(function) if item.has(name, "[")]
        here = text.at(line)
        in_helper = here and text.function_of(here[0]) is not function
        if in_helper or any(item.line == line for item in reads) or len(reads) != 1:
            return line
        return reads[0].line

    def _called(self, line: int, array: str) -> int:
        """The line itself, or where a helper that it stands in is called for this array."""
        text = listing(self.source)
        inside = text.at(line)
        function = text.function_of(inside[0]) if inside else None
        if function is None or "__global__" in function.words or array in _words_of(inside):
            return line
        name = function_name(function)
        calls = [
            item
            for item in text.statements
            if item.kind == "simple" and item.has(name, "(") and array in item.words
        ]
        return calls[0].line if len(calls) == 1 else line

    def _way(
        self, one: _Sum, product: _Product, factor: Factor, needed: tuple[int, int]
    ) -> tuple[str, int, int]:
        """How the operand came there, the line to look at first, and the other one."""
        line = self._load_line(factor)
        if factor.shared is None:
            return (f"(line {line} loaded it)" if line else ""), line, 0
        word = self._word(factor.shared)
        elsewhere = self._elsewhere(one, factor, needed)
        reading = self._reading(factor, product)
        if elsewhere and not self._is_load_to_blame(one, factor, needed):
            text = (
                f"(line {reading} reads {word}, where line {line} put {factor.name}; "
                f"{factor.matrix}[{needed[0]}][{needed[1]}] is in {elsewhere})"
            )
            return text, reading, line
        loaded = factor.load.line if factor.load else 0
        if loaded and loaded != line and not elsewhere and self._is_in_kernel(loaded, factor):
            text = f"(line {loaded} loaded it, line {line} put it into {word})"
            return text, loaded, reading
        if loaded and loaded != line and self._of_component(one, factor):
            return f"(line {loaded} loaded it into {word})", loaded, line
        return f"(line {line} loaded it into {word})", line, reading

    def _reading(self, factor: Factor, product: _Product) -> int:
        """The line that reads a shared word; the compiler may give it a neighbour's."""
        line = factor.read.line if factor.read and factor.read.line else product.term.line
        text = listing(self.source)
        array = factor.shared.array if factor.shared is not None else ""
        if any(array in item.words for item in text.at(line)):
            return line
        reads = [
            item
            for item in text.statements
            if item.kind == "simple"
            and array in item.words
            and "__shared__" not in item.words
            and not factor.shared.who.line == item.line
            and item.line != self._load_line(factor)
        ]
        return reads[0].line if len(reads) == 1 else line

    def _of_component(self, one: _Sum, factor: Factor) -> bool:
        """Whether a helper takes one element of four wrongly, and the others rightly."""
        residues: dict[bool, set[int]] = {True: set(), False: set()}
        for p in self._placed(one):
            mine = p.m if factor.matrix == "M" else p.n
            if p.needed is None or mine.shared is None:
                continue
            residues[self.is_wrong(one, p)].add(mine.shared.offset_bytes // 4 % 4)
        return len(residues[True]) == 1 and bool(residues[False] - residues[True])

    def _is_in_kernel(self, line: int, factor: Factor) -> bool:
        """Whether a kernel's own line, rather than a helper's, loads an element."""
        text = listing(self.source)
        inside = [item for item in text.at(line) if item.has("[")]
        function = text.function_of(inside[0]) if inside else None
        return function is not None and "__global__" in function.words

    def _is_load_to_blame(self, one: _Sum, factor: Factor, needed: tuple[int, int]) -> bool:
        """Whether the tile is filled wrongly, rather than read in the wrong place.

        So it is if one phase's products are all right, since they are read as in the others; or if
        the tile does not lie as its matrix does, and is read as if it did.
        """
        phases: dict[int, bool] = {}
        for p in self._placed(one):
            if p.needed is None:
                continue
            mine = p.m if factor.matrix == "M" else p.n
            wanted = (one.place[0], p.needed) if factor.matrix == "M" else (p.needed, one.place[1])
            is_right = (mine.row, mine.column) == wanted
            phases[p.phase] = phases.get(p.phase, True) and is_right
        if any(phases.values()):
            return True
        shape = shared_array(
            self.source, factor.shared.array, factor.shared.array_bytes, self.kernel
        )
        if shape is None or len(shape.dimensions) < 2:
            return False
        words = [
            word
            for word in self.found.tiles
            if word.array == factor.shared.array
            and word.interval == factor.shared.interval
            and word.block == self._linear(factor.shared.who.block)
            and word.matrix == factor.matrix
        ]
        if not words:
            return False
        top, left = min(word.row for word in words), min(word.column for word in words)
        as_it_lies = all(
            shape.indices(word.offset_bytes)[-2:] == (word.row - top, word.column - left)
            for word in words
        )
        read = shape.indices(factor.shared.offset_bytes)[-2:]
        return not as_it_lies and read == (needed[0] - top, needed[1] - left)

    def _elsewhere(self, one: _Sum, factor: Factor, needed: tuple[int, int]) -> str:
        """Where in the same array, at the same time, the needed element was."""
        block = self._linear(factor.shared.who.block)
        key = (block, factor.shared.array, factor.matrix, *needed)
        for word in self.tiles.get(key, ()):
            if word.interval == factor.shared.interval:
                return self._name(word.array, factor.shared.array_bytes, word.offset_bytes)
        return ""

    def _linear(self, block: tuple[int, int, int]) -> int:
        x, y, _ = self.found.grid
        return block[0] + block[1] * x + block[2] * x * y

    def _word(self, shared: SharedWord) -> str:
        return self._name(shared.array, shared.array_bytes, shared.offset_bytes)

    def _name(self, array: str, array_bytes: int, offset: int) -> str:
        shape = shared_array(self.source, array, array_bytes, self.kernel)
        return shape.element(offset) if shape is not None else f"{array}, byte {offset}"

    def _common_missing(self, one: _Sum, missing: list[int]) -> str:
        k = self.shape.k
        if missing == list(range(missing[0], k)):
            if one.per_phase and one.phases and len(missing) >= one.per_phase > 1:
                return "The last phases are missing: how often does the loop over the phases run?"
            return "A loop ends too early."
        if missing == list(range(missing[-1] + 1)):
            if one.phases == 1 and len(one.products) == one.per_phase < k:
                return "Only the last phase is left: the sum is set to 0 again in every phase."
            return (
                "The first products are missing: the sum is set to 0 again, or a loop starts late."
            )
        return ""

    def _common(
        self, every: list[tuple[_Sum, _Product]], operand: str, is_load: bool = True
    ) -> str:
        """What the wrong operands of one matrix have in common, and the right ones obey, too."""
        tile = max((one.per_phase for one, _ in every if one.phases > 1), default=0)
        width = self.shape.k if operand == "M" else self.shape.l
        facts = []
        for one, p in every:
            factor = p.m if operand == "M" else p.n
            row, column = (one.place[0], p.needed) if operand == "M" else (p.needed, one.place[1])
            facts.append(_Deviation(factor.row, factor.column, row, column, one.place, p, tile))
        wrong = [f for f in facts if (f.got_row, f.got_column) != (f.row, f.column)]
        if len(wrong) < 2:
            return ""
        for text, holds in _hypotheses(operand, tile, width):
            if all(holds(f) for f in facts):
                return text
        stride = _stride(facts, width) if is_load else None
        if stride is not None:
            return f"A row of {operand} has {width} elements; it is loaded as if it had {stride}."
        return ""


@dataclass(frozen=True)
class _Deviation:
    got_row: int
    got_column: int
    row: int  # needed
    column: int
    place: tuple[int, int]
    product: _Product
    tile: int

    @property
    def phase(self) -> int:
        return self.product.phase

    @property
    def along_k(self) -> int:
        return self.product.needed or 0


def _hypotheses(
    operand: str, tile: int, width: int
) -> list[tuple[str, Callable[[_Deviation], bool]]]:
    """What a wrong operand may have in common, the most telling first."""
    k_is, other_is = ("column", "row") if operand == "M" else ("row", "column")

    def along(f: _Deviation) -> int:
        return f.got_column if operand == "M" else f.got_row

    def across(f: _Deviation) -> int:
        return f.got_row if operand == "M" else f.got_column

    def right_across(f: _Deviation) -> bool:
        return across(f) == (f.row if operand == "M" else f.column)

    def right_along(f: _Deviation) -> bool:
        return along(f) == f.along_k

    def own(f: _Deviation) -> int:
        return f.place[0] if operand == "M" else f.place[1]

    def opposite(f: _Deviation) -> int:
        return f.place[1] if operand == "M" else f.place[0]

    found: list[tuple[str, Callable[[_Deviation], bool]]] = []
    found.append(
        (
            f"{operand} is used transposed: row and column are exchanged.",
            lambda f: (f.got_row, f.got_column) == (f.column, f.row),
        )
    )
    if tile:
        found.append(
            (
                f"In every phase after the first, the {k_is} of {operand} lacks the part of the "
                f"phase (ph * {tile}): the first tile is loaded again.",
                lambda f: right_across(f) and along(f) == f.along_k - f.phase * tile,
            )
        )
    for step in (1, -1, 2, -2):
        way = "too large" if step > 0 else "too small"
        found.append(
            (
                f"The {k_is} of {operand} is always {abs(step)} {way}.",
                lambda f, step=step: right_across(f) and along(f) - f.along_k == step,
            )
        )
        found.append(
            (
                f"The {other_is} of {operand} is always {abs(step)} {way}.",
                lambda f, step=step: right_along(f) and across(f) - own(f) == step,
            )
        )
    found.append(
        (
            f"The {other_is} of {operand} is always that of P's "
            f"{'column' if operand == 'M' else 'row'}.",
            lambda f: right_along(f) and across(f) == opposite(f),
        )
    )
    if tile:
        for size in (tile, 32, 16, 8, 4, 64, 128):
            found.append(
                (
                    f"The {other_is} of {operand} lacks the part of the block: it stays below "
                    f"{size} in every block.",
                    lambda f, size=size: right_along(f) and across(f) == own(f) % size,
                )
            )
        for step in (1, tile - 1, tile + 1, 2 * tile, tile // 2):
            found.append(
                (
                    f"From phase to phase the {k_is} of {operand} moves by {step}, not by {tile}.",
                    lambda f, step=step: right_across(f)
                    and along(f) == f.along_k % tile + f.phase * step,
                )
            )
        found.append(
            (
                f"The {k_is} of {operand} within the tile is that of P's "
                f"{'row' if operand == 'M' else 'column'}: it does not run with k.",
                lambda f: right_across(f) and along(f) % tile == own(f) % tile,
            )
        )
        found.append(
            (
                f"The {k_is} of {operand} within the tile is that of P's "
                f"{'column' if operand == 'M' else 'row'}: it does not run with k.",
                lambda f: right_across(f) and along(f) % tile == opposite(f) % tile,
            )
        )
    found.append(
        (
            f"The {k_is} of {operand} stays the same in all products.",
            lambda f: right_across(f) and along(f) == 0,
        )
    )
    return found


def _stride(facts: Sequence[_Deviation], width: int) -> int | None:
    """The length of a row that explains all places; None if there is none."""
    strides = set()
    for f in facts:
        flat = f.got_row * width + f.got_column
        if f.row == 0:
            if flat != f.column:
                return None
            continue
        stride, rest = divmod(flat - f.column, f.row)
        if rest:
            return None
        strides.add(stride)
    return strides.pop() if len(strides) == 1 and width not in strides else None


def _p(place: tuple[int, int]) -> str:
    return f"P[{place[0]}][{place[1]}]"


def _in(line: int) -> str:
    return f" in line {line}" if line else ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _ranges(numbers: Sequence[int]) -> str:
    """ "0..15, 20" of 0 to 15 and 20."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = [f"{first}..{last}" if last > first else f"{first}" for first, last in parts[:4]]
    return ", ".join(shown) + (", ..." if len(parts) > 4 else "")


def _words_of(statements: Sequence[Statement]) -> set[str]:
    return {word for item in statements for word in item.words}


def _counted(loop: Statement) -> str:
    """The variable that a for loop counts; "" if that is not clear."""
    if loop.kind != "for":
        return ""
    head = loop.parts[0]
    return head[head.index("=") - 1] if "=" in head[1:] else ""
