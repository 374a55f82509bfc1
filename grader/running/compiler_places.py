"""Where a compile error comes from, and what to do, as far as the file's own lines tell.

The compiler notices a missing semicolon at the first word of the next line, a missing brace at the
next function, a brace too many at the first statement that stands outside, and a name that is
spelt otherwise only where it is used.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.running import compiler_words

UNDEFINED = re.compile(r'^identifier "(\w{1,200})" is undefined')
_OUTSIDE = re.compile(
    r'^expected a declaration|^identifier "\w+" is undefined|storage class or type specifier'
    r"|invalid specifier for structured binding|^expected a \";\""
)
_LEFT_OPEN = re.compile(r'^expected a ";"|^expected a "\}"|^at the end of the file|^linkage spec')
_HEAD = re.compile(r"^\s*(?:template\b.*|(?:[\w:<>&*]+\s+)+[\w:]+\s*\([^;]*)$")
_STARTS = re.compile(r"[A-Za-z_]|\}")
# Lines that are no statement: what goes on in the next one.
_NO_STATEMENT = re.compile(
    r"(?:\}\s*)?(?:for|if|while|switch|else|do|#|template)\b|#|(?:__\w{1,30}__|static|inline)[\w ]*$"
)
_DECLARED = r"(?:^|[(,;{]|\b(?:[A-Za-z_]\w*|>)[&*\s]+)\s*[&*]*\s*{}\s*(?:[=;,)\[({{]|$)"
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LONGEST = 4000  # characters of a line that are looked at
# What the standard library or the course has in a header of its own.
_HEADERS = {
    "CHECK": '"check.h"',
    "printf": "<cstdio>",
    "fprintf": "<cstdio>",
    "stderr": "<cstdio>",
    "assert": "<cassert>",
    "exit": "<cstdlib>",
    "malloc": "<cstdlib>",
    "copy_async": '"copy_async.h"',
    "uint8_t": "<cstdint>",
    "int64_t": "<cstdint>",
}
_TAKES = {
    "cudaMemcpy": "target, source, bytes, direction",
    "cudaMemcpyAsync": "target, source, bytes, direction, stream",
    "cudaMalloc": "&pointer, bytes",
    "cudaMemset": "pointer, value, bytes",
    "cudaFree": "pointer",
}
_POINTER = re.compile(r"argument types are: \(([\w ]+?) \*\s*[,)]")


@dataclass(frozen=True)
class Place:
    """The line to look at, and what to do there."""

    line: int
    advice: str


@dataclass(frozen=True)
class _Brace:
    line: int
    indent: int


def place(message: str, line: int, lines: Sequence[str]) -> Place:
    """`lines`: the file's, without comments."""
    lines = [_QUOTED.sub('""', one[:_LONGEST]) for one in lines]
    for rule in (_semicolon, _braces, _undefined, _calls, _brackets, _open_macro):
        found = rule(message, line, lines)
        if found is not None:
            return found
    return Place(line, compiler_words.advice(message))


def _text(lines: Sequence[str], line: int) -> str:
    return lines[line - 1] if 0 < line <= len(lines) else ""


# --- a semicolon that is missing


def _semicolon(message: str, line: int, lines: Sequence[str]) -> Place | None:
    if not message.startswith('expected a ";"') or not 1 < line <= len(lines):
        return None
    before = next((at for at in range(line - 1, 0, -1) if lines[at - 1].strip()), 0)
    text = lines[before - 1].strip() if before else ""
    here = lines[line - 1].strip()
    if _STARTS.match(here) and text and (text[-1].isalnum() or text[-1] in "_)]"):
        if not _NO_STATEMENT.match(text):
            return Place(before, "A semicolon is missing at the end of this line.")
    return None


# --- braces


def _braces(message: str, line: int, lines: Sequence[str]) -> Place | None:
    if _LEFT_OPEN.match(message) and (line == 0 or _is_head(_text(lines, line))):
        opened = _left_open(lines, line or len(lines) + 1)
        if opened:
            noticed = (
                f"the compiler noticed it only at line {line}, where the next function begins."
                if line
                else "the compiler noticed it only at the end of the file."
            )
            return Place(opened, f"The {{ of this line has no }} of its own; {noticed}")
    if _OUTSIDE.search(message) and line:
        closed = _closed_early(lines, line)
        if closed:
            return Place(
                closed,
                f"The }} of this line ends the function, so that line {line} stands outside of "
                "it: is it one too many?",
            )
    return None


