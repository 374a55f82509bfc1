"""The compiler's messages as a beginner reads them."""

import pytest

from grader.labs.options import Options
from grader.pipeline import conclude
from grader.running import compiler_words
from grader.running.compile import CompileError

CEIL = (
    'calling a constexpr __host__ function("ceil") from a __global__ function("k") is not allowed.'
    " The experimental flag '--expt-relaxed-constexpr' can be used to allow this."
)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (CEIL, "rounded down before ceil"),
        ('calling a __host__ function("f") from a __global__ function("k")', "__device__"),
        ('expected a ";"', "line before"),
        ("expression must be a modifiable lvalue", "const"),
        ('identifier "K" is undefined', "spelt"),
        ('identifier "__syncthread" is undefined', "__syncthreads meant"),
        ('identifier "cudaThreadSynchronize" is undefined', "cudaDeviceSynchronize"),
        ("a __global__ function call must be configured", "<<<grid, block>>>"),
        ("too few arguments in function call", "one by one"),
        ("expression must have a constant value", "constexpr"),
        ('class "uint3" has no member "X"', "small letters"),
        ("expression must have pointer-to-object type but it has type", "one index"),
    ],
)
def test_what_beginners_meet_most_has_advice(message, words):
    assert words in compiler_words.advice(message)


@pytest.mark.parametrize(
    ("lines", "line", "found"),
    [
        (["int a = 1", "int b = 2;"], 2, 1),
        (["f(a)", "", "return;"], 3, 1),
        (["if (a)", "int b = 2 c;"], 2, 2),
        (["int a = 1;", "int b = 2 c;"], 2, 2),
    ],
)
def test_a_missing_semicolon_is_at_the_end_of_the_line_before(lines, line, found):
    assert compiler_words.line_of('expected a ";"', line, lines) == found
    assert compiler_words.line_of("expected an expression", line, lines) == line


def test_other_messages_speak_for_themselves():
    assert compiler_words.advice("expression preceding parentheses") == ""


def test_flags_of_the_compiler_are_not_recommended(lab):
    blank = conclude.blank(lab, "matmul.cu", Options("sim"))
    (found,) = conclude.does_not_compile(lab, blank, CompileError(3, CEIL, 1)).diagnostics
    assert found.message.endswith("is not allowed (1 more follow from it or after it).")
    assert "experimental" not in found.message


def test_what_nvcc_has_seen_is_read_here_alone():
    unset = 'variable "sum" is used before its value is set'
    assert compiler_words.unset_variable(unset) == "sum"
    assert not compiler_words.has_no_effect(unset)
    assert compiler_words.has_no_effect("expression has no effect")
    assert compiler_words.unset_variable("expression has no effect") == ""
