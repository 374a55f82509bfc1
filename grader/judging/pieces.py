"""Which pieces of elements were multiplied with each other, of what the simulator followed.

A product of M and N in pieces is several products: each pair of pieces has its own list of terms,
and each list is a product like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.judging.rescaled import line_of_division, scale_of, sum_made_smaller
from grader.judging.sums import in_line, place_name, several
from grader.labs.statements import Listing, listing
from grader.results.explanation import Explanation
from grader.results.provenance import ElementHistory, Factor, Provenance, Term

Pair = tuple[int, int]  # piece of M, piece of N
_ROUNDINGS = frozenset({"bfloat16", "bfloat16-cut", "tf32", "half"})


def is_split(found: Provenance) -> bool:
    """Whether elements were multiplied in pieces, or lay in shared memory in pieces."""
    multiplied = any(f.kind == "piece" for f, _ in _factors(found.elements))
    return multiplied or any(word.piece for word in found.tiles)


def explain(
    found: Provenance,
    k: int,
    ordinary: Callable[[Provenance], Explanation | None],
    source: str = "",
) -> Explanation | None:
    """The cause of wrong elements; `ordinary` explains a product that is made of one pair alone."""
    for look in (_rounding, _rest):
        said = look(found.elements)
        if said is not None:
            return said
    stored = [one for one in found.elements if one.is_whole and one.stored]
    for one in stored:
        said = _same_rest(one, source)
        if said is not None:
            return said
    by_pair = [_sorted_out(one) for one in stored]
    needed = _needed(found)
    for one, terms in zip(stored, by_pair, strict=True):
        said = _mispaired(one, terms, needed, k)
        if said is not None:
            return said
    for pair in sorted({pair for terms in by_pair for pair in terms}):
        part = tuple(
            replace(one, terms=tuple(terms.get(pair, ())), conversions=())
            for one, terms in zip(stored, by_pair, strict=True)
        )
        tiles = tuple(
            word for word in found.tiles if word.piece == pair[0 if word.matrix == "M" else 1]
        )
        said = ordinary(replace(found, elements=part, tiles=tiles))
        if said is not None:
            which = "" if pair == (0, 0) else f" (piece {pair[0]} of M, piece {pair[1]} of N)"
            return replace(said, sentence=said.sentence + which)
    return _scale(stored, source)


def _factors(elements: Sequence[ElementHistory]) -> list[tuple[Factor, Term]]:
    return [(f, term) for one in elements for term in one.terms for f in term.factors]


def _of_element(factor: Factor) -> Factor:
    return replace(factor, kind="element", converted=()) if factor.kind == "piece" else factor


def _sorted_out(one: ElementHistory) -> dict[Pair, list[Term]]:
    """The terms of each pair of pieces; what is no product of M and N belongs to the first pair."""
    found: dict[Pair, list[Term]] = {}
    for term in one.terms:
        parts = {f.matrix: f.piece for f in term.factors if f.matrix}
        pair = (parts.get("M", 0), parts.get("N", 0)) if len(parts) == 2 else (0, 0)
        plain = tuple(replace(_of_element(f), converted=()) for f in term.factors)
        found.setdefault(pair, []).append(replace(term, factors=plain))
    return found


def _needed(found: Provenance) -> tuple[Pair, ...]:
    """The products that matter: of two pieces of tf32 three, of three bf16 six."""
    kinds = {to for f, _ in _factors(found.elements) for to, _ in f.converted}
    last = 1 if "tf32" in kinds else 2
    return tuple((s, t) for s in range(last + 1) for t in range(last + 1 - s))


def _rounding(elements: Sequence[ElementHistory]) -> Explanation | None:
    for factor, _ in _factors(elements):
        for to, line in factor.converted:
            if to == "bfloat16-cut" and factor.matrix:
                text = (
                    f"Piece {factor.piece} of {_name(factor)} is cut to bfloat16, not rounded to the "
                    f"nearest{in_line(line)}: what is left for the next pieces is twice as large."
                )
                return Explanation("converted", text, operand=factor.matrix, line=line, to=to)
    return None


def _rest(elements: Sequence[ElementHistory]) -> Explanation | None:
    """A rest that is the difference of two rounded numbers."""
    factors = [factor for factor, _ in _factors(elements) if factor.piece]
    for factor in sorted(factors, key=lambda factor: factor.piece):
        for to, line in factor.converted_before:
            if to in _ROUNDINGS:
                text = (
                    f"Piece {factor.piece} of {_name(factor)} is made of a number that was rounded "
                    f"before{in_line(line)}: what piece {factor.piece - 1} had left over is lost."
                )
                return Explanation("converted", text, operand=factor.matrix, line=line, to=to)
    return None


def _same_rest(one: ElementHistory, source: str) -> Explanation | None:
    """A third piece that is made of what the first leaves over, as the second one is."""
    made: dict[tuple, set[int]] = {}
    for term in one.terms:
        for factor in term.factors:
            if factor.matrix and factor.piece and factor.converted:
                key = (factor.matrix, factor.row, factor.column, factor.piece)
                made.setdefault(key, set()).add(factor.converted[-1][1])
    for (matrix, row, column, piece), lines in sorted(made.items()):
        if len(lines) < 2 or 0 in lines:
            continue
        line = max(lines)
        text = (
            f"Piece {piece + 1} of {matrix}[{row}][{column}], made in line {line}, has only "
            f"{several(piece, 'other piece')} taken away from the element, as piece {piece} has: it is "
            f"what piece {piece} leaves over that has to be rounded."
        )
        line = _line_of_rest(listing(source), line)
        return Explanation(
            "mispaired", text, operand=matrix, line=line, element=(one.row, one.column)
        )
    return None


def _line_of_rest(text: Listing, line: int) -> int:
    """Where a rest is made that a line rounds: its declaration, if it has a name."""
    for item in text.at(line):
        for at, word in enumerate(item.words):
            is_alone = item.words[at - 1 : at] == ("(",) and item.words[at + 1 : at + 2] == (")",)
            known = text.declaration(word, item) if is_alone and word.isidentifier() else None
            if known is not None and "-" in known[1]:
                return known[0]
    return line


def _name(factor: Factor) -> str:
    return f"{factor.matrix}[{factor.row}][{factor.column}]"


def _mispaired(
    one: ElementHistory, terms: dict[Pair, list[Term]], needed: Sequence[Pair], k: int
) -> Explanation | None:
    """Pairs that are not there at all, or there twice; of the right elements."""
    # Without what lies beyond the edge: products of zeros.
    terms = {pair: [t for t in terms[pair] if any(f.matrix for f in t.factors)] for pair in terms}
    if not all(_belongs(one, term) for pair in terms for term in terms[pair]):
        return None
    counts = Counter({pair: len(terms[pair]) for pair in terms})
    if not counts[0, 0] or any(counts[pair] % k for pair in counts):
        return None
    gone = [pair for pair in needed if not counts[pair]]
    twice = [pair for pair in counts if counts[pair] > k]
    if not gone and not twice:
        return None
    where = place_name((one.row, one.column))
    lines = {pair: sorted({term.line for term in terms[pair]}) for pair in terms}
    for side, matrix in enumerate("MN"):
        used = {pair[side] for pair in counts if counts[pair]}
        others = {pair[1 - side] for pair in counts if counts[pair]}
        if len(used) == 1 and len(others) > 1 and twice:
            return _of_one_piece(where, matrix, used.pop(), terms[twice[0]], one)
    if twice:
        pair = twice[0]
        line = _line_of_doubled(lines, twice, gone) or lines[pair][-1]
        in_lines = " and ".join(str(number) for number in lines[pair])
        text = (
            f"{where}: {_pair(pair)} is multiplied {counts[pair] // k} times (line{'s' * (len(lines[pair]) > 1)} "
            f"{in_lines})"
        )
        text += f", {_pair(gone[0])} never." if gone else "."
        return Explanation("mispaired", text, line=line, element=(one.row, one.column))
    useless = [pair for pair in counts if counts[pair] and pair not in needed]
    if len(gone) == 1 and len(useless) == 1:
        line = lines[useless[0]][0]
        text = (
            f"{where}: line {line} multiplies {_pair(useless[0])}, whose products are too small to "
            f"matter; {_pair(gone[0])} is never multiplied."
        )
        return Explanation("mispaired", text, line=line, element=(one.row, one.column))
    present = [pair for pair in needed if counts[pair]]
    line = lines[0, 0][0]
    if present == [(0, 0)]:
        text = f"{where}: only piece 0 of M and piece 0 of N are multiplied: the low parts never reach the sum."
    else:
        text = f"{where}: {_pair(gone[0])} is never multiplied"
        rest = [f"{s}{t}" for s, t in gone[1:]]
        text += f"; nor {'is' if len(rest) == 1 else 'are'} {', '.join(rest)}." if rest else "."
    return Explanation("mispaired", text, line=line, element=(one.row, one.column))


def _line_of_doubled(
    lines: dict[Pair, list[int]], twice: Sequence[Pair], gone: Sequence[Pair]
) -> int:
    """The only line that makes nothing that others do not, and as many pairs as are missing.

    Where those that are missing are of smaller or larger pieces, and others like them are there, the line
    that stands nearest to these; 0 where neither is clear.
    """
    made: dict[int, set[Pair]] = {}
    for pair in lines:
        for line in lines[pair]:
            made.setdefault(line, set()).add(pair)
    sizes = {sum(pair) for pair in gone}
    alike = [line for pair in lines for line in lines[pair] if sizes == {sum(pair)}]
    if alike and sum(twice[0]) not in sizes:
        far = {line: min(abs(line - one) for one in alike) for line in lines[twice[0]]}
        nearest = [line for line in far if far[line] == min(far.values())]
        return nearest[0] if len(nearest) == 1 else 0
    again = [
        line
        for line, pairs in made.items()
        if all(pair in twice and len(lines[pair]) > 1 for pair in pairs) and len(pairs) == len(gone)
    ]
    for found in ([one for one in again if made[one] == {*twice}], again):
        if len(found) == 1:
            return found[0]
    return 0


def _of_one_piece(
    where: str, matrix: str, piece: int, terms: Sequence[Term], one: ElementHistory
) -> Explanation:
    """All products have the same piece of a matrix: it is what was read for the others, too."""
    factors = [f for term in terms for f in term.factors if f.matrix == matrix]
    lines = {f.read.line for f in factors if f.read is not None and f.read.line}
    line = lines.pop() if len(lines) == 1 else terms[0].line
    text = (
        f"{where}: every product has piece {piece} of {matrix}; line {line} reads no other piece, and "
        f"the products of the others are missing."
    )
    return Explanation("mispaired", text, operand=matrix, line=line, element=(one.row, one.column))


def _belongs(one: ElementHistory, term: Term) -> bool:
    if sorted(f.matrix for f in term.factors) != ["M", "N"]:
        return False
    m, n = sorted(term.factors, key=lambda f: f.matrix)
    return (m.row, n.column) == (one.row, one.column) and m.column == n.row


def _pair(pair: Pair) -> str:
    return f"piece {pair[0]} of M with piece {pair[1]} of N"


def _scale(stored: Sequence[ElementHistory], source: str) -> Explanation | None:
    """Pieces that are kept larger than they are, and products that are not made smaller again."""
    for one in stored:
        for term in one.terms:
            scale = scale_of(term)
            pair = tuple(f.piece for f in sorted(term.factors, key=lambda f: f.matrix))
            if scale == 1 or len(pair) != 2 or not all(f.matrix for f in term.factors):
                continue
            how = f"{scale:g} times too large" if scale > 1 else f"{1 / scale:g} times too small"
            text = (
                f"{place_name((one.row, one.column))}: products of {_pair(pair)} are added {how}."
            )
            common = (
                "A piece that is kept larger than it is makes its products larger, too: divide them by "
                "the same factor."
            )
            made_smaller, name = sum_made_smaller(one, term, listing(source))
            if made_smaller:
                text = (
                    f"{place_name((one.row, one.column))}: products of {_pair(pair)}, which line "
                    f"{term.line} puts into {name}, are added {how}: {name} is made smaller in line "
                    f"{made_smaller}."
                )
                common = (
                    "Pieces 0 are as large as they are: only the sums of the others are divided."
                )
                return Explanation(
                    "mispaired", text, common, line=made_smaller, element=(one.row, one.column)
                )
            line = line_of_division(one, term, listing(source))
            if line != term.line:
                where = place_name((one.row, one.column))
                text = (
                    f"{where}: products of pieces whose numbers add up to {sum(pair)} (from line "
                    f"{term.line} on) are added {how}."
                )
            return Explanation("mispaired", text, common, line=line, element=(one.row, one.column))
    return None
