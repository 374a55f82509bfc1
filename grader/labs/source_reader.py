"""What stands in a student's text, as plain facts: the program that source.py runs as a child.

    python -I source_reader.py < matmul.cu            JSON on standard output

The text is whatever somebody wrote. Each rule here looks at a bounded piece of it and goes over it
once, so that the time grows with the text's length alone; what is longer than its bound is left out,
and so is whatever comes beyond a bounded number of things. It imports nothing of the grader.
"""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from itertools import accumulate, islice

SECONDS = 10  # of processor time
_MEMORY_BYTES = 2 << 30

_MOST = 2000  # of each kind of thing
_TASK = 300  # characters
_LAUNCH = 300  # before <<<
_DECLARATION = 2000  # after __shared__
_MOST_PIECES = 100_000  # between semicolons and braces
_STATEMENT = 400
_ENUM = 4000
_TEMPLATE = 400
_WORD = 200  # of a name, a value, a size

# An open comment or string goes on to the end of the file or the line: nothing is read twice.
_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*
      | /\*.*?(?:\*/|\Z)
      | \bR"(?P<mark>[^()\\\s"]{0,16})\((?:.*?)(?:\)(?P=mark)"|\Z)
      | "(?:\\.|[^"\\\n]|\\\Z)*(?:"|(?=\n)|\Z)
      | '(?:\\.|[^'\\\n]){1,16}'""",
    re.VERBOSE | re.DOTALL,
)
_TODO = re.compile(
    r"[ \t]*//[ \t]*(?P<end>END )?TODO\((?P<number>[0-9]{1,6})\):?[ \t]*(?P<task>.*)"
)
_ABOUT = re.compile(r"\s{0,9}\(about[^)]{0,99}\)\s*$")
_LAUNCHES = re.compile(r"(?<!\w)(\w{1,200})\s*(?:<[^<>]*>)?\s*$")
_ARRAY = re.compile(r"(?<!\w)([A-Za-z_]\w{0,200})\s{0,9}((?:\[[^\[\]]{0,200}\]\s{0,9}){1,8})")
_SIZE = re.compile(r"\[([^\[\]]*)\]")
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w{1,200})[ \t]+(\S.*)")
_QUALIFIERS = frozenset({"static", "constexpr", "const", "__device__", "inline"})
_CONSTANT = re.compile(r"(?<!\w)(\w{1,200})\s{0,9}=((?:[^,()]|\([^()]*\))*)")
_IS_ENUM = re.compile(r"\benum\b")
_IS_NAME = re.compile(r"[\w:]+")
_PIECES = re.compile(r"[;{}]")
_TEMPLATES = re.compile(r"(?<!\w)template\s{0,9}<([^<>;{}]{0,400})>")
_MARK = re.compile(r"__\w{1,40}__\s{0,9}(?:\([^()]{0,99}\))?")
_USES = re.compile(r"(?<!\w)(\w{1,200})\s{0,9}<([^<>]{0,200})>")


def without_comments(text: str) -> str:
    """The text with comments blanked; line numbers and columns stay."""

    def blank(match: re.Match[str]) -> str:
        if match[0].startswith("/"):
            return "\n".join(" " * len(line) for line in match[0].split("\n"))
        return match[0]

    return _COMMENT_OR_STRING.sub(blank, text)


def facts(text: str) -> dict:
    """All that source.py draws on; see Facts there."""
    bare = without_comments(text)
    rows = bare.split("\n")
    templates = _templates(bare)
    return {
        "bare": bare,
        "regions": _regions(text.split("\n"), rows),
        "launches": _launches(rows),
        "arrays": _arrays(bare),
        "constants": {**_declared(bare), **_defined(rows)},
        "templates": templates,
        "uses": _uses(bare, templates),
    }


def _regions(lines: list[str], rows: list[str]) -> list[list]:
    """[number, line, task, is_empty] of each TODO that has an end."""
    starts: list[tuple[int, int, str]] = []
    ends: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        found = _TODO.match(line) if "TODO(" in line[:_LAUNCH] else None
        if found is None:
            continue
        number = int(found["number"])
        if found["end"]:
            ends.setdefault(number, []).append(index)
        elif len(starts) < _MOST:
            starts.append((number, index, _ABOUT.sub("", found["task"][:_TASK]).strip()))
    code = list(accumulate((bool(row.strip()) for row in rows), initial=0))
    regions = []
    for number, index, task in starts:
        places = ends.get(number, [])
        after = bisect_right(places, index)
        if after < len(places):
            regions.append([number, index + 1, task, code[places[after]] == code[index]])
    return regions


