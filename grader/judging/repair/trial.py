"""One run of a file with edits: is P the product?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from grader.judging.repair.machine import Machine
from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Buffer, Fault, Pointer
from grader.judging.repair.world import Effects, Exhausted, Frame, World


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


@dataclass(frozen=True)
class Watched:
    """Threads of the launch by whose results a change is judged, and loops that others see through."""

    chosen: np.ndarray
    loud: frozenset
    trial: Trial
    shape: tuple  # of the launch
    turns: dict  # most turns of each loop


_MORE_TURNS = 12
_WRONG, _RIGHT = 6, 2  # as many threads of those that store a wrong element, and of the others

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

    def note(self, world: World, watched: Watched) -> None:
        """Let few threads do what others do not see, and see what they store."""
        world.chosen, world.loud, world.wanted = watched.chosen, watched.loud, watched.shape
        world.logs = []
        if self.buffers[2].kind != "host":
            self.buffers[2].log = []
            world.logs.append(self.buffers[2])

    def right_of_chosen(self, world: World) -> set[int]:
        """The edits with which the chosen threads store something, and all of it right."""
        stored, wrong = set(), set()
        product = self.product()
        if world.picked is None:
            return stored
        threads = world.launched
        for buffer in world.logs:
            if buffer.size != len(product):
                continue
            is_wrong = buffer.data != np.tile(product, buffer.copies)
            for lanes, places in buffer.log:
                of_chosen = np.isin(lanes % threads, world.picked)
                lanes, places = lanes[of_chosen], places[of_chosen]
                whose = lanes // threads
                stored.update(whose.tolist())
                wrong.update(whose[is_wrong[places]].tolist())
        return stored - wrong

    def product(self) -> np.ndarray:
        size = self.size
        return (self.m.reshape(size.j, size.k) @ self.n.reshape(size.k, size.l)).ravel()

    def is_right(self, copy: int) -> bool:
        """P is the product, and M and N are as they were. `copy`: of a batch's memories."""
        wanted = (self.m, self.n, self.product())
        for buffer, values in zip(self.buffers, wanted, strict=True):
            rows = buffer.data.reshape(-1, buffer.size)
            if not np.array_equal(rows[copy if buffer.copies > 1 else 0], values):
                return False
        return True


def watch(file: File, size: Size, numbers: tuple, on_host: bool, steps: int) -> Watched | None:
    """Which threads store what is wrong; None where no thread does, or it cannot be said.

    Accesses outside are let pass: where the others store is to be seen.
    """
    run = Run(size, numbers, on_host)
    world = World(Machine(file, {}), steps)
    world.effects, world.logs = Effects(), []
    for buffer in run.buffers:
        buffer.effects = world.effects
    if not on_host:
        run.buffers[2].log = []
        world.logs.append(run.buffers[2])
    try:
        run.carry_out(file, world.machine, world)
    except (Exhausted, *ERRORS):
        return None
    stored = [one for one in world.logs if one.log]
    if len(stored) != 1 or stored[0].size != size.j * size.l:
        return None
    is_wrong = stored[0].data != run.product()
    wrong, right = set(), set()
    for lanes, places in stored[0].log:
        bad = is_wrong[places]
        wrong.update(lanes[bad].tolist())
        right.update(lanes[~bad].tolist())
    if not wrong:
        return None
    threads = math.prod(world.shape[1])
    chosen = sorted({
        *_spread(_of_blocks(wrong, threads, 2), _WRONG),
        *_spread(_of_blocks(right - wrong, threads, 1), _RIGHT),
    })  # fmt: skip
    lanes = len({one // threads for one in chosen}) * threads
    turns = {key: 2 * count + _MORE_TURNS for key, count in world.effects.turns.items()}
    outer = [node.id for node in loops_of(file) if any(loops_in(node))]
    for key in outer:  # a turn of these is many of the others'
        if key in turns:
            turns[key] = 2 * world.effects.turns[key] + 2
    trial = Trial(False, steps - world.steps, "", lanes, world.words, world.turns)
    return Watched(np.array(chosen), frozenset(world.effects.loops), trial, world.shape, turns)


def loops_in(node: Node) -> Iterator[Node]:
    return (one for one in walk(node) if one is not node and one.kind in ("for", "dowhile"))


def loops_of(file: File) -> Iterator[Node]:
    for function in [*file.functions.values(), *file.methods.values()]:
        yield from loops_in(function.body)


def _of_blocks(items: set[int], threads: int, most: int) -> list[int]:
    """Those in the first and the last of the blocks."""
    blocks = sorted({one // threads for one in items})
    kept = {blocks[0], blocks[-1]} if most > 1 and blocks else set(blocks[-1:])
    return sorted(one for one in items if one // threads in kept)


def _spread(items: list[int], most: int) -> list[int]:
    if len(items) <= most:
        return items
    return [items[at * (len(items) - 1) // (most - 1)] for at in range(most)]


def try_out(
    file: File, edits: Mapping, size: Size, numbers: tuple, on_host: bool, steps: int,
    watched: Watched | None = None, tried: set | None = None,
) -> Trial:  # fmt: skip
    """Raises GivenUp where the file cannot be interpreted, Exhausted after so many steps.

    With `watched` it is right if what the chosen threads store is right, and there is something.
    `tried`: launches that need not be carried out once more.
    """
    run = Run(size, numbers, on_host)
    machine = Machine(file, edits)
    world = World(machine, steps, tried=tried)
    if watched is not None:
        run.note(world, watched)
    try:
        run.carry_out(file, machine, world)
    except ERRORS as error:
        why = f"{type(error).__name__}: {error}"
        return Trial(False, steps - world.steps, why, world.lanes, world.words, world.turns)
    is_right = run.is_right(0)
    if watched is not None and world.few is not None:
        is_right = bool(run.right_of_chosen(world))
    return Trial(is_right, steps - world.steps, "", world.lanes, world.words, world.turns)


__all__ = ["ERRORS", "Exhausted", "GivenUp", "Run", "Size", "Trial", "Watched", "try_out", "watch"]
