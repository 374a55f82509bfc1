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
_MOST_TOKENS = 40_000

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
        **_statements(bare),
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


# Longest first. A string, a character and a number are one token each.
_TOKEN = re.compile(
    r"""[A-Za-z_]\w{0,200}
      | (?:0[xX][0-9a-fA-F]{1,20}|\d{1,30}(?:\.\d{0,30})?(?:[eE][-+]?\d{1,5})?|\.\d{1,30})[fFuUlLhH]{0,4}
      | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n]){1,16}'
      | <<<|>>>|<<=|>>=|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<
      | [^\s\w]""",
    re.VERBOSE,
)
_CONTROL = frozenset({"for", "while", "if", "switch"})
_AFTER_PARAMETERS = frozenset({"const", "noexcept", "override"})  # of a method
_TYPES = frozenset({"struct", "class", "union", "enum", "namespace", "extern"})


def _statements(bare: str) -> dict:
    """The text as tokens, and the statements that they make.

    A statement is [kind, parent, first token, end of its tokens]. Kinds: "function" and "lambda"
    (their head), "macro" (likewise, where it stands in a function), "for", "while", "if" and "switch"
    (what stands in the parentheses), "else", "do", "block", "type" and "simple" (up to its semicolon). Lines of the preprocessor are left out.
    """
    tokens: list[str] = []
    lines: list[int] = []
    continued = False
    for number, row in enumerate(bare.split("\n"), 1):
        is_directive = continued or row.lstrip()[:1] == "#"
        continued = is_directive and row.rstrip().endswith("\\")
        if is_directive:
            continue
        for found in _TOKEN.finditer(row):
            tokens.append(found[0][:_WORD])
            lines.append(number)
        if len(tokens) > _MOST_TOKENS:
            return {"tokens": [], "lines": [], "statements": []}
    return {"tokens": tokens, "lines": lines, "statements": _Splitter(tokens).run()}


