"""Disguised copies of the corpus's right submissions, for measuring what finds them.

Each way of disguise changes the text as somebody does who wants a copy to look like their own work,
and leaves what it computes as it is:

    renaming     every name that the file declares, comments, layout
    reordering   operands, neighbouring statements that do not depend on each other, functions
    dead-code    variables, conditions that are never met and functions that nobody calls
    loops        for as while, and the other way of counting
    all          all of them, one after the other
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*"
    r"|[A-Za-z_]\w*|\d[\w.']*|\.\d[\w.]*|::|->|\+\+|--|<<<|>>>|<<=|>>=|<<|>>|&&|\|\|"
    r"|[-+*/%&|^=!<>]=|\s+|.",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_TYPES = (
    "int|unsigned|float|double|bool|char|long|size_t|auto|dim3|void|int2|int4|float2|float4"
    "|cudaError_t|cudaStream_t|unsigned\\s+int|long\\s+long|uint32_t|int64_t|uint64_t|typename|class"
)
_DECLARED = re.compile(
    rf"\b(?:{_TYPES})\b[\s*&]*(?:const\b|__restrict__\b|[\s*&])*\s+[*&]*\s*([A-Za-z_]\w*)"
)
_MACRO = re.compile(r"^[ \t]*#\s*define\s+([A-Za-z_]\w*)", re.MULTILINE)
# Names that others look for, or that are members of CUDA's types.
_KEPT = {
    "solve", "x", "y", "z", "w", "main", "operator", "const", "if", "for", "while", "return",
    "unsigned", "int", "long", "float", "double", "char", "bool", "auto", "void", "__restrict__",
    "threadIdx", "blockIdx", "blockDim", "gridDim", "constexpr", "static", "inline", "volatile",
}  # fmt: skip
_WORDS = tuple(
    "acc alpha base beta block cell chunk col count cursor delta edge elem first fragment gamma grid"
    " held idx inner item kappa lane left limit local lower mark mine next node offset outer part piece"
    " place point pos quota rank reg right row run sample seg side slot span spot start step stripe sub"
    " tail temp theta tile total unit upper val width window zone".split()
)


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _bare(text: str) -> str:
    """Without comments."""
    return "".join(" " if t.startswith(("//", "/*")) else t for t in tokens(text))


def renaming(text: str, chance: random.Random) -> str:
    bare = _bare(text)
    own = {*_DECLARED.findall(bare), *_MACRO.findall(bare)} - _KEPT
    # More names of one declaration: int a = 1, b = 2;
    own |= {
        name
        for name in re.findall(r",\s*\*?([A-Za-z_]\w*)\s*(?=[=;,])", bare)
        if re.search(rf"\b{name}\s*=", bare)
    } - _KEPT
    own -= set(re.findall(r"(?:\.|->|::)\s*([A-Za-z_]\w*)", bare))  # members
    names = {}
    for name in sorted(own):
        new = f"{chance.choice(_WORDS)}{chance.choice(('', '_'))}{len(names)}"
        names[name] = new
    found, before = [], ""
    for token in tokens(bare):
        if token.lstrip().startswith("#"):
            token = re.sub(r"[A-Za-z_]\w*", lambda m: names.get(m[0], m[0]), token)
        elif token in names and before not in (".", "->", "::"):
            token = names[token]
        if token.strip():
            before = token
        found.append(token)
    lines = [line.rstrip() for line in "".join(found).splitlines()]
    step = chance.choice(("\t", "  "))
    lines = [
        step * ((len(line) - len(line.lstrip())) // 4) + line.lstrip() for line in lines if line
    ]
    return "\n".join(lines) + "\n"


_SIMPLE = re.compile(r"^(\s*)([^\n{}#()]*|[^\n{}#]*\[[^\n{}#]*)=([^\n{}=]+);\s*(?://[^\n]*)?$")
_OPERANDS = re.compile(
    r"(?<![\w.\])*/%-])([A-Za-z_][\w.]*(?:\[[^\[\]\n]*\]){0,2})\s*(\*|\+)\s*"
    r"([A-Za-z_][\w.]*(?:\[[^\[\]\n]*\]){0,2})(?![\w.(\[*/%])"
)


def reordering(text: str, chance: random.Random) -> str:
    text = _bare(text)
    found = []
    for line in text.split("\n"):
        # Not in declarations of pointers and templates, where * and < are something else.
        is_code = "=" in line and not re.search(
            r"\w\s*\*\s*(?:const\s+)?\w+\s*=|<|#|\b(?:const|void|float|char)\s*\*|[{}]", line
        )
        found.append(_OPERANDS.sub(_turned, line) if is_code else line)
    lines, index = found, 0
    while index + 1 < len(lines):
        if _independent(lines[index], lines[index + 1]) and chance.random() < 0.9:
            lines[index], lines[index + 1] = lines[index + 1], lines[index]
            index += 2
        else:
            index += 1
    return "\n".join(lines)


def _turned(found: re.Match) -> str:
    return f"{found[3]} {found[2]} {found[1]}"


def _independent(first: str, second: str) -> bool:
    """Two plain assignments of which neither writes what the other reads or writes."""
    parts = [_SIMPLE.match(line) for line in (first, second)]
    if not all(parts) or any(word in first + second for word in ("return", "++", "--", "?")):
        return False
    if any("," in re.sub(r"\([^()]*\)", "", line) for line in (first, second)):
        return False  # several names in one declaration
    left = [re.findall(r"[A-Za-z_]\w*", part[2]) for part in parts]
    right = [set(re.findall(r"[A-Za-z_]\w*", f"{part[2]} {part[3]}")) for part in parts]
    if not all(left):
        return False
    written = []
    for words, part in zip(left, parts, strict=True):
        target = re.match(r"[^\[]*", part[2])[0]
        names = re.findall(r"[A-Za-z_]\w*", target)
        written.append(names[-1] if names else words[-1])
    return written[0] not in right[1] and written[1] not in right[0] and written[0] != written[1]


def dead_code(text: str, chance: random.Random) -> str:
    """After every second opening of a function's body or statement in a kernel."""
    text = _bare(text)
    out, depth, number, in_kernel = [], 0, 0, False
    for line in text.split("\n"):
        if "__global__" in line:
            in_kernel = True
        out.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and "}" in line:
            in_kernel = False
        ends = line.rstrip().endswith(";") and line.count("(") == line.count(")")
        if in_kernel and depth >= 1 and ends and not re.search(r"\b(for|if|else|return)\b", line):
            if chance.random() < 0.4 and not _single(out):
                indent = line[: len(line) - len(line.lstrip())]
                name = f"check{number}"
                number += 1
                out += chance.choice(
                    (
                        [f"{indent}int {name} = threadIdx.x * {number + 3} + 1;",
                         f"{indent}if ({name} < 0) {{ {name} = {name} * 2 + {number}; }}"],
                        [f"{indent}float {name} = 0.0f;",
                         f"{indent}{name} = {name} * 2.0f + {number}.0f;"],
                        [f"{indent}int {name} = {number};",
                         f"{indent}while ({name} > {number}) {{ {name} -= 1; }}"],
                    )
                )  # fmt: skip
    helper = (
        "\nstatic __device__ float helperTotal(const float* values, int count) {\n"
        "    float total = 0.0f;\n    for (int i = 0; i < count; ++i) {\n"
        "        total += values[i] * 0.5f;\n    }\n    return total;\n}\n"
    )
    place = re.search(
        r"^(?:template|__global__|static|void|constexpr|namespace)", "\n".join(out), re.M
    )
    joined = "\n".join(out)
    return joined[: place.start()] + helper + "\n" + joined[place.start() :] if place else joined


