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
    ],
)
def test_what_beginners_meet_most_has_advice(message, words):
    assert words in compiler_words.advice(message)


def test_other_messages_speak_for_themselves():
    assert compiler_words.advice("too few arguments in function call") == ""


def test_flags_of_the_compiler_are_not_recommended(lab):
    blank = conclude.blank(lab, "matmul.cu", Options("sim"))
    (found,) = conclude.does_not_compile(lab, blank, CompileError(3, CEIL, 1)).diagnostics
    assert found.message.endswith("is not allowed (1 more follow from it or after it).")
    assert "experimental" not in found.message
