"""A file of CUDA C++ as tokens, its macros written out; each knows the line that it was written in."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Set
from dataclasses import dataclass

from grader.labs.source_reader import without_comments


class GivenUp(Exception):
    """The file has something that is not interpreted here."""


# What cudaMalloc gives to such a pointer counts in words here, and the pointer itself in bytes.
BYTES_LATER = "a pointer to bytes that is set later"


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
    r"|\d[\d\x27]*[uUlL]*|'(?:[^'\\\n]|\\.)'"
    r'|\w+|"(?:[^"\\\n]|\\.)*"|<<<|>>>|<<=|>>=|->|::|[-+*/%=!<>&|^]=|\+\+|--|&&|\|\||<<|>>'
    r"|##|\.\.\.|[-+*/%=!<>&|^~?:;,.(){}\[\]#]|(\S)"
)
_MAX_CHARACTERS = 200_000
_MAX_TOKENS = 20_000
_MAX_DEPTH = 12
_MAX_CONDITION = 64  # words

_CONDITIONS = frozenset(("if", "ifdef", "ifndef", "else", "elif", "endif"))

_NUMBER_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w{1,80})[ \t]+([^\n]{1,200})$", re.MULTILINE
)
_WORD = re.compile(r"\w+|<<|>>|[^\s\w]")
_DEEPEST_MACRO, _LONGEST_MACRO = 4, 40
# A macro's parameters, if it has any, and its body.
Macros = dict[str, tuple[list[str] | None, list[Token]]]


def _without_suffix(text: str) -> str:
    """15 for 15u."""
    is_whole = text[0].isdigit() and text[-1] in "uUlL" and text[:2] not in ("0x", "0X")
    return text.rstrip("uUlL") if is_whole else text


def tokens_of(text: str) -> list[Token]:
    """The file's tokens after its macros. Raises GivenUp."""
    if len(text) > _MAX_CHARACTERS:
        raise GivenUp("length")
    lines = without_comments(text).split("\n")
    macros: Macros = {}
    plain: list[Token] = []
    done: list[Token] = []
    expansion = _Expansion(macros)
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
            if head[1] in ("undef", "define") and head[2] in macros:
                # Up to here the name means what it did.
                done += expansion.of(plain, frozenset())
                plain = []
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
            found.append(Token(_without_suffix(word[0]), number, key))
        if directive:
            parameters = None
            if head[3] is not None:
                parameters = [name.strip() for name in head[4].split(",")]
            macros[head[2]] = (parameters, found)
        else:
            plain += found
    return [*done, *expansion.of(plain, frozenset())]


class _Conditions:
    """#ifdef and its like; of #if only what asks for a number or a name."""

    def __init__(self) -> None:
        self.open: list[bool] = []
        self.had: list[bool] = []  # whether a part of it was taken

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
            self.had.pop()
            return
        elif word == "else" and self.open:
            self.open[-1] = not self.had[-1]
        elif word == "elif" and self.open:
            self.open[-1] = not self.had[-1] and _holds(line.split("elif", 1)[1], macros)
        else:
            raise GivenUp(word)
        if len(self.had) < len(self.open):
            self.had.append(False)
        self.had[-1] = self.had[-1] or self.open[-1]


def _holds(condition: str, macros: Macros) -> bool:
    """#if defined(X) && WIDTH * 2 > 8: numbers, names, their arithmetic and comparisons."""
    words = [one[0] for one in _TOKEN.finditer(condition)]
    value, rest = _level(words, 0, macros)
    if rest:
        raise GivenUp("if")
    return bool(value)


_SIGNS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: bool(a) or bool(b)},
    {"&&": lambda a, b: bool(a) and bool(b)},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.floordiv, "%": operator.mod},
)


def numbers_of_macros(text: str) -> dict[str, int]:
    """#define QUADS (WIDTH / 4): macros without parameters that stand for a number."""
    joined = without_comments(text).replace("\\\n", " ")
    bodies = {found[1]: _WORD.findall(found[2]) for found in _NUMBER_MACRO.finditer(joined)}
    known: dict[str, int] = {}
    for _ in range(_DEEPEST_MACRO):
        for name, words in bodies.items():
            if name in known or not words or len(words) > _LONGEST_MACRO:
                continue
            words = [str(known.get(word, word)) for word in words]
            if any(word[0].isalpha() or word[0] == "_" for word in words):
                continue
            try:
                value, rest = _level(words, 0, {})
            except (GivenUp, ArithmeticError, RecursionError):
                continue
            if not rest and 0 < value < 1 << 20:
                known[name] = value
    return known


def _level(words: list[str], level: int, macros: Macros) -> tuple[int, list[str]]:
    """A value, and the words behind it."""
    if level == len(_SIGNS):
        return _term(words, macros)
    left, words = _level(words, level + 1, macros)
    while words and words[0] in _SIGNS[level]:
        right, rest = _level(words[1:], level + 1, macros)
        if words[0] in "/%" and not right:
            raise GivenUp("if")
        left, words = int(_SIGNS[level][words[0]](left, right)), rest
    return left, words


def _term(words: list[str], macros: Macros) -> tuple[int, list[str]]:
    if not words or len(words) > _MAX_CONDITION:
        raise GivenUp("if")
    if words[0] == "!":
        value, rest = _term(words[1:], macros)
        return int(not value), rest
    if words[0] == "(":
        value, rest = _level(words[1:], 0, macros)
        if rest[:1] != [")"]:
            raise GivenUp("if")
        return value, rest[1:]
    if words[0] == "defined":
        inside = [word for word in words[1:4] if word not in "()"][:1]
        rest = words[4:] if words[1:2] == ["("] else words[2:]
        return int(bool(inside) and inside[0] in macros), rest
    if not words[0][0].isalnum() and words[0][0] != "_":
        raise GivenUp("if")
    return _value_of(words[0], macros), words[1:]


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
                if parameters[-1:] == ["..."]:
                    rest = _with_commas(arguments[len(parameters) - 1 :])
                    arguments = [*arguments[: len(parameters) - 1], rest]
                    parameters = [*parameters[:-1], "__VA_ARGS__"]
                values = dict(zip(parameters, arguments, strict=False))
                body = self.filled(body, values)
            elif len(body) == 1:
                body = [Token(body[0].text, token.line, token.key, token.text)]
            found += self.of(body, hidden | {token.text})
        return found

    def filled(self, body: list[Token], values: dict[str, list[Token]]) -> list[Token]:
        """A body with what its parameters stand for."""
        found: list[Token] = []
        is_text = is_joined = False
        for word in body:
            given = values.get(word.text, [word])
            self.take(len(given))
            if word.text == "##":
                is_joined = bool(found)
            elif word.text == "#":
                is_text = True
            elif is_text:  # #call: what it says is never asked for
                found.append(Token('""', word.line, word.key))
                is_text = False
            elif is_joined and given:
                first = found[-1]
                found[-1] = Token(first.text + given[0].text, first.line, first.key)
                found += given[1:]
                is_joined = False
            else:
                found += given
        return found


def _with_commas(arguments: list[list[Token]]) -> list[Token]:
    found: list[Token] = []
    for at, one in enumerate(arguments):
        if at:
            found.append(Token(",", one[0].line if one else 0, 0))
        found += one
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
