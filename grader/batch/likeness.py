"""How alike two submissions are: by the instructions that nvcc makes of them, beside their tokens.

The compiler undoes most of what a copy is disguised with: names, layout, dead code and the kind of
a loop do not reach its instructions. So these count most: how often each one occurs, with its
constants, wherever it stands. Source counts by triples of tokens in which every name is the same.

What everybody has tells nothing. Triples of the skeleton do not count, and a feature counts the
less, the more of the lab's known solutions have it: the reference and the right submissions of the
corpus, its relatives.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

_TOKENS = 3  # of source, in a row
_OF_INSTRUCTIONS = 0.7  # of the likeness; the rest is the source's
_MOST_PTX = 8 << 20  # characters; a large kernel has half a million
_COMMON = 0.05  # what still counts of a feature that every known solution has

# Whatever has no end ends with its line or with the file: the text is gone over once.
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|[A-Za-z_]\w*|\.?\d[\w.']*"
    r"|::|->|\+\+|--|<<<|>>>|<<|>>|&&|\|\||[-+*/%&|^=!<>]=|\S",
    re.DOTALL,
)
_WORDS = frozenset(
    "if else for while do return break continue switch case default struct template typename class"
    " const constexpr static inline int float double unsigned long char bool void auto size_t sizeof"
    " true false float4 float2 int2 dim3 asm volatile threadIdx blockIdx blockDim gridDim x y z w"
    " solve".split()
)
_ENTRY = re.compile(r"\.entry\b|\.func\b")
_INSTRUCTION = re.compile(r"^\s*(?:@!?%p\d+\s+)?([a-z]\w*(?:\.\w+)*)(?:\s+([^;]*))?;")
_CONSTANT = re.compile(r"(?<![%\w$])-?\d+\b")
_PTX = re.compile(rb"\.version \d[^\0]*")

Features = Counter[Hashable]
Vector = Mapping[Hashable, float]  # of length 1, or empty


def tokens(text: str) -> list[str]:
    """Of source, without comments; a name that the student chose is V, a number N."""
    found = []
    for token in _TOKEN.findall(text):
        if token.startswith(("//", "/*")):
            continue
        if token[0].isalpha() or token[0] == "_":
            known = token in _WORDS or token.startswith(("cuda", "__"))
            found.append(token if known else "V")
        elif token[0].isdigit() or (token[0] == "." and len(token) > 1):
            found.append("N")
        else:
            found.append("S" if token[0] in "\"'" else token)
    return found


def of_source(text: str) -> Features:
    found = tokens(text)
    return Counter(tuple(found[i : i + _TOKENS]) for i in range(len(found) - _TOKENS + 1))


def of_instructions(ptx: str) -> Features:
    """The instructions of all kernels, with their first two constants; registers do not count."""
    found: Features = Counter()
    inside = False
    for line in ptx.splitlines():
        if _ENTRY.search(line):
            inside = True
        elif inside and not line.lstrip().startswith((".", "//")):
            instruction = _INSTRUCTION.match(line)
            if instruction:
                constants = _CONSTANT.findall(instruction[2] or "")
                found[instruction[1], *constants[:2]] += 1
    return found


def ptx_in(shared_object: bytes) -> str:
    """The PTX that lies uncompressed in a compiled submission, so much of it as is compared."""
    parts = [part.decode("utf-8", "replace") for part in _PTX.findall(shared_object)]
    return "\n".join(parts)[:_MOST_PTX]


@dataclass(frozen=True)
class Profile:
    """What one file is compared by."""

    source: Features
    instructions: Features  # empty where it does not compile


@dataclass(frozen=True)
class Vectors:
    """A profile, weighed."""

    source: Vector
    instructions: Vector


@dataclass(frozen=True)
class Likeness:
    """Of two files; each from 0 to 1."""

    both: float
    instructions: float | None  # None: one of them does not compile
    source: float


class Lab:
    """What is known of one lab: how common each feature is."""

    def __init__(self, skeleton: str, relatives: Sequence[Profile]) -> None:
        self._given = set(of_source(skeleton))
        self._count = len(relatives)
        self._sources = _had(relative.source for relative in relatives)
        self._instructions = _had(relative.instructions for relative in relatives)

    def vectors(self, profile: Profile) -> Vectors:
        source = {
            one: self._weight(self._sources[one]) * math.sqrt(count)
            for one, count in profile.source.items()
            if one not in self._given
        }
        instructions = {
            one: self._weight(self._instructions[one]) * math.sqrt(count)
            for one, count in profile.instructions.items()
        }
        return Vectors(_unit(source), _unit(instructions))

    def _weight(self, had: int) -> float:
        return math.log((self._count + 1) / (had + 1)) + _COMMON


def _had(profiles: Iterable[Features]) -> Counter[Hashable]:
    """How many have each feature."""
    found: Counter[Hashable] = Counter()
    for features in profiles:
        found.update(features.keys())
    return found


def _unit(vector: dict[Hashable, float]) -> Vector:
    length = math.sqrt(sum(value * value for value in vector.values()))
    return {one: value / length for one, value in vector.items()} if length else {}


def _cosine(first: Vector, second: Vector) -> float:
    if len(first) > len(second):
        first, second = second, first
    return min(1.0, sum(value * second.get(one, 0.0) for one, value in first.items()))


def likeness(first: Vectors, second: Vectors) -> Likeness:
    source = _cosine(first.source, second.source)
    if not (first.instructions and second.instructions):
        return Likeness(source, None, source)
    instructions = _cosine(first.instructions, second.instructions)
    both = _OF_INSTRUCTIONS * instructions + (1 - _OF_INSTRUCTIONS) * source
    return Likeness(both, instructions, source)
