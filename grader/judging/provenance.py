"""Why elements of P are wrong, from what they are made of.

The list of products that the simulator followed is held against the list that should be there. The
first thing that differs is named exactly; then what the wrong elements have in common. Nothing is
guessed from values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.judging import pieces
from grader.judging.hypotheses import Deviation, hypotheses, stride_of
from grader.judging.stores import Stores
from grader.judging.sums import Product, Shape, Sum, in_line, place_name, several, sorted_out
from grader.labs.statements import listing
from grader.results.explanation import Explanation
from grader.results.provenance import Factor, Provenance, Term

__all__ = ["Shape", "choose", "explain"]

_ROUNDED = {
    "int": "cut to an int",
    "half": "rounded to half",
    "bfloat16": "rounded to bfloat16",
    "bfloat16-cut": "cut to bfloat16, not rounded to the nearest",
    "tf32": "rounded to TF32",
}
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
    if shape.factors == "split" and pieces.is_split(found):
        return pieces.explain(
            found, shape.k, lambda part: _of_products(part, shape, source, kernel), source
        )
    return _of_products(found, shape, source, kernel)


def _of_products(found: Provenance, shape: Shape, source: str, kernel: str) -> Explanation | None:
    writer = Writer(found, shape, source, kernel)
    whole = [element for element in found.elements if element.is_whole]
    if not found.all_blocks:
        whole = [element for element in whole if element.stored]
    sums = [sorted_out(element) for element in whole]
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


def _in_fragment(factor: Factor, needed: tuple[int, int]) -> str:
    """Which lane's register gave the wrong operand to a tensor core, and what belongs there."""
    if factor.fragment is None:
        return ""
    held = factor.fragment
    half = "upper" if held.part else "lower"
    return (
        f"Lane {held.lane} holds {factor.name} in the {half} half of {held.name}, where "
        f"{factor.matrix}[{needed[0]}][{needed[1]}] belongs."
    )


def _listed(letter: str, numbers: Sequence[int]) -> str:
    return " and ".join(f"{letter}[{number}]" for number in numbers)


