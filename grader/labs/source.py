"""Reading CUDA source as far as a report needs it: TODO regions, declarations of shared arrays.

Not a C++ parser. Whatever it cannot be sure of it leaves out, and the report falls back on bytes.
The text is a student's: source_reader.py goes over it, in a process of its own with limits, and only
the plain facts that it found come here.
"""

from __future__ import annotations

import functools
import json
import math
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.labs.arithmetic import integer
from grader.labs.source_reader import SECONDS

__all__ = [
    "ArrayShape", "TodoRegion", "integer", "is_untouched", "launch_line", "shared_array",
    "todo_regions", "without_comments",
]  # fmt: skip

_READER = Path(__file__).with_name("source_reader.py")
_START_SECONDS = 30  # of a busy machine, beside the reader's own


@dataclass(frozen=True)
class Facts:
    """What the reader found in a text; nothing where it was stopped."""

    bare: str = ""  # the text without comments
    regions: list[list] = field(default_factory=list)  # number, line, task, is empty
    launches: list[list] = field(default_factory=list)  # line, name
    arrays: list[list] = field(default_factory=list)  # name, what stands before it, sizes
    constants: dict[str, str] = field(default_factory=dict)  # by name, as text
    templates: dict[str, list[str]] = field(default_factory=dict)  # parameters by function
    uses: dict[str, list[str]] = field(default_factory=dict)  # arguments by function
    tokens: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of the tokens
    statements: list[list] = field(default_factory=list)  # see source_reader._statements