def _single(lines: list[str]) -> bool:
    """Whether the last line is the body of a for or if without braces."""
    before = next((line for line in reversed(lines[:-1]) if line.strip()), "")
    return bool(re.search(r"(\)|\belse)\s*$", before))


def loops(text: str, chance: random.Random) -> str:
    """Every `for` whose body is braced or one statement, and that has no `continue`."""
    text = re.sub(r"^[ \t]*#pragma unroll[^\n]*\n", "", _bare(text), flags=re.MULTILINE)
    place = 0
    while True:
        found = re.compile(r"\bfor\s*\(").search(text, place)
        if not found:
            return text
        head_end = _closing(text, found.end() - 1)
        parts = _split(text[found.end() : head_end])
        start = head_end + 1
        while text[start : start + 1].isspace():
            start += 1
        if text[start : start + 1] == "{":
            end = _closing(text, start)
            body = text[start + 1 : end]
        else:
            end = _statement(text, start)
            body = text[start : end + 1]
        if len(parts) != 3 or "continue" in body or not parts[1].strip():
            place = found.end()
            continue
        begin, condition, step = (part.strip() for part in parts)
        step = _counted(step)
        new = f"{{ {begin};\nwhile ({condition}) {{\n{body}\n{step}; }} }}"
        text = text[: found.start()] + new + text[end + 1 :]
        place = found.start() + len(begin) + 3


def _counted(step: str) -> str:
    found = re.fullmatch(r"(?:\+\+(\w+)|(\w+)\+\+)", step)
    if found:
        name = found[1] or found[2]
        return f"{name} = {name} + 1"
    found = re.fullmatch(r"(\w+)\s*\+=\s*(.+)", step)
    return f"{found[1]} = {found[1]} + ({found[2]})" if found else step


def _closing(text: str, place: int) -> int:
    pairs = {"(": ")", "{": "}"}
    opening, closing, depth = text[place], pairs[text[place]], 0
    for index in range(place, len(text)):
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return index
    return len(text) - 1


def _split(head: str) -> list[str]:
    return head.split(";")


def _statement(text: str, start: int) -> int:
    """The end of one statement: `;`, or the end of a block that belongs to it."""
    head = re.compile(r"(?:for|if|while)\s*\(").match(text, start)
    if head:
        inner = _closing(text, head.end() - 1) + 1
        while text[inner : inner + 1].isspace():
            inner += 1
        end = _closing(text, inner) if text[inner : inner + 1] == "{" else _statement(text, inner)
        rest = re.compile(r"\s*else\b\s*").match(text, end + 1)
        if not rest:
            return end
        inner = rest.end()
        return _closing(text, inner) if text[inner : inner + 1] == "{" else _statement(text, inner)
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in "({[") - (text[index] in ")}]")
        if text[index] == ";" and depth == 0:
            return index
    return len(text) - 1


def everything(text: str, chance: random.Random) -> str:
    for way in (loops, reordering, dead_code, renaming):
        text = way(text, chance)
    return text


WAYS: dict[str, Callable[[str, random.Random], str]] = {
    "renaming": renaming,
    "reordering": reordering,
    "dead-code": dead_code,
    "loops": loops,
    "all": everything,
}
