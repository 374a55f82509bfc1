"""A number taken apart into more than two digits: q / 8, q / 2 % 4, q % 2.

Quotient and remainder have the same divisor where there are two of them. With digits between, each
begins where the one before ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.judging.kernel_text import Kernel
from grader.judging.wording import value
from grader.labs.statements import Statement

_STEPS = ("/", "%", ">>", "&")
Digit = tuple[int, int]  # where it begins, and where the next one does; 0: it is the highest


def fit(kernel: Kernel, of: str, *parts: tuple[str, int]) -> bool:
    """Whether a kernel takes digits of a number that fill what two of its parts leave between them.

    `parts`: (sign, divisor) of each.
    """
    quotients = [number for sign, number in parts if sign == "/"]
    remainders = [number for sign, number in parts if sign == "%"]
    if len(quotients) != 1 or len(remainders) != 1:
        return False
    known = {digit for item in kernel.body for digit in _digits(kernel, item, of)}
    reached, end = {remainders[0]}, quotients[0]
    for _ in known:
        reached |= {upper for lower, upper in known if lower in reached and upper}
    return end in reached


def _digits(kernel: Kernel, item: Statement, of: str) -> Iterator[Digit]:
    words: list[str] = []
    for word in item.words:
        if word == ">" and words[-1:] == [">"]:
            words[-1] = ">>"
        elif word not in ("(", ")"):
            words.append(word)
    for at, word in enumerate(words):
        if word != of:
            continue
        lower, upper, place = 1, 0, at + 1
        while place + 1 < len(words) and words[place] in _STEPS:
            number = value((words[place + 1],), kernel.known)
            if number is None or number < 0 or number > 1 << 20:
                break
            sign = words[place]
            if sign == ">>":
                sign, number = "/", 1 << min(number, 31)
            elif sign == "&":
                sign, number = "%", number + 1
            if sign == "/":
                lower *= number
            else:
                upper = lower * number
            place += 2
        if place > at + 1:
            yield lower, upper