class _Splitter:
    """Goes over the tokens once. What is open waits on a stack: no recursion."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.found: list[list] = []
        self.open: list[tuple[int, bool]] = []  # statement, whether a brace opened it
        self.at = 0

    def run(self) -> list[list]:
        while self.at < len(self.tokens):
            self._next()
        return self.found

    def _add(self, kind: str, first: int, end: int) -> int:
        self.found.append([kind, self.open[-1][0] if self.open else -1, first, end])
        return len(self.found) - 1

    def _next(self) -> None:
        word = self.tokens[self.at]
        if word == "}":
            while self.open and not self.open[-1][1]:
                self.open.pop()
            if self.open:
                self.open.pop()
            self.at += 1
            if self.at < len(self.tokens) and self.tokens[self.at] in (";", ")", ","):
                self._simple()  # what follows a lambda or a type
            else:
                self._ended()
        elif word in _CONTROL:
            first = self.at + 1
            if first < len(self.tokens) and self.tokens[first] == "constexpr":
                first += 1
            end = self._closing(first)
            self._begin(self._add(word, first + 1, end), end + 1)
        elif word in ("else", "do"):
            self._begin(self._add(word, self.at, self.at + 1), self.at + 1)
        elif word == "{":
            self._begin(self._add("block", self.at, self.at), self.at)
        elif word == "try" and self._is_before(self.at + 1, "{"):
            self._begin(self._add("block", self.at, self.at), self.at + 1)
        elif word == "catch" and self._is_before(self.at + 1, "("):
            end = self._closing(self.at + 1) + 1
            self._begin(self._add("block", self.at, self.at), end)
        else:
            self._simple()

    def _is_before(self, at: int, word: str) -> bool:
        return at < len(self.tokens) and self.tokens[at] == word

    def _begin(self, statement: int, at: int) -> None:
        """The body of `statement` begins at `at`: in a brace, or it is one statement."""
        braced = at < len(self.tokens) and self.tokens[at] == "{"
        self.open.append((statement, braced))
        self.at = at + braced

    def _is_in_function(self) -> bool:
        kinds = [self.found[number][0] for number, _ in self.open]
        return "function" in kinds and "type" not in kinds[kinds.index("function") :]

    def _ended(self) -> None:
        """A statement has ended: so have those whose body it was, unless an else follows."""
        while self.open and not self.open[-1][1]:
            kind = self.found[self.open[-1][0]][0]
            self.open.pop()
            if kind == "if" and self.at < len(self.tokens) and self.tokens[self.at] == "else":
                return

    def _closing(self, at: int) -> int:
        """The place of the parenthesis that closes the one at `at`."""
        depth, listed = 0, 0  # braces of for (float* one : {a, b}), which hold no statements
        for place in range(at, len(self.tokens)):
            word = self.tokens[place]
            depth += (word == "(") - (word == ")")
            if word == "{" and (listed or self.tokens[place - 1] == ":"):
                listed += 1
            elif word == "}" and listed:
                listed -= 1
            elif depth <= 0 or word in ("{", "}"):
                return place
        return len(self.tokens)

    def _simple(self) -> None:
        """Up to a semicolon, or to the brace of a function, a lambda or a type."""
        first, depth = self.at, 0
        at = first
        while at < len(self.tokens):
            word = self.tokens[at]
            before = self.tokens[at - 1] if at > first else ""
            if word == "{" and depth == 0:
                head = self.tokens[first:at]
                begins = _without_template(head)
                if any(item in _TYPES for item in begins[:4]) and "(" not in head:
                    self._begin(self._add("type", first, at), at)
                    return
                ends = before == ")" or (before in _AFTER_PARAMETERS and head[-2:-1] == [")"])
                ends = ends or (before == "}" and _gives_fields(head))
                if ends and not _gives(begins) and "return" not in head:
                    # There are no functions in functions: REPEAT(i, n) { ... } is a macro's loop.
                    kind = "macro" if self._is_in_function() else "function"
                    self._begin(self._add(kind, first, at), at)
                    return
                if before in (")", "mutable") or before == "]":
                    if "[" in head and head[-1] != "]" or _ends_in_captures(head):
                        self._begin(self._add("lambda", first, at), at)
                        return
                depth += 1
            elif (
                word == "{"
                and before in ("]", ")", "mutable")
                and _is_lambda_given(self.tokens[first:at])
            ):
                self._begin(self._add("lambda", first, at), at)
                return
            elif word == "{" or word in "([":
                depth += 1
            elif word == "}" and depth == 0:
                break
            elif word == "}" or word in ")]":
                depth = max(0, depth - 1)
            elif word == ";" and depth == 0:
                at += 1
                break
            at += 1
        self._add("simple", first, at)
        self.at = max(at, first + 1)
        self._ended()


def _gives_fields(head: list[str]) -> bool:
    """A constructor's head: Plan(int r) : rows{r}"""
    return any(head[at : at + 2] == [")", ":"] for at in range(len(head) - 1))


def _ends_in_captures(head: list[str]) -> bool:
    """auto dot = [&]: a lambda without parameters, no array."""
    if head[-1:] != ["]"] or "[" not in head:
        return False
    at = len(head) - 1 - head[::-1].index("[")
    return at > 0 and head[at - 1] in ("=", "(", ",", "return")


def _without_template(head: list[str]) -> list[str]:
    """What follows template <int SIDE = 16>, whose values are none of what it is for."""
    if head[:2] != ["template", "<"]:
        return head
    depth = 0
    for at, word in enumerate(head):
        depth += (word == "<") - (word == ">")
        if depth == 0 and at > 0:
            return _without_template(head[at + 1 :])
    return head


def _gives(head: list[str]) -> bool:
    """Whether a head gives something a value: int v[] = f(...), not a parameter's own value."""
    depth = 0
    for at, word in enumerate(head):
        depth += (word in ("(", "[")) - (word in (")", "]"))
        if word == "=" and depth == 0 and head[at - 1 : at] != ["operator"]:
            return True
    return False


def _is_lambda_given(head: list[str]) -> bool:
    """Whether a brace within parentheses opens a lambda: each([&] {, each([&](int i) {"""
    at = len(head) - 1
    if head[-1:] == ["mutable"]:
        at -= 1
    if at >= 0 and head[at] == ")":
        depth = 0
        while at >= 0:
            depth += (head[at] == ")") - (head[at] == "(")
            at -= 1
            if depth == 0:
                break
    if at < 0 or head[at] != "]" or "[" not in head[:at]:
        return False
    opened = at - 1 - head[:at][::-1].index("[")
    return opened > 0 and head[opened - 1] in ("(", ",")


def main() -> int:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    text = sys.stdin.buffer.read().decode("utf-8", errors="surrogatepass")
    json.dump(facts(text), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
