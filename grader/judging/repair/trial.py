"""One run of a file with edits: is P the product?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grader.judging.repair.machine import Machine
from grader.judging.repair.nodes import File
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Buffer, Fault, Pointer
from grader.judging.repair.world import Exhausted, Frame, World


@dataclass(frozen=True)
class Size:
    """A case: M is j x k, N is k x l."""

    j: int
    k: int
    l: int  # noqa: E741


@dataclass(frozen=True)
class Trial:
    is_right: bool
    steps: int
    why: str = ""  # of a fault
    lanes: int = 0
    words: int = 0
    turns: int = 0


# What a wrong program does to an interpreter that looks for no such thing.
ERRORS = (
    Fault,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    ValueError,
    AttributeError,
    TypeError,
    KeyError,
)


class Run:
    """The inputs, the memory and the product of one case."""

    def __init__(self, size: Size, numbers: tuple, on_host: bool) -> None:
        rng = np.random.default_rng(size.j * 7919 + size.k * 104729 + size.l)
        self.m = rng.integers(1, 64, size.j * size.k) / 8.0
        self.n = rng.integers(1, 64, size.k * size.l) / 8.0
        self.size, self.numbers = size, numbers
        kind = "host" if on_host else "global"
        lengths = (len(self.m), len(self.n), size.j * size.l)
        self.buffers = [
            Buffer(kind, count, name=one) for one, count in zip("MNP", lengths, strict=True)
        ]
        self.buffers[0].data[:], self.buffers[1].data[:] = self.m, self.n
        self.buffers[0].is_input = self.buffers[1].is_input = True

    def carry_out(self, file: File, machine: Machine, world: World) -> None:
        with np.errstate(all="ignore"):
            outer = Frame(world, world.globals)
            for node in file.globals:
                machine.code(node)(outer, True)
            solve = file.functions.get("solve")
            if solve is None or len(solve.parameters) != 3 + len(self.numbers):
                raise GivenUp("solve")
            body, _ = machine.function(solve)
            given = [*(Pointer(one) for one in self.buffers), *self.numbers]
            env = {name: v for (_, name), v in zip(solve.parameters, given, strict=True)}
            body(Frame(world, env), True)

    def is_right(self, copy: int) -> bool:
        """P is the product, and M and N are as they were. `copy`: of a batch's memories."""
        size = self.size
        expected = self.m.reshape(size.j, size.k) @ self.n.reshape(size.k, size.l)
        wanted = (self.m, self.n, expected.ravel())
        for buffer, values in zip(self.buffers, wanted, strict=True):
            rows = buffer.data.reshape(-1, buffer.size)
            if not np.array_equal(rows[copy if buffer.copies > 1 else 0], values):
                return False
        return True


def try_out(
    file: File, edits: Mapping, size: Size, numbers: tuple, on_host: bool, steps: int
) -> Trial:
    """Raises GivenUp where the file cannot be interpreted, Exhausted after so many steps."""
    run = Run(size, numbers, on_host)
    machine = Machine(file, edits)
    world = World(machine, steps)
    try:
        run.carry_out(file, machine, world)
    except ERRORS as error:
        why = f"{type(error).__name__}: {error}"
        return Trial(False, steps - world.steps, why, world.lanes, world.words, world.turns)
    return Trial(run.is_right(0), steps - world.steps, "", world.lanes, world.words, world.turns)


__all__ = ["ERRORS", "Exhausted", "GivenUp", "Run", "Size", "Trial", "try_out"]
