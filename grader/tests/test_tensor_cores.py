"""The simulator's tensor cores against an H200's: hashes of products that are kept in docs/measurements/."""

import subprocess
from pathlib import Path

import pytest

from grader.machine.toolchain import find_toolchain

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "measurements" / "tensor-cores-h200.txt"
KEPT_OF_WMMA = ROOT / "docs" / "measurements" / "wmma-h200.txt"
PROGRAMS = ROOT / "common" / "measure" / "tensor"


def _build(course, folder: Path, name: str, arch: str) -> Path:
    nvcc = find_toolchain(course).nvcc
    subprocess.run(
        [nvcc, "-std=c++17", "-O3", f"-arch={arch}", "-cudart", "none", PROGRAMS / f"{name}.cu",
         "-o", folder / name, f"-L{course.build}/lib", "-l:libcudart.so.13"],
        check=True,
    )  # fmt: skip
    return folder / name


def _output(course, program: Path, *arguments: str, device: str = "h200") -> list[str]:
    done = subprocess.run(
        [course.build / "bin/warpsim", "run", "--quiet", "--checks", "none", "--device", device,
         "--", program, *arguments],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def _of_simulator(course, folder: Path, arch: str, device: str) -> dict[tuple[str, str], str]:
    program = _build(course, folder, "tiles", arch)
    rows = (line.split() for line in _output(course, program, "1000", device=device))
    return {(form, family): value for form, family, first, value in rows}


@pytest.fixture(scope="module")
def kept() -> dict[tuple[str, str], str]:
    rows = [line.split() for line in KEPT.read_text(encoding="utf-8").splitlines()]
    return {(form, family): value for form, family, first, value in rows}


@pytest.mark.slow
def test_products_have_the_bits_of_an_h200(built, tmp_path, kept):
    # Families of few bits give f16 and tf32 of one k the same products: 58 hashes of 64 differ.
    assert len(kept) == 64 and len(set(kept.values())) == 58
    assert _of_simulator(built, tmp_path, "sm_90", "h200") == kept


@pytest.mark.slow
def test_another_generation_has_others(built, tmp_path, kept):
    """It keeps a bit less and adds fewer products at once: the hashes would show it."""
    ampere = _of_simulator(built, tmp_path, "sm_80", "a100")
    same = {key for key in kept if ampere[key] == kept[key]}
    assert not {key for key in same if key[1] in ("1", "3", "7")}


@pytest.mark.slow
def test_wmma_has_the_places_and_bits_of_an_h200(built, tmp_path):
    kept = KEPT_OF_WMMA.read_text(encoding="utf-8").splitlines()
    # Ten products: three fragments by rows and by columns, eight families of numbers.
    assert len(kept) == len(set(kept)) == 10 * (6 + 8)
    program = _build(built, tmp_path, "wmma", "sm_90")
    assert _output(built, program, "places") == kept[:60]
    assert _output(built, program, "products", "1") == kept[60:]


@pytest.mark.slow
def test_doubles_are_four_multiply_adds_in_the_order_of_k(built, tmp_path):
    """As on an H100; the program sees it where the order is another."""
    program = _build(built, tmp_path, "doubles", "sm_90")
    right = [line.split() for line in _output(built, program, "200")]
    turned = [line.split() for line in _output(built, program, "200", "3210")]
    assert len(right) == len(turned) == 6
    for row, other in zip(right, turned, strict=True):
        assert int(row[row.index("results") + 1]) == 200 * 64
        assert int(row[row.index("differ") + 1]) == 0
        assert int(other[other.index("differ") + 1]) > 100
        assert row[-1] == other[-1]  # of the products, whatever they are held against
