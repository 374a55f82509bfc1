"""Reading CUDA source as far as a report needs it: TODO regions, declarations of shared arrays.

Not a C++ parser. Whatever it cannot be sure of it leaves out, and the report falls back on bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""",
    re.VERBOSE | re.DOTALL,
)


def without_comments(text: str) -> str:
    """The text with comments blanked; line numbers and columns stay."""

    def blank(match: re.Match[str]) -> str:
        if match[0].startswith("/"):
            return re.sub(r"[^\n]", " ", match[0])
        return match[0]

    return _COMMENT_OR_STRING.sub(blank, text)


@dataclass(frozen=True)
class TodoRegion:
    """One `// TODO(n): ...` .. `// END TODO(n)` region."""

    number: int
    line: int  # of the TODO comment, 1-based
    task: str  # what the comment asks for
    is_empty: bool  # holds nothing but comments and blank lines


def todo_regions(text: str) -> list[TodoRegion]:
    """The regions of a skeleton in order; none if the markers were removed."""
    lines = text.splitlines()
    bare = without_comments(text).splitlines()
    regions = []
    for index, line in enumerate(lines):
        start = re.match(r"\s*//\s*TODO\((\d+)\):?\s*(.*)", line)
        if start is None:
            continue
        end = next((i for i in range(index, len(lines)) if _is_end(lines[i], start[1])), None)
        if end is None:
            continue
        task = re.sub(r"\s*\(about[^)]*\)\s*$", "", start[2]).strip()
        empty = not any(row.strip() for row in bare[index:end])
        regions.append(TodoRegion(int(start[1]), index + 1, task, empty))
    return regions


def _is_end(line: str, number: str) -> bool:
    return re.match(rf"\s*//\s*END TODO\({number}\)", line) is not None


def is_untouched(regions: list[TodoRegion]) -> bool:
    """Nothing was written yet: there are regions, and none holds code."""
    return bool(regions) and all(region.is_empty for region in regions)


def launch_line(text: str, kernel: str) -> int:
    """The line that launches a kernel with <<<...>>>; 0 if there is none or more than one."""
    name = re.escape(kernel.split("<")[0].split("(")[0].split(" ")[-1])
    if not name:
        return 0
    launch = re.compile(rf"\b{name}\s*(?:<[^<>]*>)?\s*<<<")
    lines = without_comments(text).splitlines()
    found = [number for number, line in enumerate(lines, 1) if launch.search(line)]
    return found[0] if len(found) == 1 else 0


_ELEMENT_BYTES = {
    "char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "half": 2, "__half": 2, "short": 2,
    "float": 4, "int": 4, "unsigned": 4, "unsigned int": 4, "uint32_t": 4, "int32_t": 4,
    "double": 8, "float2": 8, "int2": 8, "long long": 8, "size_t": 8, "uint64_t": 8,
    "float3": 12, "float4": 16, "int4": 16, "double2": 16,
}  # fmt: skip


@dataclass(frozen=True)
class ArrayShape:
    """An array with known dimensions: Nds[16][17] of float."""

    name: str
    dimensions: tuple[int, ...]
    element_bytes: int

    @property
    def size_bytes(self) -> int:
        size = self.element_bytes
        for dimension in self.dimensions:
            size *= dimension
        return size

    def element(self, offset_bytes: int) -> str:
        """The element at an offset as the student would write it: "Nds[16][1]".

        Past the end the first index grows beyond its dimension; before the start it is negative.
        """
        index, within = divmod(offset_bytes, self.element_bytes)
        indices = []
        for dimension in reversed(self.dimensions[1:]):
            index, rest = divmod(index, dimension)
            indices.append(rest)
        indices.append(index)
        text = self.name + "".join(f"[{i}]" for i in reversed(indices))
        return f"{text} (+{within} bytes)" if within and self.element_bytes <= 4 else text

    @property
    def last(self) -> str:
        return self.name + "".join(f"[{dimension - 1}]" for dimension in self.dimensions)


def shared_array(text: str, name: str, size_bytes: int, kernel: str = "") -> ArrayShape | None:
    """The declaration of a `__shared__` array, if its dimensions can be worked out.

    The result is verified: it has `size_bytes`; or all dimensions but one are clear, and that one
    follows from `size_bytes`. `kernel` ("tiled<16>") helps with templates.
    """
    bare = without_comments(text)
    pattern = rf"__shared__\s+([^;{{}}=]*?)\b{re.escape(name)}\s*((?:\[[^\];]*\]\s*)+)"
    # Several arrays may share one declaration: __shared__ float a[T][T], b[T][T];
    shapes = []
    for match in re.finditer(pattern, bare):
        element = _element_type(match[1])
        sizes = re.findall(r"\[([^\]]*)\]", match[2])
        if element is None:
            continue
        shapes.extend(_shapes(bare, name, element, sizes, size_bytes, kernel))
    exact = [shape for shape in shapes if shape.size_bytes == size_bytes]
    if exact:
        return exact[0]
    completed = {_completed(shape, size_bytes) for shape in shapes}
    return completed.pop() if len(completed) == 1 else None


