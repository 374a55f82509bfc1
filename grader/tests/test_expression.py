"""Expressions over counters: arithmetic and nothing else."""

import pytest

from grader.labs.expression import ExpressionError, evaluate, names_in

VALUES = {"a": 6.0, "b": 4.0, "zero": 0.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a / b", 1.5),
        ("a * 32 / (b - 1)", 64.0),
        ("-a + 10", 4.0),
        ("+2.5e1", 25.0),
        ("a-b-1", 1.0),
    ],
)
def test_arithmetic(text, value):
    assert evaluate(text, VALUES) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "a.real", "a[0]", "a ** 9", "a if b else 1", "'a' * 9", "True", "a // b",
        "lambda: 1", "[a]", "a < b", "", "a +", "(" * 300 + ")" * 300, "1j",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(ExpressionError):
        evaluate(text, VALUES)


def test_unknown_name_and_division_by_zero_are_named():
    with pytest.raises(ExpressionError, match="'c' in 'a / c' is not a known name"):
        evaluate("a / c", VALUES)
    with pytest.raises(ExpressionError, match="divides by zero"):
        evaluate("a / zero", VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "a" + " + a" * 5000,
        "-" * 100000 + "a",
        "(" * 5000 + "a" + ")" * 5000,
        "9" * 399,
        "a*" * 199 + "a",
    ],
)
def test_a_long_one_is_refused_or_computed_and_never_recurses_without_end(text):
    try:
        value = evaluate(text, VALUES)
    except ExpressionError as error:
        assert len(str(error)) < 600
        assert len(text) > 398
    else:
        assert value == 6.0**200


def test_names():
    assert names_in("a * 2 / (b + a)") == {"a", "b"}
