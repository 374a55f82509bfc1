"""Rules about sizes and types, launches and tiles: each with a program that breaks it and the right one."""

from __future__ import annotations

import pytest

from grader.judging import (
    host,
    host_launch,
    kernel_text,
    shared_extents,
    suspects,
    tiles,
    too_narrow,
    uncovered,
)
from grader.judging.host_rules import HostRules
from grader.judging.kernel_text import shared_arrays
from grader.labs import source
from grader.labs.statements import Listing, function_name
from grader.tests.corpus_files import REPOSITORY, bare_solution, ladder

PROGRAMS = REPOSITORY / "common" / "measure" / "causes" / "fresh"
# Threads of a block, where that matters.
BLOCKS = {
    "02-block32": (1024, 1, 1),
    "02-sample": (16, 16, 1),
    "03-ifelse": (32, 32, 1),
    "04-smem": (16, 16, 1),
    "05-four": (16, 16, 1),
    "05-tile1d": (512, 1, 1),
    "05-tile2d": (256, 1, 1),
    "06-padded": (16, 16, 1),
    "07-float4": (16, 16, 1),
    "09-warptile": (128, 1, 1),
    "10-mma": (128, 1, 1),
}


def program(name: str) -> str:
    return (PROGRAMS / f"{name}.cu").read_text()


def changed(name: str, old: str, new: str) -> str:
    text = program(name)
    assert text.count(old) == 1
    return text.replace(old, new)


def kernel_of(text: str, block=(16, 16, 1), **sizes) -> kernel_text.Kernel:
    listing = Listing(text)
    function = [item for item in listing.functions() if "__global__" in item.words][-1]
    numbers = {**source.template_arguments(text, function_name(function)), **sizes}
    known = {name: str(number) for name, number in numbers.items()}
    parameters = listing.parameters(function)
    return kernel_text.Kernel(listing, function, parameters, known, {}, (4, 4, 1), block, {})


def line(text: str, part: str) -> int:
    return next(n for n, row in enumerate(text.splitlines(), 1) if part in row)


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_right_programs_break_none_of_them(name):
    text = program(name)
    kernel, solve = kernel_of(text, BLOCKS[name], n=40), host.read(Listing(text))
    for array in shared_arrays(kernel):
        assert uncovered.uncovered(kernel, array) is None
        assert shared_extents.declared_short(kernel, array) is None
        assert tiles.filled_inside_only(kernel, array) is None
    assert shared_extents.dynamic(kernel, solve, "smem", 2048) is None
    assert host_launch.flat_block(kernel.text, kernel, solve) is None
    assert host_launch.exchanged_templates(kernel.text, text, solve) is None
    assert host_launch.other_buffers(kernel.text, solve) is None
    assert host_launch.comma(kernel.text, solve) is None
    assert suspects.divided(kernel) is None
    assert too_narrow.too_narrow(kernel) is None


@pytest.mark.parametrize("lab", ladder())
def test_solutions_have_both_quotient_and_remainder_and_no_narrow_types(lab):
    kernel = kernel_of(bare_solution(lab), width=256)
    said = suspects.divided(kernel)
    assert said is None or "both have" not in said.text, said
    assert too_narrow.too_narrow(kernel) is None


@pytest.mark.parametrize(
    ("name", "old", "new", "at"),
    [
        ("01-coalesced", "(threadIdx.x / BLOCKSIZE)", "(threadIdx.x % BLOCKSIZE)", "uint y"),
        ("09-warptile", "warpIdx % (BN / WN)", "warpIdx / (BN / WN)", "int warpCol"),
        ("02-block32", "threadIdx.x / BS", "threadIdx.x % BS", "int tRow"),
    ],
)
def test_two_names_for_one_quotient(name, old, new, at):
    text = changed(name, old, new)
    said = suspects.divided(kernel_of(text, BLOCKS.get(name, (1024, 1, 1))))
    assert "both have" in said.text
    # Which of the two is meant to be the other one only their names can tell.
    assert said.line == line(text, at) or name == "01-coalesced"


@pytest.mark.parametrize(
    ("old", "new", "is_found"),
    [
        ("int i = 0; i < N; ++i", "char i = 0; i < N; ++i", True),
        ("int i = 0; i < N; ++i", "unsigned char i = 0; i < N; ++i", True),
        ("int i = 0; i < N; ++i", "short i = 0; i < N; ++i", False),  # 256 fits
        ("int i = 0; i < N; ++i", "short int i = 0; i < N; ++i", False),
    ],
)
def test_a_counter_that_is_too_small(old, new, is_found):
    text = changed("01-coalesced", old, new)
    said = too_narrow.too_narrow(kernel_of(text, (1024, 1, 1), N=256))
    assert (said is not None) == is_found
    assert said is None or said.line == line(text, new)


