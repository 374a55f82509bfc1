"""Arithmetic over counters, as lab.toml writes it: `global_load_sectors / global_load_requests`.

Only + - * / ( ), numbers and the names given are understood; nothing is ever passed to eval. An
expression has an end: what is longer than a check needs is refused before it is looked at.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


MOST_CHARACTERS = 400  # so that neither the parser nor what follows it recurses far


class ExpressionError(ValueError):
    """The expression is not arithmetic over known names; the message says where."""


def names_in(text: str) -> set[str]:
    """Names used by an expression. Raises ExpressionError if it is not arithmetic."""
    names: set[str] = set()
    _check(_parse(text), names)
    return names


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """The value of an expression. Raises ExpressionError: bad syntax, unknown name, x / 0."""
    tree = _parse(text)
    names: set[str] = set()
    _check(tree, names)
    unknown = sorted(names - set(values))
    if unknown:
        raise ExpressionError(f"'{unknown[0]}' in '{text}' is not a known name")
    try:
        return float(_value(tree, values))
    except ZeroDivisionError:
        raise ExpressionError(f"'{text}' divides by zero") from None
    except OverflowError:
        raise ExpressionError(f"'{text}' is too large a number") from None


def _parse(text: str) -> ast.expr:
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(
            f"'{text[:20]}...' has {len(text)} characters, and {MOST_CHARACTERS} are allowed"
        )
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"'{text}' is not an arithmetic expression") from None


def _check(node: ast.expr, names: set[str]) -> None:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, names)
            _check(right, names)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, names)
        case ast.Name(id=name):
            names.add(name)
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            pass
        case _:
            raise ExpressionError(f"'{ast.unparse(node)}' is not allowed in an expression")


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, values)
            return -value if isinstance(op, ast.USub) else value
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=value):
            return value
    raise AssertionError(f"{ast.dump(node)} passed the check")
