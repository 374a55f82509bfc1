"""Tokens that say the same in a plainer way, so that the parser need not know them.

Namespaces, attributes, words for signs, checks while compiling.
"""

from __future__ import annotations

from dataclasses import replace

from grader.judging.repair.reading import GivenUp, Token

_SIGNS = {"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^"}
_TYPES = {"__typeof__": "decltype", "typeof": "decltype"}
_NAMESPACES = frozenset(("std", "chrono", "cooperative_groups", "cuda", "nvcuda", "wmma"))


def plainer(tokens: list[Token]) -> list[Token]:
    """Raises GivenUp where something is not closed."""
    spaces = set(_NAMESPACES)
    for at, token in enumerate(tokens[:-3]):
        if token.text == "namespace" and tokens[at + 2].text == "=":
            spaces.add(tokens[at + 1].text)
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        before = found[-1].text if found else ""
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.text in ("static_assert", "_Pragma") and following == "(":
            at = _closing(tokens, at + 1) + 1
        elif token.text == "[" and following == "[" and _is_attribute(before):
            at = _closing(tokens, at) + 1
        elif token.text in spaces and following == "::" and before not in (".", "->"):
            at += 2
        else:
            sign = _SIGNS.get(token.text) or _TYPES.get(token.text)
            found.append(replace(token, text=sign) if sign is not None else token)
            at += 1
    return found


def _is_attribute(before: str) -> bool:
    """Whether [[ begins one: nothing stands before it that could have an index."""
    return before in ("", ";", "{", "}", ">", ")", "(", ",")


def _closing(tokens: list[Token], at: int) -> int:
    depth = 0
    while at < len(tokens):
        depth += (tokens[at].text in "([{") - (tokens[at].text in ")]}")
        if not depth:
            return at
        at += 1
    raise GivenUp("brackets")