def test_a_short_row_holds_few_rows():
    text = changed(
        "02-sample", "int by = blockIdx.y;", "int by = blockIdx.y;\n  char far = by * 64;"
    )
    assert too_narrow.too_narrow(kernel_of(text)).line == line(text, "char far")


@pytest.mark.parametrize(
    ("old", "new", "there", "at"),
    [
        ("<<<grid, block, shmem>>>", "<<<grid, block>>>", 0, "<<<grid, block>>>"),
        ("2 * TILE * TILE * sizeof(float)", "TILE * TILE * sizeof(float)", 1024, "size_t shmem"),
        ("2 * TILE * TILE * sizeof(float)", "2 * TILE * TILE", 512, "size_t shmem"),
    ],
)
def test_dynamic_shared_memory_that_the_launch_does_not_give(old, new, there, at):
    text = changed("04-smem", old, new)
    kernel = kernel_of(text)
    said = shared_extents.dynamic(kernel, host.read(kernel.text), "smem", there)
    assert said.line == line(text, at)


@pytest.mark.parametrize(
    ("name", "array", "old", "new"),
    [
        ("02-block32", "sB", "float sB[BS * BS]", "float sB[BS]"),
        ("02-sample", "Bs", "Bs[BLOCK_SIZE][BLOCK_SIZE]", "Bs[BLOCK_SIZE - 1][BLOCK_SIZE]"),
        ("06-padded", "Bt", "Bt[BK][BN]", "Bt[BK][BN / 2]"),
    ],
)
def test_an_array_that_all_its_uses_pass(name, array, old, new):
    text = changed(name, old, new)
    said = shared_extents.declared_short(kernel_of(text, BLOCKS[name]), array)
    assert said.line == line(text, new)


def test_an_index_that_alone_passes_an_array_is_not_the_arrays_fault():
    text = changed("02-sample", "Bs[k][tx];", "Bs[k + 1][tx];")
    assert shared_extents.declared_short(kernel_of(text), "Bs") is None


@pytest.mark.parametrize(
    ("name", "array", "old", "new", "at"),
    [
        ("07-float4", "s_a", "tid >> 2;", "tid >> 3;", "int load_a_m"),
        ("07-float4", "s_b", "(tid & 15) << 2", "(tid & 7) << 2", "int load_b_n"),
        ("05-tile2d", "As", "As[rowA + off]", "As[rowA]", "As[rowA][colA] ="),
        ("05-tile2d", "Bs", "strideB = NUM_THREADS / BN", "strideB = NUM_THREADS / BK", "int strideB"),
        ("06-padded", "Bt", "threadIdx.y * blockDim.x + threadIdx.x", "threadIdx.y * blockDim.x", "int tid"),
    ],
)  # fmt: skip
def test_words_of_a_tile_that_nobody_fills(name, array, old, new, at):
    text = changed(name, old, new)
    assert uncovered.uncovered(kernel_of(text, BLOCKS[name]), array).line == line(text, at)


def test_words_that_two_lines_fill():
    old, new = "As[v + HALF][u] =", "As[v][u + HALF] ="
    text = changed("05-four", old, new)
    said = uncovered.uncovered(kernel_of(text), "As")
    assert said.line == line(text, "r1 < nr && ka < nk ?")
    assert f"Lines {said.line - 1} and {said.line} both fill As[v][u + HALF]" in said.text
    started = text.replace(
        f"{new} r0 < nr && ka + HALF < nk ? A[r0 * nk + ka + HALF] : 0;", f"{new} 0;"
    )
    assert started != text
    other = uncovered.uncovered(kernel_of(started), "As")
    assert other is None or "both fill" not in other.text


def test_a_fill_under_a_guard_that_asks_for_the_matrix():
    text = changed("03-ifelse", "    else\n      Bs[threadIdx.y][threadIdx.x] = 0.0;\n", "")
    said = tiles.filled_inside_only(kernel_of(text, (32, 32, 1), n=40), "Bs")
    assert said.line == line(text, "threadIdx.y < n && Col < n")
    some = changed("02-sample", "    Bs[ty][tx] =", "    if (ty < 8) Bs[ty][tx] =")
    assert tiles.filled_inside_only(kernel_of(some), "Bs") is None  # chooses threads


