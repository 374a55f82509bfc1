"""Causes read from the source: each rule with a text that breaks it, and the right one beside it."""

from __future__ import annotations

import pytest

from grader.judging import (
    bounds,
    host,
    host_launch,
    kernel_text,
    lost_sums,
    managed,
    spread,
    suspects,
)
from grader.judging.host_rules import HostRules
from grader.labs.statements import Listing, shown
from grader.tests.corpus_files import bare_solution, ladder
from grader.tests.fresh_programs import program

NAIVE, TILED, REGISTERS = (
    bare_solution(name) for name in ladder()[:5:2][:1] + ladder()[1:2] + ladder()[4:5]
)


def kernel_of(text: str, block=(16, 16, 1), **sizes) -> kernel_text.Kernel:
    listing = Listing(text)
    function = next(item for item in listing.functions() if "__global__" in item.words)
    return kernel_text.Kernel(
        listing,
        function,
        listing.parameters(function),
        {name: str(number) for name, number in sizes.items()},
        {"M": (64, 64), "N": (64, 64), "P": (64, 64)},
        (4, 4, 1),
        block,
        {"M": "M", "N": "N", "P": "P"},
    )


def line(text: str, part: str) -> int:
    return next(n for n, row in enumerate(text.splitlines(), 1) if part in row)


def said_by_host(text: str):
    listing = Listing(text)
    found = host.read(listing)
    return HostRules(listing, found, {"width": "8"}, 256).first()


@pytest.mark.parametrize(
    ("middle", "is_right"),
    [
        ("q / 2 % 4", True),
        ("(q >> 1) & 3", True),
        ("q % 8 / 2", True),
        ("q / 2 % 2 + q / 4 % 2", True),
        ("0", False),
        ("q / 4 % 2", False),
        ("q / 2 % 2", False),
    ],
)
def test_a_number_may_have_three_digits(middle, is_right):
    text = (
        "__global__ void parts(const float* M, const float* N, float* P) {\n"
        "  for (int q = 0; q < 32; ++q) {\n"
        f"    int high = q / 8, between = {middle}, low = q % 2;\n"
        "    P[high * 8 + between * 2 + low] = 0;\n  }\n}\n"
    )
    assert (suspects.divided(kernel_of(text)) is None) == is_right


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cudaMalloc(&d_P, bytes)", "cudaMalloc((void**)d_P, bytes)", "given d_P itself"),
        ("cudaMalloc(&d_P, bytes)", "cudaMalloc(&d_P, width * width)", "64 bytes"),
        ("cudaMemcpy(d_M, M, bytes", "cudaMemcpy(d_M, M, sizeof(M)", "sizeof(M) is 8 bytes"),
        (
            "cudaMemcpy(P, d_P, bytes, cudaMemcpyDeviceToHost)",
            "cudaMemcpy(d_P, P, bytes, cudaMemcpyDeviceToHost)",
            "the target d_P is device memory, the source P host memory",
        ),
        ("cudaMemcpy(d_N, N, bytes", "cudaMemcpy(d_N, M, bytes", "N is never copied"),
        ("CHECK(cudaFree(d_P))", "CHECK(cudaFree(d_M))", "for the second time"),
        ("(d_M, d_N, d_P, width)", "(d_M, d_N, P, width)", "host memory"),
    ],
)
def test_calls_of_the_host(old, new, words):
    assert said_by_host(NAIVE) is None
    assert NAIVE.count(old) == 1
    text = NAIVE.replace(old, new)
    found = said_by_host(text)
    assert words in found.text
    assert new.rstrip(";") in text.splitlines()[found.line - 1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("blockIdx.y * TILE_WIDTH + ty", "blockIdx.x * TILE_WIDTH + ty"),
        ("blockIdx.x * TILE_WIDTH + tx", "blockIdx.x * TILE_WIDTH + ty"),
    ],
)
def test_axes_that_do_not_belong_together(old, new):
    assert suspects.coordinates(kernel_of(TILED)) is None
    text = TILED.replace(old, new)
    assert suspects.coordinates(kernel_of(text)).line == line(text, new)


def test_quotient_and_remainder_need_one_divisor():
    assert suspects.divided(kernel_of(REGISTERS)) is None
    for old, new in (("int r = e / BK", "int r = e / BM"), ("int i = e % BK", "int i = e % BM")):
        text = REGISTERS.replace(old, new)
        assert suspects.divided(kernel_of(text)).line == line(text, new)


def test_an_index_takes_each_number_of_the_block():
    kernel = kernel_of(REGISTERS)
    store = next(item for item in kernel.accesses("P"))
    rows = spread.values_of(kernel, ("row",), store)
    assert spread.is_whole(rows, 64)
    assert spread.step(kernel, ("row",), store, "y") == 64
    kernel = kernel_of(REGISTERS.replace("first_row + ty * TM + r", "first_row + ty + r"))
    store = next(item for item in kernel.accesses("P"))
    assert not spread.is_whole(spread.values_of(kernel, ("row",), store), 64)


