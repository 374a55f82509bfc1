"""common/measure/features: right programs are right and clean under warpsim, and each mistake is found where it is."""

import sys

import pytest

from grader.machine.toolchain import find_toolchain
from grader.tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "common" / "measure" / "features"))

import features

# Those that compile in a few seconds; the others only in `make test ALL=1`.
QUICK = {
    "right": [
        "all_atomics",
        "in_place",
        "library_types",
        "printed",
        "shapes_of_memory",
        "structures",
        "surfaces",
        "tensor_cores",
    ],
    "wrong": [
        "copy_not_waited_for",
        "freed_too_early",
        "never_asked",
        "told_elsewhere",
        "told_too_early",
        "wrong_mask",
    ],
}


@pytest.fixture(scope="module")
def simulate(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("features")

    def simulate(name):
        features.NVCC = str(find_toolchain(built).nvcc)
        features.build(folder, [name], 1)
        done = features.simulate(folder, [name], 1, built.build / "bin" / "warpsim")
        return {**done["right"], **done["wrong"]}[name]

    return simulate


def of(kind):
    return [
        pytest.param(path.stem, marks=[] if path.stem in QUICK[kind] else pytest.mark.slow)
        for path in features.programs(kind, None)
    ]


@pytest.mark.timeout(600)  # nvcc takes two minutes for all of thrust on a slow machine
@pytest.mark.parametrize("name", of("right"))
def test_a_right_program_is_right_and_nothing_is_found_in_it(simulate, name):
    done = simulate(name)
    assert done["status"] == 0, done["lines"]
    said = features.said(done["lines"])
    assert "right" in said.values() and "WRONG" not in said.values()
    assert [f for f in done["findings"] if f["severity"] != "note"] == []


@pytest.mark.parametrize("name", of("wrong"))
def test_a_mistake_is_found_in_its_line(simulate, name):
    source = features.HERE / "wrong" / f"{name}.cu"
    assert features.marks(source)
    assert features.missing(source, simulate(name)["findings"]) == []


def test_the_table_names_what_differs_and_what_is_missing(capsys):
    finding = {"severity": "error", "code": "assert", "line": 1, "message": ""}
    sim = {
        "right": {
            "printed": {
                "status": 0,
                "lines": ["a: right", "b: bits 1", "b: bits 2"],
                "findings": [finding],
            }
        },
        "wrong": {"asserted": {"status": 0, "lines": [], "findings": [finding]}},
    }
    gpu = {"right": {"printed": {"status": 1, "lines": ["a: WRONG", "b: bits 1", "b: bits 3"]}}}
    features.table(sim, gpu)
    shown = capsys.readouterr().out
    assert "| printed | 1 of 1 | 0 of 1, status 1 | 1 of 2 | b' | assert 1 |" in shown
    assert "| asserted | assert | assert at line 7 | assert 1 |" in shown