def test_launches_that_do_not_fit_the_kernel():
    text = changed("05-tile1d", "sgemm_1d<BM, BN, BK, TM><<<", "sgemm_1d<BM, BK, BN, TM><<<")
    listing = Listing(text)
    said = host_launch.exchanged_templates(listing, text, host.read(listing))
    assert (said.line, "BN gets BK" in said.text) == (line(text, "<<<"), True)
    text = changed("02-block32", "blockDim(32 * 32)", "blockDim(32, 32)")
    kernel = kernel_of(text, (32, 32, 1))
    said = host_launch.flat_block(kernel.text, kernel, host.read(kernel.text))
    assert said.line == line(text, "blockDim(32, 32)")
    text = changed(
        "02-sample", "threads(BLOCK_SIZE, BLOCK_SIZE)", "threads = (BLOCK_SIZE, BLOCK_SIZE)"
    )
    said = host_launch.comma(Listing(text), host.read(Listing(text)))
    assert said.line == line(text, "threads = (")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("01-hosted", "cudaMemcpy(h_C, d_C,", "cudaMemcpy(h_C, d_A,"),
        ("01-coalesced", "(width, dA, dB, dC)", "(width, dC, dB, dA)"),
    ],
)
def test_the_buffer_that_is_written_is_not_copied_back(name, old, new):
    listing = Listing(program(name))
    assert host_launch.other_buffers(listing, host.read(listing)) is None
    text = changed(name, old, new)
    said = host_launch.other_buffers(Listing(text), host.read(Listing(text)))
    assert said.line == line(text, new)


def test_a_row_instead_of_the_matrix_is_blamed_where_it_is_counted():
    text = changed("01-hosted", "int SIZE = N * N;", "int SIZE = N;")
    listing = Listing(text)
    said = HostRules(listing, host.read(listing), {"N": "4"}, 64).first()
    assert said.line == line(text, "int SIZE = N;")
    assert "one row" in said.advice


@pytest.mark.parametrize(
    ("name", "array", "old", "new"),
    [
        ("06-padded", "Bt", "threadIdx.y * blockDim.x + threadIdx.x", "threadIdx.y + threadIdx.x"),
        ("07-float4", "s_b", "(tid & 15) << 2", "(tid & 1) << 2"),
    ],
)
def test_a_phase_fills_the_same_words_by_right(name, array, old, new):
    said = uncovered.uncovered(kernel_of(changed(name, old, new), BLOCKS[name]), array)
    assert said is None or "Each turn" not in said.text


def test_two_tiles_have_quotients_of_their_own():
    assert suspects.divided(kernel_of(program("05-outer"), (16, 16, 1))) is None
    text = changed("05-outer", "mc = id % DEPTH", "mc = id % SIDE")
    assert suspects.divided(kernel_of(text, (16, 16, 1))) is not None


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (
            "08-swap",
            "    __pipeline_wait_prior(0);\n    __syncthreads();",
            "    __syncthreads();\n    __pipeline_wait_prior(0);",
        ),
        (
            "08-ring",
            "        __pipeline_wait_prior(STAGES - 2);\n        __syncthreads();",
            "        __syncthreads();\n        __pipeline_wait_prior(STAGES - 2);",
        ),
    ],
)
def test_the_block_meets_after_the_wait(name, old, new):
    text, right = changed(name, old, new), program(name)
    reader = len(text.splitlines())
    said = tiles.met_before_wait(kernel_of(text), reader)
    assert said.line == line(text, new.strip().splitlines()[0])
    assert tiles.met_before_wait(kernel_of(right), reader) is None


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("01-owner", "blockIdx.y * BY", "blockIdx.y * BX"),
        ("01-macro", "blockIdx.y * BY", "blockIdx.y * BX"),
    ],
)
def test_a_step_of_the_other_axis(name, old, new):
    text = changed(name, old, new)
    for one, is_seen in ((text, True), (program(name), False)):
        kernel = kernel_of(one, (32, 8, 1))
        launch = host.read(kernel.text).launches[0]
        said = host_launch.step_of_other_axis(kernel.text, kernel, launch, "y")
        assert (said is not None) == is_seen
        assert said is None or said.line == line(one, new)


def test_a_place_times_several_elements_asks_for_no_other_block():
    assert suspects.block_too_small(kernel_of(program("01-pieces"), (8, 16, 1))) is None
    whole = "(blockIdx.x * blockDim.x + threadIdx.x) * RUN"
    text = changed("01-pieces", whole, "blockIdx.x * 12 + threadIdx.x")
    text = text.replace("for (int x = first; x < last; x++)", "const int x = first;")
    assert suspects.block_too_small(kernel_of(text, (8, 16, 1))) == ("x", 8, 12)
