"""A file of CUDA C++ as tokens, its macros written out; each knows the line that it was written in."""

from __future__ import annotations

import re
from dataclasses import dataclass


class GivenUp(Exception):
    """The file has something that is not interpreted here."""


@dataclass(eq=False, frozen=True)
class Token:
    """`key` is one number per place in the file: a macro's body keeps its own wherever it is used."""

    text: str
    line: int
    key: int
    macro: str = ""  # the name that it was written as

    def is_name(self) -> bool:
        return self.text[:1].isalpha() or self.text[:1] == "_"


_TOKEN = re.compile(
    r"\d+\.\d*(?:[eE][-+]?\d+)?[fF]?|\.\d+[fF]?|\d+[eE][-+]?\d+[fF]?|\d+[fF]\b|0[xX][0-9a-fA-F]+[uUlL]*"
    r'|\d+[uUlL]*|\w+|"(?:[^"\\\n]|\\.)*"|<<<|>>>|<<=|>>=|->|::|[-+*/%=!<>&|^]=|\+\+|--|&&|\|\||<<|>>'
    r"|[-+*/%=!<>&|^~?:;,.(){}\[\]#]|(\S)"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MAX_TOKENS = 20_000
_MAX_DEPTH = 12


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def tokens_of(text: str) -> list[Token]:
    """The file's tokens after its macros. Raises GivenUp."""
    lines = _without_comments(text).split("\n")
    macros: dict[str, tuple[list[str] | None, list[Token]]] = {}
    plain: list[Token] = []
    key = 0
    at = 0
    while at < len(lines):
        number, line = at + 1, lines[at]
        at += 1
        while line.endswith("\\") and at < len(lines):
            line = line[:-1] + " " + lines[at]
            at += 1
        found = []
        directive = line.lstrip().startswith("#")
        if directive:
            head = re.match(r"\s*#\s*(\w+)\s*(\w*)(\(([^)]*)\))?(.*)", line, re.DOTALL)
            if head is None or head[1] in ("include", "pragma"):
                continue
            if head[1] != "define":
                raise GivenUp(head[1])
            line = head[5]
        for word in _TOKEN.finditer(line):
            if word[1]:
                raise GivenUp(word[1])
            key += 1
            found.append(Token(word[0], number, key))
        if directive:
            parameters = None
            if head[3] is not None:
                parameters = [name.strip() for name in head[4].split(",")]
            macros[head[2]] = (parameters, found)
        else:
            plain += found
    expanded = _expanded(plain, macros, 0)
    if len(expanded) > _MAX_TOKENS:
        raise GivenUp("length")
    return expanded


def _expanded(tokens: list[Token], macros: dict, depth: int) -> list[Token]:
    if depth > _MAX_DEPTH or len(tokens) > _MAX_TOKENS:
        raise GivenUp("macros")
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        if len(found) > _MAX_TOKENS:
            raise GivenUp("length")
        token = tokens[at]
        at += 1
        known = macros.get(token.text)
        if known is None:
            found.append(token)
            continue
        parameters, body = known
        if parameters is not None:
            if at >= len(tokens) or tokens[at].text != "(":
                found.append(token)
                continue
            arguments, at = _arguments(tokens, at)
            values = dict(zip(parameters, arguments, strict=False))
            body = [t for word in body for t in values.get(word.text, [word])]
        elif len(body) == 1:
            body = [Token(body[0].text, token.line, token.key, token.text)]
        inner = {name: what for name, what in macros.items() if name != token.text}
        found += _expanded(body, inner, depth + 1)
    return found


def _arguments(tokens: list[Token], at: int) -> tuple[list[list[Token]], int]:
    depth = 0
    found: list[list[Token]] = [[]]
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.text in "([{":
            depth += 1
            if depth == 1:
                continue
        elif token.text in ")]}":
            depth -= 1
            if not depth:
                return found, at
        if token.text == "," and depth == 1:
            found.append([])
        else:
            found[-1].append(token)
    raise GivenUp("macro")
