"""Products of pieces, as a kernel of lab 12 with one mistake makes them, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from grader.judging.provenance import Shape, explain
from grader.results.provenance import ElementHistory, Factor, Provenance, Term, Who

SIDE, K, UP = 4, 3, 256.0
ROUND, STORE = 30, 90
USELESS = {(2, 1): 77}  # a pair that nobody needs
# The pairs of pieces, each with the line that multiplies them.
LINES = {(0, 2): 74, (1, 1): 75, (2, 0): 76, (0, 1): 78, (1, 0): 79, (0, 0): 80}
Pairs = Sequence[tuple[int, int]]


def piece(matrix: str, row: int, column: int, number: int) -> Factor:
    kind = "piece" if number else "element"
    rounded = (("bfloat16", ROUND),)
    return Factor(
        kind, matrix, row, column, converted=rounded, piece=number, scale=UP**number
    )  # fmt: skip


def term(row: int, column: int, t: int, pair: tuple[int, int]) -> Term:
    factors = (piece("M", row, t, pair[0]), piece("N", t, column, pair[1]))
    return Term(factors, (LINES | USELESS)[pair], 1, scale=UP ** -sum(pair))


def run(
    pairs: Pairs = tuple(LINES), change: Callable[[Term], Term] = lambda made: made
) -> Provenance:
    elements = tuple(
        ElementHistory(
            row, column, 1, (Who(STORE, (0, 0, 0), (column, row, 0)),),
            tuple(change(term(row, column, t, pair)) for pair in pairs for t in range(K)), (), True,
        )
        for row in range(SIDE) for column in range(SIDE)
    )  # fmt: skip
    return Provenance(True, True, (1, 1, 1), (SIDE, SIDE, 1), elements, ())


def said(found: Provenance, source: str = ""):
    return explain(found, Shape(SIDE, K, SIDE, "split"), source)


def of_factor(matrix: str, number: int, **fields) -> Callable[[Term], Term]:
    def change(made: Term) -> Term:
        return replace(
            made,
            factors=tuple(
                replace(f, **fields) if (f.matrix, f.piece) == (matrix, number) else f
                for f in made.factors
            ),
        )

    return change


def test_a_right_product_has_no_cause():
    assert said(run()) is None


def without(*gone: tuple[int, int]) -> Pairs:
    return [pair for pair in LINES if pair not in gone]


@pytest.mark.parametrize(
    "pairs, line, sentence",
    [
        ([*without((1, 0)), (0, 1)], 78,
         "P[0][0]: piece 0 of M with piece 1 of N is multiplied 2 times (line 78), piece 1 of M with piece 0 of N never."),
        ([*without((2, 0)), (2, 1)], 77,
         "P[0][0]: line 77 multiplies piece 2 of M with piece 1 of N, whose products are too small to matter; "
         "piece 2 of M with piece 0 of N is never multiplied."),
        (without((1, 1)), 80, "P[0][0]: piece 1 of M with piece 1 of N is never multiplied."),
        ([(0, 0), (0, 1), (1, 0)], 80, "P[0][0]: piece 0 of M with piece 2 of N is never multiplied; nor are 11, 20."),
    ],
)  # fmt: skip
def test_pairs_that_are_missing_or_doubled(pairs, line, sentence):
    found = said(run(pairs))
    assert (found.kind, found.line, found.sentence) == ("mispaired", line, sentence)


@pytest.mark.parametrize(
    "change, line, words",
    [
        (of_factor("M", 1, converted=(("bfloat16-cut", 31),)), 31, "Piece 1 of M[0][0] is cut to bfloat16"),
        (of_factor("N", 1, converted_before=(("bfloat16", 33),)), 33, "Piece 1 of N[0][0] is made of a number that was rounded before in line 33"),
        (lambda made: replace(made, scale=1.0), 74, "piece 0 of M with piece 2 of N are added 65536 times too large"),
    ],
)  # fmt: skip
def test_pieces_that_are_made_or_counted_wrongly(change, line, words):
    found = said(run(change=change))
    assert found.line == line and words in found.sentence


def test_one_piece_that_is_read_for_all_of_them_is_told_where_it_is_read():
    def change(made: Term) -> Term:
        m, n = made.factors
        first = replace(n, piece=0, kind="element", scale=1.0, read=Who(65))
        return replace(made, factors=(m, first))

    found = said(run(change=change))
    assert (found.kind, found.operand, found.line) == ("mispaired", "N", 65)
    assert "every product has piece 0 of N; line 65 reads no other piece" in found.sentence


def test_a_piece_of_another_element_is_told_with_its_pair():
    def change(made: Term) -> Term:
        m, n = made.factors
        return (
            replace(made, factors=(replace(m, row=0), n)) if m.piece == 1 and not n.piece else made
        )

    found = said(run(change=change))
    assert found.line == LINES[1, 0] or "M[1]" in found.sentence
    assert "needs M[1][0]" in found.sentence
    assert found.sentence.endswith("(piece 1 of M, piece 0 of N)")


def test_in_other_labs_pieces_are_no_elements():
    found = explain(run(), Shape(SIDE, K, SIDE), "")
    assert found is None or "piece" not in found.sentence


HEAD = "\n" * 70 + "__global__ void kernel() {\n" + "float high[4], low[4], mid[4];\n\n"
ONE_SUM = (
    HEAD
    + """multiply_add(low, m[0], n[2]);
