"""Integer arithmetic of a student's constants: "TILE * 2 + 1", with C's division.

One pass over at most so many tokens, without recursion, and no number beyond 64 bits: whatever
stands there, it ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_MOST_CHARACTERS = 300
_MOST_NAMES = 200  # looked up for one value
_LARGEST = 1 << 63
_CAST = re.compile(r"\((?:int|unsigned|size_t)\)")
_TOKEN = re.compile(r"\s*(?:(\d\w*)|([A-Za-z_]\w*)|(<<|[-+*/%()]))")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)[uUlL]*")
_BINDING = {"<<": 1, "+": 2, "-": 2, "*": 3, "/": 3, "%": 3, "neg": 4}


class _UnclearError(Exception):
    """The value cannot be worked out."""


def integer(text: str, constants: Mapping[str, str]) -> int | None:
    """The value of a constant expression over these constants, or None if it is not clear."""
    known: dict[str, int | None] = {}
    waiting = [""]  # names whose values are wanted, "" for the text itself
    texts = {**constants, "": text}
    while waiting:  # a name is looked at again once those that it needs are known
        name = waiting[-1]
        missing: list[str] = []

        def value(word: str, missing: list[str] = missing) -> int:
            if word not in known:
                missing.append(word)
                return 1
            found = known[word]
            if found is None:
                raise _UnclearError
            return found

        try:
            result: int | None = _evaluate(texts[name], value)
        except (_UnclearError, KeyError):
            result = None
        wanted = [word for word in missing if word not in known]
        if not wanted or len(known) + len(waiting) > _MOST_NAMES:
            known[name] = None if wanted else result
            waiting.pop()
        elif any(word in waiting or word not in texts for word in wanted):
            known[name] = None  # it needs itself, or what nobody knows
            waiting.pop()
        else:
            waiting.append(wanted[0])
    return known[""]


def _evaluate(text: str, value: Callable[[str], int]) -> int:
    """Operators wait on a stack until one that binds less comes. Raises _UnclearError."""
    numbers: list[int] = []
    operators: list[str] = []
    is_operand_next = True
    for number, name, sign in _tokens(text):
        if number or name:
            if not is_operand_next:
                raise _UnclearError
            numbers.append(_literal(number) if number else value(name))
            is_operand_next = False
        elif sign == "(":
            if not is_operand_next:
                raise _UnclearError
            operators.append(sign)
        elif is_operand_next:
            if sign not in "+-":
                raise _UnclearError
            if sign == "-":
                operators.append("neg")
        elif sign == ")":
            while operators and operators[-1] != "(":
                _apply(operators.pop(), numbers)
            if not operators:
                raise _UnclearError
            operators.pop()
        else:
            while operators and _BINDING.get(operators[-1], 0) >= _BINDING[sign]:
                _apply(operators.pop(), numbers)
            operators.append(sign)
            is_operand_next = True
    if is_operand_next or "(" in operators:
        raise _UnclearError
    while operators:
        _apply(operators.pop(), numbers)
    return numbers[0]


def _tokens(text: str):
    text = _CAST.sub("", text).strip()
    if len(text) > _MOST_CHARACTERS:
        raise _UnclearError
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _UnclearError
        yield found[1], found[2], found[3]
        at = found.end()


def _literal(text: str) -> int:
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise _UnclearError
    digits = found[1]
    value = int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10)
    if value >= _LARGEST:
        raise _UnclearError
    return value


def _apply(sign: str, numbers: list[int]) -> None:
    if sign == "neg":
        numbers.append(-numbers.pop())
        return
    b, a = numbers.pop(), numbers.pop()
    match sign:
        case "+":
            result = a + b
        case "-":
            result = a - b
        case "*":
            result = a * b
        case "<<" if 0 <= b < 32:
            result = a << b
        case "/" | "%" if b != 0:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            result = quotient if sign == "/" else a - quotient * b
        case _:
            raise _UnclearError
    if abs(result) >= _LARGEST:
        raise _UnclearError
    numbers.append(result)