@functools.lru_cache(maxsize=8)
def facts(text: str) -> Facts:
    """Of a text, by a child that cannot take longer than its limits."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", _READER],
            input=text.encode("utf-8", errors="surrogatepass"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS + _START_SECONDS,
            check=True,
        )
        return Facts(**json.loads(done.stdout))
    except (OSError, ValueError, subprocess.SubprocessError):
        return Facts()


def without_comments(text: str) -> str:
    """The text with comments blanked; line numbers and columns stay."""
    return facts(text).bare


@dataclass(frozen=True)
class TodoRegion:
    """One `// TODO(n): ...` .. `// END TODO(n)` region."""

    number: int
    line: int  # of the TODO comment, 1-based
    task: str  # what the comment asks for
    is_empty: bool  # holds nothing but comments and blank lines


def todo_regions(text: str) -> list[TodoRegion]:
    """The regions of a skeleton in order; none if the markers were removed."""
    return [TodoRegion(*region) for region in facts(text).regions]


def is_untouched(regions: list[TodoRegion]) -> bool:
    """Nothing was written yet: there are regions, and none holds code."""
    return bool(regions) and all(region.is_empty for region in regions)


def _base(kernel: str) -> str:
    """ "tiled" of "void tiled<16>(float*)"."""
    return kernel.split("<")[0].split("(")[0].strip().split(" ")[-1]


def launch_line(text: str, kernel: str) -> int:
    """The line that launches a kernel with <<<...>>>; 0 if there is none or more than one.

    Where no launch has its name, the only one of the file, if that is of a variable: kernel<<<...>>>.
    """
    name = _base(kernel)
    launches = facts(text).launches
    found = [line for line, launched in launches if launched == name]
    if not found and name and len(launches) == 1 and not _is_kernel(text, launches[0][1]):
        found = [launches[0][0]]
    return found[0] if len(found) == 1 else 0


def _is_kernel(text: str, name: str) -> bool:
    known = facts(text)
    heads = [
        known.tokens[first:end] for kind, _, first, end in known.statements if kind == "function"
    ]
    return any("__global__" in words and name in words for words in heads)


ELEMENT_BYTES = {
    "char": 1, "unsigned char": 1, "signed char": 1, "byte": 1, "std::byte": 1,
    "bool": 1, "int8_t": 1, "uint8_t": 1, "half": 2, "__half": 2, "short": 2,
    "bf16": 2, "__nv_bfloat16": 2, "nv_bfloat16": 2, "unsigned short": 2, "uint16_t": 2,
    "int16_t": 2, "__nv_bfloat162": 4, "__half2": 4, "half2": 4, "uint2": 8, "uint4": 16,
    "float": 4, "int": 4, "unsigned": 4, "unsigned int": 4, "uint32_t": 4, "int32_t": 4,
    "unsigned long long": 8, "int64_t": 8, "double": 8, "float2": 8, "int2": 8, "long long": 8, "long": 8, "unsigned long": 8, "size_t": 8, "uint64_t": 8,
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

    def indices(self, offset_bytes: int) -> tuple[int, ...]:
        """Those of the element at an offset.

        Past the end the first index grows beyond its dimension; before the start it is negative.
        """
        index = offset_bytes // self.element_bytes
        indices = []
        for dimension in reversed(self.dimensions[1:]):
            index, rest = divmod(index, dimension)
            indices.append(rest)
        return (index, *reversed(indices))

    def element(self, offset_bytes: int) -> str:
        """The element at an offset as the student would write it: "Nds[16][1]"."""
        within = offset_bytes % self.element_bytes
        text = self.name + "".join(f"[{i}]" for i in self.indices(offset_bytes))
        return f"{text} (+{within} bytes)" if within and self.element_bytes <= 4 else text

    @property
    def last(self) -> str:
        return self.name + "".join(f"[{dimension - 1}]" for dimension in self.dimensions)


def shared_array(text: str, name: str, size_bytes: int, kernel: str = "") -> ArrayShape | None:
    """The declaration of a `__shared__` array, if its dimensions can be worked out.

    The result is verified: it has `size_bytes`; or all dimensions but one are clear, or but two that
    are written alike, and these follow from `size_bytes`. `kernel` ("tiled<16>") helps with templates.
    """
    found = facts(text)
    shapes = []
    for array, before, sizes in found.arrays:
        element = _element_type(before) if array == name else None
        if element is not None:
            here = _shapes(found, name, element, sizes, size_bytes, kernel)
            shapes.extend((shape, sizes) for shape in here)
    exact = [shape for shape, _ in shapes if shape.size_bytes == size_bytes]
    if exact:
        return exact[0]
    if (
        not found.templates
    ):  # what has other, known sizes is another kernel's array of the same name
        shapes = [(shape, sizes) for shape, sizes in shapes if 0 in shape.dimensions]
    completed = {_completed(shape, sizes, size_bytes) for shape, sizes in shapes}
    return completed.pop() if len(completed) == 1 else None


def _completed(shape: ArrayShape, sizes: Sequence[str], size_bytes: int) -> ArrayShape | None:
    """With its unclear dimensions (0) as the size demands them; None if that is impossible."""
    unclear = {
        size.strip() for size, value in zip(sizes, shape.dimensions, strict=True) if not value
    }
    if len(unclear) != 1:
        return None
    known = shape.element_bytes
    for dimension in shape.dimensions:
        known *= dimension or 1
    together, rest = divmod(size_bytes, known)
    side = together if shape.dimensions.count(0) == 1 else math.isqrt(together)
    if rest or side ** shape.dimensions.count(0) != together:
        return None
    dimensions = tuple(dimension or side for dimension in shape.dimensions)
    return ArrayShape(shape.name, dimensions, shape.element_bytes)


_NOT_OF_THE_TYPE = re.compile(
    r"\b(?:const|volatile|static|__align__\s{0,9}\([^()]*\)|alignas\s{0,9}\([^()]*\))"
)


def _element_type(declaration: str) -> int | None:
    first = declaration.split("[")[0].split(",")[0]
    words = _NOT_OF_THE_TYPE.sub(" ", first).replace("std::", "").split()
    # "float a" of "float a[T], b[T]": the type is what stands before the first name.
    return ELEMENT_BYTES.get(" ".join(words), ELEMENT_BYTES.get(" ".join(words[:-1])))


def _shapes(
    found: Facts, name: str, element: int, sizes: list[str], size_bytes: int, kernel: str
) -> list[ArrayShape]:
    if sizes and not sizes[0].strip():  # extern __shared__ float tiles[];
        return [ArrayShape(name, (size_bytes // element,), element)]
    shapes = []
    for arguments in _template_arguments(found, kernel):
        constants = {**found.constants, **arguments}
        values = [integer(size, constants) for size in sizes]
        if all(value is None or value > 0 for value in values):
            # 0: it cannot be worked out.
            shapes.append(ArrayShape(name, tuple(value or 0 for value in values), element))
    return shapes


def template_arguments(text: str, kernel: str) -> dict[str, int]:
    """What the parameters of a kernel template stand for, as far as they are numbers."""
    found = facts(text)
    first = _template_arguments(found, kernel)[0]
    numbers = {name: integer(given, found.constants) for name, given in first.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def _template_arguments(found: Facts, kernel: str) -> list[dict[str, str]]:
    """Guesses at what the kernel's template parameters stand for: from its name, then its uses."""
    base = _base(kernel)
    parameters = found.templates.get(base, [])
    uses = found.uses.get(base, [])
    if "<" in kernel:
        uses = [kernel.partition("<")[2].rpartition(">")[0], *uses]
    guesses = []
    for use in uses if parameters else ():
        arguments = [argument.strip() for argument in use.split(",")]
        guesses.append(dict(zip(parameters, arguments, strict=False)))
    return [*guesses, {}]
