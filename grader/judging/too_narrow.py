"""Variables of a type that is too small for the numbers they have to hold."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging import spread
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, counted, declarations
from grader.judging.wording import value
from grader.labs.statements import Statement, shown

# The largest number that each holds.
_LARGEST = {
    "char": 127,
    "int8_t": 127,
    "uint8_t": 255,
    "bool": 1,
    "short": 32767,
    "int16_t": 32767,
    "uint16_t": 65535,
    "half": 2048,
    "__half": 2048,
}  # of half: up to which every whole number is one
_TWICE = {"char": 255, "short": 65535}


def too_narrow(kernel: Kernel) -> Said | None:
    """A counter or an index that is a char or a short, and has to go beyond."""
    for loop in kernel.body:
        if loop.kind != "for" or len(loop.parts) != 3 or not counted(loop):
            continue
        kind, largest = _type_of(loop.parts[0])
        condition = loop.parts[1]
        if not kind or condition[:1] != (counted(loop),) or condition[1:2] not in (("<",), ("<=",)):
            continue
        bound = value(condition[2:], kernel.known)
        if bound is not None and bound > largest:
            return _said(kind, largest, counted(loop), f"the loop counts to {bound}", loop.line)
    for name, line, words, item in declarations(kernel):
        kind, largest = _type_of(item.words)
        if not kind:
            continue
        for given, near in [(words, item), *_assigned(kernel, name)]:
            most = _largest(kernel, given, near)
            if most is not None and most > largest:
                return _said(kind, largest, name, f"{shown(given)} goes up to {most}", line)
        if kind == "bool" and (loop := _counts_to(kernel, name)) is not None:
            return Said(
                f"{name} is a bool, which is 0 or 1, whatever number it is given; the loop of line "
                f"{loop.line} counts to it.",
                line,
                f"Declare {name} as int.",
            )
    return None


def _assigned(kernel: Kernel, name: str) -> list[tuple[tuple[str, ...], Statement]]:
    """What a variable is given after its declaration."""
    return [
        (tuple(item.words[2:-1] if item.words[-1] == ";" else item.words[2:]), item)
        for item in kernel.body
        if item.kind == "simple" and item.words[:2] == (name, "=")
    ]


def _counts_to(kernel: Kernel, name: str) -> Statement | None:
    """A loop that ends at a variable."""
    for loop in kernel.body:
        if loop.kind == "for" and len(loop.parts) == 3:
            condition = loop.parts[1]
            if condition[1:2] in (("<",), ("<=",), ("!=",)) and condition[2:] == (name,):
                return loop
    return None


def _said(kind: str, largest: int, name: str, need: str, line: int) -> Said:
    return Said(
        f"{name} is a {kind}, which holds whole numbers up to {largest}; {need}.",
        line,
        f"Declare {name} as int (size_t where the number of elements may pass 2^31).",
    )


def _type_of(words: Sequence[str]) -> tuple[str, int]:
    """(its type, the largest number) of a declaration of a small type."""
    for at, word in enumerate(words[:4]):
        if word in _LARGEST and not any(w in ("*", "&", "(", "[", "=") for w in words[:at]):
            if words[at + 1 : at + 2] in (("*",), ("&",)):
                return "", 0
            is_unsigned = "unsigned" in words[:at]
            largest = _TWICE.get(word, _LARGEST[word]) if is_unsigned else _LARGEST[word]
            return f"unsigned {word}" if is_unsigned else word, largest
    return "", 0


def _largest(kernel: Kernel, words: Sequence[str], item: Statement) -> int | None:
    last = (kernel.grid[0] - 1, kernel.grid[1] - 1)
    found = spread.values_of(kernel, words, item, last)
    return int(found.max()) if found is not None and len(found) else None
