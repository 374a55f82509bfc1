"""What elements of P are made of, sorted out: products, padding, phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.results.explanation import Explanation
from grader.results.provenance import ElementHistory, Factor, Provenance, Term


@dataclass(frozen=True)
class Shape:
    """M is j x k, N is k x l."""

    j: int
    k: int
    l: int  # noqa: E741
    factors: str = "float"  # what elements of M and N are to be rounded to


@dataclass(frozen=True)
class Product:
    """One multiplication of an element's sum, and the term number t that it should be."""

    term: Term
    m: Factor
    n: Factor
    position: int  # in the order of addition
    phase: int
    needed: int | None = None  # t of M[i][t] * N[t][j]


@dataclass(frozen=True)
class Sum:
    """An element's terms, sorted out."""

    history: ElementHistory
    products: tuple[Product, ...]
    others: tuple[Term, ...]  # that are no product of an element of M with one of N
    padding: tuple[tuple[int, Term], ...]  # products with 0, by their position
    phases: int
    per_phase: int  # products of a full phase

    @property
    def place(self) -> tuple[int, int]:
        return self.history.row, self.history.column


def sorted_out(element: ElementHistory) -> Sum:
    intervals = sorted({term.interval for term in element.terms if len(term.factors) == 2})
    rank = {interval: phase for phase, interval in enumerate(intervals)}
    products, others, padding = [], [], []
    for position, term in enumerate(element.terms):
        names = [factor.matrix for factor in term.factors]
        phase = rank.get(term.interval, 0)
        if sorted(names) == ["M", "N"]:
            m, n = term.factors if names[0] == "M" else reversed(term.factors)
            products.append(Product(term, m, n, position, phase))
        elif _is_padding(term):
            padding.append((position, term))
        else:
            others.append(term)
    counts = Counter(rank[term.interval] for term in element.terms if len(term.factors) == 2)
    often = Counter(counts.values())
    per_phase = max(often, key=lambda count: (often[count], count), default=0)
    return Sum(element, tuple(products), tuple(others), tuple(padding), len(intervals), per_phase)


def _is_padding(term: Term) -> bool:
    """A product with 0: what lies outside a matrix."""
    return any(factor.kind == "number" and factor.value == 0 for factor in term.factors)


class Sums:
    """The sums that were followed, and what can be asked of each."""

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

    def is_exact(self, one: Sum, product: Product) -> bool:
        i, j = one.place
        m, n = product.m, product.n
        return m.row == i and n.column == j and m.column == n.row

    def is_right(self, one: Sum) -> bool:
        counts = Counter(p.m.column for p in one.products if self.is_exact(one, p))
        return (
            not one.others
            and len(one.products) == self.shape.k == len(counts)
            and not one.history.conversions
        )

    def holds(self, one: Sum) -> tuple[int, int] | None:
        """The element of P whose complete sum this is, if it is one's."""
        if len(one.products) != self.shape.k or one.others:
            return None
        rows = {p.m.row for p in one.products}
        columns = {p.n.column for p in one.products}
        terms = {p.m.column for p in one.products if p.m.column == p.n.row}
        if len(rows) != 1 or len(columns) != 1 or len(terms) != self.shape.k:
            return None
        return rows.pop(), columns.pop()

    def is_wrong(self, one: Sum, product: Product) -> bool:
        """Of a placed product: whether a factor is not the one that is needed."""
        if not self.is_exact(one, product):
            return True
        return product.needed is not None and product.needed != product.m.column

    def _placed(self, one: Sum) -> list[Product]:
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

    def _counts(self, one: Sum) -> int:
        return sum(len(term.factors) == 2 for term in one.history.terms)

    def _phase(self, one: Sum, product: Product) -> str:
        return f", phase {product.phase}" if one.phases > 1 else ""

    def _is_somewhere(self, one: Sum, matrix: str, needed: tuple[int, int]) -> bool:
        """Whether an element of a matrix was in shared memory, of the block that stored."""
        block = self._linear(one.history.stores[0].block)
        return any(
            (word.block, word.matrix, word.row, word.column) == (block, matrix, *needed)
            for word in self.found.tiles
        )

    def _zero_of(self, one: Sum, term: Term, position: int) -> tuple[str, int, Factor] | None:
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

    def _linear(self, block: tuple[int, int, int]) -> int:
        x, y, _ = self.found.grid
        return block[0] + block[1] * x + block[2] * x * y

    def _explained(
        self,
        kind: str,
        text: str,
        one: Sum,
        operand: str = "",
        line: int = 0,
        common: str = "",
        to: str = "",
    ) -> Explanation:
        return Explanation(kind, text, common, operand, line, element=one.place, to=to)


def place_name(place: tuple[int, int]) -> str:
    return f"P[{place[0]}][{place[1]}]"


def in_line(line: int) -> str:
    return f" in line {line}" if line else ""


def several(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def ranges(numbers: Sequence[int]) -> str:
    """ "0..15, 20" of 0 to 15 and 20."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = [f"{first}..{last}" if last > first else f"{first}" for first, last in parts[:4]]
    return ", ".join(shown) + (", ..." if len(parts) > 4 else "")
