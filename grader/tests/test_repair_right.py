"""Right programs are carried out, and are right."""

from __future__ import annotations

import pytest

from grader.judging.repair.reading import GivenUp
from grader.tests import corpus_files
from grader.tests.fresh_programs import FRESH, OTHERS, cases_of, is_right, is_right_in, program

_NO_PRODUCTS = ("00-first-kernels", *sorted({*OTHERS.values(), "foo-kernel"}))


@pytest.mark.parametrize("lab", _NO_PRODUCTS)
def test_a_solution_of_a_lab_that_is_no_product_is_right(lab: str) -> None:
    text = corpus_files.bare_solution(lab)
    assert len(cases_of(lab)) > 1
    assert all(is_right_in(text, lab, case) for case in cases_of(lab))


_NOT_READ: tuple[str, ...] = ()
# Not as a GPU would: nothing that a search says of such a file is worth anything.
_READ_WRONGLY: tuple[str, ...] = ()


@pytest.mark.parametrize("name", sorted(p.stem for p in FRESH.glob("*.cu")))
def test_a_right_program_is_right(name: str) -> None:
    if name in _NOT_READ:
        with pytest.raises(GivenUp):
            if name[:2] == "00" or name in OTHERS:
                lab = OTHERS.get(name, "00-first-kernels")
                all(is_right_in(program(name), lab, case) for case in cases_of(lab))
            else:
                is_right(program(name), name[:2])
    elif name in _READ_WRONGLY:
        assert not is_right(program(name), name[:2])
    elif name in OTHERS or name[:2] == "00":
        lab = OTHERS.get(name, "00-first-kernels")
        assert all(is_right_in(program(name), lab, case) for case in cases_of(lab))
    else:
        assert is_right(program(name), "02" if name[:5] == "tiles" else name[:2])


@pytest.mark.parametrize("lab", corpus_files.ladder())
def test_a_solution_is_right(lab: str) -> None:
    try:
        assert is_right(corpus_files.bare_solution(lab), lab[:2])
    except GivenUp:
        assert lab[:2] >= "10"  # fragments and inlined PTX are not read
