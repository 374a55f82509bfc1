"""Members of structs that lie in shared memory: named only where sizes and places are certain."""

import pytest

from grader.labs.layout import member
from grader.labs.source import shared_array
from grader.tests.corpus_files import bare_solution

RING = """
using bf16 = __nv_bfloat16;
constexpr int BM = 4, BOX = 8, STAGES = 3;
struct Stage {
  bf16 M[BM][BOX];
  bf16 N[2][BOX];
  __device__ int sum(int i) const { return M[0][i] + N[0][i]; }
};
struct Ring { Stage stage[STAGES]; uint64_t full[STAGES], empty[STAGES]; };
__global__ void kernel() {
  extern __shared__ __align__(1024) unsigned char memory[];
  Ring& ring = *reinterpret_cast<Ring*>(memory);
}
"""
SIZE = 3 * 96 + 48


@pytest.mark.parametrize(
    ("offset", "name"),
    [
        (0, "ring.stage[0].M[0][0]"),
        (64 + 18, "ring.stage[0].N[1][1]"),
        (96 + 16, "ring.stage[1].M[1][0]"),
        (288 + 8, "ring.full[1]"),
        (288 + 24, "ring.empty[0]"),
        (1, ""),  # in the middle of an element
        (-8, ""),
        (SIZE, ""),
    ],
)
def test_what_lies_at_a_byte(offset, name):
    assert member(RING, "memory", SIZE, offset) == name


def test_lab_11_has_names_for_its_barriers():
    assert member(bare_solution("11-copy-engine"), "memory", 98352, 98304) == "ring.full[0]"
    assert member(bare_solution("11-copy-engine"), "memory", 98352, 32768 + 16384) == (
        "ring.stage[1].N[0][0][0]"
    )


def test_a_variable_and_a_pointer():
    variable = "struct Pool { float m[4][4]; double d; };\n__shared__ Pool pool;"
    assert member(variable, "pool", 72, 20) == "pool.m[1][1]"
    pointer = RING.replace(
        "Ring& ring = *reinterpret_cast<Ring*>(memory)", "Ring* r = (Ring*)memory"
    )
    assert member(pointer, "memory", SIZE, 288) == "r->full[0]"


def test_members_are_aligned():
    text = "struct Pool { char c; alignas(16) float m[3]; bool b; };\n__shared__ Pool pool;"
    assert member(text, "pool", 32, 16) == "pool.m[0]"
    assert member(text, "pool", 32, 28) == "pool.b"
    assert member(text, "pool", 32, 4) == ""  # between two members


@pytest.mark.parametrize(
    "text",
    [
        RING.replace("STAGES = 3", "STAGES = 2"),  # not as large as the memory
        RING.replace("bf16 N[2][BOX];", "union { bf16 N[2][BOX]; float f[8]; };"),
        RING.replace("bf16 N[2][BOX];", "Unknown N[2][BOX];"),
        RING.replace("bf16 N[2][BOX];", "bf16 N[2][width()];"),
        RING.replace("Ring& ring", "Ring& other = *reinterpret_cast<Ring*>(memory);\n  Ring& ring"),
        "not C++ at all {{{",
        "",
    ],
)
def test_what_is_not_certain_has_no_name(text):
    assert member(text, "memory", SIZE, 288) == ""


def test_bytes_are_counted_as_bytes():
    shape = shared_array("extern __shared__ unsigned char memory[];", "memory", 336)
    assert shape.element(288) == "memory[288]"
