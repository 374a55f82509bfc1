"""asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)): what students write in PTX."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from grader.judging.repair import halves
from grader.judging.repair.copy_engine import COPY_ENGINE
from grader.judging.repair.memory import copied
from grader.judging.repair.nodes import Node
from grader.judging.repair.races import meeting, unseen
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.tensor import matrices, multiplied
from grader.judging.repair.values import (
    Fault,
    Pointer,
    both,
    merged,
    remainder,
    to_float,
    to_int,
    truth,
    without,
)

_WORD = re.compile(
    r"%%?[\w.]+|\{|\}|\[|\]|@!?%?\w+|[-+]?0[fF][0-9a-fA-F]{8}|-?\d+(?:\.\d+)?|[\w.$:]+|[,+]"
)
_INDEX = {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim", "nctaid": "gridDim"}
_QUIET = (
    "membar",
    "fence",
    ".reg",
    "prefetch",
)
_TWO = {
    "add": operator.add, "sub": operator.sub, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "shl": operator.lshift, "shr": operator.rshift, "rem": remainder,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip
_COMPARED = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge, "lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge,
}  # fmt: skip


_PRODUCTS = tuple(f"mma.sync.aligned.m16n8k{depth}.row.col.f32.bf16.bf16.f32" for depth in (8, 16))


@dataclass(frozen=True)
class Address:
    """A pointer as the number of a byte."""

    to: Pointer

    def __add__(self, by):
        pointer = self.to
        size = 2 if pointer.memory.is_half else 4
        if np.any(np.mod(by, size)):
            raise GivenUp("an address between words")
        step = by // size
        return Address(Pointer(pointer.memory, pointer.off + step))

    __radd__ = __add__


def pointed(value) -> Pointer:
    if value.__class__ is Address:
        return value.to
    if value.__class__ is not Pointer:
        raise Fault("address")
    return value


@dataclass(frozen=True)
class Line:
    """One instruction: a predicate, what it is called, and its operands as words."""

    when: str
    name: str
    operands: tuple[tuple[str, ...], ...]


def lines_of(text: str) -> list[Line]:
    found = []
    text = re.sub(r"//.*?(\\n|$)", " ", text).replace("\\n", " ").replace("\\t", " ")
    for piece in text.split(";"):
        words = _WORD.findall(piece)
        while words and words[0] in "{}":
            del words[0]
        when = words.pop(0)[1:] if words and words[0][0] == "@" else ""
        while words and words[0].endswith(":"):  # a label
            del words[0]
        if not words:
            continue
        found.append(Line(when, words[0], _operands(words[1:])))
    return found


def _operands(words: list[str]) -> tuple[tuple[str, ...], ...]:
    found, open_now, depth = [], [], 0
    for word in words:
        depth += (word in "[{") - (word in "]}")
        if word == "," and not depth:
            found.append(tuple(open_now))
            open_now = []
        else:
            open_now.append(word)
    return (*found, tuple(open_now)) if open_now else tuple(found)


class InlinePtx:
    """A part of Machine."""

    def _asm(self, node: Node) -> Callable:
        count = int(node.text.split(" ", 1)[0])
        text = node.text.split(" ", 1)[1]
        values = [self.code(kid) for kid in node.kids]
        puts = [self.assigner(kid) for kid in node.kids[:count]]
        lines = [line for line in lines_of(text) if not line.name.startswith(_QUIET)]
        if "mbarrier." in text and "cp.async.bulk" not in text:
            return _met(puts)

        def run(f, m):
            f.world.step()
            known: dict[str, object] = {}
            for line in lines:
                now = m
                if line.when:
                    held = truth(_of(line.when.lstrip("!"), values, known, f, m))
                    now = without(m, held) if line.when[0] == "!" else both(m, held)
                if now is not False:
                    _carry_out(line, values, puts, known, f, now)
            return m

        return run


def _met(puts: list) -> Callable:
    """A barrier: whoever asks is told that all have come."""

    def run(f, m):
        unseen(f, "mbarrier")
        for put in puts:
            put(f, m, 1)
        return m

    return run


def _of(word: str, values: list, known: dict, f, m):
    """What an operand is worth."""
    if word in known:
        return known[word]
    if re.fullmatch(r"%\d+", word):
        at = int(word[1:])
        if at >= len(values):
            raise GivenUp("asm")
        return values[at](f, m)
    if word[:2].lower() == "0f" and len(word) == 10:
        return float(np.array([int(word[2:], 16)], np.uint32).view(np.float32)[0])
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if re.fullmatch(r"-?\d+\.\d+", word):
        return float(word)
    name, _, axis = word.lstrip("%").partition(".")
    if name in _INDEX and axis in ("x", "y", "z"):
        return f.world.globals[_INDEX[name]].fields[axis]
    if name in ("laneid", "warpid"):
        place, sides = (f.world.globals[one].fields for one in ("threadIdx", "blockDim"))
        rank = (place["z"] * sides["y"] + place["y"]) * sides["x"] + place["x"]
        return rank & 31 if name == "laneid" else rank >> 5
    raise GivenUp("asm")


def _carry_out(line: Line, values: list, puts: list, known: dict, f, m) -> None:
    name, *kinds = line.name.split(".")

    def value(at: int):
        words = line.operands[at]
        if len(words) != 1:
            raise GivenUp("asm")
        return _of(words[0], values, known, f, m)

    def put(word: str, new) -> None:
        if not re.fullmatch(r"%\d+", word):
            known[word] = merged(m, new, known.get(word))
        elif int(word[1:]) < len(puts):
            puts[int(word[1:])](f, m, new)
        else:
            raise GivenUp("asm")

    def address(at: int) -> Pointer:
        words = [word for word in line.operands[at] if word not in "[]+"]
        found = pointed(_of(words[0], values, known, f, m))
        by = int(words[1]) if len(words) > 1 else 0
        return (Address(found) + by).to if by else Pointer(found.memory, found.off)

    def registers(at: int) -> list[str]:
        return [word for word in line.operands[at] if word not in "{},"]

    is_float = any(kind in ("f32", "f64") for kind in kinds)
    first = line.operands[0][0] if line.operands else ""
    if name == "cvt" and "bf16x2" in kinds:
        put(first, halves.packed(to_float(value(2)), to_float(value(1))))
    elif name == "cvt" and "bf16" in kinds:
        put(first, halves.as_number(to_float(value(1))))
    elif name == "mov" and len(registers(1)) == 2:  # mov.b32 %0, {%1, %2};
        low, high = (_of(word, values, known, f, m) for word in registers(1))
        put(first, to_int(low) & 0xFFFF | to_int(high) << 16)
    elif name in ("mov", "cvt", "cvta"):
        put(first, value(1))
    elif name in ("fma", "mad") and (is_float or "lo" in kinds):
        a, b = value(1), value(2)
        if is_float and f.world.pairs is not None:
            f.world.multiplied(a, b, m)
        put(first, a * b + value(3))
    elif name == "mul" and (is_float or "lo" in kinds):
        put(first, value(1) * value(2))
    elif name in _TWO:
        put(first, _TWO[name](value(1), value(2)))
    elif name == "bfe":
        put(first, value(1) >> value(2) & ((1 << value(3)) - 1))
    elif name == "setp" and kinds and kinds[0] in _COMPARED:
        put(first, _COMPARED[kinds[0]](value(1), value(2)))
    elif name == "selp":
        put(first, merged(truth(value(3)), value(1), value(2)))
    elif name == "ld":
        pointer = address(1)
        for by, register in enumerate(registers(0)):
            put(register, pointer.memory.load(pointer.off + by, m))
    elif name == "st":
        pointer = address(0)
        for by, register in enumerate(registers(1)):
            pointer.memory.store(pointer.off + by, m, _of(register, values, known, f, m))
    elif name == "ldmatrix" and kinds[-1] == "b16":
        many = int(next(kind for kind in kinds if kind in ("x1", "x2", "x4"))[1:])
        words = matrices(f, address(1), m, "trans" in kinds, many)
        for register, word in zip(registers(0), words, strict=True):
            put(register, word)
    elif line.name in _PRODUCTS:
        a, b, before = (
            [_of(word, values, known, f, m) for word in registers(at)] for at in (1, 2, 3)
        )
        parts = multiplied(f, a, b)
        for register, one, part in zip(registers(0), before, parts, strict=True):
            put(register, one + part)
    elif line.name.startswith("cp.async.bulk.tensor.2d.shared"):
        words = [word for word in line.operands[1] if word.startswith("%")]
        parts = [address(0), *(_of(word, values, known, f, m) for word in words)]
        COPY_ENGINE["copy_box"]([lambda f, m, one=one: one for one in parts], [])(f, m)
    elif line.name.startswith(("cp.async.commit", "cp.async.wait", "bar.", "barrier.")):
        _wait(line, value, f, m)
    elif line.name.startswith("cp.async.c"):
        _copy(line, address, value, m)
    else:
        raise GivenUp(line.name)


def _wait(line: Line, value: Callable, f, m) -> None:
    """What orders copies and threads, which is seen only where races are looked for."""
    races, name = f.world.races, line.name
    if races is None:
        return
    if name.startswith("cp.async.commit"):
        races.commit(m)
    elif name.startswith("cp.async.wait"):
        if name.endswith("_all"):
            races.commit(m)
        races.wait(m, 0 if name.endswith("_all") else value(0))
    elif "cluster" in name or ".sync" not in name or len(line.operands) != 1 or value(0) != 0:
        unseen(f, name)
    else:
        meeting(f, m)


def _copy(line: Line, address: Callable, value: Callable, m) -> None:
    """cp.async.cg.shared.global [to], [from], 16, bytes that are not zero."""
    to, source, size = address(0), address(1), int(value(2))
    read = value(3) if len(line.operands) > 3 else size
    for by in range(size // 4):
        inside = truth(np.greater(to_int(read), 4 * by))
        yes, no = both(m, inside), without(m, inside)
        if yes is not False:
            copied(to.memory, to.off + by, yes, source.memory.load(source.off + by, yes))
        if no is not False:
            copied(to.memory, to.off + by, no, 0.0)
