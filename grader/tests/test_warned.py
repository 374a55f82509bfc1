"""What nvcc warns of, and what the text alone shows, as a cause; what is no mistake is none."""

from __future__ import annotations

import pytest

from grader.judging import warned
from grader.labs.statements import Listing
from grader.results.result import Diagnostic
from grader.tests.corpus_files import REPOSITORY, bare_solution, labs

_FRESH = REPOSITORY / "common" / "measure" / "causes" / "fresh"
_HEAD = "__global__ void k(const float* M, float* P, int width) {\n"
_NO_EFFECT = "expression has no effect"


def said(body: str, message: str = "", line: int = 2, code: str = "wrong-result"):
    warnings = [Diagnostic("compiler-warning", "warning", message, line=line)] if message else []
    return warned.warned(Listing(_HEAD + body + "\n}\n"), warnings, code)


@pytest.mark.parametrize(
    ("body", "message", "words"),
    [
        ("  sum + M[width];", _NO_EFFECT, "computes a value that nothing keeps"),
        ("  P[1] == sum;", _NO_EFFECT, "compares and stores nothing"),
        ("  for (int i = 0; i < width; i + 1) sum += 1;", _NO_EFFECT, "changes nothing"),
        ("  __syncthreads;", _NO_EFFECT, "is not called"),
        ("  if (i = 3) sum += 1;", 'use of "=" where "==" may have been intended', "asks =="),
        (
            "  for (unsigned i = width; i >= 0; --i) sum += M[i];",
            "pointless comparison of unsigned integer with zero", "never below 0",
        ),
        (
            "  use(0);", 'missing return statement at end of non-void function "helper"',
            "helper() is to return a value",
        ),
        ("  int big = 100000 * 100000;", "integer operation result is out of range", "an int holds"),
        ("  for (int i = 0; i < width; ++i);\n  { sum += M[i]; }", "", "The semicolon behind for"),
        ("  if (i < width);\n  P[i] = sum;", "", "The semicolon behind if"),
        ("  sum =+ M[i];", "", "=+ gives the variable a new value"),
    ],
)  # fmt: skip
def test_a_line_that_does_not_do_what_it_seems_to(body, message, words):
    found = said(body, message)
    assert words in found.text
    assert found.line == 2
    # Where nothing is wrong with the results it is not brought up.
    assert said(body, message, code="memory-leak") is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  sum += M[width];", ""),
        ("  for (int i = 0; i < width; sum += M[i], ++i);\n  P[0] = sum;", ""),
        ("  while (ready());\n  P[0] = 1;", ""),
        ("  int a = -1, b = +1;\n  P[0] = a == -1;", ""),
        ("  P[0] = sum = +1.0f;", ""),
        ("  width;", _NO_EFFECT),  # to say that it is not used
        ("  int i = 3;", 'variable "i" was declared but never referenced'),
    ],
)
def test_what_is_written_otherwise_is_no_mistake(body, message):
    assert said(body, message) is None


_HELPER = "__device__ void add(float{} sum, float a) {{\n  sum += a;\n{}}}\n"


@pytest.mark.parametrize(
    ("between", "rest", "is_said"),
    [("", "", True), ("&", "", False), ("*", "", False), ("", "  P[0] = sum;\n", False)],
)
def test_a_sum_that_a_helper_keeps_for_itself(between, rest, is_said):
    text = _HELPER.format(between, rest)
    found = warned.warned(Listing(text + _HEAD + "}\n"), [], "wrong-result")
    assert (found is not None) == is_said
    assert found is None or (found.line == 1 and "add() changes sum" in found.text)


@pytest.mark.parametrize(
    ("head", "end", "is_said"),
    [
        ("void make(Matrix m, int n)", "", True),
        ("void make(Matrix& m, int n)", "", False),
        ("Matrix make(Matrix m, int n)", "  return m;\n", False),
        ("void once(Matrix m, int n)", "  k<<<1, n>>>(m.d);\n", False),
    ],
)
def test_a_struct_that_is_passed_by_value_keeps_no_address(head, end, is_said):
    text = f"{head} {{\n  cudaMalloc((void**)&m.d, n);\n{end}}}\n"
    found = warned.warned(Listing(text), [], "out-of-bounds-global")
    assert (found is not None) == is_said
    assert found is None or (found.line == 2 and "make()'s own copy of m" in found.text)


def test_right_programs_break_none_of_the_rules_that_need_no_warning():
    texts = [bare_solution(name) for name in labs()]
    texts += [path.read_text() for path in sorted(_FRESH.glob("*.cu"))]
    for text in texts:
        assert warned.warned(Listing(text), [], "wrong-result") is None