def test_a_loop_that_runs_once_too_often():
    def said(text):
        kernel = kernel_of(text, width=64)
        statement = next(item for item in kernel.body if "+=" in item.words)
        return bounds.loop_too_long(kernel, statement, statement.words)

    assert said(TILED) is None
    text = TILED.replace("k < TILE_WIDTH", "k <= TILE_WIDTH")
    assert said(text).line == line(text, "k <= TILE_WIDTH")


def test_arguments_in_another_order():
    def said(text):
        listing = Listing(text)
        return host_launch.swapped_arguments(listing, host.read(listing))

    assert said(TILED) is None
    assert "M gets N" in said(TILED.replace(">>>(M, N, P", ">>>(N, M, P")).text


def test_statements_of_every_solution():
    for name in ladder():
        listing = Listing(bare_solution(name))
        kernel = next(item for item in listing.functions() if "__global__" in item.words)
        assert listing.inside(kernel)
        assert listing.named("solve") is not None
    loop = next(item for item in Listing(TILED).statements if item.kind == "for")
    assert shown(loop.parts[1]) == "ph < width / TILE_WIDTH"


@pytest.mark.parametrize("head", ["[&] {", "[] {", "[=] {", "[&](int i) {"])
def test_a_lambda_has_statements_of_its_own(head):
    text = (
        "__global__ void f(float* P) {\n  auto go = "
        + head
        + "\n    P[0] = 1;\n    P[1] = 2;\n  };\n}\n"
    )
    assert [item.line for item in Listing(text).statements if item.has("P", "[")] == [3, 4]


@pytest.mark.parametrize(
    "piece", ["{", "}", "(", "if (", "for (;;", "a[", '"', "else ", "= {", "<<<"]
)
def test_hostile_texts_are_cut_into_statements(piece):
    listing = Listing(TILED + piece * 30_000)
    host.read(listing)
    assert len(listing.statements) <= 40_000


MANAGED = """void solve(float* a, float* b, int n, int rows) {
  float* x;
  cudaMallocManaged(&x, n * sizeof(float));
  memcpy(x, a, n * sizeof(float));
  twice<<<4, 128>>>(x, n);
  cudaDeviceSynchronize();
  memcpy(a, x, n * sizeof(float));
  cudaFree(x);
}
"""


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("", "", ""),
        ("  cudaDeviceSynchronize();\n", "", "memcpy(a, x"),
        ("  cudaDeviceSynchronize();\n  memcpy(a, x, n * sizeof(float));\n",
         "  memcpy(a, x, n * sizeof(float));\n  cudaDeviceSynchronize();\n", "memcpy(a, x"),
        ("  cudaDeviceSynchronize();\n", "  cudaStreamSynchronize(0);\n", ""),
        ("  cudaDeviceSynchronize();\n  memcpy(a, x, n * sizeof(float));\n", "", ""),
        ("cudaMallocManaged", "cudaMalloc", ""),
    ],
)  # fmt: skip
def test_what_the_host_reads_of_shared_memory_before_the_kernel_has_ended(old, new, at):
    text = MANAGED.replace(old, new) if old else MANAGED
    listing = Listing(text)
    said = managed.unawaited(listing, host.read(listing))
    assert (said is not None) == bool(at)
    assert said is None or said.line == line(text, at)


@pytest.mark.parametrize(
    ("size", "is_said"), [("n * sizeof(float)", False), ("n", True), ("k", False)]
)
def test_memcpy_counts_bytes(size, is_said):
    text = MANAGED.replace("memcpy(a, x, n * sizeof(float))", f"memcpy(a, x, {size})")
    found = managed.copied_by_halves(host.read(Listing(text)), {"n": "8"}, {"a": (8, 32)})
    assert (found is not None) == is_said
    assert found is None or "times sizeof" in found.advice


def test_a_field_of_a_struct_has_one_declaration():
    text = (
        "struct Shared { float left[4]; int right[4][4]; };\n"
        "__global__ void k(float* M) {\n  __shared__ Shared s;\n  s.right[1][2] = M[0];\n}\n"
    )
    listing = Listing(text)
    (store,) = [item for item in listing.statements if item.has("s", ".", "right")]
    field = kernel_text.field_of(store.words[: store.words.index("=")])
    assert field == "right"
    assert kernel_text.field_of_type(listing, "right", ("int",)).line == 1
    assert kernel_text.field_of_type(listing, "left", ("int",)) is None


def test_a_partial_sum_that_nothing_reads():
    text = program("01-byfour")
    assert lost_sums.lost_sum(kernel_of(text)) is None
    wrong = text.replace("(s0 + s1) + (s2 + s3)", "(s0 + s1) + s2")
    found = lost_sums.lost_sum(kernel_of(wrong))
    assert found.line == line(wrong, "(s0 + s1) + s2") and found.text.startswith("s3 is added to")


def test_a_field_that_is_called_as_a_parameter_is_another_thing():
    kernel = kernel_of(
        "__global__ void k(const float* M, T t) { x = t.M[1]; y = M[2]; z = t->M[3]; }"
    )
    assert [one.words[0] for one in kernel.accesses("M")] == ["y"]
    fields = kernel_of("__global__ void k(T t) { x = t.N[1]; }")
    assert len(fields.accesses("N")) == 1
