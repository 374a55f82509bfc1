"""The compiler's messages as a beginner reads them."""

import pytest

from grader.labs.options import Options
from grader.pipeline import begun, conclude
from grader.running import compiler_places, compiler_words
from grader.running.compile import CompileError, first_error

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
    assert compiler_places.place('expected a ";"', line, lines).line == found
    assert compiler_places.place("expected an expression", line, lines).line == line


KERNEL = """__global__ void kernel(const float* M, float* P, int width) {
  int row = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < width; ++k) {
    sum += M[row * width + k];
  }
  P[row] = sum;
}
void solve(const float* M, float* P, int width) {
  float *d_M, *d_P;
  cudaMalloc(&d_M, width);
  cudaMalloc(&d_P, width);
  kernel<<<1, 16>>>(d_M, d_P, width);
}
"""
NO_CUDA_MALLOC = 'no instance of overloaded function "cudaMalloc" matches the argument list'


@pytest.mark.parametrize(
    ("old", "new", "message", "line", "found", "words"),
    [
        # Braces: the compiler notices them far from where one is missing, or one too many.
        ("  }\n  P[row]", "  P[row]", 'expected a ";"', 8, 4, "no } of its own"),
        ("  P[row] = sum;\n}\n", "  P[row] = sum;\n", 'expected a ";"', 8, 1, "no } of its own"),
        ("width);\n}\n", "width);\n", 'at the end of the file: expected a "}"', 0, 9, "its own"),
        ("  P[row]", "  }\n  P[row]", 'identifier "P" is undefined', 8, 7, "one too many"),
        ("  P[row]", "  }\n  P[row]", "expected a declaration", 8, 7, "one too many"),
        # A macro's parenthesis: the compiler reads on to the end of the file.
        (
            "cudaMalloc(&d_M, width);", "CHECK(cudaMalloc(&d_M, width);",
            'unterminated argument list invoking macro "CHECK"', 14, 11, "closes CHECK(",
        ),
        # Names.
        ("int row", "int Row", 'identifier "row" is undefined', 5, 5, "Line 2 declares Row"),
        ("int row", "int rwo", 'identifier "row" is undefined', 5, 5, "Line 2 declares rwo"),
        ("P[row]", "P[k]", 'identifier "k" is undefined', 7, 7, "between other braces"),
        ("P[row]", "P[i]", 'identifier "i" is undefined', 7, 7, "No line declares i"),
        ("P[row]", "Pds[row]", 'identifier "Pds" is undefined', 7, 7, "__shared__ float Pds"),
        ("int width) {\n  int", "width) {\n  int", 'identifier "width" is undefined', 1, 1, "type"),
        ("cudaMalloc(&d_M", "shared(&d_M", 'identifier "shared" is undefined', 11, 11, "__shared__"),
        # Calls.
        ("(&d_P", "(d_P", NO_CUDA_MALLOC, 12, 12, "cudaMalloc(&d_P, bytes)"),
        (
            "*d_M, *d_P", "*d_M, d_P", NO_CUDA_MALLOC + " (argument types are: (float *, int))",
            12, 10, "its own star",
        ),
        (", d_P, width", ", d_P", "too few arguments in function call", 13, 13, "float* P, int width"),
        # Signs that are missing.
        ("k = 0; k < width; ++k", "k = 0, k < width, ++k", '"k" has already been', 4, 4, "semicolons"),
        (
            "M[row * width + k]", "M[row * width + k",
            "expression must have integral or unscoped enum type", 5, 5, "one [ of this line",
        ),
    ],
)  # fmt: skip
def test_where_it_comes_from_is_read_from_the_lines(old, new, message, line, found, words):
    assert KERNEL.count(old) == 1
    lines = KERNEL.replace(old, new).split("\n")
    told = compiler_places.place(message, line, lines)
    assert told.line == found
    assert words in told.advice


def test_a_name_that_another_function_has_is_not_said_to_come_later():
    lines = ["void f() {", "  g(width);", "}", "void solve(int width) {", "}"]
    told = compiler_places.place('identifier "width" is undefined', 2, lines)
    assert "parameter of another function" in told.advice


def test_braces_that_are_in_order_are_not_accused():
    lines = KERNEL.split("\n")
    told = compiler_places.place('identifier "sin2" is undefined', 5, lines)
    assert told.line == 5
    told = compiler_places.place('expected a ";"', 3, lines)
    assert told.line == 3


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("a host function call cannot be configured", "__global__"),
        ('expected a ">>>"', "comma"),
        ("a variable length array cannot have static storage duration", "constexpr"),
        ('no operator "*" matches these operands (operand types are: const uint3 * const dim3)', ".x"),
        ('no suitable conversion function from "dim3" to "int" exists', ".x"),
        ("expression must have arithmetic or unscoped enum type", "indices"),
        ('argument of type "double *" is incompatible with parameter of type "float *"', "types"),
        ('argument of type "int" is incompatible with parameter of type "const float *"', "order"),
        ('argument of type "const float *" is incompatible with parameter of type "void *"', "const"),
        ('calling a __device__ function("__syncthreads") from a __host__ function("solve")', "host"),
        ('explicit type is missing ("int" assumed)', "void"),
    ],
)  # fmt: skip
def test_more_that_beginners_meet_has_advice(message, words):
    assert words in compiler_words.advice(message)


def test_other_messages_speak_for_themselves():
    assert compiler_words.advice("expression preceding parentheses") == ""


def test_flags_of_the_compiler_are_not_recommended(lab):
    blank = begun.blank(lab, "matmul.cu", Options("sim"))
    (found,) = conclude.does_not_compile(lab, blank, CompileError(3, CEIL, 1)).diagnostics
    assert found.message.endswith("is not allowed (1 more follow from it or after it).")
    assert "experimental" not in found.message


def test_what_nvcc_has_seen_is_read_here_alone():
    unset = 'variable "sum" is used before its value is set'
    assert compiler_words.unset_variable(unset) == "sum"
    assert not compiler_words.has_no_effect(unset)
    assert compiler_words.has_no_effect("expression has no effect")
    assert compiler_words.unset_variable("expression has no effect") == ""
    missing = 'missing return statement at end of non-void function "Tile::at"'
    assert compiler_words.function_without_return(missing) == "at"
    assert compiler_words.function_without_return(unset) == ""
    assert compiler_words.assigns_where_compared('use of "=" where "==" may have been intended')
    assert compiler_words.compares_unsigned_with_0(
        "pointless comparison of unsigned integer with zero"
    )
    assert compiler_words.is_beyond_an_int("integer operation result is out of range")


def test_the_first_message_is_kept_whole():
    output = (
        'matmul.cu(4): error: no instance of overloaded function "f" matches the argument list\n'
        "            argument types are: (float *, int)\n"
        "    f(d_P, 16);\n"
        "    ^\n"
        "other.h(9): note: candidate\n"
    )
    found = first_error(output)
    assert found.message.endswith("the argument list (argument types are: (float *, int))")
    alone = "matmul.cu(7): error: too few arguments in function call\n    f(d_P);\n    ^\n"
    assert first_error(alone).message == "too few arguments in function call"