def _launches(rows: list[str]) -> list[list]:
    """[line, name] of each <<<, once a line and name."""
    found: dict[tuple[int, str], None] = {}
    looked_at = 0
    for number, row in enumerate(rows, 1):
        at = row.find("<<<")
        while at >= 0 and looked_at < _MOST:
            looked_at += 1
            name = _LAUNCHES.search(row[max(0, at - _LAUNCH) : at].rstrip())
            if name is not None:
                found[number, name[1]] = None
            at = row.find("<<<", at + 3)
    return [list(key) for key in found]


def _arrays(bare: str) -> list[list]:
    """[name, what stands between __shared__ and it, sizes] of each __shared__ array."""
    arrays: list[list] = []
    at = bare.find("__shared__")
    while at >= 0 and len(arrays) < _MOST:
        start = at + len("__shared__")
        declaration = _PIECES.split(bare[start : start + _DECLARATION], maxsplit=1)[0]
        for found in _ARRAY.finditer(declaration):
            before = declaration[: found.start()]
            if "=" in before or len(arrays) >= _MOST:
                break
            arrays.append([found[1], before[:_WORD], _SIZE.findall(found[2])])
        at = bare.find("__shared__", start + len(declaration))
    return arrays


def _defined(rows: list[str]) -> dict[str, str]:
    table: dict[str, str] = {}
    for row in rows:
        found = _DEFINE.match(row[:_STATEMENT]) if "define" in row[:_STATEMENT] else None
        if found is not None and len(table) < _MOST:
            table[found[1]] = found[2].strip()[:_WORD]
    return table


def _declared(bare: str) -> dict[str, str]:
    """constexpr int T = 16, U = T + 1; and enum { T = 16 };"""
    constants: dict[str, str] = {}
    enumerators: dict[str, str] = {}
    start = 0
    is_enum = False
    for found in islice(_PIECES.finditer(bare), _MOST_PIECES):
        piece = bare[start : found.start()]
        start = found.end()
        if is_enum and found[0] == "}":
            for item in piece[:_ENUM].split(","):
                _note(enumerators, *item.partition("=")[::2])
        elif found[0] == ";" and "=" in piece:
            _declarators(constants, piece[-_STATEMENT:])
        is_enum = found[0] == "{" and _IS_ENUM.search(piece[-_STATEMENT:]) is not None
    return {**enumerators, **constants}


def _declarators(table: dict[str, str], statement: str) -> None:
    left, equals, _ = statement.partition("=")
    words = left.split()
    first = next((i for i, word in enumerate(words) if word in _QUALIFIERS), len(words))
    rest = [word for word in words[first:] if word not in _QUALIFIERS]
    if equals and len(rest) >= 2 and all(_IS_NAME.fullmatch(word) for word in rest):
        for found in _CONSTANT.finditer(statement, left.rindex(rest[-1])):
            _note(table, found[1], found[2])


def _note(table: dict[str, str], name: str, value: str) -> None:
    if value and len(table) < _MOST:
        table.setdefault(name.strip()[:_WORD], value.strip()[:_WORD])


def _templates(bare: str) -> dict[str, list[str]]:
    """Function templates: the names of their parameters."""
    table: dict[str, list[str]] = {}
    for found in _TEMPLATES.finditer(bare):
        head = _MARK.sub(" ", bare[found.end() : found.end() + _TEMPLATE].partition("(")[0])
        if "__launch_bounds__" in head:  # its own parenthesis came first
            after = bare[found.end() : found.end() + _TEMPLATE]
            head = _MARK.sub(" ", after).partition("(")[0]
        words = head.split()
        names = [part.split("=")[0].split()[-1:] for part in found[1].split(",")]
        if words and all(names) and re.fullmatch(r"[\w\s]+", head) and len(table) < _MOST:
            table.setdefault(words[-1][:_WORD], [name[0][:_WORD] for name in names])
    return table


def _uses(bare: str, templates: dict[str, list[str]]) -> dict[str, list[str]]:
    """The arguments that function templates are used with, as text, each once."""
    table: dict[str, dict[str, None]] = {}
    for found in _USES.finditer(bare):
        if found[1] in templates:
            known = table.setdefault(found[1], {})
            if len(known) < 16:
                known[found[2]] = None
    return {name: list(known) for name, known in table.items()}


def main() -> int:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    text = sys.stdin.buffer.read().decode("utf-8", errors="surrogatepass")
    json.dump(facts(text), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
