"""Every index expression of every solution is changed mechanically; what the report says of it is held
against the kernel run in Python.

A sentence about P must be true, name the operand that was changed, its phase, and the changed line.
common/measure/index_mutations.py does it for as many as one has time for.
"""

from __future__ import annotations

import random

import pytest

from grader.tests import corpus_files
from grader.tests.index_mutations import Mutant, mutants
from grader.tests.index_verdicts import PARTS, Verdict, verdict
from grader.tests.kernel_in_python import Element, Fault, Kernel
from grader.tests.selection import first_of, one_of_each

# The model knows no tensor cores.
TEXTS = {
    name: corpus_files.bare_solution(name) for name in corpus_files.ladder() if name[:2] in PARTS
}
LEAST = 40


@pytest.mark.parametrize("lab", first_of(sorted(TEXTS, key=lambda lab: lab != "02-tiled-kernel")))
def test_the_model_in_python_computes_the_product(lab):
    side, block = PARTS[lab[:2]]
    shape = (
        (32, 32, 32) if lab[:2] in ("01", "02") else (17, 17, 17) if lab[:2] == "03" else (5, 18, 9)
    )
    grid = (-(-shape[2] // side), -(-shape[0] // side))
    stored = Kernel(TEXTS[lab]).stored(shape, grid, block)
    assert len(stored) == shape[0] * shape[2]
    for (i, j), sums in stored.items():
        (one,) = sums
        pairs = [(p.a, p.b) for p in one.products if isinstance(p.a, Element)]
        wanted = [(Element("M", i, t), Element("N", t, j)) for t in range(shape[1])]
        assert [p for p in pairs if isinstance(p[1], Element)] == wanted


def test_the_model_sees_what_is_changed():
    text = TEXTS["02-tiled-kernel"]
    wrong = text.replace("ph * TILE_WIDTH + tx", "ph + tx")
    sums = Kernel(wrong).stored((32, 32, 32), (2, 2), (16, 16))[0, 0]
    assert sums[0].products[16].a == Element("M", 0, 1)
    with pytest.raises(Fault):
        Kernel(text.replace("* width + col", "* width + col + 1")).stored(
            (32, 32, 32), (2, 2), (16, 16)
        )


def test_mutants_are_many_and_differ():
    found = [one for lab, text in TEXTS.items() for one in mutants(lab, text)]
    assert len(found) > 10 * LEAST
    assert len({(one.lab, one.text) for one in found}) == len(found)
    assert {one.kind for one in found} == {"swap", "drop", "off by one", "stride"}
    for one in found:
        assert one.old in TEXTS[one.lab].splitlines()[one.line - 1]
        assert one.text != TEXTS[one.lab]


# The phase left out, a row counted with another length, a tile read the other way round, ...
FEW = {
    "01": ("row * width", "k * width + row"),
    "02": ("row * width + tx", "[tx][k]"),
    "03": ("tx", "n_row * 16 + col"),
    "04": ("[tx][i]",),
    "05": ("ty + r", "r"),
    "06": ("ty + r",),
    "07": ("tx + r * (BM / TM)",),
    "08": ("first_col + r", "ph * BK"),
}


# The same where one line of several is to be named: the lab, a part of that line, and what is in it now.
LINES = (
    ("03", "int n_row = ", "ty"),
    ("05", "// in N", "ph + i"),
    ("07", "load4(N", "i"),
    ("07", "int thread", "ty * (BN / TN)"),
    ("09", "float4_at(&n[4])", "i"),
    ("09", "float4_at(&n[4])", "warp_col + x * 4"),
    ("09", "float4_at(&sum[r][4])", "x * 4"),
)


def _few() -> list[Mutant]:
    found = []
    for number, line, new in LINES:
        lab = next(name for name in TEXTS if name.startswith(number))
        rows = TEXTS[lab].splitlines()
        every = mutants(lab, TEXTS[lab])
        found.append(next(m for m in every if m.new == new and line in rows[m.line - 1]))
    for number, changes in FEW.items():
        lab = next(name for name in TEXTS if name.startswith(number))
        for new in changes:
            found.append(next(one for one in mutants(lab, TEXTS[lab]) if one.new == new))
    return found


@pytest.mark.parametrize(
    "mutant", one_of_each(_few(), lambda one: [one.lab > "05"]), ids=lambda one: one.id
)
def test_the_operand_and_its_phase_are_named(built, mutant):
    found = verdict(built, mutant)
    assert found.kind in ("exact", "elsewhere"), f"{found.why}: {found.said}"
    assert found.line == mutant.line, found.said


# A sample for every day, of the labs whose blocks are small (a block of 128 x 128 takes the model eleven
# seconds), and a large one of all; common/measure/index_mutations.py does as many as one likes.
SAMPLES = ((6, 1, ("01", "02", "03", "04")), (80, 2, tuple(PARTS)))
SHARE = 0.9


def _complaint(found: list[tuple[Mutant, Verdict]]) -> str:
    """What is not as it should be of reports about P; nothing where all is well."""
    about = [(one, said) for one, said in found if said.kind in ("exact", "unsure", "wrong")]
    untrue = [f"{one.id}: {said.said}" for one, said in about if said.kind == "wrong"]
    if untrue:
        return f"not true: {untrue}"
    right = [one for one, said in about if said.kind == "exact" and said.line == one.line]
    if len(right) < SHARE * len(about):
        missed = [
            f"{one.id}, line {said.line}: {said.said}" for one, said in about if one not in right
        ]
        return f"{len(right)} of {len(about)} exact: {missed}"
    return "" if len(about) >= len(found) // 4 else f"only {len(about)} of {len(found)} are about P"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("count", "seed", "labs"), SAMPLES)
def test_nine_of_ten_reports_about_p_are_exact_and_none_untrue(built, count, seed, labs):
    every = [one for lab, text in TEXTS.items() if lab[:2] in labs for one in mutants(lab, text)]
    chosen = random.Random(seed).sample(every, count)
    assert not _complaint([(one, verdict(built, one)) for one in chosen])


def test_a_sample_with_a_fault_is_refused():
    mutant = mutants(next(iter(TEXTS)), TEXTS[next(iter(TEXTS))])[0]
    exact = Verdict("exact", "", mutant.line)
    assert not _complaint([(mutant, exact)] * 10)
    assert "not true" in _complaint(
        [(mutant, exact)] * 9 + [(mutant, Verdict("wrong", "", mutant.line))]
    )
    aside = Verdict("exact", "", mutant.line + 1)
    assert "8 of 10" in _complaint([(mutant, exact)] * 8 + [(mutant, aside)] * 2)
    assert "only 1 of 10" in _complaint(
        [(mutant, exact)] + [(mutant, Verdict("elsewhere", "", 0))] * 9
    )
