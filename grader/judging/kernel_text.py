"""A kernel's text as the rules about causes read it: what its names stand for, its arrays, its axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.judging.wording import bare, value
from grader.labs.statements import (
    Listing,
    Statement,
    closing,
    declared,
    find,
    is_declaration,
    split,
)

_AXES = ("x", "y", "z")


@dataclass
class Kernel:
    """A kernel's text, and what is known of one launch of it."""

    text: Listing
    function: Statement
    parameters: list[str]
    sizes: Mapping[str, str] = field(default_factory=dict)  # of its integers, in one case
    shapes: Mapping[str, tuple[int, int]] = field(
        default_factory=dict
    )  # its matrices: rows, columns
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    roles: Mapping[str, str] = field(default_factory=dict)  # "M" -> its name in the kernel

    def __post_init__(self) -> None:
        self.body = self.text.inside(self.function)

    @property
    def known(self) -> dict[str, str]:
        table = {**self.text.constants, **self.sizes}
        for axis, block, grid in zip(_AXES, self.block, self.grid, strict=True):
            table[f"blockDim.{axis}"] = str(block)
            table[f"gridDim.{axis}"] = str(grid)
        return table

    def at(self, line: int, *words: str) -> Statement | None:
        """The statement of a line that has these words."""
        found = [s for s in self.text.at(line) if s.kind == "simple" and s.has(*words)]
        return found[0] if len(found) == 1 else None

    def accesses(self, matrix: str) -> list[Statement]:
        return [
            s
            for s in self.body
            if s.kind == "simple" and s.has(matrix, "[") and self.names(s.words, matrix)
        ]

    def names(self, words: Sequence[str], name: str) -> bool:
        """Whether a parameter is meant, and not another object's field of that name."""
        return name not in self.parameters or any(
            word == name and words[at - 1 : at] not in ((".",), ("->",))
            for at, word in enumerate(words)
        )

    def expanded(self, words: Sequence[str], near: Statement) -> tuple[str, ...]:
        """With names that are nothing but threadIdx.x and its like written out."""
        found: list[str] = []
        for at, word in enumerate(words):
            known = None
            if word.isidentifier() and not (at and words[at - 1] in (".", "->")):
                known = self.text.declaration(word, near)
            if known is not None and len(known[1]) == 3 and known[1][1] == ".":
                found += known[1]
            else:
                found.append(word)
        return tuple(found)


TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def counted(loop: Statement) -> str:
    """The variable that a for loop counts; "" if that is not clear."""
    return next(iter(head_names(loop)), "")


def head_names(loop: Statement) -> list[str]:
    head = loop.parts[0] if loop.kind == "for" else ()
    return [head[head.index("=") - 1]] if "=" in head[1:] else []


def same(left: Sequence[str], part: Sequence[str]) -> bool:
    return sorted(bare(left)) == sorted(bare(part)) and bool(part)


def declarations(kernel: Kernel) -> list[tuple[str, int, tuple[str, ...], Statement]]:
    """(name, line, value, statement) of each variable with a value, in order."""
    found = []
    for item in kernel.body:
        if item.kind != "simple" or not is_declaration(item.words):
            continue
        for part in split(item.words[:-1], ","):
            left = split(part, "=")
            if len(left) != 2:
                continue
            name = left[0][-1] if left[0] else ""
            known = declared(item, name) if name.isidentifier() else None
            if known is not None:
                found.append((name, known[0], known[1], item))
    return found


def axes_of(words: Sequence[str], kind: str) -> list[str]:
    return [
        words[at + 2] for at, word in enumerate(words[:-2]) if word == kind and words[at + 1] == "."
    ]


def uses_elsewhere(kernel: Kernel, kind: str, axis: str) -> bool:
    """Whether a helper, a constructor or a macro may use threadIdx.y, or a copy of all of threadIdx."""
    text = kernel.text
    for item in text.statements:
        owner = item if item.kind == "function" else text.function_of(item)
        if any(
            word == kind and item.words[at + 1 : at + 2] != (".",)
            for at, word in enumerate(item.words)
        ):
            return True
        if owner is not None and "__global__" in owner.words:
            continue
        if axis in axes_of(item.words, kind):
            return True
    macros = (line for line in text.bare.splitlines() if line.lstrip().startswith("#"))
    return any(kind in line for line in macros)


def stands_alone(words: Sequence[str]) -> bool:
    """Whether threadIdx.x is added as it is: not divided, masked or shifted."""
    at = find(words, ("threadIdx", "."))
    after = words[at + 3] if at + 3 < len(words) else ""
    before = words[at - 1] if at > 0 else ""
    return after not in ("/", "%", "&", ">>", "*") and before not in ("*", "/", "%")


def array_shape(kernel: Kernel, name: str) -> tuple[int, ...] | None:
    for statement in kernel.body:
        at = find(statement.words, (name, "["))
        if at > 0 and is_declaration(statement.words) and "=" not in statement.words[:at]:
            sides = []
            at += 1
            while at < len(statement.words) and statement.words[at] == "[":
                end = closing(statement.words, at)
                side = value(statement.words[at + 1 : end], kernel.known)
                if side is None:
                    return None
                sides.append(side)
                at = end + 1
            return tuple(sides)
    return None


def call_arguments_of(item: Statement) -> list[tuple[str, ...]]:
    at = find(item.words, ("(",))
    if at <= 0 or not item.words[at - 1].isidentifier():
        return []
    return call_arguments(item.words, at - 1)


def call_arguments(words: Sequence[str], name: int) -> list[tuple[str, ...]]:
    """What a function is given whose name stands at this place."""
    return split(words[name + 2 : closing(words, name + 1)], ",")


def shared_arrays(kernel: Kernel) -> list[str]:
    found = []
    for item in kernel.body:
        if "__shared__" not in item.words:
            continue
        for part in split(item.words[:-1], ","):
            at = next((i for i, w in enumerate(part) if w == "[" and part[i - 1].isidentifier()), 0)
            if at:
                found.append(part[at - 1])
    return found


def field_of(left: Sequence[str]) -> str:
    """right, of s.right[i][j]: the field that is given a value; "" if it is none."""
    at = left.index("[") if "[" in left else len(left)
    return left[at - 1] if at > 1 and left[at - 2] in (".", "->") else ""


def field_of_type(text: Listing, name: str, types: Sequence[str]) -> Statement | None:
    """The only declaration of a field, if it is of one of the types."""
    found = [
        item
        for item in text.statements
        if item.kind == "simple"
        and name in item.words
        and any(one.kind == "type" for one in text.above(item))
        and text.function_of(item) is None
    ]
    return found[0] if len(found) == 1 and any(w in types for w in found[0].words[:3]) else None
