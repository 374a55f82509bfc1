"""Reads what a student answers, and judges it."""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import dataclass

from grader.errors import UsageError
from grader.quiz.question import Asked, Value, shown

_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_KIBI = {"KB": 1024, "KIB": 1024, "MB": 1024**2, "MIB": 1024**2}
_LIMIT = 10.0**18  # of what an answer may be


@dataclass(frozen=True)
class Verdict:
    """One answer, judged."""

    right: bool
    reason: str = ""  # the way of reasoning that leads to this wrong answer, where one is known


def judge(asked: Asked, given: str) -> Verdict:
    """Raises UsageError for what is no answer to this question: a text where a number belongs."""
    if asked.choices:
        chosen = _chosen(asked.choices, given)
        return _verdict(asked, lambda value: value == chosen)
    if isinstance(asked.answer, tuple):
        place = _place(given, len(asked.answer))
        return _verdict(asked, lambda value: value == place)
    number, step = _number(given, asked.question.unit)
    return _verdict(asked, lambda value: _equal(value, number, step))


def _verdict(asked: Asked, agrees) -> Verdict:
    if agrees(asked.answer):
        return Verdict(True)
    for value, reason in asked.wrong_ways():
        if agrees(value):
            return Verdict(False, reason)
    return Verdict(False)


def _equal(value: Value, number: float, step: float) -> bool:
    """Whole numbers exactly; others as far as they were written out, to two digits at least."""
    if isinstance(value, int):
        return number == value
    if not isinstance(value, float):
        return False
    return abs(number - value) <= max(0.005 * abs(value), min(step / 2, 0.05 * abs(value)) * 1.001)


def _chosen(choices: tuple[str, ...], given: str) -> str:
    text = " ".join(given.split()).casefold().rstrip(".)")
    for index, choice in enumerate(choices):
        if text in (chr(ord("a") + index), " ".join(choice.split()).casefold().rstrip(".)")):
            return choice
    starts = [choice for choice in choices if text and choice.casefold().startswith(text)]
    if len(starts) == 1:
        return starts[0]
    letters = ", ".join(chr(ord("a") + index) for index in range(len(choices)))
    raise UsageError(f"{given!r} is none of the answers: write one of {letters}.")


def _place(given: str, count: int) -> tuple[int, ...]:
    numbers = tuple(int(word) for word in re.findall(r"-?\d{1,18}", given))
    if len(numbers) != count or re.search(r"[a-zA-Z]{3,}|\.\d", given):
        form = "(1, 0)" if count == 2 else "(1, 0, 2)"
        raise UsageError(f"{given!r} is no place: {count} whole numbers are asked for, as {form}.")
    return numbers


def _number(given: str, unit: str) -> tuple[float, float]:
    """The number, and what its last written digit is worth (0: it was computed)."""
    text = given.strip().replace("^", "**").replace("×", "*").replace("\N{NO-BREAK SPACE}", "")
    text = re.sub(r"(?<=\d)[,_](?=\d{3}(?!\d))", "", text)
    factor = 1.0
    if text.endswith("%"):
        text, factor = text[:-1], 0.01
    word = re.search(r"[a-zA-Z][a-zA-Z/ .-]*$", text)
    if word is not None:
        said = word[0].strip().casefold()
        text = text[: word.start()]
        if said.upper() in _KIBI and unit == "bytes":
            factor = _KIBI[said.upper()]
        elif not unit or said not in (unit.casefold(), unit.casefold().rstrip("s")):
            raise UsageError(f"{given!r} is no number{f' of {unit}' if unit else ''}.")
    plain = re.fullmatch(r"\s*-?\d{0,18}(?:\.(\d{1,18}))?\s*", text)
    digits = text.replace(".", "").strip().lstrip("0")
    step = factor * 10.0 ** -len(plain[1]) if plain and plain[1] and len(digits) > 1 else 0.0
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body) * factor
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        raise UsageError(
            f"{given!r} is no number: write for example 1024, 0.63 or 7 * 7 * 256."
        ) from None
    return value, step


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value = node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = -_value(node.operand)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = _value(node.left), _value(node.right)
        if abs(power) > 64 or abs(base) > 1e6:
            raise ValueError
        value = base**power
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        value = _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    else:
        raise ValueError
    if isinstance(value, complex) or not abs(value) < _LIMIT:
        raise ValueError
    return value


def expected(asked: Asked) -> str:
    """The right answer, as a student would write it."""
    text = shown(asked.answer)
    unit = asked.question.unit
    return f"{text} {unit}" if unit and not asked.choices else text