class Writer(Stores):
    """Looks for one cause after the other."""

    def unset(self, sums: Sequence[Sum]) -> Explanation | None:
        for one in sums:
            for term in one.history.terms if one.history.stored else ():
                unset = next((f for f in term.factors if f.kind == "unset"), None)
                if unset is None:
                    continue
                if len(term.factors) == 1:
                    text = f"The sum of {place_name(one.place)} starts with a value that was never set."
                    line = term.line or one.history.stores[0].line
                    return self._explained("unset", text, one, line=line)
                else:
                    text = f"{place_name(one.place)}: line {term.line} multiplies a value that nobody has set."
                return self._explained("unset", text, one, line=term.line)
        return None

    def added(self, sums: Sequence[Sum]) -> Explanation | None:
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
                text = (
                    f"{place_name(one.place)}: adds {m.name} + {n.name}; their product is needed."
                )
                return self._explained("added", text, one, line=line)
            matrix = names[0].matrix
            if matrix == "P":
                text = f"{place_name(one.place)}: the sum starts with {names[0].name}, what P held before."
                return self._explained("reads-p", text, one, "P", line)
            other = "N" if matrix == "M" else "M"
            text = (
                f"{place_name(one.place)}: adds {names[0].name} by itself; it has to be multiplied "
                f"with an element of {other}."
            )
            return self._explained("added", text, one, matrix, line)
        return None

    def one_matrix(self, sums: Sequence[Sum]) -> Explanation | None:
        for one in sums:
            for term in one.others:
                names = {f.matrix for f in term.factors if f.is_element}
                if (
                    len(term.factors) == 2
                    and len(names) == 1
                    and all(f.is_element for f in term.factors)
                ):
                    a, b = term.factors
                    text = f"{place_name(one.place)}: multiplied {a.name} with {b.name}"
                    absent = ({"M", "N"} - names).pop() if names <= {"M", "N"} else "M"
                    text += f"; {absent} is not in the product."
                    line = self._load_line(b)
                    if a.shared and b.shared and a.shared.array == b.shared.array:
                        line = b.read.line if b.read and b.read.line else term.line
                    return self._explained("one-matrix", text, one, absent, line)
        return None

    def converted(self, sums: Sequence[Sum]) -> Explanation | None:
        for one in sums:
            for to, line, times in one.history.conversions:
                how = _ROUNDED.get(to, f"converted to {to}")
                often = f", {times} times" if times > 1 else ""
                text = f"{place_name(one.place)}: the sum is {how}{in_line(line)}{often}."
                return self._explained("converted", text, one, line=line, to=to)
            for product in one.products:
                for factor in (product.m, product.n):
                    for to, line in factor.converted:
                        if to == "bfloat16" and self.shape.factors == "bf16":
                            continue
                        how = _ROUNDED.get(to, f"converted to {to}")
                        text = f"{place_name(one.place)}: {factor.name} is {how}{in_line(line)}."
                        return self._explained("converted", text, one, factor.matrix, line, to=to)
        return None

    def starts(self, sums: Sequence[Sum]) -> Explanation | None:
        """A number that is in the sum besides the products."""
        for one in sums:
            for term in one.others:
                numbers = [f for f in term.factors if f.kind == "number"]
                if len(numbers) != len(term.factors) or not numbers:
                    continue
                if len(numbers) == 1:
                    return self._number_in_sum(one, term, numbers[0].value)
                shared = next((f.shared for f in numbers if f.shared), None)
                values = " * ".join(f"{f.value:g}" for f in numbers)
                line = shared.who.line if shared else term.line
                where = f" (line {line} put it into {self._word(shared)})" if shared else ""
                text = f"{place_name(one.place)}: adds {values}, which is no product of M and N{where}."
                common = "What a tile has beyond the edge of the matrix must be 0."
                return self._explained("beyond", text, one, line=line, common=common)
        return None

    def _number_in_sum(self, one: Sum, term: Term, value: float) -> Explanation:
        """Where the sum starts, or what is added to it later, once or time and again."""
        times = sum(
            len(other.factors) == 1 and other.factors[0] == term.factors[0] for other in one.others
        )
        if times == 1 and one.history.terms[0] is term:
            text = f"{place_name(one.place)}: the sum starts at {value:g}, not at 0."
            return self._explained("starts", text, one, line=self._start_line(one))
        often = f" {times} times" if times > 1 else ""
        text = f"{place_name(one.place)}: {value:g} is added{often}, besides the products."
        of_products = next((t.line for t in one.history.terms if len(t.factors) == 2), 0)
        line = term.line or (of_products if times > 1 else 0)
        return self._explained("starts", text, one, line=line)

    def _start_line(self, one: Sum) -> int:
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

    def wrong_factor(self, sums: Sequence[Sum]) -> Explanation | None:
        wrong: list[tuple[Sum, Product]] = []
        for one in sums:
            wrong += [(one, p) for p in self._placed(one) if self.is_wrong(one, p)]
        if not wrong or self._is_foreign(wrong):
            return None
        known = [(one, p) for one, p in wrong if p.needed is not None]
        if not known:
            one, product = wrong[0]
            text = (
                f"{place_name(one.place)}{self._phase(one, product)}: multiplied {product.m.name} with "
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
            f"{place_name(one.place)}{self._phase(one, product)}: multiplied {product.m.name} with "
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
        is_old = factor.shared is not None and bool(
            self._put_later(factor, needed, product.term.interval)
        )
        common = self._common(every, operand, is_load, is_old)
        common = common or self._registers(every, operand)
        if bad_m and bad_n:
            both = (common, self._common(every, "N", is_load))
            common = " ".join(part for part in both if part)
        text = " ".join(part for part in (text, _in_fragment(factor, needed), way) if part)
        return Explanation(
            "wrong-factor",
            text,
            common,
            "MN" if bad_m and bad_n else operand,
            line,
            other_line,
            one.place,
            product.phase if one.phases > 1 else None,
            (factor.row, factor.column),
            needed,
        )

    def _is_foreign(self, wrong: list[tuple[Sum, Product]]) -> bool:
        """Whether all that is wrong are whole products of other elements, besides the own ones."""
        one = wrong[0][0]
        own = {p.m.column for p in one.products if self.is_exact(one, p)}
        others = [p for o, p in wrong if o is one]
        return len(own) == self.shape.k and all(p.m.column == p.n.row for p in others)

    def foreign(self, sums: Sequence[Sum]) -> Explanation | None:
        for one in sums:
            for product in one.products:
                if self.is_exact(one, product) or product.m.column != product.n.row:
                    continue
                whose = (product.m.row, product.n.column)
                text = (
                    f"The sum of {place_name(one.place)} still holds products of {place_name(whose)}, such as "
                    f"{product.m.name} with {product.n.name}: it is not set to 0 before."
                )
                return self._explained("foreign", text, one, line=product.term.line)
        return None

    def _registers(self, every: list[tuple[Sum, Product]], operand: str) -> str:
        """Which registers of a tensor core's operand are right, and what is in the others."""
        offsets: dict[int, set[tuple[int, int]]] = {}
        for one, p in every:
            factor = p.m if operand == "M" else p.n
            row, column = (one.place[0], p.needed) if operand == "M" else (p.needed, one.place[1])
            if factor.fragment is None:
                return ""
            offset = (factor.row - row, factor.column - column)
            offsets.setdefault(factor.fragment.register, set()).add(offset)
        right = [number for number, found in sorted(offsets.items()) if found == {(0, 0)}]
        wrong = [number for number in sorted(offsets) if number not in right]
        if not right or not wrong:
            return ""
        # Where the registers' matrices of 8 x 8 lie in the whole operand.
        at = {r: (r % 2 * 8, r // 2 * 8) if operand == "M" else (r * 8, 0) for r in offsets}
        letter = "a" if operand == "M" else "b"
        parts = [f"{_listed(letter, right)} {'is' if len(right) == 1 else 'are'} right"]
        for number in wrong:
            whose = [
                other
                for other in offsets
                if offsets[number] == {(at[other][0] - at[number][0], at[other][1] - at[number][1])}
            ]
            what = f"holds what belongs in {letter}[{whose[0]}]" if whose else "is wrong"
            parts.append(f"{letter}[{number}] {what}")
        return f"In every lane that was looked at {', '.join(parts)}."

    def _common(
        self, every: list[tuple[Sum, Product]], operand: str, is_load: bool = True,
        is_old: bool = False,
    ) -> str:  # fmt: skip
        """What the wrong operands of one matrix have in common, and the right ones obey, too.

        `is_old`: what is needed had been put elsewhere in the tile's array.
        """
        tile = max((one.per_phase for one, _ in every if one.phases > 1), default=0)
        width = self.shape.k if operand == "M" else self.shape.l
        facts = []
        for one, p in every:
            factor = p.m if operand == "M" else p.n
            row, column = (one.place[0], p.needed) if operand == "M" else (p.needed, one.place[1])
            facts.append(Deviation(factor.row, factor.column, row, column, one.place, p, tile))
        wrong = [f for f in facts if (f.got_row, f.got_column) != (f.row, f.column)]
        if len(wrong) < 2:
            return ""
        for text, holds in hypotheses(operand, tile, width, is_old):
            if all(holds(f) for f in facts):
                return text
        stride = stride_of(facts, width) if is_load else None
        if stride == 0:
            return f"In all places that were looked at row 0 of {operand} is loaded."
        if stride is not None:
            has = several(width, "element")
            return f"A row of {operand} has {has}; it is loaded as if it had {stride}."
        return ""
