"""Sums that begin with what happens to be there: a part of an array, an object."""

import pytest

from grader.judging import half_set
from grader.judging.kernel_text import Kernel
from grader.labs.statements import Listing

ARRAY = """
#define PR 8
#define PC 4
__global__ void kernel(float* P) {
  __shared__ float ms[PR];
  DECLARED
  SET
  for (int r = 0; r < PR; ++r)
    for (int c = 0; c < PC; ++c) USE
}
"""
FLAT, GRID = "float acc[PR * PC];", "float acc[PR][PC];"
OF_FLAT, OF_GRID = "acc[r * PC + c] += ms[r];", "acc[r][c] += ms[r];"


def _said(source: str):
    text = Listing(source)
    function = text.named("kernel")
    return half_set.begins_anyhow(Kernel(text, function, text.parameters(function)))


def _of_array(declared, zero, use):
    source = ARRAY.replace("DECLARED", declared).replace("SET", zero).replace("USE", use)
    return _said(source)


@pytest.mark.parametrize(
    ("declared", "zero", "use"),
    [
        (FLAT, "for (int a = 0; a < PR; a++) acc[a] = 0.0f;", OF_FLAT),
        (FLAT, "for (int a = 0; a < PR * PC / 2; ++a) acc[a] = 0;", OF_FLAT),
        (FLAT, "for (int a = 0; a < PR; ++a) acc[a * PC] = 0;", OF_FLAT),
        (FLAT, "for (int a = 1; a < PR * PC; ++a) acc[a] = 0;", OF_FLAT),
        (FLAT, "acc[0] = 0.f;", OF_FLAT),
        (GRID, "for (int a = 0; a < PR; ++a) acc[a][0] = 0;", OF_GRID),
        (GRID, "for (int b = 0; b < PC; ++b) acc[0][b] = 0;", OF_GRID),
        (GRID, "for (int a = 0; a < PC; ++a) for (int b = 0; b < PC; ++b) acc[a][b] = 0;", OF_GRID),
        ("alignas(16) " + FLAT, "for (int a = 0; a < PC; a++) acc[a] = 0;", OF_FLAT),
    ],
)
def test_a_part_of_an_array_is_set(declared, zero, use):
    said = _of_array(declared, zero, use)
    assert said is not None and said.line == 7, said


@pytest.mark.parametrize(
    ("declared", "zero", "use"),
    [
        (FLAT, "for (int a = 0; a < PR * PC; a++) acc[a] = 0.0f;", OF_FLAT),
        (GRID, "for (int a = 0; a < PR; ++a) for (int b = 0; b < PC; ++b) acc[a][b] = 0;", OF_GRID),
        ("float acc[PR * PC] = {};", "acc[0] = 0;", OF_FLAT),
        (FLAT, "acc[0] = 0; for (int a = 1; a < PR * PC; ++a) acc[a] = 0;", OF_FLAT),
        (FLAT, "acc[0] = 0; fill(acc, 0);", OF_FLAT),
        (FLAT, "for (int a = 0; a < PR; ++a) acc[a] = ms[a];", OF_FLAT),
        ("__shared__ float acc[PR * PC];", "acc[0] = 0;", OF_FLAT),
        ("__shared__ float acc[PR * PC];", "acc[threadIdx.x] = 0;", OF_FLAT),
    ],
)
def test_arrays_that_are_set_or_not_known(declared, zero, use):
    assert _of_array(declared, zero, use) is None


OBJECT = """
template <int H> struct Other { float v[H]; };
struct Patch {
  FIELD
  METHODS
  __device__ void outer(float a) { for (int i = 0; i < 4; ++i) v[i] += a; }
};
__device__ void reset(Patch& one) { one.v[0] = 0; }
__global__ void kernel(float* P) {
  DECLARED
  FIRST
  for (int i = 0; i < 16; ++i) patch.outer(P[i]);
  P[0] = patch.v[0];
}
"""
CLEAR = "__device__ void clear() { for (int i = 0; i < 4; ++i) v[i] = 0.0f; }"
MAKES = "__device__ Patch() { for (int i = 0; i < 4; ++i) v[i] = 0.0f; }"


def _of_object(field="float v[4];", methods=CLEAR, declared="Patch patch;", first=""):
    source = OBJECT.replace("FIELD", field).replace("METHODS", methods)
    return _said(source.replace("DECLARED", declared).replace("FIRST", first))


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        (CLEAR, "patch.clear() is never called"),
        (CLEAR.replace("clear", "begin"), "patch.begin() is never called"),
        ("", "nothing sets what is in it"),
    ],
)
def test_an_object_that_is_never_cleared(methods, words):
    said = _of_object(methods=methods)
    assert said is not None and said.line == 10 and words in said.text


@pytest.mark.parametrize(
    "changed",
    [
        {"first": "patch.clear();"},
        {"first": "reset(patch);"},
        {"first": "for (int i = 0; i < 4; ++i) patch.v[i] = 0;"},
        {"first": "patch = Patch{};"},
        {"first": "Patch& same = patch; same.clear();"},
        {"declared": "Patch patch{};"},
        {"declared": "Patch patch = {};"},
        {"field": "float v[4] = {};"},
        {"methods": MAKES},
        {"declared": "__shared__ Patch patch;"},
    ],
)
def test_objects_that_something_sets(changed):
    assert _of_object(**changed) is None