multiply_add(low, m[1], n[1]);
multiply_add(low, m[2], n[0]);

multiply_add(low, m[0], n[1]);
multiply_add(low, m[1], n[0]);
multiply_add(high, m[0], n[0]);
for (int e = 0; e < 4; ++e) sum[e] += high[e] + low[e] * DOWN;
}
"""
)
IN_LOOPS = (
    HEAD
    + """for (int s = 0; s < 3; ++s) multiply_add(low, m[s], n[2 - s]);


for (int s = 0; s < 2; ++s) multiply_add(low, m[s], n[1 - s]);

multiply_add(high, m[0], n[0]);
for (int e = 0; e < 4; ++e) sum[e] += high[e] + low[e] * DOWN;
}
"""
)
OWN_SUM = ONE_SUM.replace("(low, m[0], n[1])", "(mid, m[0], n[1])").replace(
    "(low, m[1], n[0])", "(mid, m[1], n[0])"
)
HELPER = (
    "\n" * 70
    + """__device__ void add(float (&sum)[4], int order) {


  multiply_add(sum, m[order], n[order]);
}
__global__ void kernel() {
  add(low, 2);
  add(low, 1);
  add(high, 0);
  for (int e = 0; e < 4; ++e) sum[e] += high[e] + low[e];
}
"""
)


def too_large(numbers: tuple[int, ...], line: int = 0, several: bool = True):
    """The products of pieces whose numbers add up to one of these are UP times too large."""

    def change(made: Term) -> Term:
        pair = [factor.piece for factor in made.factors]
        is_one = sum(pair) in numbers and (several or pair == [1, 1])
        return replace(made, scale=made.scale * (UP if is_one else 1), line=line or made.line)

    return change


def test_the_division_belongs_behind_the_last_of_the_products():
    for source, line in ((ONE_SUM, 76), (IN_LOOPS, 76), ("", 74)):
        found = said(run(change=too_large((2,))), source)
        assert found.line == line and "256 times too large" in found.sentence
        assert ("add up to 2" in found.sentence) is (line != 74)


def test_a_sum_of_its_own_is_made_smaller_where_it_is_added():
    assert said(run(change=too_large((2,))), OWN_SUM).line == 81
    assert said(run(change=too_large((1, 2))), ONE_SUM).line == 81


def test_of_a_helper_the_call_is_told():
    assert said(run(change=too_large((2,), 74)), HELPER).line == 77
    assert said(run(change=too_large((1, 2), 74)), HELPER).line == 80


def test_one_wrong_pair_of_several_is_told_itself():
    assert said(run(change=too_large((2,), several=False)), ONE_SUM).line == 75


def in_line(lines: dict[tuple[int, int], list[int]]) -> Provenance:
    """Each pair of pieces in each of its lines."""
    found = run([pair for pair in lines for _ in lines[pair]])
    elements = []
    for one in found.elements:
        terms, left = [], {pair: [*lines[pair]] * K for pair in lines}
        for term in one.terms:
            pair = tuple(factor.piece for factor in term.factors)
            at = len(left[pair]) - 1
            terms.append(replace(term, line=left[pair].pop(at)))
        elements.append(replace(one, terms=tuple(terms)))
    return replace(found, elements=tuple(elements))


PLAIN = {(0, 2): [74], (2, 0): [74], (1, 1): [74], (0, 1): [77], (1, 0): [77], (0, 0): [80]}


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        # A loop makes 0 x 0 and 1 x 1 again, and neither 0 x 1 nor 1 x 0.
        ({(0, 0): [77, 80], (1, 1): [74, 77], (0, 1): [], (1, 0): []}, 77),
        ({(0, 2): [70, 74], (2, 0): [70, 74], (0, 1): [], (1, 0): []}, 70),
        # One pair, by a line that has others to make and by one that has not.
        ({(0, 1): [], (1, 1): [74, 77]}, 77),
        ({(0, 0): [76, 80], (1, 1): [74]}, 80),  # nothing is missing, and either may go
        ({(0, 1): [77, 78], (1, 0): []}, 78),
        ({(0, 0): [77, 80], (1, 0): []}, 77),  # in the line of 0 x 1
        ({(0, 1): [77], (1, 0): [], (0, 0): [78, 80]}, 78),  # next to it
        ({(0, 0): [74, 80], (1, 1): []}, 74),
        # m[s] with n[s] for m[s] with n[2 - s].
        ({(0, 0): [74, 80], (0, 2): [], (2, 0): []}, 74),
    ],
)
def test_pairs_that_are_made_twice_speak_for_the_line_that_they_have_in_common(changed, line):
    lines = {pair: some for pair, some in (PLAIN | changed).items() if some}
    found = said(in_line(lines))
    assert (found.kind, found.line) == ("mispaired", line) and "2 times" in found.sentence


def too_small(made: Term) -> Term:
    is_first = not any(factor.piece for factor in made.factors)
    return replace(made, scale=made.scale / UP if is_first else made.scale)


LAST = "for (int e = 0; e < 4; ++e) sum[e] += high[e] + low[e] * DOWN;"


@pytest.mark.parametrize(
    ("last", "line"),
    [
        (LAST.replace("high[e] + low[e]", "(high[e] + low[e])"), 81),
        ("for (int e = 0; e < 4; ++e) sum[e] += high[e] / 256 + low[e] * DOWN;", 81),
        ("for (float& one : high) one *= DOWN;\n" + LAST, 81),
        ("\nfor (int e = 0; e < 4; ++e) high[e] /= UP;\n" + LAST, 82),
        (
            "for (int e = 0; e < 4; ++e) {\n float v = low[e] * DOWN;\n sum[e] += v + DOWN * high[e];\n}",
            83,
        ),
        (LAST, 80),  # low is made smaller there, not high
        (
            "for (float& one : high) one *= 0.0625f;\nfor (float& one : high) one *= 0.0625f;\n"
            + LAST,
            80,
        ),
        ("for (int e = 0; e < 4; ++e) flush(sum[e], high[e], low[e]);", 80),
    ],
)
def test_a_sum_of_the_first_pieces_is_made_smaller(last, line):
    found = said(run(change=too_small), ONE_SUM.replace(LAST, last))
    assert found.line == line and "256 times too small" in found.sentence
    assert ("high is made smaller in line" in found.sentence) is (line != 80)
