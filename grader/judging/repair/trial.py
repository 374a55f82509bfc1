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


def try_out(
    file: File, edits: Mapping, size: Size, numbers: tuple, on_host: bool, steps: int
) -> Trial:
    """Raises GivenUp where the file cannot be interpreted, Exhausted after so many steps."""
    rng = np.random.default_rng(size.j * 7919 + size.k * 104729 + size.l)
    m = rng.integers(1, 64, size.j * size.k) / 8.0
    n = rng.integers(1, 64, size.k * size.l) / 8.0
    kind = "host" if on_host else "global"
    buffers = [Buffer(kind, len(m), name="M"), Buffer(kind, len(n), name="N")]
    buffers[0].data[:], buffers[1].data[:] = m, n
    p = Buffer(kind, size.j * size.l, name="P")
    p.stores = []
    machine = Machine(file, edits)
    world = World(machine, steps)
    try:
        with np.errstate(all="ignore"):
            outer = Frame(world, world.globals)
            for node in file.globals:
                machine.code(node)(outer, True)
            solve = file.functions.get("solve")
            if solve is None or len(solve.parameters) != 3 + len(numbers):
                raise GivenUp("solve")
            body, _ = machine.function(solve)
            given = [*(Pointer(one) for one in (*buffers, p)), *numbers]
            env = {name: v for (_, name), v in zip(solve.parameters, given, strict=True)}
            body(Frame(world, env), True)
    except Fault as fault:
        return Trial(False, steps - world.steps, str(fault) or "fault")
    except (
        IndexError,
        OverflowError,
        ZeroDivisionError,
        ValueError,
        AttributeError,
        TypeError,
    ) as error:
        return Trial(False, steps - world.steps, f"{type(error).__name__}: {error}")
    expected = m.reshape(size.j, size.k) @ n.reshape(size.k, size.l)
    is_right = bool(np.array_equal(p.data, expected.ravel()))
    is_right = is_right and all(
        np.array_equal(b.data, was) for b, was in zip(buffers, (m, n), strict=True)
    )
    return Trial(is_right, steps - world.steps)


__all__ = ["Exhausted", "GivenUp", "Size", "Trial", "try_out"]
