"""A file of CUDA C++ as tokens, its macros written out; each knows the line that it was written in."""

from __future__ import annotations

import operator
import re
from collections.abc import Set
from dataclasses import dataclass

from grader.labs.source_reader import without_comments


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
    r'|\d[\d\x27]*[uUlL]*|\w+|"(?:[^"\\\n]|\\.)*"|<<<|>>>|<<=|>>=|->|::|[-+*/%=!<>&|^]=|\+\+|--|&&|\|\||<<|>>'
    r"|[-+*/%=!<>&|^~?:;,.(){}\[\]#]|(\S)"
)
_MAX_CHARACTERS = 200_000
_MAX_TOKENS = 20_000
_MAX_DEPTH = 12

_CONDITIONS = frozenset(("if", "ifdef", "ifndef", "else", "elif", "endif"))

# A macro's parameters, if it has any, and its body.
Macros = dict[str, tuple[list[str] | None, list[Token]]]


def tokens_of(text: str) -> list[Token]:
    """The file's tokens after its macros. Raises GivenUp."""
    if len(text) > _MAX_CHARACTERS:
        raise GivenUp("length")
    lines = without_comments(text).split("\n")
    macros: Macros = {}
    plain: list[Token] = []
    key = 0
    at = 0
    conditions = _Conditions()
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
            if head[1] in _CONDITIONS:
                conditions.meet(head[1], head[2], line, macros)
                continue
            if not conditions.holds:
                continue
            if head[1] == "undef":
                macros.pop(head[2], None)
                continue
            if head[1] != "define":
                raise GivenUp(head[1])
            line = head[5]
        elif not conditions.holds:
            continue
        for word in _TOKEN.finditer(line):
            if word[1]:
                raise GivenUp(word[1])
            key += 1
            if key > _MAX_TOKENS:
                raise GivenUp("length")
            found.append(Token(word[0], number, key))
        if directive:
            parameters = None
            if head[3] is not None:
                parameters = [name.strip() for name in head[4].split(",")]
            macros[head[2]] = (parameters, found)
        else:
            plain += found
    return _Expansion(macros).of(plain, frozenset())


class _Conditions:
    """#ifdef and its like; of #if only what asks for a number or a name."""

    def __init__(self) -> None:
        self.open: list[bool] = []

    @property
    def holds(self) -> bool:
        return all(self.open)

    def meet(self, word: str, name: str, line: str, macros: Macros) -> None:
        if word in ("ifdef", "ifndef"):
            self.open.append((name in macros) == (word == "ifdef"))
        elif word == "if":
            self.open.append(_holds(line.split("if", 1)[1], macros))
        elif word == "endif" and self.open:
            self.open.pop()
        elif word == "else" and self.open:
            self.open[-1] = not self.open[-1]
        else:
            raise GivenUp(word)


def _holds(condition: str, macros: Macros) -> bool:
    """#if defined(X) && WIDTH > 8: numbers and comparisons, no arithmetic."""
    words = [one[0] for one in _TOKEN.finditer(condition)]
    terms: list[list[str]] = [[]]
    signs = []
    for word in words:
        if word in ("&&", "||"):
            signs.append(word)
            terms.append([])
        else:
            terms[-1].append(word)
    if len(set(signs)) > 1:
        raise GivenUp("if")
    each = [_term_holds(term, macros) for term in terms]
    return any(each) if "||" in signs else all(each)


def _term_holds(words: list[str], macros: Macros) -> bool:
    is_denied = words[:1] == ["!"]
    words = [word for word in words[is_denied:] if word not in "()"]
    if words[:1] == ["defined"] and len(words) == 2:
        return (words[1] in macros) != is_denied
    if len(words) == 1:
        return (_value_of(words[0], macros) != 0) != is_denied
    if len(words) == 3 and words[1] in _COMPARED:
        left, right = (_value_of(word, macros) for word in words[::2])
        return _COMPARED[words[1]](left, right) != is_denied
    raise GivenUp("if")


_COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip


def _value_of(word: str, macros: Macros) -> int:
    """0 for what is no number, as the preprocessor has it."""
    if word in macros and len(macros[word][1]) == 1:
        word = macros[word][1][0].text
    return int(word.rstrip("uUlL")) if word.rstrip("uUlL").isdigit() else 0


class _Expansion:
    """Writes macros out, as long as there is room for what they stand for."""

    def __init__(self, macros: Macros) -> None:
        self.macros = macros
        self.room = 2 * _MAX_TOKENS  # tokens, those between two macros included

    def take(self, tokens: int) -> None:
        self.room -= tokens
        if self.room < 0:
            raise GivenUp("length")

    def of(self, tokens: list[Token], hidden: Set[str]) -> list[Token]:
        """`hidden`: macros that are being written out, which stand for themselves inside."""
        if len(hidden) > _MAX_DEPTH:
            raise GivenUp("macros")
        found: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            at += 1
            known = None if token.text in hidden else self.macros.get(token.text)
            if known is None:
                self.take(1)
                found.append(token)
                continue
            parameters, body = known
            if parameters is not None:
                if at >= len(tokens) or tokens[at].text != "(":
                    self.take(1)
                    found.append(token)
                    continue
                arguments, at = _arguments(tokens, at)
                values = dict(zip(parameters, arguments, strict=False))
                body = self.filled(body, values)
            elif len(body) == 1:
                body = [Token(body[0].text, token.line, token.key, token.text)]
            found += self.of(body, hidden | {token.text})
        return found

    def filled(self, body: list[Token], values: dict[str, list[Token]]) -> list[Token]:
        """A body with what its parameters stand for."""
        found: list[Token] = []
        for word in body:
            given = values.get(word.text, [word])
            self.take(len(given))
            found += given
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