def _completed(shape: ArrayShape, size_bytes: int) -> ArrayShape | None:
    """With its one unclear dimension (0) as the size demands it; None if that is impossible."""
    if shape.dimensions.count(0) != 1:
        return None
    known = shape.element_bytes
    for dimension in shape.dimensions:
        known *= dimension or 1
    if size_bytes % known:
        return None
    dimensions = tuple(dimension or size_bytes // known for dimension in shape.dimensions)
    return ArrayShape(shape.name, dimensions, shape.element_bytes)


def _element_type(declaration: str) -> int | None:
    first = declaration.split("[")[0].split(",")[0]
    words = re.sub(
        r"\b(const|volatile|static|std::|__align__\s*\(\d+\)|alignas\s*\([^)]*\))", " ", first
    )
    words = " ".join(words.replace("std::", "").split())
    if words in _ELEMENT_BYTES:
        return _ELEMENT_BYTES[words]
    # "float a" of "float a[T], b[T]": the type is what stands before the first name.
    return _ELEMENT_BYTES.get(" ".join(words.split()[:-1]))


def _shapes(
    bare: str, name: str, element: int, sizes: list[str], size_bytes: int, kernel: str
) -> list[ArrayShape]:
    if sizes and not sizes[0].strip():  # extern __shared__ float tiles[];
        return [ArrayShape(name, (size_bytes // element,), element)]
    shapes = []
    for constants in _constants(bare, kernel):
        values = [integer(size, constants) for size in sizes]
        if all(value is None or value > 0 for value in values):
            # 0: it cannot be worked out.
            shapes.append(ArrayShape(name, tuple(value or 0 for value in values), element))
    return shapes


# constexpr int T = 16, U = T + 1;
_CONSTANTS = re.compile(
    r"\b(?:(?:static|constexpr|const|__device__|inline)\s+)+(?:\w+\s+)+?(\w+\s*=[^;{}]*);"
)
_CONSTANT = re.compile(r"(\w+)\s*=((?:[^,()]|\([^()]*\))*)")


def _constants(bare: str, kernel: str) -> list[dict[str, str]]:
    """Names with constant values, as text. Several tables: one per guess at template arguments."""
    table = {
        match[1]: match[2].strip()
        for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(.+)$", bare, re.MULTILINE)
    }
    for declaration in _CONSTANTS.finditer(bare):
        for match in _CONSTANT.finditer(declaration[1]):
            table.setdefault(match[1], match[2].strip())
    for match in re.finditer(r"\benum\b[^{;]*\{([^}]*)\}", bare):
        for item in match[1].split(","):
            if "=" in item:
                key, value = item.split("=", 1)
                table.setdefault(key.strip(), value.strip())
    return [table | arguments for arguments in _template_arguments(bare, kernel)]


def _template_arguments(bare: str, kernel: str) -> list[dict[str, str]]:
    """Guesses at what the kernel's template parameters stand for: from its name, then its uses."""
    base = kernel.split("<")[0].split("(")[0].strip().split(" ")[-1]
    guesses = []
    if base:
        header = re.search(
            rf"template\s*<([^>]*)>\s*(?:__\w+__(?:\([^)]*\))?\s*|static\s+)*\w[\w\s]*\b{re.escape(base)}\s*\(",
            bare,
        )
        if header:
            parameters = [part.split("=")[0].split()[-1] for part in header[1].split(",")]
            uses = re.findall(rf"{re.escape(base)}\s*<([^<>]*)>", kernel + " " + bare)
            for use in uses:
                arguments = [argument.strip() for argument in use.split(",")]
                guesses.append(dict(zip(parameters, arguments, strict=False)))
    return [*guesses, {}]


def integer(text: str, constants: dict[str, str], depth: int = 0) -> int | None:
    """The value of a constant expression such as "TILE * 2 + 1", or None if it is not clear."""
    text = re.sub(r"\((?:int|unsigned|size_t)\)", "", text).strip()
    if depth > 8 or not re.fullmatch(r"[\w\s+\-*/%()<>]+", text) or "<" in text.replace("<<", ""):
        return None

    def substitute(match: re.Match[str]) -> str:
        word = match[0]
        if re.fullmatch(r"0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*", word):
            return str(
                int(word.rstrip("uUlL"), 0) if "x" in word.lower() else int(word.rstrip("uUlL"))
            )
        value = integer(constants[word], constants, depth + 1) if word in constants else None
        if value is None:
            raise LookupError(word)
        return str(value)

    try:
        resolved = re.sub(r"\w+", substitute, text)
        return _arithmetic(resolved)
    except (LookupError, ValueError, SyntaxError, ZeroDivisionError):
        return None


def _arithmetic(text: str) -> int | None:
    """Integer arithmetic over numbers only, with C's division."""
    import ast

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int() as number):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = value(left), value(right)
                match op:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult():
                        return a * b
                    case ast.Div():
                        return a // b
                    case ast.Mod():
                        return a % b
                    case ast.LShift() if 0 <= b < 32:
                        return a << b
        raise ValueError(text)

    return value(ast.parse(text.strip(), mode="eval").body)
