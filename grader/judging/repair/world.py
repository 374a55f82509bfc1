"""What a run of an interpreted file has and does: frames, steps, operators."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from grader.judging.repair import values
from grader.judging.repair.given import Pairs
from grader.judging.repair.lanes_meet import Meter
from grader.judging.repair.standard import List
from grader.judging.repair.values import (
    Fault,
    Place,
    Pointer,
    Struct,
    count_nonzero,
)

# What a program that asks the device is told: the numbers that all of its generation share.
DEVICE = {
    "maxThreadsPerBlock": 1024, "sharedMemPerBlock": 49152, "warpSize": 32,
    "maxThreadsPerMultiProcessor": 2048, "multiProcessorCount": 132, "regsPerBlock": 65536,
    "sharedMemPerMultiprocessor": 233472, "sharedMemPerBlockOptin": 232448, "major": 9, "minor": 0,
}  # fmt: skip


_EARLY = 2  # turns of a loop, before it is asked whether it goes on at all
_LANES_OF_A_STEP = 4096  # for so many it takes as long again as for one
MOST_SHIFTED = 40  # bits
_ENTRIES_OF_A_STEP = 1 << 14  # of a batch, in which most of what is computed has no rows


class Exhausted(Exception):
    """More steps than there are."""

    lanes = 0  # of all launches until then


@dataclass
class Effects:
    """What a watched run has shown."""

    count: int = 0  # stores to global and shared memory
    loops: set = field(default_factory=set)  # in which there was one
    filled: int = 0  # of these, to shared memory
    filling: set = field(default_factory=set)  # loops in which there was one
    outside: list = field(default_factory=list)  # masks of lanes that touched what they may not
    has_no_zero: bool = False  # tiles have numbers where nobody has written, or has put a 0
    clock: World | None = None  # whose steps tell one statement's stores from another's
    moments: list = field(default_factory=list)  # of the stores that are noted
    is_joint: bool = False  # threads add to one word, or tell each other their values
    is_of_warps: bool = False  # the threads of a warp multiply together
    products: object = 0  # that each lane has added up, of factors that are no 0

    def count_products(self, a, b, mask) -> None:
        found = np.not_equal(a, 0) & np.not_equal(b, 0)
        self.products = self.products + (found if mask is True else found & mask)


@dataclass
class Frame:
    world: World
    env: dict
    result: object = None
    broken: object = False
    continued: object = False
    fields: dict | None = None  # of the struct whose method this is


@dataclass
class World:
    """One run of a file."""

    machine: object
    steps: int  # left
    globals: dict = field(default_factory=dict)
    shared: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)  # of structs
    dynamic: int = 0  # words
    blocks: int = 1
    threads: int = 1
    block_of: object = 0
    weight: int = 1  # of a step: more lanes take longer
    batch: object = None  # of edits that are tried at once
    lanes: int = 1  # of the largest launch
    words: int = 0  # of shared memory
    turns: int = 0  # of the longest loop
    launches: int = 0  # so far
    effects: Effects | None = None  # in a run that is watched
    loud: frozenset = frozenset()  # loops that store what other threads see
    chosen: np.ndarray | None = None  # threads of the launch that are enough in all other loops
    shape: tuple = ()  # of the latest launch
    wanted: tuple = ()  # the shape for which threads are chosen
    few: np.ndarray | None = None  # their lanes
    picked: np.ndarray | None = None  # they, counted in the blocks that are carried out
    is_inside: bool = False  # a kernel
    tried: set | None = None  # launches that are known to make P wrong
    logs: list | None = None  # buffers that note who stores what where
    lenient: Effects | None = None  # accesses outside are let pass, as in a run that is watched
    turns_of: dict = field(default_factory=dict)  # of each loop, at most
    most_turns: tuple[Mapping, int] | None = None  # of each loop, and of one that is not known
    owners: object = None  # where threads may not store the same element
    races: object = None  # where no two threads may touch a word of shared memory that have not met
    skips: Mapping = field(default_factory=dict)  # of loops: turns that are left out (thin.py)
    pairs: Pairs | None = None  # what the chosen threads may multiply
    meter: Meter | None = None  # how often lanes meet in a bank

    def step(self) -> None:
        self.steps -= self.weight
        if self.steps < 0:
            raise Exhausted

    def weigh(self, lanes: int) -> None:
        """From now on so many lanes go on together, of each edit."""
        if self.batch is None:
            self.weight = 1 + lanes // _LANES_OF_A_STEP
        else:
            self.weight = 1 + lanes * self.batch.count // _ENTRIES_OF_A_STEP

    def turned(self, key: tuple[int, str], turns: int) -> None:
        if self.most_turns is not None and turns > self.most_turns[0].get(key, self.most_turns[1]):
            raise Fault("turns")

    def is_late(self, key: tuple[int, str], turns: int) -> bool:
        """Whether a loop has turned more often than it may have to."""
        if self.batch is not None:
            return turns >= self.batch.usual.get(key, turns + 1)
        return turns > _EARLY

    def multiplied(self, a, b, mask) -> None:
        """A pair that no element of P has makes a change wrong at once.

        Only of the chosen threads, in a loop that they carry out alone: others may multiply what
        nobody stores.
        """
        if a.__class__ is not np.ndarray or b.__class__ is not np.ndarray:
            return
        if a.dtype.kind != "f" or b.dtype.kind != "f":
            return
        if self.effects is not None:
            self.effects.count_products(a, b, mask)
        if self.few is not None or self.picked is None:
            return
        bad = self.pairs.wrong(a, b)
        if mask is not True:
            bad = bad & mask
        if count_nonzero(bad):
            if self.batch is None:
                raise Fault("pair")
            self.batch.drop(bad)


def _shift(sign: str) -> Callable:
    move = operator.lshift if sign == "<<" else operator.rshift

    def shifted(a, b):
        if a.__class__ is values.Text:  # std::cerr << n
            return a
        if np.any(np.less(b, 0)) or np.any(np.greater(b, MOST_SHIFTED)):
            raise Fault("shift")
        return move(a, b)

    return shifted


def _times(a, b):
    found = a * b
    if found.__class__ is int and abs(found) > 1 << 62:
        raise Fault("overflow")
    return found


def _of_table(value):
    """A table is a pointer to the first one in it."""
    return Place(value, 0) if value.__class__ is List else value


def plus(a, b):
    if a.__class__ is Pointer:
        return a.moved(b)
    if b.__class__ is Pointer:
        return b.moved(a)
    try:
        return a + b
    except TypeError:
        if a.__class__ is Struct and a.lead:  # a pointer to structs that hold arrays
            return a.moved(b)
        a = _of_table(a)
        if a.__class__ is Place:
            return Place(a.holder, a.name + b)
        raise


def _minus(a, b):
    if a.__class__ is Pointer:
        return (a.off - b.off) // a.unit if b.__class__ is Pointer else a.moved(-b)
    try:
        return a - b
    except TypeError:
        if a.__class__ is Struct and a.lead:
            return a.moved(-b)
        a, b = _of_table(a), _of_table(b)
        if a.__class__ is Place:
            return a.name - b.name if b.__class__ is Place else Place(a.holder, a.name - b)
        raise


def _of_address(do: Callable) -> Callable:
    """(size_t)p % 16: memory begins at a multiple of whatever is asked for."""

    def done(a, b):
        return do(a.off * 4 if a.__class__ is Pointer else a, b)

    return done


def _compare(sign: Callable) -> Callable:
    def compared(a, b):
        if a.__class__ is Pointer or b.__class__ is Pointer:
            a = a.off if a.__class__ is Pointer else -1
            b = b.off if b.__class__ is Pointer else -1
        try:
            return sign(a, b)
        except TypeError:
            a, b = _of_table(a), _of_table(b)
            if a.__class__ is Place and b.__class__ is Place:
                return sign(a.name, b.name)
            raise

    return compared


BINARY = {
    "+": plus, "-": _minus, "*": _times, "/": values.divided, "%": _of_address(values.remainder),
    "<": _compare(operator.lt), ">": _compare(operator.gt), "<=": _compare(operator.le),
    ">=": _compare(operator.ge), "==": _compare(operator.eq), "!=": _compare(operator.ne),
    "&": _of_address(operator.and_), "|": operator.or_, "^": operator.xor, "<<": _shift("<<"), ">>": _shift(">>"),
}  # fmt: skip