def _is_head(text: str) -> bool:
    """Whether it begins a function: nothing of the kind may stand in another one."""
    return not text[:1].isspace() and bool(_HEAD.match(text))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _left_open(lines: Sequence[str], end: int) -> int:
    """The line of the brace that is open there, as the indentation of the others tells."""
    waiting: list[_Brace] = []
    for number, text in enumerate(lines[: end - 1], 1):
        for at, sign in enumerate(text):
            if sign == "{":
                waiting.append(_Brace(number, _indent(text)))
            elif sign == "}" and waiting:
                is_first = not text[:at].strip()
                if is_first and len(waiting) > 1 and _indent(text) < waiting[-1].indent:
                    return waiting[-1].line
                waiting.pop()
    return waiting[-1].line if waiting else 0


def _closed_early(lines: Sequence[str], line: int) -> int:
    """The line of the last brace before, if it ended a function that goes on."""
    depth, last, opened = 0, _Brace(0, 0), _Brace(0, 0)
    for number, text in enumerate(lines[: line - 1], 1):
        for sign in text:
            if sign == "{":
                depth += 1
                if depth == 1:
                    opened = _Brace(number, _indent(text))
            elif sign == "}":
                depth -= 1
                if depth < 0:
                    return number
                if depth == 0:
                    last = _Brace(number, _indent(text))
    text = _text(lines, line)
    is_inside = depth == 0 and _indent(text) > opened.indent and text.strip() not in ("", "{")
    return last.line if is_inside and last.line and last.indent > opened.indent else 0


# --- names


def _undefined(message: str, line: int, lines: Sequence[str]) -> Place | None:
    found = UNDEFINED.match(message)
    if found is None:
        return None
    name = found[1]
    text = _text(lines, line)
    if _is_head(text) and re.search(rf"[(,]\s*[&*]*\s*{name}\s*[,)]", text):
        return Place(line, f"Each parameter needs its type, as in int {name}.")
    advice = compiler_words.of_name(name) or _of_own_name(name, line, lines)
    if not advice and name in _HEADERS:
        advice = f"{name} is declared in a header: #include {_HEADERS[name]}."
    if not advice and not _declarations(name, lines):
        advice = f"No line declares {name}."
        if re.search(rf"\b{name}\s*\[", text):
            advice += f" A tile is declared in the kernel: __shared__ float {name}[rows][columns];"
    return Place(line, advice) if advice else None


def _of_own_name(name: str, line: int, lines: Sequence[str]) -> str:
    """What the file itself declares that is nearly this, or is this elsewhere."""
    places = [at for at in _declarations(name, lines) if at != line]
    if places:
        at = next((one for one in reversed(places) if one < line), places[0])
        text = lines[at - 1]
        if _is_head(text) and "(" in text[: text.index(name)]:
            return f"{name} is a parameter of another function, in line {at}: hand it over, too."
        if at < line:
            return (
                f"Line {at} declares {name} between other braces, and it ends with them: declare "
                "it before those braces."
            )
        if not text[:1].isspace():
            return f"{name} is declared only in line {at}: move that before its first use."
        return ""
    words = dict.fromkeys(word for text in lines for word in _WORD.findall(text))
    declared = [one for one in words if one != name and _declarations(one, lines)]
    same = [one for one in declared if one.lower() == name.lower()]
    turned = [one for one in declared if sorted(one) == sorted(name)]  # rwo for row
    near = same or turned or difflib.get_close_matches(name, declared, 1, 0.75)
    if not near or (len(name) < 3 and not same):
        return ""
    at = _declarations(near[0], lines)[0]
    letters = " Capital and small letters are different." if same else ""
    return f"Line {at} declares {near[0]}: is that meant?{letters}"


