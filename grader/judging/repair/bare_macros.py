"""Macros that lack parentheses: a parameter that is given a sum (row + 1 * width), or all of the body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from grader.labs.source_reader import without_comments

_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w{1,80})\(([^()\n]{1,200})\)[ \t]*([^\n]{1,400})$", re.MULTILINE
)
_ANY = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w{1,80})(?:\([^()\n]{1,200}\))?[ \t]+([^\n]{1,400})$",
    re.MULTILINE,
)
_OPERATORS = "*/%+-<>=!&|"
_IS_SUM = re.compile(r"[-+*/%<>?&|]")
_SHIFTS = ("<<", ">>")
_MOST, _MOST_USES, _LONGEST_USE = 4, 50, 400


@dataclass(frozen=True)
class Bare:
    line: int
    before: str
    after: str
    text: str  # the file with every parameter of the macro in parentheses


def bare_macros(text: str) -> Iterator[Bare]:
    plain = without_comments(text)
    yield from islice(_bare_bodies(plain), _MOST)
    for count, found in enumerate(_MACRO.finditer(plain)):
        if count >= _MOST:
            return
        name, body = found[1], found[3].rstrip()
        parameters = [one.strip() for one in found[2].split(",")]
        if body.endswith("\\") or "#" in body:
            continue
        given = list(_given(plain, name))
        written = body
        for at, parameter in enumerate(parameters):
            if any(at < len(one) and _IS_SUM.search(one[at]) for one in given):
                written = _in_parentheses(written, parameter)
        if written != body:
            start = found.start(3)
            yield Bare(
                plain.count("\n", 0, start) + 1, body, written,
                plain[:start] + written + plain[start + len(body):],
            )  # fmt: skip


def _bare_bodies(plain: str) -> Iterator[Bare]:
    """A / B, which t % LANES takes apart."""
    for found in _ANY.finditer(plain):
        name, body = found[1], found[2].rstrip()
        beside = rf"[%/*-]\s*{re.escape(name)}\b|\b{re.escape(name)}\b(?:\([^()\n]*\))?\s*[%/*-]"
        if body.endswith("\\") or not _is_open(body) or not re.search(beside, plain):
            continue
        start = found.start(2)
        yield Bare(
            plain.count("\n", 0, start) + 1, body, f"({body})",
            plain[:start] + f"({body})" + plain[start + len(body):],
        )  # fmt: skip


def _is_open(body: str) -> bool:
    """Whether an operator stands in no parentheses, in what is an expression."""
    depth, is_found = 0, False
    for at, character in enumerate(body):
        depth += (character in "([{") - (character in ")]}")
        if character in ";{#" or depth < 0:
            return False
        is_found |= depth == 0 and at > 0 and (character in "+-*/%" or body[at : at + 2] in _SHIFTS)
    return (
        is_found
        and body[:1] not in "*&-"
        and not re.search(r"\b(?:for|if|return|const|float|int)\b", body)
    )


def _in_parentheses(body: str, parameter: str) -> str:
    """The body, with the parameter in parentheses of its own wherever it stands beside an operator."""

    def put(one: re.Match[str]) -> str:
        before, after = body[: one.start()].rstrip()[-1:], body[one.end() :].lstrip()[:1]
        is_operand = any(side and side in _OPERATORS for side in (before, after))
        return f"({parameter})" if is_operand else parameter

    return re.sub(rf"\b{re.escape(parameter)}\b", put, body)


def _given(text: str, name: str) -> Iterator[list[str]]:
    """What each use of the macro is given."""
    uses = re.finditer(rf"\b{re.escape(name)}\(", text)
    for use in islice(uses, _MOST_USES):
        line = text[text.rfind("\n", 0, use.start()) + 1 : use.start()]
        if line.lstrip().startswith("#"):
            continue
        depth, parts, at = 1, [""], use.end()
        while at < min(len(text), use.end() + _LONGEST_USE) and depth:
            character = text[at]
            at += 1
            depth += (character in "([{") - (character in ")]}")
            if character == "," and depth == 1:
                parts.append("")
            elif depth:
                parts[-1] += character
        yield parts
