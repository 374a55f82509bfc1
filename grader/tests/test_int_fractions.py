"""A quotient of integers that is 0 where a fraction is meant, and what is none."""

from __future__ import annotations

import pytest

from grader.judging.int_fractions import fraction


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\nconst float DOWN = 1 / 256;\n", 2),
        ("#define DOWN (1 / 256)\n", 1),
        ("constexpr int UP = 256; constexpr float DOWN = 1 / UP;\n", 1),
        ("#define SCALE 256\nfloat down() { return 0; }\nstatic const float back = 1/SCALE;\n", 3),
    ],
)
def test_a_fraction_that_is_0_is_named(text: str, line: int) -> None:
    said = fraction(text)
    assert said is not None
    assert said.line == line
    assert "it is 0" in said.text


@pytest.mark.parametrize(
    "text",
    [
        "constexpr float UP = 256, DOWN = 1 / UP;",
        "const float DOWN = 1.0f / 256;",
        "const float DOWN = 1 / 256.0f;",
        "const float HALF = 256 / 2;",
        "int blocks = 16 / 64;",
        "#define PER (THREADS / SIDE)",
        "float x = a[1] / b;",
    ],
)
def test_what_is_a_fraction_or_none_is_left(text: str) -> None:
    assert fraction(text) is None