def _declarations(name: str, lines: Sequence[str]) -> list[int]:
    """Lines that seem to declare a name: a type stands before it."""
    pattern = re.compile(
        rf"\b(?:[A-Za-z_]\w*|>)(?:\s*[&*]+\s*|\s+){re.escape(name)}\s*(?:[=;,)\[({{]|$)"
        rf"|#\s*define\s+{re.escape(name)}\b"
    )
    found = []
    for number, text in enumerate(lines, 1):
        for match in pattern.finditer(text):
            if match[0].split()[0] not in ("return", "else", "case", "goto", "delete", "new"):
                found.append(number)
    return list(dict.fromkeys(found))


# --- calls


def _calls(message: str, line: int, lines: Sequence[str]) -> Place | None:
    text = _text(lines, line)
    if "cudaMalloc" in message and "matches the argument list" in message:
        given = re.search(r"cudaMalloc\s*\(\s*(&?)\s*(\w+)\s*([,)])", text)
        if given and given[3] == ")":
            return Place(line, "cudaMalloc takes two arguments: cudaMalloc(&pointer, bytes).")
        if given and not given[1]:
            return Place(
                line,
                f"cudaMalloc has to be told where to put the address: cudaMalloc(&{given[2]}, "
                "bytes).",
            )
        if given and _POINTER.search(message):
            places = _declarations(given[2], lines)
            if not places:  # float *a, b;
                places = [
                    n for n, one in enumerate(lines, 1) if re.search(rf",\s*{given[2]}\b", one)
                ]
            return Place(
                places[0] if places else line,
                f"{given[2]} is declared as a number, not as a pointer: each name needs its own "
                f"star, as in float *a, *{given[2]};",
            )
        return Place(line, "cudaMalloc takes two arguments: cudaMalloc(&pointer, bytes).")
    if message.startswith(("too few arguments", "too many arguments", "argument of type")):
        return _signature(line, lines, compiler_words.advice(message))
    if "passed" in message and message.startswith('macro "'):
        if "<<<" in text:
            return Place(
                line,
                "A launch returns nothing that could be checked: launch first, then "
                "CHECK(cudaGetLastError());",
            )
    return None


def _signature(line: int, lines: Sequence[str], advice: str) -> Place | None:
    """What the called function takes, where one of a line is known."""
    for name in re.findall(r"(\w+)\s*(?:<<<.*?>>>\s*)?\(", _text(lines, line)):
        takes = _TAKES.get(name) or next(
            (
                " ".join(found[1].split())
                for at in _declarations(name, lines)
                if at != line
                and (
                    found := re.search(
                        rf"\b{name}\s*\(([^()]*)\)", "\n".join(lines[at - 1 : at + 3])
                    )
                )
            ),
            "",
        )
        if takes:
            return Place(line, f"{name} takes ({takes}), in this order. {advice}".rstrip())
    return None


def _brackets(message: str, line: int, lines: Sequence[str]) -> Place | None:
    """A bracket that one statement opens and does not close, whatever the compiler makes of it."""
    text = _text(lines, line)
    head = re.match(r"\s*for\s*\((.*)\)\s*\{?\s*$", text)
    if head and head[1].count(";") < 2 and ":" not in head[1]:
        return Place(
            line, "Between the three parts of a for stand semicolons: for (i = 0; i < n; ++i)."
        )
    if not text.rstrip().endswith(";") or text.lstrip().startswith("for"):
        return None
    for opens, closes in ("[]", "()"):
        more = text.count(opens) - text.count(closes)
        if more:
            few, sign = ("never closed", opens) if more > 0 else ("never opened", closes)
            what = f"one {sign} of this line is {few}"
            return Place(line, f"Count the brackets: {what}.")
    return None


_OPEN_MACRO = re.compile(r'^unterminated argument list invoking macro "(\w{1,200})"')


def _open_macro(message: str, line: int, lines: Sequence[str]) -> Place | None:
    """CHECK(cudaFree(p); the compiler reads on to the end of the file before it says so."""
    found = _OPEN_MACRO.match(message)
    if not found:
        return None
    name = found[1]
    for number, text in enumerate(lines[:line], 1):
        bare = _QUOTED.sub('""', text[:_LONGEST]).partition("//")[0]
        at = bare.find(f"{name}(")
        if at < 0 or bare.lstrip().startswith("#"):
            continue
        call = bare[at:]
        if call.rstrip().endswith(";") and call.count("(") > call.count(")"):
            return Place(number, f"A ) is missing: the one that closes {name}( in this line.")
    return None
