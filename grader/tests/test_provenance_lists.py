"""Lists of products, as a tiled kernel with one mistake makes them, and what is said of them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from grader.judging.provenance import Shape, explain
from grader.judging.ways import _only_points
from grader.results.provenance import (
    ElementHistory,
    Factor,
    Fragment,
    Provenance,
    SharedWord,
    Term,
    TileWord,
    Who,
)

T, WIDTH = 4, 12
LOAD_M, LOAD_N, MULTIPLY, STORE = 24, 25, 30, 37
SOURCE = "__shared__ float Mds[4][4];\n__shared__ float Nds[4][4];\n"


class Kernel:
    """The tiled kernel. Each hook is one index expression, right unless it is replaced."""

    def m_at(self, row, col, ph, tx, ty):
        return row, ph * T + tx

    def n_at(self, row, col, ph, tx, ty):
        return ph * T + ty, col

    def mds_at(self, tx, ty, k):
        return ty, k

    def nds_at(self, tx, ty, k):
        return k, tx

    def p_at(self, row, col):
        return row, col

    def terms_of(self, terms):
        return terms

    def run(self) -> Provenance:
        elements, tiles = {}, []
        for by, bx in itertools.product(range(WIDTH // T), repeat=2):
            sums = {}
            for ph in range(WIDTH // T):
                mds, nds = {}, {}
                for ty, tx in itertools.product(range(T), repeat=2):
                    row, col = by * T + ty, bx * T + tx
                    for words, matrix, at, line in (
                        (mds, "M", self.m_at(row, col, ph, tx, ty), LOAD_M),
                        (nds, "N", self.n_at(row, col, ph, tx, ty), LOAD_N),
                    ):
                        name = "Mds" if matrix == "M" else "Nds"
                        offset = 4 * (ty * T + tx)
                        who = Who(line, (bx, by, 0), (tx, ty, 0))
                        shared = SharedWord(name, 4 * T * T, offset, 2 * ph, who)
                        words[ty, tx] = Factor("element", matrix, *at, load=who, shared=shared)
                        block = by * (WIDTH // T) + bx
                        tiles.append(TileWord(block, name, offset, 2 * ph, matrix, *at, line))
                for ty, tx, k in itertools.product(range(T), repeat=3):
                    pair = mds[self.mds_at(tx, ty, k)], nds[self.nds_at(tx, ty, k)]
                    term = Term(pair, MULTIPLY, 2 * ph + 1)
                    sums.setdefault((by * T + ty, bx * T + tx), []).append(term)
            for place, terms in sums.items():
                who = Who(STORE, (bx, by, 0), (place[1] % T, place[0] % T, 0))
                at = self.p_at(*place)
                elements[at] = ElementHistory(*at, 1, (who,), tuple(self.terms_of(terms)), (), True)
        for at in itertools.product(range(WIDTH), repeat=2):
            elements.setdefault(at, ElementHistory(*at, 0, (), (), (), True))
        blocks = (WIDTH // T, WIDTH // T, 1)
        found = tuple(elements[at] for at in sorted(elements))
        return Provenance(True, True, blocks, (T, T, 1), found, tuple(tiles))


def said(**hooks):
    kernel = Kernel()
    for name, hook in hooks.items():
        setattr(kernel, name, hook)
    return explain(kernel.run(), Shape(WIDTH, WIDTH, WIDTH), SOURCE)


def test_a_right_kernel_is_not_explained():
    assert said() is None


def test_the_phase_is_missing_in_the_load_of_m():
    found = said(m_at=lambda row, col, ph, tx, ty: (row, tx))
    assert found.sentence == (
        "P[0][0], phase 1: multiplied M[0][0] with N[4][0]; needs M[0][4]. "
        "(line 24 loaded it into Mds[0][0])"
    )
    assert "lacks the part of the phase (ph * 4)" in found.common
    assert (found.operand, found.line, found.phase) == ("M", LOAD_M, 1)


def with_later_tiles(found: Provenance) -> Provenance:
    """What is read was put there in phase 0; what each phase needs lies behind it."""

    def kept(factor):
        shared = replace(factor.shared, interval=0)
        return replace(factor, shared=shared) if factor.matrix == "N" else factor

    elements = tuple(
        replace(e, terms=tuple(replace(t, factors=tuple(map(kept, t.factors))) for t in e.terms))
        for e in found.elements
    )
    tiles = [word for word in found.tiles if word.matrix == "M" or word.interval == 0]
    tiles += [
        replace(
            word, offset_bytes=word.offset_bytes + 4 * T * T, row=word.row + word.interval // 2 * T
        )
        for word in found.tiles
        if word.matrix == "N" and word.interval
    ]
    return replace(found, elements=elements, tiles=tuple(tiles))


def test_a_tile_that_is_read_again_was_not_loaded_again():
    kernel = Kernel()
    kernel.n_at = lambda row, col, ph, tx, ty: (ty, col)
    shape = Shape(WIDTH, WIDTH, WIDTH)
    loaded = explain(kernel.run(), shape, SOURCE)
    assert (loaded.line, "lacks the part of the phase" in loaded.common) == (LOAD_N, True)
    found = explain(with_later_tiles(kernel.run()), shape, SOURCE)
    assert found.line == MULTIPLY
    assert found.sentence.endswith(
        "(line 30 reads Nds[0][0], where N[0][0] still is; N[4][0] was put into Nds[4][0])"
    )
    assert found.common.startswith("In every phase the first tile of N is read again")


def test_a_pointer_to_a_tile_reads_nothing():
    assert _only_points("float * now = tile ; float * next = tile + 4 ;".split(), "tile")
    assert not _only_points("float x = tile [ 3 ] ;".split(), "tile")
    assert not _only_points("x = dot ( tile , y ) ;".split(), "tile")


def test_a_column_off_by_one_in_the_load_of_n():
    found = said(n_at=lambda row, col, ph, tx, ty: (ph * T + ty, (col + 1) % WIDTH))
    assert (found.operand, found.line) == ("N", LOAD_N)
    assert "multiplied M[0][0] with N[0][1]; needs N[0][0]." in found.sentence


def test_a_tile_that_is_read_with_its_indices_swapped():
    found = said(nds_at=lambda tx, ty, k: (tx, k))
    assert (found.operand, found.line, found.other_line) == ("N", MULTIPLY, LOAD_N)
    assert "N[1][0] is in Nds[1][0]" in found.sentence


def test_the_row_of_m_without_its_block():
    found = said(m_at=lambda row, col, ph, tx, ty: (ty, ph * T + tx))
    assert (found.operand, found.line, found.element[0]) == ("M", LOAD_M, 4)
    assert "lacks the part of the block" in found.common


def test_a_store_with_row_and_column_exchanged():
    found = said(p_at=lambda row, col: (col, row))
    assert (found.kind, found.operand, found.line) == ("misplaced", "P", STORE)
    assert found.sentence.startswith("P[0][1] holds the whole sum of P[1][0]")


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda terms: terms[:-T], "missing", "4 products of 12 missing, those for k = 8..11"),
        (lambda terms: terms[T:], "missing", "those for k = 0..3"),
        (lambda terms: terms + terms[-1:], "doubled", "was added 2 times"),
        (
            lambda terms: [Term((f,), t.line, t.interval) for t in terms for f in t.factors],
            "added",
            "adds M[0][0] + N[0][0]; their product is needed",
        ),
        (lambda terms: [Term((Factor("unset"),), 20, 0), *terms], "unset", "never set"),
    ],
)
def test_lists_that_differ(change, kind, words):
    found = said(terms_of=change)
    assert found.kind == kind
    assert words in found.sentence


def in_fragments(found: Provenance, held_by) -> Provenance:
    """The same products, made by a tensor core: held_by(place, product) has lane and register."""

    def held(factor, place, position):
        lane, register = held_by(place, position, factor.matrix)
        letter = "a" if factor.matrix == "M" else "b"
        who = Who(MULTIPLY, (0, 0, 0), (lane, 0, 0))
        return replace(factor, fragment=Fragment(letter, register, position % 2, lane, who))

    elements = [
        replace(
            element,
            terms=tuple(
                replace(
                    term,
                    factors=tuple(
                        held(factor, (element.row, element.column), position)
                        for factor in term.factors
                    ),
                )
                for position, term in enumerate(element.terms)
            ),
        )
        for element in found.elements
    ]
    return replace(found, elements=tuple(elements))


def fragment_said(**hooks):
    kernel = Kernel()
    for name, hook in hooks.items():
        setattr(kernel, name, hook)
    found = in_fragments(kernel.run(), lambda place, position, matrix: (7, position // 2 % 2))
    return explain(found, Shape(WIDTH, WIDTH, WIDTH, "bf16"), SOURCE)


def test_a_wrong_element_of_a_fragment_names_lane_and_register():
    found = fragment_said(nds_at=lambda tx, ty, k: (tx, k))
    assert (
        "needs N[1][0]. Lane 7 holds N[0][1] in the upper half of b[0], where N[1][0] belongs."
        in (found.sentence)
    )


def test_registers_that_are_right_and_wrong_are_told_apart():
    found = fragment_said(mds_at=lambda tx, ty, k: (ty, k) if k < 2 else ((ty + 1) % T, k))
    assert "a[0] is right, a[1] is wrong." in found.common


def test_sums_that_a_tensor_core_has_right_and_that_are_stored_elsewhere():
    """The lanes hold what mma wants of them: row lane / 4 of M, column lane / 4 of N."""

    def held_by(place, position, matrix):
        row, column = moved_back[place]
        lane = 4 * (row % 8) if matrix == "M" else 4 * (column % 8)
        return lane, row // 8 if matrix == "M" else 0

    moved_back = {(row, col): (row, col) for row in range(WIDTH) for col in range(WIDTH)}
    for col in range(WIDTH):
        moved_back[1, col], moved_back[8, col] = (8, col), (1, col)
    kernel = Kernel()
    kernel.p_at = lambda row, col: ({1: 8, 8: 1}.get(row, row), col)
    found = in_fragments(kernel.run(), held_by)
    said = explain(found, Shape(WIDTH, WIDTH, WIDTH, "bf16"), SOURCE)
    assert said.sentence.startswith("P[1][0] holds the whole sum of P[8][0]")
    assert "So the sum of P[8][0] is in c[2] of lane 0." in said.common


def test_rounding_to_bf16_is_no_cause_where_it_is_asked_for():
    def rounded(to):
        def terms_of(terms):
            return [
                replace(t, factors=tuple(replace(f, converted=((to, 24),)) for f in t.factors))
                for t in terms
            ]

        return fragment_said(terms_of=terms_of)

    assert rounded("bfloat16") is None
    assert rounded("bfloat16-cut").sentence == (
        "P[0][0]: M[0][0] is cut to bfloat16, not rounded to the nearest in line 24."
    )
    assert "rounded to half" in rounded("half").sentence
